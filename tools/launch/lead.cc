#include "tools/launch/lead.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <system_error>
#include <utility>
#include <vector>

#include "runtime/checkpoint/lock_holder.h"
#include "tools/launch/returns.h"

namespace weft::launch {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kLook(100);
// The folder with which a launch takes a place is there for a moment: one that is older was left by one that was
// killed.
constexpr std::chrono::minutes kLeft(1);

std::string PathIn(const std::string& folder) { return folder + "/.launch"; }

std::optional<Leader> Read(const std::string& path) {
  std::ifstream in(path);
  Leader leader;
  if (!(in >> leader.host >> leader.process >> leader.restarts >> leader.beats)) return std::nullopt;
  return leader;
}

bool IsSame(const Leader& a, const Leader& b) { return a.host == b.host && a.process == b.process; }

// In one piece: who reads it finds the old text or the new one. False if it cannot be written.
bool Write(const std::string& path, const Leader& leader) {
  const std::string beside = path + "." + leader.host + "." + std::to_string(leader.process);
  {
    std::ofstream out(beside);
    out << leader.host << ' ' << leader.process << ' ' << leader.restarts << ' ' << leader.beats << '\n';
    if (!out.flush()) return false;
  }
  std::error_code error;
  std::filesystem::rename(beside, path, error);
  return !error;
}

// Whether a host has run a command well.
bool Does(const std::string& host, const std::vector<std::string>& command, const Shell& shell) {
  return UnfitOf({host}, command, shell, Output::kDropped).empty();
}

bool Lives(const std::string& program, pid_t process, const std::string& host, const Shell& shell) {
  const std::string words = "/proc/" + std::to_string(process) + "/cmdline";  // of a zombie empty
  return Does(host, {"grep", "-q", program, words}, shell);
}

std::string TextOf(const Leader& leader) { return "process " + std::to_string(leader.process) + " on " + leader.host; }

}  // namespace

Lead::Lead(std::string folder, const std::string& host, std::function<void()> lost, Pace pace)
    : path_(PathIn(folder)), pace_(pace), lost_(std::move(lost)), self_{host, getpid()} {}

std::string Lead::Take(const Leader* lost) {
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path_).parent_path(), error);
  const std::string wrong = lost != nullptr ? Succeed(*lost) : Begin();
  if (wrong.empty()) beats_ = std::thread([this] { Beat(); });
  return wrong;
}

std::string Lead::Begin() {
  const auto begin = Clock::now();
  const std::optional<Leader> before = Read(path_);
  while (before && Clock::now() - begin < 3 * pace_.beat) {
    std::this_thread::sleep_for(kLook);
    const std::optional<Leader> now = Read(path_);
    if (!now) break;
    if (now->beats != before->beats || !IsSame(*now, *before))
      return "expected no other launch of a run with these checkpoints, got " + TextOf(*now);
  }
  return Write(path_, self_) ? "" : path_ + ": cannot be written: " + std::strerror(errno);
}

// Of several that stand in, the one that makes a folder takes the place.
std::string Lead::Succeed(const Leader& lost) {
  const std::string next = path_ + ".next";
  std::error_code error;
  if (!std::filesystem::create_directory(next, error)) {
    const auto made = std::filesystem::last_write_time(next, error);
    if (!error && std::filesystem::file_time_type::clock::now() - made > kLeft) std::filesystem::remove(next, error);
    return "another launch takes its place";
  }
  const std::optional<Leader> now = Read(path_);
  self_.restarts = restarts_ = lost.restarts;
  std::string wrong;
  if (!now || !IsSame(*now, lost)) {
    wrong = now ? TextOf(*now) + " has taken its place" : "the run has ended";
  } else if (!Write(path_, self_)) {
    wrong = path_ + ": cannot be written: " + std::strerror(errno);
  }
  std::filesystem::remove(next, error);
  return wrong;
}

void Lead::Beat() {
  auto next = Clock::now();
  while (!ends_) {
    if (Clock::now() < next) {
      std::this_thread::sleep_for(std::min<Clock::duration>(kLook, pace_.beat));
      continue;
    }
    next = Clock::now() + pace_.beat;
    if (const std::optional<Leader> other = Read(path_); other && !IsSame(*other, self_)) return lost_();
    self_.restarts = restarts_;
    ++self_.beats;
    Write(path_, self_);  // a file system that is full or away may be back next time
  }
}

Lead::~Lead() {
  ends_ = true;
  if (!beats_.joinable()) return;
  beats_.join();
  if (const std::optional<Leader> now = Read(path_); now && IsSame(*now, self_)) unlink(path_.c_str());
}

Loss AwaitLoss(const std::string& folder, const Shell& shell, const Pace& pace) {
  const std::string path = PathIn(folder);
  std::optional<Leader> last;
  auto heard = Clock::now();
  for (;; std::this_thread::sleep_for(kLook)) {
    const std::optional<Leader> now = Read(path);
    if (!now) {
      if (last && !std::filesystem::exists(path)) return {Loss::kEnded, *last};
      continue;
    }
    if (!last || !IsSame(*last, *now) || last->beats != now->beats) {
      last = now;
      heard = Clock::now();
      continue;
    }
    if (Clock::now() - heard < pace.silent) continue;
    if (!Does(last->host, {"true"}, shell)) return {Loss::kHost, *last};
    if (!Lives("weft-launch", last->process, last->host, shell)) return {Loss::kProcess, *last};
    heard = Clock::now();  // it lives: its file system is slow
  }
}

std::string AwaitEndOfRun(const std::string& folder, const Shell& shell, std::chrono::milliseconds limit) {
  const auto begin = Clock::now();
  for (;; std::this_thread::sleep_for(kLook)) {
    const std::optional<checkpoint::LockHolder> holder = checkpoint::LockHolderOf(folder);
    if (!holder || (holder->process != 0 && !Does(holder->host, {"true"}, shell))) return "";
    if (holder->process != 0 && !Lives("weft-run", holder->process, holder->host, shell)) {
      unlink(checkpoint::LockPathIn(folder).c_str());
      return "";
    }
    if (Clock::now() - begin > limit) {
      return "process " + std::to_string(holder->process) + " on " + holder->host + " has not ended, a rank of the run";
    }
  }
}

}  // namespace weft::launch
