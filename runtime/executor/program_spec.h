// A stage of a plan as a program of actors.
#ifndef WEFT_RUNTIME_EXECUTOR_PROGRAM_SPEC_H_
#define WEFT_RUNTIME_EXECUTOR_PROGRAM_SPEC_H_

#include "runtime/actor/spec.h"
#include "runtime/plan/program.h"

namespace weft::executor {

// The actors' order, registers and streams of a stage; works are still missing.
actor::ProgramSpec ProgramSpecOf(const plan::Program& program, int rank);

}  // namespace weft::executor

#endif  // WEFT_RUNTIME_EXECUTOR_PROGRAM_SPEC_H_
