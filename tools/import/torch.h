// `weft import --torch`: PyTorch's part is written in Python, python/weft/import_torch.
#ifndef WEFT_TOOLS_IMPORT_TORCH_H_
#define WEFT_TOOLS_IMPORT_TORCH_H_

#include <string>

#include "absl/status/status.h"

namespace weft::import {

// Becomes `python3 python/weft/import_torch SOURCE -o JOB`, of the folder python/ above this program; without one, the
// module weft.import_torch of python3's own. Returns only if python3 cannot be run.
absl::Status BecomeTorchImport(const std::string& source, const std::string& job);

}  // namespace weft::import

#endif  // WEFT_TOOLS_IMPORT_TORCH_H_
