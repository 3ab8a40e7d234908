// libcuda.so.1 for machines without a GPU: two GPUs that are the emulated driver's,
// and whatever program opens it. A kernel is found by its name alone, as fat binaries
// do not say which module they are: the emulation's kernels stand in for their code.
#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "tests/emulation/libraries/emulation.h"
#include "tests/emulation/libraries/export.h"
#include "tests/emulation/ptx/ptx.h"
#include "tests/emulation/simt/emulated.h"

namespace weft::tests {
namespace {

constexpr int kGpus = 2;
constexpr uint32_t kFatBinary = 0xba55ed50;  // how one begins

const std::vector<std::unique_ptr<EmulatedModule>>& Modules() {
  static const auto* const modules = new std::vector<std::unique_ptr<EmulatedModule>>(EmulatedModules());
  return *modules;
}

cuda::Result LoadModule(cuda::Handle* module, const void* image) {
  if (ptx::IsText(image)) return TheDriver().driver().ModuleLoadData(module, image);
  uint32_t magic = 0;
  std::memcpy(&magic, image, sizeof(magic));
  if (magic != kFatBinary) return cuda::kNoBinaryForGpu;
  return *module = const_cast<void*>(image), cuda::kSuccess;
}

cuda::Result FindFunction(cuda::Handle* function, cuda::Handle in, const char* name) {
  if (static_cast<const EmulatedModule*>(in)->magic == EmulatedModule::kMagic) {
    return TheDriver().driver().ModuleGetFunction(function, in, name);
  }
  const EmulatedKernel* found = nullptr;
  for (const auto& module : Modules()) {
    for (const EmulatedKernel* kernel : module->kernels) {
      if (std::strcmp(kernel->name, name) != 0) continue;
      if (found != nullptr) {
        std::fprintf(stderr, "emulated CUDA driver: kernel %s is in modules %s and %s\n", name, found->module,
                     kernel->module);
        return cuda::kInvalidValue;
      }
      found = kernel;
    }
  }
  if (found == nullptr) return cuda::kNotFound;
  return *function = const_cast<EmulatedKernel*>(found), cuda::kSuccess;
}

// As the driver does: a profiler comes with the environment.
cuda::Result Initialize(unsigned) {
  static const bool done = [] {
    const char* const path = std::getenv("CUDA_INJECTION64_PATH");
    void* const library = path != nullptr ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : nullptr;
    if (library != nullptr) reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection"))();
    return true;
  }();
  return done ? cuda::kSuccess : cuda::kInvalidValue;
}

const cuda::Driver& Table() {
  static const auto* const table = [] {
    auto* made = new cuda::Driver(TheDriver().driver());
    made->Init = &Initialize;
    made->LaunchKernel = [](cuda::Handle function, unsigned bx, unsigned by, unsigned bz, unsigned tx, unsigned ty,
                            unsigned tz, unsigned shared, cuda::Handle stream, void** parameters, void** extra) {
      return RecordLaunch(static_cast<const EmulatedKernel*>(function)->name, stream, [&] {
        return TheDriver().driver().LaunchKernel(function, bx, by, bz, tx, ty, tz, shared, stream, parameters, extra);
      });
    };
    made->ModuleLoadData = &LoadModule;
    made->ModuleGetFunction = &FindFunction;
    return made;
  }();
  return *table;
}

}  // namespace

cuda::EmulatedDriver& TheDriver() {
  static auto* const driver = new cuda::EmulatedDriver({.gpus = kGpus, .most_delay_us = 20});
  return *driver;
}

}  // namespace weft::tests

#define WEFT_EXPORT_FIELD(field, symbol, ...) \
  WEFT_EXPORT(cuda_##field, symbol, (&weft::tests::Exported<&weft::tests::Table, &weft::cuda::Driver::field>::Call))
WEFT_CUDA_DRIVER_FUNCTIONS(WEFT_EXPORT_FIELD)
