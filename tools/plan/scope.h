// The part of a plan that a name on the command line means.
#ifndef WEFT_TOOLS_PLAN_SCOPE_H_
#define WEFT_TOOLS_PLAN_SCOPE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/plan/program.h"

namespace weft::tools {

// All of the plan, or an actor, a kernel, a buffer or a layer of it, in each stage that has it.
class Scope {
 public:
  enum class Kind { kPlan, kActor, kBuffer, kLayer, kKernel };

  // Without a name, the plan. A name is looked for among actors first, then among buffers; a layer is what others are
  // within: "h.3" has `h.3.mlp`, `h.3/add.4` and `h.3.forward#2`. "h.3.forward/2" is kernel 2 of that actor. kNotFound:
  // no part has this name; the error says which name may have been meant.
  static absl::StatusOr<Scope> Find(absl::Span<const plan::Program> programs, const std::string& name);

  Kind kind() const { return kind_; }
  std::string name() const;

  // Whether all that an actor does belongs to the part.
  bool HasActor(const plan::Program& program, int32_t actor) const;
  // Whether a kernel does; of an actor that does not, as a layer's update among those of all layers.
  bool HasKernel(const plan::Program& program, int32_t actor, const plan::Kernel& kernel) const;
  // Whether an actor moves something of the part: by a collective, or to or from another stage.
  bool HasCommunication(const plan::Program& program, int32_t actor) const;
  // Whether an operator that stands there is of a layer.
  bool HasLocation(absl::string_view location) const;
  // Whether a buffer is of the part; of an actor or a kernel those that it touches.
  bool HasBuffer(const plan::Program& program, int32_t buffer) const;

 private:
  Scope(Kind kind, const std::string& name, int kernel = -1) : kind_(kind), name_(name), kernel_(kernel) {}
  bool Within(absl::string_view text) const;

  Kind kind_;
  std::string name_;  // of a kernel, its actor's
  int kernel_;        // its number; -1: no kernel
};

}  // namespace weft::tools

#endif  // WEFT_TOOLS_PLAN_SCOPE_H_
