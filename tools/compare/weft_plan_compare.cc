// weft-plan-compare: `weft plan compare`, a program of its own because it compiles.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "runtime/version/version.h"
#include "tools/compare/compare.h"

namespace {

constexpr size_t kMostVariants = 1000;

constexpr char kHelp[] = R"(weft-plan-compare: what a job would come to in several layouts, side by side

usage: weft plan compare JOB ['KEY=VALUE KEY=VALUE ...' ...] [--sweep KEY=VALUE,VALUE,... ...] [PLAN ...] [--json]

  JOB                  a job file, such as models/gpt2/tiny.job
  'KEY=VALUE ...'      a set of overrides of the job, each as weft-compile takes them, with blanks between them:
                       'dist.data=8 dist.tensor=2'; '' is the job as it is, and so is no set at all.
                       cluster.network.link_bytes_s=5e10 asks what if of the job's cluster, =2x for twice what it has
  --sweep KEY=V,V,...  every set with each of these values; several sweeps: with each combination
  PLAN                 a plan that there is already: a row as well; JOB may be absent
  --json               the rows for programs
  --version            what this program was built from
  --help               this text

Each set is compiled and its step simulated; no plan is written. A row says:
  step, tokens/s, a device   of the simulated step; tokens/s of all ranks, and of one
  MFU                        model FLOPs over what the ranks could do in the step, by the cluster's contraction_flops
  memory, headroom           of the rank that needs most, and what the cluster's memory_bytes leaves
  bubble, exposed            share of the step in which ranks do not compute; seconds in which they wait for
                             communication of their own
The fastest step comes first. What does not fit, or cannot be compiled, comes last with the reason.

examples:
  weft plan compare models/gpt2/tiny.job dist.data=4 'dist.data=2 dist.tensor=2' dist.tensor=4
  weft plan compare models/gpt2/tiny.job --sweep dist.data=1,2,4 --sweep dist.tensor=1,2 --sweep zero.stage=0,3
  weft plan compare a.plan b.plan

exit status: 0 done; 1 nothing can be compiled so that it fits; 2 the request was wrong (job, model, plan, key or flag)
)";

struct Request {
  weft::tools::Question question;
  std::vector<std::vector<weft::tools::Set>> sweeps;
  bool json = false, help = false, version = false;
};

int wrong(const std::string &what) {
  std::fprintf(stderr, "weft-plan-compare: %s\n", what.c_str());
  return 2;
}

std::string takeSweep(const std::string &text, Request &request) {
  absl::StatusOr<std::vector<weft::tools::Set>> sweep = weft::tools::parseSweep(text);
  if (!sweep.ok()) {
    return std::string(sweep.status().message());
  }
  request.sweeps.push_back(*std::move(sweep));
  return "";
}

// A flag, its value apart or behind `=`; the error, or none.
std::string takeFlag(const std::vector<std::string> &arguments, size_t &i, Request &request) {
  const std::string &flag = arguments[i];
  if (flag == "--help" || flag == "-h") {
    request.help = true;
  } else if (flag == "--version") {
    request.version = true;
  } else if (flag == "--json") {
    request.json = true;
  } else if (absl::StartsWith(flag, "--sweep=")) {
    return takeSweep(flag.substr(std::strlen("--sweep=")), request);
  } else if (flag == "--sweep") {
    return takeSweep(i + 1 < arguments.size() ? arguments[++i] : "", request);
  } else {
    return absl::StrCat("unknown flag ", flag, " (see --help)");
  }
  return "";
}

// Reads the command line; the text of an error, or empty.
std::string parse(const std::vector<std::string> &arguments, Request &request) {
  weft::tools::Question &question = request.question;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string &argument = arguments[i];
    if (absl::StartsWith(argument, "-")) {
      if (std::string error = takeFlag(arguments, i, request); !error.empty()) {
        return error;
      }
    } else if (weft::tools::isPlan(argument)) {
      question.plans.push_back(argument);
    } else if (question.job.empty() && !argument.empty()) {
      question.job = argument;
    } else {
      question.sets.push_back(weft::tools::parseSet(argument));
    }
  }
  if (question.job.empty()) {
    const bool asked = !question.sets.empty() || !request.sweeps.empty();
    return question.plans.empty() || asked ? "expected a job file (see --help)" : "";
  }
  absl::StatusOr<std::vector<weft::tools::Set>> sets =
      weft::tools::combine(question.sets, request.sweeps, kMostVariants);
  if (!sets.ok()) {
    return std::string(sets.status().message());
  }
  question.sets = *std::move(sets);
  return "";
}

// A line on a terminal, written over by the next one.
void showProgress(size_t done, size_t all, const std::string &name) {
  if (isatty(STDERR_FILENO) == 1) {
    std::fprintf(stderr, "\r\033[K%s", done == all ? "" : absl::StrCat(done + 1, "/", all, " ", name).c_str());
    std::fflush(stderr);
  }
}

int print(const std::string &text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  if (!written) {
    std::fprintf(stderr, "weft-plan-compare: standard output: cannot be written: %s\n", std::strerror(errno));
  }
  return written ? 0 : 1;
}

} // namespace

int main(int argc, char **argv) {
  Request request;
  const std::string error = parse({argv + 1, argv + argc}, request);
  if (request.help) {
    return print(kHelp);
  }
  if (request.version) {
    return print(weft::VersionText("weft-plan-compare"));
  }
  if (!error.empty()) {
    return wrong(error);
  }
  const absl::StatusOr<std::vector<weft::tools::Entry>> entries = weft::tools::compare(request.question, showProgress);
  if (!entries.ok()) {
    return wrong(std::string(entries.status().message()));
  }
  const int status = print(request.json ? weft::tools::jsonOf(*entries) : weft::tools::tableOf(*entries));
  const bool any =
      std::any_of(entries->begin(), entries->end(), [](const weft::tools::Entry &entry) { return entry.fits(); });
  return status != 0 ? status : any ? 0 : 1;
}
