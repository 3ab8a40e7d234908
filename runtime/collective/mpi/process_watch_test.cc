#include "runtime/collective/mpi/process_watch.h"

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

TEST(ProcessWatchTest, NoticesWhenAProcessEnds) {
  const int first = Start(), second = Start();
  std::promise<int> lost[2];
  int count = 0;
  {
    ProcessWatch peers({{3, first}, {5, second}},
                       [&](const ProcessWatch::Peer& peer) { lost[count++].set_value(peer.rank); });
    kill(second, SIGKILL);
    EXPECT_EQ(lost[0].get_future().get(), 5);
    kill(first, SIGKILL);
    EXPECT_EQ(lost[1].get_future().get(), 3);
  }
  EXPECT_EQ(count, 2);
  waitpid(first, nullptr, 0);
  waitpid(second, nullptr, 0);
}

TEST(ProcessWatchTest, NoticesWhoHasEndedBefore) {
  const int child = Start();
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  std::promise<int> lost;
  ProcessWatch peers({{1, child}}, [&](const ProcessWatch::Peer& peer) { lost.set_value(peer.process); });
  EXPECT_EQ(lost.get_future().get(), child);
}

TEST(ProcessWatchTest, EndsWhileOthersLive) {
  const int child = Start();
  {
    ProcessWatch peers({{1, child}}, [](const ProcessWatch::Peer&) { ADD_FAILURE(); });
  }
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

TEST(ProcessWatchTest, NamesGoFromProcessToProcess) {
  const ProcessName own = ProcessName::Own(), read = ProcessName::Parse(own.ToString());
  EXPECT_EQ(read.host, own.host);
  EXPECT_EQ(read.process, getpid());
}

}  // namespace
}  // namespace weft::collective
