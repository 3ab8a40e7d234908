// What is done with the result of a matrix product, or with an operand of it, joins the product.
#include "compiler/passes/fuse/kernels.h"
#include "compiler/passes/fuse/passes.h"
#include "ops/descriptions.h"
#include "ops/einsum/words.h"

namespace weft::compiler {
#define GEN_PASS_DEF_FUSEEPILOGUES
#include "compiler/passes/fuse/Passes.h.inc"
namespace {

using task::KernelOp;

bool isEinsum(KernelOp kernel) { return kernel && kernel.getName() == "einsum"; }
// Sums rows by id into a table that is zero elsewhere.
bool isRows(KernelOp kernel) { return kernel && kernel.getName() == "embedding_grad"; }
bool makesTerm(KernelOp kernel) { return isEinsum(kernel) || isRows(kernel); }

StringRef textOf(KernelOp kernel, StringRef name) {
  auto text = kernel.getConstants().getAs<mlir::StringAttr>(name);
  return text ? text.getValue() : "";
}

// The letters of an einsum's operands and of its result.
struct Equation {
  StringRef lhs, rhs, result;
};

Equation equationOf(KernelOp einsum) {
  auto [lhs, rhs, result] = einsum::SplitEquation(textOf(einsum, "equation")).value_or(einsum::Equation());
  return {lhs, rhs, result};
}

bool hasLetters(StringRef text, StringRef letters) {
  return llvm::all_of(letters, [&](const char &letter) { return text.contains(letter); });
}
bool hasNone(StringRef text, StringRef letters) { return text.find_first_of(letters) == StringRef::npos; }

// Whether a vector over the last `count` dimensions of the result goes along the columns of one matrix product.
bool areColumns(KernelOp einsum, size_t count) {
  Equation equation = equationOf(einsum);
  StringRef columns = equation.result.take_back(count);
  return (hasLetters(equation.rhs, columns) && hasNone(equation.lhs, columns)) ||
         (hasLetters(equation.lhs, columns) && hasNone(equation.rhs, columns));
}

// Whether a kernel computes again what the forward made.
bool recomputes(Operation *op) { return ir::phaseOf(op) == ir::OpPhase::Recompute; }

bool isTanh(KernelOp gelu) { return textOf(gelu, "approximate") == "tanh"; }

// How many last dimensions are left of a sum over all others; none if it is another reduction.
std::optional<size_t> keptBySum(KernelOp reduce) {
  auto dims = reduce.getConstants().getAs<mlir::ArrayAttr>("dims");
  if (!dims || textOf(reduce, "kind") != "sum" || reduce.getConstants().contains("keep_dims")) {
    return std::nullopt;
  }
  SmallVector<int64_t> reduced = ir::intsOf(dims);
  llvm::sort(reduced);
  for (auto [i, dim] : llvm::enumerate(reduced)) {
    if (dim != int64_t(i)) {
      return std::nullopt;
    }
  }
  size_t rank = task::tensorOf(reduce.getInputs()[0]).getRank();
  return reduced.empty() || reduced.size() >= rank ? std::nullopt : std::optional(rank - reduced.size());
}

struct FuseEpilogues : impl::FuseEpiloguesBase<FuseEpilogues> {
  using FuseEpiloguesBase::FuseEpiloguesBase;

  void runOnOperation() override {
    // A kernel of one of these names is only ever taken over in the turn of its name. On the host what follows a
    // product is generated, and rounded as often as without fusion.
    isOnHost_ = isOnHost(getOperation());
    if (!isOnHost_) {
      each("add", [&](KernelOp add) { return takeBias(add, 0) || takeBias(add, 1); });
      each("gelu", [&](KernelOp gelu) { return takeGelu(gelu); });
      each("reduce", [&](KernelOp reduce) { return takeOperandSum(reduce); });
    }
    for (StringRef name : {"add", "add_n"}) {
      each(name, [&](KernelOp sum) { return takeSum(sum); });
    }
    each(task::AccumulateKernel::kName, [&](KernelOp accumulate) { return takeAccumulate(accumulate); });
  }

private:
  bool isOnHost_ = false;

  template <typename Take> void each(StringRef name, const Take &take) {
    for (KernelOp kernel : kernelsOf(getOperation(), name)) {
      numFused += take(kernel);
    }
  }

  // The einsum that makes `value`, with this epilogue, if the kernel `reader` may join it.
  KernelOp productBefore(KernelOp reader, Value value, StringRef epilogue) {
    KernelOp einsum = writerOf(value);
    bool joins = isEinsum(einsum) && textOf(einsum, "epilogue") == epilogue && einsum.getOutputs()[0] == value &&
                 inSameUnit(einsum, reader) && !isPartial(value);
    return joins ? einsum : KernelOp();
  }

  // `einsum` becomes one that does what `taken` did.
  bool join(KernelOp einsum, KernelOp taken, StringRef epilogue, SmallVector<Value> inputs,
            SmallVector<Value> outputs) {
    mlir::NamedAttrList constants(einsum.getConstants());
    constants.set("epilogue", mlir::StringAttr::get(&getContext(), epilogue));
    return fuse({einsum, taken},
                {"einsum", std::move(inputs), std::move(outputs), constants.getDictionary(&getContext()), {}});
  }

  bool takeBias(KernelOp add, unsigned operand) {
    Value sum = add.getInputs()[operand], bias = add.getInputs()[1 - operand], result = add.getOutputs()[0];
    KernelOp einsum = productBefore(add, sum, "");
    if (!einsum || !isOnlyReader(add, sum) || isPartial(bias) || !haveOneElementType({sum, bias, result})) {
      return false;
    }
    SmallVector<int64_t> shape = shapeOf(getOperation(), sum), vector = shapeOf(getOperation(), bias);
    if (vector.empty() || vector.size() >= shape.size() || !areColumns(einsum, vector.size()) ||
        llvm::ArrayRef(shape).take_back(vector.size()) != llvm::ArrayRef(vector)) {
      return false;
    }
    return join(einsum, add, einsum::kBias, {einsum.getInputs()[0], einsum.getInputs()[1], bias}, {result});
  }

  bool takeGelu(KernelOp gelu) {
    Value input = gelu.getInputs()[0], result = gelu.getOutputs()[0];
    KernelOp einsum = productBefore(gelu, input, einsum::kBias);
    bool biased = bool(einsum);
    einsum = biased ? einsum : productBefore(gelu, input, "");
    if (!einsum || !isTanh(gelu) || !haveOneElementType({input, result})) {
      return false;
    }
    SmallVector<Operation *> readers = readersOf(input);
    if (!recomputes(gelu) && llvm::any_of(readers, recomputes)) {
      return false;
    }
    SmallVector<Value> outputs{result};
    bool keeps = readers.size() > 1;
    if (keeps) {
      outputs.push_back(input);
    }
    const char *epilogue =
        biased ? (keeps ? einsum::kBiasGeluKeep : einsum::kBiasGelu) : (keeps ? einsum::kGeluKeep : einsum::kGelu);
    return join(einsum, gelu, epilogue, llvm::to_vector<4>(einsum.getInputs()), outputs);
  }

  // The sums of what a product reads. What a generated kernel makes is summed there, for nothing: a library's sums read
  // it once more (on an H200, 8192 rows of 768 in bfloat16, cuBLASLt 13.1 took 7 us).
  bool takeOperandSum(KernelOp reduce) {
    Value input = reduce.getInputs()[0], sums = reduce.getOutputs()[0];
    std::optional<size_t> kept = keptBySum(reduce);
    KernelOp writer = writerOf(input);
    if (!kept || (writer && cell::allDescriptions().has(writer.getName()) && inSameUnit(writer, reduce))) {
      return false;
    }
    for (Operation *reader : readersOf(input)) {
      auto einsum = llvm::dyn_cast<KernelOp>(reader);
      if (!isEinsum(einsum) || !textOf(einsum, "epilogue").empty() || !inSameUnit(einsum, reduce) ||
          !haveOneElementType({input, sums, einsum.getOutputs()[0]})) {
        continue;
      }
      bool isLeft = einsum.getInputs()[0] == input;
      if (sumsAlike(equationOf(einsum), isLeft, *kept) &&
          join(einsum, reduce, isLeft ? einsum::kSumLhs : einsum::kSumRhs, llvm::to_vector<4>(einsum.getInputs()),
               {einsum.getOutputs()[0], sums})) {
        return true;
      }
    }
    return false;
  }

  // Gradients of one tensor: each product, and each sum of rows, but the first adds to what is there so far. Not what
  // the forward adds: what is computed again has to come out the same.
  bool takeSum(KernelOp sum) {
    if (ir::phaseOf(sum) != ir::OpPhase::Backward) {
      return false;
    }
    Value result = sum.getOutputs()[0], other;
    SmallVector<KernelOp> products;
    for (Value term : sum.getInputs()) {
      KernelOp maker = task::tensorOf(term) == task::tensorOf(result) ? termOf(sum, term) : KernelOp();
      if (maker && !llvm::is_contained(products, maker)) {
        products.push_back(maker);
      } else if (std::exchange(other, term) || task::tensorOf(term) != task::tensorOf(result)) {
        return false;
      }
    }
    llvm::sort(products, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
    SmallVector<Value> before; // what each product adds to
    if (other) {
      before.push_back(other);
    }
    for (KernelOp maker : products) {
      before.push_back(maker.getOutputs()[0]);
    }
    ArrayRef<KernelOp> adding = ArrayRef(products).drop_front(other || products.empty() ? 0 : 1);
    if (adding.empty() || (other && !isThere(other, adding[0])) || !isFree(result, adding.back(), sum)) {
      return false;
    }
    declareBefore(adding.back(), result);
    moveTo(KernelOp(adding.back())->getNextNode(), sum);
    // The last one first: where that finds no place, nothing has changed.
    for (size_t i = adding.size(); i-- > 0;) {
      KernelOp maker = adding[i];
      bool isLast = i + 1 == adding.size(), rows = isRows(maker);
      mlir::NamedAttrList constants(maker.getConstants());
      constants.set("epilogue", mlir::StringAttr::get(&getContext(), einsum::kAdd));
      SmallVector<KernelOp> parts{maker};
      if (isLast) {
        parts.push_back(sum);
      }
      KernelOp made = fuse(parts, {rows ? "embedding_grad" : "einsum",
                                   {maker.getInputs()[0], maker.getInputs()[1], before[i]},
                                   {isLast ? result : maker.getOutputs()[0]},
                                   constants.getDictionary(&getContext()),
                                   {2}});
      if (!made) {
        return false;
      }
      if (rows) {
        setBytesOfRows(made, 0);
      }
    }
    return true;
  }

  // What reads and writes rows alone, and `tables` of whole tables.
  void setBytesOfRows(KernelOp rows, double tables) {
    if (!rows.getCost()) {
      return;
    }
    auto bytesOf = [&](Value buffer) {
      return double(task::localBytesOf(task::tensorOf(buffer), getOperation().getPlacement()));
    };
    SmallVector<double> cost(*rows.getCost());
    // Gradients may be narrower than the sums.
    Value ids = rows.getInputs()[0], gradient = rows.getInputs()[1];
    const double sums = 4.0 * double(mlir::ShapedType::getNumElements(shapeOf(getOperation(), gradient)));
    cost[2] = bytesOf(ids) + bytesOf(gradient) + 2 * sums + tables * bytesOf(rows.getOutputs()[0]);
    rows.setCostAttr(mlir::DenseF64ArrayAttr::get(&getContext(), cost));
  }

  // The product, or the sum of rows, that makes one term of a sum, if nothing else reads it. On the host a product that
  // adds to what is there would round once where two kernels round twice.
  KernelOp termOf(KernelOp sum, Value term) {
    KernelOp maker = writerOf(term);
    bool joins = (isOnHost_ ? isRows(maker) : makesTerm(maker)) && !maker.getConstants().contains("epilogue") &&
                 inSameUnit(maker, sum) && isOnlyReader(sum, term);
    return joins ? maker : KernelOp();
  }

  // Whether a buffer is written before a kernel.
  static bool isThere(Value buffer, KernelOp kernel) {
    return llvm::all_of(usersOf(task::rootOf(buffer)),
                        [&](Operation *user) { return !writes(user, buffer) || user->isBeforeInBlock(kernel); });
  }

  // Whether nothing between two kernels uses a buffer.
  static bool isFree(Value buffer, KernelOp from, KernelOp to) {
    return llvm::none_of(usersOf(task::rootOf(buffer)),
                         [&](Operation *user) { return from->isBeforeInBlock(user) && user->isBeforeInBlock(to); });
  }

  // The products and sums of rows of which one makes `term`, and each but the first adds to what the one before made;
  // empty if it is made otherwise, or something else reads what is between. The last one first.
  static SmallVector<KernelOp> addedProducts(KernelOp reader, Value term) {
    SmallVector<KernelOp> products;
    while (true) {
      KernelOp maker = writerOf(term);
      if (!makesTerm(maker) || !inSameUnit(maker, reader) || !isOnlyReader(reader, term)) {
        return {};
      }
      products.push_back(maker);
      if (!maker.getConstants().contains("epilogue")) {
        return products;
      }
      if (textOf(maker, "epilogue") != einsum::kAdd) {
        return {};
      }
      reader = maker;
      term = maker.getInputs()[2];
    }
  }

  // The product, or the sum of rows, adds to the sum over the micro-batches; of several that are added up the first
  // does, and the others to that. Not on the host: several would be added in another order, and without the buffer
  // between the two the planner packs interleaved stages worse (tests/scale).
  bool takeAccumulate(KernelOp accumulate) {
    Value term = accumulate.getInputs()[0], sum = accumulate.getOutputs()[0];
    if (isOnHost_ || !haveOneElementType({term, sum})) {
      return false;
    }
    SmallVector<KernelOp> products = addedProducts(accumulate, term);
    if (products.empty()) {
      return false;
    }
    KernelOp first = products.pop_back_val();
    // A table's rows come at the end of the backward, and the product of the head at its beginning: with several
    // micro-batches under way the next one's product would add before these rows do.
    if (overlap > 1 && llvm::any_of(products, isRows)) {
      return false;
    }
    // Sums are added to behind the whole backward. The product stays in its layer, or what it reads would be in memory
    // until then.
    if (!isFree(sum, first, accumulate)) {
      return false;
    }
    declareBefore(first, sum);
    moveTo(first->getNextNode(), accumulate);
    addInPlace(accumulate, first, products);
    const bool rows = isRows(first);
    const StringRef name = rows ? task::AccumulateEmbeddingGradKernel::kName : task::AccumulateEinsumKernel::kName;
    KernelOp made = fuse({first, accumulate},
                         {name, {first.getInputs()[0], first.getInputs()[1], sum}, {sum}, first.getConstants(), {}});
    if (made && rows) {
      setBytesOfRows(made, 1.0 / double(getOperation().getMicroBatches())); // of which the first one fills it
    }
    return bool(made);
  }

  // Lets the products, the last one first, add to what `accumulate` makes of the result of `first`: each makes a view
  // of the sum, and what reads the sum reads the last one.
  static void addInPlace(KernelOp accumulate, KernelOp first, ArrayRef<KernelOp> products) {
    Value sum = accumulate.getOutputs()[0], soFar = sum;
    accumulate.getInputsMutable().slice(0, 1).assign(first.getOutputs()[0]);
    llvm::SmallPtrSet<Operation *, 8> own{accumulate};
    for (KernelOp product : llvm::reverse(products)) {
      mlir::OpBuilder b(product);
      Value made = product.getOutputs()[0];
      auto view = b.create<task::AliasOp>(product.getLoc(), sum.getType(), sum,
                                          sum.getDefiningOp<task::BufferOp>().getUnpaddedAttr());
      product.getInputsMutable().slice(2, 1).assign(soFar);
      made.replaceAllUsesWith(view.getBuffer());
      made.getDefiningOp()->erase();
      own.insert({product.getOperation(), view.getOperation()});
      soFar = view;
    }
    sum.replaceUsesWithIf(soFar, [&](mlir::OpOperand &use) { return !own.contains(use.getOwner()); });
  }

  // Whether the product sums over just those letters of its operand that the reduction sums over, and the others are
  // its result's last ones.
  static bool sumsAlike(Equation equation, bool isLeft, size_t kept) {
    StringRef operand = isLeft ? equation.lhs : equation.rhs, other = isLeft ? equation.rhs : equation.lhs;
    StringRef inner = operand.drop_back(kept), columns = operand.take_back(kept);
    return equation.result.take_back(kept) == columns && hasNone(equation.result, inner) && hasLetters(other, inner) &&
           hasNone(other, columns);
  }
};

} // namespace
} // namespace weft::compiler
