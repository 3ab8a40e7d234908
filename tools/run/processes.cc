#include "tools/run/processes.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "runtime/checkpoint/host_and_time.h"
#include "runtime/collective/mpi/launch.h"

namespace weft::run {
namespace {

// A status as bytes: its code, then its message.
std::string Pack(const absl::Status& status) {
  return std::string(1, static_cast<char>(status.code())) + std::string(status.message());
}

absl::Status Unpack(const std::string& bytes) {
  return absl::Status(static_cast<absl::StatusCode>(bytes[0]), bytes.substr(1));
}

const std::string kSeparator(1, '\0');

// What of another rank's facts is not as of rank 0; "" if all is.
std::string Differences(const std::string& first, const std::string& other) {
  const std::vector<std::string> expected = absl::StrSplit(first, kSeparator), got = absl::StrSplit(other, kSeparator);
  std::vector<std::string> differences;
  for (size_t i = 0; i + 1 < std::min(expected.size(), got.size()); i += 2) {
    if (expected[i + 1] == got[i + 1]) continue;
    differences.push_back(
        absl::StrCat(expected[i], ": expected ", expected[i + 1], ", as on rank 0, got ", got[i + 1]));
  }
  return absl::StrJoin(differences, "; ");
}

}  // namespace

absl::StatusOr<std::unique_ptr<Processes>> Processes::Create(const collective::WorldOptions& options) {
  if (!collective::StartedByMpi()) return Alone();
  auto world = collective::World::Create(options);
  if (!world.ok()) return world.status();
  return std::unique_ptr<Processes>(new Processes(*std::move(world)));
}

std::unique_ptr<Processes> Processes::Alone() { return std::unique_ptr<Processes>(new Processes(nullptr)); }

std::vector<std::string> Processes::hosts() const {
  if (alone()) return {checkpoint::HostName()};
  return world_->host_of_ranks();
}

absl::StatusOr<std::vector<std::string>> Processes::AllGather(const std::string& bytes) {
  if (alone()) return std::vector<std::string>{bytes};
  return world_->AllGather(bytes);
}

absl::Status Processes::Agree(const absl::Status& own) {
  if (alone()) return own;
  const absl::StatusOr<std::vector<std::string>> all = world_->AllGather(Pack(own));
  if (!all.ok()) return all.status();
  for (int r = 0; r < size(); ++r) {
    const absl::Status status = Unpack((*all)[r]);
    if (status.ok()) continue;
    agreed_ = r;
    return r == 0 ? status : absl::Status(status.code(), absl::StrCat("rank ", r, ": ", status.message()));
  }
  return absl::OkStatus();
}

absl::Status Processes::CheckSame(const Facts& facts) {
  if (alone()) return absl::OkStatus();
  const auto all = world_->AllGather(absl::StrJoin(facts, kSeparator, absl::PairFormatter(kSeparator)));
  if (!all.ok()) return all.status();
  for (int r = 1; r < size(); ++r) {
    const std::string differences = Differences((*all)[0], (*all)[r]);
    if (differences.empty()) continue;
    agreed_ = 0;
    return absl::FailedPreconditionError(absl::StrCat("rank ", r, ": ", differences));
  }
  return absl::OkStatus();
}

absl::Status Processes::Conclude(const absl::Status& own) {
  if (alone() || own.ok() || (agreed_ >= 0 && world_->failure().ok())) return own;
  world_->communicator().Abort(own);  // unless there was one before
  return world_->failure();
}

bool Processes::tells() const {
  if (alone()) return true;
  return (world_->failed_by() >= 0 ? world_->failed_by() : agreed_) == rank();
}

absl::Status Processes::Finish() {
  if (alone() || !world_->failure().ok()) return absl::OkStatus();
  return world_->Finish();
}

}  // namespace weft::run
