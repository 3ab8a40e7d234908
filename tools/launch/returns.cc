#include "tools/launch/returns.h"

#include <sys/wait.h>

#include <csignal>
#include <thread>

namespace weft::launch {
namespace {

constexpr int kAnswers = 2;                    // of a host that is back: one may come while it goes down
constexpr std::chrono::seconds kPatience(10);  // with an answer: a host that is down may let a shell wait for minutes
constexpr std::chrono::milliseconds kLook(20);

constexpr int kNoHost = 255;   // with which a remote shell ends that has not reached its host
constexpr int kNoShell = 127;  // or that could not be run

// What a question has come to: whether it was answered, and well. One that takes longer than it may is ended.
struct Heard {
  bool is_over = false, is_well = false, is_answer = false;
};

Heard HearOf(pid_t process, std::chrono::steady_clock::duration asked_since) {
  int status = 1;
  if (waitpid(process, &status, WNOHANG) == process) {
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : kNoHost;
    return {true, code == 0, code != kNoHost && code != kNoShell};
  }
  if (asked_since < kPatience) return {};
  kill(process, SIGKILL);
  waitpid(process, nullptr, 0);
  return {true, false, false};
}

}  // namespace

Returns::~Returns() {
  for (const auto& [name, asked] : asked_) {
    if (asked.process <= 0) continue;
    kill(asked.process, SIGKILL);
    waitpid(asked.process, nullptr, 0);
  }
}

void Returns::Hear(Asked& asked, Time now) const {
  if (asked.process <= 0) return;
  const Heard heard = HearOf(asked.process, now - asked.at);
  if (!heard.is_over) return;
  asked.answers = heard.is_well ? asked.answers + 1 : 0;
  asked.process = 0;
}

std::vector<std::string> Returns::Look(const std::vector<std::string>& lost, Time now) {
  std::vector<std::string> back;
  if (every_ == std::chrono::seconds(0)) return back;
  for (const std::string& host : lost) {
    Asked& asked = asked_.try_emplace(host, Asked{now}).first->second;
    Hear(asked, now);
    if (asked.answers == kAnswers) {
      back.push_back(host);
      asked_.erase(host);
    } else if (asked.process <= 0 && now - asked.at >= every_) {
      asked.at = now;
      asked.process = Start(CommandOn(host, command_, shell_), Output::kDropped);
    }
  }
  return back;
}

std::vector<Unfit> UnfitOf(const std::vector<std::string>& hosts, const std::vector<std::string>& command,
                           const Shell& shell, Output output) {
  std::map<std::string, pid_t> asked;
  for (const std::string& host : hosts) asked[host] = Start(CommandOn(host, command, shell), output);
  std::vector<Unfit> unfit;
  const auto begin = std::chrono::steady_clock::now();
  while (!asked.empty()) {
    for (auto at = asked.begin(); at != asked.end();) {
      const auto& [host, process] = *at;
      const Heard heard =
          process > 0 ? HearOf(process, std::chrono::steady_clock::now() - begin) : Heard{true, false, false};
      if (heard.is_over && !heard.is_well) unfit.push_back({host, heard.is_answer});
      at = heard.is_over ? asked.erase(at) : std::next(at);
    }
    if (!asked.empty()) std::this_thread::sleep_for(kLook);
  }
  return unfit;
}

}  // namespace weft::launch
