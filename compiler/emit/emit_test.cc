#include "compiler/emit/emit.h"

#include <gtest/gtest.h>

#include "compiler/codegen/loops.h"
#include "compiler/dialect/task/task.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

namespace weft::compiler {
namespace {

// Emits programs given as text. `diagnostic` is the last error.
class EmitTest : public testing::Test {
protected:
  EmitTest()
      : handler_(&context_, [this](mlir::Diagnostic &error) {
          diagnostic = error.str();
          return mlir::success();
        }) {
    context_.loadDialect<ir::WeftDialect, task::TaskDialect, cell::CellDialect>();
  }

  bool emit(const std::string &text) {
    module_ = mlir::parseSourceString<mlir::ModuleOp>(text, mlir::ParserConfig(&context_));
    return module_ && succeeded(emitPlan(*module_, plan));
  }

  const plan::Actor &actor(const std::string &name) {
    for (const plan::Stage &stage : plan.stages()) {
      for (const plan::Actor &actor : stage.actors()) {
        if (actor.name() == name) {
          return actor;
        }
      }
    }
    ADD_FAILURE() << "no actor " << name;
    return plan::Actor::default_instance();
  }

  // "begin | F*2 | end": the actors of each run of a stream, and how often it repeats if not once.
  std::string runsOf(const std::string &stream) {
    std::string text;
    const plan::Stage &stage = plan.stages(0);
    for (const plan::Stream &it : stage.streams()) {
      for (const plan::Run &run : it.name() == stream ? it.runs() : plan::Stream().runs()) {
        text += text.empty() ? "" : " | ";
        for (auto [i, index] : llvm::enumerate(run.actors())) {
          text += (i > 0 ? " " : "") + stage.actors(index).name();
          if (run.offsets_size() > 0) {
            text += "+" + std::to_string(run.offsets(int(i)));
          }
        }
        text += run.repeat() > 1 ? "*" + std::to_string(run.repeat()) : "";
        text += run.stride() > 1 ? "/" + std::to_string(run.stride()) : "";
      }
    }
    return text;
  }

  plan::Plan plan;
  std::string diagnostic;

private:
  mlir::MLIRContext context_;
  mlir::ScopedDiagnosticHandler handler_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
};

// A program on one rank, with buffers %x and %y, whose units are these.
std::string program(const std::string &body, int microBatches, const std::string &units = "") {
  return R"(
!t = !task.buffer<tensor<16xf32, #weft.sbp<>>>
task.program @main on #weft.placement<"cpu", [], [0]> micro_batches()" +
         std::to_string(microBatches) + ") " + units + R"( {
  %x = task.buffer "x" activation slots(2) : !t
  %y = task.buffer "y" activation : !t
)" + body +
         "}";
}

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
TEST_F(EmitTest, BundlesTheCollectivesOfAnActor) {
  ASSERT_TRUE(emit(kBucket)) << diagnostic;
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

// What the location of a collective says of other layouts, of an axis of its own; the line is that of the model.
TEST_F(EmitTest, SaysTheNextBestLayout) {
  const auto next = [&](const std::string &axes) {
    std::string text = kBucket;
    const std::string end = "%p to %b micro : !p, !b";
    text.insert(text.find(end) + end.size(), " loc(fused<{next_best = [" + axes + "]}>[\"m.mlir\":3:4])");
    plan.Clear();
    EXPECT_TRUE(emit(text)) << diagnostic;
    const plan::Collective &collective = plan.stages(0).actors(1).collectives(0);
    EXPECT_EQ(collective.location(), "m.mlir:3:4");
    return collective.has_next_best() ? collective.next_best().ShortDebugString() : "nothing";
  };
  EXPECT_EQ(next(""), "nothing");
  EXPECT_EQ(next("{axis = 1 : i64}"), "nothing");
  EXPECT_EQ(next("{axis = 0 : i64}"), "");
  EXPECT_EQ(next("{axis = 0 : i64, states = #weft.sbp<P, S(0)>, more_seconds = 0.5 : f64, avoided = true}"),
            "made { kind: PARTIAL_SUM } read { kind: SPLIT } more_s: 0.5 avoided: true");
}

// What the location of a generated kernel says of joining, and of no other one.
TEST_F(EmitTest, SaysWhatWasJoined) {
  const std::string note =
      " loc(fused<{apart = [[1, \"unit\"], [0, \"sum\"]], joined = [[\"add\", \"m.mlir:3:4 in h\"], "
      "[\"neg\", \"\"]]}>[\"m.mlir\":5:6])\n";
  ASSERT_TRUE(
      emit(program("  task.actor \"a\" compute micro {\n"
                   "    task.kernel \"fill\" outs(%x : !t) {} micro" +
                       note + "    task.kernel \"add+neg\" ins(%x, %x : !t, !t) outs(%y : !t) {} micro cell @k" + note +
                       "  }\n",
                   1) +
           R"(
cell.kernel @k domain [16] row 1 strides [array<i64: 1>, array<i64: 1>, array<i64: 1>] {
^bb0(%a: f32, %b: f32):
  %sum = arith.addf %a, %b : f32
  cell.yield %sum : f32
})")) << diagnostic;
  const plan::Actor &a = actor("a");
  EXPECT_EQ(a.kernels(0).attributes_size(), 0);
  EXPECT_EQ(a.kernels(0).location(), "m.mlir:5:6");
  EXPECT_EQ(a.kernels(1).location(), "m.mlir:5:6");
  ASSERT_EQ(a.kernels(1).attributes_size(), 2);
  EXPECT_EQ(a.kernels(1).attributes().at("joined").string(), "add m.mlir:3:4 in h\nneg");
  EXPECT_EQ(a.kernels(1).attributes().at("apart").string(), "1 unit, 0 sum");
}

// Their values are compared where they are declared; their names are the assembly's.
TEST(EmitNamesTest, CollectivesOfTheDialectAreCalledAsInTheTable) {
  for (size_t i = 0; i < kCollectiveKinds; ++i) {
    auto kind = static_cast<CollectiveKind>(i);
    EXPECT_EQ(task::stringifyCollectiveKind(task::kindOf(kind)), NameOf(kind));
  }
}

// Of a unit the phase is what the unit is; of a step, what the ops say, whatever the actor is called.
TEST_F(EmitTest, PhasesAreOfUnitsOrOfOps) {
  ASSERT_TRUE(emit(program(R"(
  task.actor "gather" compute begin { task.kernel "fill" outs(%y : !t) {} begin }
  task.actor "f" compute micro unit "F" { task.kernel "fill" outs(%x : !t) {} micro }
  task.actor "b" compute micro unit "B" { task.kernel "use" ins(%x : !t) {} micro {phase = "backward"} }
  task.actor "w" compute micro unit "W" { task.kernel "use" ins(%x : !t) {} micro {phase = "weight"} }
  task.actor "step" compute step { task.kernel "use" ins(%y : !t) {} step {phase = "update"} }
  task.actor "optimizer" compute step { task.kernel "use" ins(%y : !t) {} step }
)",
                           1, R"(units ["F0", "B0", "W0"])")))
      << diagnostic;
  EXPECT_EQ(actor("gather").phase(), plan::Actor::OTHER);
  EXPECT_EQ(actor("f").phase(), plan::Actor::FORWARD);
  EXPECT_EQ(actor("b").phase(), plan::Actor::BACKWARD);
  EXPECT_EQ(actor("w").phase(), plan::Actor::WEIGHT);
  EXPECT_EQ(actor("step").phase(), plan::Actor::UPDATE);
  EXPECT_EQ(actor("optimizer").phase(), plan::Actor::OTHER);
  for (const char *once : {"gather", "step", "optimizer"}) {
    EXPECT_EQ(actor(once).section(), plan::Actor::STEP) << once;
  }
  for (const char *each : {"f", "b", "w"}) {
    EXPECT_EQ(actor(each).section(), plan::Actor::MICRO) << each;
  }
}

// What begins the step comes first and what ends it last, however the program lists them. Units between repeat as one
// run where each time is a micro-batch later.
TEST_F(EmitTest, StreamsAreBeginUnitsAndStep) {
  ASSERT_TRUE(emit(program(R"(
  task.actor "end" compute step { task.kernel "use" ins(%y : !t) {} step }
  task.actor "b" compute micro unit "B" { task.kernel "use" ins(%x : !t) {} micro {phase = "backward"} }
  task.actor "f" compute micro unit "F" { task.kernel "fill" outs(%x : !t) {} micro }
  task.actor "begin" compute begin { task.kernel "fill" outs(%y : !t) {} begin }
  task.actor "read" host micro unit "F" { task.kernel "fill" outs(%x : !t) {} micro }
  task.actor "send" communication lane "send 0" micro unit "F" { task.send 0 %x micro : !t }
  task.actor "other" communication lane "send 1" micro unit "B" { task.send 1 %x micro : !t }
)",
                           4, R"(units ["F0", "F1", "B0", "F2", "B1", "F3", "B2", "B3"])")))
      << diagnostic;
  EXPECT_EQ(runsOf("compute"), "begin | f*2 | b+0 f+2*2 | b*2 | end");
  EXPECT_EQ(runsOf("host"), "read*4");
  EXPECT_EQ(runsOf("send 0"), "send*4");
  EXPECT_EQ(runsOf("send 1"), "other*4");
  EXPECT_EQ(plan.stages(0).streams_size(), 4);
}

// Micro-batches that overlap act in turns, actor by actor, and a run repeats as many later; the last may be alone.
TEST_F(EmitTest, MicroBatchesThatOverlapActInTurns) {
  const char *actors = R"(
  task.actor "f" compute micro unit "F" { task.kernel "fill" outs(%x : !t) {} micro }
  task.actor "g" compute micro unit "F" { task.kernel "use" ins(%x : !t) {} micro }
  task.actor "b" compute micro unit "B" { task.kernel "use" ins(%x : !t) {} micro {phase = "backward"} }
  task.actor "read" host micro unit "F" { task.kernel "fill" outs(%y : !t) {} micro }
)";
  ASSERT_TRUE(
      emit(program(actors, 5, R"(units ["F0", "F1", "B0", "B1", "F2", "F3", "B2", "B3", "F4", "B4"] overlap(2))")))
      << diagnostic;
  EXPECT_EQ(runsOf("compute"), "f+0 f+1 g+0 g+1 b+0 b+1*2/2 | f g | b");
  EXPECT_EQ(runsOf("host"), "read+0 read+1*2/2 | read");
}

// Or as their places in a turn say.
TEST_F(EmitTest, ActsOfATurnHaveTheirPlaces) {
  ASSERT_TRUE(emit(program(R"(
  task.actor "f" compute micro unit "F" attributes {turn = array<i64: 0, 2>} { task.kernel "fill" outs(%x : !t) {} micro }
  task.actor "g" compute micro unit "F" attributes {turn = array<i64: 1, 4>} { task.kernel "use" ins(%x : !t) {} micro }
  task.actor "read" host micro unit "F" attributes {turn = array<i64: 3, 5>} { task.kernel "fill" outs(%y : !t) {} micro }
)",
                           3, R"(units ["F0", "F1", "B0", "B1", "F2", "B2"] overlap(2))")))
      << diagnostic;
  EXPECT_EQ(runsOf("compute"), "f+0 g+0 f+1 g+1 | f g");
  EXPECT_EQ(runsOf("host"), "read+0 read+1 | read");
}

// A view has the bytes and the slots of what it is a view of.
TEST_F(EmitTest, ViewsShareSlots) {
  ASSERT_TRUE(emit(program("%v = task.alias %x : !t as !task.buffer<tensor<4x4xf32, #weft.sbp<>>>", 2))) << diagnostic;
  const plan::Buffer &x = plan.stages(0).buffers(0), &view = plan.stages(0).buffers(2);
  EXPECT_EQ(x.slots(), 2);
  EXPECT_EQ(view.slots(), 2);
  EXPECT_EQ(view.alias_of(), 1);
  EXPECT_EQ(plan.stages(0).buffers(1).slots(), 1);
}

// The two ends of a transfer, which two programs have.
TEST_F(EmitTest, TransfersKnowBothEnds) {
  const std::string type = "!t = !task.buffer<tensor<16xf32, #weft.sbp<>>>\n";
  ASSERT_TRUE(emit(type + R"(
task.program @stage0 on #weft.placement<"cpu", [], [0]> micro_batches(1) {
  %a = task.buffer "a" activation : !t
  %b = task.buffer "b" activation : !t
  task.actor "fill" compute micro unit "F" { task.kernel "fill" outs(%b : !t) {} micro }
  task.actor "send" communication lane "send 0" micro unit "F" { task.send 0 %b micro : !t }
}
task.program @stage1 on #weft.placement<"cpu", [], [1]> micro_batches(1) {
  %c = task.buffer "c" communication : !t
  task.actor "receive" communication lane "receive 0" micro unit "F" { task.receive 0 %c micro : !t }
  task.actor "use" compute micro unit "F" { task.kernel "use" ins(%c : !t) {} micro }
})")) << diagnostic;
  ASSERT_EQ(plan.transfers_size(), 1);
  EXPECT_EQ(plan.transfers(0).source_stage(), 0);
  EXPECT_EQ(plan.transfers(0).source_buffer(), 1);
  EXPECT_EQ(plan.transfers(0).target_stage(), 1);
  EXPECT_EQ(plan.transfers(0).target_buffer(), 0);
  // What the actor reads is what it sends, and what it receives it writes.
  EXPECT_EQ(actor("send").reads_size(), 1);
  EXPECT_EQ(actor("receive").writes_size(), 1);
}

} // namespace
} // namespace weft::compiler
