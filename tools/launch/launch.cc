// weft-launch: the ranks of a plan as processes of this machine, or of several,
// for people without an MPI habit. Finds weft-run, or weft-generate, and mpirun,
// and stays between them and whoever sends signals.
#include <fcntl.h>
#include <sys/poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "runtime/version/version.h"
#include "tools/launch/folders.h"
#include "tools/launch/hosts.h"
#include "tools/launch/loopback.h"
#include "tools/launch/ranks.h"
#include "tools/launch/request.h"
#include "tools/launch/restarts.h"
#include "tools/launch/returns.h"
#include "tools/launch/slurm.h"
#include "tools/launch/snapshots.h"
#include "tools/launch/words.h"

namespace weft::launch {
namespace {

std::atomic<int> child{0};
std::atomic<int> interrupts{0};

// When the first signal came that asked to terminate, in seconds; 0: none has.
std::atomic<time_t> terminated{0};

// Whether what is run has steps to finish, and so is told to end; else Attendant ends it.
std::atomic<bool> has_steps{true};

// mpirun ends all processes at the signals that end it, but hands SIGUSR1 and SIGUSR2 on. A second SIGTERM ends them
// unless it comes at once, as when a group of processes is told and this one twice.
void HandOn(int signal) {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  time_t first = 0;
  int handed = SIGTERM;
  if (signal == SIGINT) {
    if (interrupts++ == 0) handed = SIGUSR2;
  } else if (terminated.compare_exchange_strong(first, now.tv_sec) || now.tv_sec - first <= 1) {
    handed = SIGUSR1;
  }
  if (child > 0 && has_steps) kill(child, handed);
}

// Whether whoever runs this wants it to end.
bool ToldToEnd() { return interrupts > 0 || terminated != 0; }

int Fail(int status, const std::string& text) {
  std::fprintf(stderr, "weft-launch: %s\n", text.c_str());
  return status;
}

// A program that lies beside this one, or where a build puts it; empty if not.
std::string Find(const std::string& program) {
  char path[PATH_MAX];
  const ssize_t size = readlink("/proc/self/exe", path, sizeof path);
  if (size <= 0 || size == static_cast<ssize_t>(sizeof path)) return "";
  const std::string self(path, size), folder = self.substr(0, self.rfind('/') + 1);
  const std::string built = folder + "../" + program.substr(program.find('-') + 1) + "/";
  for (const std::string& place : {folder, built}) {
    if (access((place + program).c_str(), X_OK) == 0) return place + program;
  }
  return "";
}

// What `mpirun --version` says; empty if there is none.
std::string MpirunVersion() {
  std::FILE* pipe = popen("mpirun --version 2>/dev/null", "re");
  if (pipe == nullptr) return "";
  char text[256] = "";
  const size_t size = fread(text, 1, sizeof(text) - 1, pipe);
  pclose(pipe);
  return std::string(text, size);
}

// One run of several: which hosts are left, how many ranks with which plan, and what ended the one before, which this
// one goes on with.
struct Attempt {
  Hosts hosts;  // none: this machine
  int processes = 0;
  std::string plan;             // "": that of the request
  std::string reason;           // "" for the first one
  std::string taken_back = "";  // the host for which this one has begun, if one has returned
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
  return command;
}

[[noreturn]] void Become(const std::vector<std::string>& command, const sigset_t& signals) {
  // A group of its own: the terminal's interrupts come to this program's parent
  // alone. It does not outlive it.
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (const int nothing = open("/dev/null", O_RDONLY); nothing >= 0) dup2(nothing, 0);
  sigprocmask(SIG_SETMASK, &signals, nullptr);
  std::vector<char*> arguments;
  for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  std::fprintf(stderr, "weft-launch: %s: cannot be run: %s\n", command[0].c_str(), std::strerror(errno));
  _exit(1);
}

// How often the ranks are looked at: while they start, and then.
constexpr int kFirstLookMs = 10, kLookMs = 500;
// What an mpirun whose ranks have all ended gets to end itself: it takes some six seconds when it has killed them. One
// that has lost a host waits for it, and for ever.
constexpr std::chrono::seconds kToEnd(12), kToEndWithoutHost(3);
// What a srun gets that has lost a host: twice what it gives its ranks (SrunCommand()).
constexpr std::chrono::seconds kSrunToEnd(20);

// What the ranks of a run that has lost one get to end, before they are killed and another begins.
constexpr int kToEndMs = 5000;

// How a run has ended.
struct Ended {
  int status = 0;
  // Of one that has lost a rank: which, and how. "" of one that ended by itself, or with an error that another run
  // would meet as well.
  std::string lost;
  std::string host = "";  // that is lost with it
  bool began = false;     // a rank was seen or heard
};

int StatusOf(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status); }

// Stays with an mpirun until it has ended: passes on what its processes say, answers what they ask, and
// notes who ends. One thread.
class Attendant {
 public:
  // `processes`: of the ranks those that run on this machine. `loopback`: null if they may use the network.
  // `wanted_to_end`: asked now and then; where it says so, the ranks are told to end after their step. `is_srun`: so it
  // is called here too, but its ranks are not its children.
  Attendant(pid_t mpirun, int processes, int said, const Loopback* loopback, const std::function<bool()>& wanted_to_end,
            bool is_srun)
      : mpirun_(mpirun),
        said_(said),
        loopback_(loopback),
        wanted_to_end_(wanted_to_end),
        is_srun_(is_srun),
        ranks_(mpirun, is_srun ? 0 : processes) {}

  Ended Attend() {
    int status = 0;
    do {
      Await();
      Hear();
      ranks_.Look();
      if (!has_steps && ToldToEnd()) EndNow();
      if (has_steps && ranks_.all_known() && wanted_to_end_()) kill(mpirun_, SIGUSR1);
      EndStuck();
    } while (waitpid(mpirun_, &status, WNOHANG) != mpirun_);
    // Who outlives mpirun may keep the pipe open: what is in it now is all.
    while (Hear()) {
    }
    PassOn(words_.End());
    const bool killed = WIFSIGNALED(status);
    status = StatusOf(status);
    if (status == 0) return {0, ""};
    if (!has_steps && ToldToEnd()) return {128 + (interrupts > 0 ? SIGINT : SIGTERM), ""};
    if (!words_.Lost().empty()) return Tell({status, words_.Lost()});
    if (!words_.TooFew().empty()) return {status, words_.TooFew(), words_.LostHost()};
    if (const std::string& host = words_.LostHost(); !host.empty())
      return Tell(
          {status, "host " + host + " is lost: " + (is_srun_ ? "srun" : "mpirun") + " hears nothing of it", host});
    if (killed)
      return Tell({status, std::string(is_srun_ ? "srun" : "mpirun") + " is lost: it has ended by signal " +
                               std::to_string(status - 128)});
    // An mpirun that could not start them says so itself.
    if (words_.told() || ranks_.known() == 0) return {status, ""};
    return Tell({status, ranks_.Lost() + kUnheard});
  }

  bool began() const { return ranks_.known() > 0 || words_.told(); }
  // Whether none of its processes is left.
  bool AllGone() { return ranks_.EndAll(kToEndMs); }

 private:
  static Ended Tell(Ended ended) {
    Fail(ended.status, ended.lost);
    return ended;
  }

  static void PassOn(const std::string& text) {
    std::fwrite(text.data(), 1, text.size(), stderr);
    std::fflush(stderr);
  }

  // Until something is said or asked, a rank ends, or it is time to look.
  void Await() {
    std::vector<pollfd> polled = {{said_, POLLIN, 0}, {loopback_ == nullptr ? -1 : loopback_->fd(), POLLIN, 0}};
    ranks_.AppendEnds(polled);
    poll(polled.data(), polled.size(), ranks_.all_known() && said_ >= 0 ? kLookMs : kFirstLookMs);
    if ((polled[1].revents & POLLIN) != 0) loopback_->Answer();
  }

  // Passes on what has been said; false if nothing was.
  bool Hear() {
    pollfd ready = {said_, POLLIN, 0};
    if (poll(&ready, 1, 0) <= 0) return false;
    char bytes[4096];
    const ssize_t size = read(said_, bytes, sizeof(bytes));
    if (size > 0) PassOn(words_.Take(std::string(bytes, size)));
    if (size == 0) said_ = -1;  // all have closed it
    return size > 0;
  }

  // mpirun would let them go on for a second.
  void EndNow() {
    ranks_.EndAll(0);
    kill(mpirun_, SIGTERM);
  }

  void EndStuck() {
    const auto now = std::chrono::steady_clock::now();
    const bool without_host = !words_.LostHost().empty();
    if (without_host ? ranks_.any_alive() : !ranks_.all_ended()) {
      alive_ = now;
      return;
    }
    const auto patience = !without_host ? kToEnd : is_srun_ ? kSrunToEnd : kToEndWithoutHost;
    if (now - alive_ <= patience) return;
    alive_ = now;
    if (is_srun_ && !told_to_end_) {
      told_to_end_ = true;
      kill(mpirun_, SIGTERM);  // which ends its ranks
    } else {
      ranks_.EndChildren();
      kill(mpirun_, SIGKILL);
    }
  }

  const pid_t mpirun_;
  int said_;  // -1: nothing more comes
  const Loopback* const loopback_;
  const std::function<bool()>& wanted_to_end_;
  const bool is_srun_;
  bool told_to_end_ = false;
  Ranks ranks_;
  Words words_;
  std::chrono::steady_clock::time_point alive_ = std::chrono::steady_clock::now();
};

// One run of the command, to its end.
Ended Launch(const std::vector<std::string>& command, int processes, const Loopback* loopback,
             const std::function<bool()>& wanted_to_end) {
  int said[2];
  if (pipe2(said, O_CLOEXEC) != 0)
    return {Fail(1, std::string("mpirun: cannot be heard: ") + std::strerror(errno)), ""};
  struct sigaction action = {};
  action.sa_handler = HandOn;
  sigset_t handled, before;
  sigemptyset(&handled);
  for (int signal : {SIGTERM, SIGINT, SIGHUP, SIGUSR1}) {
    sigaction(signal, &action, nullptr);
    sigaddset(&handled, signal);
  }
  // None comes before the child is known.
  sigprocmask(SIG_BLOCK, &handled, &before);
  const pid_t made = fork();
  if (made < 0) return {Fail(1, std::string("mpirun: cannot be started: ") + std::strerror(errno)), ""};
  if (made == 0) {
    for (int signal : {SIGTERM, SIGINT, SIGHUP, SIGUSR1}) std::signal(signal, SIG_DFL);
    dup2(said[1], STDERR_FILENO);
    Become(command, before);
  }
  child = made;
  sigprocmask(SIG_SETMASK, &before, nullptr);
  close(said[1]);
  Attendant attendant(made, processes, said[0], loopback, wanted_to_end, command[0] == "srun");
  Ended ended = attendant.Attend();
  ended.began = attendant.began();
  child = 0;
  close(said[0]);
  // Those that are left hold the folder of checkpoints.
  if (!ended.lost.empty() && !attendant.AllGone()) ended.lost.clear();
  return ended;
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

std::string NameOfThisMachine() {
  char name[HOST_NAME_MAX + 1] = "";
  gethostname(name, sizeof(name) - 1);
  return name;
}

// What a host runs well where it can take ranks: it has the program, and sees the plan and the folder of checkpoints.
std::vector<std::string> CanTakeRanks(const Request& request, const std::string& run) {
  const auto path = [](const std::string& text) {
    std::error_code error;
    return std::filesystem::absolute(text, error).string();
  };
  std::vector<std::string> words = {"test", "-x", run, "-a", "-d", path(ValueOf(request.run, "--checkpoint-dir"))};
  if (request.run[0][0] != '-') words.insert(words.end(), {"-a", "-r", path(request.run[0])});
  return words;
}

// The hosts with which a run has not begun: the one that was taken back for it, or those that do not answer.
std::vector<std::string> DoNotBegin(const Request& request, const std::string& run, const Attempt& attempt) {
  if (!attempt.taken_back.empty()) return {attempt.taken_back};
  std::vector<std::string> silent =
      Silent(attempt.hosts.NamesBut(NameOfThisMachine()), CanTakeRanks(request, run), request.shell);
  for (const std::string& host : silent) Fail(1, "host " + host + " is lost: it does not answer");
  return silent;
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
  const std::string name = NameOfThisMachine();
  return attempt.hosts.RanksOn(name, attempt.processes) + attempt.hosts.RanksOn("localhost", attempt.processes);
}

// Of a run that is not begun again nothing stays in the memory of hosts. Returns its status.
int GiveUp(int status, const Request& request, const std::string& run, const Attempt& attempt) {
  if (status != 0 && request.restarts > 0)
    DropSnapshots(run, request.run, attempt.hosts.NamesBut(NameOfThisMachine()), request.shell);
  return status;
}

// Runs, and begins again where a rank is lost, as often as is allowed. Returns the status of the last run.
int Supervise(const Request& request, const std::string& run) {
  std::optional<Loopback> loopback;
  if (request.hosts.empty() && loopback.emplace().fd() < 0) {
    std::fprintf(stderr,
                 "weft-launch: mpirun listens on all interfaces of this machine, as its bind() cannot be seen: %s\n",
                 std::strerror(errno));
  }
  Restarts restarts(request.restarts, request.restarts_an_hour);
  Attempt attempt{Hosts(request.hosts), request.processes, "", ""};
  while (true) {
    const Folder sockets("/tmp"), memory("/dev/shm");
    std::vector<std::string> command = CommandOf(request, run, attempt);
    if (request.hosts.empty()) {
      command.insert(command.begin() + 1, {"--mca", "orte_tmpdir_base", sockets.path(), "--mca",
                                           "btl_vader_backing_directory", memory.path()});
    }
    Returns returns(CanTakeRanks(request, run), request.shell, std::chrono::seconds(request.ask_s));
    std::string back;
    const auto wanted_to_end = [&] {
      const auto now = std::chrono::steady_clock::now();
      if (!back.empty() || !restarts.MayBegin(now)) return false;
      back = TakeBack(returns.Look(attempt.hosts.Lost(), now), request, attempt);
      return !back.empty();
    };
    Ended ended =
        Launch(command, ProcessesHere(request, attempt), loopback.has_value() ? &*loopback : nullptr, wanted_to_end);
    if (ended.status == 0 && !back.empty()) ended.lost = "host " + back + " is back";
    std::vector<std::string> without;
    if (!ended.host.empty()) without = {ended.host};
    // A run that did well before does not end because of a host with which it does not begin.
    if (ended.status != 0 && ended.lost.empty() && !ended.began && !attempt.reason.empty() && !ToldToEnd()) {
      without = DoNotBegin(request, run, attempt);
      ended.lost = attempt.taken_back.empty() ? attempt.reason
                                              : "host " + attempt.taken_back + ", which was back, does not begin";
    }
    if (ended.lost.empty() || request.restarts == 0 || ToldToEnd()) return GiveUp(ended.status, request, run, attempt);
    std::string refused;
    if (!without.empty()) refused = GoOnWithout(without, request, attempt);
    if (!back.empty() && refused.empty()) refused = Fit(request, attempt);
    if (refused.empty()) refused = restarts.Begin(std::chrono::steady_clock::now());
    if (!refused.empty()) {
      Fail(ended.status, "the run does not begin again: " + refused);
      return GiveUp(ended.status, request, run, attempt);
    }
    std::fprintf(stderr, "weft-launch: the run begins again, restart %d of %d%s%s%s\n", restarts.count(),
                 request.restarts, request.hosts.empty() ? "" : ", on ",
                 request.hosts.empty() ? "" : attempt.hosts.First(attempt.processes).c_str(),
                 attempt.plan.empty() ? "" : (" with " + attempt.plan).c_str());
    attempt.reason = ended.lost;
    attempt.taken_back = back;
  }
}

int Run(const std::vector<std::string>& arguments) {
  const Request request = Parse(arguments);
  if (request.help) {
    std::fputs(kHelp, stdout);
    return 0;
  }
  if (request.version) {
    std::fputs(VersionText("weft-launch").c_str(), stdout);
    return 0;
  }
  if (!request.wrong.empty()) return Fail(2, request.wrong);
  has_steps = request.program == "weft-run";
  const std::string run = Find(request.program);
  if (run.empty()) return Fail(1, request.program + ": expected beside weft-launch, found none");
  if (request.show) {
    const std::vector<std::string> command = CommandOf(request, run, {Hosts(request.hosts), request.processes, "", ""});
    for (const std::string& argument : command)
      std::printf("%s%s", &argument == &command.front() ? "" : " ", argument.c_str());
    std::printf("\n");
    return 0;
  }
  if (request.slurm) return Supervise(request, run);
  const std::string version = MpirunVersion();
  if (version.empty()) {
    return Fail(1,
                "mpirun: expected in PATH, found none: install Open MPI (openmpi-bin, as tools/setup does), "
                "or run all ranks in one process with weft run");
  }
  if (version.find("Open MPI") == std::string::npos) {
    return Fail(1, "mpirun: expected that of Open MPI, got another; with its own flags it runs " + request.program +
                       " as well");
  }
  return Supervise(request, run);
}

}  // namespace
}  // namespace weft::launch

int main(int argc, char** argv) { return weft::launch::Run(std::vector<std::string>(argv + 1, argv + argc)); }
