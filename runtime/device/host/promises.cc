#include "runtime/device/host/promises.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace weft::device {

absl::Status Promises::Make(int64_t bytes, int64_t (*available)()) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (const int64_t all = available(); all >= 0 && bytes > all - promised_) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "host memory: expected at most the ", std::max<int64_t>(all - promised_, 0), " bytes available, got ", bytes));
  }
  promised_ += bytes;
  return absl::OkStatus();
}

void Promises::Settle(int64_t bytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  promised_ -= bytes;
}

}  // namespace weft::device
