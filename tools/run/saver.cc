#include "tools/run/saver.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/trace/timeline.h"

namespace weft::run {
namespace {

double Seconds(int64_t ns) { return static_cast<double>(ns) * 1e-9; }

}  // namespace

Saver::~Saver() {
  given_up_ = !committing_;
  aside_.Join().IgnoreError();
}

absl::Status Saver::Prepare(const RankMemory& own) {
  const std::optional<bool>& asked = context_.request.checkpoint_async;
  if (!asked.value_or(true)) return absl::OkStatus();
  absl::StatusOr<std::unique_ptr<StateCopy>> copy = StateCopy::Create(cluster_);
  absl::Status fits = copy.status();
  // A GPU's memory is not the host's; ranks of one process share what the host has.
  if (fits.ok() && context_.device == nullptr && !context_.processes.alone()) {
    RankMemory with = own;
    with.copy = (*copy)->bytes();
    fits = CheckMemory(context_.plan, with);
  }
  fits = context_.processes.Agree(fits);
  if (fits.ok()) {
    copy_ = *std::move(copy);
    return fits;
  }
  if (asked.has_value()) return absl::Status(fits.code(), absl::StrCat("--checkpoint-async: ", fits.message()));
  note_ = absl::StrCat("checkpoints are written while the run stands, as a copy of the state does not fit: ",
                       std::string(fits.message()));
  return absl::OkStatus();
}

absl::Status Saver::Named(const absl::Status& status, int64_t step) const {
  if (!absl::IsAborted(status)) return status;
  return absl::AbortedError(absl::StrCat("step ", step, " cannot be saved: ", status.message()));
}

void Saver::Drop() {
  save_.reset();
  committing_ = false;
}

absl::StatusOr<Saver::Done> Saver::Begin(Save::Options options) {
  if (copy_ == nullptr) return SaveNow(std::move(options));
  const int64_t begin = trace::NowNs();
  absl::StatusOr<Done> before = Wait();
  if (!before.ok()) return before;
  absl::StatusOr<std::unique_ptr<Save>> save = Save::Open(context_, std::move(options));
  if (!save.ok()) return save.status();
  if (absl::Status taken = context_.processes.Agree(copy_->Take()); !taken.ok()) return taken;
  save_ = *std::move(save);
  aside_.Start([this]() -> absl::Status {
    const absl::Status written = copy_->ForEach([this](const executor::StateTile& tile, const void* bytes) {
      return given_up_ ? absl::CancelledError("given up") : save_->Write(tile, bytes);
    });
    return written.ok() ? save_->Finish() : written;
  });
  begin_ns_ = begin;
  stood_ns_ = trace::NowNs() - begin;
  return before;
}

absl::StatusOr<Saver::Done> Saver::SaveNow(Save::Options options) {
  const int64_t begin = trace::NowNs(), step = options.of.step;
  absl::StatusOr<Done> done = Wait();
  if (!done.ok()) return done;
  const absl::Status status = SaveCheckpoint(context_, cluster_, std::move(options));
  if (!status.ok()) return Named(status, step);
  const double seconds = Seconds(trace::NowNs() - begin);
  done->push_back({.step = step, .stood_s = seconds, .write_s = seconds});
  return done;
}

absl::StatusOr<Saver::Done> Saver::Advance(bool all_at_rest) {
  if (save_ == nullptr || !all_at_rest) return Done();
  const absl::Status done_aside = aside_.Join();
  if (!committing_) {
    const absl::Status status = save_->Gather(done_aside);
    if (!status.ok()) {
      const int64_t step = save_->step();
      Drop();
      return Named(status, step);
    }
    committing_ = true;
    if (context_.processes.first()) aside_.Start([this] { return save_->Commit(); });
    return Done();
  }
  const absl::Status status = context_.processes.Agree(done_aside);
  const trace::SavedCheckpoint done{
      .step = save_->step(), .stood_s = Seconds(stood_ns_), .write_s = Seconds(trace::NowNs() - begin_ns_)};
  Drop();
  if (!status.ok()) return status;
  return Done{done};
}

absl::StatusOr<Saver::Done> Saver::Wait() {
  Done all;
  while (save_ != nullptr) {
    const absl::StatusOr<Done> done = Advance(true);
    if (!done.ok()) return done;
    all.insert(all.end(), done->begin(), done->end());
  }
  return all;
}

}  // namespace weft::run
