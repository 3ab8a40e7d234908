#include "runtime/checkpoint/folder_lock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "runtime/checkpoint/host_and_time.h"

namespace weft::checkpoint {
namespace {

namespace fs = std::filesystem;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;

class FolderLockTest : public testing::Test {
 protected:
  FolderLockTest() : folder_(testing::TempDir() + "/" + testing::UnitTest::GetInstance()->current_test_info()->name()) {
    fs::remove_all(folder_);
  }

  const std::string folder_;
};

TEST_F(FolderLockTest, TheSecondHearsOfTheFirst) {
  auto first = FolderLock::Take(folder_ + "/runs");
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ((*first)->taken_from(), "");
  for (int time = 0; time < 2; ++time) {  // that the first refusal removes nothing
    auto second = FolderLock::Take(folder_ + "/runs");
    EXPECT_EQ(second.status().code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(second.status().message()),
                ContainsRegex(absl::StrCat("/runs: expected no other run at work here, got process ", getpid(), " on ",
                                           HostName(), " since 20[0-9-]+T[0-9:]+Z$")));
  }
  first->reset();
  EXPECT_FALSE(fs::exists(folder_));  // what was made for it
  EXPECT_TRUE(FolderLock::Take(folder_ + "/runs").ok());
}

TEST_F(FolderLockTest, WhatIsInTheFolderStays) {
  {
    auto lock = FolderLock::Take(folder_ + "/runs");
    ASSERT_TRUE(lock.ok());
    std::ofstream(folder_ + "/runs/latest") << "x";
  }
  EXPECT_TRUE(fs::exists(folder_ + "/runs/latest"));
  EXPECT_FALSE(fs::exists(folder_ + "/runs/.lock"));
}

TEST_F(FolderLockTest, OfAKilledProcessItIsTakenOver) {
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    auto lock = FolderLock::Take(folder_);
    char byte = lock.ok() ? 'y' : 'n';
    if (write(ready[1], &byte, 1) == 1) pause();
    _exit(1);
  }
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  ASSERT_EQ(byte, 'y');
  EXPECT_THAT(std::string(FolderLock::Take(folder_).status().message()), HasSubstr(absl::StrCat("process ", child)));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  auto lock = FolderLock::Take(folder_);
  ASSERT_TRUE(lock.ok()) << lock.status();
  EXPECT_THAT((*lock)->taken_from(), HasSubstr(absl::StrCat("process ", child, " on ", HostName(), " since ")));
}

TEST_F(FolderLockTest, OfAnotherHostNobodyCanTell) {
  fs::create_directories(folder_);
  std::ofstream(folder_ + "/.lock") << "elsewhere 4711 2026-01-02T03:04:05Z\n";
  EXPECT_EQ(FolderLock::Take(folder_).status().message(),
            folder_ +
                ": expected no other run at work here, got process 4711 on elsewhere since 2026-01-02T03:04:05Z; "
                "if it has ended, remove " +
                folder_ + "/.lock");
  EXPECT_TRUE(fs::exists(folder_ + "/.lock"));
  EXPECT_FALSE(FolderLock::Take(folder_, {"else", "another"}).ok());
}

TEST_F(FolderLockTest, WhatAHostHeldThatIsLostIsTakenOver) {
  fs::create_directories(folder_);
  std::ofstream(folder_ + "/.lock") << "elsewhere.cluster 4711 2026-01-02T03:04:05Z\n";
  auto lock = FolderLock::Take(folder_, {"another", "elsewhere"});
  ASSERT_TRUE(lock.ok()) << lock.status();
  EXPECT_EQ((*lock)->taken_from(), "process 4711 on elsewhere.cluster since 2026-01-02T03:04:05Z");
}

}  // namespace
}  // namespace weft::checkpoint
