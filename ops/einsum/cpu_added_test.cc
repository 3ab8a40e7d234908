#include "ops/einsum/cpu_added.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "ops/families.h"
#include "tests/support/kernel_testing.h"

namespace weft {
namespace {

using testing::RandomValues;
using testing::RunKernel;
using testing::Values;

const KernelRegistry& Registry() {
  static const KernelRegistry* registry = [] {
    auto* made = new KernelRegistry;
    RegisterEinsumKernels(*made);
    RegisterOptimizerKernels(*made);
    return made;
  }();
  return *registry;
}

struct Shape {
  const char *what, *equation;
  std::vector<int64_t> left, right, result;
};

// The gradient of a matrix.
Shape Gradient(const char* what, int64_t tokens, int64_t in, int64_t out) {
  return {what, "bsi,bso->io", {2, tokens, in}, {2, tokens, out}, {in, out}};
}

std::vector<Shape> Shapes() {
  return {Gradient("packed", 70, 300, 130),
          Gradient("packed, of several parts", 600, 261, 67),
          Gradient("packed in bf16 alone", 35, 100, 66),
          Gradient("small", 35, 17, 66),
          {"into a copy", "ib,bo->oi", {300, 40}, {40, 70}, {70, 300}},
          {"of a copy", "sbi,bso->io", {35, 2, 300}, {2, 35, 70}, {300, 70}},
          {"of rows next to none", "ab,bc->ca", {130, 50}, {50, 310}, {310, 130}}};
}

KernelSpec ProductOf(const Shape& shape, DType operands, int threads) {
  return {.name = "einsum",
          .inputs = {TensorSpec::Whole(operands, shape.left), TensorSpec::Whole(operands, shape.right)},
          .outputs = {TensorSpec::Whole(DType::kF32, shape.result)},
          .attributes = {{"equation", std::string(shape.equation)}},
          .threads = threads};
}

Values ResultOf(const KernelSpec& spec, const std::vector<Values>& inputs, int64_t micro_batch,
                const std::vector<std::pair<int, int>>& in_place) {
  auto got = RunKernel(Registry(), spec, inputs, {.micro_batch = micro_batch}, in_place);
  EXPECT_TRUE(got.ok()) << got.status();
  return got.ok() ? (*got)[0] : Values();
}

TEST(AddedEinsumTest, AccumulatesAsASumOfItsOwn) {
  for (const Shape& shape : Shapes()) {
    for (DType operands : {DType::kF32, DType::kBF16, DType::kF16}) {
      for (int threads : {1, 3}) {
        SCOPED_TRACE(std::string(shape.what) + " of " + NameOf(operands) + ", threads " + std::to_string(threads));
        const KernelSpec product = ProductOf(shape, operands, threads);
        const Values left = RandomValues(product.inputs[0].elements(), 1, -1, 1, operands);
        const Values right = RandomValues(product.inputs[1].elements(), 2, -1, 1, operands);
        const Values before = RandomValues(product.outputs[0].elements(), 3);
        const Values term = ResultOf(product, {left, right}, 0, {});
        KernelSpec sum{.name = "accumulate",
                       .inputs = {product.outputs[0], product.outputs[0]},
                       .outputs = product.outputs,
                       .threads = threads};
        KernelSpec joined = product;
        joined.name = "accumulate_einsum";
        joined.inputs.push_back(product.outputs[0]);
        for (int64_t micro_batch : {0, 1, 3}) {
          EXPECT_EQ(ResultOf(joined, {left, right, before}, micro_batch, {{2, 0}}),
                    ResultOf(sum, {term, before}, micro_batch, {{1, 0}}))
              << micro_batch;
        }
      }
    }
  }
}

// Where the result is what is added to, and where it is not.
TEST(AddedEinsumTest, AddsAsATensorOfItsOwn) {
  for (const Shape& shape : Shapes()) {
    for (DType operands : {DType::kF32, DType::kBF16}) {
      for (int threads : {1, 3}) {
        SCOPED_TRACE(std::string(shape.what) + " of " + NameOf(operands) + ", threads " + std::to_string(threads));
        KernelSpec spec = ProductOf(shape, operands, threads);
        const Values left = RandomValues(spec.inputs[0].elements(), 1, -1, 1, operands);
        const Values right = RandomValues(spec.inputs[1].elements(), 2, -1, 1, operands);
        const Values before = RandomValues(spec.outputs[0].elements(), 3);
        Values want = ResultOf(spec, {left, right}, 0, {});
        for (size_t i = 0; i < want.size(); ++i) want[i] = static_cast<float>(want[i] + before[i]);
        spec.attributes.Set("epilogue", std::string("add"));
        spec.inputs.push_back(spec.outputs[0]);
        EXPECT_EQ(ResultOf(spec, {left, right, before}, 1, {{2, 0}}), want);
        EXPECT_EQ(ResultOf(spec, {left, right, before}, 1, {}), want);
      }
    }
  }
}

TEST(AddedEinsumTest, RefusesSumsOfOtherTypesAndShapes) {
  KernelSpec spec = ProductOf(Gradient("", 2, 3, 4), DType::kF32, 1);
  spec.name = "accumulate_einsum";
  spec.inputs.push_back(TensorSpec::Whole(DType::kF32, {4, 3}));
  EXPECT_EQ(Registry().Create(spec).status().message(),
            "accumulate_einsum: expected one f32 sum, got f32[4,3] and f32[3,4]");
  spec.inputs[2] = spec.outputs[0] = TensorSpec::Whole(DType::kBF16, {3, 4});
  EXPECT_EQ(Registry().Create(spec).status().message(),
            "accumulate_einsum: expected one f32 sum, got bf16[3,4] and bf16[3,4]");
}

}  // namespace
}  // namespace weft
