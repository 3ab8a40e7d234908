// Points in streams that virtual ranks on one GPU wait for: null events on the
// host, where what is issued is done.
#ifndef WEFT_RUNTIME_COLLECTIVE_LOCAL_POINT_H_
#define WEFT_RUNTIME_COLLECTIVE_LOCAL_POINT_H_

#include <memory>

#include "ops/abi/gpu.h"

namespace weft::collective {

// A point in one rank's stream. Recorded by it, waited for by others.
class Point {
 public:
  // `gpu` null: of the host.
  static absl::StatusOr<Point> Create(Gpu* gpu) {
    Point point;
    point.gpu_ = gpu;
    if (gpu == nullptr) return point;
    absl::StatusOr<std::shared_ptr<void>> event = gpu->CreateEvent();
    if (!event.ok()) return event.status();
    point.event_ = *std::move(event);
    return point;
  }
  absl::Status Record(void* stream) const {
    return gpu_ == nullptr ? absl::OkStatus() : gpu_->Record(event_.get(), stream);
  }
  // The work of `stream` from here on begins behind the point.
  absl::Status Wait(void* stream) const {
    return gpu_ == nullptr ? absl::OkStatus() : gpu_->Wait(event_.get(), stream);
  }

 private:
  Gpu* gpu_ = nullptr;
  std::shared_ptr<void> event_;
};

}  // namespace weft::collective

#endif  // WEFT_RUNTIME_COLLECTIVE_LOCAL_POINT_H_
