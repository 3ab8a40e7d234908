// Slurm, where it starts the ranks: the nodes of an allocation, and srun.
#ifndef WEFT_TOOLS_LAUNCH_SLURM_H_
#define WEFT_TOOLS_LAUNCH_SLURM_H_

#include <string>
#include <vector>

#include "tools/launch/hosts.h"

namespace weft::launch {

// What SLURM_TASKS_PER_NODE says, as "2(x3),1", by node: 2, 2, 2, 1. None if it says anything else.
std::vector<int> TasksByNode(const std::string& text);

// The nodes of the allocation that this process is in, each with as many ranks as it has tasks. What is wrong with it,
// or "".
std::string ReadAllocation(std::vector<Host>& hosts);

// srun and its flags, for a rank on each slot of these hosts. Of ranks that lose one the others end by themselves, and
// tell what they waited for: srun ends them when they do not.
std::vector<std::string> SrunCommand(const std::vector<Host>& hosts);

// How srun runs one command on one node of the allocation, beside the ranks: these words, the node, the command.
inline constexpr char kSrunOnNode[] = "srun --overlap --nodes=1 --ntasks=1 --nodelist";

}  // namespace weft::launch

#endif  // WEFT_TOOLS_LAUNCH_SLURM_H_
