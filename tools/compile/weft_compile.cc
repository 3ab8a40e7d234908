// weft-compile: a job and a model file in, a plan out.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "compiler/auto/decide.h"
#include "compiler/job/axes.h"
#include "compiler/job/cluster.h"
#include "compiler/job/job.h"
#include "compiler/pipeline/compile.h"
#include "compiler/pipeline/evaluation.h"
#include "runtime/measure/figures.h"
#include "runtime/plan/devices.h"
#include "runtime/plan/layout.h"
#include "runtime/plan/load.h"
#include "runtime/plan/names.h"
#include "runtime/show/decision.h"
#include "runtime/show/evaluation.h"
#include "runtime/show/figures.h"
#include "runtime/version/version.h"

namespace {

constexpr char kHelp[] = R"(weft-compile: compiles a job into a plan

usage: weft-compile JOB [key.path=value ...] [--set name=value ...] -o PLAN

  JOB                  a job file (protobuf text), such as models/gpt2/tiny.job
  key.path=value       overrides a key of the job: dist.tensor=2 batch.micro=4
  --set name=value     sets a config name of the model: --set layers=24
  -o PLAN              where the plan goes; "-" prints IR to standard output with --stop-after
  --stop-after=PHASE   writes the IR behind a phase to -o instead of a plan:
                       PHASES
  --dump-ir=DIR        also writes the IR behind every phase, DIR/01-elaborate.mlir and so on
  --quiet              no summary
  --version            what this program was built from
  --help               this text

examples:
  weft-compile models/gpt2/tiny.job -o tiny.plan
  weft-compile models/gpt2/tiny.job dist.data=2 dist.tensor=2 -o tiny.plan
  weft-compile models/mlp/mlp.job --stop-after=shard -o -
  weft-compile models/gpt2/345m.job cluster=../../clusters/8xh200.cluster graph.auto_parallel=true batch.micro=0 -o a.plan
                       chooses the layout; ^C ends the search with the best so far

exit status: 0 done, 1 the compiler failed, 2 the request was wrong (job, model or flag)
)";

// kHelp with the names of the phases.
std::string help() {
  std::vector<std::string> names;
  for (weft::compiler::Phase phase : weft::compiler::allPhases()) {
    names.push_back(weft::compiler::nameOf(phase));
  }
  return absl::StrReplaceAll(kHelp, {{"PHASES", absl::StrJoin(names, " ")}});
}

struct Request {
  std::string job, output;
  std::vector<std::string> overrides;
  std::string stopAfter, dumpIr;
  bool quiet = false, help = false, version = false;
};

int failed(const std::string &what, int status) {
  std::fprintf(stderr, "weft-compile: %s\n", what.c_str());
  return status;
}

int wrong(const std::string &what) { return failed(what, 2); }

// "--name=value" or "--name value"; false if `argument` is another flag.
bool takeFlag(const std::string &name, const std::string &argument, int argc, char **argv, int &i, std::string &value,
              std::string &error) {
  if (argument.rfind(name + "=", 0) == 0) {
    value = argument.substr(name.size() + 1);
    if (value.empty()) {
      error = absl::StrCat(name, ": expected a value, got none");
    }
    return true;
  }
  if (argument != name) {
    return false;
  }
  if (i + 1 >= argc) {
    error = absl::StrCat(name, ": expected a value, got none");
  } else if (argv[i + 1][0] == '-' && argv[i + 1][1] != '\0') {
    error = absl::StrCat(name, ": expected a value, got the flag ", argv[i + 1]);
  } else {
    value = argv[++i];
  }
  return true;
}

// Reads the command line; the text of an error, or empty.
std::string parse(int argc, char **argv, Request &request) {
  for (int i = 1; i < argc; ++i) {
    std::string argument = argv[i], set, error;
    if (argument == "--help" || argument == "-h") {
      request.help = true;
    } else if (argument == "--version") {
      request.version = true;
    } else if (argument == "--quiet") {
      request.quiet = true;
    } else if (takeFlag("--set", argument, argc, argv, i, set, error)) {
      request.overrides.push_back("model.set=" + set);
    } else if (takeFlag("-o", argument, argc, argv, i, request.output, error) ||
               takeFlag("--output", argument, argc, argv, i, request.output, error) ||
               takeFlag("--stop-after", argument, argc, argv, i, request.stopAfter, error) ||
               takeFlag("--dump-ir", argument, argc, argv, i, request.dumpIr, error)) {
    } else if (argument.size() > 1 && argument[0] == '-') {
      return absl::StrCat("unknown flag ", argument, " (see --help)");
    } else if (request.job.empty()) {
      request.job = argument;
    } else if (argument.find('=') != std::string::npos) {
      request.overrides.push_back(argument);
    } else {
      return absl::StrCat("expected key.path=value after the job, got ", argument);
    }
    if (!error.empty()) {
      return error;
    }
  }
  return "";
}

// An error without a message was printed where it arose.
int statusCode(const absl::Status &status) {
  const bool wrong = absl::IsInvalidArgument(status) || absl::IsNotFound(status) || absl::IsResourceExhausted(status);
  const int code = wrong ? 2 : 1;
  return status.message().empty() ? code : failed(std::string(status.message()), code);
}

int print(const std::string &text) {
  bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  return written ? 0 : failed(absl::StrCat("standard output: cannot be written: ", std::strerror(errno)), 1);
}

// Bytes that a rank keeps of the parameters of a stage that lie whole over the mesh axis that ZeRO shares over.
int64_t wholeBytes(const weft::plan::Stage &stage, const weft::plan::Placement &placement) {
  std::vector<std::string_view> axes;
  for (const weft::plan::Axis &axis : placement.axes()) {
    axes.push_back(axis.name());
  }
  const int shared = weft::SharedAxis(axes);
  int64_t bytes = 0;
  for (const weft::plan::Buffer &buffer : stage.buffers()) {
    if (shared >= 0 && buffer.kind() == weft::plan::Buffer::PARAMETER &&
        buffer.sbp(shared).kind() != weft::plan::Sbp::SPLIT) {
      bytes += weft::plan::LocalBytes(placement, buffer);
    }
  }
  return bytes;
}

// What ZeRO was asked for and does not do; empty if nothing.
std::string zeroSummary(const weft::plan::Plan &plan) {
  const weft::Job &job = plan.header().job();
  if (job.zero().stage() == 0 || !plan.header().training()) {
    return "";
  }
  std::string asked = absl::StrCat("zero.stage = ", job.zero().stage());
  const weft::MeshAxis &key = weft::SharedKey();
  int64_t ranks = job.pipeline().stages().empty() ? (job.dist().*key.size)() : 1;
  for (const weft::Dist &stage : job.pipeline().stages()) {
    ranks = std::max(ranks, (stage.*key.size)());
  }
  if (ranks == 1 || job.zero().group() == 1) {
    return absl::StrCat(asked,
                        " splits nothing: ", ranks == 1 ? absl::StrCat("dist.", std::string(key.name)) : "zero.group",
                        " is 1\n");
  }
  int64_t whole = 0;
  for (const weft::plan::Stage &stage : plan.stages()) {
    whole += wholeBytes(stage, plan.placements(stage.placement()));
  }
  return whole == 0 ? ""
                    : absl::StrCat(asked, " leaves ", weft::plan::BytesText(whole),
                                   " of parameters whole, which no dimension of theirs lets it split\n");
}

std::atomic<bool> interrupted{false};

// Chooses what the job leaves open. A terminal sees how far it is; ^C ends the search with the best so far, a second
// one the program.
absl::StatusOr<weft::compiler::Decided> choose(const weft::compiler::CompileOptions &options, bool quiet) {
  weft::compiler::DecideOptions how;
  how.stop = &interrupted;
  const bool shows = !quiet && isatty(fileno(stderr)) == 1;
  if (shows) {
    how.progress = [](const std::string &line) { std::fprintf(stderr, "\r\033[K%.150s", line.c_str()); };
  }
  std::signal(SIGINT, [](int) {
    interrupted = true;
    std::signal(SIGINT, SIG_DFL);
  });
  absl::StatusOr<weft::compiler::Decided> decided = weft::compiler::decide(options, how);
  std::signal(SIGINT, SIG_DFL);
  if (shows) {
    std::fprintf(stderr, "\r\033[K");
  }
  return decided;
}

std::string summary(const weft::plan::Plan &plan, const std::string &path) {
  int64_t ranks = 0, arena = 0;
  for (const weft::plan::Placement &placement : plan.placements()) {
    ranks += placement.ranks_size();
  }
  for (int stage = 0; stage < plan.stages_size(); ++stage) {
    arena = std::max(arena, weft::plan::ArenaBytesOf(plan, stage));
  }
  std::string recompute = weft::plan::RecomputeText(plan.header());
  std::string figures = weft::plan::FiguresText(weft::plan::FiguresOf(plan));
  bool rounds = plan.header().job().precision().float32() == weft::Precision::TF32;
  return absl::StrCat(path, ": graph ", plan.header().graph(), ", ", weft::plan::CountText(ranks),
                      ranks == 1 ? " rank, " : " ranks, ", weft::plan::BytesText(arena), " a rank, predicted step ",
                      weft::plan::SecondsText(plan.prediction().step_s()), "\n",
                      figures.empty() ? "" : absl::StrCat(figures, "\n"),
                      plan.has_evaluation() ? absl::StrCat("evaluation: ", weft::plan::EvaluationText(plan), "\n") : "",
                      zeroSummary(plan),
                      rounds && !weft::plan::FindDeviceKind(plan.header().target())->tf32
                          ? absl::StrCat("precision.float32: ", plan.header().target(),
                                         " has no TF32: contractions read float32 as it is\n")
                          : "",
                      weft::plan::DecisionText(plan.header().decision()),
                      recompute.empty() ? "" : absl::StrCat("computed again for the backward: ", recompute, "\n"),
                      "next: weft plan show ", path, "\n");
}

} // namespace

int main(int argc, char **argv) {
  // A file size limit is an error of a write, not the end of the process.
  std::signal(SIGXFSZ, SIG_IGN);
  Request request;
  if (std::string error = parse(argc, argv, request); !error.empty()) {
    return wrong(error);
  }
  if (request.help) {
    return print(help());
  }
  if (request.version) {
    return print(weft::VersionText("weft-compile"));
  }
  if (request.job.empty()) {
    return wrong("expected a job file (see --help)");
  }
  if (request.output.empty() && request.stopAfter.empty()) {
    return wrong("expected -o PLAN (see --help)");
  }
  if (request.output == "-" && request.stopAfter.empty()) {
    return wrong("-o: expected a file, got -, which is only for IR (--stop-after)");
  }
  weft::compiler::CompileOptions options;
  if (!request.stopAfter.empty()) {
    options.stopAfter = weft::compiler::parsePhase(request.stopAfter);
    if (!options.stopAfter) {
      return wrong(absl::StrCat("--stop-after: expected a phase (see --help), got ", request.stopAfter));
    }
  }
  // `cluster` is a path in the job; keys below it are those of the file it names.
  std::vector<std::string> ofCluster, ofJob;
  for (const std::string &text : request.overrides) {
    (weft::IsClusterOverride(text) ? ofCluster : ofJob).push_back(text);
  }
  absl::StatusOr<weft::Job> job = weft::LoadJob(request.job, ofJob);
  if (!job.ok()) {
    return statusCode(job.status());
  }
  options.job = *job;
  options.jobFile = request.job;
  const weft::Job located = weft::LocateJob(*job, request.job);
  absl::StatusOr<weft::Cluster> cluster = weft::LoadCluster(located.cluster(), ofCluster);
  if (!cluster.ok()) {
    return statusCode(cluster.status());
  }
  if (absl::Status status = weft::CheckOnCluster(located, *cluster); !status.ok()) {
    return statusCode(status);
  }
  options.cluster = *cluster;
  options.dumpIr = request.dumpIr;
  std::optional<weft::plan::Plan> decided;
  if (options.job.graph().auto_parallel()) {
    if (!request.output.empty() && request.output != "-") {
      if (absl::Status status = weft::plan::CanReplaceFile(request.output); !status.ok()) {
        return statusCode(status);
      }
    }
    absl::StatusOr<weft::compiler::Decided> chosen = choose(options, request.quiet);
    if (!chosen.ok()) {
      return statusCode(chosen.status());
    }
    options.job = chosen->job;
    decided = std::move(chosen->plan);
  }
  absl::StatusOr<weft::compiler::Compiled> compiled = weft::compiler::Compiled();
  if (!decided || options.stopAfter || !options.dumpIr.empty()) {
    compiled = weft::compiler::compile(options);
  }
  if (!compiled.ok()) {
    return statusCode(compiled.status());
  }
  if (decided) {
    compiled->plan = *std::move(decided);
    if (absl::Status status = weft::compiler::addEvaluation(options, compiled->plan); !status.ok()) {
      return statusCode(status);
    }
  }
  if (options.stopAfter) {
    if (request.output.empty() || request.output == "-") {
      return print(compiled->ir);
    }
    absl::Status status = weft::plan::ReplaceFile(request.output, compiled->ir);
    return status.ok() ? 0 : statusCode(status);
  }
  if (absl::Status status = weft::plan::Save(compiled->plan, request.output); !status.ok()) {
    return statusCode(status);
  }
  return request.quiet ? 0 : print(summary(compiled->plan, request.output));
}
