#include "tools/launch/returns.h"

#include <sys/wait.h>

#include <csignal>

namespace weft::launch {
namespace {

constexpr int kAnswers = 2;                    // of a host that is back: one may come while it goes down
constexpr std::chrono::seconds kPatience(10);  // with an answer: a host that is down may let a shell wait for minutes

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
  int status = 1;
  const bool answered = waitpid(asked.process, &status, WNOHANG) == asked.process;
  if (!answered && now - asked.at < kPatience) return;
  if (!answered) {
    kill(asked.process, SIGKILL);
    waitpid(asked.process, nullptr, 0);
  }
  asked.answers = answered && status == 0 ? asked.answers + 1 : 0;
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

}  // namespace weft::launch
