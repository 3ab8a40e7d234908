// Generated kernels beside the same computed in double precision.
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "absl/strings/str_cat.h"
#include "compiler/codegen/loops.h"
#include "compiler/codegen/object.h"
#include "gtest/gtest.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "ops/descriptions.h"
#include "runtime/code/host_code.h"
#include "runtime/code/levels.h"
#include "tests/codegen/gpu.h"
#include "tests/codegen/memory.h"
#include "tests/codegen/reference.h"

namespace weft::compiler {
namespace {

using cell::Operand;
using cell::Subject;

absl::StatusOr<std::shared_ptr<const code::HostCode>> load(const std::string& object, const std::string& symbol) {
  plan::Code code;
  code.set_target(code::kHostTarget);
  code.set_object(object);
  code.add_symbols(symbol);
  return code::HostCode::Load(code);
}

class CodegenTest : public testing::Test {
 protected:
  CodegenTest() : builder(&context) {
    context.loadDialect<cell::CellDialect, mlir::arith::ArithDialect, mlir::math::MathDialect>();
    module = mlir::ModuleOp::create(mlir::UnknownLoc::get(&context));
    builder.setInsertionPointToEnd(module->getBody());
  }

  mlir::Type f32() { return builder.getF32Type(); }
  mlir::Type bf16() { return builder.getBF16Type(); }
  mlir::Type f16() { return builder.getF16Type(); }
  mlir::DictionaryAttr constants(std::initializer_list<std::pair<const char*, mlir::Attribute>> list = {}) {
    llvm::SmallVector<mlir::NamedAttribute> named;
    for (auto [name, value] : list) {
      named.push_back(builder.getNamedAttr(name, value));
    }
    return builder.getDictionaryAttr(named);
  }

  cell::KernelOp described(const Subject& subject) {
    cell::KernelOp kernel = cell::allDescriptions().describe(builder, builder.getUnknownLoc(), "k", subject).kernel;
    EXPECT_TRUE(kernel) << subject.name;
    return kernel;
  }

  std::shared_ptr<const code::HostCode> loaded(cell::KernelOp kernel) {
    absl::StatusOr<std::string> object = hostObjectOf({kernel});
    EXPECT_TRUE(object.ok()) << object.status();
    absl::StatusOr<std::shared_ptr<const code::HostCode>> code = load(*object, "k");
    EXPECT_TRUE(code.ok()) << code.status();
    return *code;
  }

  static size_t sizeOf(const Operand& operand) {
    size_t size = 1;
    for (int64_t extent : operand.shape) {
      size *= size_t(extent);
    }
    return size;
  }

  // Runs a kernel on `inputs` in two ways of cutting it, which give the same bits, and compares with double precision.
  void expectClose(const Subject& subject, std::vector<Numbers> inputs) {
    SCOPED_TRACE(subject.name);
    cell::KernelOp kernel = described(subject);
    ASSERT_TRUE(kernel);
    std::vector<Memory> memory;
    for (auto [operand, numbers] : llvm::zip(subject.inputs, inputs)) {
      memory.emplace_back(operand.type, sizeOf(operand));
      numbers = memory.back().set(numbers);
    }
    std::vector<size_t> sizes;
    for (const Operand& operand : subject.outputs) {
      memory.emplace_back(operand.type, sizeOf(operand));
      sizes.push_back(sizeOf(operand));
    }
    std::vector<void*> addresses;
    for (Memory& one : memory) {
      addresses.push_back(one.data());
    }
    const Loops loops = *loopsOf(kernel);
    const int64_t units = loops.units();
    Partials partials(loops);
    addresses.push_back(partials.data());
    auto code = loaded(kernel);
    absl::StatusOr<code::HostFunction> function = code->Find("k");
    ASSERT_TRUE(function.ok()) << function.status();
    const Draw draw{0x0123456789abcdef, 3, 13};
    const int64_t numbers[] = {int64_t(draw.key), int64_t(draw.event), draw.first};
    auto addUnits = [&] {
      for (int64_t group = 0; loops.sums > 0 && group < loops.groups(); ++group) {
        (*code->Find(std::string("k") + code::kSums))(addresses.data(), numbers, group, group + 1);
      }
    };
    (*function)(addresses.data(), numbers, 0, units);
    addUnits();
    std::vector<std::vector<unsigned char>> whole;
    for (size_t i = inputs.size(); i < memory.size(); ++i) {
      whole.push_back(memory[i].bytes());
      memory[i].set(Numbers(sizes[i - inputs.size()], 0));
    }
    for (int64_t unit = units; unit-- > 0;) {
      (*function)(addresses.data(), numbers, unit, unit + 1);
    }
    addUnits();
    std::vector<std::vector<Bounded>> expected = referenceOf(kernel, inputs, sizes, {draw});
    for (size_t i = 0; i < expected.size(); ++i) {
      Memory& got = memory[inputs.size() + i];
      EXPECT_TRUE(got.bytes() == whole[i]) << "output " << i << " depends on how it is cut";
      EXPECT_TRUE(got.guarded()) << "output " << i;
      ExpectWithin(got, expected[i]);
    }
    addresses.pop_back();
    expectCloseOnGpu(kernel, addresses, memory, inputs.size(), expected, draw);
    kernel.erase();
  }

  // On a GPU, with the warps of a block in three orders, which give the same bits.
  static void expectCloseOnGpu(cell::KernelOp kernel, const std::vector<void*>& addresses, std::vector<Memory>& memory,
                               size_t inputs, const std::vector<std::vector<Bounded>>& expected, const Draw& draw) {
    SCOPED_TRACE("on a GPU");
    GpuCode gpu({kernel});
    std::vector<std::vector<unsigned char>> first;
    for (uint64_t order : {0, 1, 2}) {
      for (size_t i = inputs; i < memory.size(); ++i) {
        memory[i].poison();
      }
      gpu.run(kernel, addresses, std::vector<Draw>(loopsOf(kernel)->randoms, draw), order);
      for (size_t i = inputs; i < memory.size(); ++i) {
        if (order == 0) {
          first.push_back(memory[i].bytes());
          ExpectWithin(memory[i], expected[i - inputs]);
        }
        EXPECT_TRUE(memory[i].guarded()) << "output " << i - inputs;
        EXPECT_TRUE(memory[i].bytes() == first[i - inputs])
            << "output " << i - inputs << " depends on the order of warps";
      }
    }
  }

  Numbers random(size_t size, double scale = 2) {
    std::normal_distribution<double> normal(0, scale);
    Numbers numbers(size);
    std::generate(numbers.begin(), numbers.end(), [&] { return normal(engine); });
    return numbers;
  }

  mlir::MLIRContext context;
  mlir::OpBuilder builder;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::mt19937 engine{7};
};

// Sizes with whole vectors, with a rest, and with nothing but a rest.
TEST_F(CodegenTest, ElementsOfEverySizeAndType) {
  for (mlir::Type type : {f32(), bf16(), f16()}) {
    for (int64_t size : {1, 7, 16, 33, 4096, 5001}) {
      const Operand x{{size}, type};
      expectClose({"add", {x, x}, {x}, constants()}, {random(size_t(size)), random(size_t(size))});
      expectClose({"gelu", {x}, {x}, constants({{"approximate", builder.getStringAttr("tanh")}})},
                  {random(size_t(size))});
    }
  }
}

TEST_F(CodegenTest, Broadcasts) {
  const Operand x{{3, 5, 40}, f32()}, vector{{40}, f32()}, column{{5, 1}, f32()}, scalar{{}, f32()};
  for (const Operand& other : {vector, column, scalar}) {
    expectClose({"mul", {x, other}, {x}, constants()}, {random(600), random(sizeOf(other))});
  }
  expectClose({"add", {scalar, scalar}, {scalar}, constants()}, {random(1), random(1)});
}

TEST_F(CodegenTest, Rows) {
  for (int64_t width : {1, 5, 16, 100, 768, 20000}) {
    const size_t size = size_t(3 * width);
    const Operand x{{3, width}, f32()}, row{{3}, f32()}, vector{{width}, f32()};
    expectClose({"softmax", {x}, {x}, constants()}, {random(size)});
    expectClose({"softmax_grad", {x, x}, {x}, constants()}, {random(size), random(size)});
    auto eps = constants({{"eps", builder.getF64FloatAttr(1e-5)}});
    expectClose({"rms_norm", {x, vector}, {x, row}, eps}, {random(size), random(size_t(width))});
    expectClose({"layer_norm", {x, vector, vector}, {x, row, row}, eps},
                {random(size), random(size_t(width)), random(size_t(width))});
  }
}

// In blocks of rows.
TEST_F(CodegenTest, SumsOverRows) {
  for (int64_t width : {5, 16, 100, 768}) {
    for (int64_t rows : {1, 3, 100, 3000}) {
      const size_t size = size_t(rows * width);
      const Operand x{{rows, width}, f32()}, row{{rows}, f32()}, vector{{width}, f32()}, half{{width}, bf16()};
      auto dims = constants({{"kind", builder.getStringAttr("sum")}, {"dims", builder.getI64ArrayAttr({0})}});
      expectClose({"reduce", {x}, {vector}, dims}, {random(size)});
      if (rows <= 100) {
        expectClose({"rms_norm_grad", {x, x, vector, row}, {x, half}, constants()},
                    {random(size), random(size), random(size_t(width)), random(size_t(rows))});
        expectClose({"layer_norm_grad", {x, x, vector, row, row}, {x, vector, vector}, constants()},
                    {random(size), random(size), random(size_t(width)), random(size_t(rows)), random(size_t(rows))});
      }
    }
  }
}

// Tiles of larger tensors, whose rows begin anywhere in a block of Philox.
TEST_F(CodegenTest, Dropout) {
  for (int64_t width : {2, 5, 16, 61, 768, 4100}) {
    const Operand x{{3, width}, f32(), {7, width + 5}};
    expectClose({"dropout",
                 {x},
                 {x},
                 constants({{"rate", builder.getF64FloatAttr(0.3)}, {"seed", builder.getI64IntegerAttr(9)}})},
                {random(size_t(3 * width))});
  }
}

// MLIR's approximations are within what the reference gives them.
// What is written over an input is so behind all that reads it, also behind what is summed over rows.
TEST_F(CodegenTest, OutputsMayLieOverInputs) {
  constexpr char kText[] = R"(
    cell.kernel @k domain [40, 64] row 64 strides [array<i64: 64, 1>, array<i64: 64, 1>, array<i64: 0, 1>] {
    ^bb0(%x: f32):
      %y = arith.addf %x, %x : f32
      %n = arith.negf %x : f32
      %s = cell.sum_rows %n : f32
      cell.yield %y, %s : f32, f32
    })";
  auto parsed = mlir::parseSourceString<mlir::ModuleOp>(kText, mlir::ParserConfig(&context));
  ASSERT_TRUE(parsed);
  cell::KernelOp kernel = *parsed->getOps<cell::KernelOp>().begin();
  const Loops loops = *loopsOf(kernel);
  const Numbers x = random(40 * 64);
  for (bool onGpu : {false, true}) {
    Memory over(f32(), x.size()), sums(f32(), 64);
    const Numbers stored = over.set(x);
    std::vector<void*> addresses{over.data(), over.data(), sums.data()};
    if (onGpu) {
      GpuCode({kernel}).run(kernel, addresses, {}, 0);
    } else {
      Partials partials(loops);
      addresses.push_back(partials.data());
      auto code = loaded(kernel);
      (*code->Find("k"))(addresses.data(), nullptr, 0, loops.units());
      (*code->Find(std::string("k") + code::kSums))(addresses.data(), nullptr, 0, loops.groups());
    }
    const auto expected = referenceOf(kernel, {stored}, {x.size(), 64});
    ExpectWithin(over, expected[0]);
    ExpectWithin(sums, expected[1]);
  }
}

TEST_F(CodegenTest, ElementaryFunctions) {
  constexpr size_t kSize = 100000;
  Numbers wide(kSize), positive(kSize);
  for (size_t i = 0; i < kSize; ++i) {
    wide[i] = -87 + 174.0 * double(i) / kSize;
    positive[i] = std::exp(wide[i]);
  }
  const Operand x{{int64_t(kSize)}, f32()};
  expectClose({"exp", {x}, {x}, constants()}, {wide});
  expectClose({"log", {x}, {x}, constants()}, {positive});
  expectClose({"tanh", {x}, {x}, constants()}, {wide});
  expectClose({"gelu", {x}, {x}, constants({{"approximate", builder.getStringAttr("none")}})}, {wide});
}

TEST_F(CodegenTest, SpecialNumbers) {
  const double infinity = std::numeric_limits<double>::infinity(), none = std::nan("");
  const Operand x{{20}, f32()}, half{{20}, bf16()};
  Numbers special{infinity, -infinity, none, 0.0, -0.0, 1e-40, -1e-40, 3e38, -3e38, 1};
  special.resize(20, 2);
  for (const char* name : {"exp", "tanh", "abs", "neg", "sign", "relu", "square"}) {
    expectClose({name, {x}, {x}, constants()}, {special});
  }
  expectClose({"cast", {x}, {half}, constants()}, {special});
}

TEST_F(CodegenTest, AnObjectWithoutAKernelIsRefused) {
  const Operand x{{100}, f32()};
  const std::string object = *hostObjectOf({described({"add", {x, x}, {x}, constants()})});
  EXPECT_EQ(load(object, "other").status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(load(object.substr(0, object.size() / 2), "k").status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(CodegenTest, OneObjectForTheSameKernels) {
  const Operand x{{100}, f32()};
  cell::KernelOp kernel = described({"add", {x, x}, {x}, constants()});
  EXPECT_EQ(*hostObjectOf({kernel}), *hostObjectOf({kernel}));
}

TEST_F(CodegenTest, SeveralObjectsInOneProcess) {
  const Operand x{{100}, f32()};
  cell::KernelOp kernel = described({"add", {x, x}, {x}, constants()});
  const std::string object = *hostObjectOf({kernel});
  kernel.setSymName("other");
  const auto first = load(object, "k"), second = load(*hostObjectOf({kernel}), "other");
  ASSERT_TRUE(first.ok() && second.ok()) << second.status();
  EXPECT_TRUE((*first)->Find("k").ok());
  EXPECT_FALSE((*second)->Find("k").ok());
}

TEST(CodeTest, RefusesWhatIsNone) {
  EXPECT_EQ(load("no object", "k").status().code(), absl::StatusCode::kInvalidArgument);
  plan::Code code;
  code.set_target("aarch64-linux 1");
  EXPECT_EQ(code::Load(code).status().message(),
            "generated kernels: expected code for `x86_64-linux 1` or `nvptx64 sm_80 1`, got code for "
            "`aarch64-linux 1`: compile the job again, with this version of weft");
}

TEST_F(CodegenTest, TextForGpusIsWholeAndHasItsKernels) {
  const Operand x{{64}, f32()};
  absl::StatusOr<std::string> text = gpuCodeOf({described({"neg", {x}, {x}, constants()})});
  ASSERT_TRUE(text.ok()) << text.status();
  plan::Code code;
  code.set_target(code::kGpuTarget);
  code.set_object(*text);
  code.add_symbols("k");
  EXPECT_TRUE(code::Load(code).ok()) << code::Load(code).status();
  code.set_object(text->substr(0, text->size() - 4));
  EXPECT_EQ(code::Load(code).status().message(),
            absl::StrCat("generated kernels: expected PTX, as a whole, got ", text->size() - 4, " other bytes"));
  code.set_object(*text);
  code.add_symbols("other");
  EXPECT_EQ(code::Load(code).status().message(), "generated kernels: expected a kernel `other`, there is none");
}

}  // namespace
}  // namespace weft::compiler
