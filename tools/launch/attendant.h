// One mpirun, or srun, from its start to its end, and the signals that come meanwhile.
#ifndef WEFT_TOOLS_LAUNCH_ATTENDANT_H_
#define WEFT_TOOLS_LAUNCH_ATTENDANT_H_

#include <functional>
#include <string>
#include <vector>

#include "tools/launch/loopback.h"

namespace weft::launch {

// How a run has ended.
struct Ended {
  int status = 0;
  // Of one that has lost a rank: which, and how. "" of one that ended by itself, or with an error that another run
  // would meet as well.
  std::string lost;
  std::string host = "";  // that is lost with it
  bool began = false;     // a rank was seen or heard
};

// Whether what is run has steps to finish, and so is told to end by signals; else it is ended.
void SetHasSteps(bool has_steps);

// One run of the command, to its end; one at a time. `processes`: of the ranks those that run on this machine.
// `loopback`: null if they may use the network. `wanted_to_end`: asked now and then; where it says so, the ranks are
// told to end after their step.
Ended Launch(const std::vector<std::string>& command, int processes, const Loopback* loopback,
             const std::function<bool()>& wanted_to_end);

// Whether whoever runs this wants it to end.
bool ToldToEnd();

// Ends what runs without a last step or checkpoint. From any thread.
void EndAtOnce();

// Says what is wrong. Returns the status.
int Fail(int status, const std::string& text);

}  // namespace weft::launch

#endif  // WEFT_TOOLS_LAUNCH_ATTENDANT_H_
