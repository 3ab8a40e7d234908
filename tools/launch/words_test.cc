#include "tools/launch/words.h"

#include "gtest/gtest.h"

namespace weft::launch {
namespace {

const std::string kRule(74, '-');
const std::string kPrimary = kRule +
                             "\nPrimary job  terminated normally, but 1 process returned\n"
                             "a non-zero exit code. Per user-direction, the job has been aborted.\n" +
                             kRule + "\n";
const std::string kNoticed = kRule +
                             "\nmpirun noticed that process rank 1 with PID 0 on node vm exited on signal 9 "
                             "(Killed).\n" +
                             kRule + "\n";

// All of what is passed on, given in pieces of so many bytes.
std::string PassedOn(Words& words, const std::string& text, size_t piece) {
  std::string out;
  for (size_t at = 0; at < text.size(); at += piece) out += words.Take(text.substr(at, piece));
  return out + words.End();
}

TEST(WordsTest, HoldsBackHowProcessesEnded) {
  const std::string lost = "weft-run: rank 1 is lost: its process 7 has ended\n";
  for (size_t piece : {1, 7, 10000}) {
    Words words;
    EXPECT_EQ(PassedOn(words, "train: 2 ranks\n" + kPrimary + lost + kNoticed, piece), "train: 2 ranks\n" + lost);
    EXPECT_TRUE(words.told());
    EXPECT_EQ(words.Lost(), "");
  }
}

TEST(WordsTest, TellsOfALossThatNobodyToldOf) {
  Words words;
  EXPECT_EQ(PassedOn(words, kPrimary + kNoticed, 50), "");
  EXPECT_EQ(words.Lost().find("rank 1 is lost: its process has ended by signal 9; "), 0u);
}

// Another rank's error names nobody; and mpirun breaks its lines where it likes.
TEST(WordsTest, TellsOfALossBesideAnError) {
  Words words;
  const std::string error = "weft-run: mpi: starting: no peer\n";
  const std::string noticed =
      kRule + "\nmpirun noticed that process\nrank 3 with PID 7 on\nnode there exited\non signal 9 (Killed).\n" +
      kRule + "\n";
  EXPECT_EQ(PassedOn(words, error + noticed, 50), error);
  EXPECT_TRUE(words.told());
  EXPECT_EQ(words.Lost(), "rank 3 is lost: its process has ended by signal 9");
}

// What another run may not meet.
TEST(WordsTest, KnowsWhatSaysThatOneIsMissed) {
  for (const char* missed :
       {"rank 3 is lost: its process 7 has ended", "ranks 2, 3 are lost: nothing was heard of host b for 5 s",
        "nothing has moved for 3 s: rank 2 is stopped", "all_gather #86; rank 3 has not come within 600 s"}) {
    for (const std::string program : {"weft-run: ", "weft-generate: "}) {
      Words words;
      words.Take("step 3\n" + program + missed + "\n" + program + "rank 0 has left\n");
      EXPECT_EQ(words.TooFew(), missed);
    }
  }
  Words words;
  words.Take(
      "weft-run: step 2: loss: expected a finite number, got nan\nrestarted after step 4, as rank 3 is lost: so\n");
  EXPECT_TRUE(words.told());
  EXPECT_EQ(words.TooFew(), "");
}

TEST(WordsTest, KnowsTheHostThatIsLost) {
  Words told;
  told.Take("weft-run: ranks 2, 3 are lost: nothing was heard of host node02.far for 5 s; rank 2 was last in actor\n");
  EXPECT_EQ(told.LostHost(), "node02.far");
  Words noticed;
  const std::string daemon =
      kRule +
      "\nORTE has lost communication with a remote daemon.\n\n  HNP daemon   : [[9831,0],0] on node a\n"
      "  Remote daemon: [[9831,0],1] on node b\n\nThis is usually due to either a failure\n" +
      kRule + "\n";
  EXPECT_EQ(PassedOn(noticed, daemon, 10), daemon);
  EXPECT_EQ(noticed.LostHost(), "b");
  Words rank;
  rank.Take("weft-run: rank 3 is lost: its process 7 has ended\n");
  EXPECT_EQ(rank.LostHost(), "");
}

TEST(WordsTest, KnowsWhatSrunSays) {
  Words killed;
  const std::string text =
      "srun: error: node2: task 3: Killed\nsrun: error: node1: tasks 0-1: Terminated\nsrun: Terminating StepId=7.0\n";
  EXPECT_EQ(PassedOn(killed, text, 10), text);
  EXPECT_EQ(killed.Lost().find("rank 3 is lost: its process has ended (Killed); "), 0u) << killed.Lost();
  EXPECT_EQ(killed.LostHost(), "");
  // The others are ended because of it.
  Words error;
  error.Take("srun: error: node1: task 1: Exited with exit code 1\nsrun: error: node1: task 0: Killed\n");
  EXPECT_EQ(error.Lost(), "");
  Words node;
  node.Take("srun: error: Node failure on node2\n");
  EXPECT_EQ(node.LostHost(), "node2");
}

TEST(WordsTest, PassesOnWhatElseMpirunSays) {
  const std::string slots = kRule + "\nThere are not enough slots available in the system\n" + kRule + "\n";
  const std::string open = kRule + "\nmpirun noticed that process rank 1";
  Words words;
  EXPECT_EQ(PassedOn(words, slots + "-----\n" + open, 3), slots + "-----\n" + open);
  EXPECT_EQ(words.Lost(), "");
}

TEST(WordsTest, PassesOnALineThatIsRewritten) {
  Words words;
  EXPECT_EQ(words.Take("\rstep 1"), "\rstep 1");
  EXPECT_EQ(words.Take("\rstep 2"), "\rstep 2");
}

TEST(WordsTest, ARankMaySpeakInTheMiddleOfAParagraph) {
  Words words;
  const std::string half = kPrimary.substr(0, kRule.size() + 1), rest = kPrimary.substr(half.size());
  EXPECT_EQ(PassedOn(words, half + "weft-run: data: short\n" + rest, 1000), "weft-run: data: short\n");
}

}  // namespace
}  // namespace weft::launch
