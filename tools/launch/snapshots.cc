#include "tools/launch/snapshots.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <sstream>
#include <system_error>
#include <thread>

namespace weft::launch {
namespace {

constexpr std::chrono::seconds kPatience(10);
constexpr std::chrono::milliseconds kLook(10);

// A word that a shell takes as it is.
std::string Quoted(const std::string& word) {
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

pid_t Start(const std::vector<std::string>& command) {
  const pid_t made = fork();
  if (made != 0) return made;
  if (const int nothing = open("/dev/null", O_RDONLY); nothing >= 0) dup2(nothing, 0);
  std::vector<char*> arguments;
  for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  _exit(127);
}

}  // namespace

void RunOnHosts(const std::vector<std::string>& command, const std::vector<std::string>& hosts,
                const std::string& shell) {
  std::vector<pid_t> running = {Start(command)};
  for (const std::string& host : hosts) {
    std::vector<std::string> remote;
    std::istringstream words(shell.empty() ? "ssh" : shell);
    for (std::string word; words >> word;) remote.push_back(word);
    remote.push_back(host);
    for (const std::string& word : command) remote.push_back(Quoted(word));
    running.push_back(Start(remote));
  }
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (!running.empty() && std::chrono::steady_clock::now() < end) {
    std::erase_if(running, [](pid_t one) { return one < 0 || waitpid(one, nullptr, WNOHANG) != 0; });
    if (!running.empty()) std::this_thread::sleep_for(kLook);
  }
}

std::string ValueOf(const std::vector<std::string>& arguments, const std::string& flag) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == flag && i + 1 < arguments.size()) return arguments[i + 1];
    if (arguments[i].compare(0, flag.size() + 1, flag + "=") == 0) return arguments[i].substr(flag.size() + 1);
  }
  return "";
}

void DropSnapshots(const std::string& run, const std::vector<std::string>& arguments,
                   const std::vector<std::string>& hosts, const std::string& shell) {
  if (ValueOf(arguments, "--snapshot-every").empty()) return;
  std::error_code error;
  const std::string folder = std::filesystem::absolute(ValueOf(arguments, "--checkpoint-dir"), error).string();
  RunOnHosts({run, "--drop-snapshots", "--checkpoint-dir", folder}, hosts, shell);
}

}  // namespace weft::launch
