// Plans side by side: variants of a job, each compiled, and plans that there are.
#ifndef WEFT_TOOLS_COMPARE_COMPARE_H_
#define WEFT_TOOLS_COMPARE_COMPARE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/measure/figures.h"
#include "tools/compare/sets.h"

namespace weft::tools {

struct Question {
  std::string job; // a job file; empty: plans alone
  std::vector<Set> sets;
  std::vector<std::string> plans; // files
};

/// One row.
struct Entry {
  std::string name; // the set as text, or the plan's path
  Set set;
  std::string plan;                     // a path; empty for a variant of the job
  std::optional<plan::Figures> figures; // absent if there is no plan
  int64_t tokens = 0;                   // a step
  std::string reason;                   // why there is no plan, or that it does not fit; one line, empty if neither

  bool fits() const { return figures.has_value() && reason.empty(); }
};

/// `done` of `all`, about to look at `name`.
using Progress = std::function<void(size_t done, size_t all, const std::string &name)>;

/// What fits first, by its step; then what does not, by its memory; then what there is no plan of. An error is one of
/// the request: a file that cannot be read, a key that does not exist, or what is wrong with every variant alike.
absl::StatusOr<std::vector<Entry>> compare(const Question &question, const Progress &progress);

/// True for the name of a plan: it ends with `.plan`, or it is a file that begins as plans do.
bool isPlan(const std::string &path);

/// As a table, and what has no place in it below.
std::string tableOf(const std::vector<Entry> &entries);

/// {"rows": [...]}: docs/howto/compare_layouts.md lists the keys.
std::string jsonOf(const std::vector<Entry> &entries);

} // namespace weft::tools

#endif // WEFT_TOOLS_COMPARE_COMPARE_H_
