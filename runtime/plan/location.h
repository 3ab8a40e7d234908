// What a location of the plan says: "gpt2.mlir:31:8 in h.3.mlp".
#ifndef WEFT_RUNTIME_PLAN_LOCATION_H_
#define WEFT_RUNTIME_PLAN_LOCATION_H_

#include <string>

#include "absl/strings/string_view.h"

namespace weft::plan {

struct LocationParts {
  std::string line;   // "gpt2.mlir:31:8"; empty if the location does not say it
  std::string scope;  // "h.3.mlp"; likewise
};

LocationParts PartsOf(absl::string_view location);

}  // namespace weft::plan

#endif  // WEFT_RUNTIME_PLAN_LOCATION_H_
