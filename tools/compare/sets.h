// Sets of overrides, as they are typed.
#ifndef WEFT_TOOLS_COMPARE_SETS_H_
#define WEFT_TOOLS_COMPARE_SETS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace weft::tools {

/// "dist.data=2" each; none: the job as it is.
using Set = std::vector<std::string>;

/// The set of an argument: overrides with blanks between them. A blank within brackets or quotes is part of an
/// override: "dist.pipeline=2 pipeline={schedule: ZERO_BUBBLE form: H1}" has two.
Set parseSet(const std::string &text);

/// The sets of "dist.tensor=1,2,4", one override each. kInvalidArgument for anything but KEY=VALUE,VALUE,...
absl::StatusOr<std::vector<Set>> parseSweep(const std::string &text);

/// Every set with one of each sweep, the last sweep changing fastest; what comes twice stands once. kInvalidArgument if
/// there are more than `most`.
absl::StatusOr<std::vector<Set>> combine(const std::vector<Set> &sets, const std::vector<std::vector<Set>> &sweeps,
                                         size_t most);

/// "dist.data=2 dist.tensor=4", "(the job)".
std::string textOf(const Set &set);

} // namespace weft::tools

#endif // WEFT_TOOLS_COMPARE_SETS_H_
