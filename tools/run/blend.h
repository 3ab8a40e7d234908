// --data that may name several data sets, with their weights.
#ifndef WEFT_TOOLS_RUN_BLEND_H_
#define WEFT_TOOLS_RUN_BLEND_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/data/sample_set.h"
#include "runtime/plan/plan.pb.h"
#include "tools/run/sources.h"

namespace weft::run {

struct Part {
  double weight = 1;
  std::string path;
};

// "0.7 a.bin 0.3 b.bin", or one path.
absl::StatusOr<std::vector<Part>> PartsOf(const std::string& data);

// What is known of an opened part.
struct OpenedPart {
  std::unique_ptr<data::SampleSet> set;
  std::string form;
  int64_t size = 0;  // in what `unit` of OpenParts counts
  uint64_t hash = 0;
  std::string text;  // for people
};

// Opens each part of `data`, and blends them if they are several. `unit`: "data_tokens" or "data_records", of the
// record. open(path, share): opens a set that is this part of what is read.
using OpenPart = std::function<absl::StatusOr<OpenedPart>(const std::string& path, double share)>;
absl::StatusOr<OpenedData> OpenParts(const plan::Plan& plan, const std::string& data, const Extent& extent,
                                     const char* unit, const OpenPart& open);

}  // namespace weft::run

#endif  // WEFT_TOOLS_RUN_BLEND_H_
