// weft: finds weft-COMMAND beside itself and becomes it; `weft plan compare` is weft-plan-compare.
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "runtime/version/answer.h"

namespace {

constexpr char kHelp[] =
    R"(weft compiles a model, described once as if for one device, into a plan for many, and runs it.

usage: weft COMMAND [ARGUMENTS]

  compile JOB -o PLAN        job + model file -> plan: split, scheduled, laid out in memory, proved
  run PLAN                   train with the plan, or evaluate its function
  generate JOB --init PATH   go on with text, as a trained model would
  launch -n N PLAN           the same on this machine, a process for every rank
  watch DIR                  look at a run while it goes on: losses, speed, memory
  plan show|verify|...       look at a plan: what runs where, memory, order
  plan report PLAN           the same as a page for a browser
  plan compare JOB SETS      compile a job in several layouts, side by side
  import FOLDER -o NAME.job  a model of Hugging Face -> a job; weft run --init takes the weights
  import --torch FILE.py:FUNCTION -o NAME.job
  import MODEL.onnx -o NAME.job
                             a PyTorch module or an ONNX file -> a job, a model file and weights
  export CHECKPOINT -o DIR   a checkpoint -> a folder that from_pretrained opens
  calibrate -o FILE.cluster  measure this machine's rates, which plans are chosen by
  fmt FILE...                lay out model files
  lsp                        what an editor starts to help with model files
  opt FILE                   run single passes on IR text (for developers)

`weft --version` says what this program was built from; `weft COMMAND --version` likewise.
`weft COMMAND --help` says more; weft COMMAND is the program weft-COMMAND beside this one.

A first session:
  weft compile models/gpt2/tiny.job dist.data=2 dist.tensor=2 -o gpt2.plan
  weft plan show gpt2.plan
  weft run gpt2.plan --data corpus.txt --steps 200

exit status: 0 done; 1 the work failed; 2 the request was wrong
)";

// The folder of this program, with its slash; empty if it cannot be found.
std::string Folder() {
  char path[PATH_MAX];
  const ssize_t size = readlink("/proc/self/exe", path, sizeof path);
  if (size <= 0 || size == static_cast<ssize_t>(sizeof path)) return "";
  const std::string program(path, size);
  return program.substr(0, program.rfind('/') + 1);
}

// In a build tree each program has a folder: tools/weft/weft, tools/plan/weft-plan, tools/compare/weft-plan-compare.
std::vector<std::string> Candidates(const std::string& command) {
  const std::string folder = Folder();
  return {folder + "weft-" + command, folder + "../" + command.substr(command.rfind('-') + 1) + "/weft-" + command};
}

int Become(const std::string& command, char** arguments) {
  for (const std::string& path : Candidates(command)) {
    if (access(path.c_str(), F_OK) != 0) continue;
    execv(path.c_str(), arguments);
    std::fprintf(stderr, "weft: %s: cannot be run: %s\n", path.c_str(), std::strerror(errno));
    return 1;
  }
  std::fprintf(stderr, "weft: weft-%s: expected beside weft in %s, found none\n", command.c_str(), Folder().c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(
        stderr,
        "weft: expected a command: compile, run, generate, launch, watch, plan, import, export, calibrate, fmt, lsp or "
        "opt; see weft --help\n");
    return 2;
  }
  const std::string command = argv[1];
  if (const std::optional<int> status = weft::Answer(command == "help" ? "--help" : command, "weft", kHelp))
    return *status;
  for (const char* known : {"compile", "run", "generate", "launch", "watch", "plan", "import", "export", "calibrate",
                            "fmt", "lsp", "opt"}) {
    if (command != known) continue;
    const bool compares = command == "plan" && argc > 2 && std::strcmp(argv[2], "compare") == 0;
    const std::string program = compares ? "plan-compare" : command;
    std::string name = "weft-" + program;
    std::vector<char*> arguments(argv + (compares ? 2 : 1), argv + argc + 1);
    arguments[0] = name.data();
    return Become(program, arguments.data());
  }
  std::fprintf(
      stderr,
      "weft: unknown command `%s`: expected compile, run, generate, launch, watch, plan, import, export, calibrate, "
      "fmt, lsp or opt; see weft --help\n",
      argv[1]);
  return 2;
}
