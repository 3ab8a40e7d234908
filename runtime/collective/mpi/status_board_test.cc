#include "runtime/collective/mpi/status_board.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <vector>

#include "gtest/gtest.h"

namespace weft::collective {
namespace {

TEST(BoardTest, IsReadWhenItsProcessIsStoppedAndWhenItIsGone) {
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const int child = fork();
  if (child == 0) {
    StatusBoard own;
    own.words()[3] = 42;
    const int descriptor = own.descriptor();
    if (write(ready[1], &descriptor, sizeof(descriptor)) < 0) _exit(1);
    raise(SIGSTOP);
    while (true) pause();
  }
  int descriptor = -1;
  ASSERT_EQ(read(ready[0], &descriptor, sizeof(descriptor)), static_cast<ssize_t>(sizeof(descriptor)));
  waitpid(child, nullptr, WUNTRACED);  // it is stopped
  const StatusBoard board(child, descriptor);
  std::vector<int64_t> expected(StatusBoard::kWords);
  expected[3] = 42;
  EXPECT_EQ(board.Read(), expected);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_EQ(board.Read(), expected);
  close(ready[0]);
  close(ready[1]);
}

TEST(BoardTest, OfAProcessThatIsGoneIsEmpty) {
  const int child = fork();
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(StatusBoard(child, 5).Read().empty());
  EXPECT_TRUE(StatusBoard(getpid(), -1).Read().empty());
}

}  // namespace
}  // namespace weft::collective
