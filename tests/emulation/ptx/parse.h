// Reading PTX.
#ifndef WEFT_TESTS_EMULATION_PTX_PARSE_H_
#define WEFT_TESTS_EMULATION_PTX_PARSE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tests/emulation/ptx/program.h"

namespace weft::ptx {

// The kernels of a text. kInvalidArgument names the line that is not understood.
absl::StatusOr<std::vector<Program>> ProgramsOf(const std::string& text);

}  // namespace weft::ptx

#endif  // WEFT_TESTS_EMULATION_PTX_PARSE_H_
