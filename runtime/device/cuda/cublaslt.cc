#include "runtime/device/cuda/cublaslt.h"

#include "absl/strings/str_cat.h"
#include "runtime/device/cuda/library.h"

namespace weft::cuda::lt {

absl::Status CublasLt::Explain(Status status, const std::string& what) const {
  if (status == kOk) return absl::OkStatus();
  const char* const name = GetStatusName(status);
  const std::string message = absl::StrCat(what, ": ", name != nullptr ? name : absl::StrCat("cuBLAS status ", status));
  return status == kNotSupported ? absl::UnimplementedError(message) : absl::InternalError(message);
}

std::string CublasLt::ToString() const {
  // 130100 for 13.1.0.
  const size_t version = GetVersion();
  return absl::StrCat("cuBLASLt ", version / 10000, ".", version / 100 % 100, ".", version % 100, " (", path, ")");
}

absl::StatusOr<std::unique_ptr<CublasLt>> OpenCublasLt(const std::string& folder) {
  const LibraryName name{.title = "cuBLASLt",
                         .files = {"libcublasLt.so.13", "libcublasLt.so.12"},
                         .wheels = {"nvidia/cu13/lib", "nvidia/cublas/lib"}};
  const absl::StatusOr<Library> library = OpenLibrary(name, folder);
  if (!library.ok()) return library.status();
  auto table = std::make_unique<CublasLt>();
  table->path = library->path;
  std::string missing;
#define WEFT_CUBLASLT_LOAD(field, symbol, ...)         \
  LoadFunction(library->handle, symbol, table->field); \
  if (!table->field) missing = symbol;
  WEFT_CUBLASLT_FUNCTIONS(WEFT_CUBLASLT_LOAD)
#undef WEFT_CUBLASLT_LOAD
  if (!missing.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("cuBLASLt: expected a newer library, ", library->path, " lacks ", missing));
  }
  return table;
}

}  // namespace weft::cuda::lt
