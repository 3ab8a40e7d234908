#include "runtime/show/joins.h"

#include <google/protobuf/text_format.h>

#include "gtest/gtest.h"

namespace weft::plan {
namespace {

// x is gathered to g; a product of it makes p; two joined operators make s of p, in its bytes; s is read by a cast of
// its own, by a product and, as a view v, by the last kernel, which sums.
constexpr char kPlan[] = R"(
  header { micro_batches: 2 }
  placements { device: "cpu" axes { name: "data" size: 2 } ranks: [0, 1] }
  stages {
    buffers { name: "x" dtype: F32 shape: [4, 8] sbp { kind: SPLIT } slots: 1 kind: INPUT }
    buffers { name: "g" dtype: F32 shape: [4, 8] sbp {} slots: 1 }
    buffers { name: "p" dtype: F32 shape: [4, 8] sbp {} slots: 1 }
    buffers { name: "s" dtype: F32 shape: [4, 8] sbp {} slots: 1 alias_of: 3 }
    buffers { name: "v" dtype: F32 shape: [32] sbp {} slots: 1 alias_of: 4 }
    buffers { name: "c" dtype: F32 shape: [4, 8] sbp {} slots: 1 }
    buffers { name: "q" dtype: F32 shape: [4, 8] sbp {} slots: 1 }
    buffers { name: "r" dtype: F32 shape: [32] sbp {} slots: 1 }
    buffers { name: "w" dtype: F32 shape: [4, 8] sbp {} slots: 1 kind: PARAMETER }
    actors { name: "gather" collectives { kind: ALL_GATHER axes: 0 input: 0 output: 1 } writes: 1 }
    actors {
      name: "forward"
      kernels { name: "einsum" inputs: [1, 8] outputs: 2 }
      kernels {
        name: "add+gelu" inputs: [2, 8] outputs: 3 symbol: "k0" location: "m.mlir:5:1 in h.0"
        attributes { key: "joined" value { string: "add m.mlir:5:1 in h.0\nadd m.mlir:7:9 in h.0\ngelu l.mlir:3:4 in h.0.mlp\ncast" } }
      }
      kernels { name: "cast" inputs: 3 outputs: 5 symbol: "k1" attributes { key: "apart" value { string: "0 unit" } } }
      kernels { name: "einsum" inputs: [3, 8] outputs: 6 }
      kernels {
        name: "softmax" inputs: [4, 5] outputs: 7 symbol: "k2"
        attributes { key: "apart" value { string: "0 row, 1 operands" } }
      }
      reads: 1
    }
  })";

class JoinsTest : public testing::Test {
 protected:
  JoinsTest() {
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(kPlan, &plan_));
    programs_ = ProgramsOf(plan_);
  }

  const Kernel& kernel(int k) { return plan_.stages(0).actors(1).kernels(k); }

  // "einsum(p) registered!", with a mark where the compiler could have joined the two.
  std::string Text(const std::vector<Boundary>& boundaries) {
    std::string text;
    for (const Boundary& it : boundaries) {
      text += (text.empty() ? "" : ", ") + it.other + "(";
      for (int32_t b : it.buffers) text += programs_[0].buffer(b).name();
      text += ") " + it.reason + (it.asked ? "!" : "");
    }
    return text;
  }

  Plan plan_;
  std::vector<Program> programs_;
};

TEST_F(JoinsTest, OperatorsOfOneScopeAreTogether) {
  EXPECT_EQ(OperatorsText(kernel(1)), "add, add of h.0 (m.mlir:5, 7), gelu of h.0.mlp (l.mlir:3), cast");
  EXPECT_EQ(OperatorsText(kernel(2)), "cast");
}

TEST_F(JoinsTest, EachReasonIsThatOfTheTwoKernels) {
  const Boundaries boundaries(programs_[0]);
  EXPECT_EQ(Text(boundaries.Before(1, 0)), "all_gather(g) collective");
  EXPECT_EQ(Text(boundaries.Before(1, 1)), "einsum(p) registered") << "w is there at any time";
  EXPECT_EQ(Text(boundaries.Behind(1, 1)), "cast(s) unit!, einsum(s) registered, softmax(s) row!");
  EXPECT_EQ(Text(boundaries.Before(1, 4)), "add+gelu(s) row!, cast(c) operands!");
  EXPECT_EQ(Text(boundaries.Behind(1, 2)), "softmax(c) operands!");
  EXPECT_EQ(Text(boundaries.Behind(1, 4)), "");
  plan_.mutable_stages(0)->mutable_actors(1)->mutable_kernels(4)->clear_attributes();
  EXPECT_EQ(Text(boundaries.Before(1, 4)), "") << "the plan does not say why";
}

TEST_F(JoinsTest, SaysReasonsToPeople) {
  const std::vector<Boundary> before = Boundaries(programs_[0]).Before(1, 4);
  EXPECT_EQ(BoundaryText(programs_[0], before[0]),
            "add+gelu (s): one sums along its rows, and those of the other are longer");
}

}  // namespace
}  // namespace weft::plan
