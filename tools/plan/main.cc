// weft-plan: looks at plans. Needs neither MLIR nor the devices of the plan.
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <vector>

#include "tools/plan/commands.h"

namespace {

// Of the terminal that shows what is printed; 0 if none does.
int ScreenWidth() {
  winsize size = {};
  const bool known = isatty(STDOUT_FILENO) == 1 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;
  return known ? size.ws_col : 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const weft::tools::Outcome outcome = weft::tools::RunPlanCommand(arguments, ScreenWidth());
  // What is longer than its buffer fails where it is put.
  if (std::fputs(outcome.output.c_str(), stdout) < 0 || std::fflush(stdout) != 0) {
    std::perror("weft-plan: standard output");
    return 1;
  }
  if (!outcome.error.empty()) std::fprintf(stderr, "weft-plan: %s\n", outcome.error.c_str());
  return outcome.status;
}
