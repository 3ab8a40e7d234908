#include "tools/launch/snapshots.h"

#include <sys/wait.h>

#include <chrono>
#include <filesystem>
#include <system_error>
#include <thread>

namespace weft::launch {
namespace {

constexpr std::chrono::seconds kPatience(10);
constexpr std::chrono::milliseconds kLook(10);

}  // namespace

void RunOnHosts(const std::vector<std::string>& command, const std::vector<std::string>& hosts, const Shell& shell) {
  std::vector<pid_t> running = {Start(command, Output::kPassedOn)};
  for (const std::string& host : hosts) {
    running.push_back(Start(CommandOn(host, command, shell), Output::kPassedOn));
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
                   const std::vector<std::string>& hosts, const Shell& shell) {
  if (ValueOf(arguments, "--snapshot-every").empty()) return;
  std::error_code error;
  const std::string folder = std::filesystem::absolute(ValueOf(arguments, "--checkpoint-dir"), error).string();
  RunOnHosts({run, "--drop-snapshots", "--checkpoint-dir", folder}, hosts, shell);
}

}  // namespace weft::launch
