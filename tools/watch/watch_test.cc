#include <gtest/gtest.h>

#include "tools/watch/course.h"
#include "tools/watch/frame.h"

namespace weft::watch {
namespace {

constexpr char kBegin[] =
    R"x({"run":{"data":"d.txt","host":"vm","plan":"78d2","ranks":"4 ranks (data = 4)","steps":"8"}})x";

std::string Step(int step, const std::string& more) { return "{\"step\":" + std::to_string(step) + "," + more + "}\n"; }

TEST(CourseTest, TakesLinesInPieces) {
  const std::string text = std::string(kBegin) + "\n" + Step(1, R"("loss":3,"tokens":100,"tokens_per_s":50)") +
                           "no metrics\n" + Step(2, R"("loss":2,"tokens":100,"tokens_per_s":200)") +
                           Step(2, R"("eval_loss":2.5)") + "{\"step\":3,\"los";
  Course course;
  for (size_t i = 0; i < text.size(); i += 7) course.Take(text.substr(i, 7));
  EXPECT_EQ(course.step(), 2);
  EXPECT_EQ(course.steps(), 8);
  EXPECT_EQ(course.about().at("host"), "vm");
  ASSERT_NE(course.Find("loss"), nullptr);
  EXPECT_EQ(course.Find("loss")->values, (std::vector<std::pair<int64_t, double>>{{1, 3}, {2, 2}}));
  EXPECT_EQ(course.Find("eval_loss")->values, (std::vector<std::pair<int64_t, double>>{{2, 2.5}}));
  EXPECT_DOUBLE_EQ(course.seconds_left(), 6 * (2 + 0.5) / 2);
  course.Take("s\":1}\n");
  EXPECT_EQ(course.step(), 3);
}

TEST(FrameTest, DrawsACourse) {
  EXPECT_EQ(Sparkline({"loss", {{1, 0}, {2, 4}, {3, 8}}}, 10), "▁▅█");
  EXPECT_EQ(Sparkline({"loss", {{1, 0}, {2, 2}, {3, 7}, {4, 9}}}, 2), "▁█");  // means of two steps
  EXPECT_EQ(Sparkline({"loss", {{1, 5}, {2, 5}}}, 10), "▁▁");
  EXPECT_EQ(Sparkline({"loss", {}}, 10), "");
}

TEST(FrameTest, ShowsARun) {
  Course course;
  course.Take(std::string(kBegin) + "\n");
  EXPECT_EQ(RunFrame("runs/a", course, 0, 80),
            "no step yet  runs/a\n4 ranks (data = 4), on vm, data d.txt, plan 78d2\n");
  course.Take(Step(1, R"("loss":3,"tokens":100,"tokens_per_s":50,"memory_bytes":2097152)") +
              Step(2, R"("loss":2,"tokens":100,"tokens_per_s":2000,"memory_bytes":2097152)"));
  EXPECT_EQ(RunFrame("runs/a", course, 0, 80),
            "step 2/8, 25 %, 0:06 left  runs/a\n"
            "4 ranks (data = 4), on vm, data d.txt, plan 78d2\n"
            "  loss                 2  2 to 3                █▁\n"
            "  tokens_per_s     2,000  50 to 2,000           ▁█\n"
            "  memory_bytes  2.00 MiB  2.00 MiB to 2.00 MiB  ▁▁\n");
  Course slow = course;
  slow.Take(R"({"slow_rank":{"step":2,"rank":3,"host":"b","times":1.432,"since":1}})"
            "\n");
  const std::string with_word = RunFrame("runs/a", slow, 0, 80);
  EXPECT_NE(with_word.find(" left  runs/a\nslow at step 2: rank 3 (host b), 1.43 x\n4 ranks"), std::string::npos)
      << with_word;
  // One that stands still, and has come to nothing.
  course.Take(Step(3, R"("loss":null,"grad_norm":1)"));
  const std::string still = RunFrame("runs/a", course, 75, 40);
  EXPECT_NE(still.find("\nloss is not finite; nothing new for 1:15\n"), std::string::npos) << still;
  EXPECT_NE(still.find("4 ranks (data = 4), on vm, data d.txt...\n"), std::string::npos) << still;
}

TEST(FrameTest, ShowsRunsBesideEachOther) {
  Course a, b;
  a.Take(std::string(kBegin) + "\n" + Step(8, R"("loss":1.5,"tokens_per_s":10)"));
  EXPECT_EQ(RunsFrame({{"a", &a, 1e6}, {"b", &b, 0}}, 100),
            "run  step                   loss  tokens/s  memory  ranks               host\n"
            "a    step 8/8, 100 %, done   1.5        10          4 ranks (data = 4)  vm\n"
            "b    none yet\n");
}

TEST(FrameTest, SpeaksToPrometheus) {
  Course a, b;
  a.Take(Step(1, R"("loss":3,"noisy-size":0.25)") + Step(2, R"("loss":1.5)"));
  b.Take(Step(7, R"("loss":null)"));
  EXPECT_EQ(PrometheusText({{"runs/\"a\"", &a, 0}, {"b", &b, 0}}),
            "# TYPE weft_loss gauge\nweft_loss{run=\"runs/\\\"a\\\"\"} 1.5\n"
            "# TYPE weft_noisy_size gauge\nweft_noisy_size{run=\"runs/\\\"a\\\"\"} 0.25\n"
            "# TYPE weft_step gauge\nweft_step{run=\"runs/\\\"a\\\"\"} 2\nweft_step{run=\"b\"} 7\n");
}

}  // namespace
}  // namespace weft::watch
