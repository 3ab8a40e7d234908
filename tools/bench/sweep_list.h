// Lists of layouts, as a sweep prints and reads them.
#ifndef WEFT_TOOLS_BENCH_SWEEP_LIST_H_
#define WEFT_TOOLS_BENCH_SWEEP_LIST_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace weft::tools {

struct Found {
  double step_s = 0, bytes = 0;
  std::string keys;
};

inline bool IsFaster(const Found& a, const Found& b) { return a.step_s < b.step_s; }

// To standard output: step in ms, GiB a rank, keys.
void Print(const std::vector<Found>& list);

// What Print() printed, every `every`-th of it; lines that begin with # do not count.
absl::StatusOr<std::vector<Found>> ListOf(const std::string& path, size_t every);

// To standard error how far off things were, each what was thought over what a whole compilation says, less 1.
void SayErrors(const char* what, std::vector<double> errors);

}  // namespace weft::tools

#endif  // WEFT_TOOLS_BENCH_SWEEP_LIST_H_
