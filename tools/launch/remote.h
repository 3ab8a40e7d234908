// Commands of a launch on other hosts.
#ifndef WEFT_TOOLS_LAUNCH_REMOTE_H_
#define WEFT_TOOLS_LAUNCH_REMOTE_H_

#include <sys/types.h>

#include <string>
#include <vector>

namespace weft::launch {

// Whether a command's words come to the user.
enum class Output { kPassedOn, kDropped };

// Starts a command, which reads nothing. Returns its process, or -1.
pid_t Start(const std::vector<std::string>& command, Output output);

// A word that a shell takes as it is.
std::string Quoted(const std::string& word);

// What runs a command on another host.
struct Shell {
  std::string words = "ssh";  // what comes before the host and the command
  bool reads = true;          // the command, as a shell does; else it is run as it is
};

std::vector<std::string> CommandOn(const std::string& host, const std::vector<std::string>& command,
                                   const Shell& shell);

}  // namespace weft::launch

#endif  // WEFT_TOOLS_LAUNCH_REMOTE_H_
