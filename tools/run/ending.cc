#include "tools/run/ending.h"

#include <chrono>

#include "absl/strings/str_cat.h"
#include "runtime/collective/mpi/launch.h"

namespace weft::run {
namespace {

// How long a process whose step has failed may take to end by itself.
constexpr std::chrono::seconds kGrace(5);

}  // namespace

int ExitStatus(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return 0;
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kDataLoss:
    case absl::StatusCode::kOutOfRange:
    case absl::StatusCode::kFailedPrecondition:
      return 2;
    default:
      return 1;
  }
}

Ending::Ending(const char* program, std::FILE* err) : program_(program), err_(err), last_resort_(err, kGrace) {}

std::string Ending::TextOf(const absl::Status& status) const {
  return absl::StrCat(program_, ": ", std::string(status.message()));
}

void Ending::Fault(const Processes& processes, const absl::Status& error) {
  if (processes.alone()) return last_resort_.Arm({TextOf(error), ExitStatus(error)});
  const absl::Status failure = processes.failure();
  Tell(processes, failure);
  last_resort_.Arm({"", ExitStatus(failure)});
}

void Ending::Tell(const Processes& processes, const absl::Status& status) {
  if (status.ok() || told_.exchange(true) || !processes.tells()) return;
  Say(status);
}

void Ending::TellFirst(const absl::Status& reason) {
  if (!told_.exchange(true)) Say(reason);
}

void Ending::Close(const absl::Status& status) { last_resort_.Arm({"", ExitStatus(status)}); }

// An error without a message was printed where it arose.
void Ending::Say(const absl::Status& status) {
  if (status.message().empty()) return;
  std::fprintf(err_, "%s\n", TextOf(status).c_str());
  std::fflush(err_);
}

int OnProcesses(const char* program, int64_t hang_seconds, int64_t lost_seconds, std::FILE* err,
                const std::function<absl::Status(Processes&, Ending&)>& work) {
  Ending ending(program, err);
  collective::WorldOptions options;
  options.time_out = std::chrono::seconds(hang_seconds);
  options.silence = std::chrono::seconds(lost_seconds);
  options.on_abort = [&](const absl::Status& reason) { ending.TellFirst(reason); };
  const auto made = Processes::Create(options);
  if (!made.ok()) {
    if (collective::LaunchedRank() == 0)
      std::fprintf(err, "%s: %s\n", program, std::string(made.status().message()).c_str());
    return ExitStatus(made.status());
  }
  Processes& processes = **made;
  absl::Status status = processes.Conclude(work(processes, ending));
  ending.Tell(processes, status);
  if (collective::StartedByMpi()) ending.Close(status);
  const absl::Status finished = processes.Finish();
  if (status.ok()) ending.Tell(processes, status = finished);
  return ExitStatus(status);
}

}  // namespace weft::run
