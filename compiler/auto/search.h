// The search of graph.auto_parallel, for a job that says what lies below the device.
#ifndef WEFT_COMPILER_AUTO_SEARCH_H_
#define WEFT_COMPILER_AUTO_SEARCH_H_

#include <optional>

#include "absl/status/statusor.h"
#include "compiler/auto/decide.h"
#include "compiler/auto/whole.h"
#include "compiler/pipeline/model_source.h"

namespace weft::compiler {

/// As decide(), but where nothing fits the status has no message, and `needed` says what does with the least memory.
absl::StatusOr<Decided> searchLayouts(const CompileOptions &options, const DecideOptions &how, ModelSource &source,
                                      std::optional<Needed> &needed);

} // namespace weft::compiler

#endif // WEFT_COMPILER_AUTO_SEARCH_H_
