#include "tools/launch/ranks.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

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

// This process stands for mpirun.
TEST(RanksTest, SeesWhoEndsFirstAndThatAllHave) {
  const pid_t zero = StartRank(0), one = StartRank(1);
  Ranks ranks(getpid());
  // Until both have their environment.
  for (; ranks.known() < 2; ranks.Look()) usleep(1000);
  EXPECT_EQ(ranks.looks_at_none(), 0);
  EXPECT_EQ(ranks.Lost(), "");
  kill(one, SIGKILL);
  AwaitEnd(one);
  ranks.Look();
  EXPECT_EQ(ranks.looks_at_none(), 0);
  kill(zero, SIGKILL);
  AwaitEnd(zero);
  ranks.Look();
  ranks.Look();
  EXPECT_EQ(ranks.looks_at_none(), 2);
  EXPECT_EQ(ranks.Lost(), "rank 1 is lost: its process " + std::to_string(one) + " has ended first");
  waitpid(zero, nullptr, 0);
  waitpid(one, nullptr, 0);
  ranks.Look();
  EXPECT_EQ(ranks.looks_at_none(), 0);  // mpirun has taken note
}

}  // namespace
}  // namespace weft::launch
