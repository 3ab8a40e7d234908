// What the names of a timeline mean by the plan: categories, bytes, groups, FLOPs, and who sends to whom.
#ifndef WEFT_RUNTIME_SIM_NOTES_H_
#define WEFT_RUNTIME_SIM_NOTES_H_

#include "runtime/plan/plan.pb.h"
#include "runtime/trace/timeline.h"

namespace weft::sim {

// Of the actors of a validated plan, and of kernels of tracks that show these ("h.0.forward/2 einsum"), on ranks that
// ran and on predicted ones. An act has its phase as its category, with "collective", "send" or "receive" before it.
// The memory of an act that computes is what holds something still needed at its moment of most bytes, in one execution
// that the plan permits; a rank's arena is as large all the time.
trace::Notes NotesOf(const plan::Plan& plan);

}  // namespace weft::sim

#endif  // WEFT_RUNTIME_SIM_NOTES_H_
