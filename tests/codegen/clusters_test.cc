// Random clusters: kernels that become one give the bits that they gave one by one, and those are right.
#include <cmath>
#include <cstring>
#include <random>

#include "compiler/codegen/loops.h"
#include "compiler/codegen/object.h"
#include "compiler/passes/fuse/join.h"
#include "gtest/gtest.h"
#include "mlir/IR/BuiltinOps.h"
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

constexpr int kClusters = 300;
constexpr uint64_t kKey = 0x0123456789abcdef;

// A chain of kernels on tensors [rows, width], vectors of a row and numbers of rows, each of which may read all
// that came before it.
class Cluster {
 public:
  Cluster(mlir::MLIRContext& context, unsigned seed) : engine_(seed), builder_(&context) {
    module_ = mlir::ModuleOp::create(mlir::UnknownLoc::get(&context));
    builder_.setInsertionPointToEnd(module_->getBody());
    rows_ = among({1, 2, 7, 40, 70});
    width_ = among({16, 17, 64, 100, 200});
    for (int i = 0; i < 3; ++i) {
      add(whole(), type());
    }
    add({width_}, builder_.getF32Type());
    const int count = int(2 + engine_() % 5);
    while (int(parts_.size()) < count) {
      addKernel();
    }
  }

  void run() {
    for (auto [index, part] : llvm::enumerate(parts_)) {
      part.kernel.setSymName("k" + std::to_string(index));
    }
    // Joined as far as it goes, from the first on.
    Part joint = parts_.front();
    std::vector<size_t> members{0};
    Apart why;
    for (size_t i = 1; i < parts_.size(); ++i) {
      if (std::optional<Part> more = joined(builder_, "j" + std::to_string(i), joint, parts_[i], {}, why)) {
        joint = *more;
        members.push_back(i);
      }
    }
    joins_ = members.size() - 1;
    std::vector<cell::KernelOp> kernels;
    for (Part& part : parts_) {
      kernels.push_back(part.kernel);
    }
    if (joins_ > 0) {
      kernels.push_back(joint.kernel);
    }
    load(kernels);
    for (size_t i : members) {
      execute(parts_[i], /*check=*/true);
    }
    if (joins_ == 0) {
      return;
    }
    std::map<int, std::vector<unsigned char>> apart;
    for (int output : joint.outputs) {
      apart[output] = buffers_[size_t(output)].bytes();
      buffers_[size_t(output)].poison();
    }
    execute(joint, /*check=*/false);
    expectSame(apart, joint);
    runOnGpu(kernels, members, joint);
  }

  size_t joins() const { return joins_; }

  void expectSame(const std::map<int, std::vector<unsigned char>>& apart, const Part& joint) {
    for (auto& [output, bytes] : apart) {
      EXPECT_TRUE(buffers_[size_t(output)].bytes() == bytes) << "buffer " << output << " of\n" << textOf(joint.kernel);
    }
  }

  // The same on a GPU: one by one they are right, and joined they give those bits.
  void runOnGpu(llvm::ArrayRef<cell::KernelOp> kernels, const std::vector<size_t>& members, const Part& joint) {
    SCOPED_TRACE("on a GPU");
    GpuCode gpu(kernels);
    auto execute = [&](const Part& part, bool check) {
      SCOPED_TRACE(textOf(part.kernel));
      std::vector<void*> addresses;
      std::vector<Numbers> inputs;
      for (int input : part.inputs) {
        addresses.push_back(buffers_[size_t(input)].data());
        inputs.push_back(buffers_[size_t(input)].numbers());
      }
      std::vector<size_t> sizes;
      for (int output : part.outputs) {
        addresses.push_back(buffers_[size_t(output)].data());
        sizes.push_back(buffers_[size_t(output)].size());
        buffers_[size_t(output)].poison();
      }
      const std::vector<Draw> draws(loopsOf(part.kernel)->randoms, Draw{kKey, 2, 5});
      gpu.run(part.kernel, addresses, draws, engine_() % 3);
      if (check) {
        const auto expected = referenceOf(part.kernel, inputs, sizes, draws);
        for (auto [index, output] : llvm::enumerate(part.outputs)) {
          ExpectWithin(buffers_[size_t(output)], expected[index]);
        }
      }
    };
    for (size_t i : members) {
      execute(parts_[i], true);
    }
    std::map<int, std::vector<unsigned char>> apart;
    for (int output : joint.outputs) {
      apart[output] = buffers_[size_t(output)].bytes();
    }
    execute(joint, false);
    expectSame(apart, joint);
  }

 private:
  int64_t among(std::initializer_list<int64_t> choices) { return *(choices.begin() + engine_() % choices.size()); }
  llvm::SmallVector<int64_t> whole() const { return {rows_, width_}; }
  mlir::Type type() {
    const uint64_t draw = engine_() % 4;
    return draw == 0 ? builder_.getBF16Type() : draw == 1 ? builder_.getF16Type() : builder_.getF32Type();
  }

  // A buffer of random numbers.
  int add(llvm::SmallVector<int64_t> shape, mlir::Type type) {
    size_t size = 1;
    for (int64_t extent : shape) {
      size *= size_t(extent);
    }
    std::normal_distribution<double> normal(0, 1);
    Numbers numbers(size);
    std::generate(numbers.begin(), numbers.end(), [&] { return normal(engine_); });
    operands_.push_back({shape, type, {}});
    buffers_.emplace_back(type, size);
    buffers_.back().set(numbers);
    return int(buffers_.size()) - 1;
  }

  // Some buffer of that shape; of that type, if one is asked for, else of floating-point numbers.
  int pick(llvm::ArrayRef<int64_t> shape, mlir::Type type = {}) {
    llvm::SmallVector<int> fit;
    for (auto [index, operand] : llvm::enumerate(operands_)) {
      if (llvm::ArrayRef(operand.shape) == shape &&
          (type ? operand.type == type : llvm::isa<mlir::FloatType>(operand.type))) {
        fit.push_back(int(index));
      }
    }
    // More often a late one, so that kernels read each other's results.
    return fit.empty() ? add(llvm::to_vector(shape), type)
                       : fit[fit.size() - 1 - size_t(engine_() % std::min<size_t>(fit.size(), 3))];
  }

  void addKernel() {
    mlir::Type f32 = builder_.getF32Type(), truth = builder_.getI8Type();
    const int x = pick(whole());
    mlir::Type t = operands_[size_t(x)].type;
    auto text = [&](const char* name, const char* word) {
      return builder_.getNamedAttr(name, builder_.getStringAttr(word));
    };
    auto number = [&](const char* name, double n) { return builder_.getNamedAttr(name, builder_.getF64FloatAttr(n)); };
    switch (engine_() % 15) {
      case 0:
        return make(engine_() % 2 ? "tanh" : "sigmoid", {x}, {{whole(), t}}, {});
      case 1:
        return make("gelu", {x}, {{whole(), t}}, {text("approximate", engine_() % 2 ? "tanh" : "none")});
      case 2:
        return make(engine_() % 2 ? "mul" : "add", {x, pick(whole(), t)}, {{whole(), t}}, {});
      case 3:
        return make("add", {x, pick({width_}, t)}, {{whole(), t}}, {});
      case 4:
        return make("cast", {x}, {{whole(), type()}}, {});
      case 5:
        return make("silu_grad", {x, pick(whole(), t)}, {{whole(), t}}, {});
      case 6:
        return make("rms_norm", {x, pick({width_}, f32)}, {{whole(), t}, {{rows_}, f32}}, {number("eps", 1e-5)});
      case 7:
        return make("rms_norm_grad", {x, pick(whole(), t), pick({width_}, f32), pick({rows_}, f32)},
                    {{whole(), t}, {{width_}, f32}}, {});
      case 8:
        return make("reduce", {x}, {{{width_}, f32}},
                    {text("kind", "sum"), builder_.getNamedAttr("dims", builder_.getI64ArrayAttr({0}))});
      case 9: {
        const char* const comparisons[] = {"greater", "less_equal", "equal", "not_equal"};
        const bool asNumber = engine_() % 3 == 0;
        return make(comparisons[engine_() % 4], {x, pick(whole(), t)}, {{whole(), asNumber ? t : truth}}, {});
      }
      case 10:
        return make("select", {pick(whole(), truth), x, pick(whole(), t)}, {{whole(), t}}, {});
      case 11:
        return makePart(t);
      case 12:
      case 13:
        return makeTurned(x, t);
      default:
        operands_[size_t(x)].whole = {rows_ + 3, width_ + 5};
        return make("dropout", {x}, {{whole(), t}},
                    {number("rate", 0.25), builder_.getNamedAttr("seed", builder_.getI64IntegerAttr(1))});
    }
  }

  // Rows in another order: those of a table, column by column.
  void makeTurned(int x, mlir::Type t) {
    const int64_t columns = rows_ % 2 == 0 ? rows_ / 2 : rows_;
    make("transpose", {x}, {{{columns, rows_ / columns, width_}, t}},
         {builder_.getNamedAttr("perm", builder_.getI64ArrayAttr({1, 0, 2}))}, {rows_ / columns, columns, width_});
    operands_.back().shape = whole();
  }

  // Some rows of a longer tensor, or columns of a wider one.
  void makePart(mlir::Type t) {
    const int64_t dim = int64_t(engine_() % 2), offset = int64_t(engine_() % 4);
    llvm::SmallVector<int64_t> larger = whole();
    larger[size_t(dim)] += 3;
    const int all = add(larger, t);
    auto number = [&](const char* name, int64_t n) {
      return builder_.getNamedAttr(name, builder_.getI64IntegerAttr(n));
    };
    make("slice", {all}, {{whole(), t}},
         {number("dim", dim), number("offset", offset), number("size", whole()[size_t(dim)])});
  }

  // Of the first input, `view` is the shape if there is one.
  void make(const char* name, llvm::SmallVector<int> inputs, std::vector<Operand> outputs,
            llvm::ArrayRef<mlir::NamedAttribute> constants, llvm::ArrayRef<int64_t> view = {}) {
    Subject subject{
        name, {}, llvm::SmallVector<Operand>(outputs.begin(), outputs.end()), builder_.getDictionaryAttr(constants)};
    for (int input : inputs) {
      subject.inputs.push_back(operands_[size_t(input)]);
    }
    if (!view.empty()) {
      subject.inputs[0].shape = llvm::to_vector(view);
    }
    Part part{cell::allDescriptions().describe(builder_, builder_.getUnknownLoc(), "k", subject).kernel, inputs, {}};
    ASSERT_TRUE(part.kernel) << name;
    ASSERT_TRUE(loopsOf(part.kernel)) << name;
    for (const Operand& output : outputs) {
      part.outputs.push_back(add(output.shape, output.type));
    }
    parts_.push_back(part);
  }

  void load(llvm::ArrayRef<cell::KernelOp> kernels) {
    absl::StatusOr<std::string> object = hostObjectOf(kernels);
    ASSERT_TRUE(object.ok()) << object.status();
    plan::Code code;
    code.set_target(code::kHostTarget);
    code.set_object(*object);
    for (cell::KernelOp kernel : kernels) {
      code.add_symbols(kernel.getSymName().str());
    }
    absl::StatusOr<std::shared_ptr<const code::HostCode>> loaded = code::HostCode::Load(code);
    ASSERT_TRUE(loaded.ok()) << loaded.status();
    code_ = *loaded;
  }

  void execute(const Part& part, bool check) {
    const std::string symbol = cell::KernelOp(part.kernel).getSymName().str();
    SCOPED_TRACE(textOf(part.kernel));
    const Loops loops = *loopsOf(part.kernel);
    std::vector<void*> addresses;
    std::vector<Numbers> inputs;
    for (int input : part.inputs) {
      addresses.push_back(buffers_[size_t(input)].data());
      inputs.push_back(buffers_[size_t(input)].numbers());
    }
    std::vector<size_t> sizes;
    for (int output : part.outputs) {
      addresses.push_back(buffers_[size_t(output)].data());
      sizes.push_back(buffers_[size_t(output)].size());
    }
    Partials partials(loops);
    addresses.push_back(partials.data());
    std::vector<int64_t> numbers;
    std::vector<Draw> draws(loops.randoms, Draw{kKey, 2, 5});
    for (const Draw& draw : draws) {
      numbers.insert(numbers.end(), {int64_t(draw.key), int64_t(draw.event), draw.first});
    }
    (*code_->Find(symbol))(addresses.data(), numbers.data(), 0, loops.units());
    if (loops.sums > 0) {
      (*code_->Find(symbol + code::kSums))(addresses.data(), numbers.data(), 0, loops.groups());
    }
    if (!check) {
      return;
    }
    const auto expected = referenceOf(part.kernel, inputs, sizes, draws);
    for (auto [index, output] : llvm::enumerate(part.outputs)) {
      ExpectWithin(buffers_[size_t(output)], expected[index]);
    }
  }

  static std::string textOf(cell::KernelOp kernel) {
    std::string text;
    llvm::raw_string_ostream(text) << kernel;
    return text;
  }

  std::mt19937_64 engine_;
  mlir::OpBuilder builder_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
  int64_t rows_, width_;
  std::vector<Operand> operands_;
  std::vector<Memory> buffers_;
  std::vector<Part> parts_;
  size_t joins_ = 0;
  std::shared_ptr<const code::HostCode> code_;
};

TEST(Clusters, ChangeNoBit) {
  size_t joins = 0;
  for (unsigned seed = 0; seed < kClusters; ++seed) {
    SCOPED_TRACE(seed);
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    context.loadDialect<cell::CellDialect, mlir::arith::ArithDialect, mlir::math::MathDialect>();
    Cluster cluster(context, seed);
    cluster.run();
    joins += cluster.joins();
    if (testing::Test::HasFailure()) {
      break;
    }
  }
  EXPECT_GT(joins, kClusters) << "most kernels join";
}

}  // namespace
}  // namespace weft::compiler
