#include "ops/abi/registry.h"

#include <cstdio>
#include <cstdlib>

#include "absl/strings/str_cat.h"

namespace weft {

void KernelRegistry::Register(const std::string& name, KernelFactory factory) {
  if (!factories_.emplace(name, factory).second) {
    std::fprintf(stderr, "kernel `%s` registered twice\n", name.c_str());
    std::abort();
  }
}

absl::StatusOr<std::unique_ptr<Kernel>> KernelRegistry::Create(const KernelSpec& spec) const {
  auto it = factories_.find(spec.name);
  if (it == factories_.end()) {
    return absl::NotFoundError(absl::StrCat("kernel `", spec.name, "`: not known on this device"));
  }
  absl::StatusOr<std::unique_ptr<Kernel>> kernel = it->second(spec);
  if (kernel.ok()) return kernel;
  return absl::Status(kernel.status().code(), absl::StrCat(spec.name, ": ", kernel.status().message()));
}

std::vector<std::string> KernelRegistry::Names() const {
  std::vector<std::string> names;
  for (const auto& [name, factory] : factories_) names.push_back(name);
  return names;
}

}  // namespace weft
