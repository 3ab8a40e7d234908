// What an exhaustive search of a grid of layouts finds, without compiler/auto: see kHelp.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "compiler/job/cluster.h"
#include "compiler/job/job.h"
#include "compiler/pipeline/candidates.h"
#include "compiler/pipeline/model_source.h"
#include "ops/abi/status_macros.h"
#include "runtime/measure/memory.h"
#include "runtime/plan/cluster.h"
#include "runtime/sim/simulate.h"

namespace weft::tools {
namespace {

constexpr char kHelp[] = R"(sweep: the best layouts of a grid, each compiled as a whole

usage: sweep JOB LAYERS [KEY=VALUE ...] [--best N] [--beside FILE] [--part I/N] [--check N]    the grid
       sweep JOB LAYERS [KEY=VALUE ...] --whole FILE [--every N]                               the layouts of a list

The grid: data x context x tensor x pipeline = all ranks of the job's cluster, with context, tensor and pipeline up to 16,
and context only where the model uses it; every power of two as the sequences that a data rank has of a micro-batch; ZeRO 0
to 3, the last three over all data ranks and over those of a node; for pipelines 1F1B, GPIPE, both forms of the zero bubble,
and INTERLEAVED with 2, 3, 4, 6 and 8 chunks a stage, no more than LAYERS in all; of the recompute policies NONE, SELECTIVE
and FULL the first that fits. Stages are cut as they are without pipeline.cuts, parameters lie as the model says.

A layout is compiled without offsets and simulated: with few layers (two a stage, or one a chunk if that is more), with twice
as many, and with all LAYERS, until it is dropped; at once with all LAYERS where few are a third of them. The limit is the
last of the best so far. A layout is dropped where it takes longer than the limit
  - with few layers and nothing recomputed, as more layers, or recomputing, never take less time;
  - with all layers, and recomputing no more than fits.
By a heuristic it is dropped where this, with nothing recomputed, is over the limit by a fifth:
  - what its mesh costs: one more micro-batch on the ranks of one stage, on the line through two and four layers at LAYERS,
    times the micro-batches, over the stages, and the idle part of its schedule (docs/howto/choose_a_schedule.md);
  - what its schedule costs: ZeRO 1 with it, as far as that was looked at;
  - what it costs itself, on the line through few layers and twice as many at LAYERS; over the limit by a twentieth is
    enough where ZeRO 1 with the same mesh and schedule says how far off its line is, and this one is corrected by that.

  --best N       how many are printed: 100 if absent
  --beside FILE  begins with a list, as this or --whole printed it: the limit is there at once, and nothing is compiled twice
  --part I/N     every N-th of the meshes with a micro-batch, from the I-th, which begins with 0
  --check N      compiles every N-th that a heuristic drops as a whole all the same, and says what the fastest takes
  --whole FILE   compiles each layout of a list with all layers, and says how far off the list was
  --every N      every N-th of the list alone

Standard output has the best, the fastest first: step in ms, GiB a rank, keys. Standard error says the rest, drops and how
far lines were off among it. ^C ends it with what it has.
)";

std::atomic<bool> stopped{false};

constexpr double kGiB = 1 << 30;
// Degrees of the grid.
constexpr int64_t kMostDegree = 16;
// What a heuristic drops is over the limit so many times.
constexpr double kSlack = 1.2;
// Likewise, if the heuristic knows how far off a line is.
constexpr double kNearSlack = 1.05;

struct Found {
  double step_s = 0, bytes = 0;
  std::string keys;
};

// What a job takes, without offsets: its step, and the least bytes that its rank can do with.
struct Sample {
  double step_s = 0, bytes = 0;
};

struct Options {
  size_t best = 100, part = 0, parts = 1, check = 0;
  std::string beside;
};

// Degrees of parallelism, and a micro-batch.
struct Mesh {
  int64_t data = 1, context = 1, tensor = 1, pipeline = 1, micro = 1;
};

struct Scheduled {
  std::string keys;
  int64_t chunks = 1;
  double idle = 0;  // over work: so many times the stages less one, over the micro-batches
};

std::vector<Scheduled> SchedulesOf(int64_t pipeline, int64_t layers) {
  if (pipeline == 1) return {{}};
  std::vector<Scheduled> all = {{" pipeline.schedule=ONE_F_ONE_B", 1, 1},
                                {" pipeline.schedule=GPIPE", 1, 1},
                                {" pipeline.schedule=ZERO_BUBBLE pipeline.form=H1", 1, 1.0 / 3},
                                {" pipeline.schedule=ZERO_BUBBLE pipeline.form=V", 2, 1.0 / 6}};
  for (int64_t chunks : {2, 3, 4, 6, 8}) {
    if (chunks * pipeline <= layers)
      all.push_back(
          {absl::StrCat(" pipeline.schedule=INTERLEAVED pipeline.chunks=", chunks), chunks, 1.0 / double(chunks)});
  }
  return all;
}

class Sweep {
 public:
  Sweep(std::string job, std::vector<std::string> overrides, int64_t layers, Options options)
      : path_(std::move(job)), overrides_(std::move(overrides)), layers_(layers), options_(std::move(options)) {}

  // The grid.
  bool Run() {
    const absl::StatusOr<int64_t> global = Open();
    if (!global.ok()) return Fail(global.status());
    if (!options_.beside.empty()) {
      const absl::StatusOr<std::vector<Found>> list = ListOf(options_.beside, 1);
      if (!list.ok()) return Fail(list.status());
      for (const Found& found : *list) known_[found.keys] = {found.step_s, found.bytes};
      for (const Found& found : *list) Keep(found);
    }
    global_ = *global;
    const std::vector<Mesh> meshes = MeshesOf(*global, cluster_.node().count() * cluster_.node().ranks());
    for (size_t i = options_.part; i < meshes.size() && !stopped; i += options_.parts) {
      Visit(meshes[i]);
      std::fprintf(stderr, "\r%zu of %zu meshes, %d layouts, best %.2f ms   ", i + 1, meshes.size(), all_,
                   found_.empty() ? 0 : 1e3 * found_[0].step_s);
    }
    SayCounts();
    SayErrors("lines", line_errors_);
    SayErrors("lines with ZeRO 1", like_errors_);
    found_.resize(std::min(options_.best, found_.size()));
    Print();
    return true;
  }

  // The layouts of a list.
  bool RunWhole(const std::string& path, size_t every) {
    const absl::StatusOr<int64_t> global = Open();
    if (!global.ok()) return Fail(global.status());
    const absl::StatusOr<std::vector<Found>> list = ListOf(path, every);
    if (!list.ok()) return Fail(list.status());
    std::vector<double> steps, bytes;
    for (const Found& found : *list) {
      if (stopped) break;
      compiler::Candidates candidates(source_->module(), cluster_);
      const absl::StatusOr<Sample> whole = Take(candidates, found.keys, layers_);
      if (!whole.ok())
        return Fail(absl::InvalidArgumentError(
            absl::StrCat(path, ": expected keys that compile, got ", found.keys, ": ", whole.status().message())));
      steps.push_back(found.step_s / whole->step_s - 1);
      bytes.push_back(found.bytes / whole->bytes - 1);
      found_.push_back({whole->step_s, whole->bytes, found.keys});
    }
    std::stable_sort(found_.begin(), found_.end(), IsFaster);
    found_.resize(std::min(options_.best, found_.size()));
    Print();
    SayErrors("listed steps", steps);
    SayErrors("listed bytes", bytes);
    return true;
  }

 private:
  static bool Fail(const absl::Status& status) {
    std::fprintf(stderr, "sweep: %s\n", std::string(status.message()).c_str());
    return false;
  }

  // Reads the job, its model and its cluster; the sequences of a step.
  absl::StatusOr<int64_t> Open() {
    WEFT_ASSIGN_OR_RETURN(const Job job, LoadJob(path_, overrides_));
    const Job located = LocateJob(job, path_);
    WEFT_ASSIGN_OR_RETURN(cluster_, LoadCluster(located.cluster(), {}));
    WEFT_ASSIGN_OR_RETURN(source_, compiler::ModelSource::read(located));
    return located.batch().global();
  }

  // What Print() printed, every `every`-th of it; lines that begin with # do not count.
  static absl::StatusOr<std::vector<Found>> ListOf(const std::string& path, size_t every) {
    std::ifstream file(path);
    if (!file) return absl::NotFoundError(absl::StrCat(path, ": cannot be read"));
    std::vector<Found> list;
    size_t number = 0;
    for (std::string line; std::getline(file, line);) {
      if (line.empty() || line[0] == '#' || number++ % every != 0) continue;
      const std::vector<std::string> fields = absl::StrSplit(line, '\t');
      if (fields.size() != 3)
        return absl::InvalidArgumentError(
            absl::StrCat(path, ": expected milliseconds, GiB and keys with tabs between, got ", line));
      list.push_back(
          {1e-3 * std::strtod(fields[0].c_str(), nullptr), kGiB * std::strtod(fields[1].c_str(), nullptr), fields[2]});
    }
    return list;
  }

  static bool IsFaster(const Found& a, const Found& b) { return a.step_s < b.step_s; }

  void Print() const {
    for (const Found& found : found_) {
      std::printf("%.3f\t%.2f\t%s\n", 1e3 * found.step_s, found.bytes / kGiB, found.keys.c_str());
    }
  }

  void SayCounts() const {
    std::fprintf(
        stderr,
        "\n%d layouts: %d were among the best so far, %d took too long with few layers, %d with all, %d are too "
        "large, %d impossible%s%s\n",
        all_, fit_, slow_few_, slow_whole_, large_, impossible_, impossible_ > 0 ? ", such as: " : "",
        first_error_.c_str());
    std::fprintf(
        stderr,
        "by heuristics: %d for their mesh and schedule, %d for ZeRO 1 with them, %d by their line, %d by ZeRO 1 and "
        "their line\n",
        far_meshes_, far_zeros_, far_lines_, far_likes_);
    if (checked_ > 0)
      std::fprintf(stderr, "%d of these as a whole all the same: %.3f of the limit, at least\n", checked_,
                   least_checked_);
    std::fprintf(stderr, "%d compiled as a whole; %d take less time than few layers do\n", wholes_, shrunk_);
  }

  // Of what was thought over what a whole compilation says, less 1.
  static void SayErrors(const char* what, std::vector<double> errors) {
    if (errors.empty()) return;
    std::sort(errors.begin(), errors.end());
    const auto at = [&](double part) { return 100 * errors[static_cast<size_t>(part * double(errors.size() - 1))]; };
    const auto within = [&](double most) {
      return std::count_if(errors.begin(), errors.end(), [&](double error) { return std::abs(error) <= most; });
    };
    std::fprintf(stderr,
                 "%s of %zu: off by %+.2f %% (least), %+.2f %% (a tenth), %+.2f %% (middle), %+.2f %% (nine tenths), "
                 "%+.2f %% (most); %td within 1 %%, %td within 5 %%\n",
                 what, errors.size(), at(0), at(0.1), at(0.5), at(0.9), at(1), within(0.01), within(0.05));
  }

  std::vector<Mesh> MeshesOf(int64_t global, int64_t ranks) const {
    std::vector<Mesh> meshes;
    const int64_t most_context = UsesContext() ? kMostDegree : 1;
    for (int64_t pipeline = 1; pipeline <= kMostDegree; pipeline *= 2) {
      for (int64_t context = 1; context <= most_context; context *= 2) {
        for (int64_t tensor = 1; tensor <= kMostDegree && tensor * context * pipeline <= ranks; tensor *= 2) {
          const int64_t data = ranks / pipeline / context / tensor;
          for (int64_t micro = global; micro >= data; micro /= 2)
            meshes.push_back({data, context, tensor, pipeline, micro});
        }
      }
    }
    return meshes;
  }

  // A model that does not use the axis is refused with ranks along it.
  bool UsesContext() const {
    compiler::Candidates candidates(source_->module(), cluster_);
    const absl::StatusOr<Sample> sample = Take(candidates, "dist.context=2", 1);
    if (!sample.ok()) std::fprintf(stderr, "without context: %s\n", std::string(sample.status().message()).c_str());
    return sample.ok();
  }

  void Visit(const Mesh& mesh) {
    const std::string keys = KeysOf(mesh);
    const double busy_s = BusyOf(mesh), waiting = double(mesh.pipeline - 1) * double(mesh.micro) / double(global_);
    for (const Scheduled& schedule : SchedulesOf(mesh.pipeline, layers_)) {
      compiler::Candidates candidates[] = {
          {source_->module(), cluster_}, {source_->module(), cluster_}, {source_->module(), cluster_}};
      const int64_t few = mesh.pipeline * std::max<int64_t>(2, schedule.chunks);
      const bool is_far = busy_s * (1 + schedule.idle * waiting) >= kSlack * Limit();
      First first;
      for (const std::string& zero : ZerosOf(mesh)) {
        if (stopped) return;
        ++all_;
        const std::string layout = absl::StrCat(keys, zero, schedule.keys);
        if (is_far) {
          Drop(far_meshes_, candidates[2], layout);
        } else if (first.least_s >= kSlack * Limit()) {
          Drop(far_zeros_, candidates[2], layout);
        } else {
          Look(candidates, few, layout, first);
        }
      }
    }
  }

  static std::string KeysOf(const Mesh& mesh) {
    return absl::StrCat("dist.data=", mesh.data, mesh.context > 1 ? absl::StrCat(" dist.context=", mesh.context) : "",
                        " dist.tensor=", mesh.tensor, " dist.pipeline=", mesh.pipeline, " batch.micro=", mesh.micro);
  }

  // ZeRO 1 comes first.
  std::vector<std::string> ZerosOf(const Mesh& mesh) const {
    if (mesh.data == 1) return {" zero.stage=0"};
    const int64_t node = cluster_.node().ranks() / mesh.tensor / mesh.context;  // data ranks
    std::vector<std::string> zeros;
    for (int stage : {1, 0, 2, 3}) {
      zeros.push_back(absl::StrCat(" zero.stage=", stage));
      if (stage > 0 && node > 1 && node < mesh.data) zeros.push_back(absl::StrCat(zeros.back(), " zero.group=", node));
    }
    return zeros;
  }

  // Seconds of the micro-batches if all stages were busy all the time, by what a third one costs on the ranks of one
  // stage.
  double BusyOf(const Mesh& mesh) const {
    Mesh stage = mesh;
    stage.pipeline = 1;
    const std::string keys = absl::StrCat(KeysOf(stage), ZerosOf(mesh)[0], " recompute.policy=NONE batch.global=");
    double more_s[2] = {};
    for (int depth : {1, 2}) {
      compiler::Candidates candidates(source_->module(), cluster_);
      const absl::StatusOr<Sample> two = Take(candidates, absl::StrCat(keys, 2 * mesh.micro), 2 * depth);
      const absl::StatusOr<Sample> three = Take(candidates, absl::StrCat(keys, 3 * mesh.micro), 2 * depth);
      if (!two.ok() || !three.ok()) return 0;
      more_s[depth - 1] = three->step_s - two->step_s;
    }
    const double all_s = more_s[0] + double(layers_ - 2) / 2 * (more_s[1] - more_s[0]);
    return all_s * double(global_) / double(mesh.micro) / double(mesh.pipeline);
  }

  double Limit() const {
    return found_.size() < options_.best ? std::numeric_limits<double>::infinity() : found_[options_.best - 1].step_s;
  }

  void Keep(const Found& found) {
    found_.insert(std::upper_bound(found_.begin(), found_.end(), found, IsFaster), found);
  }

  // By a heuristic; some are compiled all the same.
  void Drop(int& count, compiler::Candidates& candidates, const std::string& layout) {
    ++count;
    if (options_.check == 0 || dropped_++ % options_.check != 0) return;
    const double limit = Limit();
    const absl::StatusOr<Sample> whole = Whole(candidates, absl::StrCat(layout, " recompute.policy=NONE"));
    if (!whole.ok()) return;
    ++checked_;
    least_checked_ = std::min(least_checked_, whole->step_s / limit);
    if (whole->step_s >= limit) return;
    --count;
    Choose(candidates, layout, whole);
  }

  // Of a mesh and a schedule, by what was looked at first, with ZeRO 1.
  struct First {
    double least_s = 0;  // 0: nothing was
    double off = 0;      // a whole over its line; 0: unknown
  };

  // `candidates`: for few layers, for twice as many, and for all.
  void Look(compiler::Candidates (&candidates)[3], int64_t few, const std::string& layout, First& first) {
    const std::string plain = absl::StrCat(layout, " recompute.policy=NONE");
    double few_s = 0, line_s = 0;  // 0: unknown
    const auto least = [&](double least_s) { first.least_s = first.least_s > 0 ? first.least_s : least_s; };
    if (3 * few < layers_ && (known_.count(plain) == 0 || first.off == 0)) {
      if (const absl::StatusOr<Sample> sample = Take(candidates[0], plain, few); sample.ok()) few_s = sample->step_s;
      if (few_s >= Limit()) {
        ++slow_few_;
        return least(few_s);
      }
      if (const absl::StatusOr<Sample> sample = Take(candidates[1], plain, 2 * few); few_s > 0 && sample.ok())
        line_s = few_s + double(layers_ - few) / double(few) * (sample->step_s - few_s);
      if (line_s >= kSlack * Limit()) {
        Drop(far_lines_, candidates[2], layout);
        return least(line_s);
      }
      if (first.off > 0 && first.off * line_s >= kNearSlack * Limit()) return Drop(far_likes_, candidates[2], layout);
    }
    const absl::StatusOr<Sample> whole = Whole(candidates[2], plain);
    if (whole.ok()) {
      least(whole->step_s);
      shrunk_ += whole->step_s < few_s ? 1 : 0;
    }
    if (whole.ok() && line_s > 0) {
      line_errors_.push_back(line_s / whole->step_s - 1);
      if (first.off > 0) like_errors_.push_back(first.off * line_s / whole->step_s - 1);
      if (first.off == 0) first.off = whole->step_s / line_s;
    }
    Choose(candidates[2], layout, whole);
  }

  // The first policy that fits. `sample`: of the first one.
  void Choose(compiler::Candidates& candidates, const std::string& layout, absl::StatusOr<Sample> sample) {
    for (const absl::string_view policy : {"NONE", "SELECTIVE", "FULL"}) {
      const std::string keys = absl::StrCat(layout, " recompute.policy=", policy);
      if (policy != "NONE") sample = Whole(candidates, keys);
      if (!sample.ok()) {
        ++impossible_;
        first_error_ = first_error_.empty() ? std::string(sample.status().message()) : first_error_;
        return;
      }
      if (known_.count(keys) > 0) {
        ++fit_;
        return;
      }
      if (sample->step_s >= Limit()) {
        ++slow_whole_;
        return;
      }
      if (sample->bytes > double(plan::PlanBytesOf(cluster_))) continue;
      ++fit_;
      Keep({sample->step_s, sample->bytes, keys});
      return;
    }
    ++large_;
  }

  absl::StatusOr<Sample> Whole(compiler::Candidates& candidates, const std::string& keys) {
    if (const auto it = known_.find(keys); it != known_.end()) return it->second;
    ++wholes_;
    return Take(candidates, keys, layers_);
  }

  absl::StatusOr<Sample> Take(compiler::Candidates& candidates, const std::string& keys, int64_t layers) const {
    std::vector<std::string> overrides = overrides_;
    overrides.push_back(absl::StrCat("model.set=layers=", layers));
    for (absl::string_view key : absl::StrSplit(keys, ' ')) overrides.emplace_back(key);
    WEFT_ASSIGN_OR_RETURN(const Job job, LoadJob(path_, overrides));
    WEFT_ASSIGN_OR_RETURN(const plan::Plan plan, candidates.planFor(LocateJob(job, path_), /*offsets=*/false));
    WEFT_ASSIGN_OR_RETURN(const sim::Report report, sim::Simulate(plan, plan::MachineOf(cluster_)));
    WEFT_ASSIGN_OR_RETURN(const std::vector<plan::StageMemory> memory, plan::MeasureMemory(plan));
    Sample sample{report.step_s, 0};
    for (const plan::StageMemory& stage : memory)
      sample.bytes = std::max(sample.bytes, double(stage.lower_bound_bytes));
    return sample;
  }

  const std::string path_;
  const std::vector<std::string> overrides_;
  const int64_t layers_;
  const Options options_;
  int64_t global_ = 0;  // sequences of a step
  Cluster cluster_;
  std::unique_ptr<compiler::ModelSource> source_;
  std::vector<Found> found_;             // what fits, the fastest first
  std::map<std::string, Sample> known_;  // from --beside, by keys
  std::vector<double> line_errors_, like_errors_;
  std::string first_error_;
  int all_ = 0, fit_ = 0, slow_few_ = 0, slow_whole_ = 0, large_ = 0, impossible_ = 0;
  int far_meshes_ = 0, far_zeros_ = 0, far_lines_ = 0, far_likes_ = 0;
  int wholes_ = 0, shrunk_ = 0, checked_ = 0;
  size_t dropped_ = 0;  // by heuristics
  double least_checked_ = std::numeric_limits<double>::infinity();
};

}  // namespace
}  // namespace weft::tools

int main(int argc, char** argv) {
  std::vector<std::string> words;
  std::map<std::string, std::string> flags = {{"--best", "100"}, {"--beside", ""}, {"--part", "0/1"},
                                              {"--check", "0"},  {"--whole", ""},  {"--every", "1"}};
  for (int i = 1; i < argc; ++i) {
    const auto flag = flags.find(argv[i]);
    if (flag != flags.end() && i + 1 < argc) {
      flag->second = argv[++i];
    } else {
      words.emplace_back(argv[i]);
    }
  }
  const auto number = [](const std::string& text) { return std::strtoll(text.c_str(), nullptr, 10); };
  const std::vector<std::string> part = absl::StrSplit(flags["--part"], '/');
  const int64_t layers = words.size() < 2 ? 0 : number(words[1]);
  const int64_t every = number(flags["--every"]), best = number(flags["--best"]), check = number(flags["--check"]);
  const int64_t index = number(part[0]), parts = part.size() == 2 ? number(part[1]) : 0;
  if (layers < 4 || every < 1 || best < 1 || check < 0 || index < 0 || index >= parts) {
    std::fputs(weft::tools::kHelp, stderr);
    return 2;
  }
  std::signal(SIGINT, [](int) { weft::tools::stopped = true; });
  weft::tools::Sweep sweep(words[0], {words.begin() + 2, words.end()}, layers,
                           {static_cast<size_t>(best), static_cast<size_t>(index), static_cast<size_t>(parts),
                            static_cast<size_t>(check), flags["--beside"]});
  const std::string& whole = flags["--whole"];
  return (whole.empty() ? sweep.Run() : sweep.RunWhole(whole, static_cast<size_t>(every))) ? 0 : 1;
}
