#include "tools/run/record.h"

#include <google/protobuf/text_format.h>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace weft::run {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr char kJob[] = R"(
    model { file: "models/gpt2.mlir" graph: "train" set: ["heads=4", "seq=64"] }
    batch { global: 8 micro: 4 } optimizer { adamw { lr: 1e-3 weight_decay: 0.1 } clip_norm: 1 }
    dist { data: 2 tensor: 1 } data { order: SHUFFLED } seed: 1)";

// A plan for one rank.
plan::Plan SmallPlan() {
  plan::Plan plan;
  plan.add_placements()->add_ranks(0);
  plan.add_stages();
  return plan;
}

// The record of a job, in which the text `from` is replaced.
Record Of(const std::string& from = "", const std::string& to = "") {
  std::string text = kJob;
  if (!from.empty()) text.replace(text.find(from), from.size(), to);
  plan::Plan plan = SmallPlan();
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, plan.mutable_header()->mutable_job())) << text;
  Record record = RecordOf(plan);
  record["data"] = "corpus.txt";
  record["data_form"] = "text";
  record["data_hash"] = "12";
  return record;
}

TEST(RecordTest, HoldsWhatIsRun) {
  plan::Plan plan = SmallPlan();
  plan.mutable_header()->set_hash(0xab);
  plan.mutable_header()->mutable_job()->mutable_batch()->set_global(8);
  const Record record = RecordOf(plan);
  EXPECT_EQ(record.at("plan"), "00000000000000ab");
  EXPECT_EQ(record.at("ranks"), "1 rank");
  EXPECT_EQ(record.at("job"), "batch { global: 8 }");
  for (const char* key : {"weft", "host", "date"}) EXPECT_NE(record.at(key), "") << key;
}

TEST(RecordTest, TheSameRunHasNoChanges) {
  const Changes changes = Compare(Of(), Of());
  EXPECT_THAT(changes.meaning, IsEmpty());
  EXPECT_THAT(changes.course, IsEmpty());
}

// What the numbers of the state mean.
TEST(RecordTest, AnotherMeaning) {
  const auto meaning = [](const std::string& from, const std::string& to) {
    const Changes changes = Compare(Of(), Of(from, to));
    EXPECT_THAT(changes.course, IsEmpty()) << to;
    return changes.meaning;
  };
  EXPECT_THAT(meaning("heads=4", "heads=2"), ElementsAre("model.set heads 4 -> 2"));
  EXPECT_THAT(meaning(R"(, "seq=64")", ""), ElementsAre("model.set seq 64 -> none"));
  EXPECT_THAT(meaning("gpt2.mlir", "other.mlir"), ElementsAre(R"(model.file "gpt2.mlir" -> "other.mlir")"));
  EXPECT_THAT(meaning("adamw { lr: 1e-3 weight_decay: 0.1 }", "adam { lr: 2e-3 }"),
              ElementsAre("optimizer rule adamw -> adam"));
  EXPECT_THAT(meaning("adamw { lr: 1e-3 weight_decay: 0.1 }", "sgd { lr: 1e-3 momentum: 0.9 }"),
              ElementsAre("optimizer rule adamw -> sgd with momentum"));
  Record now = Of();
  now["data_form"] = "uint16";
  EXPECT_THAT(Compare(Of(), now).meaning, ElementsAre("form of the data text -> uint16"));
}

// What the run does from here on.
TEST(RecordTest, AnotherCourse) {
  const auto course = [](const std::string& from, const std::string& to) {
    const Changes changes = Compare(Of(), Of(from, to));
    EXPECT_THAT(changes.meaning, IsEmpty()) << to;
    return changes.course;
  };
  EXPECT_THAT(course("lr: 1e-3", "lr: 3e-3"), ElementsAre("optimizer.adamw.lr 0.001 -> 0.003"));
  EXPECT_THAT(course("global: 8 micro: 4", "global: 16 micro: 16"),
              ElementsAre("batch.global 8 -> 16", "batch.micro 4 -> 16"));
  EXPECT_THAT(course("order: SHUFFLED", "order: SEQUENTIAL"), ElementsAre("data.order SHUFFLED -> SEQUENTIAL"));
  EXPECT_THAT(course("seed: 1", "seed: 1 precision { compute: BF16 float32: TF32 residual: F32 }"),
              ElementsAre("precision.compute F32 -> BF16", "precision.float32 IEEE -> TF32"));
  EXPECT_THAT(course("clip_norm: 1", "schedule { warmup_linear { warmup: 2 } }"),
              ElementsAre("optimizer.clip_norm 1 -> none", "optimizer.schedule.warmup_linear.warmup none -> 2"));
}

TEST(RecordTest, OtherData) {
  Record now = Of();
  now["data_hash"] = "13";
  EXPECT_TRUE(Compare(Of(), now).other_data);
  EXPECT_THAT(Compare(Of(), now).course, IsEmpty());
  now["data_tokens"] = "9000";
  EXPECT_EQ(DataText(now), "corpus.txt (9,000 tokens, text, hash 13)");
}

// Neither the layout nor the place of a file has a say in the numbers.
TEST(RecordTest, NoChange) {
  for (const auto& [from, to] : {std::pair("data: 2 tensor: 1", "data: 1 tensor: 4"),
                                 {"seed: 1", "seed: 2"},
                                 {"models/gpt2.mlir", "/elsewhere/gpt2.mlir"},
                                 {"seed: 1", "zero { stage: 3 }"}}) {
    const Changes changes = Compare(Of(), Of(from, to));
    EXPECT_THAT(changes.meaning, IsEmpty()) << to;
    EXPECT_THAT(changes.course, IsEmpty()) << to;
  }
  Record now = Of();
  now["data"] = "/elsewhere/corpus.txt";
  EXPECT_FALSE(Compare(Of(), now).other_data);
  // What an older or newer version says is compared as far as both say it.
  now.erase("data_hash");
  now["job"] = "batch { global: 8 } what_is_this: 4";
  EXPECT_THAT(Compare({{"job", "no job"}, {"more", "1"}}, now).course, IsEmpty());
  EXPECT_FALSE(Compare(Of(), now).other_data);
}

}  // namespace
}  // namespace weft::run
