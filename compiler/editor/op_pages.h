// What the reference says of each op.
#ifndef WEFT_COMPILER_EDITOR_OP_PAGES_H_
#define WEFT_COMPILER_EDITOR_OP_PAGES_H_

#include <string_view>
#include <vector>

namespace weft::editor {

struct OpPage {
  std::string_view name;               // "weft.layer_norm"
  std::string_view summary;            // a line
  std::string_view text;               // Markdown
  std::vector<std::string_view> words; // that may stand behind its operands: "eps"
};

/// Those that a model file may hold. Any thread.
const std::vector<OpPage> &opPages();

/// Null for an op without a page.
const OpPage *findOpPage(std::string_view name);

} // namespace weft::editor

#endif // WEFT_COMPILER_EDITOR_OP_PAGES_H_
