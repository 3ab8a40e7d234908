// What a generated kernel was joined of, and why of no more: for people, in attributes that no kernel reads.
//
//   joined  a line an operator, in the kernel's order: "gelu gpt2.mlir:31:8 in h.3.mlp"; absent if it is one
//   apart   "0 unit, 2 sum": inputs by their numbers, and the reason (apart.h) why the generated kernel that makes it,
//           as the compiler asked last, did not join this one; absent if there is none
#ifndef WEFT_RUNTIME_PLAN_JOINS_H_
#define WEFT_RUNTIME_PLAN_JOINS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "runtime/plan/plan.pb.h"

namespace weft::plan {

inline constexpr char kJoined[] = "joined";
inline constexpr char kApart[] = "apart";

// Whether an attribute is one of these.
bool IsJoinNote(absl::string_view attribute);

// An operator of the model, as a kernel does it.
struct Operator {
  std::string name;      // "gelu"
  std::string location;  // "gpt2.mlir:31:8 in h.3.mlp"; empty if unknown, or another one for each tensor of a batch
};

// Of one operator or more.
void SetOperators(const std::vector<Operator>& operators, Kernel* kernel);

// What a generated kernel is made of, in its order; of a registered kernel itself.
std::vector<Operator> OperatorsOf(const Kernel& kernel);

// An input whose maker did not join the kernel.
struct ApartInput {
  int32_t input = 0;   // its number among the kernel's
  std::string reason;  // its name in apart.h
};

void SetApart(const std::vector<ApartInput>& apart, Kernel* kernel);
std::vector<ApartInput> ApartOf(const Kernel& kernel);

// What a reason says to people; of a name that is none, the name.
std::string ReasonText(const std::string& name);

}  // namespace weft::plan

#endif  // WEFT_RUNTIME_PLAN_JOINS_H_
