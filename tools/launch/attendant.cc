#include "tools/launch/attendant.h"

#include <fcntl.h>
#include <sys/poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>

#include "tools/launch/ranks.h"
#include "tools/launch/words.h"

namespace weft::launch {
namespace {

std::atomic<int> child{0};
std::atomic<int> interrupts{0};

// When the first signal came that asked to terminate, in seconds; 0: none has.
std::atomic<time_t> terminated{0};

// Whether what is run has steps to finish, and so is told to end; else Attendant ends it.
std::atomic<bool> has_steps{true};

// Whether the ranks have nothing to finish any more.
std::atomic<bool> end_at_once{false};

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
      if (end_at_once || (!has_steps && ToldToEnd())) EndNow();
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

}  // namespace

int Fail(int status, const std::string& text) {
  std::fprintf(stderr, "weft-launch: %s\n", text.c_str());
  return status;
}

bool ToldToEnd() { return interrupts > 0 || terminated != 0 || end_at_once; }

void SetHasSteps(bool steps) { has_steps = steps; }

void EndAtOnce() { end_at_once = true; }

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

}  // namespace weft::launch
