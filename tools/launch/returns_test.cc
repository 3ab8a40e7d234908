#include "tools/launch/returns.h"

#include <sys/stat.h>

#include <fstream>
#include <map>
#include <string>
#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace weft::launch {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

// Hosts answer where a file has their name; each question adds a line to the file `asked`.
class ReturnsTest : public testing::Test {
 protected:
  ReturnsTest() {
    std::ofstream(shell_) << "#!/bin/sh\necho \"$*\" >> " << folder_ << "/asked\n[ -e " << folder_ << "/$1 ]\n";
    chmod(shell_.c_str(), 0700);
  }

  void Up(const std::string& host) { std::ofstream(folder_ + "/" + host) << "up"; }
  void Down(const std::string& host) { std::remove((folder_ + "/" + host).c_str()); }

  int Questions() const {
    std::ifstream in(folder_ + "/asked");
    int count = 0;
    for (std::string line; std::getline(in, line); ++count) EXPECT_EQ(line.substr(1), " 'test' '-x' '/a b'");
    return count;
  }

  // At a second, and until the questions that are asked there are answered.
  std::vector<std::string> LookAt(Returns& returns, int second, const std::vector<std::string>& lost, int questions) {
    std::vector<std::string> back = returns.Look(lost, begin_ + seconds(second));
    for (int i = 0; i < 1000 && Questions() < questions; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_EQ(Questions(), questions) << "after " << second << " s";
    std::this_thread::sleep_for(std::chrono::milliseconds(200));  // the shell ends
    const std::vector<std::string> heard = returns.Look(lost, begin_ + seconds(second));
    back.insert(back.end(), heard.begin(), heard.end());
    return back;
  }

  const std::string folder_ =
      testing::TempDir() + "/returns." + testing::UnitTest::GetInstance()->current_test_info()->name();
  const std::string shell_ = folder_ + "/shell";
  const Returns::Time begin_ = std::chrono::steady_clock::now();
  const int made_ = mkdir(folder_.c_str(), 0700);
};

TEST_F(ReturnsTest, AHostIsBackWhenItHasAnsweredTwiceInARow) {
  Returns returns({"test", "-x", "/a b"}, {shell_}, seconds(60));
  Up("a");
  EXPECT_THAT(LookAt(returns, 0, {"a", "b"}, 0), IsEmpty());
  EXPECT_THAT(LookAt(returns, 59, {"a", "b"}, 0), IsEmpty());
  EXPECT_THAT(LookAt(returns, 60, {"a", "b"}, 2), IsEmpty());
  EXPECT_THAT(LookAt(returns, 119, {"a", "b"}, 2), IsEmpty()) << "not asked again yet";
  Down("a");
  EXPECT_THAT(LookAt(returns, 120, {"a", "b"}, 4), IsEmpty());
  Up("a");
  EXPECT_THAT(LookAt(returns, 180, {"a", "b"}, 6), IsEmpty()) << "its first answer in a row";
  EXPECT_THAT(LookAt(returns, 240, {"a", "b"}, 8), ElementsAre("a"));
  EXPECT_THAT(LookAt(returns, 300, {"b"}, 9), IsEmpty());
}

TEST_F(ReturnsTest, WhatDoesNotEndIsNoAnswer) {
  std::ofstream(shell_) << "#!/bin/sh\necho \"$*\" >> " << folder_ << "/asked\nexec sleep 100\n";
  Returns returns({"test", "-x", "/a b"}, {shell_}, seconds(5));
  EXPECT_THAT(LookAt(returns, 0, {"a"}, 0), IsEmpty());
  EXPECT_THAT(LookAt(returns, 5, {"a"}, 1), IsEmpty());
  EXPECT_THAT(LookAt(returns, 10, {"a"}, 1), IsEmpty()) << "one question at a time";
  EXPECT_THAT(LookAt(returns, 15, {"a"}, 2), IsEmpty());
}

// Each with whether it answers.
std::map<std::string, bool> Answers(const std::vector<Unfit>& unfit) {
  std::map<std::string, bool> answers;
  for (const Unfit& each : unfit) answers[each.host] = each.answers;
  return answers;
}

TEST_F(ReturnsTest, HostsThatAreUnfitAnswerOrDoNot) {
  Up("b");
  EXPECT_THAT(Answers(UnfitOf({"a", "b", "c"}, {"test", "-x", "/a b"}, {shell_}, Output::kDropped)),
              ElementsAre(Pair("a", true), Pair("c", true)));
  EXPECT_EQ(Questions(), 3);
  EXPECT_THAT(UnfitOf({}, {"test"}, {shell_}, Output::kDropped), IsEmpty());
  EXPECT_THAT(Answers(UnfitOf({"b"}, {"test"}, {"/no/such/shell"}, Output::kDropped)), ElementsAre(Pair("b", false)));
  std::ofstream(shell_) << "#!/bin/sh\nexit 255\n";
  EXPECT_THAT(Answers(UnfitOf({"b"}, {"test"}, {shell_}, Output::kDropped)), ElementsAre(Pair("b", false)))
      << "as ssh says it";
}

TEST_F(ReturnsTest, NobodyIsAskedWhereThatIsNotWanted) {
  Returns returns({"test", "-x", "/a b"}, {shell_}, seconds(0));
  Up("a");
  EXPECT_THAT(LookAt(returns, 0, {"a"}, 0), IsEmpty());
  EXPECT_THAT(LookAt(returns, 1000, {"a"}, 0), IsEmpty());
}

}  // namespace
}  // namespace weft::launch
