// What a plan's generated kernels compute, and the instructions of it.
#ifndef WEFT_TOOLS_PLAN_CODE_H_
#define WEFT_TOOLS_PLAN_CODE_H_

#include <string>

#include "runtime/plan/plan.pb.h"
#include "tools/plan/commands.h"

namespace weft::tools {

struct CodeRequest {
  std::string path;     // of the plan
  std::string name;     // of a generated kernel ("k0_add_gelu"), or of a part as Scope has it; empty: all
  bool object = false;  // what runs: PTX, or a host's shared object
  std::string output;   // a file; empty: printed
};

// Status 2 where the plan has no generated kernels, the name is of none, a host's object has no file to go to, or the
// file cannot be written.
Outcome RunCode(const plan::Plan& plan, const CodeRequest& request);

}  // namespace weft::tools

#endif  // WEFT_TOOLS_PLAN_CODE_H_
