// What `weft import` reads by a Python package, python/weft/importing: PyTorch modules and ONNX files.
#ifndef WEFT_TOOLS_IMPORT_PYTHON_H_
#define WEFT_TOOLS_IMPORT_PYTHON_H_

#include <string>
#include <vector>

#include "absl/status/status.h"

namespace weft::import {

// Becomes `python3 python/weft/importing/FRONT WORDS...`, of the folder python/ above this program; without one, the
// module weft.importing.FRONT of python3's own. Returns only if python3 cannot be run.
absl::Status BecomePython(const std::string& front, const std::vector<std::string>& words);

}  // namespace weft::import

#endif  // WEFT_TOOLS_IMPORT_PYTHON_H_
