// The small jobs of models/ in random layouts, over links of any rate. Each becomes a plan that is proved, or is
// refused. Nothing runs, so that a case takes a tenth of a second.
#ifndef WEFT_TESTS_FUZZ_ZOO_H_
#define WEFT_TESTS_FUZZ_ZOO_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "tests/fuzz/case.h"

namespace weft::fuzz {

struct ZooCase {
  std::string job;      // its path
  Overrides overrides;  // of the job
  Overrides links;      // of the cluster
  std::string order;    // what its schedule file has; empty: there is none
};

// Depends on the seed alone.
ZooCase RandomZooCase(uint64_t seed);

// What is compiled, as a command line; with what the schedule file has behind it.
std::string TextOf(const ZooCase& a_case);

// Ok: the plan verifies. InvalidArgument: the request was wrong, in words for whoever made it. Any other status is a
// fault of the compiler. `root` is the folder that models/ is in, `folder` one for a schedule file.
absl::Status Prove(const ZooCase& a_case, const std::string& root, const std::string& folder);

}  // namespace weft::fuzz

#endif  // WEFT_TESTS_FUZZ_ZOO_H_
