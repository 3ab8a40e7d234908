#include "runtime/collective/nccl/nccl.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/device/cuda/library.h"

namespace weft::nccl {
namespace {

// Since then communicators can be made and aborted without blocking.
constexpr int kOldest = 21800;

std::string VersionText(int version) {
  return absl::StrCat(version / 10000, ".", version % 10000 / 100, ".", version % 100);
}

}  // namespace

Type TypeOf(DType dtype) {
  for (const auto& [own, type] : {std::pair(DType::kU8, 1),
                                  {DType::kI32, 2},
                                  {DType::kI64, 4},
                                  {DType::kF16, 6},
                                  {DType::kF32, 7},
                                  {DType::kF64, 8},
                                  {DType::kBF16, 9}}) {
    if (own == dtype) return type;
  }
  return -1;
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
#define WEFT_NCCL_LOAD(field, ...)                                        \
  cuda::LoadFunction(library->handle, "nccl" #field, opened->nccl.field); \
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
