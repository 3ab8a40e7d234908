// A self-contained page around a report's data: its template, styles, scripts and libraries are part of this program.
#ifndef WEFT_TOOLS_PLAN_REPORT_PAGE_H_
#define WEFT_TOOLS_PLAN_REPORT_PAGE_H_

#include <string>

namespace weft::tools {

// Immutable; any thread. What plans say is packed once, as a run that goes on writes the page again and again.
class Page {
 public:
  // Of the text of a JSON: {"plans": [ReportData(), ...], "differences": ...}.
  explicit Page(const std::string& data);

  // As HTML, with what a run says, as the text of a JSON: {"steps": asked for, "every": so many steps a row, "rows":
  // [a line of metrics, ...]}; "null": there is no run.
  std::string Html(const std::string& run = "null") const;

 private:
  std::string before_;  // what stands before the run, with the data in it
};

}  // namespace weft::tools

#endif  // WEFT_TOOLS_PLAN_REPORT_PAGE_H_
