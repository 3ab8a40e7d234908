// Runs a plan, and begins again where a rank or a host is lost.
#ifndef WEFT_TOOLS_LAUNCH_SUPERVISOR_H_
#define WEFT_TOOLS_LAUNCH_SUPERVISOR_H_

#include <string>
#include <vector>

#include "tools/launch/request.h"

namespace weft::launch {

// The command of the first run; `run` is the program that is run.
std::vector<std::string> CommandOf(const Request& request, const std::string& run);

// Runs, and begins again where a rank is lost, as often as is allowed. Returns the status of the last run.
int Supervise(const Request& request, const std::string& run);

}  // namespace weft::launch

#endif  // WEFT_TOOLS_LAUNCH_SUPERVISOR_H_
