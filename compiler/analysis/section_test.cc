#include "compiler/analysis/section.h"

#include "compiler/analysis/cost.h"
#include "tests/support/analysis_fixture.h"

namespace weft::compiler {
namespace {

class SectionTest : public AnalysisTest {
protected:
  // "begin", "micro" or "step".
  std::string sectionOf(const Sections &sections, llvm::StringRef name) {
    mlir::Operation *op = named(name);
    EXPECT_EQ(sections.isBegin(op) + sections.isMicro(op) + sections.isStep(op), 1) << name.str();
    return sections.isBegin(op) ? "begin" : sections.isMicro(op) ? "micro" : "step";
  }
};

constexpr char kTrain[] = R"(
  %w = weft.parameter "w" [4, 4] init(zeros) : () -> tensor<4x4xf32>
  %c = weft.neg %w {scope = "once"} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %d = weft.neg %c {scope = "of once"} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %e = weft.neg %w {scope = "on use", on_use} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %f = weft.neg %e {scope = "of on use"} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %0 = weft.einsum "bi,io->bo" %x, %d {scope = "product"} : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %1 = weft.einsum "bi,io->bo" %0, %f {scope = "again", phase = "recompute"} : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %2 = weft.einsum "bi,bo->io" %0, %1 {scope = "gradient"} : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  %3 = weft.accumulate %2 {scope = "sum"} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %4 = weft.neg %3 {scope = "update"} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %5 = weft.einsum "ij,jk->ik" %4, %4 {scope = "step product"} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  weft.assign %w, %5 {scope = "assign"} : (tensor<4x4xf32>, tensor<4x4xf32>)
)";
constexpr char kInput[] =
    "@g(\"x\" %x: tensor<8x4xf32>) placements [#weft.placement<\"cpu\", [], [0]>] micro_batches 3";

TEST_F(SectionTest, WhatASumDependsOnRunsOnceAMicroBatch) {
  Sections sections(graph(kInput, kTrain));
  EXPECT_EQ(sectionOf(sections, "product"), "micro");
  EXPECT_EQ(sectionOf(sections, "gradient"), "micro");
  EXPECT_EQ(sectionOf(sections, "sum"), "micro");
  EXPECT_EQ(sectionOf(sections, "update"), "step");
  EXPECT_EQ(sectionOf(sections, "assign"), "step");
}

TEST_F(SectionTest, WhatDependsOnParametersAloneRunsOnceBeforeUnlessOnUse) {
  Sections sections(graph(kInput, kTrain));
  EXPECT_EQ(sectionOf(sections, "once"), "begin");
  EXPECT_EQ(sectionOf(sections, "of once"), "begin");
  EXPECT_EQ(sectionOf(sections, "on use"), "micro");
  EXPECT_EQ(sectionOf(sections, "of on use"), "micro");
}

// One number is made again: to keep it would cost more than that.
TEST_F(SectionTest, ConstantsAndWhatIsMadeOfThemAloneRunOnceBefore) {
  Sections sections(graph(kInput, R"(
    %w = weft.parameter "w" [4] init(zeros) : () -> tensor<4xf32>
    %i = weft.iota [4] dim(0) to f32 {scope = "places"} : () -> tensor<4xf32>
    %c = weft.constant [4] values [1, 2, 3, 4] {scope = "listed"} : () -> tensor<4xf32>
    %f = weft.fill [4] value(2) {scope = "filled"} : () -> tensor<4xf32>
    %n = weft.fill [] value(2) {scope = "number"} : () -> tensor<f32>
    %r = weft.random_uniform [4] low(0) high(1) seed(3) {scope = "random"} : () -> tensor<4xf32>
    %0 = weft.add_n %i, %c, %f, %w {scope = "of constants"} : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %1 = weft.mul %x, %0 {scope = "of the input"} : (tensor<8x4xf32>, tensor<4xf32>) -> tensor<8x4xf32>
    %2 = weft.mul %1, %r : (tensor<8x4xf32>, tensor<4xf32>) -> tensor<8x4xf32>
    %3 = weft.mul %2, %n : (tensor<8x4xf32>, tensor<f32>) -> tensor<8x4xf32>
    %4 = weft.reduce sum %3 over [0] : (tensor<8x4xf32>) -> tensor<4xf32>
    %5 = weft.accumulate %4 : (tensor<4xf32>) -> tensor<4xf32>
    weft.assign %w, %5 : (tensor<4xf32>, tensor<4xf32>)
  )"));
  for (llvm::StringRef name : {"places", "listed", "filled", "of constants"}) {
    EXPECT_EQ(sectionOf(sections, name), "begin") << name.str();
  }
  for (llvm::StringRef name : {"number", "random", "of the input"}) {
    EXPECT_EQ(sectionOf(sections, name), "micro") << name.str();
  }
}

// T5's buckets: places divided by numbers, and by a logarithm of a number.
TEST_F(SectionTest, ANumberIsMadeOnceBeforeWhereAConstantReadsIt) {
  Sections sections(graph(kInput, R"(
    %w = weft.parameter "w" [4] init(zeros) : () -> tensor<4xf32>
    %i = weft.iota [4] dim(0) to f32 {scope = "places"} : () -> tensor<4xf32>
    %a = weft.fill [1] value(8) {scope = "number"} : () -> tensor<1xf32>
    %b = weft.log %a {scope = "logarithm"} : (tensor<1xf32>) -> tensor<1xf32>
    %c = weft.fill [1] value(3) {scope = "of both"} : () -> tensor<1xf32>
    %d = weft.fill [1] value(5) {scope = "of the input alone"} : () -> tensor<1xf32>
    %e = weft.log %d {scope = "its logarithm"} : (tensor<1xf32>) -> tensor<1xf32>
    %g = weft.broadcast_to %d [4] {scope = "of a number alone"} : (tensor<1xf32>) -> tensor<4xf32>
    %0 = weft.div %i, %b {scope = "ratio"} : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
    %1 = weft.add %0, %c {scope = "sum"} : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
    %2 = weft.mul %x, %1 : (tensor<8x4xf32>, tensor<4xf32>) -> tensor<8x4xf32>
    %3 = weft.mul %2, %c : (tensor<8x4xf32>, tensor<1xf32>) -> tensor<8x4xf32>
    %4 = weft.mul %3, %e : (tensor<8x4xf32>, tensor<1xf32>) -> tensor<8x4xf32>
    %5 = weft.mul %4, %g : (tensor<8x4xf32>, tensor<4xf32>) -> tensor<8x4xf32>
    %6 = weft.reduce sum %5 over [0] : (tensor<8x4xf32>) -> tensor<4xf32>
    %7 = weft.accumulate %6 : (tensor<4xf32>) -> tensor<4xf32>
    weft.assign %w, %7 : (tensor<4xf32>, tensor<4xf32>)
  )"));
  for (llvm::StringRef name : {"places", "number", "logarithm", "of both", "ratio", "sum"}) {
    EXPECT_EQ(sectionOf(sections, name), "begin") << name.str();
  }
  for (llvm::StringRef name : {"of the input alone", "its logarithm", "of a number alone"}) {
    EXPECT_EQ(sectionOf(sections, name), "micro") << name.str();
  }
}

// What is dropped of a parameter is another part in every micro-batch.
TEST_F(SectionTest, WhatVariesByMicroBatchRunsInEach) {
  Sections sections(graph(kInput, R"(
    %w = weft.parameter "w" [4] init(ones) : () -> tensor<4xf32>
    %0 = weft.dropout %w rate(0.5) seed(3) {scope = "dropped"} : (tensor<4xf32>) -> tensor<4xf32>
    %1 = weft.set_padding %w [4] value(0) batch(6) {scope = "of the batch"} : (tensor<4xf32>) -> tensor<4xf32>
    %2 = weft.set_padding %w [3] value(0) {scope = "of all"} : (tensor<4xf32>) -> tensor<4xf32>
    %3 = weft.add_n %0, %1, %2 : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %4 = weft.mul %x, %3 : (tensor<8x4xf32>, tensor<4xf32>) -> tensor<8x4xf32>
    %6 = weft.reduce sum %4 over [0] : (tensor<8x4xf32>) -> tensor<4xf32>
    %7 = weft.accumulate %6 : (tensor<4xf32>) -> tensor<4xf32>
    weft.assign %w, %7 : (tensor<4xf32>, tensor<4xf32>)
  )"));
  EXPECT_EQ(sectionOf(sections, "dropped"), "micro");
  EXPECT_EQ(sectionOf(sections, "of the batch"), "micro");
  EXPECT_EQ(sectionOf(sections, "of all"), "begin");
}

TEST_F(SectionTest, RunsInAStep) {
  Sections sections(graph(kInput, kTrain));
  EXPECT_EQ(sections.runs(named("product"), 3), 3);
  EXPECT_EQ(sections.runs(named("once"), 3), 1);
  EXPECT_EQ(sections.runs(named("update"), 3), 1);
}

TEST_F(SectionTest, WithoutASumEverythingIsOfTheMicroBatch) {
  Sections sections(graph("@g(\"x\" %x: tensor<4xf32>) placements [#weft.placement<\"cpu\", [], [0]>]",
                          "%0 = weft.neg %x {scope = \"a\"} : (tensor<4xf32>) -> tensor<4xf32>\n"
                          "%w = weft.parameter \"w\" [4] init(zeros) : () -> tensor<4xf32>\n"
                          "%1 = weft.neg %w {scope = \"b\"} : (tensor<4xf32>) -> tensor<4xf32>"));
  EXPECT_EQ(sectionOf(sections, "a"), "micro");
  EXPECT_EQ(sectionOf(sections, "b"), "micro");
}

// ---- costs, which count by section ------------------------------------------

TEST_F(SectionTest, UsefulFlopsAreThoseOfContractionsOfAStepWithoutWhatIsComputedAgain) {
  // product and gradient: 2 x 8 x 4 x 4 each, three times; the product of the update 2 x 4 x 4 x 4, once.
  EXPECT_EQ(modelFlops(graph(kInput, kTrain)), 3 * (256 + 256) + 128);
}

TEST_F(SectionTest, LocalWorkIsThatOfATile) {
  ir::GraphOp made = graph(
      "@g(\"x\" %x: tensor<8x4xf32, #weft.sbp<S(0), B>>, \"w\" %w: tensor<4x6xf32, #weft.sbp<B, S(1)>>) placements "
      "[#weft.placement<\"cpu\", [data = 4, tensor = 2], [0, 1, 2, 3, 4, 5, 6, 7]>]",
      "%0 = weft.einsum \"bi,io->bo\" %x, %w {scope = \"product\"} : (tensor<8x4xf32, #weft.sbp<S(0), B>>, "
      "tensor<4x6xf32, #weft.sbp<B, S(1)>>) -> tensor<8x6xf32, #weft.sbp<S(0), S(1)>>\n"
      "%1 = weft.box %0 {scope = \"box\"} : (tensor<8x6xf32, #weft.sbp<S(0), S(1)>>) -> tensor<8x6xf32, "
      "#weft.sbp<S(0), B>>");
  ir::PlacementAttr mesh = made.getPlacement(0);
  mlir::Operation *product = named("product");
  EXPECT_EQ(tileOf(product->getResult(0), mesh).getShape(), (llvm::ArrayRef<int64_t>{2, 3}));
  plan::KernelWork work = localWork(llvm::cast<ir::WeftOpInterface>(product), mesh);
  EXPECT_EQ(work.contraction_flops, 2 * 2 * 4 * 3);
  EXPECT_EQ(work.flops, 0);
  EXPECT_EQ(work.bytes, 4 * (2 * 4 + 4 * 3 + 2 * 3));
  plan::KernelWork box = localWork(llvm::cast<ir::BoxOp>(named("box")), mesh);
  EXPECT_EQ(box.contraction_flops + box.flops, 0);
  EXPECT_EQ(box.bytes, 2 * 4 * 2 * 6); // reads and writes its result
}

} // namespace
} // namespace weft::compiler
