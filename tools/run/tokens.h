// --data that names tokens: a file, documents, a folder of shards, or a blend of these.
#ifndef WEFT_TOOLS_RUN_TOKENS_H_
#define WEFT_TOOLS_RUN_TOKENS_H_

#include <string>

#include "absl/status/statusor.h"
#include "runtime/plan/plan.pb.h"
#include "tools/run/sources.h"

namespace weft::run {

// Whether `folder` is one that holds shards, files of tokens called NAME.bin.
bool HoldsShards(const std::string& folder);

// Serves `tokens`, `labels` and what documents say, see TokenBatches. The shape of the plan's `tokens`, [sequences a
// micro-batch, sequence], says how the tokens are cut; the table that they index, if it is an embedding, which are too
// large: kOutOfRange.
absl::StatusOr<OpenedData> OpenTokens(const plan::Plan& plan, const std::string& data, const Extent& extent);

}  // namespace weft::run

#endif  // WEFT_TOOLS_RUN_TOKENS_H_
