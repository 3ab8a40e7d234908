// A plan's enumerations as those of the runtime. Values are equal: what is added to one and not to the other does not
// compile. Any thread.
#ifndef WEFT_RUNTIME_PLAN_ENUMS_H_
#define WEFT_RUNTIME_PLAN_ENUMS_H_

#include <iterator>

#include "ops/abi/dtype.h"
#include "runtime/plan/collective_kind.h"
#include "runtime/plan/plan.pb.h"

namespace weft::plan {

#define WEFT_ROW(name, proto, ...) static_assert(static_cast<int>(CollectiveKind::k##name) == Collective::proto);
WEFT_COLLECTIVE_KINDS(WEFT_ROW)
#undef WEFT_ROW
static_assert(Collective::Kind_ARRAYSIZE == kCollectiveKinds);

#define WEFT_ROW(name, ...) static_assert(static_cast<int>(weft::DType::k##name) == DType::name);
WEFT_ELEMENT_TYPES(WEFT_ROW)
#undef WEFT_ROW
static_assert(DType_ARRAYSIZE == std::size(kElementTypes) + 1);  // and INVALID

// `kind` is of a plan that was validated.
inline CollectiveKind KindOf(Collective::Kind kind) { return static_cast<CollectiveKind>(kind); }

inline CollectiveFacts FactsOf(const Collective& collective) { return weft::FactsOf(KindOf(collective.kind())); }

// kInvalid for what is none.
inline weft::DType TypeOf(DType type) {
  return DType_IsValid(type) ? static_cast<weft::DType>(type) : weft::DType::kInvalid;
}

}  // namespace weft::plan

#endif  // WEFT_RUNTIME_PLAN_ENUMS_H_
