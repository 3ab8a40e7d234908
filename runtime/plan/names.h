// How parts of a plan are called in errors and listings. Deterministic; the
// arguments must be valid indices but need not be a validated plan.
#ifndef WEFT_RUNTIME_PLAN_NAMES_H_
#define WEFT_RUNTIME_PLAN_NAMES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/plan/plan.pb.h"

namespace weft::plan {

// "f32", "bf16", ...; "invalid" for anything else.
std::string NameOf(DType dtype);

// "parameter", "activation", ...
std::string NameOf(Buffer::Kind kind);

// "all_reduce", "reduce_scatter", ...
std::string NameOf(Collective::Kind kind);

// "compute", "communication", "host".
std::string NameOf(Stream::Kind kind);

// "B", "S(0)", "P", "P(max)".
std::string TextOf(const Sbp& sbp);

// "data=S(0), tensor=P"; axes that broadcast are left out, "B" if all do.
// Positional, "(S(0), B)", on a mesh without axis names.
std::string SbpText(const Placement& placement, const Buffer& buffer);

// "[4,8]"; "[]" for a scalar.
std::string ShapeText(const std::vector<int64_t>& dims);

// "f32[4,8]", the global type.
std::string TypeText(const Buffer& buffer);

// "f32[4,4] of [4,8]": what a rank holds, and of what; "f32[4,8]" if that is all of it.
std::string LocalTypeText(const Placement& placement, const Buffer& buffer);

// "data x tensor = 2 x 2"; "one rank" for a mesh without axes.
std::string MeshText(const Placement& placement);

// "4 ranks (data x tensor = 2 x 2)", "1 rank", "4 ranks (2 stages of data = 2)": all ranks of a plan, and how they lie.
std::string RanksAndMeshText(const Plan& plan);

// "data, tensor" or "0, 1": the axes of a group.
std::string AxesText(const Placement& placement, const Collective& collective);

// What the collectives of an actor do: "all_reduce", "all_reduce of 12 tensors",
// "all_reduce and all_gather of 3 tensors".
std::string BundleText(const Actor& actor);

// "1,234 B", "12.3 KiB", "4.56 MiB", ...: three significant digits above a KiB.
std::string BytesText(int64_t bytes);

// "12.3 ms": three significant digits in s, ms or us.
std::string SecondsText(double seconds);

// "1234567" as "1,234,567".
std::string CountText(int64_t count);

// "0 to 3", "5", "0 to 3, 8": ranks in ascending runs.
std::string RanksText(const Placement& placement);

// "FULL in h.0 to h.3, SELECTIVE in h.4, below the device what 2 of 12 layers keep": what a training plan computes
// again, and of how many single layers the job says or AUTO found that what they keep lies in a tier; after "AUTO: " if
// the compiler chose. Empty if the job does not ask for it.
std::string RecomputeText(const Header& header);

// "lm_head: 4 parts of 2,048 rows, logits of 197 MiB instead of 786 MiB at a time": the losses that each rank does in
// parts. Empty if there are none.
std::string ChunkedLossesText(const Header& header);

// "`h.5.backward` (micro-batch 3)", "`adam` (step)".
std::string ActText(const Actor& actor, int64_t micro_batch);

}  // namespace weft::plan

#endif  // WEFT_RUNTIME_PLAN_NAMES_H_
