#include "tools/bench/sweep_search.h"

#include <algorithm>
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "runtime/plan/cluster.h"

namespace weft::tools {
namespace {

// What a heuristic drops is over the limit so many times.
constexpr double kSlack = 1.2;
// Likewise, if the heuristic knows how far off a line is.
constexpr double kNearSlack = 1.05;

bool Fail(const absl::Status& status) {
  std::fprintf(stderr, "sweep: %s\n", std::string(status.message()).c_str());
  return false;
}

}  // namespace

bool Sweep::Run() {
  const absl::StatusOr<int64_t> global = sampler_.Open();
  if (!global.ok()) return Fail(global.status());
  if (!options_.beside.empty()) {
    const absl::StatusOr<std::vector<Found>> list = ListOf(options_.beside, 1);
    if (!list.ok()) return Fail(list.status());
    for (const Found& found : *list) known_[found.keys] = {found.step_s, found.bytes};
    for (const Found& found : *list) Keep(found);
  }
  global_ = *global;
  const Cluster& cluster = sampler_.cluster();
  const std::vector<Mesh> meshes =
      MeshesOf(*global, cluster.node().count() * cluster.node().ranks(), sampler_.UsesContext());
  for (size_t i = options_.part; i < meshes.size() && !stop_; i += options_.parts) {
    Visit(meshes[i]);
    std::fprintf(stderr, "\r%zu of %zu meshes, %d layouts, best %.2f ms   ", i + 1, meshes.size(), all_,
                 found_.empty() ? 0 : 1e3 * found_[0].step_s);
  }
  SayCounts();
  SayErrors("lines", line_errors_);
  SayErrors("lines with ZeRO 1", like_errors_);
  found_.resize(std::min(options_.best, found_.size()));
  Print(found_);
  return true;
}

bool Sweep::RunWhole(const std::string& path, size_t every) {
  const absl::StatusOr<int64_t> global = sampler_.Open();
  if (!global.ok()) return Fail(global.status());
  const absl::StatusOr<std::vector<Found>> list = ListOf(path, every);
  if (!list.ok()) return Fail(list.status());
  std::vector<double> steps, bytes;
  for (const Found& found : *list) {
    if (stop_) break;
    compiler::Candidates candidates = sampler_.MakeCandidates();
    const absl::StatusOr<Sample> whole = sampler_.Take(candidates, found.keys, layers_);
    if (!whole.ok())
      return Fail(absl::InvalidArgumentError(
          absl::StrCat(path, ": expected keys that compile, got ", found.keys, ": ", whole.status().message())));
    steps.push_back(found.step_s / whole->step_s - 1);
    bytes.push_back(found.bytes / whole->bytes - 1);
    found_.push_back({whole->step_s, whole->bytes, found.keys});
  }
  std::stable_sort(found_.begin(), found_.end(), IsFaster);
  found_.resize(std::min(options_.best, found_.size()));
  Print(found_);
  SayErrors("listed steps", steps);
  SayErrors("listed bytes", bytes);
  return true;
}

void Sweep::SayCounts() const {
  std::fprintf(stderr,
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

void Sweep::Visit(const Mesh& mesh) {
  const std::string keys = KeysOf(mesh);
  const double busy_s = BusyOf(mesh), waiting = double(mesh.pipeline - 1) * double(mesh.micro) / double(global_);
  for (const Scheduled& schedule : SchedulesOf(mesh.pipeline, layers_)) {
    compiler::Candidates candidates[] = {sampler_.MakeCandidates(), sampler_.MakeCandidates(),
                                         sampler_.MakeCandidates()};
    const int64_t few = mesh.pipeline * std::max<int64_t>(2, schedule.chunks);
    const bool is_far = busy_s * (1 + schedule.idle * waiting) >= kSlack * Limit();
    First first;
    for (const std::string& zero : ZerosOf(mesh, sampler_.cluster().node().ranks())) {
      if (stop_) return;
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

double Sweep::BusyOf(const Mesh& mesh) const {
  Mesh stage = mesh;
  stage.pipeline = 1;
  const std::string keys = absl::StrCat(KeysOf(stage), ZerosOf(mesh, sampler_.cluster().node().ranks())[0],
                                        " recompute.policy=NONE batch.global=");
  double more_s[2] = {};
  for (int depth : {1, 2}) {
    compiler::Candidates candidates = sampler_.MakeCandidates();
    const absl::StatusOr<Sample> two = sampler_.Take(candidates, absl::StrCat(keys, 2 * mesh.micro), 2 * depth);
    const absl::StatusOr<Sample> three = sampler_.Take(candidates, absl::StrCat(keys, 3 * mesh.micro), 2 * depth);
    if (!two.ok() || !three.ok()) return 0;
    more_s[depth - 1] = three->step_s - two->step_s;
  }
  const double all_s = more_s[0] + double(layers_ - 2) / 2 * (more_s[1] - more_s[0]);
  return all_s * double(global_) / double(mesh.micro) / double(mesh.pipeline);
}

double Sweep::Limit() const {
  return found_.size() < options_.best ? std::numeric_limits<double>::infinity() : found_[options_.best - 1].step_s;
}

void Sweep::Keep(const Found& found) {
  found_.insert(std::upper_bound(found_.begin(), found_.end(), found, IsFaster), found);
}

void Sweep::Drop(int& count, compiler::Candidates& candidates, const std::string& layout) {
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

void Sweep::Look(compiler::Candidates (&candidates)[3], int64_t few, const std::string& layout, First& first) {
  const std::string plain = absl::StrCat(layout, " recompute.policy=NONE");
  double few_s = 0, line_s = 0;  // 0: unknown
  const auto least = [&](double least_s) { first.least_s = first.least_s > 0 ? first.least_s : least_s; };
  if (3 * few < layers_ && (known_.count(plain) == 0 || first.off == 0)) {
    if (const absl::StatusOr<Sample> sample = sampler_.Take(candidates[0], plain, few); sample.ok())
      few_s = sample->step_s;
    if (few_s >= Limit()) {
      ++slow_few_;
      return least(few_s);
    }
    if (const absl::StatusOr<Sample> sample = sampler_.Take(candidates[1], plain, 2 * few); few_s > 0 && sample.ok())
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

void Sweep::Choose(compiler::Candidates& candidates, const std::string& layout, absl::StatusOr<Sample> sample) {
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
    if (sample->bytes > double(plan::PlanBytesOf(sampler_.cluster()))) continue;
    ++fit_;
    Keep({sample->step_s, sample->bytes, keys});
    return;
  }
  ++large_;
}

absl::StatusOr<Sample> Sweep::Whole(compiler::Candidates& candidates, const std::string& keys) {
  if (const auto it = known_.find(keys); it != known_.end()) return it->second;
  ++wholes_;
  return sampler_.Take(candidates, keys, layers_);
}

}  // namespace weft::tools
