// The code of a plan's generated kernels.
#ifndef WEFT_COMPILER_CODEGEN_PLAN_CODE_H_
#define WEFT_COMPILER_CODEGEN_PLAN_CODE_H_

#include "absl/status/status.h"
#include "runtime/plan/plan.pb.h"

namespace weft::compiler {

/// Makes machine code of what a plan's generated kernels compute (the source of plan.code and of
/// plan.host_code), if it has any.
absl::Status addCode(plan::Plan &plan);

} // namespace weft::compiler

#endif // WEFT_COMPILER_CODEGEN_PLAN_CODE_H_
