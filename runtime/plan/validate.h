// The structure of a plan: what must hold before anything may follow its
// indices. What needs an execution to decide is in verify.h.
#ifndef WEFT_RUNTIME_PLAN_VALIDATE_H_
#define WEFT_RUNTIME_PLAN_VALIDATE_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "runtime/plan/plan.pb.h"
#include "runtime/plan/program.h"

namespace weft::plan {

// Most ranks, micro-batches a step, acts a step of a stage, slots of a register
// and bytes of a rank's memory that a plan may ask for.
inline constexpr int64_t kMaxRanks = int64_t{1} << 24;
inline constexpr int64_t kMaxMicroBatches = int64_t{1} << 20;
inline constexpr int64_t kMaxActs = int64_t{1} << 24;
inline constexpr int64_t kMaxSlots = 4096;
inline constexpr int64_t kMaxBytes = int64_t{1} << 50;

// Checks, in this order, and reports the first fault as kInvalidArgument with
// the place in front ("stage 0: buffer `x`: ..."):
// - header: version, target, micro-batches (1 for functions);
// - placements: devices, axes, as many distinct ranks as the axes have places;
//   a rank runs one stage;
// - buffers: names, types, shapes, one SBP an axis that cuts evenly; offsets
//   aligned and inside the arena; aliases inside what they view;
// - actors: names, exactly one kind of work, operands in range, registers;
// - streams: every micro-batch of every MICRO actor once, in order, and every
//   STEP actor once, all on the actor's own stream;
// - registers: one writer each, a writer for every reader, and no buffer shared
//   between actors that is not a register, a parameter or optimizer state;
// - collectives: SBP before and after are those of their kind and axes; those of
//   a bundle have the same axes and do not write what another one reads;
// - transfers: one sender and one receiver, same type, nothing partial;
// - metrics: whole float32 scalars; predictions: finite.
// Any thread; the plan is only read.
absl::Status Validate(const Plan& plan);

// Likewise; `programs` becomes what ProgramsOf() makes of a valid plan.
absl::Status Validate(const Plan& plan, std::vector<Program>* programs);

}  // namespace weft::plan

#endif  // WEFT_RUNTIME_PLAN_VALIDATE_H_
