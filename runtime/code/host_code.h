// Generated kernels of a host: machine code that comes with a plan.
#ifndef WEFT_RUNTIME_CODE_HOST_CODE_H_
#define WEFT_RUNTIME_CODE_HOST_CODE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/code/code.h"

namespace weft::code {

// What a kernel is in a shared object: units [begin, end) of it, on the addresses of inputs and then of outputs.
// `numbers`: three for each of its random tensors, the key, the event and the first element (ops/abi/philox.h).
// Of a kernel for several tensors at once the function is called for one of them, and its number is the tensor's
// elements. Where the kernel sums over rows, operands end with the address of units times partials numbers, and kSums
// behind its name is the function that adds up those of all units, for groups [begin, end).
using HostFunction = void (*)(void* const* operands, const int64_t* numbers, int64_t begin, int64_t end);

// A shared object in this process. Immutable, hence thread-safe; its functions live as long as it does.
class HostCode : public Code, public std::enable_shared_from_this<HostCode> {
 public:
  // Maps the object of a plan's code; no file is left. kInvalidArgument for bytes
  // that are no shared object or lack a kernel, and for a processor that is older than every level of levels.h.
  static absl::StatusOr<std::shared_ptr<const HostCode>> Load(const plan::Code& code);
  ~HostCode() override;
  HostCode(const HostCode&) = delete;
  HostCode& operator=(const HostCode&) = delete;

  // The function of a kernel for the newest level that this processor has; kInvalidArgument if there is none of that
  // name.
  absl::StatusOr<HostFunction> Find(const std::string& symbol) const;

  // For spec.threads threads.
  absl::StatusOr<std::unique_ptr<Kernel>> Make(const plan::Kernel& kernel, const std::vector<RandomTile>& randoms,
                                               const KernelSpec& spec) const override;

 private:
  HostCode(int file, const char* suffix) : file_(file), suffix_(suffix) {}
  absl::Status Map(const std::string& object);

  // Open as long as this lives, since the loader takes two objects of one path for one.
  const int file_;
  void* handle_ = nullptr;
  const char* suffix_;
};

}  // namespace weft::code

#endif  // WEFT_RUNTIME_CODE_HOST_CODE_H_
