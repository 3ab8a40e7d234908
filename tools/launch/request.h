// What `weft launch` is asked for.
#ifndef WEFT_TOOLS_LAUNCH_REQUEST_H_
#define WEFT_TOOLS_LAUNCH_REQUEST_H_

#include <string>
#include <vector>

#include "tools/launch/hosts.h"
#include "tools/launch/remote.h"

namespace weft::launch {

// More an hour, and most of the time goes into starting.
inline constexpr int kRestartsAnHour = 6;
// A host that boots takes some minutes.
inline constexpr int kAskSeconds = 60;

struct Request {
  std::string program = "weft-run";
  int processes = 0;
  int restarts = 0;
  int restarts_an_hour = kRestartsAnHour;
  std::vector<Host> hosts;         // none: this machine
  Shell shell;                     // to them
  bool slurm = false;              // they are nodes of an allocation, and srun starts the ranks
  std::vector<PlanOfRanks> fewer;  // plans
  int ask_s = kAskSeconds;         // between two questions to a host that is lost; 0: none
  bool stands_in = false;          // for another launch of this run, should that be lost
  bool show = false;
  bool help = false;
  bool version = false;
  std::vector<std::string> run;  // what the program gets
  std::string wrong;
};

// What --help prints.
extern const char kHelp[];

// Reads the words behind `weft launch`. What is wrong with them is in `wrong`.
Request Parse(const std::vector<std::string>& arguments);

// Whether the program is given a flag, as "--flag" or "--flag=value".
bool Has(const std::vector<std::string>& run, const std::string& flag);

}  // namespace weft::launch

#endif  // WEFT_TOOLS_LAUNCH_REQUEST_H_
