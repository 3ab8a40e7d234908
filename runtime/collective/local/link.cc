#include "runtime/collective/local/link.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace weft::collective {

LocalLink::LocalLink(int sender, int receiver, int tag, int spins, actor::Fault* fault, Gpu* gpu)
    : sender_(sender), receiver_(receiver), tag_(tag), fault_(fault), gpu_(gpu), bell_(spins) {
  fault_->AddListener([this](const absl::Status&) { bell_.Ring(); });
}

absl::Status LocalLink::Attach(bool sender, DType dtype, const TensorBlock& block) {
  std::lock_guard<std::mutex> lock(mutex_);
  const std::string where = absl::StrCat("transfer ", tag_, " from rank ", sender_, " to rank ", receiver_);
  std::optional<End>& mine = ends_[sender ? 0 : 1];
  if (mine.has_value()) {
    return absl::InvalidArgumentError(absl::StrCat(where, ": expected one ", sender ? "send" : "receive", ", got two"));
  }
  mine = End{dtype, block};
  // An end may act before the other one is attached.
  absl::StatusOr<Point> point = Point::Create(gpu_);
  if (!point.ok()) return point.status();
  (sender ? ready_ : copied_) = *std::move(point);
  if (!ends_[0].has_value() || !ends_[1].has_value()) return absl::OkStatus();
  const End &from = *ends_[0], &to = *ends_[1];
  if (from.block.dims != to.block.dims || from.dtype != to.dtype) {
    return absl::InvalidArgumentError(absl::StrCat(where, ": the sender has ", NameOf(from.dtype), "[",
                                                   absl::StrJoin(from.block.dims, ","), "], the receiver expects ",
                                                   NameOf(to.dtype), "[", absl::StrJoin(to.block.dims, ","), "]"));
  }
  copy_ = std::make_unique<TileCopy>(from.block.dims, from.block.tile_dims, from.block.origin, to.block.tile_dims,
                                     to.block.origin, static_cast<int64_t>(SizeOf(dtype)));
  if (gpu_ == nullptr) return absl::OkStatus();
  absl::StatusOr<GpuMove> move = GpuMove::Copy(gpu_, *copy_, static_cast<int64_t>(SizeOf(dtype)));
  if (!move.ok()) return move.status();
  move_ = *std::move(move);
  return absl::OkStatus();
}

absl::Status LocalLink::Post(const void* tile, void* stream) {
  posted_tile_ = tile;
  if (absl::Status status = ready_.Record(stream); !status.ok()) return status;
  posted_.store(posted_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  bell_.Ring();
  return absl::OkStatus();
}

absl::Status LocalLink::AwaitTaken(void* stream) {
  const uint64_t number = posted_.load(std::memory_order_relaxed);
  bell_.Wait([&] { return taken_.load(std::memory_order_acquire) >= number || fault_->raised(); });
  return fault_->raised() ? fault_->status() : copied_.Wait(stream);
}

absl::Status LocalLink::Take(void* tile, void* stream) {
  const uint64_t number = taken_.load(std::memory_order_relaxed) + 1;
  bell_.Wait([&] { return posted_.load(std::memory_order_acquire) >= number || fault_->raised(); });
  if (fault_->raised()) return fault_->status();
  if (gpu_ == nullptr) {
    copy_->Run(posted_tile_, tile);
  } else {
    absl::Status status = ready_.Wait(stream);
    if (status.ok()) status = move_->Run(&posted_tile_, 1, &tile, 1, stream);
    if (status.ok()) status = copied_.Record(stream);
    if (!status.ok()) return status;
  }
  taken_.store(number, std::memory_order_release);
  bell_.Ring();
  return absl::OkStatus();
}

std::string LocalLink::Waiting(bool sender) const {
  const uint64_t posted = posted_.load(std::memory_order_acquire), taken = taken_.load(std::memory_order_acquire);
  if (sender && taken < posted) {
    return absl::StrCat("transfer ", tag_, " #", posted, " to rank ", receiver_, ", which has not received it");
  }
  if (!sender && posted == taken) {
    return absl::StrCat("transfer ", tag_, " #", taken + 1, " from rank ", sender_, ", which has not sent it");
  }
  return "";
}

absl::Status LocalTransfer::Run(absl::Span<const void* const> inputs, absl::Span<void* const> outputs, void* stream) {
  if (fault_.raised()) return fault_.status();
  absl::Status status;
  for (LocalLink* link : links_) {
    if (sends_ && status.ok()) status = link->Post(inputs[0], stream);
  }
  for (LocalLink* link : links_) {
    waits_for_.store(link, std::memory_order_release);
    if (status.ok()) status = sends_ ? link->AwaitTaken(stream) : link->Take(outputs[0], stream);
  }
  waits_for_.store(nullptr, std::memory_order_release);
  return status;
}

std::string LocalTransfer::Waiting() const {
  const LocalLink* link = waits_for_.load(std::memory_order_acquire);
  return link == nullptr ? "" : link->Waiting(sends_);
}

}  // namespace weft::collective
