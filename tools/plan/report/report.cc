#include "tools/plan/report/report.h"

#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "runtime/plan/names.h"
#include "runtime/trace/file.h"
#include "tools/plan/cluster.h"
#include "tools/plan/differences.h"
#include "tools/plan/events.h"
#include "tools/plan/report/data.h"
#include "tools/plan/report/page.h"

namespace weft::tools {
namespace {

constexpr int kNoListing = 1;  // lines of listings that a page of two plans does not show

Outcome Wrong(const absl::Status& status) { return {"", std::string(status.message()), 2}; }

}  // namespace

Outcome RunReport(const std::vector<const plan::Plan*>& plans, const ReportRequest& request) {
  Json json = {{"plans", Json::array()}, {"differences", Json()}};
  for (size_t p = 0; p < plans.size(); ++p) {
    const absl::StatusOr<Cluster> cluster = ClusterOf(request.paths[p], *plans[p], request.cluster_keys);
    if (!cluster.ok()) return Wrong(cluster.status());
    absl::StatusOr<Json> data = ReportData(request.paths[p], *plans[p], *cluster, p == 0 ? request.trace : "");
    if (!data.ok()) return Wrong(data.status());
    json["plans"].push_back(*std::move(data));
  }
  if (plans.size() == 2) json["differences"] = Json::parse(DifferencesJson(*plans[0], *plans[1], kNoListing));
  const std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (request.json) return {text + "\n", "", 0};
  const std::string output =
      request.output.empty() ? absl::StrCat(absl::StripSuffix(request.paths[0], ".plan"), ".html") : request.output;
  const std::string page = Page(text).Html();
  if (absl::Status status = trace::WriteFile(output, page); !status.ok()) return Wrong(status);
  return {absl::StrCat(output, ": written, ", plan::BytesText(static_cast<int64_t>(page.size())),
                       "; open it in a browser\n"),
          "", 0};
}

}  // namespace weft::tools
