#include "compiler/passes/fuse/join.h"

#include <numeric>

#include "compiler/codegen/loops.h"
#include "mlir/IR/IRMapping.h"

namespace weft::compiler {
namespace {

using Sizes = llvm::SmallVector<int64_t>;

// The domain of which two domains are one, each dimension of theirs some neighbouring ones of it: [6, 4] and [2, 12]
// have [2, 3, 4]. Nothing if they have none.
std::optional<Sizes> commonDomain(llvm::ArrayRef<int64_t> a, llvm::ArrayRef<int64_t> b) {
  Sizes common;
  int64_t restA = 1, restB = 1;
  while (!a.empty() || !b.empty() || restA > 1 || restB > 1) {
    if (restA == 1 && !a.empty()) {
      restA = a.back();
      a = a.drop_back();
      continue;
    }
    if (restB == 1 && !b.empty()) {
      restB = b.back();
      b = b.drop_back();
      continue;
    }
    const int64_t part = std::gcd(restA, restB);
    if (part == 1 || (part != restA && part != restB)) {
      return std::nullopt;
    }
    common.push_back(part);
    restA /= part;
    restB /= part;
  }
  return Sizes(llvm::reverse(common));
}

// Strides over `common` of what has `strides` over `domain`.
Sizes refined(llvm::ArrayRef<int64_t> domain, llvm::ArrayRef<int64_t> strides, llvm::ArrayRef<int64_t> common) {
  Sizes fine(common.size(), 0);
  size_t dim = domain.size();
  int64_t left = 1, stride = 0;
  for (size_t i = common.size(); i-- > 0;) {
    while (left == 1 && dim > 0) {
      left = domain[--dim];
      stride = strides[dim];
    }
    fine[i] = stride;
    stride *= common[i];
    left /= common[i];
  }
  return fine;
}

class Joiner {
public:
  Joiner(mlir::OpBuilder &builder, llvm::StringRef symbol, const Part &first, const Part &second, Sizes domain,
         Apart &why)
      : builder_(builder), first_(first), second_(second), domain_(std::move(domain)), why_(why) {
    cell::KernelOp a = first.kernel, b = second.kernel;
    row_ = std::max(int64_t(a.getRow()), int64_t(b.getRow()));
    made_.kernel =
        builder.create<cell::KernelOp>(a.getLoc(), symbol, domain_, uint64_t(row_), builder.getArrayAttr({}));
    made_.kernel.getBody().emplaceBlock();
  }

  std::optional<Part> run(llvm::ArrayRef<int> dropped) {
    std::optional<Part> result;
    if (fits(first_) && fits(second_) && add(first_) && add(second_) && finish(dropped)) {
      result = made_;
    } else {
      made_.kernel.erase();
    }
    return result;
  }

private:
  struct Operand {
    int buffer;
    Sizes strides;
    mlir::Value value;
  };

  bool refuse(Apart why) {
    why_ = why;
    return false;
  }

  // A kernel that reduces does so along the common row.
  bool fits(const Part &part) {
    cell::KernelOp kernel = part.kernel;
    bool reduces = !kernel.getBody().getOps<cell::ReduceOp>().empty();
    return !reduces || int64_t(kernel.getRow()) == row_ || refuse(Apart::kRow);
  }

  Sizes stridesOf(const Part &part, unsigned operand) {
    cell::KernelOp kernel = part.kernel;
    return refined(kernel.getDomain(), kernel.getStridesOf(operand), domain_);
  }

  // The number at a place of `buffer`, as it is read there: what an output of the first part is, or an argument.
  mlir::Value valueFor(int buffer, const Sizes &strides, mlir::Type type) {
    for (const Operand &output : outputs_) {
      if (output.buffer == buffer) {
        const bool isSum = cell::sumRowsOf(output.value) != nullptr;
        const bool isPlace = output.strides == strides && output.value.getType() == type && !isSum;
        return isPlace || refuse(isSum ? Apart::kSum : Apart::kWalk) ? output.value : mlir::Value();
      }
    }
    for (const Operand &input : inputs_) {
      if (input.buffer == buffer && input.strides == strides && input.value.getType() == type) {
        return input.value;
      }
    }
    mlir::Value argument = made_.kernel.getBody().addArgument(type, made_.kernel.getLoc());
    inputs_.push_back({buffer, strides, argument});
    return argument;
  }

  bool add(const Part &part) {
    cell::KernelOp kernel = part.kernel;
    mlir::IRMapping map;
    for (mlir::BlockArgument argument : kernel.getBody().getArguments()) {
      unsigned index = argument.getArgNumber();
      mlir::Value value = valueFor(part.inputs[index], stridesOf(part, index), argument.getType());
      if (!value) {
        return false;
      }
      map.map(argument, value);
    }
    mlir::OpBuilder::InsertionGuard guard(builder_);
    builder_.setInsertionPointToEnd(&made_.kernel.getBody().front());
    for (mlir::Operation &op : kernel.getBody().front().without_terminator()) {
      mlir::Operation *clone = builder_.clone(op, map);
      if (auto random = llvm::dyn_cast<cell::RandomOp>(clone)) {
        random.setStrides(refined(kernel.getDomain(), random.getStrides(), domain_));
      }
    }
    for (auto [index, value] : llvm::enumerate(kernel.getYielded())) {
      outputs_.push_back(
          {part.outputs[index], stridesOf(part, kernel.getNumInputs() + unsigned(index)), map.lookup(value)});
    }
    return true;
  }

  static bool isUpdate(const Operand &input, const Operand &output) {
    return input.strides == output.strides && input.value.getType() == output.value.getType() &&
           !cell::sumRowsOf(output.value);
  }

  bool finish(llvm::ArrayRef<int> dropped) {
    llvm::SmallVector<mlir::Attribute> strides;
    llvm::SmallVector<mlir::Value> yielded;
    for (const Operand &input : inputs_) {
      // All of a place is read before anything of it is written: what is updated must be walked alike.
      if (llvm::any_of(outputs_, [&](const Operand &output) {
            return output.buffer == input.buffer && !isUpdate(input, output);
          })) {
        return refuse(Apart::kUpdate);
      }
      made_.inputs.push_back(input.buffer);
      strides.push_back(builder_.getDenseI64ArrayAttr(input.strides));
    }
    for (const Operand &output : outputs_) {
      if (!llvm::is_contained(dropped, output.buffer)) {
        made_.outputs.push_back(output.buffer);
        strides.push_back(builder_.getDenseI64ArrayAttr(output.strides));
        yielded.push_back(output.value);
      }
    }
    {
      mlir::OpBuilder::InsertionGuard guard(builder_);
      builder_.setInsertionPointToEnd(&made_.kernel.getBody().front());
      builder_.create<cell::YieldOp>(made_.kernel.getLoc(), yielded);
    }
    made_.kernel.setStridesAttr(builder_.getArrayAttr(strides));
    std::optional<Loops> loops = loopsOf(made_.kernel);
    return (loops && loops->row.extent >= rowOf(first_) && loops->row.extent >= rowOf(second_)) || refuse(Apart::kRows);
  }

  // What rows of the parts are worth: beyond four vectors, as of 64 hidden dimensions, longer ones are hardly faster.
  static int64_t rowOf(const Part &part) { return std::min<int64_t>(loopsOf(part.kernel)->row.extent, 4 * kLanes); }

  mlir::OpBuilder &builder_;
  const Part &first_, &second_;
  const Sizes domain_;
  Apart &why_;
  int64_t row_;
  Part made_;
  llvm::SmallVector<Operand> inputs_, outputs_;
};

} // namespace

std::optional<Part> joined(mlir::OpBuilder &builder, llvm::StringRef symbol, const Part &first, const Part &second,
                           llvm::ArrayRef<int> dropped, Apart &why) {
  cell::KernelOp a = first.kernel, b = second.kernel;
  std::optional<Sizes> domain = commonDomain(a.getDomain(), b.getDomain());
  if (!domain) {
    why = Apart::kDomain;
    return std::nullopt;
  }
  return Joiner(builder, symbol, first, second, *domain, why).run(dropped);
}

} // namespace weft::compiler
