#include "runtime/collective/nccl/nccl.h"

#include <dlfcn.h>

#include "absl/strings/str_cat.h"
#include "runtime/device/cuda/library.h"

namespace weft::nccl {
namespace {

// Since then communicators can be made and aborted without blocking.
constexpr int kOldest = 21800;

std::string VersionText(int version) {
  return absl::StrCat(version / 10000, ".", version % 10000 / 100, ".", version % 100);
}

// A field's function type, as a pointer.
template <typename Type>
void Set(std::function<Type>& field, void* symbol) {
  if (symbol != nullptr) field = reinterpret_cast<Type*>(symbol);
}

}  // namespace

Type TypeOf(DType dtype) {
  switch (dtype) {
    case DType::kU8:
      return 1;
    case DType::kI32:
      return 2;
    case DType::kI64:
      return 4;
    case DType::kF16:
      return 6;
    case DType::kF32:
      return 7;
    case DType::kF64:
      return 8;
    case DType::kBF16:
      return 9;
    default:
      return -1;
  }
}

absl::Status Nccl::Check(Result result, const std::string& what, Comm comm) const {
  if (result == kSuccess) return absl::OkStatus();
  const char* const text = GetErrorString(result);
  const char* const last = comm != nullptr ? GetLastError(comm) : nullptr;
  const std::string message = absl::StrCat(what, ": NCCL: ", text != nullptr ? text : absl::StrCat("error ", result),
                                           last != nullptr && *last != '\0' ? absl::StrCat(" (", last, ")") : "");
  const bool elsewhere = result == kRemoteError || result == kSystemError;
  return elsewhere ? absl::UnavailableError(message) : absl::InternalError(message);
}

std::string OpenedNccl::ToString() const { return absl::StrCat("NCCL ", VersionText(version), " (", path, ")"); }

absl::StatusOr<std::unique_ptr<OpenedNccl>> OpenNccl(const std::string& folder) {
  const absl::StatusOr<cuda::Library> library = cuda::OpenLibrary(
      {.title = "NCCL", .files = {"libnccl.so.2", "libnccl.so"}, .wheels = {"nvidia/nccl/lib"}}, folder);
  if (!library.ok()) return library.status();
  auto opened = std::make_unique<OpenedNccl>();
  opened->path = library->path;
  std::string missing;
#define WEFT_NCCL_LOAD(field, ...)                                \
  Set(opened->nccl.field, dlsym(library->handle, "nccl" #field)); \
  if (!opened->nccl.field) missing = "nccl" #field;
  WEFT_NCCL_FUNCTIONS(WEFT_NCCL_LOAD)
#undef WEFT_NCCL_LOAD
  if (missing.empty()) {
    if (const Result result = opened->nccl.GetVersion(&opened->version); result != kSuccess) {
      return opened->nccl.Check(result, "ncclGetVersion", nullptr);
    }
    if (opened->version >= kOldest) return opened;
    missing = absl::StrCat("is ", VersionText(opened->version));
  } else {
    missing = absl::StrCat("lacks ", missing);
  }
  return absl::FailedPreconditionError(
      absl::StrCat("NCCL: expected version ", VersionText(kOldest), " or later, ", library->path, " ", missing));
}

}  // namespace weft::nccl
