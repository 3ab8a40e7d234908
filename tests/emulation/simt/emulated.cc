#include "tests/emulation/simt/emulated.h"

#include <map>

// What WEFT_KERNEL puts there; absent if no kernel is linked.
extern "C" const weft::EmulatedKernel* const __start_weft_emulated[] __attribute__((weak));
extern "C" const weft::EmulatedKernel* const __stop_weft_emulated[] __attribute__((weak));

namespace weft {

std::vector<std::unique_ptr<EmulatedModule>> EmulatedModules() {
  std::map<std::string, std::unique_ptr<EmulatedModule>> by_name;
  for (auto it = __start_weft_emulated; it != __stop_weft_emulated; ++it) {
    std::unique_ptr<EmulatedModule>& module = by_name[(*it)->module];
    if (module == nullptr) module = std::make_unique<EmulatedModule>();
    module->name = (*it)->module;
    module->kernels.push_back(*it);
  }
  std::vector<std::unique_ptr<EmulatedModule>> modules;
  for (auto& [name, module] : by_name) modules.push_back(std::move(module));
  return modules;
}

}  // namespace weft
