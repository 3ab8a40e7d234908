#include "runtime/collective/mpi/peers.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <future>

#include "gtest/gtest.h"

namespace weft::collective {
namespace {

// A process that waits to be killed.
int Start() {
  const int child = fork();
  if (child == 0) {
    while (true) pause();
  }
  return child;
}

TEST(PeersTest, NoticesWhenAProcessEnds) {
  const int first = Start(), second = Start();
  std::promise<int> lost[2];
  int count = 0;
  {
    Peers peers({{3, first}, {5, second}}, [&](const Peers::Peer& peer) { lost[count++].set_value(peer.rank); });
    kill(second, SIGKILL);
    EXPECT_EQ(lost[0].get_future().get(), 5);
    kill(first, SIGKILL);
    EXPECT_EQ(lost[1].get_future().get(), 3);
  }
  EXPECT_EQ(count, 2);
  waitpid(first, nullptr, 0);
  waitpid(second, nullptr, 0);
}

TEST(PeersTest, NoticesWhoHasEndedBefore) {
  const int child = Start();
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  std::promise<int> lost;
  Peers peers({{1, child}}, [&](const Peers::Peer& peer) { lost.set_value(peer.process); });
  EXPECT_EQ(lost.get_future().get(), child);
}

TEST(PeersTest, EndsWhileOthersLive) {
  const int child = Start();
  {
    Peers peers({{1, child}}, [](const Peers::Peer&) { ADD_FAILURE(); });
  }
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

TEST(PeersTest, NamesGoFromProcessToProcess) {
  const ProcessName own = ProcessName::Own(), read = ProcessName::Parse(own.ToString());
  EXPECT_EQ(read.host, own.host);
  EXPECT_EQ(read.process, getpid());
}

}  // namespace
}  // namespace weft::collective
