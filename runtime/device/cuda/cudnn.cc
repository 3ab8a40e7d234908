#include "runtime/device/cuda/cudnn.h"

#include "absl/strings/str_cat.h"
#include "runtime/device/cuda/library.h"

namespace weft::cuda::dnn {

absl::Status Cudnn::Explain(Status status, const std::string& what) const {
  if (status == kOk) return absl::OkStatus();
  const char* const name = GetErrorString(status);
  const std::string message = absl::StrCat(what, ": ", name != nullptr ? name : absl::StrCat("cuDNN status ", status));
  return status / 1000 == kNotSupported / 1000 ? absl::UnimplementedError(message) : absl::InternalError(message);
}

std::string VersionText(size_t version) {
  return absl::StrCat(version / 10000, ".", version / 100 % 100, ".", version % 100);
}

std::string Cudnn::ToString() const { return absl::StrCat("cuDNN ", VersionText(GetVersion()), " (", path, ")"); }

absl::StatusOr<std::unique_ptr<Cudnn>> OpenCudnn(const std::string& folder) {
  const LibraryName name{.title = "cuDNN", .files = {"libcudnn.so.9"}, .wheels = {"nvidia/cudnn/lib"}};
  const absl::StatusOr<Library> library = OpenLibrary(name, folder);
  if (!library.ok()) return library.status();
  auto table = std::make_unique<Cudnn>();
  table->path = library->path;
  std::string missing;
#define WEFT_CUDNN_LOAD(field, symbol, ...)            \
  LoadFunction(library->handle, symbol, table->field); \
  if (!table->field) missing = symbol;
  WEFT_CUDNN_FUNCTIONS(WEFT_CUDNN_LOAD)
#undef WEFT_CUDNN_LOAD
  if (!missing.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("cuDNN: expected a newer library, ", library->path, " lacks ", missing));
  }
  if (table->GetVersion() < kOldestVersion) {
    return absl::FailedPreconditionError(
        absl::StrCat("cuDNN: expected ", VersionText(kOldestVersion), " or later, got ", table->ToString()));
  }
  return table;
}

}  // namespace weft::cuda::dnn
