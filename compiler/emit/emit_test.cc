#include "compiler/emit/emit.h"

#include <gtest/gtest.h>

#include "compiler/dialect/task/task.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

namespace weft::compiler {
namespace {

constexpr const char *kBucket = R"(
!p = !task.buffer<tensor<16xf32, #weft.sbp<P>>>
!b = !task.buffer<tensor<16xf32, #weft.sbp<B>>>
!s = !task.buffer<tensor<16xf32, #weft.sbp<S(0)>>>
task.program @main on #weft.placement<"cpu", [data = 2], [0, 1]> micro_batches(1) {
  %p = task.buffer "p" gradient : !p
  %q = task.buffer "q" gradient : !p
  %b = task.buffer "b" gradient : !b
  %s = task.buffer "s" gradient : !s
  task.actor "backward" compute micro {
    task.kernel "fill" outs(%p, %q : !p, !p) {} micro
  }
  task.actor "bucket" communication micro {
    task.collective all_reduce [0] %p to %b micro : !p, !b
    task.collective reduce_scatter [0] dim 0 %q to %s micro : !p, !s
  }
})";

// The collectives of an actor become one bundle, whose operands are registers.
TEST(EmitTest, BundlesTheCollectivesOfAnActor) {
  mlir::MLIRContext context;
  context.loadDialect<ir::WeftDialect, task::TaskDialect>();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(kBucket, mlir::ParserConfig(&context));
  ASSERT_TRUE(module);
  plan::Plan plan;
  ASSERT_TRUE(succeeded(emitPlan(*module, plan)));
  ASSERT_EQ(plan.stages_size(), 1);
  ASSERT_EQ(plan.stages(0).actors_size(), 2);
  const plan::Actor &bucket = plan.stages(0).actors(1);
  ASSERT_EQ(bucket.collectives_size(), 2);
  EXPECT_EQ(bucket.collectives(0).kind(), plan::Collective::ALL_REDUCE);
  EXPECT_EQ(bucket.collectives(0).input(), 0);
  EXPECT_EQ(bucket.collectives(0).output(), 2);
  EXPECT_EQ(bucket.collectives(1).kind(), plan::Collective::REDUCE_SCATTER);
  EXPECT_EQ(bucket.collectives(1).input(), 1);
  EXPECT_EQ(bucket.collectives(1).output(), 3);
  EXPECT_EQ(bucket.reads_size(), 2);
}

} // namespace
} // namespace weft::compiler
