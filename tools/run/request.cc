#include "tools/run/request.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <variant>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace weft::run {
namespace {

constexpr char kHelp[] = R"(weft-run: runs a plan: trains a model, or evaluates a function

usage: weft-run PLAN [flags]

All ranks of the plan run in this process, a thread for every stream. Started by mpirun (or
`weft launch`) it runs one of them: `mpirun -n RANKS weft-run PLAN ...`. A plan for cuda runs on GPU 0,
all ranks share it; under mpirun each rank has a GPU of its own, with NCCL between them.

training
  --data DATA            what fills the plan's inputs, at least as much as a step takes; one of
                           FILE              tokens as uint16 or uint32 (.bin, .npy), or text, whose bytes are the
                                             tokens of a model with 256 of them, or of any if the job says
                                             data.format=TEXT; they fill `tokens` and `labels`
                           NAME.bin          with NAME.idx beside it: documents of tokens, as Megatron-LM's
                           FOLDER            of NAME.bin: their tokens, joined in order of name
                           FILE.safetensors  a tensor for every input, of its name: record after record
                           FOLDER            of NAME.npy or NAME.idx for every input, also gzipped (.gz)
                           NAME=FILE,...     a file for every input, of any of these forms; a folder in place of an
                                             array holds its shards, joined in order of name
                           "0.7 A 0.3 B"     samples of several of these, by weights that sum to 1
  --steps N              train until N steps are done, those before a resume included;
                         the schedule's total if it has one, otherwise 100; 0 with
                         --checkpoint-dir saves the initial state
  --seed N               of initial values, dropout and the order of the data; the job's by default
  --checkpoint-dir DIR   save the model and the optimizer there at the end; for one run at a time, and
                         without --resume a folder that has no checkpoints
  --checkpoint-every N   and after every N steps; or after a time: 90s, 5m, 2h
  --checkpoint-async on|off
                         write them while training goes on, from a copy of the state in the host's memory; as a rule on
                         where there is memory for it. The last one is written when all steps are done
  --checkpoint-keep N    remove all but the newest N checkpoints, and the best
  --checkpoint-keep-every M
                         and but the first one at or after every M steps: these stay
  --snapshot-every N     after every N steps, or after a time, also keep each rank's state in the memory of its host,
                         and of the next host where there are several: --resume goes on from there where that is newer
                         than the checkpoint and whole. Takes the memory of two steps' states, and of two of a neighbour
  --snapshot-dir DIR     the memory file system for it; /dev/shm by default
  --drop-snapshots       remove from this host's memory what a run with this --checkpoint-dir has left there, and end
  --resume               go on from the newest whole snapshot or checkpoint of --checkpoint-dir, and say what has changed
                         since; from the start, or --init, if there is none
  --restarted REASON     with --resume: what ended the run that this one goes on with, as weft launch --restarts says. It
                         is told, with the steps that are done again, also with --quiet and in --metrics
  --lost-host NAME       with --resume: a host that is lost, on which a run that held --checkpoint-dir has ended with it;
                         may be given again
  --allow-changed        resume although the model, the kind of the optimizer or the form of the data is another one
  --other-data           resume although --data holds something else; the same data may lie elsewhere without it
  --eval-data DATA       evaluate the plan's `evaluation` (of the job's key) between steps, of every sample of DATA once,
                         in their order; a data set of any of the forms above but a blend
  --eval-every N         after every N steps, and the last one; the job's by default, or after every epoch
  --eval-batches K       of the first K batches of DATA; the job's by default, or of all
  --stop-at X            end when the job's evaluation.metric is X or better, with status 0; the job's by default
  --patience N           end when N evaluations in a row were no better than the best one; the job's by default, 0: never.
                         With --checkpoint-dir the parameters of the best evaluation are kept there, as DIR/best
  --allow-nonfinite      go on, and save, although the loss, a gradient or the state is infinite or NaN;
                         without it such a run stops and saves nothing
  --debug-nan            when such a run stops, do its last step again from the step's start, and say which kernel made
                         the first of them, in which tensor, on which rank, at which line of the model; keeps a copy
                         of the state in the host's memory and looks at the state after every step
  --slow-ranks-every N   after every N steps, or after a time such as 90s, 5m, 2h, name the ranks whose kernels took 1.25
                         times as long as those of the others that do the same work, and where; 5m by default, 0:
                         never. Not on GPUs
  --compare-replicas-every N
                         after every N steps, or after a time, compare parameters and optimizer state of the ranks that
                         hold the same, bit by bit: a difference ends the run, and names tensor, rank and step
  --metrics FILE         a JSON object of what is run, then one a step: step (from 1), loss, grad_norm, lr,
                         the model's own metrics, eval_NAME of an evaluation, tokens, tokens_per_s, tflops, mfu (of the
                         matrix product rate measured at the start), mfu_cluster (of the rate that the plan's cluster states, a data
                         sheet's or a calibration's), memory_bytes, memory_share (of the host's)
  --report FILE          a page for a browser: the plan as weft plan report draws it, and losses, tokens/s and memory by
                         step; written every ten seconds and at the end, so load it again
  --tensorboard DIR      the numbers of --metrics as an event file of TensorBoard, in DIR: tensorboard --logdir DIR
  --log-every N          a line of progress after every N steps, and the last; now and then if absent

functions
  --inputs FILE          evaluate one batch: a .safetensors file with a tensor for every input
  --data DATA            or a whole data set, of the forms above: every sample once, in their order. Prints the mean over
                         all samples of every output that is one number a sample, [batch]. What fills up the last
                         batch does not count, so every output must have values of each sample, [batch, ...]
  --outputs FILE         write the outputs to a .safetensors file; with --data those of all samples, [samples, ...]
  --metrics FILE         with --data: a JSON object of what is run, then one with the number of samples and the means
  --checkpoint-dir DIR   parameters from the newest checkpoint there
  --show-shards          with --inputs: print each rank's part of every output

both
  --init PATH            initial parameters from a .safetensors file, from several with an index (.index.json), from a
                         folder of Hugging Face that has one of these, from a checkpoint, or from the newest one in a
                         --checkpoint-dir; it says which tensors have no use, and is an error if a parameter is
                         lacking, has another shape, or is tied to a tensor that has other numbers
  --init-partial         what PATH lacks begins with its initial value, and so do the last rows of a parameter of which
                         PATH has fewer
  --rename FROM=TO       tensors of --init whose whole name matches the regular expression FROM are called TO, in which
                         $1 is what the first group has matched; without TO they are left out. May be given again
  --trace FILE           a timeline of every stream, for ui.perfetto.dev
  --trace-kernels        and of every kernel in it
  --tier-dir DIR         where what a plan keeps on a disk lies while the run lasts, in a file a rank without a name: all of
                         its bytes are taken before the first step. Of several hosts each has a folder of its own
  --threads N            threads a rank may use for a kernel; the cores shared by the ranks by default
  --hang-seconds N       stop with an error when nothing moves for so long; 600 by default, 0: never
  --lost-seconds N       a host of which nothing is heard for so long is lost, and the run ends with
                         an error; 5 by default; 0: a host may be silent for as long as it likes
  --quiet                no progress, no summary
  --devices              say which devices and CUDA libraries this machine has; needs no plan
  --check                say whether this machine could run ranks of the plan, and end: the plan is whole and of this
                         version, its kernels are for this processor or GPU, a rank fits in memory, and
                         --checkpoint-dir, if it is given, is there. Other flags are not looked at
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
  weft-run tiny.plan --data corpus.txt --eval-data validation.txt --checkpoint-dir runs/tiny
  weft-run evaluate.plan --data validation.txt --checkpoint-dir runs/tiny
  weft-run noise.plan --inputs x.safetensors --outputs y.safetensors --show-shards

exit status: 0 done, 1 the work failed, 2 the request was wrong (flag, plan, data or checkpoint)
)";

// Threads of a rank; far above any machine's cores, below what a process may have.
constexpr int64_t kMostThreads = 1024;

// Whether all processes must be asked for a flag alike. Of a file that may lie elsewhere on another host only whether
// it is given.
enum class Alike { kNo, kGiven, kSame };

// A flag and the part of the request that it sets: "--name" for a bool, else "--name VALUE".
struct Flag {
  const char* name;
  std::variant<bool Request::*, std::string Request::*, int64_t Request::*, std::optional<int64_t> Request::*,
               std::optional<uint64_t> Request::*, std::optional<double> Request::*,
               std::vector<std::string> Request::*, Interval Request::*, std::optional<Interval> Request::*,
               std::optional<bool> Request::*>
      part;
  Alike alike = Alike::kNo;
  bool on_or_off = false;  // a bool that takes a value
};

const Flag kFlags[] = {
    {"--data", &Request::data, Alike::kGiven},
    {"--steps", &Request::steps, Alike::kSame},
    {"--seed", &Request::seed, Alike::kSame},
    {"--init", &Request::init, Alike::kGiven},
    {"--init-partial", &Request::init_partial, Alike::kSame},
    {"--rename", &Request::renames, Alike::kSame},
    {"--checkpoint-dir", &Request::checkpoint_dir, Alike::kSame},
    {"--checkpoint-every", &Request::checkpoint_every, Alike::kSame},
    {"--checkpoint-async", &Request::checkpoint_async, Alike::kSame},
    {"--checkpoint-keep", &Request::checkpoint_keep, Alike::kSame},
    {"--checkpoint-keep-every", &Request::checkpoint_keep_every, Alike::kSame},
    {"--snapshot-every", &Request::snapshot_every, Alike::kSame},
    {"--snapshot-dir", &Request::snapshot_dir, Alike::kSame},
    {"--drop-snapshots", &Request::drop_snapshots, Alike::kSame},
    {"--resume", &Request::resume, Alike::kSame},
    {"--restarted", &Request::restarted},
    {"--lost-host", &Request::lost_hosts},
    {"--allow-changed", &Request::allow_changed, Alike::kSame},
    {"--other-data", &Request::other_data, Alike::kSame},
    {"--allow-nonfinite", &Request::allow_nonfinite, Alike::kSame},
    {"--eval-data", &Request::eval_data, Alike::kGiven},
    {"--eval-every", &Request::eval_every, Alike::kSame},
    {"--eval-batches", &Request::eval_batches, Alike::kSame},
    {"--stop-at", &Request::stop_at, Alike::kSame},
    {"--patience", &Request::patience, Alike::kSame},
    {"--debug-nan", &Request::debug_nan, Alike::kSame},
    {"--slow-ranks-every", &Request::slow_ranks_every, Alike::kSame},
    {"--compare-replicas-every", &Request::compare_replicas_every, Alike::kSame},
    {"--inputs", &Request::inputs, Alike::kGiven},
    {"--outputs", &Request::outputs, Alike::kGiven},
    {"--show-shards", &Request::show_shards, Alike::kSame},
    {"--trace", &Request::trace, Alike::kGiven},
    {"--trace-kernels", &Request::trace_kernels, Alike::kSame},
    {"--deterministic", &Request::deterministic, Alike::kSame},
    {"--cuda-graphs", &Request::cuda_graphs, Alike::kSame, /*on_or_off=*/true},
    {"--tier-dir", &Request::tier_dir},
    {"--metrics", &Request::metrics},
    {"--report", &Request::report},
    {"--tensorboard", &Request::tensorboard},
    {"--log-every", &Request::log_every},
    {"--threads", &Request::threads},
    {"--hang-seconds", &Request::hang_seconds},
    {"--lost-seconds", &Request::lost_seconds},
    {"--cuda-libs", &Request::cuda_libs},
    {"--algorithm-cache", &Request::algorithm_cache},
    {"--quiet", &Request::quiet},
    {"--devices", &Request::devices},
    {"--check", &Request::check},
    {"--version", &Request::version},
    {"--help", &Request::help},
};

// Puts a flag's value into the request; what was expected, if it is not of the flag's type.
const char* Set(bool& part, const std::string& value) {
  part = value == "on";
  return part || value == "off" ? nullptr : "on or off";
}
const char* Set(std::optional<bool>& part, const std::string& value) { return Set(part.emplace(), value); }
const char* Set(std::string& part, const std::string& value) {
  part = value;
  return value.empty() ? "a file" : nullptr;
}
const char* Set(std::vector<std::string>& part, const std::string& value) {
  part.push_back(value);
  return value.empty() ? "a word" : nullptr;
}
const char* Set(std::optional<double>& part, const std::string& value) {
  double number = 0;
  if (!absl::SimpleAtod(value, &number) || !std::isfinite(number)) return "a number";
  part = number;
  return nullptr;
}
// Seconds, minutes or hours that a request may name: far above any run's.
constexpr int64_t kMostOfAUnit = 1'000'000'000;

// A plain number is one of steps.
const char* Set(Interval& part, const std::string& value) {
  static constexpr char kExpected[] = "a number of steps, or a time such as 90s, 5m or 2h";
  const char unit = value.empty() ? '\0' : value.back();
  const int64_t seconds = unit == 's' ? 1 : unit == 'm' ? 60 : unit == 'h' ? 3600 : 0;
  int64_t number = -1;
  if (!absl::SimpleAtoi(value.substr(0, value.size() - (seconds > 0 ? 1 : 0)), &number) || number < 0) return kExpected;
  if (seconds > 0 && (number == 0 || number > kMostOfAUnit)) return kExpected;
  part = seconds > 0 ? Interval{.seconds = number * seconds} : Interval{.steps = number};
  return nullptr;
}
const char* Set(std::optional<Interval>& part, const std::string& value) { return Set(part.emplace(), value); }
template <typename Number>
const char* Set(Number& part, const std::string& value) {
  int64_t number = 0;
  if (!absl::SimpleAtoi(value, &number) || number < 0) return "a whole number of at least 0";
  part = number;
  return nullptr;
}

std::string TextOf(bool part) { return part ? "on" : "off"; }
std::string TextOf(const std::optional<bool>& part) { return part.has_value() ? TextOf(*part) : "none"; }
std::string TextOf(const std::string& part) { return part.empty() ? "none" : part; }
std::string TextOf(int64_t part) { return absl::StrCat(part); }
std::string TextOf(const Interval& part) {
  return part.seconds > 0 ? absl::StrCat(part.seconds, "s") : absl::StrCat(part.steps);
}
std::string TextOf(const std::optional<Interval>& part) { return part.has_value() ? TextOf(*part) : "none"; }
std::string TextOf(const std::vector<std::string>& part) { return part.empty() ? "none" : absl::StrJoin(part, " "); }
template <typename Number>
std::string TextOf(const std::optional<Number>& part) {
  return part.has_value() ? absl::StrCat(*part) : "none";
}

absl::Status Wrong(const std::string& flag, const std::string& what) {
  return absl::InvalidArgumentError(absl::StrCat(flag, ": ", what, " (see --help)"));
}

}  // namespace

const char* HelpText() { return kHelp; }

std::vector<std::pair<std::string, std::string>> SharedOptions(const Request& request) {
  std::vector<std::pair<std::string, std::string>> options;
  for (const Flag& flag : kFlags) {
    if (flag.alike == Alike::kNo) continue;
    const std::string text = std::visit([&](auto part) { return TextOf(request.*part); }, flag.part);
    options.emplace_back(flag.name, flag.alike == Alike::kGiven && text != "none" ? "one" : text);
  }
  return options;
}

absl::StatusOr<Request> ParseRequest(const std::vector<std::string>& arguments) {
  Request request;
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
    const auto* flag =
        std::find_if(std::begin(kFlags), std::end(kFlags), [&](const Flag& flag) { return flag.name == name; });
    if (flag == std::end(kFlags)) return Wrong(name, "no such flag");
    if (const auto* on = std::get_if<bool Request::*>(&flag->part); on != nullptr && !flag->on_or_off) {
      if (equals != std::string::npos) return Wrong(name, "expected no value");
      request.*(*on) = true;
      continue;
    }
    if (equals == std::string::npos && i + 1 == arguments.size()) return Wrong(name, "expected a value, got none");
    const std::string value = equals == std::string::npos ? arguments[++i] : argument.substr(equals + 1);
    const char* expected = std::visit([&](auto part) { return Set(request.*part, value); }, flag->part);
    if (expected != nullptr) return Wrong(name, absl::StrCat("expected ", expected, ", got `", value, "`"));
    if (std::holds_alternative<std::vector<std::string> Request::*>(flag->part)) continue;  // may come again
    const auto [first, is_first] = given.emplace(name, value);
    if (!is_first) return Wrong(name, absl::StrCat("expected once, got `", first->second, "` and `", value, "`"));
  }
  if (request.help || request.version || request.devices) return request;
  if (request.drop_snapshots) {
    if (request.checkpoint_dir.empty()) return Wrong("--checkpoint-dir", "expected, as --drop-snapshots needs it");
    return request;
  }
  if (request.plan.empty()) return absl::InvalidArgumentError("expected a plan (see --help)");
  if (request.check) return request;
  if (request.checkpoint_dir.empty() &&
      (request.resume || !request.checkpoint_every.none() || request.checkpoint_keep > 0)) {
    return Wrong("--checkpoint-dir", "expected, as another flag needs it");
  }
  for (const auto& [flag, is_set] : {std::pair("--checkpoint-async", request.checkpoint_async.has_value()),
                                     {"--snapshot-every", !request.snapshot_every.none()}}) {
    if (is_set && request.checkpoint_dir.empty())
      return Wrong("--checkpoint-dir", absl::StrCat("expected, as ", flag, " needs it"));
  }
  if (request.checkpoint_keep_every > 0 && request.checkpoint_keep == 0) {
    return Wrong("--checkpoint-keep", "expected, as --checkpoint-keep-every needs it: without it all stay");
  }
  if (request.trace_kernels && request.trace.empty()) {
    return Wrong("--trace", "expected, as --trace-kernels needs it");
  }
  if (request.threads > kMostThreads) {
    return Wrong("--threads", absl::StrCat("expected at most ", kMostThreads, ", got ", request.threads));
  }
  for (const auto& [flag, is_set] : {std::pair("--eval-every", request.eval_every.has_value()),
                                     {"--eval-batches", request.eval_batches.has_value()},
                                     {"--stop-at", request.stop_at.has_value()},
                                     {"--patience", request.patience.has_value()}}) {
    if (is_set && request.eval_data.empty())
      return Wrong("--eval-data", absl::StrCat("expected, as ", flag, " needs it"));
  }
  if (!request.restarted.empty() && !request.resume) return Wrong("--resume", "expected, as --restarted needs it");
  if (!request.lost_hosts.empty() && !request.resume) return Wrong("--resume", "expected, as --lost-host needs it");
  if (request.init_partial && request.init.empty()) return Wrong("--init", "expected, as --init-partial needs it");
  for (const std::string& rename : request.renames) {
    if (const size_t equals = rename.find('='); equals == 0 || equals == std::string::npos)
      return Wrong("--rename", absl::StrCat("expected FROM=TO, got `", rename, "`"));
  }
  if (!request.renames.empty() && request.init.empty()) return Wrong("--init", "expected, as --rename needs it");
  if (request.allow_changed && !request.resume) return Wrong("--resume", "expected, as --allow-changed needs it");
  if (request.debug_nan && request.allow_nonfinite) return Wrong("--debug-nan", "expected without --allow-nonfinite");
  if (request.other_data && !request.resume) return Wrong("--resume", "expected, as --other-data needs it");
  return request;
}

}  // namespace weft::run
