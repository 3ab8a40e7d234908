// What the generated kernels of a part of a plan were joined of, and why not of more: `weft-plan explain PLAN NAME`.
#ifndef WEFT_TOOLS_PLAN_JOINED_H_
#define WEFT_TOOLS_PLAN_JOINED_H_

#include <nlohmann/json.hpp>
#include <string>

#include "runtime/plan/plan.pb.h"
#include "tools/plan/scope.h"

namespace weft::tools {

// Of a buffer the kernels on both its sides, and what is between them; of anything else its generated kernels, and all
// with which each of them was not joined. Empty of the whole plan, and where no kernel is generated.
std::string JoinedText(const plan::Plan& plan, const Scope& scope);

// An array, each with `kernel`, `name`, `operators`, `before` and `behind`.
nlohmann::ordered_json JoinedJson(const plan::Plan& plan, const Scope& scope);

}  // namespace weft::tools

#endif  // WEFT_TOOLS_PLAN_JOINED_H_
