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

constexpr absl::string_view kMark = "@DATA@";

std::string Deflated(const std::string& text) {
  uLongf size = compressBound(text.size());
  std::string bytes(size, '\0');
  // Cannot fail: there is room.
  compress2(reinterpret_cast<Bytef*>(bytes.data()), &size, reinterpret_cast<const Bytef*>(text.data()), text.size(),
            Z_BEST_COMPRESSION);
  bytes.resize(size);
  return bytes;
}

}  // namespace

std::string PageOf(const std::string& json) {
  const absl::string_view page(weft_report_page, weft_report_page_end - weft_report_page);
  const size_t mark = page.find(kMark);
  return absl::StrCat(page.substr(0, mark), absl::Base64Escape(Deflated(json)), page.substr(mark + kMark.size()));
}

}  // namespace weft::tools
