// weft-launch: the ranks of a plan as processes of this machine, for people
// without an MPI habit. Finds weft-run and mpirun, and stays between them and
// whoever sends signals.
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
#include <string>
#include <vector>

#include "runtime/version/version.h"
#include "tools/launch/folders.h"
#include "tools/launch/loopback.h"
#include "tools/launch/ranks.h"
#include "tools/launch/words.h"

namespace {

constexpr char kHelp[] = R"(weft launch: runs a plan on this machine, a process for every rank

usage: weft launch -n N [--] PLAN [flags of weft run]

  -n N       how many processes: as many as the plan has ranks
  --show     print the command that would be run, and end
  --version  what this program was built from
  --help     this text

It runs `mpirun -n N weft-run PLAN ...` with what mpirun wants on one machine; see
docs/howto/run_on_several_machines.md for more than one. SIGTERM ends the run
after its step, with a checkpoint and status 0; an interrupt (Ctrl-C) does the same
with status 1. A second one ends it at once, and so does a second SIGTERM two seconds later.

example
  weft launch -n 2 gpt2.plan --data corpus.txt --steps 200

exit status: that of weft-run; 1 if mpirun is missing or cannot be used; 2 for a wrong request
)";

std::atomic<int> child{0};
std::atomic<int> interrupts{0};

// When the first signal came that asked to terminate, in seconds; 0: none has.
std::atomic<time_t> terminated{0};

// mpirun ends all processes at the signals that end it, but hands SIGUSR1 and SIGUSR2 on. A second SIGTERM ends them
// unless it comes at once, as when a group of processes is told and this one twice.
void HandOn(int signal) {
  if (child <= 0) return;
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  time_t first = 0;
  if (signal == SIGINT) {
    kill(child, interrupts++ == 0 ? SIGUSR2 : SIGTERM);
  } else if (terminated.compare_exchange_strong(first, now.tv_sec) || now.tv_sec - first <= 1) {
    kill(child, SIGUSR1);
  } else {
    kill(child, SIGTERM);
  }
}

int Fail(int status, const std::string& text) {
  std::fprintf(stderr, "weft-launch: %s\n", text.c_str());
  return status;
}

struct Request {
  int processes = 0;
  bool show = false;
  bool help = false;
  bool version = false;
  std::vector<std::string> run;  // what weft-run gets
  std::string wrong;
};

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
      char* end = nullptr;
      const long count = std::strtol(value.c_str(), &end, 10);
      if (value.empty() || *end != '\0' || count < 1 || count > 65536) {
        request.wrong = "-n: expected how many processes, got `" + value + "`";
      }
      request.processes = static_cast<int>(count);
    } else {
      request.wrong = flag + ": expected -n N, then a plan and the flags of weft run (see --help)";
    }
    if (!request.wrong.empty() || request.help || request.version) return request;
  }
  if (i < arguments.size() && arguments[i] == "--") ++i;
  request.run.assign(arguments.begin() + i, arguments.end());
  if (request.processes == 0) {
    request.wrong = "expected -n N, as many processes as the plan has ranks (see --help)";
  } else if (request.run.empty()) {
    request.wrong = "expected a plan (see --help)";
  }
  return request;
}

// weft-run, which lies beside this program, or where a build puts it; empty if not.
std::string FindRun() {
  char path[PATH_MAX];
  const ssize_t size = readlink("/proc/self/exe", path, sizeof path);
  if (size <= 0 || size == static_cast<ssize_t>(sizeof path)) return "";
  const std::string program(path, size);
  const std::string folder = program.substr(0, program.rfind('/') + 1);
  for (const std::string& run : {folder + "weft-run", folder + "../run/weft-run"}) {
    if (access(run.c_str(), X_OK) == 0) return run;
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

std::vector<std::string> CommandOf(const Request& request, const std::string& run) {
  std::vector<std::string> command = {"mpirun",
                                      "--oversubscribe",          // ranks may be more than cores,
                                      "--bind-to",       "none",  // and share them
                                      "--mca",           "pml",  "ob1",
                                      "--mca",           "btl",  "self,vader"};  // memory, no network
  if (geteuid() == 0) command.push_back("--allow-run-as-root");
  // Within which the ranks, told to end or left by one of them, end by themselves.
  command.insert(command.end(), {"--mca", "odls_base_sigkill_timeout", "3"});
  command.insert(command.end(), {"-n", std::to_string(request.processes), run});
  command.insert(command.end(), request.run.begin(), request.run.end());
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
// What an mpirun whose ranks have all ended gets to end itself: it takes some six seconds when it has killed them.
constexpr std::chrono::seconds kToEnd(12);

int StatusOf(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status); }

// Stays with an mpirun until it has ended: passes on what its processes say, answers what they ask, and
// notes who ends. One thread.
class Attendant {
 public:
  Attendant(pid_t mpirun, int processes, int said, const weft::launch::Loopback& loopback)
      : mpirun_(mpirun), said_(said), loopback_(loopback), ranks_(mpirun, processes) {}

  // Returns the status of the run.
  int Attend() {
    int status = 0;
    do {
      Await();
      Hear();
      ranks_.Look();
      EndStuck();
    } while (waitpid(mpirun_, &status, WNOHANG) != mpirun_);
    // Who outlives mpirun may keep the pipe open: what is in it now is all.
    while (Hear()) {
    }
    PassOn(words_.End());
    status = StatusOf(status);
    if (!words_.Lost().empty()) return Fail(status, words_.Lost());
    // An mpirun that could not start them says so itself.
    if (status == 0 || words_.told() || ranks_.known() == 0) return status;
    return Fail(status, ranks_.Lost() + weft::launch::kUnheard);
  }

 private:
  static void PassOn(const std::string& text) {
    std::fwrite(text.data(), 1, text.size(), stderr);
    std::fflush(stderr);
  }

  // Until something is said or asked, a rank ends, or it is time to look.
  void Await() {
    std::vector<pollfd> polled = {{said_, POLLIN, 0}, {loopback_.fd(), POLLIN, 0}};
    ranks_.AppendEnds(polled);
    poll(polled.data(), polled.size(), ranks_.all_known() && said_ >= 0 ? kLookMs : kFirstLookMs);
    if ((polled[1].revents & POLLIN) != 0) loopback_.Answer();
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

  void EndStuck() {
    const auto now = std::chrono::steady_clock::now();
    if (!ranks_.all_ended()) {
      alive_ = now;
    } else if (now - alive_ > kToEnd) {
      kill(mpirun_, SIGKILL);
    }
  }

  const pid_t mpirun_;
  int said_;  // -1: nothing more comes
  const weft::launch::Loopback& loopback_;
  weft::launch::Ranks ranks_;
  weft::launch::Words words_;
  std::chrono::steady_clock::time_point alive_ = std::chrono::steady_clock::now();
};

int Launch(const std::vector<std::string>& command, int processes) {
  const weft::launch::Loopback loopback;
  if (loopback.fd() < 0) {
    std::fprintf(stderr,
                 "weft-launch: mpirun listens on all interfaces of this machine, as its bind() cannot be seen: %s\n",
                 std::strerror(errno));
  }
  int said[2];
  if (pipe2(said, O_CLOEXEC) != 0) return Fail(1, std::string("mpirun: cannot be heard: ") + std::strerror(errno));
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
  if (made < 0) return Fail(1, std::string("mpirun: cannot be started: ") + std::strerror(errno));
  if (made == 0) {
    for (int signal : {SIGTERM, SIGINT, SIGHUP, SIGUSR1}) std::signal(signal, SIG_DFL);
    dup2(said[1], STDERR_FILENO);
    Become(command, before);
  }
  child = made;
  sigprocmask(SIG_SETMASK, &before, nullptr);
  close(said[1]);
  return Attendant(made, processes, said[0], loopback).Attend();
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
  const std::string run = FindRun();
  if (run.empty()) return Fail(1, "weft-run: expected beside weft-launch, found none");
  std::vector<std::string> command = CommandOf(request, run);
  if (request.show) {
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
    return Fail(1, "mpirun: expected that of Open MPI, got another; with its own flags it runs weft-run as well");
  }
  const weft::launch::Folder sockets("/tmp"), memory("/dev/shm");
  command.insert(command.begin() + 1,
                 {"--mca", "orte_tmpdir_base", sockets.path(), "--mca", "btl_vader_backing_directory", memory.path()});
  return Launch(command, request.processes);
}
