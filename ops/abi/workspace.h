// Scratch memory that several kernels share.
#ifndef WEFT_OPS_ABI_WORKSPACE_H_
#define WEFT_OPS_ABI_WORKSPACE_H_

#include <cstddef>
#include <memory>
#include <utility>

#include "ops/abi/scratch.h"

namespace weft {

// Memory for kernels of which at most one runs at a time: what one leaves there is
// garbage to the next. It grows while kernels are created and then stays as it
// is, so the largest of a stream's kernels decides its size. Not thread-safe.
class Workspace {
 public:
  // At least `bytes` from now on. Called only while kernels are created.
  void Reserve(size_t bytes) {
    if (bytes <= bytes_) return;
    memory_ = Scratch<char>(bytes);
    bytes_ = bytes;
  }
  size_t bytes() const { return bytes_; }

  // Aligned to 64 bytes. To be asked for in each Run(): Reserve() moves it.
  template <typename T>
  T* data() const {
    return reinterpret_cast<T*>(memory_.data());
  }

 private:
  Scratch<char> memory_;
  size_t bytes_ = 0;
};

// `shared`, or a new workspace where that is null, with at least `bytes`.
inline std::shared_ptr<Workspace> Reserved(std::shared_ptr<Workspace> shared, size_t bytes) {
  if (!shared) shared = std::make_shared<Workspace>();
  shared->Reserve(bytes);
  return shared;
}

}  // namespace weft

#endif  // WEFT_OPS_ABI_WORKSPACE_H_
