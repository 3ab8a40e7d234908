// An exhaustive search of a grid of layouts, without compiler/auto; what it drops and why: sweep_grid.cc.
#ifndef WEFT_TOOLS_BENCH_SWEEP_SEARCH_H_
#define WEFT_TOOLS_BENCH_SWEEP_SEARCH_H_

#include <atomic>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/bench/sweep_layouts.h"
#include "tools/bench/sweep_list.h"
#include "tools/bench/sweep_samples.h"

namespace weft::tools {

struct SweepOptions {
  size_t best = 100, part = 0, parts = 1, check = 0;
  std::string beside;
};

class Sweep {
 public:
  // `stop` ends it with what it has; it outlives this.
  Sweep(std::string job, std::vector<std::string> overrides, int64_t layers, SweepOptions options,
        const std::atomic<bool>& stop)
      : sampler_(std::move(job), std::move(overrides)), layers_(layers), options_(std::move(options)), stop_(stop) {}

  // The grid. False, and a line of standard error, if that cannot be.
  bool Run();

  // The layouts of a list.
  bool RunWhole(const std::string& path, size_t every);

 private:
  // Of a mesh and a schedule, by what was looked at first, with ZeRO 1.
  struct First {
    double least_s = 0;  // 0: nothing was
    double off = 0;      // a whole over its line; 0: unknown
  };

  void SayCounts() const;
  void Visit(const Mesh& mesh);
  // Seconds of the micro-batches if all stages were busy all the time, by what a third one costs on the ranks of one
  // stage.
  double BusyOf(const Mesh& mesh) const;
  double Limit() const;
  void Keep(const Found& found);
  // By a heuristic; some are compiled all the same.
  void Drop(int& count, compiler::Candidates& candidates, const std::string& layout);
  // `candidates`: for few layers, for twice as many, and for all.
  void Look(compiler::Candidates (&candidates)[3], int64_t few, const std::string& layout, First& first);
  // The first policy that fits. `sample`: of the first one.
  void Choose(compiler::Candidates& candidates, const std::string& layout, absl::StatusOr<Sample> sample);
  absl::StatusOr<Sample> Whole(compiler::Candidates& candidates, const std::string& keys);

  Sampler sampler_;
  const int64_t layers_;
  const SweepOptions options_;
  const std::atomic<bool>& stop_;
  int64_t global_ = 0;                   // sequences of a step
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

}  // namespace weft::tools

#endif  // WEFT_TOOLS_BENCH_SWEEP_SEARCH_H_
