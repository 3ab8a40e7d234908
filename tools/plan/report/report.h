// `weft-plan report`: a page that shows a plan, or two side by side.
#ifndef WEFT_TOOLS_PLAN_REPORT_REPORT_H_
#define WEFT_TOOLS_PLAN_REPORT_REPORT_H_

#include <string>
#include <vector>

#include "runtime/plan/plan.pb.h"
#include "tools/plan/commands.h"

namespace weft::tools {

struct ReportRequest {
  std::vector<std::string> paths;         // of the plans
  std::vector<std::string> cluster_keys;  // as of `simulate`
  std::string trace;                      // a measured trace to show beside; empty: none
  std::string output;                     // the page; empty: that of the first plan, ".html" for ".plan"
  bool json = false;                      // the data alone, on standard output
};

// Of one validated plan or two. Errors begin with the plan's path, or with that of the trace, or with the output's.
Outcome RunReport(const std::vector<const plan::Plan*>& plans, const ReportRequest& request);

}  // namespace weft::tools

#endif  // WEFT_TOOLS_PLAN_REPORT_REPORT_H_
