// What an exhaustive search of a grid of layouts finds, without compiler/auto: see kHelp.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
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

constexpr char kHelp[] = R"(sweep: the best layouts of a grid, each compiled

usage: sweep JOB LAYERS [KEY=VALUE ...] [--best N]              the grid
       sweep JOB LAYERS [KEY=VALUE ...] --whole FILE [--every N]  the layouts of such a list, as a whole

The grid: data x tensor x pipeline = all ranks of the job's cluster, with tensor and pipeline up to 16; every power of two
as the sequences that a data rank has of a micro-batch; ZeRO 0 to 3; for pipelines 1F1B, INTERLEAVED with two chunks and the
zero bubble in the form V; of the recompute policies NONE, SELECTIVE and FULL the first that fits. Each is compiled with two
and with four layers a stage, without offsets, and simulated; LAYERS layers are on the line through both. Where four layers a
stage are no fewer than LAYERS, the whole is compiled instead. More layers never take less time: what takes longer with two
layers a stage than the last of the best so far with all is not looked at any more.

  --best N      how many are printed: 100 if absent; as lines are off by some percent, ask for more, and then for --whole
  --whole FILE  compiles each layout of a list with all layers, and says how far off the lines were
  --every N     every N-th of the list alone

Standard output has the best, the fastest first: step in ms, GiB a rank, keys. Standard error says the rest. ^C ends it with
what it has.
)";

std::atomic<bool> stopped{false};

constexpr double kGiB = 1 << 30;

struct Found {
  double step_s = 0, bytes = 0;
  std::string keys;
};

// What a job takes, without offsets: its step, and the least bytes that its rank can do with.
struct Sample {
  double step_s = 0, bytes = 0;
};

class Sweep {
 public:
  Sweep(std::string job, std::vector<std::string> overrides, int64_t layers, size_t best)
      : path_(std::move(job)), overrides_(std::move(overrides)), layers_(layers), kept_(best) {}

  // The grid.
  bool Run() {
    const absl::StatusOr<int64_t> global = Open();
    if (!global.ok()) return Fail(global.status());
    const int64_t ranks = cluster_.node().count() * cluster_.node().ranks();
    for (int64_t pipeline = 1; pipeline <= 16; pipeline *= 2) {
      for (int64_t tensor = 1; tensor <= 16 && tensor * pipeline <= ranks; tensor *= 2) {
        const int64_t data = ranks / pipeline / tensor;
        for (int64_t micro = *global; micro >= data && !stopped; micro /= 2) Visit(data, tensor, pipeline, micro);
      }
    }
    std::fprintf(stderr, "\n%d layouts: %d looked at, %d too slow with few layers, %d too large, %d impossible\n", all_,
                 static_cast<int>(found_.size()), slow_, large_, impossible_);
    found_.resize(std::min(kept_, found_.size()));
    Print();
    return true;
  }

  // The layouts of a list.
  bool RunWhole(const std::string& path, size_t every) {
    const absl::StatusOr<int64_t> global = Open();
    if (!global.ok()) return Fail(global.status());
    std::ifstream list(path);
    std::vector<double> steps, bytes;
    size_t number = 0;
    for (std::string line; std::getline(list, line);) {
      if (stopped || line.empty() || line[0] == '#' || number++ % every != 0) continue;
      const std::vector<std::string> fields = absl::StrSplit(line, '\t');
      compiler::Candidates candidates(source_->module(), cluster_);
      const std::optional<Sample> whole = fields.size() == 3 ? Take(candidates, fields[2], layers_) : std::nullopt;
      if (!whole) return Fail(absl::InvalidArgumentError(absl::StrCat(path, ": cannot be compiled: ", line)));
      steps.push_back(1e-3 * std::strtod(fields[0].c_str(), nullptr) / whole->step_s - 1);
      bytes.push_back(kGiB * std::strtod(fields[1].c_str(), nullptr) / whole->bytes - 1);
      found_.push_back({whole->step_s, whole->bytes, fields[2]});
    }
    std::stable_sort(found_.begin(), found_.end(), IsFaster);
    found_.resize(std::min(kept_, found_.size()));
    Print();
    SayErrors("step", steps);
    SayErrors("bytes", bytes);
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

  static bool IsFaster(const Found& a, const Found& b) { return a.step_s < b.step_s; }

  void Print() const {
    for (const Found& found : found_) {
      std::printf("%.3f\t%.2f\t%s\n", 1e3 * found.step_s, found.bytes / kGiB, found.keys.c_str());
    }
  }

  // Of lines over what a whole compilation says, less 1.
  static void SayErrors(const char* what, std::vector<double> errors) {
    if (errors.empty()) return;
    std::sort(errors.begin(), errors.end());
    const auto at = [&](double part) { return 100 * errors[static_cast<size_t>(part * double(errors.size() - 1))]; };
    const auto within = [&](double most) {
      return std::count_if(errors.begin(), errors.end(), [&](double error) { return std::abs(error) <= most; });
    };
    std::fprintf(stderr,
                 "%s of %zu as a whole: lines are off by %+.2f %% (least), %+.2f %% (a tenth), %+.2f %% (middle), "
                 "%+.2f %% (nine tenths), %+.2f %% (most); %td within 1 %%, %td within 5 %%\n",
                 what, errors.size(), at(0), at(0.1), at(0.5), at(0.9), at(1), within(0.01), within(0.05));
  }

  void Visit(int64_t data, int64_t tensor, int64_t pipeline, int64_t micro) {
    const std::vector<std::string> schedules =
        pipeline == 1 ? std::vector<std::string>{""}
                      : std::vector<std::string>{"pipeline.schedule=ONE_F_ONE_B",
                                                 "pipeline.schedule=INTERLEAVED pipeline.chunks=2",
                                                 "pipeline.schedule=ZERO_BUBBLE pipeline.form=V"};
    for (const std::string& schedule : schedules) {
      compiler::Candidates few(source_->module(), cluster_), more(source_->module(), cluster_);
      for (int zero = 0; zero <= (data > 1 ? 3 : 0); ++zero) {
        ++all_;
        Look({few, more}, pipeline,
             absl::StrCat("dist.data=", data, " dist.tensor=", tensor, " dist.pipeline=", pipeline,
                          " batch.micro=", micro, " zero.stage=", zero, schedule.empty() ? "" : " ", schedule));
      }
      std::fprintf(stderr, "\r%d layouts, best %.2f ms   ", all_, found_.empty() ? 0 : 1e3 * found_[0].step_s);
    }
  }

  struct Pair {
    compiler::Candidates &few, &more;
  };

  void Look(const Pair& depths, int64_t pipeline, const std::string& layout) {
    const int64_t fewer = 2 * pipeline, more = std::min(4 * pipeline, layers_);
    for (const char* policy : {"NONE", "SELECTIVE", "FULL"}) {
      const std::string keys = absl::StrCat(layout, " recompute.policy=", policy);
      const std::optional<Sample> two = Take(depths.few, keys, fewer);
      if (!two) {
        ++impossible_;
        return;
      }
      if (found_.size() >= kept_ && two->step_s >= found_[kept_ - 1].step_s) {
        ++slow_;
        return;
      }
      const std::optional<Sample> four = Take(depths.more, keys, more);
      if (!four) {
        ++impossible_;
        return;
      }
      const double part = double(layers_ - fewer) / double(more - fewer);
      const Found found{two->step_s + part * (four->step_s - two->step_s),
                        two->bytes + part * (four->bytes - two->bytes), keys};
      if (found.bytes > double(plan::PlanBytesOf(cluster_))) continue;
      found_.insert(std::upper_bound(found_.begin(), found_.end(), found, IsFaster), found);
      return;
    }
    ++large_;
  }

  std::optional<Sample> Take(compiler::Candidates& candidates, const std::string& keys, int64_t layers) const {
    std::vector<std::string> overrides = overrides_;
    overrides.push_back(absl::StrCat("model.set=layers=", layers));
    for (size_t begin = 0; begin < keys.size();) {
      const size_t end = std::min(keys.find(' ', begin), keys.size());
      overrides.push_back(keys.substr(begin, end - begin));
      begin = end + 1;
    }
    const absl::StatusOr<Job> job = LoadJob(path_, overrides);
    if (!job.ok()) return std::nullopt;
    const absl::StatusOr<plan::Plan> plan = candidates.planFor(LocateJob(*job, path_), /*offsets=*/false);
    if (!plan.ok()) return std::nullopt;
    const absl::StatusOr<sim::Report> report = sim::Simulate(*plan, plan::MachineOf(cluster_));
    const absl::StatusOr<std::vector<plan::StageMemory>> memory = plan::MeasureMemory(*plan);
    if (!report.ok() || !memory.ok()) return std::nullopt;
    Sample sample{report->step_s, 0};
    for (const plan::StageMemory& stage : *memory)
      sample.bytes = std::max(sample.bytes, double(stage.lower_bound_bytes));
    return sample;
  }

  const std::string path_;
  const std::vector<std::string> overrides_;
  const int64_t layers_;
  const size_t kept_;
  Cluster cluster_;
  std::unique_ptr<compiler::ModelSource> source_;
  std::vector<Found> found_;  // what fits, the fastest first
  int all_ = 0, slow_ = 0, large_ = 0, impossible_ = 0;
};

}  // namespace
}  // namespace weft::tools

int main(int argc, char** argv) {
  std::vector<std::string> words;
  std::string whole;
  int64_t every = 1, best = 100;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--whole" && i + 1 < argc) {
      whole = argv[++i];
    } else if ((word == "--every" || word == "--best") && i + 1 < argc) {
      (word == "--every" ? every : best) = std::strtoll(argv[++i], nullptr, 10);
    } else {
      words.push_back(word);
    }
  }
  const int64_t layers = words.size() < 2 ? 0 : std::strtoll(words[1].c_str(), nullptr, 10);
  if (layers < 4 || every < 1 || best < 1) {
    std::fputs(weft::tools::kHelp, stderr);
    return 2;
  }
  std::signal(SIGINT, [](int) { weft::tools::stopped = true; });
  weft::tools::Sweep sweep(words[0], {words.begin() + 2, words.end()}, layers, static_cast<size_t>(best));
  return (whole.empty() ? sweep.Run() : sweep.RunWhole(whole, static_cast<size_t>(every))) ? 0 : 1;
}
