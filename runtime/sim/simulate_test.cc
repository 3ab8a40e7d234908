#include "runtime/sim/simulate.h"

#include <gtest/gtest.h>

#include "runtime/proof/verify.h"
#include "runtime/sim/costs.h"
#include "runtime/sim/far.h"
#include "tests/fixtures/pipeline_plans.h"

namespace weft::sim {
namespace {

// Kernels begin at once; a transfer takes `transfer_s`.
plan::Machine MachineWith(double transfer_s) {
  plan::Machine machine;
  machine.launch_s = 0;
  machine.node = {1e30, transfer_s};
  machine.network = {1e30, 10 * transfer_s};
  return machine;
}

Report Simulated(const plan::Plan& plan, const plan::Machine& machine, bool unit_times = false) {
  EXPECT_TRUE(plan::Verify(plan).ok()) << plan::Verify(plan);
  absl::StatusOr<Report> report = Simulate(plan, machine, {unit_times});
  EXPECT_TRUE(report.ok()) << report.status();
  return report.ok() ? *report : Report();
}

TEST(SimulateTest, BubblesAreThoseOfTheFormula) {
  for (int p : {1, 2, 4}) {
    for (int64_t m : {4, 8}) {
      const double formula = static_cast<double>(p - 1) / static_cast<double>(m + p - 1);
      const std::vector<std::vector<Unit>> gpipe(p, GPipe(m));
      for (const auto& units : {OneFOneB(p, m), gpipe}) {
        const Report report = Simulated(Pipeline(units, m), plan::Machine(), true);
        EXPECT_DOUBLE_EQ(report.step_s, 3.0 * static_cast<double>(m + p - 1));
        EXPECT_NEAR(report.bubble_fraction, formula, 1e-12) << p << " stages, " << m << " micro-batches";
        EXPECT_EQ(report.exposed_comm_s, 0);
      }
    }
  }
}

TEST(SimulateTest, TransfersOnTheWayAreExposed) {
  // Forward 1, transfer, forward 1, backward 2, transfer, backward 2.
  const Report report = Simulated(Pipeline(OneFOneB(2, 1), 1), MachineWith(0.25));
  EXPECT_DOUBLE_EQ(report.step_s, 6.5);
  // Stage 0 waits for 0.25, 3 of stage 1 and 0.25; stage 1 for 1 of stage 0 and
  // 0.25, and at the end for 0.25 and 2 of stage 0.
  EXPECT_DOUBLE_EQ(report.stages[0].exposed_comm_s, 0.5);
  EXPECT_DOUBLE_EQ(report.stages[1].exposed_comm_s, 0.5);
  EXPECT_DOUBLE_EQ(report.exposed_comm_s, 0.5);
  EXPECT_DOUBLE_EQ(report.bubble_fraction, 1 - 6 / 13.0);
  EXPECT_DOUBLE_EQ(report.stages[0].compute_s, 3);
  EXPECT_DOUBLE_EQ(report.stages[0].communication_s, 0.5);
  EXPECT_DOUBLE_EQ(report.stages[0].sent_bytes, 1024);
  EXPECT_EQ(report.stages[0].peak_bytes, 4 * 1024);
}

// Whatever is exposed is so by acts that are communication.
TEST(SimulateTest, ActsAddUpToWhatIsExposed) {
  for (int64_t m : {1, 4}) {
    const plan::Plan plan = Pipeline(OneFOneB(4, m), m);
    const Report report = Simulated(plan, MachineWith(0.75));
    ASSERT_EQ(report.exposed_s.size(), report.acts.size());
    double sum = 0;
    for (size_t i = 0; i < report.acts.size(); ++i) {
      const TimedAct& act = report.acts[i];
      sum += report.exposed_s[i];
      EXPECT_GE(report.exposed_s[i], 0);
      if (plan.stages(act.stage).actors(act.actor).kernels_size() > 0) EXPECT_EQ(report.exposed_s[i], 0);
    }
    EXPECT_NEAR(sum, report.exposed_comm_s, 1e-12) << m;
    EXPECT_GT(sum, 0);
  }
}

// The last of four stages waits for three transfers, of which one is its own.
TEST(SimulateTest, WhatOtherStagesSendEachOtherIsWaitedForAndNotExposed) {
  for (int64_t m : {1, 4}) {
    const Report report = Simulated(Pipeline(OneFOneB(4, m), m), MachineWith(0.75));
    for (const StageReport& stage : report.stages) {
      EXPECT_LE(stage.exposed_comm_s, stage.communication_s + 1e-9) << m;
      EXPECT_NEAR(stage.compute_s + stage.exposed_comm_s + stage.waiting_s, report.step_s, 1e-9) << m;
    }
    EXPECT_NEAR(report.exposed_comm_s + report.waiting_s, report.bubble_fraction * report.step_s, 1e-9) << m;
    if (m > 1) continue;
    EXPECT_DOUBLE_EQ(report.stages[3].exposed_comm_s, 2 * 0.75);
    EXPECT_DOUBLE_EQ(report.stages[3].waiting_s, 3 * 1 + 2 * 0.75 + 3 * 2 + 2 * 0.75);
  }
}

TEST(SimulateTest, AStepTakesItsConstantToo) {
  plan::Machine machine = MachineWith(0.25);
  machine.step_s = 3;
  const Report report = Simulated(Pipeline(OneFOneB(2, 1), 1), machine);
  EXPECT_DOUBLE_EQ(report.step_s, 6.5 + 3);
  EXPECT_DOUBLE_EQ(report.exposed_comm_s + report.waiting_s, report.bubble_fraction * report.step_s);
  EXPECT_DOUBLE_EQ(report.bubble_fraction, 1 - 3 / 9.5) << "nobody computes meanwhile";
  const StageReport& stage = report.stages[1];
  EXPECT_DOUBLE_EQ(stage.compute_s + stage.exposed_comm_s + stage.waiting_s, report.step_s);
  EXPECT_DOUBLE_EQ(Simulated(Pipeline(OneFOneB(2, 1), 1), machine, true).step_s, 6) << "which units do not count";
}

TEST(SimulateTest, TransfersBetweenNodesTakeTheNetwork) {
  plan::Machine machine = MachineWith(0.25);
  machine.node_ranks = 1;
  EXPECT_DOUBLE_EQ(Simulated(Pipeline(OneFOneB(2, 1), 1), machine).step_s, 6 + 2 * 2.5);
}

TEST(SimulateTest, TransfersOverlapWithWhatDoesNotNeedThem) {
  // With more micro-batches the last stage computes while the next input comes:
  // the transfers of the way there and back are paid once.
  const double with = Simulated(Pipeline(OneFOneB(2, 8), 8), MachineWith(0.25)).step_s;
  const double without = Simulated(Pipeline(OneFOneB(2, 8), 8), MachineWith(0)).step_s;
  EXPECT_DOUBLE_EQ(without, 27);
  EXPECT_GT(with, without);
  EXPECT_LE(with, without + 16 * 0.25);
  const std::vector<std::vector<Unit>> gpipe(2, GPipe(8));
  EXPECT_DOUBLE_EQ(Simulated(Pipeline(gpipe, 8), MachineWith(0.25)).step_s, 27.5);
}

TEST(SimulateTest, CreditsHoldBackAWriter) {
  const std::vector<std::vector<Unit>> gpipe(2, GPipe(4));
  plan::Plan plan = Pipeline(gpipe, 4);
  // 1, then four transfers of 3 s in a row, 1, four backwards of 2 s, the last
  // three gradients behind the first one's transfers, 2.
  EXPECT_DOUBLE_EQ(Simulated(plan, MachineWith(3)).step_s, 1 + 12 + 1 + 2 + 12 + 2);
  for (plan::Buffer& buffer : *plan.mutable_stages(0)->mutable_buffers()) {
    if (buffer.name() == "y") buffer.set_slots(1);
  }
  // With one slot a forward waits until the last value has left.
  EXPECT_DOUBLE_EQ(Simulated(plan, MachineWith(3)).step_s, 4 * (1 + 3) + 1 + 2 + 12 + 2);
}

// One stage: two micro-batches of 1 s and 2 s, a sum of gradients over the ranks,
// an update of 1 s.
plan::Plan DataParallel(int ranks) {
  plan::Plan plan;
  plan.mutable_header()->set_version(plan::kPlanVersion);
  plan.mutable_header()->set_target("cpu");
  plan.mutable_header()->set_training(true);
  plan.mutable_header()->set_micro_batches(2);
  StageBuilder b(&plan, ranks);
  b.AddStream(plan::Stream::COMPUTE, "compute");
  b.AddStream(plan::Stream::COMMUNICATION, "communication");
  const int y = b.AddBuffer("y", 1);
  const int part = b.AddBuffer("dw.part", 1, plan::Buffer::GRADIENT, plan::Sbp::PARTIAL_SUM);
  const int whole = b.AddBuffer("dw", 1, plan::Buffer::GRADIENT);
  const int w = b.AddBuffer("w", 1, plan::Buffer::PARAMETER);
  b.stage().mutable_buffers(w)->mutable_init()->set_name("fill");
  b.stage().mutable_buffers(w)->mutable_init()->add_outputs(w);
  b.AddCompute("forward", plan::Actor::FORWARD, 1, {}, {y}).clear_writes();
  plan::Actor& backward = b.AddCompute("backward", plan::Actor::BACKWARD, 2, {y}, {part});
  backward.clear_reads();
  b.stage().mutable_actors(0)->add_writes(y);
  backward.add_reads(y);
  plan::Actor& reduce = b.AddActor("reduce", 1, {part}, {whole});
  reduce.set_section(plan::Actor::STEP);
  plan::Collective& collective = *reduce.add_collectives();
  collective.add_axes(0);
  collective.set_input(part);
  collective.set_output(whole);
  plan::Actor& update = b.AddCompute("update", plan::Actor::UPDATE, 1, {whole}, {});
  update.set_section(plan::Actor::STEP);
  update.mutable_kernels(0)->add_outputs(w);
  plan::Run& run = *b.stage().mutable_streams(0)->add_runs();
  run.add_actors(0);
  run.add_actors(1);
  run.set_repeat(2);
  b.AddRun(0, 3, 0, 1);
  b.AddRun(1, 2, 0, 1);
  return plan;
}

TEST(SimulateTest, AReductionBeforeTheUpdateIsExposed) {
  plan::Machine machine = MachineWith(0.5);
  machine.node.bytes_s = 1024;
  const Report report = Simulated(DataParallel(4), machine);
  const double reduce = 0.5 + 2 * 0.75;
  EXPECT_DOUBLE_EQ(report.step_s, 6 + reduce + 1);
  EXPECT_DOUBLE_EQ(report.exposed_comm_s, reduce);
  EXPECT_DOUBLE_EQ(report.bubble_fraction, reduce / (7 + reduce));
  EXPECT_DOUBLE_EQ(report.stages[0].sent_bytes, 1.5 * 1024);
  const Report units = Simulated(DataParallel(4), machine, true);
  EXPECT_DOUBLE_EQ(units.step_s, 6) << "what a step does once takes no units";
}

TEST(SimulateTest, ACollectiveOnTheComputeStreamIsNoComputing) {
  plan::Plan plan = DataParallel(4);
  const double apart = Simulated(plan, MachineWith(0.5)).exposed_comm_s;
  plan::Stage& stage = *plan.mutable_stages(0);
  stage.mutable_actors(2)->set_stream(0);
  stage.mutable_streams()->RemoveLast();
  stage.mutable_streams(0)->mutable_runs(1)->clear_actors();
  for (int a : {2, 3}) stage.mutable_streams(0)->mutable_runs(1)->add_actors(a);
  const Report report = Simulated(plan, MachineWith(0.5));
  EXPECT_DOUBLE_EQ(report.exposed_comm_s, apart);
  EXPECT_DOUBLE_EQ(report.stages[0].compute_s, 7);
  EXPECT_DOUBLE_EQ(report.bubble_fraction, 0.5 / 7.5);
}

TEST(SimulateTest, ThousandsOfRanksAreAsManyActsAsOne) {
  plan::Machine machine = MachineWith(0.25);
  machine.node_ranks = 8;
  const Report one = Simulated(DataParallel(1), machine), many = Simulated(DataParallel(4096), machine);
  EXPECT_EQ(one.acts.size(), many.acts.size());
  // 512 nodes: nine rounds between them.
  EXPECT_DOUBLE_EQ(many.step_s, one.step_s + 0.25 + 9 * 2.5);
}

// Alone on a core the two ranks take 7 s of kernels and a reduction each.
TEST(SimulateTest, ActsSideBySideShareTheCoresOfTheirNode) {
  plan::Machine machine = MachineWith(0.5);
  const double apart = Simulated(DataParallel(2), machine).step_s;
  machine.node_cores = 2;
  EXPECT_DOUBLE_EQ(Simulated(DataParallel(2), machine).step_s, apart);
  machine.node_cores = 1.6;
  EXPECT_DOUBLE_EQ(Simulated(DataParallel(2), machine).step_s, apart / 0.8);
  machine.node_cores = 1;
  EXPECT_DOUBLE_EQ(Simulated(DataParallel(2), machine).step_s, apart * 2);
  EXPECT_DOUBLE_EQ(Simulated(DataParallel(2), machine, true).step_s, 6) << "units take what they take";
  machine.node_ranks = 1;
  machine.network = machine.node;
  EXPECT_DOUBLE_EQ(Simulated(DataParallel(2), machine).step_s,
                   Simulated(DataParallel(2), MachineWith(0.5)).step_s + 0.5)
      << "nodes of their own, and a round between them";
}

// Stages in turn: with one micro-batch nothing is ever side by side.
TEST(SimulateTest, WhoWaitsTakesNoCore) {
  plan::Machine machine = MachineWith(0.25);
  const double apart = Simulated(Pipeline(OneFOneB(2, 1), 1), machine).step_s;
  machine.node_cores = 1;
  EXPECT_DOUBLE_EQ(Simulated(Pipeline(OneFOneB(2, 1), 1), machine).step_s, apart);
  // The one core always has work: eight forwards, eight backwards, eight transfers.
  EXPECT_DOUBLE_EQ(Simulated(Pipeline(OneFOneB(2, 4), 4), machine).step_s, 8 * (1 + 2 + 0.25));
}

// Of a graph each kernel has its own launch, and an act that may wait for another stream begins one.
TEST(SimulateTest, GraphsAreBegunWhereActsMayWait) {
  plan::Machine machine = MachineWith(0.25);
  machine.launch_s = 0.5;
  const plan::Plan two = Pipeline(OneFOneB(2, 1), 1), one = Pipeline({GPipe(2)}, 2);
  EXPECT_DOUBLE_EQ(Simulated(two, machine).step_s, 6.5 + 4 * 0.5);
  EXPECT_DOUBLE_EQ(Simulated(one, machine).step_s, 6 + 4 * 0.5);
  machine.graph_launch_s = 0.125;
  EXPECT_DOUBLE_EQ(Simulated(two, machine).step_s, 6.5 + 4 * (0.125 + 0.5)) << "each sends, or has received";
  EXPECT_DOUBLE_EQ(Simulated(one, machine).step_s, 6 + 4 * 0.125) << "all on one stream";
  plan::Plan reads = one;
  reads.mutable_stages(0)->mutable_actors(0)->mutable_kernels(0)->set_name("input");
  reads.mutable_stages(0)->mutable_actors(0)->mutable_kernels(0)->clear_outputs();
  reads.mutable_stages(0)->mutable_actors(0)->mutable_kernels(0)->add_outputs(0);
  (*reads.mutable_stages(0)->mutable_actors(0)->mutable_kernels(0)->mutable_attributes())["name"].set_string("x");
  EXPECT_DOUBLE_EQ(Simulated(reads, machine).step_s, 6 + 2 * 0.125 + 2 * 0.5) << "no graph has what reads data";
}

// One stage of a gibibyte whose forward writes a buffer, and whose backward reads it at once; that is near. What comes
// back in the next step is as far as the whole arena.
TEST(SimulateTest, OperandsAreAsFarAsWhatIsGoneThroughBetween) {
  plan::Machine machine = MachineWith(0);
  machine.tables =
      std::make_shared<const plan::RateTables>(*plan::RateTables::Of({}, {{"compute", 1, 1 << 20, 0}}, {}));
  machine.far_tables =
      std::make_shared<const plan::RateTables>(*plan::RateTables::Of({}, {{"compute", 1, 1 << 18, 0}}, {}));
  machine.near_bytes = 1 << 20, machine.far_bytes = 1 << 24;
  plan::Plan plan;
  plan.mutable_header()->set_micro_batches(1);
  StageBuilder b(&plan, 1);
  b.AddStream(plan::Stream::COMPUTE, "compute");
  const int small = b.AddBuffer("small", 1), large = b.AddBuffer("large", 1);
  const int state = b.AddBuffer("state", 1);
  b.stage().mutable_buffers(large)->set_shape(0, 1 << 22);              // 16 MiB
  b.stage().mutable_buffers(state)->set_offset((1 << 24) + (1 << 14));  // behind it
  b.stage().set_arena_bytes((1 << 24) + (1 << 15));
  b.AddCompute("make", plan::Actor::FORWARD, 0, {}, {small});
  b.AddCompute("use", plan::Actor::BACKWARD, 0, {small}, {});
  b.AddCompute("fill", plan::Actor::UPDATE, 0, {}, {large});
  b.AddCompute("add", plan::Actor::UPDATE, 0, {state}, {state});
  for (int a : {0, 1, 2, 3}) b.AddRun(0, a, 0, 1);
  const std::vector<std::vector<double>> far = FarShares(plan::ProgramOf(plan, 0), machine);
  EXPECT_NEAR(far[0][0], 1, 1e-3) << "since then 16 MiB were gone through";
  EXPECT_EQ(far[1][0], 0) << "just made";
  EXPECT_NEAR(far[2][0], 1, 1e-3);
  EXPECT_NEAR(far[3][0], 1, 1e-3) << "in place: read from far, and written where it is then";
  for (plan::Actor& actor : *b.stage().mutable_actors()) actor.mutable_kernels(0)->mutable_cost()->set_bytes(1 << 20);
  const std::vector<std::vector<double>> seconds = KernelSecondsOf(plan::ProgramOf(plan, 0), machine);
  EXPECT_NEAR(seconds[0][0], 4, 1e-2);
  EXPECT_NEAR(seconds[1][0], 1, 1e-9);
  machine.far_tables = nullptr;
  EXPECT_NEAR(KernelSecondsOf(plan::ProgramOf(plan, 0), machine)[0][0], 1, 1e-9);
}

TEST(SimulateTest, ABlockedPlanIsRefusedWithItsCycle) {
  std::vector<std::vector<Unit>> units = {{{'B', 0}, {'F', 0}}, {{'F', 0}, {'B', 0}}};
  const absl::StatusOr<Report> report = Simulate(Pipeline(units, 1), plan::Machine());
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.status().code(), absl::StatusCode::kFailedPrecondition) << report.status();
}

TEST(SimulateTest, ThePlanCarriesThePrediction) {
  plan::Plan plan = Pipeline(OneFOneB(2, 1), 1);
  SetPrediction(Simulated(plan, MachineWith(0.25)), &plan);
  EXPECT_DOUBLE_EQ(plan.prediction().step_s(), 6.5);
  EXPECT_DOUBLE_EQ(plan.prediction().compute_s(), 3);
  EXPECT_DOUBLE_EQ(plan.prediction().exposed_comm_s(), 0.5);
  EXPECT_DOUBLE_EQ(plan.prediction().communication_bytes(), 1024);
  EXPECT_DOUBLE_EQ(plan.stages(1).predicted_compute_s(), 3);
}

}  // namespace
}  // namespace weft::sim
