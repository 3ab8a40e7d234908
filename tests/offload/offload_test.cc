// What lies below the device: the same bits, and of the device's memory what two parts of it take, or two layers.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/executor/executor.h"
#include "runtime/measure/memory.h"
#include "runtime/plan/machine.h"
#include "runtime/plan/program.h"
#include "runtime/sim/simulate.h"
#include "tests/support/trainer.h"

namespace weft::tests {
namespace {

using Overrides = std::vector<std::string>;

constexpr char kJob[] = "tests/oracle/tiny.job", kHost[] = "tests/offload/host.cluster",
               kDisk[] = "tests/offload/disk.cluster";
constexpr char kSmall[] = "tests/offload/small.cluster";
constexpr char kOffload[] = "zero.offload=OPTIMIZER", kAll[] = "zero.offload=PARAMETERS",
               kKept[] = "recompute.offload=true", kOnHost[] = "zero.update=HOST";

Overrides With(Overrides overrides, const std::string& more) {
  overrides.push_back(more);
  return overrides;
}

plan::Plan Compile(const Overrides& overrides, const std::string& cluster = kHost) {
  absl::StatusOr<plan::Plan> plan = CompileJob(kJob, overrides, cluster);
  EXPECT_TRUE(plan.ok()) << plan.status();
  return plan.ok() ? *plan : plan::Plan();
}

TrainOptions OptionsFor(const Overrides& overrides, const std::string& cluster) {
  TrainOptions options;
  options.job = kJob;
  options.overrides = overrides;
  options.cluster = cluster;
  options.data = "tests/oracle/tokens.bin";
  options.init = "tests/oracle/tiny.safetensors";
  options.steps = 4;
  return options;
}

std::vector<StepReport> TrainTiny(const Overrides& overrides) {
  TrainOptions options = OptionsFor(overrides, kHost);
  const bool other = std::any_of(overrides.begin(), overrides.end(),
                                 [](const std::string& it) { return absl::StartsWith(it, "model.set=layers"); });
  if (other) options.init = "";
  absl::StatusOr<std::vector<StepReport>> reports = Train(options);
  EXPECT_TRUE(reports.ok()) << reports.status();
  return reports.ok() ? *reports : std::vector<StepReport>();
}

void ExpectSameBits(const Overrides& layout, const Overrides& offloaded) {
  const std::vector<StepReport> here = TrainTiny(layout), below = TrainTiny(offloaded);
  ASSERT_EQ(here.size(), 4u);
  ASSERT_EQ(below.size(), here.size());
  for (size_t i = 0; i < here.size(); ++i) {
    EXPECT_EQ(below[i].loss, here[i].loss) << "step " << i;
    // Of a step that overflows with its loss scale it is no number.
    EXPECT_EQ(std::bit_cast<uint32_t>(below[i].grad_norm), std::bit_cast<uint32_t>(here[i].grad_norm)) << "step " << i;
  }
}

class SameBitsTest : public testing::TestWithParam<Overrides> {};

TEST_P(SameBitsTest, StateBelow) { ExpectSameBits(GetParam(), With(GetParam(), kOffload)); }

TEST_P(SameBitsTest, UpdatedBelow) { ExpectSameBits(GetParam(), With(With(GetParam(), kOffload), kOnHost)); }

class KeptTest : public testing::TestWithParam<Overrides> {};

TEST_P(KeptTest, WhatLayersKeepBelow) {
  const Overrides offloaded = With(GetParam(), kKept);
  const plan::Plan plan = Compile(offloaded);
  ASSERT_GT(plan.stages_size(), 0);
  EXPECT_GT(plan.stages(0).tier_bytes_size(), 0) << "nothing is below";
  ExpectSameBits(GetParam(), offloaded);
}

std::vector<Overrides> DeepLayouts() {
  const std::string layers = "model.set=layers=6", noisy = "model.set=dropout=0.1";
  return {{layers, noisy},
          {layers, noisy, "batch={global: 12 micro: 4}"},
          {layers, "dist.tensor=2", "recompute.policy=SELECTIVE"},
          {layers, noisy, "dist.data=2", "zero.stage=3", "batch={global: 8 micro: 4}"},
          {layers, "dist.pipeline=2", "batch={global: 16 micro: 4}"},
          {layers, "dist.pipeline=2", "batch={global: 16 micro: 4}", "pipeline.schedule=INTERLEAVED"},
          {layers, "dist.pipeline=2", "batch={global: 16 micro: 4}", "pipeline.schedule=ZERO_BUBBLE"},
          {layers, "dist.pipeline=2", "batch={global: 16 micro: 4}", "pipeline.schedule=GPIPE", kOffload}};
}

INSTANTIATE_TEST_SUITE_P(Layouts, KeptTest, testing::ValuesIn(DeepLayouts()));

// Of some layers alone, each computed again or not.
TEST(KeptOfSomeLayers, IsTheSameBits) {
  const std::string pattern[] = {"policy: FULL", "policy: NONE", "policy: SELECTIVE"};
  for (const Overrides& layout : DeepLayouts()) {
    if (std::count(layout.begin(), layout.end(), kOffload) > 0) continue;
    Overrides here = layout, below = layout;
    for (int i = 0; i < 6; ++i) {
      const std::string layer = absl::StrCat("recompute.layers={scope: \"h.", i, "\" ", pattern[i % 3]);
      here.push_back(absl::StrCat(layer, "}"));
      below.push_back(absl::StrCat(layer, " offload: ", i % 4 == 0 || i == 1 ? "true" : "false", "}"));
    }
    std::set<std::string> moved;
    const plan::Plan plan = Compile(below);
    for (const plan::Stage& stage : plan.stages()) {
      for (const plan::Actor& actor : stage.actors()) {
        if (absl::EndsWith(actor.name(), ".forward.store")) moved.insert(actor.name().substr(0, 3));
      }
    }
    // What the last layer of a chunk keeps stays.
    EXPECT_FALSE(moved.empty()) << absl::StrJoin(layout, " ");
    EXPECT_THAT(moved, testing::IsSubsetOf({"h.0", "h.1", "h.4"})) << absl::StrJoin(layout, " ");
    ExpectSameBits(here, below);
  }
}

std::vector<Overrides> Layouts() {
  std::vector<Overrides> layouts = {{},
                                    {"optimizer.clip_norm=1.0", "batch={global: 8 micro: 4}", "model.set=dropout=0.1"},
                                    {"dist.tensor=2"},
                                    {"dist={data: 2 pipeline: 2}", "batch={global: 8 micro: 4}"},
                                    {"dist={data: 2 tensor: 2}", "zero={stage: 1}", "graph.fusion=false"},
                                    {"precision.compute=BF16", "dist.data=2", "zero={stage: 2}"},
                                    {"optimizer={muon { lr: 0.01 }}"},
                                    {"optimizer={adafactor { lr: 0.01 }}", "dist.data=2", "zero={stage: 1}"},
                                    {"optimizer={sgd { lr: 0.1 momentum: 0.9 }}"}};
  for (int stage = 0; stage <= 3; ++stage) layouts.push_back({"dist.data=4", absl::StrCat("zero.stage=", stage)});
  return layouts;
}

INSTANTIATE_TEST_SUITE_P(Layouts, SameBitsTest, testing::ValuesIn(Layouts()));

// Bytes of a stage's buffers of a kind that lie on the device, and in tiers.
std::pair<int64_t, int64_t> BytesOf(const plan::Program& program, plan::Buffer::Kind kind) {
  int64_t here = 0, below = 0;
  for (int32_t b = 0; b < program.stage->buffers_size(); ++b) {
    if (program.buffer(b).kind() != kind || program.root[b] != b) continue;
    (program.on_device[b] ? here : below) += program.slot_bytes[b];
  }
  return {here, below};
}

std::pair<int64_t, int64_t> StateBytes(const plan::Program& program) {
  return BytesOf(program, plan::Buffer::OPTIMIZER);
}

class ParametersTest : public testing::TestWithParam<Overrides> {};

// Also that more than half of the parameters are there, but where ZeRO gathers those of all layers for a step.
TEST_P(ParametersTest, AllBelow) {
  const Overrides offloaded = With(GetParam(), kAll);
  const plan::Plan plan = Compile(offloaded);
  ASSERT_GT(plan.stages_size(), 0);
  const int64_t stage = plan.header().job().zero().stage();
  for (const plan::Program& program : plan::ProgramsOf(plan)) {
    const auto [here, below] = BytesOf(program, plan::Buffer::PARAMETER);
    if (stage == 0 || stage == 3) EXPECT_GT(below, here);
  }
  ExpectSameBits(GetParam(), offloaded);
}

TEST_P(ParametersTest, UpdatedBelow) { ExpectSameBits(GetParam(), With(With(GetParam(), kAll), kOnHost)); }

std::vector<Overrides> LayoutsOfParameters() {
  const std::string layers = "model.set=layers=6", noisy = "model.set=dropout=0.1";
  std::vector<Overrides> layouts = {
      {layers},
      {layers, "optimizer.clip_norm=0.5", noisy},
      {layers, "optimizer.clip_norm=0.5", "batch={global: 12 micro: 4}"},
      {layers, "dist.tensor=2", "batch={global: 8 micro: 4}"},
      {layers, "dist.pipeline=2", "batch={global: 16 micro: 4}", noisy},
      {layers, "dist.pipeline=2", "batch={global: 16 micro: 4}", "pipeline.schedule=INTERLEAVED"},
      {layers, "dist.pipeline=2", "batch={global: 16 micro: 4}", "pipeline.schedule=ZERO_BUBBLE"},
      {layers, "precision.compute=BF16", noisy},
      {layers, "precision.compute=BF16", "batch={global: 8 micro: 4}", "dist.data=2", "zero.stage=3"},
      {layers, "precision.compute=F16", "batch={global: 8 micro: 4}"},
      {layers, "recompute.policy=FULL", noisy},
      {layers, "recompute.policy=SELECTIVE", kKept, "batch={global: 8 micro: 4}"},
      {layers, "graph.fusion=false"},
      {layers, "optimizer={muon { lr: 0.01 }}"},
      {layers, "optimizer={lamb { lr: 0.01 }}", "dist.tensor=2"}};
  for (int stage = 0; stage <= 3; ++stage) {
    layouts.push_back({layers, "dist.data=2", absl::StrCat("zero.stage=", stage), "batch={global: 8 micro: 4}"});
    layouts.push_back({layers, "dist.data=2", absl::StrCat("zero.stage=", stage)});
  }
  return layouts;
}

INSTANTIATE_TEST_SUITE_P(Layouts, ParametersTest, testing::ValuesIn(LayoutsOfParameters()));

// The largest bytes that one update uses of a tier.
int64_t LargestPart(const plan::Program& program) {
  int64_t most = 0;
  for (const plan::Actor& actor : program.stage->actors()) {
    int64_t part = 0;
    for (const plan::Kernel& kernel : actor.kernels()) {
      if (kernel.name() == plan::kFetch) part += program.slot_bytes[kernel.inputs(0)];
    }
    most = std::max(most, part);
  }
  return most;
}

TEST(OffloadTest, OnTheDeviceAreTwoPartsOfIt) {
  for (const Overrides& layout : {Overrides{"batch={global: 1 micro: 1}", "model.set=hidden=256"},
                                  Overrides{"batch={global: 2 micro: 1}", "dist.tensor=2", "model.set=hidden=256"}}) {
    const plan::Plan here = Compile(layout), below = Compile(With(layout, kOffload));
    ASSERT_EQ(below.stages_size(), 1);
    const plan::Program program = plan::ProgramOf(below, 0);
    const auto [kept, lower] = StateBytes(program);
    EXPECT_EQ(kept, 0);
    EXPECT_EQ(lower, below.stages(0).tier_bytes(0));
    EXPECT_EQ(lower, StateBytes(plan::ProgramOf(here, 0)).first);
    const absl::StatusOr<std::vector<plan::StageMemory>> memory = plan::MeasureMemory(below);
    ASSERT_TRUE(memory.ok()) << memory.status();
    // Gathered and reduced tensors are none here but scalars and rows of norms.
    const int64_t moved = (*memory)[0].most[static_cast<int>(plan::Category::kCommunication)];
    const int64_t others = (*plan::MeasureMemory(here))[0].most[static_cast<int>(plan::Category::kCommunication)];
    EXPECT_LE(moved, 2 * LargestPart(program) + others);
    EXPECT_LT(2 * LargestPart(program), lower / 2) << "this model shows nothing";
    EXPECT_LT(below.stages(0).arena_bytes(), here.stages(0).arena_bytes() - lower / 2);
  }
}

// The optimizer's state and the parameters that it updates take nothing of the device; what forward and backward read
// is there for a step, as narrow as they read it.
TEST(OffloadTest, WhatTheHostUpdatesTakesNothingOfTheDevice) {
  const Overrides layout = {"batch={global: 1 micro: 1}", "model.set=hidden=256", "precision.compute=BF16"};
  const plan::Plan here = Compile(layout), below = Compile(With(With(layout, kOffload), kOnHost));
  ASSERT_EQ(below.stages_size(), 1);
  const plan::Program program = plan::ProgramOf(below, 0), whole = plan::ProgramOf(here, 0);
  const auto [parameters, masters] = BytesOf(program, plan::Buffer::PARAMETER);
  EXPECT_EQ(StateBytes(program), std::pair(int64_t{0}, StateBytes(whole).first));
  EXPECT_EQ(parameters, 0);
  EXPECT_EQ(masters, BytesOf(whole, plan::Buffer::PARAMETER).first);
  // Two bytes of four, but for norms.
  EXPECT_LT(BytesOf(program, plan::Buffer::WORKING).first, 0.55 * static_cast<double>(masters));
  // Norms are read as wide as they are kept, and there are some single numbers.
  const int64_t copies = BytesOf(program, plan::Buffer::WORKING).first - BytesOf(whole, plan::Buffer::WORKING).first;
  EXPECT_LT(copies, masters / 20);
  EXPECT_LE(below.stages(0).arena_bytes(),
            here.stages(0).arena_bytes() - StateBytes(whole).first - masters + copies + 4096);
}

// Gradients go down while the backward comes to the layers before. The update waits for the norm of all; then the next
// step's layers are fetched one after another, and the first ones compute meanwhile.
TEST(OffloadTest, CopiesForTheHostRunBesideTheComputation) {
  const plan::Plan plan = Compile({kOffload, kOnHost, "model.set=layers=6", "batch={global: 16 micro: 8}"});
  const absl::StatusOr<sim::Report> report = sim::Simulate(plan, plan::MachineOf(plan));
  ASSERT_TRUE(report.ok()) << report.status();
  const plan::Program program = plan::ProgramOf(plan, 0);
  double begin = HUGE_VAL, end = 0;  // of what computes on micro-batches
  double fetched = 0, stored = 0, stored_meanwhile = 0, updated = 0;
  for (const sim::TimedAct& act : report->acts) {
    const plan::Actor& actor = program.actor(act.actor);
    if (!program.micro(act.actor) || plan.stages(0).streams(actor.stream()).kind() != plan::Stream::COMPUTE) continue;
    begin = std::min(begin, act.begin_s);
    end = std::max(end, act.end_s);
  }
  for (const sim::TimedAct& act : report->acts) {
    const plan::Actor& actor = program.actor(act.actor);
    const double seconds = act.end_s - act.begin_s;
    if (plan::TierOfWork(program, act.actor) > 0) {
      EXPECT_EQ(plan.stages(0).streams(actor.stream()).name(), "work in host");
      updated += seconds;
    } else if (plan::MovesTiers(actor) && actor.kernels(0).name() == plan::kStore) {
      stored += seconds;
      stored_meanwhile += act.end_s <= end ? seconds : 0;
    } else if (plan::MovesTiers(actor) && actor.kernels(0).outputs(0) != plan.metrics(0).buffer()) {
      fetched = act.begin_s < end ? std::max(fetched, act.end_s) : fetched;
    }
  }
  EXPECT_GT(stored_meanwhile, stored / 2);
  EXPECT_LT(begin, fetched / 2);
  EXPECT_GT(updated, 0);
  EXPECT_GE(report->exposed_comm_s, updated) << "nobody waits for what the host does";
}

// Of the activations that eight layers keep, those of a few are on the device at a time.
TEST(OffloadTest, OnTheDeviceIsWhatAFewLayersKeep) {
  const Overrides deep = {"model.set=layers=8", "batch={global: 32 micro: 32}"};
  const plan::Plan here = Compile(deep), below = Compile(With(deep, kKept));
  ASSERT_EQ(below.stages_size(), 1);
  ASSERT_EQ(below.stages(0).tier_bytes_size(), 1);
  const auto activations = [](const plan::Plan& plan) {
    const absl::StatusOr<std::vector<plan::StageMemory>> memory = plan::MeasureMemory(plan);
    EXPECT_TRUE(memory.ok()) << memory.status();
    return memory.ok() ? (*memory)[0].most[static_cast<int>(plan::Category::kActivations)] : 0;
  };
  EXPECT_LT(2 * activations(below), activations(here));
  EXPECT_LE(below.stages(0).arena_bytes(), 1.03 * static_cast<double>(below.stages(0).lower_bound_bytes()));
}

// A part is fetched while the one before is in use, and the first ones beside the backward.
TEST(OffloadTest, FetchesRunAheadOfTheUpdates) {
  const plan::Plan plan = Compile({kOffload, "batch={global: 16 micro: 16}"}, kDisk);
  const absl::StatusOr<sim::Report> report = sim::Simulate(plan, plan::MachineOf(plan));
  ASSERT_TRUE(report.ok()) << report.status();
  const plan::Program program = plan::ProgramOf(plan, 0);
  double backward = 0;
  std::vector<const sim::TimedAct*> fetches, stores, updates;
  for (const sim::TimedAct& act : report->acts) {
    const plan::Actor& actor = program.actor(act.actor);
    if (actor.section() == plan::Actor::MICRO) backward = std::max(backward, act.end_s);
    if (plan::MovesTiers(actor)) {
      EXPECT_EQ(plan.stages(0).streams(actor.stream()).name(), "tier disk");
      (actor.kernels(0).name() == plan::kFetch ? fetches : stores).push_back(&act);
      continue;
    }
    const auto& reads = actor.reads();
    const auto fetched = [&](int32_t b) { return plan::MovesTiers(program.actor(program.writer[b])); };
    if (std::any_of(reads.begin(), reads.end(), fetched)) updates.push_back(&act);
  }
  ASSERT_GT(fetches.size(), 4u);
  EXPECT_EQ(fetches.size(), stores.size());
  ASSERT_EQ(updates.size(), fetches.size());
  EXPECT_LT(fetches[0]->begin_s, backward);
  EXPECT_GT(fetches[0]->begin_s, 0) << "its bytes are taken for longer than it needs";
  for (size_t i = 0; i + 1 < updates.size(); ++i) {
    EXPECT_LE(fetches[i]->end_s, updates[i]->begin_s);
    EXPECT_LE(updates[i]->end_s, stores[i]->begin_s);
    if (i > 0) EXPECT_GE(fetches[i + 1]->begin_s, stores[i - 1]->end_s) << "into bytes that are still in use";
  }
  EXPECT_GT(report->exposed_comm_s, 0);
}

// Of a layer's parameters what its forward and its backward read is fetched while the layer before is computed.
TEST(OffloadTest, LayersAreFetchedOneAhead) {
  const plan::Plan plan = Compile({kAll, "model.set=layers=6", "batch={global: 16 micro: 8}"}, kDisk);
  const absl::StatusOr<sim::Report> report = sim::Simulate(plan, plan::MachineOf(plan));
  ASSERT_TRUE(report.ok()) << report.status();
  const plan::Program program = plan::ProgramOf(plan, 0);
  double moved = 0;
  std::map<std::pair<int32_t, int64_t>, const sim::TimedAct*> acts;
  for (const sim::TimedAct& act : report->acts) {
    acts[{act.actor, act.micro_batch}] = &act;
    moved += plan::MovesTiers(program.actor(act.actor)) ? act.end_s - act.begin_s : 0;
  }
  int fetches = 0;
  for (const auto& [key, act] : acts) {
    const plan::Actor& actor = program.actor(key.first);
    if (!program.micro(key.first) || !plan::MovesTiers(actor) || actor.kernels(0).name() != plan::kFetch) continue;
    for (int32_t b : actor.writes()) {
      for (int32_t reader : program.readers[b]) EXPECT_GE((acts[{reader, key.second}]->begin_s), act->end_s);
    }
    for (int32_t b : actor.reads()) {
      if (program.on_device[b]) EXPECT_GE(act->begin_s, (acts[{program.writer[b], key.second}]->end_s));
    }
    ++fetches;
  }
  EXPECT_EQ(fetches, 2 * 2 * 6) << "of each layer a forward's and a backward's, in two micro-batches";
  EXPECT_LT(report->exposed_comm_s, 0.7 * moved);
}

// A model that is four times as large as the device.
TEST(OffloadTest, AModelOfFourDevicesTrains) {
  const Overrides deep = {"model.set=layers=8", "model.set=hidden=128", "batch={global: 1 micro: 1}",
                          "recompute.policy=FULL"};
  const plan::Plan whole = Compile(deep);
  ASSERT_EQ(whole.stages_size(), 1);
  int64_t model = 0;
  for (auto kind : {plan::Buffer::PARAMETER, plan::Buffer::OPTIMIZER})
    model += BytesOf(plan::ProgramOf(whole, 0), kind).first;
  model += BytesOf(plan::ProgramOf(whole, 0), plan::Buffer::PARAMETER).first;  // and as many of gradients
  const absl::StatusOr<plan::Plan> refused = CompileJob(kJob, deep, kSmall);
  EXPECT_THAT(std::string(refused.status().message()), testing::HasSubstr("the plan does not fit"));
  const Overrides below = With(With(deep, kAll), kKept);
  const plan::Plan plan = Compile(below, kSmall);
  ASSERT_EQ(plan.stages_size(), 1);
  EXPECT_GE(model, 4 * plan.header().cluster().device().memory_bytes());

  const std::string folder = absl::StrCat(testing::TempDir(), "/below");
  TrainOptions options = OptionsFor(below, kSmall);
  options.init = "";
  options.tier_folder = folder;
  int64_t touched = 0, taken = 0;
  options.inspect = [&](executor::Executor& executor) {
    const int64_t page = sysconf(_SC_PAGESIZE), pages = (executor.arena()->bytes() + page - 1) / page;
    std::vector<unsigned char> resident(pages);
    if (mincore(executor.arena()->base(), executor.arena()->bytes(), resident.data()) != 0)
      return absl::ErrnoToStatus(errno, "mincore");
    touched = page * std::count_if(resident.begin(), resident.end(), [](unsigned char it) { return it & 1; });
    absl::StatusOr<int64_t> bytes = executor.TakenBytesOf(0);
    if (bytes.ok()) taken = *bytes;
    return bytes.status();
  };
  const absl::StatusOr<std::vector<StepReport>> small = Train(options);
  ASSERT_TRUE(small.ok()) << small.status();
  options = OptionsFor(deep, kHost);
  options.init = "";
  const absl::StatusOr<std::vector<StepReport>> large = Train(options);
  ASSERT_TRUE(large.ok()) << large.status();
  for (size_t i = 0; i < large->size(); ++i) {
    EXPECT_EQ((*small)[i].loss, (*large)[i].loss) << "step " << i;
    EXPECT_EQ((*small)[i].grad_norm, (*large)[i].grad_norm) << "step " << i;
  }
  const auto near = [](int64_t measured, int64_t planned) { return std::abs(measured - planned) <= planned * 3 / 100; };
  EXPECT_TRUE(near(touched, plan.stages(0).arena_bytes())) << touched << " of " << plan.stages(0).arena_bytes();
  EXPECT_TRUE(near(taken, plan.stages(0).tier_bytes(0))) << taken << " of " << plan.stages(0).tier_bytes(0);
}

// What ranks take of a disk, beside what was planned; and that nothing of it is left.
TEST(OffloadTest, TheDiskIsTakenAsPlanned) {
  const std::string folder = absl::StrCat(testing::TempDir(), "/tiers");
  TrainOptions options = OptionsFor({kOffload, "dist.data=2", "model.set=hidden=128"}, kDisk);
  options.init = "";
  options.steps = 1;
  options.tier_folder = folder;
  std::mutex mutex;
  std::map<int, std::pair<int64_t, int64_t>> bytes;  // by rank: planned, taken
  options.inspect = [&](executor::Executor& executor) {
    absl::StatusOr<int64_t> taken = executor.TakenBytesOf(0);
    std::lock_guard<std::mutex> lock(mutex);
    if (taken.ok()) bytes[executor.rank()] = {executor.program().stage->tier_bytes(0), *taken};
    return taken.status();
  };
  const absl::StatusOr<std::vector<StepReport>> reports = Train(options);
  ASSERT_TRUE(reports.ok()) << reports.status();
  ASSERT_EQ(bytes.size(), 2u);
  for (const auto& [rank, pair] : bytes) {
    const auto [planned, taken] = pair;
    EXPECT_GE(taken, planned);
    EXPECT_LE(taken, planned + planned * 3 / 100) << "rank " << rank;
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder));
}

}  // namespace
}  // namespace weft::tests
