// Plans made from valid ones by chance; those that the verifier passes are run.
#ifndef WEFT_TESTS_PLANS_FUZZER_H_
#define WEFT_TESTS_PLANS_FUZZER_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/plan/plan.pb.h"
#include "tests/plans/trial.h"

namespace weft::plan {

// A plan to start from.
struct Base {
  std::string name;
  Plan plan;
};

// The valid plans of the corpus, `files` that weft-compile wrote, and, if weft-compile is
// among the runfiles, small plans of models that it writes to `folder` now.
absl::StatusOr<std::vector<Base>> ReadBases(const std::vector<std::string>& files, const std::string& folder);

class Fuzzer {
 public:
  Fuzzer(std::vector<Base> bases, uint64_t seed, const TrialOptions& options)
      : bases_(std::move(bases)), seed_(seed), options_(options) {}

  // The n-th plan of the seed.
  Plan Make(int64_t n, std::string* base) const;

  // Makes and tries it. An error is a hole in the verifier or in the runtime.
  absl::Status Try(int64_t n);

  struct Counts {
    int64_t made = 0, verified = 0, small = 0, loaded = 0, kernels = 0;
    std::map<std::string, int64_t> refused;  // by the runtime: messages without numbers
    std::map<std::string, int64_t> ran;      // by base
  };
  const Counts& counts() const { return counts_; }

 private:
  const std::vector<Base> bases_;
  const uint64_t seed_;
  const TrialOptions options_;
  Counts counts_;
};

}  // namespace weft::plan

#endif  // WEFT_TESTS_PLANS_FUZZER_H_
