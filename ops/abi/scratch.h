// Memory that a kernel allocates when it is created and uses in every Run().
#ifndef WEFT_OPS_ABI_SCRATCH_H_
#define WEFT_OPS_ABI_SCRATCH_H_

#include <cstddef>
#include <cstdlib>
#include <memory>

namespace weft {

// `count` elements of a plain type, uninitialised, aligned to 64 bytes. Movable.
template <typename T>
class Scratch {
 public:
  explicit Scratch(size_t count = 0)
      : data_(static_cast<T*>(std::aligned_alloc(64, (count * sizeof(T) + 64) / 64 * 64)), &std::free) {}
  T* data() const { return data_.get(); }

 private:
  std::unique_ptr<T, void (*)(void*)> data_;
};

}  // namespace weft

#endif  // WEFT_OPS_ABI_SCRATCH_H_
