// Cutting a list into parts of equal weight.
#ifndef WEFT_COMPILER_SCHEDULE_BALANCE_H_
#define WEFT_COMPILER_SCHEDULE_BALANCE_H_

#include <cstddef>
#include <vector>

namespace weft::schedule {

/// Where each of `parts` contiguous, non-empty parts of `weights` begins, such that the heaviest part is as light as
/// can be and, among such cuts, the sum of squares is least. There are at least as many weights as parts.
std::vector<size_t> balance(const std::vector<double> &weights, size_t parts);

} // namespace weft::schedule

#endif // WEFT_COMPILER_SCHEDULE_BALANCE_H_
