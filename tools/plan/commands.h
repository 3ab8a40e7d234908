// The commands of weft-plan, apart from the process around them.
#ifndef WEFT_TOOLS_PLAN_COMMANDS_H_
#define WEFT_TOOLS_PLAN_COMMANDS_H_

#include <string>
#include <vector>

namespace weft::tools {

// What a command prints and how the process ends: 0 done, 1 the plans of `diff`
// differ, 2 the request or the plan was wrong.
struct Outcome {
  std::string output;
  std::string error;  // without the program's name; lines behind the first one add to it
  int status = 0;
};

// Runs `weft-plan ARGUMENTS`. Reads the files that they name; writes none but
// those of `-o` and of `report`. `width` is that of the
// screen, in characters; 0: there is none.
Outcome RunPlanCommand(const std::vector<std::string>& arguments, int width = 0);

// Bytes of "80GiB", "512MiB", "4KiB" or "1000000"; -1 if the text is no size.
long long ParseBytes(const std::string& text);

}  // namespace weft::tools

#endif  // WEFT_TOOLS_PLAN_COMMANDS_H_
