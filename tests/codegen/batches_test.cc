// Kernels for several tensors at once, beside what they should do to each.
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "compiler/codegen/blocks.h"
#include "compiler/codegen/object.h"
#include "compiler/codegen/ptx.h"
#include "gtest/gtest.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "runtime/code/code.h"
#include "runtime/code/levels.h"
#include "tests/emulation/simt/gpu_testing.h"

namespace weft::compiler {
namespace {

// p - lr g, and its copy in bfloat16.
constexpr char kAll[] = R"(
  cell.kernel @all batch domain [1] row 1 strides [array<i64: 0>, array<i64: 1>, array<i64: 1>, array<i64: 1>, array<i64: 1>] {
  ^bb0(%lr: f32, %p: f32, %g: f32):
    %0 = arith.mulf %lr, %g : f32
    %1 = arith.subf %p, %0 : f32
    %2 = arith.truncf %1 : f32 to bf16
    cell.yield %1, %2 : f32, bf16
  })";

// Of one place, of less than a group, of whole ones and of what is behind them; in all more than a launch takes.
const std::vector<int64_t>& sizes() {
  static const std::vector<int64_t> all = [] {
    std::vector<int64_t> made = {1, 5, 16, 17, 768, 4096, 4099, 70001};
    for (int64_t i = 0; i < 200; ++i) made.push_back(1 + (i * 37) % 300);
    return made;
  }();
  return all;
}

struct Tensor {
  std::vector<float> p, g;
  std::vector<uint16_t> copy;
};

// Each with a number behind it that is not to change.
std::vector<Tensor> tensors() {
  std::vector<Tensor> made;
  for (int64_t n : sizes()) {
    const auto size = static_cast<size_t>(n) + 1;
    const testing::Values p = testing::RandomValues(n + 1, 2 * n), g = testing::RandomValues(n + 1, 2 * n + 1);
    made.push_back({{p.begin(), p.end()}, {g.begin(), g.end()}, std::vector<uint16_t>(size, 0x7777)});
  }
  return made;
}

class BatchesTest : public ::testing::Test {
 protected:
  BatchesTest() { context_.loadDialect<cell::CellDialect, mlir::arith::ArithDialect, mlir::math::MathDialect>(); }

  // Of one kernel on a device.
  std::shared_ptr<const code::Code> codeOf(const char* text, bool onHost, int64_t& units) {
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context_);
    EXPECT_TRUE(module);
    auto kernel = *module->getOps<cell::KernelOp>().begin();
    const Loops loops = *loopsOf(kernel);
    const Blocks blocks = blocksOf(kernel, loops);
    units = onHost ? loops.units() : kernel.getBatch() ? blocks.batchPlaces() : blocks.blocks(loops);
    absl::StatusOr<std::string> object = onHost ? hostObjectOf({kernel}) : gpuCodeOf({kernel});
    EXPECT_TRUE(object.ok()) << object.status();
    plan::Code code;
    code.set_target(onHost ? code::kHostTarget : code::kGpuTarget);
    code.set_object(*object);
    code.add_symbols(kernel.getSymName().str());
    auto loaded = code::Load(code);
    EXPECT_TRUE(loaded.ok()) << loaded.status();
    return *loaded;
  }

  static void add(KernelSpec& spec, int64_t n) {
    spec.inputs.insert(spec.inputs.end(), 2, TensorSpec::Whole(DType::kF32, {n}));
    spec.outputs.push_back(TensorSpec::Whole(DType::kF32, {n}));
    spec.outputs.push_back(TensorSpec::Whole(DType::kBF16, {n}));
  }

  // Updates all of them with one kernel.
  static absl::Status runAll(const code::Code& code, int64_t units, int threads, Gpu* gpu, std::vector<Tensor>& all) {
    plan::Kernel kernel;
    kernel.set_symbol("all");
    kernel.set_units(units);
    kernel.set_segments(static_cast<int64_t>(all.size()));
    kernel.set_shared(1);
    KernelSpec spec{.name = "all", .inputs = {TensorSpec::Whole(DType::kF32, {})}, .threads = threads, .gpu = gpu};
    std::vector<const void*> inputs = {&kRate};
    std::vector<void*> outputs;
    for (Tensor& tensor : all) {
      add(spec, static_cast<int64_t>(tensor.p.size()) - 1);
      inputs.insert(inputs.end(), {tensor.p.data(), tensor.g.data()});
      outputs.insert(outputs.end(), {tensor.p.data(), tensor.copy.data()});
    }
    WEFT_ASSIGN_OR_RETURN(auto made, code.Make(kernel, {}, spec));
    return made->Run({}, inputs, outputs);
  }

  // To nearest, ties to even.
  static uint16_t brainOf(float number) {
    uint32_t bits;
    std::memcpy(&bits, &number, sizeof bits);
    return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
  }

  // What one of them should be.
  static Tensor updated(Tensor tensor) {
    for (size_t i = 0; i + 1 < tensor.p.size(); ++i) {
      const float product = kRate * tensor.g[i];
      tensor.p[i] = tensor.p[i] - product;
      tensor.copy[i] = brainOf(tensor.p[i]);
    }
    return tensor;
  }

  static void expectUpdated(const std::vector<Tensor>& got) {
    const std::vector<Tensor> before = tensors();
    for (size_t t = 0; t < got.size(); ++t) {
      const Tensor want = updated(before[t]);
      ASSERT_EQ(std::memcmp(got[t].p.data(), want.p.data(), want.p.size() * sizeof(float)), 0) << "tensor " << t;
      ASSERT_EQ(got[t].copy, want.copy) << "tensor " << t;
      ASSERT_EQ(got[t].g, want.g);
    }
  }

  static constexpr float kRate = 0.3f;
  mlir::MLIRContext context_;
};

TEST_F(BatchesTest, OnAHostDoEachTensorAsAKernelOfItsOwn) {
  int64_t units = 0;
  const auto code = codeOf(kAll, /*onHost=*/true, units);
  for (int threads : {1, 2, 3}) {
    std::vector<Tensor> all = tensors();
    const absl::Status status = runAll(*code, units, threads, nullptr, all);
    ASSERT_TRUE(status.ok()) << status;
    expectUpdated(all);
  }
}

TEST_F(BatchesTest, OnAGpuTakeAsManyLaunchesAsTheirAddressesNeed) {
  int64_t units = 0;
  const auto code = codeOf(kAll, /*onHost=*/false, units);
  for (uint64_t order : {0, 1, 2}) {
    testing::EmulatedGpu gpu(order);
    std::vector<Tensor> all = tensors();
    const absl::Status status = runAll(*code, units, 1, &gpu, all);
    ASSERT_TRUE(status.ok()) << status;
    expectUpdated(all);
    // A tensor has six words of 512, of which two are the number of tensors and the shared address.
    EXPECT_EQ(gpu.launches(), static_cast<int64_t>((all.size() + 84) / 85));
  }
}

TEST_F(BatchesTest, RefuseOperandsThatDoNotFit) {
  int64_t units = 0;
  const auto code = codeOf(kAll, /*onHost=*/true, units);
  plan::Kernel kernel;
  kernel.set_symbol("all");
  kernel.set_segments(3);
  kernel.set_shared(1);
  KernelSpec spec{.name = "all", .inputs = {TensorSpec::Whole(DType::kF32, {})}};
  add(spec, 4);
  EXPECT_EQ(code->Make(kernel, {}, spec).status().message(),
            "kernel `all`: expected 1 inputs and operands of 3 tensors, got 3 inputs and 2 outputs");
  kernel.set_segments(2);
  add(spec, 5);
  EXPECT_TRUE(code->Make(kernel, {}, spec).ok());
  spec.inputs.back() = TensorSpec::Whole(DType::kF32, {6});
  EXPECT_EQ(code->Make(kernel, {}, spec).status().message(), "kernel `all`: tensor 1: expected 5 elements, got f32[6]");
}

}  // namespace
}  // namespace weft::compiler
