// What a plan says of how a generated kernel is run.
#ifndef WEFT_COMPILER_CODEGEN_LAUNCH_H_
#define WEFT_COMPILER_CODEGEN_LAUNCH_H_

#include "ops/cell/cell.h"
#include "runtime/plan/plan.pb.h"

namespace weft::compiler {

/// Sets the units, partials and groups of `to` (plan.proto) for a kernel that has loops, on a host or on a GPU.
void setLaunch(cell::KernelOp kernel, bool onHost, plan::Kernel &to);

} // namespace weft::compiler

#endif // WEFT_COMPILER_CODEGEN_LAUNCH_H_
