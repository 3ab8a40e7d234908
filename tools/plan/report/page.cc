#include "tools/plan/report/page.h"

#include <zlib.h>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

extern "C" {
extern const char weft_report_page[], weft_report_page_end[];
}

namespace weft::tools {
namespace {

// Where the data and the run go; the first stands before the second.
constexpr absl::string_view kData = "@DATA@", kRun = "@RUN@";

absl::string_view Template() {
  return {weft_report_page, static_cast<size_t>(weft_report_page_end - weft_report_page)};
}

std::string Packed(const std::string& text) {
  uLongf size = compressBound(text.size());
  std::string bytes(size, '\0');
  // Cannot fail: there is room.
  compress2(reinterpret_cast<Bytef*>(bytes.data()), &size, reinterpret_cast<const Bytef*>(text.data()), text.size(),
            Z_BEST_COMPRESSION);
  bytes.resize(size);
  return absl::Base64Escape(bytes);
}

}  // namespace

Page::Page(const std::string& data) {
  const size_t mark = Template().find(kData), end = mark + kData.size();
  before_ = absl::StrCat(Template().substr(0, mark), Packed(data), Template().substr(end, Template().find(kRun) - end));
}

std::string Page::Html(const std::string& run) const {
  return absl::StrCat(before_, Packed(run), Template().substr(Template().find(kRun) + kRun.size()));
}

}  // namespace weft::tools
