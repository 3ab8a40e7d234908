#include "runtime/trace/metrics.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "gtest/gtest.h"
#include "runtime/trace/progress.h"

namespace weft::trace {
namespace {

std::string TempPath(const std::string& name) { return std::string(std::getenv("TEST_TMPDIR")) + "/" + name; }

std::string Contents(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string Line(int64_t step, int64_t tokens) { return ToJson({.step = step, .tokens = tokens}) + "\n"; }

TEST(MetricsTest, FloatsSurviveTheRoundTrip) {
  StepMetrics metrics;
  metrics.step = 3;
  metrics.loss = 0.1f + 0.2f;
  metrics.grad_norm = std::nextafterf(1.0f, 2.0f);
  metrics.lr = 6e-4f;
  const nlohmann::json json = nlohmann::json::parse(ToJson(metrics));
  EXPECT_EQ(json["step"], 3);
  EXPECT_EQ(static_cast<float>(json["loss"].get<double>()), 0.1f + 0.2f);
  EXPECT_EQ(static_cast<float>(json["grad_norm"].get<double>()), std::nextafterf(1.0f, 2.0f));
  EXPECT_EQ(static_cast<float>(json["lr"].get<double>()), 6e-4f);
}

TEST(MetricsTest, AnEvaluationIsOneLine) {
  const nlohmann::json json =
      nlohmann::json::parse(ToJson(EvaluationMetrics{7, {{"a \"name\"", 0.25}, {"loss", NAN}}}));
  EXPECT_EQ(json["samples"], 7);
  EXPECT_EQ(json["means"]["a \"name\""], 0.25);
  EXPECT_TRUE(json["means"]["loss"].is_null());
}

TEST(MetricsTest, AnEvaluationBehindAStepIsOnItsLine) {
  StepMetrics metrics{.step = 4, .evaluation = {{"loss", 0.1}, {"accuracy", NAN}}};
  metrics.of_model = {{"loss_of_words", 2.0f}};
  const nlohmann::json json = nlohmann::json::parse(ToJson(metrics));
  EXPECT_TRUE(json["loss"].is_null());
  EXPECT_EQ(json["eval_loss"], 0.1);
  EXPECT_TRUE(json["eval_accuracy"].is_null());
  EXPECT_EQ(ProgressLine(metrics, 9, -1),
            "step 4/9  loss_of_words 2  eval_loss 0.1  eval_accuracy nan  0 tokens/s  0.0 GFLOP/s  0 MiB");
}

TEST(MetricsTest, TheLineOfAnEvaluationIsShownAndStays) {
  for (const bool terminal : {false, true}) {
    std::FILE* const file = std::tmpfile();
    {
      Progress progress(file, terminal, 0, 9);
      for (int64_t step = 1; step <= 6; ++step) {
        StepMetrics metrics{.step = step};
        if (step == 5) metrics.evaluation = {{"loss", 0.5}};
        progress.Show(metrics, 1e-3 * static_cast<double>(step));
      }
    }
    std::string text(std::ftell(file), '\0');
    std::rewind(file);
    ASSERT_EQ(std::fread(text.data(), 1, text.size(), file), text.size());
    std::fclose(file);
    EXPECT_NE(text.find("step 5/9  eval_loss 0.5  "), std::string::npos) << text;
    EXPECT_EQ(text.find("step 6/9"), std::string::npos) << text;  // too soon
    EXPECT_EQ(text.back(), '\n');
  }
}

// To wait for a reader would be to wait for ever.
TEST(MetricsTest, APipeThatNobodyReadsIsRefused) {
  const std::string path = TempPath("pipe");
  ASSERT_EQ(mkfifo(path.c_str(), 0666), 0);
  for (int64_t first_step : {0, 3}) {
    const auto writer = MetricsWriter::Open(path, first_step, {});
    EXPECT_EQ(writer.status().message(),
              path + ": metrics cannot be written: expected a pipe that somebody reads, found no reader");
  }
  const int reader = open(path.c_str(), O_RDONLY | O_NONBLOCK);
  const auto writer = MetricsWriter::Open(path, 0, {});
  ASSERT_TRUE(writer.ok()) << writer.status();
  EXPECT_TRUE((*writer)->Write(StepMetrics{}).ok());
  char first = 0;
  EXPECT_EQ(read(reader, &first, 1), 1);
  EXPECT_EQ(first, '{');
  close(reader);
}

TEST(MetricsTest, AbsentAndInfiniteAreNull) {
  StepMetrics metrics;
  metrics.grad_norm = std::numeric_limits<float>::infinity();
  const nlohmann::json json = nlohmann::json::parse(ToJson(metrics));
  for (const char* key : {"loss", "grad_norm", "lr", "mfu"}) EXPECT_TRUE(json[key].is_null()) << key;
  for (const char* key : {"step", "tokens", "tokens_per_s", "tflops", "memory_bytes"}) {
    EXPECT_TRUE(json[key].is_number()) << key;
  }
}

TEST(MetricsTest, LossScaleWhereThereIsOne) {
  EXPECT_FALSE(nlohmann::json::parse(ToJson(StepMetrics{})).contains("loss_scale"));
  StepMetrics metrics{.step = 1};
  metrics.loss_scale = 32768;
  metrics.skipped_steps = 0;
  const nlohmann::json json = nlohmann::json::parse(ToJson(metrics));
  EXPECT_EQ(json["loss_scale"], 32768);
  EXPECT_EQ(json["skipped_steps"], 0);
  EXPECT_EQ(ProgressLine(metrics, 9, -1), "step 1/9  scale 32768  0 tokens/s  0.0 GFLOP/s  0 MiB");
  metrics.skipped_steps = 2;
  EXPECT_EQ(ProgressLine(metrics, 9, -1), "step 1/9  scale 32768  2 skipped  0 tokens/s  0.0 GFLOP/s  0 MiB");
}

TEST(MetricsTest, ResumingKeepsWhatHappened) {
  const std::string path = TempPath("happened.jsonl");
  EXPECT_EQ(LastStep(path), std::nullopt);
  const Restart first{.step = 2, .again = 1, .reason = "rank 1 is \"lost\""}, second{.step = 2, .reason = "so"};
  const std::string run = R"({"run":{}})"
                          "\n";
  EXPECT_EQ(ToJson(first), R"({"restart":{"step":2,"again":1,"reason":"rank 1 is \"lost\""}})");
  EXPECT_EQ(ToJson(second), R"({"restart":{"step":2,"again":null,"reason":"so"}})");
  const SavedCheckpoint two{.step = 2, .stood_s = 0.25, .write_s = 0.5}, three{.step = 3, .stood_s = 1, .write_s = 1};
  EXPECT_EQ(ToJson(two), R"({"checkpoint":{"step":2,"stood_s":0.25,"write_s":0.5}})");
  const TakenSnapshot kept{.step = 1, .bytes = 64, .stood_s = 0.5, .write_s = 1}, lost{.step = 3};
  EXPECT_EQ(ToJson(kept), R"({"snapshot":{"step":1,"bytes":64,"stood_s":0.5,"write_s":1}})");
  {
    auto writer = MetricsWriter::Open(path, 0, {});
    for (int step = 1; step <= 3; ++step) ASSERT_TRUE((*writer)->Write(StepMetrics{.step = step}).ok());
    ASSERT_TRUE((*writer)->Write(two).ok());
    ASSERT_TRUE((*writer)->Write(kept).ok());
    ASSERT_TRUE((*writer)->Write(lost).ok());
    ASSERT_TRUE((*writer)->Write(three).ok());  // which is damaged, so that step 2 is the last
  }
  EXPECT_EQ(LastStep(path), 3);
  const std::string before = run + Line(1, 0) + Line(2, 0) + ToJson(two) + "\n" + ToJson(kept) + "\n";
  for (const Restart& restart : {first, second}) {  // the first one does no step
    auto writer = MetricsWriter::Open(path, 2, {});
    ASSERT_TRUE((*writer)->Write(restart).ok());
  }
  EXPECT_EQ(Contents(path), before + ToJson(first) + "\n" + run + ToJson(second) + "\n");
}

TEST(MetricsTest, ResumingDropsTheLinesThatComeAgain) {
  const std::string path = TempPath("metrics.jsonl");
  {
    auto writer = MetricsWriter::Open(path, 0, {{"weft", "1"}, {"data", "a \"b\""}});
    ASSERT_TRUE(writer.ok());
    for (int step = 1; step <= 4; ++step) ASSERT_TRUE((*writer)->Write(StepMetrics{.step = step, .tokens = 1}).ok());
  }
  {
    auto writer = MetricsWriter::Open(path, 2, {{"weft", "2"}});
    ASSERT_TRUE(writer.ok());
    ASSERT_TRUE((*writer)->Write(StepMetrics{.step = 3, .tokens = 5}).ok());
  }
  const std::string expected = R"({"run":{"data":"a \"b\"","weft":"1"}})"
                               "\n" +
                               Line(1, 1) + Line(2, 1) +
                               R"({"run":{"weft":"2"}})"
                               "\n" +
                               Line(3, 5);
  EXPECT_EQ(Contents(path), expected);
  {  // a run of which no step is left has no line either
    auto writer = MetricsWriter::Open(path, 2, {{"weft", "3"}});
    ASSERT_TRUE(writer.ok());
    ASSERT_TRUE((*writer)->Write(StepMetrics{.step = 3, .tokens = 6}).ok());
  }
  EXPECT_EQ(Contents(path), R"({"run":{"data":"a \"b\"","weft":"1"}})"
                            "\n" +
                                Line(1, 1) + Line(2, 1) +
                                R"({"run":{"weft":"3"}})"
                                "\n" +
                                Line(3, 6));
}

TEST(MetricsTest, ResumingKeepsWhatWasSeenOfRanksBefore) {
  const SlowRank early{.step = 1, .rank = 12, .host = "b", .times = 1.5, .since = 1, .actor = "h.7", .actor_times = 2};
  const SlowRank late{.step = 3, .rank = 12};
  EXPECT_EQ(ToJson(early),
            R"({"slow_rank":{"step":1,"rank":12,"host":"b","times":1.5,"since":1,"actor":"h.7","actor_times":2}})");
  const ComparedReplicas equal{.step = 2}, different{.step = 3, .difference = "`w`"};
  EXPECT_EQ(ToJson(equal), R"({"replicas":{"step":2,"equal":true}})");
  EXPECT_EQ(ToJson(different), R"({"replicas":{"step":3,"equal":false,"difference":"`w`"}})");
  const std::string path = TempPath("ranks.jsonl"), run = "{\"run\":{}}\n";
  std::ofstream(path) << run << Line(1, 1) << ToJson(early) << "\n"
                      << Line(2, 1) << ToJson(equal) << "\n"
                      << Line(3, 1) << ToJson(late) << "\n"
                      << ToJson(different) << "\n";
  auto writer = MetricsWriter::Open(path, 2, {});
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE((*writer)->Write(StepMetrics{.step = 3, .tokens = 5}).ok());
  EXPECT_EQ(Contents(path),
            run + Line(1, 1) + ToJson(early) + "\n" + Line(2, 1) + ToJson(equal) + "\n" + run + Line(3, 5));
}

TEST(MetricsTest, TheFileStaysUntilTheFirstLine) {
  const std::string path = TempPath("stays.jsonl"), expected = Line(1, 1);
  std::ofstream(path) << expected;
  ASSERT_TRUE(MetricsWriter::Open(path, 0, {}).ok());
  EXPECT_EQ(Contents(path), expected);
  EXPECT_FALSE(std::ifstream(path + ".partial").is_open());
}

// A file from before there were lines of runs counts its steps from 0.
TEST(MetricsTest, ResumingCountsOlderLinesAnew) {
  const std::string path = TempPath("older.jsonl");
  std::ofstream(path) << Line(0, 1) << Line(1, 2) << Line(2, 3) << Line(3, 4).substr(0, 20) << "\n";
  for (int time = 0; time < 2; ++time) {  // the second time it is a file of this version
    auto writer = MetricsWriter::Open(path, 2, {});
    ASSERT_TRUE(writer.ok());
    ASSERT_TRUE((*writer)->Write(StepMetrics{.step = 3, .tokens = 5}).ok());
    const std::string run = "{\"run\":{}}\n";
    EXPECT_EQ(Contents(path), run + Line(1, 1) + Line(2, 2) + run + Line(3, 5)) << time;
  }
}

TEST(MetricsTest, NamesAFileThatCannotBeWritten) {
  auto writer = MetricsWriter::Open("/nonexistent/metrics.jsonl", 0, {});
  EXPECT_TRUE(absl::IsInvalidArgument(writer.status())) << writer.status();
  EXPECT_NE(std::string(writer.status().message()).find("/nonexistent/metrics.jsonl"), std::string::npos);
}

TEST(ProgressTest, SaysWhatIsKnown) {
  StepMetrics metrics{.step = 12, .loss = 5.43211f, .lr = 6e-4f, .tokens_per_s = 12345, .tflops = 0.0456};
  metrics.memory_bytes = 123 << 20;
  EXPECT_EQ(ProgressLine(metrics, 200, 42),
            "step  12/200  loss 5.4321  lr 6.00e-04  12345 tokens/s  45.6 GFLOP/s  123 MiB  0:42 left");
  metrics.loss.reset();
  metrics.mfu = 0.311;
  metrics.tflops = 12;
  EXPECT_EQ(ProgressLine(metrics, 200, -1),
            "step  12/200  lr 6.00e-04  12345 tokens/s  12.0 TFLOP/s  31 % of measured peak  123 MiB");
  metrics.mfu_cluster = 0.25;
  metrics.memory_share = 0.0078;
  metrics.grad_norm = 1.23456f;
  EXPECT_EQ(
      ProgressLine(metrics, 200, -1),
      "step  12/200  norm 1.235  lr 6.00e-04  12345 tokens/s  12.0 TFLOP/s  31 % of measured, 25 % of stated peak  "
      "123 MiB (0.8 %)");
  metrics.mfu = metrics.mfu_cluster;  // a GPU's, which is not measured
  EXPECT_NE(ProgressLine(metrics, 200, -1).find("  25 % of stated peak  "), std::string::npos);
  EXPECT_NE(ToJson(metrics).find(R"("mfu":0.25,"mfu_cluster":0.25,"memory_bytes":128974848,"memory_share":0.0078})"),
            std::string::npos)
      << ToJson(metrics);
}

TEST(ProgressTest, ALineAfterEveryFewSteps) {
  for (const bool terminal : {false, true}) {
    std::FILE* out = std::tmpfile();
    {
      Progress progress(out, terminal, 2, 10, /*interval_s=*/2.0, /*every=*/4);
      for (int64_t step = 3; step <= 10; ++step) progress.Show({.step = step}, 100.0 * static_cast<double>(step));
    }
    std::string text(std::ftell(out), '\0');
    std::rewind(out);
    ASSERT_EQ(std::fread(text.data(), 1, text.size(), out), text.size());
    std::fclose(out);
    std::vector<std::string> steps;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) steps.push_back(line.substr(0, 10));
    EXPECT_EQ(steps, (std::vector<std::string>{"step  4/10", "step  8/10", "step 10/10"})) << text;
  }
}

TEST(ProgressTest, PlainOutputHasFewLines) {
  std::FILE* out = std::tmpfile();
  {
    Progress progress(out, /*terminal=*/false, 0, 100, /*interval_s=*/2.0);
    for (int step = 1; step <= 100; ++step) progress.Show({.step = step}, 0.1 * (step - 1));
  }
  const long size = std::ftell(out);
  std::string text(size, ' ');
  std::rewind(out);
  ASSERT_EQ(std::fread(text.data(), 1, size, out), static_cast<size_t>(size));
  std::fclose(out);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3 + 4 + 1);  // the first three, one every 2 s, the last
  EXPECT_NE(text.find("step 100/100"), std::string::npos);
  EXPECT_EQ(text.find('\r'), std::string::npos);
}

}  // namespace
}  // namespace weft::trace
