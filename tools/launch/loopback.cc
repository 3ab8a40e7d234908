#include "tools/launch/loopback.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>

namespace weft::launch {
namespace {

#if defined(__aarch64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#else
constexpr uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#endif

// The descriptor on which the kernel asks about each bind() of this process and of those that it starts; -1 if it
// does not allow it.
int AskAboutBinds() {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kArchitecture, 0, 2),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_bind, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
  };
  const sock_fprog program = {std::size(filter), filter};
  // Without it only root may filter.
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
  return static_cast<int>(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program));
}

// Whether ::1 is an address here. Where IPv6 is turned off it is not, and :: reaches nobody.
bool HasLoopback6() {
  std::ifstream file("/proc/net/if_inet6");
  const std::string all{std::istreambuf_iterator<char>(file), {}};
  return all.find("00000000000000000000000000000001 ") != std::string::npos;
}

// Makes the loopback's address of one that means all interfaces; false if it is another.
bool Narrow(sockaddr_storage& address) {
  if (address.ss_family == AF_INET) {
    in_addr& it = reinterpret_cast<sockaddr_in&>(address).sin_addr;
    if (it.s_addr != htonl(INADDR_ANY)) return false;
    it.s_addr = htonl(INADDR_LOOPBACK);
    return true;
  }
  if (address.ss_family != AF_INET6) return false;
  in6_addr& it = reinterpret_cast<sockaddr_in6&>(address).sin6_addr;
  if (!IN6_IS_ADDR_UNSPECIFIED(&it) || !HasLoopback6()) return false;
  it = in6addr_loopback;
  return true;
}

}  // namespace

Loopback::Loopback() : fd_(AskAboutBinds()) {}

Loopback::~Loopback() {
  if (fd_ >= 0) close(fd_);
}

void Loopback::Answer() const {
  seccomp_notif question = {};
  if (ioctl(fd_, SECCOMP_IOCTL_NOTIF_RECV, &question) != 0) return;  // who asked has ended
  seccomp_notif_resp answer = {};
  answer.id = question.id;
  answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
  const auto at = static_cast<off_t>(question.data.args[1]);
  sockaddr_storage address = {};
  const size_t size = std::min<size_t>(question.data.args[2], sizeof(address));
  const int memory = open(("/proc/" + std::to_string(question.pid) + "/mem").c_str(), O_RDWR | O_CLOEXEC);
  // Where its memory cannot be changed, the process does not listen at all.
  if (memory < 0 || pread(memory, &address, size, at) != static_cast<ssize_t>(size) ||
      (Narrow(address) && pwrite(memory, &address, size, at) != static_cast<ssize_t>(size))) {
    answer.flags = 0;
    answer.error = -EACCES;
  }
  if (memory >= 0) close(memory);
  ioctl(fd_, SECCOMP_IOCTL_NOTIF_SEND, &answer);
}

}  // namespace weft::launch
