// weft-launch: the ranks of a plan as processes of this machine, or of several,
// for people without an MPI habit. Finds weft-run, or weft-generate, and mpirun,
// and stays between them and whoever sends signals.
#include <fcntl.h>
#include <sys/poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <optional>
#include <string>
#include <vector>

#include "runtime/version/version.h"
#include "tools/launch/folders.h"
#include "tools/launch/hosts.h"
#include "tools/launch/loopback.h"
#include "tools/launch/ranks.h"
#include "tools/launch/restarts.h"
#include "tools/launch/snapshots.h"
#include "tools/launch/words.h"

namespace {

constexpr char kHelp[] = R"(weft launch: runs a plan on this machine or several, a process for every rank

usage: weft launch -n N [--] PLAN [flags of weft run]
       weft launch -n N [--] generate JOB [key.path=value ...] [flags of weft generate]

  -n N       how many processes: as many as the plan has ranks
  --hosts NAME:RANKS,...
             the hosts to run on, and how many ranks each takes; this machine is the first of them. The first hosts
             that have room for all ranks are used, the others are spare
  --shell COMMAND
             how a command is run on another host: COMMAND HOST WORDS...; ssh by default
  --restarts N
             when a rank is lost, the run begins again from its newest whole snapshot (--snapshot-every of weft run)
             or checkpoint, at most N times; needs --checkpoint-dir among the flags of weft run. When it does not, what
             is left of snapshots in the memory of hosts is removed
  --restarts-per-hour K
             and at most K times within an hour; 6 by default
  --fewer RANKS:PLAN
             a plan of the same model for fewer ranks. With --hosts and --restarts: a host that is lost is left out
             when the run begins again, on spare ones; where those are not enough, with the plan for the most ranks
             that fit. May be given again
  --show     print the command that would be run, and end
  --version  what this program was built from
  --help     this text

It runs `mpirun -n N weft-run PLAN ...` with what mpirun wants on one machine; see
docs/howto/run_on_several_machines.md for more than one. SIGTERM ends the run
after its step, with a checkpoint and status 0; an interrupt (Ctrl-C) does the same
with status 1. A second one ends it at once, and so does a second SIGTERM two seconds later.
With `generate` it is weft-generate that is run; one rank prints the answers, and any of these signals ends all at once.

examples
  weft launch -n 2 gpt2.plan --data corpus.txt --steps 200
  weft launch -n 2 --restarts 20 gpt2.plan --data corpus.txt --checkpoint-dir runs --checkpoint-every 5m
  weft launch -n 16 --hosts node01:8,node02:8,node03:8 --restarts 5 --fewer 8:half.plan gpt2.plan \
      --data corpus.txt --checkpoint-dir /shared/runs --checkpoint-every 1h --snapshot-every 1m
  weft launch -n 2 generate gpt2.job dist.tensor=2 --init gpt2 --prompt "Once upon a time"

exit status: that of weft-run or weft-generate; 1 if mpirun is missing or cannot be used; 2 for a wrong request
)";

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

// More an hour, and most of the time goes into starting.
constexpr int kRestartsAnHour = 6;

// The word in the place of a plan that asks for weft-generate.
constexpr char kGenerate[] = "generate";

struct Request {
  std::string program = "weft-run";
  int processes = 0;
  int restarts = 0;
  int restarts_an_hour = kRestartsAnHour;
  std::vector<weft::launch::Host> hosts;         // none: this machine
  std::string shell;                             // "": ssh
  std::vector<weft::launch::PlanOfRanks> fewer;  // plans
  bool show = false;
  bool help = false;
  bool version = false;
  std::vector<std::string> run;  // what the program gets
  std::string wrong;
};

// Reads a number from `least` on; false for anything else.
bool ReadNumber(const std::string& text, int least, int most, int& number) {
  char* end = nullptr;
  const long value = std::strtol(text.c_str(), &end, 10);
  if (text.empty() || *end != '\0' || value < least || value > most) return false;
  number = static_cast<int>(value);
  return true;
}

// Whether the program is given a flag, as "--flag" or "--flag=value".
bool Has(const std::vector<std::string>& run, const std::string& flag) {
  return std::any_of(run.begin(), run.end(), [&](const std::string& argument) {
    return argument == flag || argument.compare(0, flag.size() + 1, flag + "=") == 0;
  });
}

// What is wrong with the hosts of a request, or "".
std::string WrongOfHosts(const Request& request) {
  if (const int slots = weft::launch::Hosts(request.hosts).slots(); slots > 0 && slots < request.processes)
    return "--hosts: expected room for " + std::to_string(request.processes) + " ranks, got " + std::to_string(slots);
  if (request.hosts.empty() && !request.shell.empty()) return "--shell: expected with --hosts";
  if (request.fewer.empty()) return "";
  if (request.hosts.empty() || request.restarts == 0) return "--fewer: expected with --hosts and --restarts";
  if (request.run[0][0] == '-') return "--fewer: expected the plan in front of the flags of weft run";
  for (const weft::launch::PlanOfRanks& plan : request.fewer) {
    if (plan.ranks >= request.processes)
      return "--fewer: expected fewer than " + std::to_string(request.processes) + " ranks, got " +
             std::to_string(plan.ranks) + " (" + plan.plan + ")";
    if (access(plan.plan.c_str(), R_OK) != 0) return "--fewer: " + plan.plan + ": " + std::strerror(errno);
  }
  return "";
}

Request Parse(const std::vector<std::string>& arguments) {
  Request request;
  size_t i = 0;
  for (; i < arguments.size() && !arguments[i].empty() && arguments[i][0] == '-' && arguments[i] != "--"; ++i) {
    const std::string& flag = arguments[i];
    if (flag == "--help" || flag == "-h") {
      request.help = true;
    } else if (flag == "--version") {
      request.version = true;
    } else if (flag == "--show") {
      request.show = true;
    } else if (flag == "-n" && i + 1 < arguments.size()) {
      const std::string& value = arguments[++i];
      if (!ReadNumber(value, 1, 65536, request.processes))
        request.wrong = "-n: expected how many processes, got `" + value + "`";
    } else if ((flag == "--restarts" || flag == "--restarts-per-hour") && i + 1 < arguments.size()) {
      const std::string& value = arguments[++i];
      if (!ReadNumber(value, 0, 1'000'000'000, flag == "--restarts" ? request.restarts : request.restarts_an_hour))
        request.wrong = flag + ": expected a whole number of at least 0, got `" + value + "`";
    } else if (flag == "--hosts" && i + 1 < arguments.size()) {
      const std::string wrong = weft::launch::ReadHosts(arguments[++i], request.hosts);
      if (!wrong.empty()) request.wrong = "--hosts: " + wrong;
    } else if (flag == "--fewer" && i + 1 < arguments.size()) {
      const std::string wrong = weft::launch::ReadPlanOfRanks(arguments[++i], request.fewer.emplace_back());
      if (!wrong.empty()) request.wrong = "--fewer: " + wrong;
    } else if (flag == "--shell" && i + 1 < arguments.size()) {
      request.shell = arguments[++i];
    } else {
      request.wrong = flag + ": expected -n N, then a plan and the flags of weft run (see --help)";
    }
    if (!request.wrong.empty() || request.help || request.version) return request;
  }
  if (i < arguments.size() && arguments[i] == "--") ++i;
  const bool generates = i < arguments.size() && arguments[i] == kGenerate;
  if (generates) ++i;
  if (generates) request.program = "weft-generate";
  request.run.assign(arguments.begin() + i, arguments.end());
  if (request.processes == 0) {
    request.wrong = "expected -n N, as many processes as the plan has ranks (see --help)";
  } else if (request.run.empty()) {
    request.wrong = generates ? "expected a job behind generate (see --help)" : "expected a plan (see --help)";
  } else if (request.restarts > 0 && generates) {
    request.wrong = "--restarts: expected a plan, as a run begins again from a checkpoint of its own, got generate";
  } else if (request.restarts > 0 && !Has(request.run, "--checkpoint-dir")) {
    request.wrong =
        "--restarts: expected --checkpoint-dir among the flags of weft run, as a run begins again from there";
  } else {
    request.wrong = WrongOfHosts(request);
  }
  return request;
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
  weft::launch::Hosts hosts;  // none: this machine
  int processes = 0;
  std::string plan;    // "": that of the request
  std::string reason;  // "" for the first one
};

std::vector<std::string> CommandOf(const Request& request, const std::string& run, const Attempt& attempt) {
  std::vector<std::string> command = {"mpirun",
                                      "--oversubscribe",          // ranks may be more than cores,
                                      "--bind-to",       "none",  // and share them
                                      "--mca",           "pml",  "ob1"};
  if (request.hosts.empty()) {
    command.insert(command.end(), {"--mca", "btl", "self,vader"});  // memory, no network
  } else {
    command.insert(command.end(), {"--host", attempt.hosts.First(attempt.processes), "--map-by", "slot"});
    if (!request.shell.empty()) command.insert(command.end(), {"--mca", "plm_rsh_agent", request.shell});
  }
  if (geteuid() == 0) command.push_back("--allow-run-as-root");
  // Within which the ranks, told to end or left by one of them, end by themselves.
  command.insert(command.end(), {"--mca", "odls_base_sigkill_timeout", "3"});
  command.insert(command.end(), {"-n", std::to_string(attempt.processes), run});
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
  std::fprintf(stderr, "weft-launch: mpirun: cannot be run: %s\n", std::strerror(errno));
  _exit(1);
}

// How often the ranks are looked at: while they start, and then.
constexpr int kFirstLookMs = 10, kLookMs = 500;
// What an mpirun whose ranks have all ended gets to end itself: it takes some six seconds when it has killed them. One
// that has lost a host waits for it, and for ever.
constexpr std::chrono::seconds kToEnd(12), kToEndWithoutHost(3);

// What the ranks of a run that has lost one get to end, before they are killed and another begins.
constexpr int kToEndMs = 5000;

// How a run has ended.
struct Ended {
  int status = 0;
  // Of one that has lost a rank: which, and how. "" of one that ended by itself, or with an error that another run
  // would meet as well.
  std::string lost;
  std::string host = "";  // that is lost with it
};

int StatusOf(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status); }

// Stays with an mpirun until it has ended: passes on what its processes say, answers what they ask, and
// notes who ends. One thread.
class Attendant {
 public:
  // `processes`: of the ranks those that run on this machine. `loopback`: null if they may use the network.
  Attendant(pid_t mpirun, int processes, int said, const weft::launch::Loopback* loopback)
      : mpirun_(mpirun), said_(said), loopback_(loopback), ranks_(mpirun, processes) {}

  Ended Attend() {
    int status = 0;
    do {
      Await();
      Hear();
      ranks_.Look();
      if (!has_steps && ToldToEnd()) EndNow();
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
      return Tell({status, "host " + host + " is lost: mpirun hears nothing of it", host});
    if (killed) return Tell({status, "mpirun is lost: it has ended by signal " + std::to_string(status - 128)});
    // An mpirun that could not start them says so itself.
    if (words_.told() || ranks_.known() == 0) return {status, ""};
    return Tell({status, ranks_.Lost() + weft::launch::kUnheard});
  }

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
    } else if (now - alive_ > (without_host ? kToEndWithoutHost : kToEnd)) {
      ranks_.EndChildren();
      kill(mpirun_, SIGKILL);
    }
  }

  const pid_t mpirun_;
  int said_;  // -1: nothing more comes
  const weft::launch::Loopback* const loopback_;
  weft::launch::Ranks ranks_;
  weft::launch::Words words_;
  std::chrono::steady_clock::time_point alive_ = std::chrono::steady_clock::now();
};

// One run of the command, to its end.
Ended Launch(const std::vector<std::string>& command, int processes, const weft::launch::Loopback* loopback) {
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
  Attendant attendant(made, processes, said[0], loopback);
  Ended ended = attendant.Attend();
  child = 0;
  close(said[0]);
  // Those that are left hold the folder of checkpoints.
  if (!ended.lost.empty() && !attendant.AllGone()) ended.lost.clear();
  return ended;
}

// Leaves out the host that is lost, and finds ranks enough on those that are left. What stands in the way, or "".
std::string GoOnWithout(const std::string& host, const Request& request, Attempt& attempt) {
  if (!attempt.hosts.Lose(host)) return "";
  const int slots = attempt.hosts.slots();
  if (slots >= request.processes) return "";
  const weft::launch::PlanOfRanks* const fewer = weft::launch::Largest(request.fewer, slots);
  if (fewer == nullptr)
    return "the hosts that are left have room for " + std::to_string(slots) + " ranks, and no --fewer plan has so few";
  attempt.processes = fewer->ranks;
  attempt.plan = fewer->plan;
  return "";
}

std::string NameOfThisMachine() {
  char name[HOST_NAME_MAX + 1] = "";
  gethostname(name, sizeof(name) - 1);
  return name;
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
    weft::launch::DropSnapshots(run, request.run, attempt.hosts.NamesBut(NameOfThisMachine()), request.shell);
  return status;
}

// Runs, and begins again where a rank is lost, as often as is allowed. Returns the status of the last run.
int Supervise(const Request& request, const std::string& run) {
  std::optional<weft::launch::Loopback> loopback;
  if (request.hosts.empty() && loopback.emplace().fd() < 0) {
    std::fprintf(stderr,
                 "weft-launch: mpirun listens on all interfaces of this machine, as its bind() cannot be seen: %s\n",
                 std::strerror(errno));
  }
  weft::launch::Restarts restarts(request.restarts, request.restarts_an_hour);
  Attempt attempt{weft::launch::Hosts(request.hosts), request.processes, "", ""};
  while (true) {
    const weft::launch::Folder sockets("/tmp"), memory("/dev/shm");
    std::vector<std::string> command = CommandOf(request, run, attempt);
    if (request.hosts.empty()) {
      command.insert(command.begin() + 1, {"--mca", "orte_tmpdir_base", sockets.path(), "--mca",
                                           "btl_vader_backing_directory", memory.path()});
    }
    const Ended ended = Launch(command, ProcessesHere(request, attempt), loopback.has_value() ? &*loopback : nullptr);
    if (ended.lost.empty() || request.restarts == 0 || ToldToEnd()) return GiveUp(ended.status, request, run, attempt);
    std::string refused = ended.host.empty() ? "" : GoOnWithout(ended.host, request, attempt);
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
  }
}

}  // namespace

int main(int argc, char** argv) {
  const Request request = Parse(std::vector<std::string>(argv + 1, argv + argc));
  if (request.help) {
    std::fputs(kHelp, stdout);
    return 0;
  }
  if (request.version) {
    std::fputs(weft::VersionText("weft-launch").c_str(), stdout);
    return 0;
  }
  if (!request.wrong.empty()) return Fail(2, request.wrong);
  has_steps = request.program == "weft-run";
  const std::string run = Find(request.program);
  if (run.empty()) return Fail(1, request.program + ": expected beside weft-launch, found none");
  if (request.show) {
    const std::vector<std::string> command =
        CommandOf(request, run, {weft::launch::Hosts(request.hosts), request.processes, "", ""});
    for (const std::string& argument : command)
      std::printf("%s%s", &argument == &command.front() ? "" : " ", argument.c_str());
    std::printf("\n");
    return 0;
  }
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
