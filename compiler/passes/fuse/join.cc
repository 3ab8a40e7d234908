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
    int64_t offset;
    mlir::Value value;

    bool isAt(const Operand &other) const {
      return buffer == other.buffer && strides == other.strides && offset == other.offset &&
             value.getType() == other.value.getType();
    }
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

  // As an operand of the joined kernel; `value` is what it is in the part.
  Operand operandOf(const Part &part, unsigned operand, int buffer, mlir::Value value) {
    cell::KernelOp kernel = part.kernel;
    return {buffer, refined(kernel.getDomain(), kernel.getStridesOf(operand), domain_), kernel.getOffsetOf(operand),
            value};
  }

  // The number at a place of what is read: what an output of the first part is, or an argument.
  mlir::Value valueFor(Operand read) {
    for (const Operand &output : outputs_) {
      if (output.buffer == read.buffer) {
        const bool isSum = cell::sumRowsOf(output.value) != nullptr;
        const bool isPlace = output.isAt(read) && !isSum;
        return isPlace || refuse(isSum ? Apart::kSum : Apart::kWalk) ? output.value : mlir::Value();
      }
    }
    for (const Operand &input : inputs_) {
      if (input.isAt(read)) {
        return input.value;
      }
    }
    read.value = made_.kernel.getBody().addArgument(read.value.getType(), made_.kernel.getLoc());
    inputs_.push_back(read);
    return read.value;
  }

  bool add(const Part &part) {
    cell::KernelOp kernel = part.kernel;
    mlir::IRMapping map;
    for (mlir::BlockArgument argument : kernel.getBody().getArguments()) {
      unsigned index = argument.getArgNumber();
      mlir::Value value = valueFor(operandOf(part, index, part.inputs[index], argument));
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
          operandOf(part, kernel.getNumInputs() + unsigned(index), part.outputs[index], map.lookup(value)));
    }
    return true;
  }

  static bool isUpdate(const Operand &input, const Operand &output) {
    return input.isAt(output) && !cell::sumRowsOf(output.value);
  }

  bool finish(llvm::ArrayRef<int> dropped) {
    llvm::SmallVector<mlir::Attribute> strides;
    llvm::SmallVector<int64_t> offsets;
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
      offsets.push_back(input.offset);
    }
    for (const Operand &output : outputs_) {
      if (!llvm::is_contained(dropped, output.buffer)) {
        made_.outputs.push_back(output.buffer);
        strides.push_back(builder_.getDenseI64ArrayAttr(output.strides));
        offsets.push_back(output.offset);
        yielded.push_back(output.value);
      }
    }
    {
      mlir::OpBuilder::InsertionGuard guard(builder_);
      builder_.setInsertionPointToEnd(&made_.kernel.getBody().front());
      builder_.create<cell::YieldOp>(made_.kernel.getLoc(), yielded);
    }
    made_.kernel.setStridesAttr(builder_.getArrayAttr(strides));
    if (llvm::any_of(offsets, [](int64_t offset) { return offset > 0; })) {
      made_.kernel.setOffsets(offsets);
    }
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

std::optional<Part> joinedAsTheyAre(mlir::OpBuilder &builder, llvm::StringRef symbol, const Part &first,
                                    const Part &second, llvm::ArrayRef<int> dropped, Apart &why) {
  cell::KernelOp a = first.kernel, b = second.kernel;
  std::optional<Sizes> domain = commonDomain(a.getDomain(), b.getDomain());
  if (!domain) {
    why = Apart::kDomain;
    return std::nullopt;
  }
  return Joiner(builder, symbol, first, second, *domain, why).run(dropped);
}

// ---- domains in another order ------------------------------------------------

using Dims = llvm::SmallVector<size_t>;

// A kernel's dimensions of more than one place by their steps in one of its operands, the longest first; nothing
// unless they go over all of a piece of memory, element by element.
std::optional<Dims> orderIn(cell::KernelOp kernel, unsigned operand) {
  llvm::ArrayRef<int64_t> domain = kernel.getDomain(), strides = kernel.getStridesOf(operand);
  Dims order;
  for (size_t dim = 0; dim < domain.size(); ++dim) {
    if (domain[dim] > 1) {
      order.push_back(dim);
    }
  }
  llvm::stable_sort(order, [&](size_t a, size_t b) { return strides[a] > strides[b]; });
  int64_t stride = 1;
  for (size_t dim : llvm::reverse(order)) {
    if (strides[dim] != stride) {
      return std::nullopt;
    }
    stride *= domain[dim];
  }
  return kernel.getOffsetOf(operand) == 0 ? std::optional(order) : std::nullopt;
}

Sizes picked(llvm::ArrayRef<int64_t> numbers, llvm::ArrayRef<size_t> places) {
  return llvm::map_to_vector(places, [&](size_t place) { return numbers[place]; });
}

// A kernel over the elements of a tensor: `order` has its dimensions by their steps there, and `common` are the
// extents of those that it and another kernel have, by their steps too.
class Ordered {
public:
  Ordered(const Part &part, Dims order, const Sizes &common) : part_(part), order_(std::move(order)), common_(common) {
    cell::KernelOp kernel = part.kernel;
    // Which of the common dimensions each of its own has become.
    llvm::SmallVector<Dims> parts(kernel.getDomain().size());
    size_t next = 0;
    for (size_t dim : order_) {
      for (int64_t extent = 1; extent < kernel.getDomain()[dim]; extent *= common[next++]) {
        parts[dim].push_back(next);
      }
    }
    for (const Dims &list : parts) {
      llvm::append_range(own_, list);
    }
  }

  // The common dimensions in the order in which this kernel has them.
  const Dims &own() const { return own_; }

  // Whether it may go through them in another order: nothing is summed over rows, whose order counts, and a row that
  // is reduced stays one.
  bool canGoBy(const Dims &dims) const {
    cell::KernelOp kernel = part_.kernel;
    if (dims == own_) {
      return true;
    }
    if (llvm::any_of(kernel.getYielded(), [](mlir::Value value) { return bool(cell::sumRowsOf(value)); })) {
      return false;
    }
    int64_t places = 1;
    for (size_t back = 1; isReduced() && places < int64_t(kernel.getRow()); ++back) {
      if (back > own_.size() || own_[own_.size() - back] != dims[dims.size() - back]) {
        return false;
      }
      places *= common_[own_[own_.size() - back]];
    }
    return true;
  }

  // The kernel with this order of dimensions, a copy behind it.
  Part by(mlir::OpBuilder &builder, const Dims &dims) const {
    cell::KernelOp kernel = part_.kernel;
    auto walk = [&](llvm::ArrayRef<int64_t> strides) {
      return picked(refined(picked(kernel.getDomain(), order_), picked(strides, order_), common_), dims);
    };
    auto copy = llvm::cast<cell::KernelOp>(builder.clone(*kernel));
    llvm::SmallVector<mlir::Attribute> strides;
    for (unsigned operand = 0; operand < kernel.getStrides().size(); ++operand) {
      strides.push_back(builder.getDenseI64ArrayAttr(walk(kernel.getStridesOf(operand))));
    }
    for (auto random : copy.getBody().getOps<cell::RandomOp>()) {
      random.setStrides(walk(random.getStrides()));
    }
    copy.setDomain(picked(common_, dims));
    copy.setStridesAttr(builder.getArrayAttr(strides));
    copy.setRow(isReduced() ? kernel.getRow() : 1);
    return {copy, part_.inputs, part_.outputs};
  }

private:
  bool isReduced() const {
    cell::KernelOp kernel = part_.kernel;
    return !kernel.getBody().getOps<cell::ReduceOp>().empty();
  }

  const Part &part_;
  const Dims order_;
  const Sizes &common_;
  Dims own_;
};

// Both kernels so that they go in one order through what the first one writes and the second one reads: a transpose is
// a walk in another order. The one that has to be changed is.
std::optional<Part> joinedInOneOrder(mlir::OpBuilder &builder, llvm::StringRef symbol, const Part &first,
                                     const Part &second, llvm::ArrayRef<int> dropped, Apart &why) {
  for (auto [output, buffer] : llvm::enumerate(first.outputs)) {
    const auto *input = llvm::find(second.inputs, buffer);
    if (input == second.inputs.end()) {
      continue;
    }
    cell::KernelOp a = first.kernel, b = second.kernel;
    std::optional<Dims> written = orderIn(a, a.getNumInputs() + unsigned(output));
    std::optional<Dims> read = orderIn(b, unsigned(input - second.inputs.begin()));
    if (!written || !read) {
      continue;
    }
    const std::optional<Sizes> common = commonDomain(picked(a.getDomain(), *written), picked(b.getDomain(), *read));
    if (!common) {
      continue;
    }
    const Ordered one(first, *written, *common), other(second, *read, *common);
    if (one.own() == other.own()) {
      continue; // this is not what keeps them apart
    }
    for (const Dims &dims : {one.own(), other.own()}) {
      if (!one.canGoBy(dims) || !other.canGoBy(dims)) {
        continue;
      }
      Part producer = one.by(builder, dims), consumer = other.by(builder, dims);
      std::optional<Part> made = joinedAsTheyAre(builder, symbol, producer, consumer, dropped, why);
      producer.kernel.erase();
      consumer.kernel.erase();
      if (made) {
        return made;
      }
    }
  }
  return std::nullopt;
}

} // namespace

std::optional<Part> joined(mlir::OpBuilder &builder, llvm::StringRef symbol, const Part &first, const Part &second,
                           llvm::ArrayRef<int> dropped, Apart &why) {
  std::optional<Part> made = joinedAsTheyAre(builder, symbol, first, second, dropped, why);
  if (!made && (why == Apart::kWalk || why == Apart::kDomain)) {
    made = joinedInOneOrder(builder, symbol, first, second, dropped, why);
  }
  return made;
}

} // namespace weft::compiler
