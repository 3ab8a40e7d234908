#include "runtime/measure/memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "runtime/measure/largest.h"
#include "runtime/proof/verify.h"
#include "runtime/semantics/execution.h"
#include "runtime/semantics/orders.h"
#include "tests/plans/corpus.h"

namespace weft::plan {
namespace {

Plan Read(const std::string& file) { return ReadCorpusPlan("tests/plans/" + file)->plan; }

std::vector<StageMemory> Measured(const Plan& plan) {
  absl::StatusOr<std::vector<StageMemory>> memory = MeasureMemory(plan);
  EXPECT_TRUE(memory.ok()) << memory.status();
  return *std::move(memory);
}

int64_t At(const StageMemory& memory, Category category) { return memory.at_peak[static_cast<int>(category)]; }

TEST(Memory, CountsStateAlwaysAndTheRestWhileItIsNeeded) {
  // w 512 always; x 128 until the einsum, y 256 from there on.
  const StageMemory memory = Measured(Read("one.txtpb"))[0];
  EXPECT_EQ(memory.arena_bytes, 1024);
  EXPECT_EQ(memory.lower_bound_bytes, 512 + 128 + 256);
  EXPECT_EQ(At(memory, Category::kParameters), 512);
  EXPECT_EQ(At(memory, Category::kWorkspace), 128 + 256) << "x and y are of one act";
  EXPECT_EQ(memory.peak_actor, 0);
  EXPECT_EQ(memory.peak_work, 1);
  EXPECT_EQ(memory.buffers[static_cast<int>(Category::kWorkspace)], 2) << "a view is not a buffer of its own";
}

TEST(Memory, CourseOfAnExecutionPeaksWhereItsBytesDo) {
  int lives = 0;
  for (const char* file : {"one.txtpb", "train.txtpb", "views.txtpb", "pipeline.txtpb", "slot_offsets.txtpb"}) {
    const Plan plan = Read(file);
    const std::vector<StageMemory> memory = Measured(plan);
    const std::vector<Program> programs = ProgramsOf(plan);
    std::vector<Orders> orders(programs.begin(), programs.end());
    ASSERT_TRUE(Execute(programs, [&](const Act& act) {
                  orders[act.stage].Add(act);
                  return absl::OkStatus();
                }).ok());
    for (size_t s = 0; s < programs.size(); ++s) {
      int64_t most = 0;
      for (Orders::Rule rule : orders[s].rules()) {
        const std::vector<StageAct> acts = orders[s].In(rule);
        const Course course = CourseOf(programs[s], acts);
        ASSERT_EQ(course.most.size(), acts.size());
        for (const BytesByCategory& bytes : course.most) {
          most = std::max(most, std::accumulate(bytes.begin(), bytes.end(), int64_t{0}));
        }
        for (const Course::Life& life : course.lives) {
          ++lives;
          EXPECT_LE(life.first, life.last);
          EXPECT_LT(life.last, acts.size());
          EXPECT_LT(life.slot, programs[s].slots[life.root]);
        }
      }
      EXPECT_EQ(most, memory[s].lower_bound_bytes) << file << " stage " << s;
    }
  }
  EXPECT_GT(lives, 0);
}

TEST(Memory, IsLessWhenLivesDoNotMeet) {
  // x 64 | a 64 | s, b | c: never more than two at once.
  const StageMemory memory = Measured(Read("streams.txtpb"))[0];
  EXPECT_EQ(memory.lower_bound_bytes, 128);
}

TEST(Memory, KeepsWhatAMetricReports) {
  // x until both halves are made; whole 128, then y 128; loss beside y at the end.
  const StageMemory memory = Measured(Read("views.txtpb"))[0];
  EXPECT_EQ(memory.lower_bound_bytes, 256);
  Plan plan = Read("views.txtpb");
  Kernel* last = plan.mutable_stages(0)->mutable_actors(0)->add_kernels();
  last->set_name("copy");
  last->add_inputs(4);
  last->add_outputs(1);
  // y and whole again, and now the loss has to stay.
  EXPECT_EQ(Measured(plan)[0].lower_bound_bytes, 256 + 64);
  plan.clear_metrics();
  EXPECT_EQ(Measured(plan)[0].lower_bound_bytes, 256);
}

TEST(Memory, FollowsAccumulatorsOverMicroBatches) {
  const StageMemory memory = Measured(Read("train.txtpb"))[0];
  // State 768 and both sums, 256 + 64, stay; the last backward needs its x 64,
  // dy 64 and dw 256 beside them. A gradient is what the update gets, and no scalar.
  EXPECT_EQ(At(memory, Category::kParameters), 256);
  EXPECT_EQ(At(memory, Category::kOptimizer), 512);
  EXPECT_EQ(At(memory, Category::kGradients), 256);
  EXPECT_EQ(memory.gradient_bytes, 256);
  EXPECT_EQ(At(memory, Category::kActivations) + At(memory, Category::kWorkspace), 64 + 64 + 64 + 256);
  EXPECT_EQ(memory.lower_bound_bytes, 768 + 64 + 64 + 256 + 256 + 64);
  EXPECT_EQ(memory.peak_actor, 2);
  EXPECT_EQ(memory.peak_micro_batch, 1);
  EXPECT_EQ(memory.peak_work, 1);
}

TEST(Memory, NeedsNoOffsets) {
  for (const char* file : {"one.txtpb", "train.txtpb", "pipeline.txtpb", "collectives.txtpb", "streams.txtpb"}) {
    Plan plan = Read(file);
    const std::vector<StageMemory> before = Measured(plan);
    for (Stage& stage : *plan.mutable_stages()) {
      for (Buffer& buffer : *stage.mutable_buffers()) buffer.set_offset(0);
    }
    const std::vector<StageMemory> after = Measured(plan);
    for (size_t s = 0; s < before.size(); ++s) {
      EXPECT_EQ(before[s].lower_bound_bytes, after[s].lower_bound_bytes) << file;
      EXPECT_LE(before[s].lower_bound_bytes, before[s].arena_bytes) << file;
    }
  }
}

TEST(Memory, RefusesABlockedPlan) {
  EXPECT_EQ(MeasureMemory(Read("blocked_slot.txtpb")).status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST(Memory, NamesTheLargestAtThePeak) {
  const Plan plan = Read("train.txtpb");
  const StageMemory memory = Measured(plan)[0];
  EXPECT_THAT(PeakText(ProgramOf(plan, 0), memory, 2),
              testing::EndsWith("\n  the largest tensors there:"
                                "\n    256 B  `w` f32[8,8] of [8,16] (parameters)"
                                "\n    256 B  `w.m` f32[8,8] of [8,16] (optimizer)"));
  int64_t sum = 0;
  for (const StageMemory::Live& it : memory.live) sum += it.bytes;
  EXPECT_EQ(sum, memory.lower_bound_bytes);
}

TEST(Memory, TellsEachUnit) {
  Plan plan = Read("train.txtpb");
  for (Actor& actor : *plan.mutable_stages(0)->mutable_actors()) {
    if (actor.name() == "backward") actor.set_phase(Actor::BACKWARD);
  }
  const StageMemory memory = Measured(plan)[0];
  std::vector<std::string> names;
  int64_t most = 0;
  for (const UnitMemory& unit : memory.units) {
    names.push_back(unit.name);
    most = std::max(most, std::accumulate(unit.most.begin(), unit.most.end(), int64_t{0}));
  }
  EXPECT_EQ(names, (std::vector<std::string>{"begin", "F0", "B0", "F1", "B1", "step"}));
  EXPECT_EQ(most, memory.lower_bound_bytes);
}

// With a working copy of another type, the parameter is the optimizer's master.
TEST(Memory, CountsMastersAsTheOptimizers) {
  Plan plan = Read("train.txtpb");
  const std::vector<Category> before = CategoriesOf(ProgramOf(plan, 0));
  Stage& stage = *plan.mutable_stages(0);
  const auto w = std::find_if(stage.buffers().begin(), stage.buffers().end(),
                              [](const Buffer& buffer) { return buffer.kind() == Buffer::PARAMETER; });
  const int parameter = static_cast<int>(w - stage.buffers().begin());
  EXPECT_EQ(before[parameter], Category::kParameters);
  Buffer copy = *w;
  copy.set_name("w.working");
  copy.set_kind(Buffer::WORKING);
  copy.set_dtype(BF16);
  copy.clear_init();
  *stage.add_buffers() = copy;
  Kernel& cast = *stage.mutable_actors(0)->add_kernels();
  cast.set_name("cast");
  cast.add_inputs(parameter);
  cast.add_outputs(stage.buffers_size() - 1);
  const std::vector<Category> unread = CategoriesOf(ProgramOf(plan, 0));
  EXPECT_EQ(unread[parameter], Category::kOptimizer);
  // On the way to a working copy, as long as no micro-batch reads it.
  EXPECT_EQ(unread.back(), Category::kCommunication);
  stage.mutable_actors(0)->add_kernels()->add_inputs(stage.buffers_size() - 1);
  EXPECT_EQ(CategoriesOf(ProgramOf(plan, 0)).back(), Category::kParameters);
}

}  // namespace
}  // namespace weft::plan
