#include "tools/launch/ranks.h"

#include <signal.h>
#include <sys/poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace weft::launch {
namespace {

// A process that stands for mpirun's child, with the environment of a rank.
pid_t StartRank(int rank) {
  const pid_t child = fork();
  if (child == 0) {
    setenv("OMPI_COMM_WORLD_RANK", std::to_string(rank).c_str(), 1);
    execlp("sleep", "sleep", "1000", nullptr);
    _exit(1);
  }
  return child;
}

void AwaitEnd(pid_t child) {
  siginfo_t info;
  waitid(P_PID, child, &info, WEXITED | WNOWAIT);  // it stays, as with an mpirun that hangs
}

TEST(ContentsOfTest, AnErrorWhileReadingIsNoExceptionAndNoText) {
  EXPECT_NE(ContentsOf("/proc/self/stat"), "");
  EXPECT_EQ(ContentsOf("/proc/self/mem"), "");  // opens, and fails where address 0 is read
  EXPECT_EQ(ContentsOf("/proc/self/none"), "");
}

TEST(RanksTest, EndsThoseThatLive) {
  const pid_t zero = StartRank(0), one = StartRank(1);
  Ranks ranks(getpid(), 2);
  for (; ranks.known() < 2; ranks.Look()) usleep(1000);
  kill(zero, SIGSTOP);
  EXPECT_TRUE(ranks.EndAll(60000));
  ranks.Look();
  EXPECT_TRUE(ranks.all_ended());
  for (pid_t child : {zero, one}) waitpid(child, nullptr, 0);
}

// This process stands for mpirun.
TEST(RanksTest, SeesWhoEndsFirstAndThatAllHave) {
  const pid_t zero = StartRank(0), one = StartRank(1);
  Ranks ranks(getpid(), 2);
  // Until both have their environment.
  for (; ranks.known() < 2; ranks.Look()) usleep(1000);
  EXPECT_FALSE(ranks.all_ended());
  EXPECT_TRUE(ranks.all_known());
  EXPECT_EQ(ranks.Lost(), "a rank is lost");
  std::vector<pollfd> ends;
  ranks.AppendEnds(ends);
  ASSERT_EQ(ends.size(), 2u);
  EXPECT_EQ(poll(ends.data(), ends.size(), 0), 0);
  kill(one, SIGKILL);
  AwaitEnd(one);
  EXPECT_EQ(poll(ends.data(), ends.size(), -1), 1);
  ranks.Look();
  EXPECT_FALSE(ranks.all_ended());
  kill(zero, SIGKILL);
  AwaitEnd(zero);
  ranks.Look();
  EXPECT_TRUE(ranks.all_ended());
  EXPECT_EQ(ranks.Lost(), "rank 1 is lost: its process " + std::to_string(one) + " has ended first");
  waitpid(zero, nullptr, 0);
  waitpid(one, nullptr, 0);
  ranks.Look();
  EXPECT_FALSE(ranks.all_ended());  // mpirun has taken note
}

// Nobody has seen rank 0: it was gone before.
TEST(RanksTest, NamesTheOneThatEndedUnseen) {
  const pid_t one = StartRank(1), two = StartRank(2);
  Ranks three(getpid(), 3), four(getpid(), 4);
  for (; three.known() < 2 || four.known() < 2; three.Look(), four.Look()) usleep(1000);
  kill(two, SIGKILL);
  AwaitEnd(two);
  three.Look();
  four.Look();
  EXPECT_EQ(three.Lost(), "rank 0 is lost: its process has ended first");
  EXPECT_EQ(four.Lost(), "rank 2 is lost: its process " + std::to_string(two) + " has ended first");  // of those seen
  kill(one, SIGKILL);
  waitpid(one, nullptr, 0);
  waitpid(two, nullptr, 0);
}

}  // namespace
}  // namespace weft::launch
