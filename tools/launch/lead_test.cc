#include "tools/launch/lead.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <fstream>
#include <future>
#include <memory>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace weft::launch {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;

constexpr Pace kPace{milliseconds(20), milliseconds(400)};

// Hosts answer where a file has their name: what is run there is run here.
class LeadTest : public testing::Test {
 protected:
  LeadTest() {
    std::ofstream(shell_) << "#!/bin/sh\n[ -e " << root_ << "/$1 ] || exit 255\nshift\neval \"$*\"\n";
    chmod(shell_.c_str(), 0700);
    Up("a");
  }

  void Up(const std::string& host) { std::ofstream(root_ + "/" + host) << "up"; }
  void Down(const std::string& host) { std::remove((root_ + "/" + host).c_str()); }

  std::unique_ptr<Lead> LeadOn(const std::string& host) {
    return std::make_unique<Lead>(folder_, host, [this] { lost_.set_value(); }, kPace);
  }
  std::future<Loss> StandIn() {
    return std::async(std::launch::async, [this] { return AwaitLoss(folder_, {shell_}, kPace); });
  }
  // As a leader that is killed leaves the file.
  void Leave(const std::string& text) {
    mkdir(folder_.c_str(), 0700);
    std::ofstream(folder_ + "/.launch") << text;
  }
  std::string Text() const {
    std::ifstream in(folder_ + "/.launch");
    std::string text;
    std::getline(in, text);
    return text;
  }
  static bool IsReady(const std::future<Loss>& loss, milliseconds within) {
    return loss.wait_for(within) == std::future_status::ready;
  }

  const std::string root_ =
      testing::TempDir() + "/lead." + testing::UnitTest::GetInstance()->current_test_info()->name();
  const std::string folder_ = root_ + "/runs", shell_ = root_ + "/shell";
  const int made_ = mkdir(root_.c_str(), 0700);
  std::promise<void> lost_;
};

TEST_F(LeadTest, WhoStandsInWaitsForALeaderAndUntilItEnds) {
  auto loss = StandIn();
  EXPECT_FALSE(IsReady(loss, milliseconds(200)));
  auto lead = LeadOn("a");
  ASSERT_EQ(lead->Take(nullptr), "");
  EXPECT_FALSE(IsReady(loss, 3 * kPace.silent)) << "it counts";
  lead = nullptr;
  ASSERT_TRUE(IsReady(loss, seconds(60)));
  EXPECT_EQ(loss.get().what, Loss::kEnded);
  EXPECT_NE(access((folder_ + "/.launch").c_str(), F_OK), 0);
}

TEST_F(LeadTest, AHostThatDoesNotAnswerIsLost) {
  Down("a");
  Leave("a 4711 2 17");
  const Loss loss = StandIn().get();
  EXPECT_EQ(loss.what, Loss::kHost);
  EXPECT_EQ(loss.leader.host, "a");
  EXPECT_EQ(loss.leader.process, 4711);

  auto lead = LeadOn("b"), late = LeadOn("c");
  ASSERT_EQ(lead->Take(&loss.leader), "");
  EXPECT_THAT(Text(), HasSubstr("b " + std::to_string(getpid()) + " 2 ")) << "with its restarts";
  lead->SetRestarts(3);
  EXPECT_EQ(late->Take(&loss.leader), "process " + std::to_string(getpid()) + " on b has taken its place");
}

TEST_F(LeadTest, AProcessThatHasEndedIsLostAndItsHostIsNot) {
  Leave("a " + std::to_string(getpid()) + " 0 17");  // this one is no weft-launch
  EXPECT_EQ(StandIn().get().what, Loss::kProcess);
}

TEST_F(LeadTest, OneThatLivesAndDoesNotCountIsWaitedFor) {
  // A process of that name.
  const std::string program = root_ + "/weft-launch";
  ASSERT_EQ(symlink("/bin/sleep", program.c_str()), 0);
  const pid_t child = Start({program, "1000"}, Output::kDropped);
  Leave("a " + std::to_string(child) + " 0 17");
  auto loss = StandIn();
  EXPECT_FALSE(IsReady(loss, 3 * kPace.silent));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  ASSERT_TRUE(IsReady(loss, seconds(60)));
  EXPECT_EQ(loss.get().what, Loss::kProcess);
}

TEST_F(LeadTest, ARunHasEndedWhenTheRankHasThatLocksItsFolder) {
  EXPECT_EQ(AwaitEndOfRun(folder_, {shell_}), "") << "there is no lock";
  const std::string program = root_ + "/weft-run", lock = folder_ + "/.lock";
  ASSERT_EQ(symlink("/bin/sleep", program.c_str()), 0);
  const pid_t child = Start({program, "1000"}, Output::kDropped);
  mkdir(folder_.c_str(), 0700);
  std::ofstream(lock) << "a " << child << " 2026-11-22T20:15:00Z\n";
  EXPECT_EQ(AwaitEndOfRun(folder_, {shell_}, milliseconds(300)),
            "process " + std::to_string(child) + " on a has not ended, a rank of the run");
  auto ended = std::async(std::launch::async, [this] { return AwaitEndOfRun(folder_, {shell_}); });
  EXPECT_EQ(ended.wait_for(milliseconds(300)), std::future_status::timeout);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_EQ(ended.get(), "");
  EXPECT_NE(access(lock.c_str(), F_OK), 0) << "nobody else would remove it";

  std::ofstream(lock) << "b 4711 2026-11-22T20:15:00Z\n";
  EXPECT_EQ(AwaitEndOfRun(folder_, {shell_}), "") << "a host that does not answer is lost";
  EXPECT_EQ(access(lock.c_str(), F_OK), 0);
}

TEST_F(LeadTest, OneOfSeveralTakesThePlace) {
  Leave("a 4711 0 17");
  const Leader lost{"a", 4711};
  auto lead = LeadOn("b");
  mkdir((folder_ + "/.launch.next").c_str(), 0700);  // another one is about to
  EXPECT_EQ(lead->Take(&lost), "another launch takes its place");
  rmdir((folder_ + "/.launch.next").c_str());
  EXPECT_EQ(lead->Take(&lost), "");
}

TEST_F(LeadTest, WhoWasTakenForLostIsTold) {
  auto lead = LeadOn("a");
  ASSERT_EQ(lead->Take(nullptr), "");
  Leave("b 4711 0 1");
  ASSERT_EQ(lost_.get_future().wait_for(seconds(60)), std::future_status::ready);
  lead = nullptr;
  EXPECT_EQ(Text(), "b 4711 0 1") << "it is not its own any more";
}

TEST_F(LeadTest, NobodyLeadsBesideAnother) {
  auto lead = LeadOn("a"), other = LeadOn("b");
  ASSERT_EQ(lead->Take(nullptr), "");
  EXPECT_THAT(other->Take(nullptr), HasSubstr("expected no other launch of a run with these checkpoints, got process"));
  lead = nullptr;
  EXPECT_EQ(other->Take(nullptr), "");
}

TEST_F(LeadTest, WhatWasLeftByOneThatIsLostIsNoLeader) {
  Leave("a 4711 0 17");
  EXPECT_EQ(LeadOn("b")->Take(nullptr), "");
}

}  // namespace
}  // namespace weft::launch
