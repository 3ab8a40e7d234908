// weft-calibrate: `weft calibrate`, a machine's rates as a cluster file.
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "runtime/version/version.h"
#include "tools/calibrate/calibrate.h"

namespace {

using weft::calibrate::Request;

constexpr char kHelp[] =
    R"(weft-calibrate: measures what the cost model has to know of a machine, and writes it as a cluster file

usage: weft calibrate [--cluster FILE] -o FILE.cluster [--device cpu|cuda] [--seconds N] [--quiet]
       mpirun -n N weft-calibrate ...      the same with ranks that are processes

  --cluster FILE  the cluster whose rates are measured: its nodes and ranks stay. Without it, this machine: on cpu a rank
                  for each core, with its part of the memory; under mpirun the nodes and processes of the launcher
  -o FILE         where the cluster goes, with a `calibration` that names the device and the day
  --device KIND   what is measured without --cluster: cpu (if nothing is said) or cuda
  --seconds N     about how long it may take (180); more gives larger products and more rounds
  --quiet         no progress
  --version       what this program was built from
  --help          this text

It times, as means of rounds in which everything has its turn:
  products      of the shapes of a grid, in each element type
  kernels       of plans of a small GPT-2 that this program carries, by family and bytes
  collectives   by kind, ranks on a node, nodes and bytes, and messages between two ranks
  overlap       what products and collectives of the same rank lose to each other
  steps         what a step takes beside its kernels; what ranks of a node lose to each other (node.cores)
Let nothing else run meanwhile. An end before the end, as by ^C, leaves no file.

examples:
  weft calibrate -o here.cluster
  weft compile models/gpt2/tiny.job cluster=$PWD/here.cluster graph.auto_parallel=true -o tiny.plan
  mpirun -n 4 weft-calibrate --cluster clusters/laptop.cluster -o laptop.cluster

exit status: 0 done; 1 the work failed; 2 the request was wrong (flag, cluster file, no such device)
)";

absl::Status Wrong(const std::string& what) { return absl::InvalidArgumentError(what); }

// The value of a flag, apart or behind `=`.
absl::StatusOr<std::string> ValueOf(const std::string& flag, const std::string& inside,
                                    const std::vector<std::string>& arguments, size_t& i) {
  std::string value = inside;
  if (value.empty() && arguments[i].find('=') == std::string::npos && i + 1 < arguments.size()) value = arguments[++i];
  if (value.empty()) return Wrong(absl::StrCat(flag, ": expected a value, got none (see --help)"));
  return value;
}

absl::Status TakeValue(const std::string& flag, const std::string& value, Request& request) {
  if (flag == "--cluster") request.cluster = value;
  if (flag == "-o") request.out = value;
  if (flag == "--device") {
    if (value != "cpu" && value != "cuda") {
      return Wrong(absl::StrCat("--device: expected cpu or cuda, got `", value, "` (see --help)"));
    }
    request.device = value;
  }
  if (flag == "--seconds" && !(absl::SimpleAtod(value, &request.seconds) && request.seconds > 0 &&
                               request.seconds <= 86400 && std::isfinite(request.seconds))) {
    return Wrong(
        absl::StrCat("--seconds: expected a number above 0, of at most 86400, got `", value, "` (see --help)"));
  }
  return absl::OkStatus();
}

absl::StatusOr<Request> Parse(const std::vector<std::string>& arguments) {
  Request request;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const size_t equals = arguments[i].find('=');
    const std::string flag = arguments[i].substr(0, equals);
    if (flag == "--help" || flag == "-h") {
      request.help = true;
    } else if (flag == "--version") {
      request.version = true;
    } else if (flag == "--quiet") {
      request.quiet = true;
    } else if (flag == "--cluster" || flag == "-o" || flag == "--device" || flag == "--seconds") {
      const std::string inside = equals == std::string::npos ? "" : arguments[i].substr(equals + 1);
      const absl::StatusOr<std::string> value = ValueOf(flag, inside, arguments, i);
      if (!value.ok()) return value.status();
      if (absl::Status status = TakeValue(flag, *value, request); !status.ok()) return status;
    } else {
      return Wrong(absl::StrCat("unknown argument ", arguments[i], " (see --help)"));
    }
  }
  if (request.out.empty() && !request.help && !request.version) return Wrong("expected -o FILE.cluster (see --help)");
  return request;
}

int StatusOf(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return 0;
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kUnavailable:
      return 2;
    default:
      return 1;
  }
}

absl::Status Run(const absl::StatusOr<Request>& request, weft::run::Processes& processes) {
  if (absl::Status status = processes.Agree(request.status()); !status.ok()) return status;
  if (absl::Status status = weft::calibrate::Calibrate(*request, processes); !status.ok()) return status;
  if (processes.first())
    std::printf("%s: written\nnext: weft compile JOB cluster=%s graph.auto_parallel=true -o PLAN\n",
                request->out.c_str(), request->out.c_str());
  return processes.Finish();
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGXFSZ, SIG_IGN);
  const absl::StatusOr<Request> request = Parse({argv + 1, argv + argc});
  if (request.ok() && (request->help || request->version)) {
    const std::string text = request->help ? kHelp : weft::VersionText("weft-calibrate");
    if (std::fputs(text.c_str(), stdout) >= 0 && std::fflush(stdout) == 0) return 0;
    std::fprintf(stderr, "weft-calibrate: standard output: cannot be written\n");
    return 1;
  }
  absl::StatusOr<std::unique_ptr<weft::run::Processes>> processes = weft::run::Processes::Create({});
  absl::Status status = processes.status();
  if (status.ok()) status = Run(request, **processes);
  if (!status.ok() && (!processes.ok() || (*processes)->tells()))
    std::fprintf(stderr, "weft-calibrate: %s\n", std::string(status.message()).c_str());
  std::fflush(nullptr);
  // After a failure nothing that a library has left to do may hang.
  if (!status.ok()) _exit(StatusOf(status));
  return 0;
}
