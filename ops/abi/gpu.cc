#include "ops/abi/gpu.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace weft {

std::string GpuGrid::ToString() const {
  return absl::StrCat(blocks[0], "x", blocks[1], "x", blocks[2], " blocks of ", threads[0], "x", threads[1], "x",
                      threads[2], " threads, ", shared_bytes, " bytes shared");
}

GpuGrid GridFor(int64_t n, uint32_t threads) {
  GpuGrid grid;
  grid.blocks[0] = static_cast<uint32_t>(std::max<int64_t>(1, (n + threads - 1) / threads));
  grid.threads[0] = threads;
  return grid;
}

absl::Status GpuWorkspace::Reserve(Gpu* gpu, size_t bytes) {
  if (bytes <= bytes_) return absl::OkStatus();
  memory_.reset();
  bytes_ = 0;
  WEFT_ASSIGN_OR_RETURN(memory_, gpu->Allocate(bytes));
  bytes_ = bytes;
  return absl::OkStatus();
}

}  // namespace weft
