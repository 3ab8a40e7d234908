#include "tools/launch/remote.h"

#include <fcntl.h>
#include <unistd.h>

#include <sstream>

namespace weft::launch {

std::string Quoted(const std::string& word) {
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

pid_t Start(const std::vector<std::string>& command, Output output) {
  const pid_t made = fork();
  if (made != 0) return made;
  if (const int nothing = open("/dev/null", O_RDWR); nothing >= 0) {
    dup2(nothing, STDIN_FILENO);
    if (output == Output::kDropped) {
      dup2(nothing, STDOUT_FILENO);
      dup2(nothing, STDERR_FILENO);
    }
  }
  std::vector<char*> arguments;
  for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  _exit(127);
}

std::vector<std::string> CommandOn(const std::string& host, const std::vector<std::string>& command,
                                   const Shell& shell) {
  std::vector<std::string> remote;
  std::istringstream words(shell.words);
  for (std::string word; words >> word;) remote.push_back(word);
  remote.push_back(host);
  for (const std::string& word : command) remote.push_back(shell.reads ? Quoted(word) : word);
  return remote;
}

}  // namespace weft::launch
