// Columns of text.
#ifndef WEFT_RUNTIME_SHOW_TABLE_H_
#define WEFT_RUNTIME_SHOW_TABLE_H_

#include <algorithm>
#include <string>
#include <vector>

namespace weft::plan {

// Rows of cells, printed with each column as wide as its widest cell. Columns
// are left-aligned; those named in `right` are right-aligned. A row of one cell
// is a line of its own and widens nothing.
class Table {
 public:
  explicit Table(int indent, std::vector<int> right = {}) : indent_(indent), right_(std::move(right)) {}

  void Add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  bool empty() const { return rows_.empty(); }

  std::string Text() const {
    std::vector<size_t> widths;
    for (const auto& row : rows_) {
      if (row.size() > widths.size()) widths.resize(row.size(), 0);
      for (size_t i = 0; i < row.size() && row.size() > 1; ++i) widths[i] = std::max(widths[i], row[i].size());
    }
    std::string text;
    for (const auto& row : rows_) {
      std::string line(indent_, ' ');
      for (size_t i = 0; i < row.size(); ++i) {
        const std::string pad(row.size() > 1 ? widths[i] - row[i].size() : 0, ' ');
        const bool right = std::find(right_.begin(), right_.end(), static_cast<int>(i)) != right_.end();
        if (i > 0) line += "  ";
        line += right ? pad + row[i] : row[i] + pad;
      }
      line.erase(line.find_last_not_of(' ') + 1);
      text += line + "\n";
    }
    return text;
  }

 private:
  int indent_;
  std::vector<int> right_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace weft::plan

#endif  // WEFT_RUNTIME_SHOW_TABLE_H_
