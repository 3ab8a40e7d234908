// Micro-batches in turns: the same bits, and what ranks exchange for one goes beside the computation of the other.
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "runtime/plan/machine.h"
#include "runtime/plan/program.h"
#include "runtime/sim/simulate.h"
#include "tests/support/trainer.h"

namespace weft::tests {
namespace {

using Overrides = std::vector<std::string>;

struct Layout {
  std::string job;
  Overrides overrides;
};

void PrintTo(const Layout& layout, std::ostream* out) {
  *out << layout.job << " " << absl::StrJoin(layout.overrides, " ");
}

constexpr char kGpt2[] = "tests/oracle/tiny.job", kLlama[] = "models/llama/tiny.job",
               kMixtral[] = "models/mixtral/tiny.job";
// Five, of which the last is alone or, of three in turns, with one other.
constexpr char kFive[] = "batch={global: 20 micro: 4}";
constexpr char kEight[] = "batch={global: 32 micro: 4}";

Overrides InTurns(Overrides overrides, int64_t overlap) {
  overrides.push_back(absl::StrCat("batch.overlap=", overlap));
  return overrides;
}

std::vector<StepReport> TrainTiny(const Layout& layout, int64_t overlap) {
  TrainOptions options;
  options.job = layout.job;
  options.overrides = InTurns(layout.overrides, overlap);
  options.overrides.push_back("data.format=AUTO");
  options.data = "tests/oracle/tokens.bin";
  options.steps = 3;
  absl::StatusOr<std::vector<StepReport>> reports = Train(options);
  EXPECT_TRUE(reports.ok()) << reports.status();
  return reports.ok() ? *reports : std::vector<StepReport>();
}

class SameBitsTest : public testing::TestWithParam<Layout> {};

TEST_P(SameBitsTest, AsOneAfterTheOther) {
  const std::vector<StepReport> apart = TrainTiny(GetParam(), 1);
  ASSERT_EQ(apart.size(), 3u);
  for (const int64_t overlap : {2, 3}) {
    const std::vector<StepReport> turns = TrainTiny(GetParam(), overlap);
    ASSERT_EQ(turns.size(), apart.size());
    for (size_t i = 0; i < apart.size(); ++i) {
      EXPECT_EQ(turns[i].loss, apart[i].loss) << overlap << " in turns, step " << i;
      // Of a step that overflows with its loss scale it is no number.
      EXPECT_EQ(std::bit_cast<uint32_t>(turns[i].grad_norm), std::bit_cast<uint32_t>(apart[i].grad_norm))
          << overlap << " in turns, step " << i;
    }
  }
}

std::vector<Layout> Layouts() {
  std::vector<Layout> layouts;
  const auto add = [&](const char* job, const char* batch, Overrides overrides) {
    overrides.push_back(batch);
    layouts.push_back({job, std::move(overrides)});
  };
  add(kGpt2, kFive, {});
  add(kGpt2, kFive, {"dist.tensor=2", "model.set=dropout=0.1"});
  add(kGpt2, kFive, {"dist.tensor=2", "graph.loss_chunks=3"});
  add(kGpt2, kFive, {"dist.tensor=2", "precision.compute=BF16", "graph.fusion=false"});
  add(kGpt2, kFive, {"dist.tensor=2", "precision.compute=F16", "recompute.policy=FULL"});
  add(kGpt2, kFive, {"dist.context=2", "graph.ring=ALWAYS"});
  add(kGpt2, kFive, {"dist.data=2", "zero.stage=3", "recompute.policy=SELECTIVE"});
  add(kGpt2, kFive, {"dist.data=2", "dist.tensor=2", "zero.stage=2"});
  for (const char* schedule : {"schedule: GPIPE", "schedule: ONE_F_ONE_B", "schedule: ZERO_BUBBLE form: H1"})
    add(kGpt2, kEight, {"dist.tensor=2", "dist.pipeline=2", absl::StrCat("pipeline={", schedule, "}")});
  for (const char* schedule : {"schedule: INTERLEAVED chunks: 2", "schedule: ZERO_BUBBLE form: V"})
    add(kGpt2, kFive,
        {"dist.tensor=2", "dist.pipeline=2", "model.set=layers=4", absl::StrCat("pipeline={", schedule, "}")});
  add(kLlama, kFive, {"dist.tensor=2", "dist.context=2"});
  add(kLlama, kEight, {"dist.data=2", "dist.tensor=2", "dist.pipeline=2", "zero.stage=3"});
  add(kMixtral, kFive, {"dist.expert=2", "dist.data=2"});
  add(kMixtral, kEight, {"dist.expert=2", "dist.tensor=2", "dist.pipeline=2"});
  return layouts;
}

INSTANTIATE_TEST_SUITE_P(Layouts, SameBitsTest, testing::ValuesIn(Layouts()));

// On links that take as long as the products do.
TEST(TurnsTest, WhatIsExchangedIsBesideTheComputation) {
  const auto reportOf = [](int64_t micro, int64_t overlap, plan::Plan& plan) {
    absl::StatusOr<plan::Plan> compiled = CompileJob(
        kLlama,
        InTurns({"dist.tensor=2", "model.set=layers=4", absl::StrCat("batch={global: 16 micro: ", micro, "}")},
                overlap),
        "tests/pipeline/even.cluster");
    EXPECT_TRUE(compiled.ok()) << compiled.status();
    if (compiled.ok()) plan = *compiled;
    absl::StatusOr<sim::Report> report = sim::Simulate(plan, plan::MachineOf(plan));
    EXPECT_TRUE(report.ok()) << report.status();
    return report.ok() ? *report : sim::Report();
  };
  plan::Plan one, two;
  const sim::Report apart = reportOf(8, 1, one), turns = reportOf(4, 2, two);
  ASSERT_GT(apart.exposed_comm_s, 0.3 * apart.step_s) << "there is little to hide";
  EXPECT_LT(turns.exposed_comm_s, 0.5 * apart.exposed_comm_s);
  EXPECT_LT(turns.step_s, 0.8 * apart.step_s);
  const plan::Program program = plan::ProgramOf(two, 0);
  for (const plan::Actor& actor : program.stage->actors()) {
    const bool exchanges = actor.section() == plan::Actor::MICRO && actor.collectives_size() > 0;
    if (exchanges)
      EXPECT_EQ(program.stage->streams(actor.stream()).kind(), plan::Stream::COMMUNICATION) << actor.name();
  }
}

}  // namespace
}  // namespace weft::tests
