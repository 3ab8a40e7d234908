// Models and layouts that once failed and that the generator does not make: each trains as one rank does.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/fuzz/case.h"
#include "tests/fuzz/train.h"
#include "tests/fuzz/trial.h"

namespace weft::fuzz {
namespace {

struct Found {
  std::string name;
  std::string model;  // behind the imports, which have models/layers.mlir
  std::string job;    // all but the model
  Overrides many;     // what the layout adds to one rank's job
  std::string compute = "F32";
  std::string order = "";  // a schedule file
};

void PrintTo(const Found& found, std::ostream* out) { *out << found.name; }

// In-place kernels of one chunk of the turning stage may not overwrite what the other chunk's weight part still reads.
constexpr char kResiduals[] = R"(
model.config @vocab = 16
model.config @seq = 8
model.config @hidden = 8
model.layer @block(%x) {
  %0 = model.call @rms_norm "norm" (%x) [hidden]
  %1 = model.call @mlp "mlp" (%0) [hidden, 4 * hidden]
  %2 = weft.add %x, %1
  model.return %2
}
model.graph @train(%tokens [batch, seq] i32, %labels [batch, seq] i32) {
  %x, %table = model.call @embedding "embedding" (%tokens) [vocab, hidden]
  %h = model.repeat 3 "h" @block(%x)
  %logits = model.call @tied_head (%h, %table)
  %loss, %count = weft.cross_entropy %logits, %labels
  weft.minimize %loss per %count
}
)";

// The forward of the second stage is a function of constants alone, so nothing that it receives makes it wait.
constexpr char kConstants[] = R"(
model.graph @train(%x [batch, 8] f32) {
  %a = weft.parameter "a" [8, 8] init(normal 0.3)
  %0 = weft.einsum "bi,io->bo" %x, %a
  model.stage 1
  %fill = weft.fill [8, 8] value(0.25)
  %exp = weft.exp %fill
  %tanh = weft.tanh %exp
  %noise = weft.einsum "ij,jk->ik" %exp, %tanh
  %b = weft.parameter "b" [8, 8] init(normal 0.3)
  %c = weft.mul %noise, %b
  %1 = weft.einsum "bi,io->bo" %0, %c
  %2 = weft.square %1
  %loss = weft.reduce mean %2 over [0, 1]
  weft.minimize %loss
}
)";

// A view of a parameter is no parameter: nothing initialises it.
constexpr char kReshaped[] = R"(
model.graph @train(%x [batch, 8] f32) {
  %a = weft.parameter "a" [4, 2, 8] init(normal 0.3)
  %view = weft.reshape %a [8, 8]
  %0 = weft.einsum "bi,io->bo" %x, %view
  %1 = weft.tanh %0
  %2 = weft.square %1
  %loss = weft.reduce mean %2 over [0, 1]
  weft.minimize %loss
}
)";

// In float16 the loss is multiplied by the loss scale, of which the gradient of a reduction takes a view.
constexpr char kReduced[] = R"(
model.graph @train(%x [batch, 8] f32) {
  %a = weft.parameter "a" [8, 8] init(normal 0.3)
  %0 = weft.einsum "bi,io->bo" %x, %a
  %1 = weft.square %0
  %loss = weft.reduce mean %1 over [0, 1]
  weft.minimize %loss
}
)";

// What the last micro-batch leaves is assigned: by a view of what the backward reads too, after an op that may work in
// place on it, and through both. What is computed and never read changes nothing.
constexpr char kAssigned[] = R"(
model.graph @train(%x [batch, 8] f32) {
  %flat = weft.parameter "flat" [2 * 8] init(zeros)
  %last = weft.parameter "last" [2, 8] init(zeros)
  %both = weft.parameter "both" [2 * 8] init(zeros)
  %a = weft.parameter "a" [8, 8] init(normal 0.3)
  %0 = weft.einsum "bi,io->bo" %x, %a
  model.stage 1
  %1 = weft.tanh %0
  %2 = weft.tanh %1
  %3 = weft.tanh %2
  %view = weft.reshape %1 [2 * 8]
  weft.assign %flat, %view
  %neg = weft.neg %2
  weft.assign %last, %neg
  %view3 = weft.reshape %3 [2 * 8]
  %neg3 = weft.neg %view3
  weft.assign %both, %neg3
  %b = weft.parameter "b" [8, 8] init(normal 0.3)
  %4 = weft.einsum "bi,io->bo" %3, %b
  %vain = weft.exp %1
  %vain1 = weft.tanh %vain
  %vain2 = weft.exp %vain1
  %vain3 = weft.tanh %vain2
  %5 = weft.square %4
  %loss = weft.reduce mean %5 over [0, 1]
  weft.minimize %loss
}
)";

class FoundTest : public testing::TestWithParam<Found> {};

TEST_P(FoundTest, AgreesWithOneRank) {
  const Found& found = GetParam();
  const std::string root = std::filesystem::current_path();
  const std::string file = absl::StrCat(testing::TempDir(), "/", found.name, ".mlir");
  std::ofstream(file) << "model.import \"" << root << "/models/layers.mlir\"\n" << found.model;
  Overrides many = found.many;
  if (!found.order.empty()) {
    const std::string order = absl::StrCat(testing::TempDir(), "/", found.name, ".txt");
    std::ofstream(order) << found.order;
    many.push_back("pipeline.schedule_file=" + order);
  }
  const auto train = [&](const std::string& compute, Overrides overrides) {
    // As in trial.cc.
    overrides.push_back(
        absl::StrCat("precision={compute: ", compute, compute == "F16" ? " loss_scale { initial: 64 }" : "", "}"));
    absl::StatusOr<Result> result =
        Train(absl::StrCat("model { file: \"", file, "\" graph: \"train\" }\n", found.job), overrides, 16, 3);
    EXPECT_TRUE(result.ok()) << result.status();
    return result.ok() ? *result : Result();
  };
  const Result one = train(found.compute, {}), disturbed = train(found.compute == "F32" ? "BF16" : "F32", {});
  double share = 0;
  EXPECT_EQ(Differences(train(found.compute, many), one, disturbed, found.compute != "F32", &share), "");
}

// Stage 0 comes to its first backward five forwards after stage 1 has no slot left for what it would send back.
constexpr char kGpipeAnd1f1b[] = R"(
F0 F1 F2 F3 F4 F5 F6 F7 F8 F9 F10 F11 B0 B1 B2 B3 B4 B5 B6 B7 B8 B9 B10 B11
F0 B0 F1 B1 F2 B2 F3 B3 F4 B4 F5 B5 F6 B6 F7 B7 F8 B8 F9 B9 F10 B10 F11 B11
)";

constexpr char kMicroBatches[] = "batch { global: 8 micro: 2 }\noptimizer { adam { lr: 0.01 eps: 0.1 } }\nseed: 1\n";

INSTANTIATE_TEST_SUITE_P(
    , FoundTest,
    testing::Values(
        Found{"ResidualsAtTheTurn",
              kResiduals,
              "batch { global: 4 micro: 4 }\noptimizer { adam { lr: 0.01 eps: 0.1 } }",
              {"dist.data=2", "dist.pipeline=2", "pipeline={schedule: ZERO_BUBBLE form: V}"}},
        Found{"FarAhead",
              kResiduals,
              "batch { global: 12 micro: 1 }\noptimizer { adam { lr: 0.01 eps: 0.1 } }",
              {"dist.pipeline=2"},
              "F32",
              kGpipeAnd1f1b},
        Found{"ConstantsGpipe", kConstants, kMicroBatches, {"dist.pipeline=2", "pipeline.schedule=GPIPE"}},
        Found{"ConstantsZeroBubble", kConstants, kMicroBatches, {"dist.pipeline=2", "pipeline.schedule=ZERO_BUBBLE"}},
        Found{"ReshapeOfAParameter", kReshaped, kMicroBatches, {"dist.data=2"}},
        Found{"ReshapeOfAParameterZero", kReshaped, kMicroBatches, {"dist.data=2", "zero.stage=3"}},
        Found{"ReducedInFloat16", kReduced, kMicroBatches, {"dist.data=2"}, "F16"},
        Found{"AssignedGpipe", kAssigned, kMicroBatches, {"dist.pipeline=2", "pipeline.schedule=GPIPE"}},
        Found{"AssignedNarrow", kAssigned, kMicroBatches, {"dist.pipeline=2", "pipeline.schedule=GPIPE"}, "BF16"},
        Found{"AssignedZeroBubble", kAssigned, kMicroBatches, {"dist.pipeline=2", "pipeline.schedule=ZERO_BUBBLE"}}),
    [](const testing::TestParamInfo<Found>& info) { return info.param.name; });

}  // namespace
}  // namespace weft::fuzz
