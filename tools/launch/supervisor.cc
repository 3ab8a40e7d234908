#include "tools/launch/supervisor.h"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>
#include <set>
#include <system_error>

#include "runtime/checkpoint/host_and_time.h"
#include "tools/launch/attendant.h"
#include "tools/launch/folders.h"
#include "tools/launch/hosts.h"
#include "tools/launch/lead.h"
#include "tools/launch/loopback.h"
#include "tools/launch/restarts.h"
#include "tools/launch/returns.h"
#include "tools/launch/slurm.h"
#include "tools/launch/snapshots.h"

namespace weft::launch {
namespace {

using checkpoint::HostName;

// One run of several: which hosts are left, how many ranks with which plan, and what ended the one before, which this
// one goes on with.
struct Attempt {
  Hosts hosts;  // none: this machine
  int processes = 0;
  std::string plan = "";               // "": that of the request
  std::string reason = "";             // "" for the first one
  std::string taken_back = "";         // the host for which this one has begun, if one has returned
  std::vector<std::string> lost = {};  // hosts, whose processes hold nothing any more
};

std::vector<std::string> MpirunCommand(const Request& request, const Attempt& attempt) {
  std::vector<std::string> command = {"mpirun",
                                      "--oversubscribe",          // ranks may be more than cores,
                                      "--bind-to",       "none",  // and share them
                                      "--mca",           "pml",  "ob1"};
  if (request.hosts.empty()) {
    command.insert(command.end(), {"--mca", "btl", "self,vader"});  // memory, no network
  } else {
    command.insert(command.end(), {"--host", attempt.hosts.First(attempt.processes), "--map-by", "slot"});
    if (request.shell.words != Shell().words)
      command.insert(command.end(), {"--mca", "plm_rsh_agent", request.shell.words});
  }
  if (geteuid() == 0) command.push_back("--allow-run-as-root");
  // Within which the ranks, told to end or left by one of them, end by themselves.
  command.insert(command.end(), {"--mca", "odls_base_sigkill_timeout", "3"});
  command.insert(command.end(), {"-n", std::to_string(attempt.processes)});
  return command;
}

std::vector<std::string> CommandOf(const Request& request, const std::string& run, const Attempt& attempt) {
  std::vector<std::string> command =
      request.slurm ? SrunCommand(attempt.hosts.Used(attempt.processes)) : MpirunCommand(request, attempt);
  command.push_back(run);
  const size_t plan = command.size();
  command.insert(command.end(), request.run.begin(), request.run.end());
  if (!attempt.plan.empty()) command[plan] = attempt.plan;
  if (attempt.reason.empty()) return command;
  if (!Has(request.run, "--resume")) command.push_back("--resume");
  command.insert(command.end(), {"--restarted", attempt.reason});
  for (const std::string& host : attempt.lost) command.insert(command.end(), {"--lost-host", host});
  return command;
}

// The most ranks that the hosts which are left have room for, and the plan for them. What stands in the way, or "".
std::string Fit(const Request& request, Attempt& attempt) {
  const int slots = attempt.hosts.slots();
  PlanOfRanks fits{request.processes, ""};
  if (slots < request.processes) {
    const PlanOfRanks* const fewer = Largest(request.fewer, slots);
    if (fewer == nullptr)
      return "the hosts that are left have room for " + std::to_string(slots) +
             " ranks, and no --fewer plan has so few";
    fits = *fewer;
  }
  attempt.processes = fits.ranks;
  attempt.plan = fits.plan;
  return "";
}

// Leaves out the hosts that are lost. What stands in the way of a run without them, or "".
std::string GoOnWithout(const std::vector<std::string>& hosts, const Request& request, Attempt& attempt) {
  bool are_new = false;
  for (const std::string& host : hosts) are_new |= attempt.hosts.Lose(host);
  return are_new ? Fit(request, attempt) : "";
}

// What a host runs well where it can take ranks: it has the program, which can run the plan there and sees the folder
// of checkpoints. Where flags come first, nobody here knows which word is the plan: the program has to be there.
std::vector<std::string> CanTakeRanks(const Request& request, const std::string& run) {
  const auto path = [](const std::string& text) {
    std::error_code error;
    return std::filesystem::absolute(text, error).string();
  };
  const std::string folder = path(ValueOf(request.run, "--checkpoint-dir"));
  if (request.run[0][0] == '-') return {"test", "-x", run, "-a", "-d", folder};
  return {run, path(request.run[0]), "--check", "--quiet", "--checkpoint-dir", folder};
}

// Those of `hosts` that cannot take ranks, after a line for each.
std::vector<std::string> Unable(const std::vector<std::string>& hosts, const Request& request, const std::string& run) {
  std::vector<std::string> unable;
  for (const auto& [host, answers] : UnfitOf(hosts, CanTakeRanks(request, run), request.shell, Output::kPassedOn)) {
    Fail(1, "host " + host + (answers ? " is left out: it cannot take ranks" : " is lost: it does not answer"));
    unable.push_back(host);
  }
  return unable;
}

// The hosts with which a run has not begun: the one that was taken back for it, or those that cannot take ranks.
std::vector<std::string> DoNotBegin(const Request& request, const std::string& run, const Attempt& attempt) {
  if (!attempt.taken_back.empty()) return {attempt.taken_back};
  return Unable(attempt.hosts.NamesBut(HostName()), request, run);
}

std::set<std::string> UsedBy(const Attempt& attempt) {
  std::set<std::string> names;
  for (const Host& host : attempt.hosts.Used(attempt.processes)) names.insert(host.name);
  return names;
}

// Asks the other hosts that an attempt uses and of which nobody knows (`known`) that they can take ranks, and leaves
// out those that cannot. What stands in the way of a run without them, or "".
std::string GoOnWithAble(std::set<std::string> known, const Request& request, const std::string& run,
                         Attempt& attempt) {
  while (true) {
    std::vector<std::string> asked;
    for (const std::string& host : UsedBy(attempt)) {
      if (known.insert(host).second && !checkpoint::IsSameHost(host, HostName())) asked.push_back(host);
    }
    const std::vector<std::string> unable = Unable(asked, request, run);
    if (unable.empty()) return "";
    if (std::string refused = GoOnWithout(unable, request, attempt); !refused.empty()) return refused;
  }
}

// Takes hosts back that have returned. The name of one with which more ranks fit than in `attempt`, or "".
std::string TakeBack(const std::vector<std::string>& hosts, const Request& request, Attempt& attempt) {
  std::string more;
  for (const std::string& host : hosts) {
    attempt.hosts.Return(host);
    Attempt with = attempt;
    if (Fit(request, with).empty() && with.processes > attempt.processes) {
      more = host;
      std::fprintf(stderr, "weft-launch: host %s is back: the run ends after its step, and begins again with it\n",
                   host.c_str());
    } else {
      std::fprintf(stderr, "weft-launch: host %s is back, and spare\n", host.c_str());
    }
  }
  return more;
}

// The ranks of an attempt that run on this machine.
int ProcessesHere(const Request& request, const Attempt& attempt) {
  if (request.hosts.empty()) return attempt.processes;
  const std::string name = HostName();
  return attempt.hosts.RanksOn(name, attempt.processes) + attempt.hosts.RanksOn("localhost", attempt.processes);
}

// One run, and those that begin again. One thread.
class Supervisor {
 public:
  Supervisor(const Request& request, const std::string& run)
      : request_(request),
        run_(run),
        restarts_(request.restarts, request.restarts_an_hour),
        attempt_{Hosts(request.hosts), request.processes} {
    if (request.restarts > 0 && !request.hosts.empty() && !request.slurm) {
      lead_.emplace(ValueOf(request.run, "--checkpoint-dir"), HostName(), [this] {
        is_replaced_ = true;
        Fail(1, "another launch has taken the place of this one, whose run ends");
        EndAtOnce();
      });
    }
  }

  // Returns the status of the last run.
  int Run() {
    if (request_.stands_in) {
      const std::optional<Loss> loss = StandIn();
      if (!loss.has_value()) return 0;
      if (!TakeItsPlace(*loss)) return GiveUp(1);
    } else if (const std::string wrong = lead_.has_value() ? lead_->Take(nullptr) : ""; !wrong.empty()) {
      return Fail(1, wrong);
    }
    if (request_.hosts.empty() && loopback_.emplace().fd() < 0) {
      std::fprintf(stderr,
                   "weft-launch: mpirun listens on all interfaces of this machine, as its bind() cannot be seen: %s\n",
                   std::strerror(errno));
    }
    while (true) {
      std::string back;  // a host, for which the run has ended
      const Ended ended = RunOnce(back);
      if (ended.lost.empty() || request_.restarts == 0 || ToldToEnd() || !BeginAgain(ended, back))
        return GiveUp(ended.status);
    }
  }

 private:
  // Waits until this launch leads, as the one that did is lost. Nothing if the run has ended.
  std::optional<Loss> StandIn() {
    const std::string folder = ValueOf(request_.run, "--checkpoint-dir");
    while (true) {
      std::fprintf(stderr, "weft-launch: stands in for the launch of the run with the checkpoints %s\n",
                   folder.c_str());
      const Loss loss = AwaitLoss(folder, request_.shell);
      if (loss.what == Loss::kEnded) {
        std::fprintf(stderr, "weft-launch: the run has ended that was launched on %s\n", loss.leader.host.c_str());
        return std::nullopt;
      }
      const std::string wrong = lead_->Take(&loss.leader);
      if (wrong.empty()) return loss;
      std::fprintf(stderr, "weft-launch: %s\n", wrong.c_str());
    }
  }

  // Begins again what another launch has led. False, after an error, if it cannot.
  bool TakeItsPlace(const Loss& loss) {
    restarts_ = Restarts(request_.restarts, request_.restarts_an_hour, loss.leader.restarts);
    Ended ended{.status = 1};
    if (loss.what == Loss::kHost) {
      ended.host = loss.leader.host;
      ended.lost = "host " + ended.host + ", where the run was launched, is lost";
      lost_leader_ = ended.host;
    } else {
      ended.lost = "the launch of the run is lost: process " + std::to_string(loss.leader.process) + " on " +
                   loss.leader.host + " has ended";
    }
    Fail(1, ended.lost);
    const std::string wrong = AwaitEndOfRun(ValueOf(request_.run, "--checkpoint-dir"), request_.shell);
    if (!wrong.empty()) {
      Fail(1, "the run does not begin again: " + wrong);
      return false;
    }
    return BeginAgain(ended, "");
  }

  // `back`: set to a host that is back, and for which the run has been told to end.
  Ended RunOnce(std::string& back) {
    const Folder sockets("/tmp"), memory("/dev/shm");
    std::vector<std::string> command = CommandOf(request_, run_, attempt_);
    if (request_.hosts.empty()) {
      command.insert(command.begin() + 1, {"--mca", "orte_tmpdir_base", sockets.path(), "--mca",
                                           "btl_vader_backing_directory", memory.path()});
    }
    Returns returns(CanTakeRanks(request_, run_), request_.shell, std::chrono::seconds(request_.ask_s));
    const auto wanted_to_end = [&] {
      const auto now = std::chrono::steady_clock::now();
      if (!back.empty() || !restarts_.MayBegin(now)) return false;
      back = TakeBack(returns.Look(attempt_.hosts.Lost(), now), request_, attempt_);
      return !back.empty();
    };
    Ended ended = Launch(command, ProcessesHere(request_, attempt_), loopback_.has_value() ? &*loopback_ : nullptr,
                         wanted_to_end);
    if (ended.status == 0 && !back.empty()) ended.lost = "host " + back + " is back";
    // A run that did well before does not end because of a host with which it does not begin.
    if (ended.status != 0 && ended.lost.empty() && !ended.began && !attempt_.reason.empty() && !ToldToEnd()) {
      without_ = DoNotBegin(request_, run_, attempt_);
      ended.lost = attempt_.taken_back.empty() ? attempt_.reason
                                               : "host " + attempt_.taken_back + ", which was back, does not begin";
    }
    return ended;
  }

  // Makes the next attempt. False, after an error, if there is none.
  bool BeginAgain(const Ended& ended, const std::string& back) {
    std::set<std::string> known = UsedBy(attempt_);
    if (!back.empty()) known.insert(back);
    if (!ended.host.empty()) without_.push_back(ended.host);
    std::string refused;
    if (!without_.empty()) refused = GoOnWithout(without_, request_, attempt_);
    without_.clear();
    if (!back.empty() && refused.empty()) refused = Fit(request_, attempt_);
    if (refused.empty() && !request_.hosts.empty()) refused = GoOnWithAble(known, request_, run_, attempt_);
    if (refused.empty()) refused = restarts_.Begin(std::chrono::steady_clock::now());
    if (!refused.empty()) {
      Fail(ended.status, "the run does not begin again: " + refused);
      return false;
    }
    if (lead_.has_value()) lead_->SetRestarts(restarts_.count());
    std::fprintf(stderr, "weft-launch: the run begins again, restart %d of %d%s%s%s\n", restarts_.count(),
                 request_.restarts, request_.hosts.empty() ? "" : ", on ",
                 request_.hosts.empty() ? "" : attempt_.hosts.First(attempt_.processes).c_str(),
                 attempt_.plan.empty() ? "" : (" with " + attempt_.plan).c_str());
    attempt_.reason = ended.lost;
    attempt_.taken_back = back;
    attempt_.lost = attempt_.hosts.Lost();
    if (!lost_leader_.empty()) attempt_.lost.push_back(lost_leader_);
    return true;
  }

  // Of a run that is not begun again, here or elsewhere, nothing stays in the memory of hosts. Returns its status.
  int GiveUp(int status) const {
    if (status != 0 && request_.restarts > 0 && !is_replaced_)
      DropSnapshots(run_, request_.run, attempt_.hosts.NamesBut(HostName()), request_.shell);
    return status;
  }

  const Request& request_;
  const std::string& run_;
  Restarts restarts_;
  Attempt attempt_;
  std::atomic<bool> is_replaced_{false};
  std::optional<Lead> lead_;
  std::optional<Loopback> loopback_;
  std::vector<std::string> without_;  // hosts that the next attempt leaves out
  std::string lost_leader_;           // the host of the launch whose place this one has taken
};

}  // namespace

std::vector<std::string> CommandOf(const Request& request, const std::string& run) {
  return CommandOf(request, run, {Hosts(request.hosts), request.processes});
}

int Supervise(const Request& request, const std::string& run) { return Supervisor(request, run).Run(); }

}  // namespace weft::launch
