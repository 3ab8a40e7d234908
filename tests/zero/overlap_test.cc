// What a simulated step shows of stage 3: gathers one layer ahead, beside the computation.
#include <algorithm>
#include <map>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "runtime/measure/memory.h"
#include "runtime/plan/machine.h"
#include "runtime/plan/program.h"
#include "runtime/proof/verify.h"
#include "runtime/sim/simulate.h"
#include "tests/support/trainer.h"

namespace weft::tests {
namespace {

constexpr int kLayers = 6;

plan::Plan Compile(const std::vector<std::string>& more) {
  std::vector<std::string> overrides = {"batch={global: 16 micro: 16}",
                                        "dist.data=4",
                                        "zero.stage=3",
                                        "model.set=hidden=256",
                                        "model.set=heads=8",
                                        "model.set=vocab=1024",
                                        absl::StrCat("model.set=layers=", kLayers)};
  overrides.insert(overrides.end(), more.begin(), more.end());
  absl::StatusOr<plan::Plan> plan = CompileJob("tests/oracle/tiny.job", overrides);
  EXPECT_TRUE(plan.ok()) << plan.status();
  return plan.ok() ? *plan : plan::Plan();
}

sim::Report Simulate(const plan::Plan& plan) {
  absl::StatusOr<sim::Report> report = sim::Simulate(plan, plan::MachineOf(plan));
  EXPECT_TRUE(report.ok()) << report.status();
  return report.ok() ? *report : sim::Report();
}

// The same actors on one stream, in the order in which the plan lists them.
plan::Plan OneAfterAnother(plan::Plan plan) {
  plan::Stage& stage = *plan.mutable_stages(0);
  const auto kind = [&](const plan::Actor& actor) { return stage.streams(actor.stream()).kind(); };
  int compute = 0;
  while (stage.streams(compute).kind() != plan::Stream::COMPUTE) ++compute;
  plan::Run begin, micro, step;
  for (int a = 0; a < stage.actors_size(); ++a) {
    if (kind(stage.actors(a)) == plan::Stream::HOST) continue;
    const bool once = stage.actors(a).section() == plan::Actor::STEP;
    (!once ? micro : micro.actors_size() == 0 ? begin : step).add_actors(a);
  }
  begin.set_repeat(1);
  micro.set_repeat(plan.header().micro_batches());
  step.set_repeat(1);
  for (plan::Actor& actor : *stage.mutable_actors()) {
    if (kind(actor) == plan::Stream::COMMUNICATION) actor.set_stream(compute);
  }
  for (plan::Stream& stream : *stage.mutable_streams()) {
    if (stream.kind() != plan::Stream::HOST) stream.clear_runs();
  }
  for (const plan::Run& run : {begin, micro, step}) {
    if (run.actors_size() > 0) *stage.mutable_streams(compute)->add_runs() = run;
  }
  return plan;
}

// From the beginning of the first act of the actors whose names begin so to the end of the last one; a collective's
// actor only if it is the one that is named.
struct Span {
  double begin = 1e30, end = 0;
};
Span SpanOf(const plan::Plan& plan, const sim::Report& report, const std::string& prefix, bool gathers) {
  Span span;
  for (const sim::TimedAct& act : report.acts) {
    const plan::Actor& actor = plan.stages(0).actors(act.actor);
    if (!absl::StartsWith(actor.name(), prefix) || (actor.collectives_size() > 0) != gathers) continue;
    span = {std::min(span.begin, act.begin_s), std::max(span.end, act.end_s)};
  }
  EXPECT_LT(span.begin, span.end) << prefix;
  return span;
}

int GathersOf(const plan::Plan& plan, const std::string& name) {
  int found = 0;
  for (const plan::Actor& actor : plan.stages(0).actors()) {
    if (!absl::StartsWith(actor.name(), name)) continue;
    for (const plan::Collective& it : actor.collectives()) found += it.kind() == plan::Collective::ALL_GATHER;
  }
  return found;
}

TEST(OverlapTest, GathersRunOneLayerAhead) {
  const plan::Plan plan = Compile({});
  const sim::Report report = Simulate(plan);
  for (int k = 1; k + 1 < kLayers; ++k) {
    for (const std::string phase : {".forward", ".backward"}) {
      SCOPED_TRACE(absl::StrCat("layer ", k, phase));
      const int step = phase == ".forward" ? 1 : -1;
      const auto layer = [&](int at) { return absl::StrCat("h.", at, phase); };
      const Span before = SpanOf(plan, report, layer(k - step), false), here = SpanOf(plan, report, layer(k), false),
                 next = SpanOf(plan, report, layer(k + step), false),
                 gather = SpanOf(plan, report, layer(k + step) + ".all_gather", true);
      // In the time of this layer, not before its own begins, and there when the next one needs it.
      EXPECT_GE(gather.begin, before.end);
      EXPECT_LT(gather.begin, here.end);
      EXPECT_GT(std::min(gather.end, here.end) - std::max(gather.begin, here.begin), 0);
      EXPECT_LE(gather.end, next.end);
    }
  }
}

// One operation a layer: its twelve parameters, or those that its backward reads.
TEST(OverlapTest, LayersAreBundles) {
  const plan::Plan plan = Compile({});
  for (int k = 0; k < kLayers; ++k) {
    EXPECT_EQ(GathersOf(plan, absl::StrCat("h.", k, ".forward.all_gather")), 12);
    EXPECT_EQ(GathersOf(plan, absl::StrCat("h.", k, ".backward.all_gather")), 6);
    EXPECT_EQ(GathersOf(plan, absl::StrCat("h.", k, ".forward.all_gather#2")), 0);
  }
}

TEST(OverlapTest, ExposedCommunicationFalls) {
  for (int stage = 1; stage <= 3; ++stage) {
    for (const char* batch : {"batch.global=16", "batch.global=64"}) {
      const plan::Plan plan = Compile({absl::StrCat("zero.stage=", stage), batch});
      const plan::Plan serial = OneAfterAnother(plan);
      ASSERT_TRUE(plan::Verify(serial).ok()) << plan::Verify(serial);
      const sim::Report beside = Simulate(plan), after = Simulate(serial);
      // The last bundle of gradients has nothing beside it.
      EXPECT_LT(beside.exposed_comm_s, (stage == 3 ? 0.5 : 0.8) * after.exposed_comm_s) << stage << ", " << batch;
      EXPECT_LT(beside.step_s, after.step_s) << "stage " << stage << ", " << batch;
    }
  }
}

// Of one micro-batch, where the gradient of the tied table is rounded to bfloat16 after it has been reduced: more than
// two thirds of the time in which gradients are reduced lie beside the backward.
TEST(OverlapTest, GradientsOfOneMicroBatchAreReducedBesideTheBackward) {
  for (const char* stage : {"zero.stage=0", "zero.stage=1", "zero.stage=2"}) {
    SCOPED_TRACE(stage);
    const absl::StatusOr<plan::Plan> plan = CompileJob(
        "models/gpt2/345m.job",
        {stage, "batch={global: 512 micro: 512}", "dist.data=64", "precision.compute=BF16", "model.set=layers=8"},
        "clusters/8xh200.cluster");
    ASSERT_TRUE(plan.ok()) << plan.status();
    const sim::Report report = Simulate(*plan);
    double backward = 0, all = 0, behind = 0;
    for (const sim::TimedAct& act : report.acts) {
      const plan::Actor& actor = plan->stages(0).actors(act.actor);
      if (actor.phase() == plan::Actor::BACKWARD && actor.collectives_size() == 0) {
        backward = std::max(backward, act.end_s);
      }
    }
    for (const sim::TimedAct& act : report.acts) {
      if (!absl::StartsWith(plan->stages(0).actors(act.actor).name(), "gradients")) continue;
      all += act.end_s - act.begin_s;
      behind += std::max(0.0, act.end_s - std::max(act.begin_s, backward));
    }
    EXPECT_GT(all, 0);
    EXPECT_LT(behind, all / 3);
  }
}

// The bytes that an actor's collectives of a kind make in buffers of micro-batches.
int64_t MadeBytes(const plan::Program& program, const plan::Actor& actor, plan::Collective::Kind kind) {
  int64_t bytes = 0;
  for (const plan::Collective& it : actor.collectives()) {
    const bool counts = it.kind() == kind && program.buffer(it.output()).kind() == plan::Buffer::COMMUNICATION;
    if (counts && actor.section() == plan::Actor::MICRO) bytes += program.slot_bytes[it.output()];
  }
  return bytes;
}

// The most that two neighbours in the order of the stream make, and what all make.
std::pair<int64_t, int64_t> MostOfTwo(const plan::Program& program, plan::Collective::Kind kind) {
  int64_t most = 0, last = 0, all = 0;
  for (const plan::Actor& actor : program.stage->actors()) {
    const int64_t bytes = MadeBytes(program, actor, kind);
    if (bytes == 0) continue;
    most = std::max(most, last + bytes);
    last = bytes;
    all += bytes;
  }
  return {most, all};
}

// What is gathered has one slot each, and no more of it is live than two neighbours.
TEST(OverlapTest, HoldsTwoLayers) {
  for (const char* batch : {"batch.global=16", "batch.global=64"}) {
    const plan::Plan plan = Compile({batch});
    const plan::Program program = plan::ProgramOf(plan, 0);
    for (const plan::Actor& actor : plan.stages(0).actors()) {
      for (const plan::Collective& it : actor.collectives()) EXPECT_EQ(program.buffer(it.output()).slots(), 1);
    }
    const auto [gathered, all] = MostOfTwo(program, plan::Collective::ALL_GATHER);
    const auto [reduced, unused] = MostOfTwo(program, plan::Collective::REDUCE_SCATTER);
    const absl::StatusOr<std::vector<plan::StageMemory>> memory = plan::MeasureMemory(plan);
    ASSERT_TRUE(memory.ok()) << memory.status();
    constexpr int64_t kScalars = 4096;
    const int64_t live = (*memory)[0].most[static_cast<int>(plan::Category::kCommunication)];
    EXPECT_LE(live, gathered + reduced + kScalars) << batch;
    EXPECT_LT(3 * live, all) << batch;
  }
}

}  // namespace
}  // namespace weft::tests
