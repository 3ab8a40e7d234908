// weft-plan: looks at plans. Needs neither MLIR nor the devices of the plan.
#include <cstdio>
#include <string>
#include <vector>

#include "tools/plan/commands.h"

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const weft::tools::Outcome outcome = weft::tools::RunPlanCommand(arguments);
  std::fputs(outcome.output.c_str(), stdout);
  if (std::fflush(stdout) != 0) {
    std::perror("weft-plan: standard output");
    return 1;
  }
  if (!outcome.error.empty()) std::fprintf(stderr, "weft-plan: %s\n", outcome.error.c_str());
  return outcome.status;
}
