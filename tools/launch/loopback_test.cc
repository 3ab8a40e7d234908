#include "tools/launch/loopback.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "gtest/gtest.h"

namespace weft::launch {
namespace {

std::string TextOf(const sockaddr_storage& address) {
  char text[INET6_ADDRSTRLEN] = "?";
  const bool six = address.ss_family == AF_INET6;
  const void* const at = six ? static_cast<const void*>(&reinterpret_cast<const sockaddr_in6&>(address).sin6_addr)
                             : &reinterpret_cast<const sockaddr_in&>(address).sin_addr;
  return inet_ntop(address.ss_family, at, text, sizeof(text)) != nullptr ? text : "?";
}

// Where a socket is that was bound to `address`.
std::string Bound(int family, const char* address) {
  sockaddr_storage it = {};
  it.ss_family = static_cast<sa_family_t>(family);
  if (family == AF_INET6) {
    inet_pton(family, address, &reinterpret_cast<sockaddr_in6&>(it).sin6_addr);
  } else {
    inet_pton(family, address, &reinterpret_cast<sockaddr_in&>(it).sin_addr);
  }
  const int made = socket(family, SOCK_STREAM, 0);
  if (made < 0) return "no such family";
  socklen_t size = family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
  if (bind(made, reinterpret_cast<sockaddr*>(&it), size) != 0) return "not bound";
  getsockname(made, reinterpret_cast<sockaddr*>(&it), &size);
  close(made);
  return TextOf(it);
}

// The same in a process that a launcher started.
std::string BoundByChild(const Loopback& loopback, int family, const char* address) {
  int pipe_ends[2];
  EXPECT_EQ(pipe(pipe_ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    const std::string text = Bound(family, address);
    _exit(write(pipe_ends[1], text.data(), text.size()) != static_cast<ssize_t>(text.size()));
  }
  close(pipe_ends[1]);
  char text[64];
  ssize_t size = 0;
  while (size == 0) {
    pollfd ready[] = {{pipe_ends[0], POLLIN, 0}, {loopback.fd(), POLLIN, 0}};
    poll(ready, 2, -1);
    if ((ready[1].revents & POLLIN) != 0) loopback.Answer();
    if (ready[0].revents != 0) size = read(pipe_ends[0], text, sizeof(text));
    if (size == 0 && ready[0].revents != 0) break;
  }
  close(pipe_ends[0]);
  waitpid(child, nullptr, 0);
  return {text, static_cast<size_t>(std::max<ssize_t>(size, 0))};
}

TEST(LoopbackTest, AllInterfacesBecomeTheLoopbackOnes) {
  const std::string six = Bound(AF_INET6, "::1");  // "::1", or why there is none
  const Loopback loopback;
  ASSERT_GE(loopback.fd(), 0);
  EXPECT_EQ(BoundByChild(loopback, AF_INET, "0.0.0.0"), "127.0.0.1");
  EXPECT_EQ(BoundByChild(loopback, AF_INET, "127.0.0.2"), "127.0.0.2");
  EXPECT_EQ(BoundByChild(loopback, AF_INET6, "::"), six == "not bound" ? "::" : six);
}

}  // namespace
}  // namespace weft::launch
