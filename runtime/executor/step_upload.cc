#include "runtime/executor/step_upload.h"

#include <utility>

#include "absl/status/statusor.h"

namespace weft::executor {

absl::Status StepUpload::Prepare() {
  if (values_->bytes() == 0) return absl::OkStatus();
  absl::StatusOr<std::unique_ptr<device::Arena>> host =
      device_.AllocateHostMemory(static_cast<int64_t>(values_->bytes()));
  if (!host.ok()) return host.status();
  host_ = *std::move(host);
  return absl::OkStatus();
}

absl::Status StepUpload::Run(int64_t step, device::Stream& stream) {
  if (host_ == nullptr) return absl::OkStatus();
  values_->Fill(step, reinterpret_cast<double*>(host_->base()));
  return stream.Copy(values_->data(), host_->base(), values_->bytes());
}

}  // namespace weft::executor
