// The search of graph.auto_parallel, for a job that says what lies below the device.
#ifndef WEFT_COMPILER_AUTO_SEARCH_H_
#define WEFT_COMPILER_AUTO_SEARCH_H_

#include <optional>

#include "absl/status/statusor.h"
#include "compiler/auto/decide.h"
#include "compiler/auto/whole.h"
#include "compiler/pipeline/model_source.h"

namespace weft::compiler {

/// What a search learns beside a plan.
struct Learned {
  std::optional<Needed> needed; // where nothing fits: what does with the least memory
  double unlimited_s = 0;       // where something does: what a step is estimated to take with any memory, at the least
};

/// As decide(), but where nothing fits the status has no message.
absl::StatusOr<Decided> searchLayouts(const CompileOptions &options, const DecideOptions &how, ModelSource &source,
                                      Learned &learned);

} // namespace weft::compiler

#endif // WEFT_COMPILER_AUTO_SEARCH_H_
