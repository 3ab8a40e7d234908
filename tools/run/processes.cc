#include "tools/run/processes.h"

#include <utility>

#include "absl/strings/str_cat.h"
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

}  // namespace

absl::StatusOr<std::unique_ptr<Processes>> Processes::Create(const collective::WorldOptions& options) {
  if (!collective::StartedByMpi()) return std::unique_ptr<Processes>(new Processes(nullptr));
  auto world = collective::World::Create(options);
  if (!world.ok()) return world.status();
  return std::unique_ptr<Processes>(new Processes(*std::move(world)));
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

absl::Status Processes::CheckEqual(const std::string& what, const std::string& bytes) {
  if (alone()) return absl::OkStatus();
  const absl::Status status = world_->CheckEqual(what, bytes);
  if (absl::IsFailedPrecondition(status) && world_->failure().ok()) agreed_ = 0;
  return status;
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
