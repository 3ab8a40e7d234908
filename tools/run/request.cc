#include "tools/run/request.h"

#include <functional>
#include <map>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace weft::run {
namespace {

constexpr char kHelp[] = R"(weft-run: runs a plan: trains a model, or evaluates a function

usage: weft-run PLAN [flags]

All ranks of the plan run in this process, a thread for every stream. Started by mpirun (or
`weft launch`) it runs one of them: `mpirun -n RANKS weft-run PLAN ...`. A plan for cuda runs on GPU 0,
all ranks share it; under mpirun each rank has a GPU of its own, with NCCL between them.

training
  --data FILE            text, where every byte is a token, or a token file (uint16 or uint32); at least
                         as many tokens as a step takes
  --steps N              train until N steps are done, those before a resume included;
                         the schedule's total if it has one, otherwise 100; 0 with
                         --checkpoint-dir saves the initial state
  --seed N               of initial values, dropout and the order of the data; the job's by default
  --init FILE            initial parameters from a .safetensors file, under their full names; it says which of the
                         file's tensors have no use, and is an error if the file lacks a parameter
  --init-partial         what the file lacks begins with its initial value
  --checkpoint-dir DIR   save the model and the optimizer there at the end; for one run at a time, and
                         without --resume a folder that has no checkpoints
  --checkpoint-every N   and after every N steps
  --checkpoint-keep N    remove all but the newest N checkpoints
  --resume               go on from the newest whole checkpoint in --checkpoint-dir, and say what has changed since;
                         from the start if it has none
  --allow-changed        resume although the model, the kind of the optimizer or the form of the data is another one
  --allow-nonfinite      go on, and save, although the loss, a gradient or the state is infinite or NaN;
                         without it such a run stops and saves nothing
  --metrics FILE         a JSON object of what is run, then one a step: step (from 1), loss, grad_norm, lr,
                         the model's own metrics, tokens, tokens_per_s, tflops, mfu (of the matrix product rate
                         measured at the start), memory_bytes

functions
  --inputs FILE          a .safetensors file with a tensor for every input
  --outputs FILE         write the outputs to a .safetensors file
  --show-shards          print each rank's part of every output

both
  --trace FILE           a timeline of every stream, for ui.perfetto.dev
  --trace-kernels        and of every kernel in it
  --threads N            threads a rank may use for a kernel; the cores shared by the ranks by default
  --hang-seconds N       stop with an error when nothing moves for so long; 600 by default, 0: never
  --lost-seconds N       a host of which nothing is heard for so long is lost, and the run ends with
                         an error; 5 by default; 0: a host may be silent for as long as it likes
  --quiet                no progress, no summary
  --devices              say which devices and CUDA libraries this machine has; needs no plan
  --version              what this program was built from
  --help                 this text

GPUs
  --cuda-libs FOLDER     where cuBLASLt, cuDNN and NCCL are, such as a Python's site-packages; else where the system
                         looks, under /usr/local/cuda and in wheels of the system's and the user's Python;
                         without cuBLASLt our own kernels multiply, without cuDNN attention is by our own
  --algorithm-cache FILE which of cuBLASLt's algorithms were the fastest here, kept from run to run;
                         ~/.cache/weft/cublaslt.algorithms by default
  --deterministic        take cuBLASLt's first choice instead of the fastest, without a look into that file:
                         the same numbers on all machines of a kind; and of cuDNN's attention a gradient that
                         is the same every time
  --cuda-graphs on|off   replay what is the same in every step as CUDA graphs; on by default, but not
                         with --trace-kernels

examples
  weft-run tiny.plan --data corpus.txt --steps 200
  weft-run tiny.plan --data corpus.txt --steps 1000 --checkpoint-dir runs/tiny --checkpoint-every 100 --resume
  weft-run noise.plan --inputs x.safetensors --outputs y.safetensors --show-shards

exit status: 0 done, 1 the work failed, 2 the request was wrong (flag, plan, data or checkpoint)
)";

// Threads of a rank; far above any machine's cores, below what a process may have.
constexpr int64_t kMostThreads = 1024;

// Puts a flag's value into the request; false if it is not of the flag's type.
using Setter = std::function<bool(const std::string& value)>;

Setter Text(std::string& target) {
  return [&target](const std::string& value) {
    target = value;
    return !value.empty();
  };
}

Setter OnOrOff(bool& target) {
  return [&target](const std::string& value) {
    target = value == "on";
    return target || value == "off";
  };
}

template <typename T>
Setter Number(T& target) {
  return [&target](const std::string& value) {
    int64_t number = 0;
    if (!absl::SimpleAtoi(value, &number) || number < 0) return false;
    target = number;
    return true;
  };
}

absl::Status Wrong(const std::string& flag, const std::string& what) {
  return absl::InvalidArgumentError(absl::StrCat(flag, ": ", what, " (see --help)"));
}

}  // namespace

const char* HelpText() { return kHelp; }

std::vector<std::pair<std::string, std::string>> SharedOptions(const Request& request) {
  const auto number = [](const auto& value) { return value.has_value() ? absl::StrCat(*value) : "none"; };
  const auto file = [](const std::string& path) { return path.empty() ? "none" : "one"; };
  const auto on = [](bool value) { return value ? "on" : "off"; };
  return {{"--data", file(request.data)},
          {"--steps", number(request.steps)},
          {"--seed", number(request.seed)},
          {"--init", file(request.init)},
          {"--init-partial", on(request.init_partial)},
          {"--checkpoint-dir", request.checkpoint_dir.empty() ? "none" : request.checkpoint_dir},
          {"--checkpoint-every", absl::StrCat(request.checkpoint_every)},
          {"--checkpoint-keep", absl::StrCat(request.checkpoint_keep)},
          {"--resume", on(request.resume)},
          {"--allow-changed", on(request.allow_changed)},
          {"--allow-nonfinite", on(request.allow_nonfinite)},
          {"--inputs", file(request.inputs)},
          {"--outputs", file(request.outputs)},
          {"--show-shards", on(request.show_shards)},
          {"--trace", file(request.trace)},
          {"--trace-kernels", on(request.trace_kernels)},
          {"--deterministic", on(request.deterministic)},
          {"--cuda-graphs", on(request.cuda_graphs)}};
}

absl::StatusOr<Request> ParseRequest(const std::vector<std::string>& arguments) {
  Request request;
  const std::map<std::string, bool*> switches = {{"--resume", &request.resume},
                                                 {"--allow-changed", &request.allow_changed},
                                                 {"--init-partial", &request.init_partial},
                                                 {"--allow-nonfinite", &request.allow_nonfinite},
                                                 {"--show-shards", &request.show_shards},
                                                 {"--trace-kernels", &request.trace_kernels},
                                                 {"--deterministic", &request.deterministic},
                                                 {"--quiet", &request.quiet},
                                                 {"--devices", &request.devices},
                                                 {"--version", &request.version},
                                                 {"--help", &request.help}};
  const std::map<std::string, Setter> texts = {{"--data", Text(request.data)},
                                               {"--init", Text(request.init)},
                                               {"--checkpoint-dir", Text(request.checkpoint_dir)},
                                               {"--inputs", Text(request.inputs)},
                                               {"--outputs", Text(request.outputs)},
                                               {"--metrics", Text(request.metrics)},
                                               {"--cuda-libs", Text(request.cuda_libs)},
                                               {"--algorithm-cache", Text(request.algorithm_cache)},
                                               {"--trace", Text(request.trace)}};
  const std::map<std::string, Setter> choices = {{"--cuda-graphs", OnOrOff(request.cuda_graphs)}};
  const std::map<std::string, Setter> numbers = {{"--steps", Number(request.steps)},
                                                 {"--seed", Number(request.seed)},
                                                 {"--checkpoint-every", Number(request.checkpoint_every)},
                                                 {"--checkpoint-keep", Number(request.checkpoint_keep)},
                                                 {"--threads", Number(request.threads)},
                                                 {"--hang-seconds", Number(request.hang_seconds)},
                                                 {"--lost-seconds", Number(request.lost_seconds)}};
  std::map<std::string, std::string> given;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument.empty() || argument[0] != '-') {
      if (!request.plan.empty()) return Wrong(argument, absl::StrCat("expected one plan, got also ", request.plan));
      request.plan = argument;
      continue;
    }
    const size_t equals = argument.find('=');
    const std::string name = argument.substr(0, equals);
    if (const auto it = switches.find(name); it != switches.end()) {
      if (equals != std::string::npos) return Wrong(name, "expected no value");
      *it->second = true;
      continue;
    }
    const Setter* setter = nullptr;
    const char* expected = nullptr;
    for (const auto& [setters, what] :
         {std::pair(&texts, "a file"), {&numbers, "a whole number of at least 0"}, {&choices, "on or off"}}) {
      const auto found = setters->find(name);
      if (found == setters->end()) continue;
      setter = &found->second;
      expected = what;
    }
    if (setter == nullptr) return Wrong(name, "no such flag");
    if (equals == std::string::npos && i + 1 == arguments.size()) return Wrong(name, "expected a value, got none");
    const std::string value = equals == std::string::npos ? arguments[++i] : argument.substr(equals + 1);
    if (!(*setter)(value)) return Wrong(name, absl::StrCat("expected ", expected, ", got `", value, "`"));
    const auto [first, is_first] = given.emplace(name, value);
    if (!is_first) return Wrong(name, absl::StrCat("expected once, got `", first->second, "` and `", value, "`"));
  }
  if (request.help || request.version || request.devices) return request;
  if (request.plan.empty()) return absl::InvalidArgumentError("expected a plan (see --help)");
  if (request.checkpoint_dir.empty() &&
      (request.resume || request.checkpoint_every > 0 || request.checkpoint_keep > 0)) {
    return Wrong("--checkpoint-dir", "expected, as another flag needs it");
  }
  if (request.trace_kernels && request.trace.empty()) {
    return Wrong("--trace", "expected, as --trace-kernels needs it");
  }
  if (request.threads > kMostThreads) {
    return Wrong("--threads", absl::StrCat("expected at most ", kMostThreads, ", got ", request.threads));
  }
  if (request.resume && !request.init.empty()) return Wrong("--init", "expected without --resume");
  if (request.init_partial && request.init.empty()) return Wrong("--init", "expected, as --init-partial needs it");
  if (request.allow_changed && !request.resume) return Wrong("--resume", "expected, as --allow-changed needs it");
  return request;
}

}  // namespace weft::run
