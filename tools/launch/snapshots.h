// What a run leaves in the memory of hosts.
#ifndef WEFT_TOOLS_LAUNCH_SNAPSHOTS_H_
#define WEFT_TOOLS_LAUNCH_SNAPSHOTS_H_

#include <string>
#include <vector>

#include "tools/launch/remote.h"

namespace weft::launch {

// Runs, on this machine and on each of `hosts`, a command that ends within seconds, and waits for that; what has not
// ended then is left to itself.
void RunOnHosts(const std::vector<std::string>& command, const std::vector<std::string>& hosts, const Shell& shell);

// The value of a flag in "--flag value" or "--flag=value"; "" without it.
std::string ValueOf(const std::vector<std::string>& arguments, const std::string& flag);

// A run that does not begin again needs its snapshots no more: `run`, which is weft-run, removes them from the memory
// of this machine and of `hosts`. `arguments` are those of the run.
void DropSnapshots(const std::string& run, const std::vector<std::string>& arguments,
                   const std::vector<std::string>& hosts, const Shell& shell);

}  // namespace weft::launch

#endif  // WEFT_TOOLS_LAUNCH_SNAPSHOTS_H_
