// What each rank of a plan asks of NCCL, on 2 to 64 ranks: all members of a
// communicator ask the same in the same order, and no order of meetings hangs.
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cuda/nccl_record.h"
#include "tests/support/trainer.h"

namespace weft::tests {
namespace {

using Overrides = std::vector<std::string>;
using testing::HasSubstr;

constexpr char kCluster[] = "clusters/8xh200.cluster";

absl::StatusOr<NcclRecord> Recorded(const std::string& job, Overrides overrides) {
  const auto plan = CompileJob(job, overrides, kCluster);
  if (!plan.ok()) return plan.status();
  return RecordNccl(*plan);
}

NcclRecord Tiny(const Overrides& layout) {
  Overrides all = {"batch={global: 32 micro: 8}", "model.set=layers=8"};
  all.insert(all.end(), layout.begin(), layout.end());
  auto record = Recorded("models/gpt2/tiny.job", all);
  EXPECT_TRUE(record.ok()) << record.status();
  return record.ok() ? *std::move(record) : NcclRecord();
}

void ExpectSound(const NcclRecord& record) {
  EXPECT_GT(record.launches(), 0);
  const absl::Status meets = CheckCallsMeet(record);
  EXPECT_TRUE(meets.ok()) << meets;
  const absl::Status ends = CheckNoDeadlock(record);
  EXPECT_TRUE(ends.ok()) << ends;
}

struct Case {
  std::string name;
  size_t ranks;
  Overrides layout;
};

class NcclOrderTest : public testing::TestWithParam<Case> {};

TEST_P(NcclOrderTest, CallsMeetAndEnd) {
  const NcclRecord record = Tiny(GetParam().layout);
  EXPECT_EQ(record.ranks.size(), GetParam().ranks);
  ExpectSound(record);
}

INSTANTIATE_TEST_SUITE_P(
    Tiny, NcclOrderTest,
    testing::ValuesIn(std::vector<Case>{
        {"data2", 2, {"dist.data=2"}},
        {"data8", 8, {"dist.data=8"}},
        {"tensor4", 4, {"dist.tensor=4"}},
        {"zero1", 4, {"dist.data=4", "zero.stage=1"}},
        {"zero2", 4, {"dist.data=4", "zero.stage=2"}},
        {"zero3", 4, {"dist.data=4", "zero.stage=3"}},
        {"gpipe", 4, {"dist.pipeline=4", "pipeline.schedule=GPIPE"}},
        {"one_f_one_b", 8, {"dist.data=2", "dist.pipeline=4", "pipeline.schedule=ONE_F_ONE_B"}},
        {"interleaved", 4, {"dist.pipeline=4", "pipeline.schedule=INTERLEAVED", "pipeline.chunks=2"}},
        {"zero_bubble", 4, {"dist.pipeline=4", "pipeline.schedule=ZERO_BUBBLE"}},
        {"zero_bubble_v",
         4,
         {"dist.pipeline=4", "pipeline.schedule=ZERO_BUBBLE", "pipeline.chunks=2", "pipeline.form=V"}},
        {"cube2", 8, {"dist.data=2", "dist.tensor=2", "dist.pipeline=2"}},
        {"cube2_zero3", 8, {"dist.data=2", "dist.tensor=2", "dist.pipeline=2", "zero.stage=3"}},
        {"cube4", 64, {"dist.data=4", "dist.tensor=4", "dist.pipeline=4"}},
    }),
    [](const testing::TestParamInfo<Case>& info) { return info.param.name; });

TEST(NcclOrderOf124MTest, CallsMeetAndEnd) {
  const auto record = Recorded("models/gpt2/124m.job", {"dist.data=2", "dist.tensor=2", "dist.pipeline=2"});
  ASSERT_TRUE(record.ok()) << record.status();
  ExpectSound(*record);
}

// The acts of a stream that use a communicator, by place.
std::vector<size_t> ActsWithCalls(const std::vector<NcclAct>& stream) {
  std::vector<size_t> places;
  for (size_t i = 0; i < stream.size(); ++i) {
    if (!stream[i].launches.empty()) places.push_back(i);
  }
  return places;
}

// One rank changes two neighbours.
TEST(NcclOrderFindsTest, AnotherOrderOnOneRank) {
  const NcclRecord sound = Tiny({"dist.data=2", "dist.tensor=2", "dist.pipeline=2"});
  int tried = 0;
  for (size_t s = 0; s < sound.ranks[5].streams.size(); ++s) {
    const std::vector<size_t> places = ActsWithCalls(sound.ranks[5].streams[s]);
    for (size_t i = 0; i + 1 < places.size(); ++i) {
      const NcclAct &a = sound.ranks[5].streams[s][places[i]], &b = sound.ranks[5].streams[s][places[i + 1]];
      // Of two communicators with other members each the order may not matter.
      if (a.launches[0].comm != b.launches[0].comm) continue;
      if (nccl::TextOf(a.launches[0].calls) == nccl::TextOf(b.launches[0].calls)) continue;
      NcclRecord changed = sound;
      std::swap(changed.ranks[5].streams[s][places[i]].launches, changed.ranks[5].streams[s][places[i + 1]].launches);
      EXPECT_FALSE(CheckCallsMeet(changed).ok()) << s << " " << i;
      ++tried;
    }
  }
  EXPECT_GT(tried, 0);
}

TEST(NcclOrderFindsTest, ACallThatIsLeftOutOrOfAnotherCount) {
  const NcclRecord sound = Tiny({"dist.data=2"});
  for (const bool leave_out : {true, false}) {
    NcclRecord changed = sound;
    for (auto& acts : changed.ranks[1].streams) {
      const std::vector<size_t> places = ActsWithCalls(acts);
      if (places.empty()) continue;
      if (leave_out) {
        acts[places.back()].launches.clear();
      } else {
        ++acts[places.back()].launches[0].calls[0].count;
      }
    }
    EXPECT_THAT(std::string(CheckCallsMeet(changed).message()), HasSubstr("group data[0]"));
    EXPECT_EQ(CheckNoDeadlock(changed).ok(), !leave_out);
  }
}

// Two ranks and two communicators on one stream, in opposite orders: every
// communicator by itself is in order.
TEST(NcclOrderFindsTest, ACycleAcrossCommunicators) {
  NcclRecord record;
  record.comms = {{.title = "group a", .ranks = {0, 1}}, {.title = "group b", .ranks = {0, 1}}};
  for (int r = 0; r < 2; ++r) {
    NcclRank rank{.rank = r};
    rank.spec.actors = {{.name = "first"}, {.name = "second"}};
    rank.spec.streams = {{.name = "compute"}};
    rank.conditions.resize(2);
    const nccl::CallGroup calls = {{.kind = nccl::CallKind::kAllReduce, .count = 4, .type = 7}};
    for (int a = 0; a < 2; ++a) {
      NcclAct act{.actor = a};
      act.launches.push_back({.comm = a == r ? 0 : 1, .member = r, .calls = calls});
      if (rank.streams.empty()) rank.streams.emplace_back();
      rank.streams[0].push_back(act);
    }
    record.ranks.push_back(std::move(rank));
  }
  EXPECT_TRUE(CheckCallsMeet(record).ok());
  EXPECT_EQ(CheckNoDeadlock(record).message(),
            "rank 0, stream compute: actor `first`, micro-batch 0 at group a\n"
            "rank 1, stream compute: actor `first`, micro-batch 0 at group b");
}

}  // namespace
}  // namespace weft::tests
