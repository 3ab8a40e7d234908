#include "runtime/collective/mpi/process_watch.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

namespace weft::collective {
namespace {

// -1 with ESRCH if there is no such process.
int OpenProcess(int process) { return static_cast<int>(syscall(SYS_pidfd_open, process, 0)); }

}  // namespace

ProcessName ProcessName::Own() {
  char host[256] = "";
  gethostname(host, sizeof(host) - 1);
  // Containers of one host name may number their processes apart.
  char numbers[128] = "";
  if (readlink("/proc/self/ns/pid", numbers, sizeof(numbers) - 1) < 0) numbers[0] = '\0';
  return {.host = std::string(host) + "/" + numbers, .process = static_cast<int>(getpid())};
}

std::string ProcessName::HostName() const { return host.substr(0, host.find('/')); }

std::string ProcessName::ToString() const { return std::to_string(process) + ":" + std::to_string(board) + "@" + host; }

ProcessName ProcessName::Parse(const std::string& text) {
  const size_t colon = text.find(':'), at = text.find('@');
  if (colon == std::string::npos || at == std::string::npos) return {};
  return {text.substr(at + 1), std::atoi(text.c_str()), std::atoi(text.c_str() + colon + 1)};
}

bool IsStopped(int process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string line;
  std::getline(file, line);
  const size_t name = line.rfind(')');  // a name may hold anything
  return name != std::string::npos && name + 2 < line.size() && (line[name + 2] == 'T' || line[name + 2] == 't');
}

ProcessWatch::ProcessWatch(const std::vector<Peer>& peers, Lost lost) : lost_(std::move(lost)) {
  std::vector<Peer> gone;
  for (const Peer& peer : peers) {
    const int file = OpenProcess(peer.process);
    if (file < 0 && errno != ESRCH) continue;
    peers_.push_back(peer);
    files_.push_back(file);
  }
  if (peers_.empty() || pipe2(end_, O_CLOEXEC) != 0) return;
  thread_ = std::thread([this] { Watch(); });
}

ProcessWatch::~ProcessWatch() {
  if (thread_.joinable()) {
    close(end_[1]);  // seen at the other end
    thread_.join();
    close(end_[0]);
  }
  for (int file : files_) {
    if (file >= 0) close(file);
  }
}

void ProcessWatch::Watch() {
  std::vector<pollfd> watched;
  for (size_t i = 0; i < peers_.size(); ++i) {
    if (files_[i] < 0) lost_(peers_[i]);
    watched.push_back({files_[i], POLLIN, 0});
  }
  watched.push_back({end_[0], POLLIN, 0});
  while (true) {
    if (poll(watched.data(), watched.size(), -1) < 0 && errno != EINTR) return;
    if (watched.back().revents != 0) return;
    for (size_t i = 0; i < peers_.size(); ++i) {
      if (watched[i].fd < 0 || watched[i].revents == 0) continue;
      watched[i].fd = -1;  // poll passes over it from now on
      lost_(peers_[i]);
    }
  }
}

}  // namespace weft::collective
