// A self-contained page around a report's data: its template, styles, scripts and libraries are part of this program.
#ifndef WEFT_TOOLS_PLAN_REPORT_PAGE_H_
#define WEFT_TOOLS_PLAN_REPORT_PAGE_H_

#include <string>

namespace weft::tools {

// The page as HTML, with the text of a JSON in it, compressed.
std::string PageOf(const std::string& json);

}  // namespace weft::tools

#endif  // WEFT_TOOLS_PLAN_REPORT_PAGE_H_
