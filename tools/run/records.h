// --data that names arrays, one for every input.
#ifndef WEFT_TOOLS_RUN_RECORDS_H_
#define WEFT_TOOLS_RUN_RECORDS_H_

#include <string>

#include "absl/status/statusor.h"
#include "runtime/plan/plan.pb.h"
#include "tools/run/sources.h"

namespace weft::run {

// Whether `path` is a .safetensors file, a folder without shards of tokens, or FIELD=FILE,...
bool NamesRecords(const std::string& path);

// Opens an array for each of the plan's inputs: the tensor of that name of a .safetensors file; NAME.npy or NAME.idx,
// also with .gz, of a folder; or the file that `data` names for it. A folder in place of a file holds shards. Several
// of these are blended by weights, as tokens are. kOutOfRange: ids outside the table that they index.
absl::StatusOr<OpenedData> OpenRecords(const plan::Plan& plan, const std::string& data, const Extent& extent);

}  // namespace weft::run

#endif  // WEFT_TOOLS_RUN_RECORDS_H_
