#include "compiler/editor/op_pages.h"

#include <algorithm>

namespace weft::editor {

const std::vector<OpPage> &opPages() {
  static const std::vector<OpPage> pages = {
#include "compiler/editor/op_pages.inc"
  };
  return pages;
}

const OpPage *findOpPage(std::string_view name) {
  auto it = std::find_if(opPages().begin(), opPages().end(), [&](const OpPage &page) { return page.name == name; });
  return it == opPages().end() ? nullptr : &*it;
}

} // namespace weft::editor
