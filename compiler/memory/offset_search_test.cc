#include "compiler/memory/offset_search.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "compiler/memory/eviction.h"
#include "compiler/memory/plan_memory.h"
#include "gtest/gtest.h"

namespace weft::compiler {
namespace {

// One rank; a kernel each line, which reads and writes f32[16] buffers by their places: 64 bytes each.
plan::Plan PlanOf(int buffers, const std::vector<std::pair<std::vector<int>, std::vector<int>>>& kernels,
                  int64_t elements = 16) {
  plan::Plan plan;
  plan.mutable_header()->set_micro_batches(1);
  plan::Placement& placement = *plan.add_placements();
  placement.set_device("cpu");
  placement.add_ranks(0);
  plan::Stage& stage = *plan.add_stages();
  for (int b = 0; b < buffers; ++b) {
    plan::Buffer& buffer = *stage.add_buffers();
    buffer.set_name("b" + std::to_string(b));
    buffer.set_kind(plan::Buffer::ACTIVATION);
    buffer.set_dtype(plan::F32);
    buffer.add_shape(elements);
    buffer.set_slots(1);
  }
  plan::Stream& stream = *stage.add_streams();
  stream.set_kind(plan::Stream::COMPUTE);
  stream.set_name("compute");
  plan::Run& run = *stream.add_runs();
  run.set_repeat(1);
  run.add_actors(0);
  plan::Actor& actor = *stage.add_actors();
  actor.set_name("graph.forward");
  actor.set_section(plan::Actor::MICRO);
  for (const auto& [reads, writes] : kernels) {
    plan::Kernel& kernel = *actor.add_kernels();
    kernel.set_name("k");
    for (int b : reads) kernel.add_inputs(b);
    for (int b : writes) kernel.add_outputs(b);
  }
  return plan;
}

// Buffers whose lives do not meet share bytes, so the arena is what lives at once: a and b, b and c, c and d.
TEST(PlanMemoryTest, SharesWhatNeverLivesAtOneTime) {
  plan::Plan plan = PlanOf(4, {{{}, {0}}, {{0}, {1}}, {{1}, {2}}, {{2}, {3}}, {{3}, {}}});
  ASSERT_TRUE(PlanMemory({}, &plan).ok());
  const plan::Stage& stage = plan.stages(0);
  EXPECT_EQ(stage.arena_bytes(), 128);
  EXPECT_EQ(stage.lower_bound_bytes(), 128);
  EXPECT_EQ(stage.buffers(0).offset(), stage.buffers(2).offset());
  EXPECT_NE(stage.buffers(0).offset(), stage.buffers(1).offset());
}

// Parameters live always, and so does what nobody touches.
TEST(PlanMemoryTest, KeepsStateApart) {
  plan::Plan plan = PlanOf(4, {{{0}, {1}}, {{1}, {2}}, {{2}, {}}});
  plan.mutable_stages(0)->mutable_buffers(0)->set_kind(plan::Buffer::PARAMETER);
  ASSERT_TRUE(PlanMemory({}, &plan).ok());
  EXPECT_EQ(plan.stages(0).arena_bytes(), 256);
}

// A view lengthens the life of its root, and has its place.
TEST(PlanMemoryTest, KeepsWhatAViewReads) {
  plan::Plan plan = PlanOf(4, {{{}, {0}}, {{}, {2}}, {{1, 2}, {}}, {{}, {3}}});
  plan.mutable_stages(0)->mutable_buffers(1)->set_alias_of(1);
  ASSERT_TRUE(PlanMemory({}, &plan).ok());
  const plan::Stage& stage = plan.stages(0);
  EXPECT_EQ(stage.arena_bytes(), 128);
  EXPECT_EQ(stage.buffers(1).offset(), stage.buffers(0).offset());
  EXPECT_NE(stage.buffers(2).offset(), stage.buffers(0).offset());
}

// The blocks of one micro-batch that runs this plan's only actor.
class OneAct {
 public:
  explicit OneAct(plan::Plan plan) : plan_(std::move(plan)), program_(plan::ProgramOf(plan_, 0)) {
    plan::Orders orders(program_);
    const std::vector<int32_t> before(1, 0);
    orders.Add({0, 0, 0, 0, 0, before});
    blocks_ = std::make_unique<Blocks>(program_, orders, program_.slots, /*together=*/program_.slots);
  }

  const Blocks& blocks() const { return *blocks_; }
  // Those that conflict lie apart.
  void Check(const std::vector<int64_t>& offsets) const {
    for (int32_t a = 0; a < blocks_->size(); ++a) {
      for (int32_t b = 0; b < a; ++b) {
        const int64_t x = offsets[a], y = offsets[b];
        EXPECT_TRUE(!blocks_->Conflict(a, b) || x + (*blocks_)[a].bytes <= y || y + (*blocks_)[b].bytes <= x)
            << a << ", " << b;
      }
    }
  }

 private:
  const plan::Plan plan_;
  const plan::Program program_;
  std::unique_ptr<Blocks> blocks_;
};

// The search ends where its aim is a few bytes away, or nothing can be moved.
TEST(OffsetSearchTest, SearchesForTheLastByte) {
  const OneAct act(PlanOf(5, {{{}, {0, 1}}, {{0}, {2}}, {{1, 2}, {3}}, {{3}, {4}}, {{4}, {}}}));
  for (int64_t below : {1, 2, 3, 64}) {
    OffsetSearch search(act.blocks());
    search.Start(0);
    const int64_t arena = search.arena();
    search.Search(arena - below, 100'000, 0);
    EXPECT_LE(search.arena(), arena);
    act.Check(search.offsets());
  }
}

// a and b, b and c, c and d live together, and lie one above the other: half of the bytes is enough.
TEST(EvictionTest, FindsPlacesBelowALine) {
  const OneAct act(PlanOf(4, {{{}, {0}}, {{0}, {1}}, {{1}, {2}}, {{2}, {3}}, {{3}, {}}}));
  Eviction eviction(act.blocks(), {0, 64, 128, 192}, 0);
  int64_t effort = 10'000;
  ASSERT_TRUE(eviction.Fit(128, &effort));
  act.Check(eviction.offsets());
  for (int64_t offset : eviction.offsets()) EXPECT_LE(offset, 64);
}

TEST(EvictionTest, EndsWithItsEffort) {
  const OneAct act(PlanOf(3, {{{}, {0, 1, 2}}, {{0, 1, 2}, {}}}));
  Eviction eviction(act.blocks(), {0, 64, 128}, 0);
  int64_t effort = 10'000;
  EXPECT_FALSE(eviction.Fit(128, &effort));
  EXPECT_LE(effort, 0);
}

}  // namespace
}  // namespace weft::compiler
