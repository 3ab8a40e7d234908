// Kernels by name. Filled once at start by the families' Register functions
// (ops/cpu_kernels.h collects them), then only read.
#ifndef WEFT_OPS_ABI_REGISTRY_H_
#define WEFT_OPS_ABI_REGISTRY_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ops/abi/kernel.h"

namespace weft {

// Thread-compatible: concurrent Create() calls are fine once filled.
class KernelRegistry {
 public:
  // `name` is the op's name without its dialect ("layer_norm"). A second
  // registration of a name is a programming error and aborts.
  void Register(const std::string& name, KernelFactory factory);

  // kNotFound for an unknown name; otherwise what the factory says, prefixed
  // with the kernel's name.
  absl::StatusOr<std::unique_ptr<Kernel>> Create(const KernelSpec& spec) const;

  std::vector<std::string> Names() const;

 private:
  std::map<std::string, KernelFactory> factories_;
};

}  // namespace weft

#endif  // WEFT_OPS_ABI_REGISTRY_H_
