#include "compiler/job/job.h"

#include <fstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace weft {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kWhole[] = R"(
model { file: "../gpt2.mlir" set: ["layers=2", "hidden=64"] }
batch { global: 8 micro: 4 }
optimizer {
  adamw { lr: 6e-4 weight_decay: 0.1 }
  clip_norm: 1.0
  schedule { warmup_cosine { warmup: 10 total: 100 min_ratio: 0.1 } }
}
dist { data: 2 tensor: 2 }
)";

absl::StatusOr<Job> Parse(const std::string& text, const std::vector<std::string>& overrides = {}) {
  return ParseJob(text, "models/gpt2/jobs/a.job", overrides);
}

std::string ErrorOf(const std::string& text, const std::vector<std::string>& overrides = {}) {
  absl::StatusOr<Job> job = Parse(text, overrides);
  return job.ok() ? "no error" : std::string(job.status().message());
}

// The error of a job that is right but for one override.
std::string ErrorOfOverride(const std::string& override_text) { return ErrorOf(kWhole, {override_text}); }

TEST(JobTest, FillsInDefaults) {
  absl::StatusOr<Job> job = Parse("model { file: 'm.mlir' } optimizer { adam { lr: 1 beta2: 0.5 } }");
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_EQ(job->batch().micro(), 1);
  EXPECT_EQ(job->batch().global(), 1);
  EXPECT_EQ(job->dist().data(), 1);
  EXPECT_EQ(job->dist().tensor(), 1);
  EXPECT_EQ(job->dist().expert(), 1);
  EXPECT_EQ(job->dist().context(), 1);
  EXPECT_EQ(job->optimizer().adam().beta1(), 0.9);
  EXPECT_EQ(job->optimizer().adam().beta2(), 0.5);
  EXPECT_EQ(job->optimizer().adam().eps(), 1e-8);
  EXPECT_TRUE(job->optimizer().schedule().has_constant());
}

constexpr char kAuto[] = R"(
model { file: "m.mlir" }
batch { global: 8 }
cluster: "two.cluster"
graph { auto_parallel: true }
)";

TEST(JobTest, AutoParallelLeavesTheLayoutOpen) {
  const absl::StatusOr<Job> job = Parse(kAuto, {"dist.tensor=1", "zero.stage=0"});
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_EQ(job->dist().data(), 0);
  EXPECT_EQ(job->dist().tensor(), 1);
  EXPECT_EQ(job->batch().micro(), 0);
  EXPECT_TRUE(job->zero().has_stage());
  EXPECT_FALSE(job->recompute().has_policy());
  EXPECT_EQ(job->auto_().seconds(), 60);
  EXPECT_EQ(job->auto_().gap(), 0.01);
}

TEST(JobTest, AutoParallelNeedsABatchAndACluster) {
  EXPECT_THAT(ErrorOf(kAuto, {"cluster="}), HasSubstr("cluster: expected the path of a cluster file"));
  EXPECT_THAT(ErrorOf(kAuto, {"batch={}"}), HasSubstr("batch.global: expected 1 or more"));
  EXPECT_THAT(ErrorOf(kAuto, {"auto.seconds=0"}), HasSubstr("auto.seconds: expected a number above 0, got 0"));
  EXPECT_THAT(ErrorOf(kAuto, {"auto.seconds=inf"}), HasSubstr("auto.seconds: expected at most 1e+09, got inf"));
  EXPECT_THAT(ErrorOf(kAuto, {"auto.gap=-1"}), HasSubstr("auto.gap: expected 0 or more, got -1"));
  EXPECT_THAT(ErrorOf(kAuto, {"auto.reserve_bytes=-1"}), HasSubstr("auto.reserve_bytes: expected 0 or more, got -1"));
  EXPECT_THAT(ErrorOf(kAuto, {"pipeline.cuts=h.1"}), HasSubstr("dist.pipeline: expected the number of stages"));
  EXPECT_THAT(ErrorOf(kAuto, {"dist.pipeline=2", "pipeline.schedule_file=order.txt"}),
              HasSubstr("batch.micro: expected the size of the micro-batches that pipeline.schedule_file orders"));
  EXPECT_THAT(ErrorOf(kAuto, {"dist.pipeline=2", "pipeline={stages {} stages {}}"}),
              HasSubstr("pipeline.stages: expected none with graph.auto_parallel"));
  EXPECT_THAT(ErrorOf(kAuto, {"dist.pipeline=1", "pipeline.schedule=GPIPE"}),
              HasSubstr("dist.pipeline: expected 2 or more stages, which alone have pipeline.schedule GPIPE, got 1"));
  EXPECT_THAT(ErrorOf(kAuto, {"zero={stage: 0 group: 4}"}), HasSubstr("zero.group: expected zero.stage 1, 2 or 3"));
  EXPECT_THAT(ErrorOf(kAuto, {"dist.data=4", "zero.group=3"}), HasSubstr("zero.group: expected a divisor"));
  for (const char* open : {"pipeline.schedule=GPIPE", "pipeline.form=V", "pipeline.chunks=3", "zero.group=4"}) {
    EXPECT_EQ(ErrorOf(kAuto, {open}), "no error") << open;
  }
  EXPECT_THAT(ErrorOf(kAuto, {"batch.micro=3"}), HasSubstr("batch.global: expected a multiple of batch.micro"));
  EXPECT_THAT(ErrorOf(kAuto, {"dist.data=3"}), HasSubstr("batch.global: expected a multiple of dist.data (3), got 8"));
  EXPECT_THAT(ErrorOfOverride("auto.gap=0.1"), HasSubstr("auto: expected graph.auto_parallel: true"));
}

TEST(JobTest, PinsNameAParameterAnAxisAndAState) {
  const char* pin = "graph.pin={parameter: 'h.*.weight' axis: 'tensor' state: 'S(1)'}";
  const absl::StatusOr<Job> job = Parse(kWhole, {pin});
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_EQ(job->graph().pin(0).state(), "S(1)");
  EXPECT_THAT(ErrorOfOverride("graph.pin={axis: 'tensor' state: 'B'}"),
              HasSubstr("graph.pin.parameter: expected the name of a parameter"));
  EXPECT_THAT(ErrorOfOverride("graph.pin={parameter: 'w' axis: 'rows' state: 'B'}"),
              HasSubstr("graph.pin.axis: expected one of data, expert, context, tensor, got \"rows\""));
  EXPECT_THAT(ErrorOfOverride("graph.pin={parameter: 'w' axis: 'tensor'}"),
              HasSubstr("graph.pin.state: expected S(dim) or B"));
  EXPECT_THAT(ErrorOfOverride("graph.keep_pins=true"), HasSubstr("graph.keep_pins: expected graph.auto_parallel"));
}

// One plan, one text: what is set to its default is as if it were absent.
TEST(JobTest, DefaultsThatAreSetLeaveNoTrace) {
  EXPECT_EQ(MessageText(*Parse(kWhole, {"zero.stage=0", "recompute.policy=NONE", "pipeline.schedule=ONE_F_ONE_B"})),
            MessageText(*Parse(kWhole, {"zero={}", "recompute={}", "pipeline={}"})));
}

TEST(JobTest, BatchSizesFollowEachOther) {
  EXPECT_EQ(Parse("model { file: 'm' } batch { global: 6 }")->batch().micro(), 6);
  EXPECT_EQ(Parse("model { file: 'm' } batch { micro: 3 }")->batch().global(), 3);
}

TEST(JobTest, PathsAreRelativeToTheJobFile) {
  absl::StatusOr<Job> job = Parse("model { file: '../m.mlir' } cluster: 'two.cluster'");
  ASSERT_TRUE(job.ok()) << job.status();
  const Job located = LocateJob(*job, "models/gpt2/jobs/a.job");
  EXPECT_EQ(located.model().file(), "models/gpt2/m.mlir");
  EXPECT_EQ(located.cluster(), "models/gpt2/jobs/two.cluster");
  EXPECT_EQ(LocateJob(*job, "a.job").cluster(), "two.cluster");
  EXPECT_EQ(LocateJob(*Parse("model { file: '/m.mlir' }"), "jobs/a.job").model().file(), "/m.mlir");
}

TEST(JobTest, DoesNotDependOnHowItsFileWasNamed) {
  const std::string text =
      "model { file: './m/../m.mlir' } cluster: 'x//two.cluster' dist { pipeline: 2 } pipeline { "
      "schedule_file: './s' }";
  absl::StatusOr<Job> job = ParseJob(text, "a.job", {});
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_EQ(job->model().file(), "m.mlir");
  EXPECT_EQ(job->cluster(), "x/two.cluster");
  EXPECT_EQ(job->pipeline().schedule_file(), "s");
  for (const char* path : {"/models/a.job", "../models/a.job", "../../models/./a.job"}) {
    EXPECT_EQ(MessageText(*ParseJob(text, path, {})), MessageText(*job)) << path;
  }
}

TEST(JobTest, IsReadAgainFromItsText) {
  for (const char* more : {"precision={compute: F16}", "pipeline.schedule=INTERLEAVED", "recompute.policy=AUTO",
                           "optimizer.adamw.lr=1.2345678901234567e-3", "model.set=layers=3"}) {
    absl::StatusOr<Job> job = Parse(kWhole, {more, "dist.pipeline=2"});
    ASSERT_TRUE(job.ok()) << job.status();
    absl::StatusOr<Job> again = Parse(MessageText(*job));
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(again->SerializeAsString(), job->SerializeAsString()) << more;
  }
}

TEST(JobTest, OverridesSetKeysOfEveryType) {
  absl::StatusOr<Job> job = Parse(
      kWhole, {"dist.tensor=4", "precision.compute=BF16", "optimizer.adamw.lr=1e-3", "seed=7", "model.graph=train",
               "checkpoint.prefixes=transformer.", "batch={micro: 2}", "optimizer.schedule.constant={}"});
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_EQ(job->dist().tensor(), 4);
  EXPECT_EQ(job->dist().data(), 2);
  EXPECT_EQ(job->precision().compute(), BF16);
  EXPECT_EQ(job->optimizer().adamw().lr(), 1e-3);
  EXPECT_EQ(job->seed(), 7u);
  EXPECT_EQ(job->model().graph(), "train");
  EXPECT_THAT(job->checkpoint().prefixes(), ElementsAre("transformer."));
  EXPECT_EQ(job->batch().global(), 2);
  EXPECT_TRUE(job->optimizer().schedule().has_constant());
}

TEST(JobTest, TheLastSettingOfANameStays) {
  absl::StatusOr<Job> job =
      Parse(kWhole, {"model.set=layers=3", "model.set=ffn=4*hidden", "model.set=layers=5", "model.set=base.layers=2"});
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_THAT(job->model().set(), ElementsAre("layers=5", "hidden=64", "ffn=4*hidden", "base.layers=2"));
}

TEST(JobTest, AnOverrideMayChooseAnotherOptimizer) {
  absl::StatusOr<Job> job = Parse(kWhole, {"optimizer.sgd.lr=0.1"});
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_EQ(job->optimizer().rule_case(), Optimizer::kSgd);
}

TEST(JobTest, ErrorsOfTextNameFileLineAndKey) {
  EXPECT_EQ(
      ErrorOf("model { file: 'm' }\ndist { data: 2\n  tenssor: 2 }"),
      "models/gpt2/jobs/a.job:3:3: unknown key tenssor: expected data, tensor, expert, context, pipeline; did you mean "
      "tensor?");
  EXPECT_THAT(ErrorOf("modle {}"), HasSubstr("; did you mean model?"));
  EXPECT_THAT(ErrorOf("colour: 1"), testing::Not(HasSubstr("did you mean")));
  EXPECT_THAT(ErrorOf("modle {}"), StartsWith("models/gpt2/jobs/a.job:1:1: unknown key modle: expected model, batch,"));
  EXPECT_THAT(ErrorOf("dist { data: 1 data: 2 }"), HasSubstr(":1:20: data: expected once, got it twice"));
  EXPECT_THAT(ErrorOf("optimizer { sgd {} adam {} }"),
              HasSubstr(": adam: expected one of its kind, got it beside sgd"));
  EXPECT_THAT(ErrorOf("data { order: SORTED }"), HasSubstr(": order: expected SHUFFLED, SEQUENTIAL, got SORTED"));
  EXPECT_THAT(ErrorOf("dist { data: two }"), HasSubstr("a.job:1:14: expected integer, got: two"));
  EXPECT_THAT(ErrorOf("dist { data: 2 "), HasSubstr("a.job:1:"));
}

TEST(JobTest, ErrorsOfOverridesNameTheKey) {
  EXPECT_EQ(
      ErrorOfOverride("dist.tenssor=2"),
      "dist.tenssor: unknown key tenssor: expected data, tensor, expert, context, pipeline; did you mean tensor?");
  EXPECT_EQ(ErrorOfOverride("dist.data=two"), "dist.data: expected a whole number, got \"two\"");
  EXPECT_EQ(ErrorOfOverride("seed=-1"), "seed: expected a whole number of 0 or more, got \"-1\"");
  EXPECT_EQ(ErrorOfOverride("optimizer.clip_norm=big"), "optimizer.clip_norm: expected a number, got \"big\"");
  EXPECT_EQ(ErrorOfOverride("precision.compute=F64"), "precision.compute: expected F32, BF16, F16, got \"F64\"");
  EXPECT_EQ(ErrorOfOverride("dist=2"),
            "dist: expected one of its keys (data, tensor, expert, context, pipeline) or {...}, got \"2\"");
  EXPECT_EQ(ErrorOfOverride("dist={date: 2}"),
            "dist:1:1: unknown key date: expected data, tensor, expert, context, pipeline; did you mean data?");
  EXPECT_EQ(ErrorOfOverride("seed.low=1"), "seed.low: seed has no keys");
  EXPECT_EQ(ErrorOfOverride("dist.data"), "override: expected key.path=value, got \"dist.data\"");
}

TEST(JobTest, ImpossibleCombinationsNameKeyAndReason) {
  const std::pair<const char*, const char*> cases[] = {
      {"model.file=", "model.file: expected the path of a model file, got none"},
      {"model.set=layers", "model.set: expected name=expression, got \"layers\""},
      {"model.set=2x=1", "model.set: expected name=expression, got \"2x=1\""},
      {"model.set=.x=1", "model.set: expected name=expression, got \".x=1\""},
      {"model.set=batch=1", "model.set: batch: expected a config of the model, got the one that batch.micro sets"},
      {"batch.micro=-1", "batch.micro: expected 1 or more, got -1"},
      {"batch.global=-8", "batch.global: expected 1 or more, got -8"},
      {"batch.global=3", "batch.global: expected at least batch.micro (4), got 3"},
      {"dist.data=8", "batch.micro: expected at least dist.data (8), which splits each micro-batch, got 4"},
      {"dist.tensor=-2", "dist.tensor: expected 1 or more, got -2"},
      {"dist.expert=2000000", "dist.expert: expected at most 1048576 ranks in all, got 2000000"},
      {"dist={data: 4 tensor: 32}",
       "dist: expected at most 64 ranks on the local machine, got data 4 x tensor 32 = 128"},
      {"optimizer={clip_norm: 1}",
       "optimizer: expected sgd, adam, adamw, lion, adafactor, lamb, lars or muon, got none"},
      {"optimizer.adamw.lr=0", "optimizer.adamw.lr: expected a number above 0, got 0"},
      {"optimizer.adamw.lr=nan", "optimizer.adamw.lr: expected a number above 0, got nan"},
      {"optimizer.adamw.beta1=1", "optimizer.adamw.beta1: expected at least 0 and below 1, got 1"},
      {"optimizer.adamw.beta2=-1", "optimizer.adamw.beta2: expected at least 0 and below 1, got -1"},
      {"optimizer.adamw.eps=0", "optimizer.adamw.eps: expected a number above 0, got 0"},
      {"optimizer.adamw.weight_decay=-1", "optimizer.adamw.weight_decay: expected 0 or more, got -1"},
      {"optimizer.sgd={}", "optimizer.sgd.lr: expected a number above 0, got 0"},
      {"optimizer.sgd={lr: 1 momentum: 1}", "optimizer.sgd.momentum: expected at least 0 and below 1, got 1"},
      {"optimizer.sgd={lr: 1 weight_decay: -1}", "optimizer.sgd.weight_decay: expected 0 or more, got -1"},
      {"optimizer.clip_norm=-1", "optimizer.clip_norm: expected 0 or more, got -1"},
      {"optimizer.schedule.warmup_cosine.warmup=-1",
       "optimizer.schedule.warmup_cosine.warmup: expected 0 or more, got -1"},
      {"optimizer.schedule.warmup_cosine.total=10",
       "optimizer.schedule.warmup_cosine.total: expected more than warmup (10), got 10"},
      {"optimizer.schedule.warmup_linear={total: 1 min_ratio: 2}",
       "optimizer.schedule.warmup_linear.min_ratio: expected from 0 to 1, got 2"},
      {"optimizer.schedule.polynomial={total: 4 power: 0}",
       "optimizer.schedule.polynomial.power: expected a number above 0, got 0"},
      {"optimizer.schedule.inverse_sqrt={}", "optimizer.schedule.inverse_sqrt.warmup: expected 1 or more, got 0"},
      {"optimizer.schedule.step={}", "optimizer.schedule.step: expected milestones or every, got none"},
      {"optimizer.schedule.step={every: 2 milestones: 3}",
       "optimizer.schedule.step: expected milestones or every, got both"},
      {"optimizer.schedule.step={every: -2}", "optimizer.schedule.step.every: expected 1 or more, got -2"},
      {"optimizer.schedule.step={milestones: [3, 3]}",
       "optimizer.schedule.step.milestones[1]: expected 4 or more, got 3"},
      {"optimizer.schedule.warmup_stable_decay={warmup: 2 total: 9 decay: 8}",
       "optimizer.schedule.warmup_stable_decay.decay: expected 1 to total - warmup (7), got 8"},
      {"optimizer.schedule.cosine_restarts={warmup: 2}",
       "optimizer.schedule.cosine_restarts.period: expected 1 or more, got 0"},
      {"optimizer.schedule.cosine_restarts={period: 2 growth: 0}",
       "optimizer.schedule.cosine_restarts.growth: expected 1 or more, got 0"},
      {"optimizer.groups={weight_decay: 0}",
       "optimizer.groups[0].pattern: expected a regular expression of names, got none"},
      {"optimizer.groups={pattern: \"x\"}", "optimizer.groups[0]: expected weight_decay, lr_scale or adamw, got none"},
      {"optimizer.groups={pattern: \"x\" weight_decay: -1}",
       "optimizer.groups[0].weight_decay: expected 0 or more, got -1"},
      {"optimizer.groups={pattern: \"x\" lr_scale: 0}",
       "optimizer.groups[0].lr_scale: expected a number above 0, got 0"},
      {"optimizer.groups={pattern: \"x\" adamw: true}",
       "optimizer.groups[0].adamw: expected the rule muon, which alone leaves parameters to AdamW, got adamw"},
      {"optimizer.frozen=", "optimizer.frozen[0]: expected a regular expression of names, got none"},
      {"zero.stage=4", "zero.stage: expected 0, 1, 2 or 3, got 4"},
      {"zero.stage=-1", "zero.stage: expected 0, 1, 2 or 3, got -1"},
      {"generate.chunk=-1", "generate.chunk: expected 0 or more, got -1"},
      {"zero={stage: 1 group: -2}", "zero.group: expected 0 or more, got -2"},
      {"zero={offload: 9}", "zero.offload: expected NOTHING, OPTIMIZER, PARAMETERS, got 9"},
      {"zero.update=HOST",
       "zero.update: expected DEVICE without zero.offload, which says what lies where the host updates, got HOST"},
      {"zero.tier=disk", "zero.tier: expected zero.offload, which says what lies there, got NOTHING"},
      {"recompute.tier=disk", "recompute.tier: expected recompute.offload, which says what lies there, got false"},
      {"zero={stage: 1 group: 3}", "zero.group: expected a divisor of dist.data (2), got 3"},
      {"zero={group: 2}", "zero.group: expected zero.stage 1, 2 or 3, which alone splits among ranks, got 0"},
      {"pipeline.schedule=GPIPE",
       "dist.pipeline: expected 2 or more stages, which alone have pipeline.schedule GPIPE, got 1"},
      {"pipeline.form=V", "dist.pipeline: expected 2 or more stages, which alone have pipeline.form V, got 1"},
      {"pipeline.chunks=2", "dist.pipeline: expected 2 or more stages, which alone have pipeline.chunks 2, got 1"},
      {"pipeline.schedule_file=order.txt",
       "dist.pipeline: expected 2 or more stages, which alone have pipeline.schedule_file, got 1"},
      {"pipeline.cuts=h.1", "dist.pipeline: expected 2 or more stages, which alone have pipeline.cuts, got 1"},
      {"pipeline.stages={data: 2}",
       "dist.pipeline: expected 2 or more stages, which alone have pipeline.stages, got 1"},
      {"pipeline={schedule: 9}", "pipeline.schedule: expected ONE_F_ONE_B, GPIPE, INTERLEAVED, ZERO_BUBBLE, got 9"},
      {"precision={compute: 9}", "precision.compute: expected F32, BF16, F16, got 9"},
      {"precision={compute: F16 residual: BF16}",
       "precision.residual: expected F32 or that of compute (F16), got BF16"},
      {"precision.residual=BF16", "precision.residual: expected F32 or that of compute (F32), got BF16"},
      {"precision={residual: 9}", "precision.residual: expected F32 or that of compute (F32), got 9"},
      {"precision={float32: 9}", "precision.float32: expected IEEE, TF32, got 9"},
      {"precision.loss_scale.initial=8", "precision.loss_scale: expected compute F16, which alone needs one, got F32"},
      {"precision={compute: F16 loss_scale { growth_factor: 0.5 }}",
       "precision.loss_scale.growth_factor: expected 1 or more, got 0.5"},
      {"precision={compute: F16 loss_scale { backoff_factor: 1 }}",
       "precision.loss_scale.backoff_factor: expected a number above 0 and below 1, got 1"},
      {"precision={compute: F16 loss_scale { growth_interval: 0 }}",
       "precision.loss_scale.growth_interval: expected 1 or more, got 0"},
      {"precision={compute: F16 loss_scale { min: 0 }}", "precision.loss_scale.min: expected a number above 0, got 0"},
      {"precision={compute: F16 loss_scale { max: 1e39 }}",
       "precision.loss_scale.max: expected 0 or a number of 1.17549e-38 to 3.40282e+38, which float32 holds, got "
       "1e+39"},
      {"precision={compute: F16 loss_scale { initial: 8 min: 16 }}",
       "precision.loss_scale.initial: expected min to max (16 to 1.67772e+07), got 8"},
      {"evaluation={every: 2}", "evaluation.graph: expected a graph of the model file, got none"},
      {"evaluation={graph: \"e\" batches: -1}", "evaluation.batches: expected 0 or more, got -1"},
      {"evaluation={graph: \"e\" stop_at: 1}",
       "evaluation.metric: expected the output that evaluation.stop_at is of, got none"},
      {"evaluation={graph: \"e\" metric: \"loss\"}",
       "evaluation.best: expected MIN or MAX, of evaluation.metric, got none"},
      {"evaluation={graph: \"e\" metric: \"loss\" best: MIN stop_at: nan}",
       "evaluation.stop_at: expected a number, got nan"},
      {"recompute={policy: 9}", "recompute.policy: expected NONE, SELECTIVE, FULL, AUTO, got 9"},
      {"recompute.layers={policy: FULL}", "recompute.layers.scope: expected a layer such as h.0, got none"},
      {"recompute.layers={scope: \"h.0\" policy: AUTO}",
       "recompute.layers.policy of h.0: expected NONE, SELECTIVE or FULL, got AUTO"},
      {"recompute.layers={scope: \"h.0\" policy: 7}",
       "recompute.layers.policy of h.0: expected NONE, SELECTIVE or FULL, got 7"},
      {"recompute={layers { scope: \"h.0\" } layers { scope: \"h.0\" policy: FULL }}",
       "recompute.layers.scope: expected each layer once, got h.0 twice"},
  };
  for (const auto& [override_text, error] : cases) {
    EXPECT_EQ(ErrorOfOverride(override_text), std::string("models/gpt2/jobs/a.job: ") + error);
  }
}

TEST(JobTest, KeysThatReplaceEachOtherAreRefused) {
  const std::pair<const char*, const char*> cases[] = {
      {"pipeline={schedule: GPIPE schedule_file: 'order.txt'}",
       "pipeline.schedule: expected none beside pipeline.schedule_file, which takes its place, got GPIPE"},
      {"batch={global: 8 micro: 2 overlap: -1}", "batch.overlap: expected 0 or more, got -1"},
      {"pipeline={form: V schedule_file: 'order.txt'}",
       "pipeline.form: expected none beside pipeline.schedule_file, got V"},
      {"pipeline={schedule: GPIPE form: V}",
       "pipeline.form: expected pipeline.schedule ZERO_BUBBLE, which alone has forms, got GPIPE"},
      {"pipeline={form: V}",
       "pipeline.form: expected pipeline.schedule ZERO_BUBBLE, which alone has forms, got ONE_F_ONE_B"},
      {"pipeline={stages {data: 2} stages {tensor: 2}}",
       "dist: expected pipeline alone beside pipeline.stages, which say the other sizes, got data 2 x tensor 2"},
  };
  for (const auto& [override_text, error] : cases) {
    EXPECT_EQ(ErrorOf(kWhole, {"dist.pipeline=2", override_text}), std::string("models/gpt2/jobs/a.job: ") + error);
  }
  EXPECT_EQ(ErrorOf(kWhole, {"dist.pipeline=2", "pipeline.schedule_file=order.txt", "batch.overlap=2"}),
            "models/gpt2/jobs/a.job: batch.overlap: expected 1 with pipeline.schedule_file, which orders micro-batches "
            "one by "
            "one, got 2");
}

TEST(JobTest, LossScaleHasDefaults) {
  absl::StatusOr<Job> job = ParseJob(kWhole, "a.job", {"precision={compute: F16}"});
  ASSERT_TRUE(job.ok()) << job.status();
  const LossScale& scale = job->precision().loss_scale();
  EXPECT_EQ(scale.initial(), 65536);
  EXPECT_EQ(scale.growth_factor(), 2);
  EXPECT_EQ(scale.backoff_factor(), 0.5);
  EXPECT_EQ(scale.growth_interval(), 2000);
  EXPECT_EQ(scale.min(), 1);
  EXPECT_EQ(scale.max(), 16777216);
  job = ParseJob(kWhole, "a.job", {"precision={compute: F16 loss_scale { initial: 1e30 }}"});
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_EQ(job->precision().loss_scale().max(), 1e30);
}

TEST(JobTest, LoadsAFile) {
  std::string path = ::testing::TempDir() + "/whole.job";
  std::ofstream(path) << kWhole;
  absl::StatusOr<Job> job = LoadJob(path, {"seed=3"});
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_EQ(job->seed(), 3u);
  absl::StatusOr<Job> missing = LoadJob(path + "x", {});
  EXPECT_EQ(missing.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(missing.status().message()), HasSubstr("whole.jobx: expected a job file, found none"));
  const std::string model = ::testing::TempDir() + "/m.mlir";
  std::ofstream(model.c_str()) << "model.graph @m {}";
  EXPECT_EQ(std::string(LoadJob(model, {}).status().message()),
            model +
                ": expected a job file, got a model file; a job that names it begins with\n"
                "  model { file: \"m.mlir\" }");
}

}  // namespace
}  // namespace weft
