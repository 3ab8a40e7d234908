#include "tools/plan/diff.h"

#include <algorithm>
#include <vector>

namespace weft::tools {
namespace {

using Lines = std::vector<std::string>;

Lines Split(const std::string& text) {
  Lines lines;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

// One line of an edit: kept (of both texts), removed (of a) or added (of b).
struct Edit {
  char kind = ' ';
  int a = 0, b = 0;  // the line's number; of what lacks it, the next line's
};

// The shortest edit of a[from_a, to_a) into b[from_b, to_b), or all of both if
// it takes more than `max_edits`.
class Myers {
 public:
  Myers(const Lines& a, const Lines& b) : a_(a), b_(b) {
    to_a_ = static_cast<int>(a.size());
    to_b_ = static_cast<int>(b.size());
    while (from_ < to_a_ && from_ < to_b_ && a[from_] == b[from_]) ++from_;
    while (to_a_ > from_ && to_b_ > from_ && a[to_a_ - 1] == b[to_b_ - 1]) --to_a_, --to_b_;
  }

  std::vector<Edit> Run(int max_edits) {
    const int most = std::min(max_edits, to_a_ + to_b_ - 2 * from_);
    std::vector<int> furthest(2 * most + 3, 0);  // by diagonal: how far into a
    const auto at = [&](int diagonal) -> int& { return furthest[diagonal + most + 1]; };
    for (int d = 0; d <= most; ++d) {
      for (int k = -d; k <= d; k += 2) {
        const bool down = k == -d || (k != d && at(k - 1) < at(k + 1));
        int x = down ? at(k + 1) : at(k - 1) + 1;
        while (from_ + x < to_a_ && from_ + x - k < to_b_ && a_[from_ + x] == b_[from_ + x - k]) ++x;
        at(k) = x;
        if (from_ + x >= to_a_ && from_ + x - k >= to_b_) return Trace(d, k, x);
      }
      trace_.emplace_back(furthest.begin() + (most + 1 - d), furthest.begin() + (most + 2 + d));
    }
    return Everything();
  }

 private:
  // Walks back from the end: x on diagonal k was reached with d edits.
  std::vector<Edit> Trace(int d, int k, int x) const {
    std::vector<Edit> edits;
    for (; d > 0; --d) {
      const std::vector<int>& before = trace_[d - 1];
      const auto at = [&](int diagonal) { return before[diagonal + d - 1]; };
      const bool inside_left = k - 1 >= -(d - 1), inside_right = k + 1 <= d - 1;
      const bool down = k == -d || (k != d && (!inside_left ? true : !inside_right ? false : at(k - 1) < at(k + 1)));
      const int from_k = down ? k + 1 : k - 1;
      const int from_x = at(from_k);
      const int start = down ? from_x : from_x + 1;
      for (; x > start; --x) edits.push_back({' ', from_ + x - 1, from_ + x - 1 - k});
      edits.push_back({down ? '+' : '-', from_ + from_x, from_ + from_x - from_k});
      k = from_k;
      x = from_x;
    }
    for (; x > 0; --x) edits.push_back({' ', from_ + x - 1, from_ + x - 1});
    std::reverse(edits.begin(), edits.end());
    return edits;
  }

  std::vector<Edit> Everything() const {
    std::vector<Edit> edits;
    for (int i = from_; i < to_a_; ++i) edits.push_back({'-', i, from_});
    for (int i = from_; i < to_b_; ++i) edits.push_back({'+', to_a_, i});
    return edits;
  }

  const Lines& a_;
  const Lines& b_;
  int from_ = 0, to_a_ = 0, to_b_ = 0;
  std::vector<std::vector<int>> trace_;
};

size_t Indent(const std::string& line) { return std::min(line.find_first_not_of(' '), line.size()); }

// The numbers of the lines above `at` that it stands under, outermost first.
std::vector<int> HeadingsOf(const Lines& lines, int at) {
  std::vector<int> headings;
  size_t indent = Indent(lines[at]);
  for (int i = at - 1; i >= 0 && indent > 0; --i) {
    if (lines[i].empty() || Indent(lines[i]) >= indent) continue;
    indent = Indent(lines[i]);
    headings.insert(headings.begin(), i);
  }
  return headings;
}

}  // namespace

std::string DiffLines(const std::string& before, const std::string& after, int max_edits) {
  const Lines a = Split(before), b = Split(after);
  std::string text;
  Lines shown;
  for (const Edit& edit : Myers(a, b).Run(max_edits)) {
    if (edit.kind == ' ') continue;
    const Lines& lines = edit.kind == '-' ? a : b;
    const int line = edit.kind == '-' ? edit.a : edit.b;
    Lines headings;
    for (int i : HeadingsOf(lines, line)) headings.push_back(lines[i]);
    for (size_t i = 0; i < headings.size(); ++i) {
      if (i < shown.size() && std::equal(headings.begin(), headings.begin() + i + 1, shown.begin())) continue;
      text += "@ " + headings[i] + "\n";
    }
    shown = headings;
    text += std::string(1, edit.kind) + " " + lines[line] + "\n";
  }
  return text;
}

}  // namespace weft::tools
