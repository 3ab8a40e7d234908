#include "tools/run/page.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/trace/file.h"
#include "runtime/trace/timeline.h"
#include "tools/plan/cluster.h"
#include "tools/plan/report/data.h"

namespace weft::run {
namespace {

constexpr size_t kMostRows = 4000;              // more than a screen has columns
constexpr int64_t kNsBetween = 10'000'000'000;  // writing must not slow a run down

}  // namespace

void Course::Add(const trace::StepMetrics& metrics) {
  last_ = {metrics.step, trace::ToJson(metrics), !metrics.evaluation.empty()};
  if (!Stays(last_)) return;
  rows_.push_back(last_);
  if (rows_.size() <= most_) return;
  const auto evaluated = std::count_if(rows_.begin(), rows_.end(), [](const Row& row) { return row.evaluated; });
  keeps_evaluations_ = keeps_evaluations_ && static_cast<size_t>(evaluated) <= most_ / 2;
  every_ *= 2;
  std::erase_if(rows_, [&](const Row& row) { return !Stays(row); });
}

std::string Course::ToJson(int64_t steps) const {
  std::string rows = absl::StrJoin(rows_, ",", [](std::string* out, const Row& row) { out->append(row.json); });
  if (!last_.json.empty() && (rows_.empty() || rows_.back().step != last_.step)) {
    absl::StrAppend(&rows, rows.empty() ? "" : ",", last_.json);
  }
  return absl::StrCat("{\"steps\":", steps, ",\"every\":", every_, ",\"rows\":[", rows, "]}");
}

RunPage::RunPage(std::string path, int64_t steps, tools::Page page)
    : path_(std::move(path)), steps_(steps), page_(std::move(page)), course_(kMostRows) {}

absl::StatusOr<std::unique_ptr<RunPage>> RunPage::Create(const plan::Plan& plan, const std::string& plan_path,
                                                         const std::string& path, int64_t steps) {
  const absl::StatusOr<Cluster> cluster = tools::ClusterOf(plan_path, plan, {});
  if (!cluster.ok()) return cluster.status();
  absl::StatusOr<nlohmann::ordered_json> data = tools::ReportData(plan_path, plan, *cluster, "");
  if (!data.ok()) return data.status();
  const nlohmann::ordered_json all = {{"plans", {*std::move(data)}}, {"differences", nullptr}};
  using Json = nlohmann::ordered_json;
  return std::unique_ptr<RunPage>(
      new RunPage(path, steps, tools::Page(all.dump(-1, ' ', false, Json::error_handler_t::replace))));
}

absl::Status RunPage::Add(const trace::StepMetrics& metrics) {
  course_.Add(metrics);
  if (written_ns_ != 0 && trace::NowNs() - written_ns_ < kNsBetween) return absl::OkStatus();
  return Write();
}

absl::Status RunPage::Write() {
  written_ns_ = trace::NowNs();
  return trace::WriteFile(path_, page_.Html(course_.ToJson(steps_)));
}

}  // namespace weft::run
