// The plans of this folder. A file is a plan as protobuf text, or a variation of
// another one. Comments at its head direct it:
//   # expect: TEXT           verifying it fails with a message that contains TEXT
//   # device_bytes: N        verified for a device of this much memory
//   # from: FILE             the text is FILE's, with these edits in order:
//   # replace: OLD => NEW    OLD occurs exactly once; \n is a line break
// Errors in the files themselves abort the test with a message.
#ifndef WEFT_TESTS_PLANS_CORPUS_H_
#define WEFT_TESTS_PLANS_CORPUS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/plan/plan.pb.h"

namespace weft::plan {

struct CorpusPlan {
  std::string file;    // without folder
  std::string expect;  // empty: valid
  int64_t device_bytes = 0;
  Plan plan;
};

// Reads one file.
absl::StatusOr<CorpusPlan> ReadCorpusPlan(const std::string& path);

// All *.txtpb files of a folder in the order of their names.
absl::StatusOr<std::vector<CorpusPlan>> ReadCorpus(const std::string& folder);

}  // namespace weft::plan

#endif  // WEFT_TESTS_PLANS_CORPUS_H_
