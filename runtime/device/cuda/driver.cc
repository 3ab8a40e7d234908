#include "runtime/device/cuda/driver.h"

#include <dlfcn.h>

#include "absl/strings/str_cat.h"
#include "runtime/device/cuda/library.h"

namespace weft::cuda {
namespace {

// What only newer drivers have.
bool MayLack(const std::string& symbol) { return symbol == "cuFuncGetParamInfo" || symbol == "cuFuncLoad"; }

}  // namespace

absl::Status Driver::Check(Result result, const std::string& what) const {
  if (result == kSuccess) return absl::OkStatus();
  const char* name = nullptr;
  const char* text = nullptr;
  GetErrorName(result, &name);
  GetErrorString(result, &text);
  const std::string message = absl::StrCat(what, ": ", name != nullptr ? name : absl::StrCat("CUDA error ", result),
                                           text != nullptr ? absl::StrCat(" (", text, ")") : "");
  return result == kOutOfMemory ? absl::ResourceExhaustedError(message) : absl::InternalError(message);
}

absl::StatusOr<std::unique_ptr<Driver>> OpenDriver(const std::string& library) {
  void* const handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    return absl::UnavailableError(absl::StrCat("CUDA: expected an NVIDIA driver, found no ", library));
  }
  auto driver = std::make_unique<Driver>();
  std::string missing;
#define WEFT_CUDA_LOAD(field, symbol, ...)     \
  LoadFunction(handle, symbol, driver->field); \
  if (!driver->field && !MayLack(symbol)) missing = symbol;
  WEFT_CUDA_DRIVER_FUNCTIONS(WEFT_CUDA_LOAD)
#undef WEFT_CUDA_LOAD
  if (!missing.empty()) {
    return absl::FailedPreconditionError(absl::StrCat("CUDA: expected a newer driver, ", library, " lacks ", missing));
  }
  if (absl::Status status = driver->Check(driver->Init(0), "CUDA: cuInit"); !status.ok()) {
    return absl::UnavailableError(std::string(status.message()));
  }
  return driver;
}

}  // namespace weft::cuda
