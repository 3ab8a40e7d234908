#include "compiler/pipeline/candidates.h"

#include <gtest/gtest.h>

#include "compiler/dialect/model/model.h"
#include "compiler/dialect/task/task.h"
#include "compiler/job/cluster.h"
#include "compiler/job/job.h"
#include "compiler/pipeline/compile.h"
#include "compiler/pipeline/remedies.h"
#include "mlir/Parser/Parser.h"
#include "ops/register.h"

namespace weft::compiler {
namespace {

constexpr char kJob[] = "models/gpt2/tiny.job";

class CandidatesTest : public testing::Test {
protected:
  CandidatesTest() : cluster_(*LoadCluster("")) {
    mlir::DialectRegistry registry;
    ir::registerWeftDialect(registry);
    registry.insert<model::ModelDialect, task::TaskDialect>();
    context_.appendDialectRegistry(registry);
    context_.loadAllAvailableDialects();
    parsed_ = mlir::parseSourceFile<mlir::ModuleOp>(jobOf({}).model().file(), &context_);
  }

  static std::vector<std::string> with(std::vector<std::string> overrides) {
    overrides.insert(overrides.begin(), {"dist.data=2", "batch={global: 8 micro: 4}"});
    return overrides;
  }

  static Job jobOf(const std::vector<std::string> &overrides) {
    return LocateJob(*LoadJob(kJob, with(overrides)), kJob);
  }

  // What the compiler itself makes of the job.
  plan::Plan compiled(const std::vector<std::string> &overrides) {
    CompileOptions options;
    options.job = *LoadJob(kJob, with(overrides));
    options.jobFile = kJob;
    options.cluster = cluster_;
    return compile(options)->plan;
  }

  static Summary summaryOf(const plan::Plan &plan) {
    Summary summary{{}, plan.prediction().step_s()};
    for (const plan::Stage &stage : plan.stages()) {
      summary.stageBytes.push_back(int64_t(stage.arena_bytes()));
    }
    return summary;
  }

  mlir::MLIRContext context_;
  const Cluster cluster_;
  mlir::OwningOpRef<mlir::ModuleOp> parsed_;
};

// A stage fits its own bytes and no fewer, each by itself.
TEST_F(CandidatesTest, FitAsTheyAreCompiled) {
  Candidates candidates(*parsed_, cluster_);
  for (const std::vector<std::string> &overrides : std::vector<std::vector<std::string>>{
           {"recompute.policy=FULL"},
           {"dist.data=1", "dist.pipeline=2", "batch.micro=1"},
           {"dist.data=1", "dist.pipeline=2", "batch.micro=1", "pipeline.schedule=ZERO_BUBBLE", "pipeline.form=V"}}) {
    const Job job = jobOf(overrides);
    const std::vector<int64_t> bytes = candidates.compile(job, /*predict=*/false)->stageBytes;
    for (int64_t some : bytes) {
      for (int64_t limit : {some / 2, some - 1, some, some * 2}) {
        std::vector<bool> expected;
        for (int64_t stage : bytes) {
          expected.push_back(stage <= limit);
        }
        const absl::StatusOr<std::vector<Fit>> stages = candidates.fit(job, limit);
        ASSERT_TRUE(stages.ok()) << stages.status();
        std::vector<bool> fits;
        for (const Fit &fit : *stages) {
          fits.push_back(fit.fits);
          EXPECT_TRUE(fit.leastBytes <= limit || !fit.fits) << overrides.front() << " in " << limit;
        }
        EXPECT_EQ(fits, expected) << overrides.front() << " in " << limit;
      }
    }
  }
}

// What AUTO has compiled and laid out on the way is what its policies come to by themselves, for the same work.
TEST_F(CandidatesTest, TakeOverWhatAutoTried) {
  const plan::Plan full = compiled({"recompute.policy=FULL"}), none = compiled({});
  const int64_t least = int64_t(full.stages(0).arena_bytes()), most = int64_t(none.stages(0).arena_bytes());
  for (int64_t memory : {most, (least + most) / 2}) {
    Cluster cluster = cluster_;
    cluster.mutable_device()->set_memory_bytes(memory);
    Candidates candidates(*parsed_, cluster), alone(*parsed_, cluster);
    const Job job = jobOf({"recompute.policy=AUTO"});
    absl::StatusOr<Unplaced> found = candidates.unplacedFor(job);
    ASSERT_TRUE(found.ok()) << found.status();
    ASSERT_TRUE(found->placed) << memory;
    Job listed = job;
    listed.clear_recompute();
    *listed.mutable_recompute()->mutable_layers() = found->plan.header().recompute();
    absl::StatusOr<Unplaced> expected = alone.unplacedFor(listed);
    ASSERT_TRUE(expected.ok()) << expected.status();
    EXPECT_FALSE(expected->placed);
    *expected->plan.mutable_header()->mutable_job() = job;
    EXPECT_EQ(MessageText(found->plan), MessageText(expected->plan));
    ASSERT_TRUE(layOut(cluster, memory, /*memorySeed=*/0, expected->plan).ok());
    EXPECT_EQ(MessageText(*found->placed), MessageText(expected->plan));
  }
}

// What layers keep goes below the device instead of being computed again where the link is fast, and not where it is
// slow; never is a plan slower for it. Nothing goes there that the job keeps above.
TEST_F(CandidatesTest, AutoWeighsWhatItRecomputesAgainstCopies) {
  const std::vector<std::string> wide = {"model.set=layers=10", "model.set=hidden=256", "model.set=seq=128",
                                         "model.set=positions=128"};
  const auto found = [&](double rate, int64_t memory, std::vector<std::string> keys) {
    Cluster cluster = cluster_;
    cluster.mutable_device()->set_memory_bytes(memory);
    Tier &tier = *cluster.add_tier();
    tier.set_name("host");
    tier.set_read_bytes_s(rate);
    tier.set_write_bytes_s(rate);
    Candidates candidates(*parsed_, cluster);
    keys.insert(keys.end(), wide.begin(), wide.end());
    const Job job = jobOf(keys);
    const plan::Plan plan = *candidates.planFor(job);
    return std::pair(plan, candidates.compile(job, /*predict=*/true)->step_s);
  };
  constexpr int64_t kAmple = int64_t(1) << 40;
  const auto bytesOf = [&](const char *policy) { return found(1, kAmple, {policy}).first.stages(0).arena_bytes(); };
  const int64_t none = bytesOf("recompute.policy=NONE"), full = bytesOf("recompute.policy=FULL");
  ASSERT_LT(full, none);
  for (int64_t memory : {(none + full) / 2, (none + 3 * full) / 4}) {
    const std::string fixed = "recompute.policy=AUTO";
    const double here = found(1e12, memory, {fixed, "recompute.offload=false"}).second;
    for (const auto &[rate, isFast] : {std::pair(1e15, true), {1e6, false}}) {
      const auto [plan, seconds] = found(rate, memory, {fixed});
      EXPECT_LE(plan.stages(0).arena_bytes(), memory);
      const auto &layers = plan.header().recompute();
      EXPECT_EQ(llvm::any_of(layers, [](const Recompute::Layer &it) { return it.offload(); }), isFast) << rate;
      EXPECT_EQ(plan.stages(0).tier_bytes_size(), isFast ? 1 : 0);
      EXPECT_TRUE(isFast ? seconds < here : seconds == here) << seconds << " s, without a tier " << here;
    }
  }
  EXPECT_EQ(found(1e15, none, {"recompute.policy=AUTO"}).first.stages(0).tier_bytes_size(), 0) << "all fits";
}

// In whatever order, a variant that goes on from another one's module is what it is alone.
TEST_F(CandidatesTest, AreWhatTheCompilerMakesOfThem) {
  Candidates candidates(*parsed_, cluster_);
  for (const std::vector<std::string> &overrides :
       std::vector<std::vector<std::string>>{{},
                                             {"zero.stage=3"},
                                             {"recompute.policy=FULL"},
                                             {"zero.stage=1", "recompute.policy=FULL"},
                                             {"zero.stage=1"},
                                             {"dist.tensor=2"},
                                             {"dist.pipeline=2"},
                                             {"dist.pipeline=2", "recompute.policy=SELECTIVE"},
                                             {"batch.micro=2"},
                                             {"model.set=layers=1"},
                                             {"graph.fusion=false"},
                                             {"precision.compute=BF16"}}) {
    SCOPED_TRACE(overrides.empty() ? "the job" : overrides[0]);
    absl::StatusOr<Summary> summary = candidates.compile(jobOf(overrides), /*predict=*/true);
    ASSERT_TRUE(summary.ok()) << summary.status();
    const Summary expected = summaryOf(compiled(overrides));
    EXPECT_EQ(summary->stageBytes, expected.stageBytes);
    EXPECT_EQ(summary->step_s, expected.step_s);
  }
}

// A limit that is not enough for the whole way is enough for the end of it.
TEST_F(CandidatesTest, GoOnFromWhatTheyShare) {
  const Job job = jobOf({}), full = jobOf({"recompute.policy=FULL"});
  Candidates fresh(*parsed_, cluster_), shared(*parsed_, cluster_);
  ASSERT_TRUE(shared.compile(job, false).ok());
  int64_t work = 1;
  for (shared.limit(work); !shared.compile(full, false).ok(); shared.limit(work)) {
    work += work / 8 + 1;
  }
  fresh.limit(work);
  EXPECT_FALSE(fresh.compile(full, false).ok());
  EXPECT_TRUE(fresh.exhausted());
}

TEST_F(CandidatesTest, EndWithTheWorkTheyMayDo) {
  Candidates candidates(*parsed_, cluster_);
  candidates.limit(10);
  EXPECT_EQ(candidates.compile(jobOf({}), false).status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(candidates.exhausted());
  candidates.limit(0);
  EXPECT_TRUE(candidates.compile(jobOf({}), false).ok());
  EXPECT_FALSE(candidates.exhausted());
}

TEST_F(CandidatesTest, SayWhyNotAndPrintNothing) {
  Candidates candidates(*parsed_, cluster_);
  testing::internal::CaptureStderr();
  const absl::Status status =
      candidates.compile(jobOf({"recompute.layers={scope: \"h.9\" policy: FULL}"}), false).status();
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("recompute.layers: expected a layer"), absl::string_view::npos) << status;
}

// With work for one variant alone, that is the one that should save most. (By then it has begun where others ended.)
TEST_F(CandidatesTest, RemediesBeginWithWhatShouldSaveMost) {
  Candidates candidates(*parsed_, cluster_);
  const plan::Plan plan = compiled({});
  const std::string tried = " a rank, predicted step ";
  std::string text;
  for (int64_t work = 1; text.find(tried) == std::string::npos; work += work / 8 + 1) {
    text = remedies(jobOf({}), cluster_, plan, candidates, work);
  }
  size_t begin = text.find("\n    recompute.policy=FULL zero.stage=3 batch.micro=2: ");
  ASSERT_NE(begin, std::string::npos) << text;
  EXPECT_EQ(text.find(tried), text.rfind(tried)) << text;
  EXPECT_LT(text.find(tried), text.find('\n', begin + 1)) << text;
}

} // namespace
} // namespace weft::compiler
