#include "ops/cell/cells.h"

#include <cmath>
#include <numeric>

namespace weft::cell {
namespace {

using Floats = mlir::arith::CmpFPredicate;
using Integers = mlir::arith::CmpIPredicate;

template <typename Op, typename... Operands> Cell make(Cell like, Operands... operands) {
  return like.with(like.builder().create<Op>(like.loc(), operands...).getResult());
}

bool isInteger(Cell cell) { return cell.value().getType().isInteger(); }

// Of bytes, which have no sign, and of integers that do.
struct Predicates {
  Floats floats;
  Integers bytes, integers;
};

Cell compare(Cell a, Predicates predicates, Cell b) {
  if (!isInteger(a)) {
    return make<mlir::arith::CmpFOp>(a, predicates.floats, a.value(), b.value());
  }
  const bool isByte = a.value().getType().isInteger(8);
  return make<mlir::arith::CmpIOp>(a, isByte ? predicates.bytes : predicates.integers, a.value(), b.value());
}

Cell whole(Cell like, mlir::Type type, int64_t number) {
  return make<mlir::arith::ConstantOp>(like, like.builder().getIntegerAttr(type, number));
}

template <typename OfFloats, typename OfIntegers> Cell calculate(Cell a, Cell b) {
  return isInteger(a) ? make<OfIntegers>(a, a.value(), b.value()) : make<OfFloats>(a, a.value(), b.value());
}

} // namespace

Cell Cell::number(double number) const {
  return with(builder_->create<mlir::arith::ConstantOp>(loc_, builder_->getF32FloatAttr(float(number))));
}

Cell operator+(Cell a, Cell b) { return calculate<mlir::arith::AddFOp, mlir::arith::AddIOp>(a, b); }
Cell operator-(Cell a, Cell b) { return calculate<mlir::arith::SubFOp, mlir::arith::SubIOp>(a, b); }
Cell operator*(Cell a, Cell b) { return calculate<mlir::arith::MulFOp, mlir::arith::MulIOp>(a, b); }
Cell operator/(Cell a, Cell b) { return make<mlir::arith::DivFOp>(a, a.value(), b.value()); }
Cell operator-(Cell a) { return make<mlir::arith::NegFOp>(a, a.value()); }
Cell operator<(Cell a, Cell b) { return compare(a, {Floats::OLT, Integers::ult, Integers::slt}, b); }
Cell operator<=(Cell a, Cell b) { return compare(a, {Floats::OLE, Integers::ule, Integers::sle}, b); }
Cell operator==(Cell a, Cell b) { return compare(a, {Floats::OEQ, Integers::eq, Integers::eq}, b); }
Cell operator!=(Cell a, Cell b) { return compare(a, {Floats::UNE, Integers::ne, Integers::ne}, b); }
Cell operator&(Cell a, Cell b) { return make<mlir::arith::AndIOp>(a, a.value(), b.value()); }
Cell operator|(Cell a, Cell b) { return make<mlir::arith::OrIOp>(a, a.value(), b.value()); }
Cell operator!(Cell a) { return make<mlir::arith::XOrIOp>(a, a.value(), whole(a, a.value().getType(), 1).value()); }
Cell select(Cell condition, Cell a, Cell b) {
  return make<mlir::arith::SelectOp>(a, condition.value(), a.value(), b.value());
}
Cell exp(Cell x) { return make<mlir::math::ExpOp>(x, x.value()); }
Cell log(Cell x) { return make<mlir::math::LogOp>(x, x.value()); }
Cell sqrt(Cell x) { return make<mlir::math::SqrtOp>(x, x.value()); }
Cell tanh(Cell x) { return make<mlir::math::TanhOp>(x, x.value()); }
Cell erf(Cell x) { return make<mlir::math::ErfOp>(x, x.value()); }
Cell abs(Cell x) { return make<mlir::math::AbsFOp>(x, x.value()); }
Cell sigmoid(Cell x) { return 1.0 / (1.0 + exp(-x)); }
Cell maximum(Cell a, Cell b) { return calculate<mlir::arith::MaximumFOp, mlir::arith::MaxSIOp>(a, b); }
Cell minimum(Cell a, Cell b) { return calculate<mlir::arith::MinimumFOp, mlir::arith::MinSIOp>(a, b); }

Cells::Cells(mlir::OpBuilder &builder, mlir::Location loc, llvm::StringRef symbol, const Subject &subject)
    : subject_(subject), builder_(builder), loc_(loc), strides_(subject.inputs.size() + subject.outputs.size()),
      offsets_(strides_.size(), 0), read_(subject.inputs.size()), written_(subject.outputs.size()) {
  auto strides = builder_.getArrayAttr({});
  kernel_ = builder_.create<KernelOp>(loc, symbol, llvm::ArrayRef<int64_t>(), 1, strides);
  mlir::Block &block = kernel_.getBody().emplaceBlock();
  for (const Operand &input : subject.inputs) {
    block.addArgument(input.type, loc);
  }
  builder_.setInsertionPointToEnd(&block);
  if (!subject.outputs.empty()) {
    domain_ = subject.outputs[0].shape;
  }
}

void Cells::rows(int64_t dims) {
  if (dims > int64_t(domain_.size())) {
    return refuse();
  }
  rowDims_ = dims;
  row_ = std::accumulate(domain_.end() - dims, domain_.end(), int64_t(1), std::multiplies<>());
}

llvm::SmallVector<int64_t> stridesOf(llvm::ArrayRef<int64_t> shape) {
  llvm::SmallVector<int64_t> strides(shape.size());
  int64_t stride = 1;
  for (size_t dim = shape.size(); dim-- > 0; stride *= shape[dim]) {
    strides[dim] = shape[dim] > 1 ? stride : 0;
  }
  return strides;
}

std::optional<Cells::Strides> Cells::aligned(llvm::ArrayRef<int64_t> shape) const {
  if (shape.size() > domain_.size()) {
    return std::nullopt;
  }
  const llvm::ArrayRef<int64_t> last = llvm::ArrayRef(domain_).take_back(shape.size());
  if (!llvm::all_of(llvm::zip(shape, last), [](auto it) {
        const auto [extent, places] = it;
        return extent == 1 || extent == places;
      })) {
    return std::nullopt;
  }
  Strides strides(domain_.size() - shape.size(), 0);
  llvm::append_range(strides, stridesOf(shape));
  return strides;
}

std::optional<Cells::Strides> Cells::ofRows(llvm::ArrayRef<int64_t> shape) const {
  if (shape != llvm::ArrayRef(domain_).drop_back(size_t(rowDims_))) {
    return std::nullopt;
  }
  Strides strides = stridesOf(shape);
  strides.resize(domain_.size(), 0);
  return strides;
}

Cell Cells::in(unsigned index) { return input(index, aligned(subject_.inputs[index].shape)); }
Cell Cells::inAsStored(unsigned index) { return input(index, aligned(subject_.inputs[index].shape), true); }

Cell Cells::inAt(unsigned index, llvm::ArrayRef<int64_t> strides, int64_t offset) {
  if (strides.size() != domain_.size()) {
    refuse();
    return number(0);
  }
  strides_[index] = llvm::to_vector(strides);
  offsets_[index] = offset;
  return {builder_, loc_, kernel_.getBody().getArgument(index)};
}

Cell Cells::isTrue(unsigned index) {
  Cell byte = inAsStored(index);
  if (!byte.value().getType().isInteger(8)) {
    refuse();
    return byte < byte;
  }
  return byte != whole(byte, byte.value().getType(), 0);
}

Cell Cells::inOfRow(unsigned index) { return input(index, ofRows(subject_.inputs[index].shape)); }

Cell Cells::input(unsigned index, std::optional<Strides> strides, bool asStored) {
  mlir::Type type = subject_.inputs[index].type;
  const bool isFloat = llvm::isa<mlir::FloatType>(type) && !type.isF64();
  if (!strides || !(isFloat || (asStored && type.isInteger()))) {
    refuse();
    return number(0);
  }
  strides_[index] = *strides;
  mlir::Value &value = read_[index];
  if (!value) {
    value = kernel_.getBody().getArgument(index);
    if (isFloat && !type.isF32()) {
      value = builder_.create<mlir::arith::ExtFOp>(loc_, builder_.getF32Type(), value);
    }
  }
  return {builder_, loc_, value};
}

void Cells::out(unsigned index, Cell value) { output(index, aligned(subject_.outputs[index].shape), value); }
void Cells::outOfRow(unsigned index, Cell value) { output(index, ofRows(subject_.outputs[index].shape), value); }

void Cells::output(unsigned index, std::optional<Strides> strides, Cell value) {
  mlir::Value made = strides ? stored(value.value(), subject_.outputs[index].type) : mlir::Value();
  if (!made) {
    return refuse();
  }
  strides_[numInputs() + index] = *strides;
  written_[index] = made;
}

// Null where `value` is not of that type.
mlir::Value Cells::stored(mlir::Value value, mlir::Type type) {
  const bool isFloat = llvm::isa<mlir::FloatType>(type) && !type.isF64();
  mlir::Type wide = builder_.getF32Type();
  if (value.getType().isInteger(1)) {
    value = isFloat ? builder_.create<mlir::arith::UIToFPOp>(loc_, wide, value).getResult()
                    : builder_.create<mlir::arith::ExtUIOp>(loc_, type, value).getResult();
  }
  if (value.getType() == type) {
    return value;
  }
  return isFloat && value.getType() == wide ? builder_.create<mlir::arith::TruncFOp>(loc_, type, value).getResult()
                                            : mlir::Value();
}

Cell Cells::converted(Cell value, unsigned output) {
  namespace arith = mlir::arith;
  mlir::Type from = value.value().getType(), to = subject_.outputs[output].type;
  const bool isUnsigned = from.isInteger(8);
  if (!to.isInteger()) {
    mlir::Type wide = builder_.getF32Type();
    return !from.isInteger() ? value
           : isUnsigned      ? make<arith::UIToFPOp>(value, wide, value.value())
                             : make<arith::SIToFPOp>(value, wide, value.value());
  }
  if (from.isInteger()) {
    const unsigned had = from.getIntOrFloatBitWidth(), has = to.getIntOrFloatBitWidth();
    return had == has   ? value
           : had > has  ? make<arith::TruncIOp>(value, to, value.value())
           : isUnsigned ? make<arith::ExtUIOp>(value, to, value.value())
                        : make<arith::ExtSIOp>(value, to, value.value());
  }
  // As ops/elementwise/convert.h: ends that are powers of two, which float32 has and the largest integer is not.
  const bool isByte = to.isInteger(8);
  const double end = std::ldexp(1.0, isByte ? 8 : int(to.getIntOrFloatBitWidth()) - 1), begin = isByte ? 0 : -end;
  const llvm::APInt most =
      isByte ? llvm::APInt::getMaxValue(8) : llvm::APInt::getSignedMaxValue(to.getIntOrFloatBitWidth());
  const llvm::APInt least = isByte ? llvm::APInt(8, 0) : llvm::APInt::getSignedMinValue(to.getIntOrFloatBitWidth());
  auto integer = [&](const llvm::APInt &number) {
    return make<arith::ConstantOp>(value, builder_.getIntegerAttr(to, number));
  };
  Cell inside = select((value > value.number(begin)) & (value < value.number(end)), value, value.number(0));
  Cell cut =
      isByte ? make<arith::FPToUIOp>(value, to, inside.value()) : make<arith::FPToSIOp>(value, to, inside.value());
  return select(value <= value.number(begin), integer(least), select(value >= value.number(end), integer(most), cut));
}

Cell Cells::hasLuck(double rate, unsigned input, llvm::StringRef seed) {
  const Operand &of = subject_.inputs[input];
  auto constant = llvm::dyn_cast_or_null<mlir::IntegerAttr>(subject_.constants.get(seed));
  if (!constant || of.shape != domain_ || of.whole.size() != of.shape.size() || !(rate >= 0 && rate < 1)) {
    refuse();
    return number(0);
  }
  Strides strides(domain_.size());
  int64_t stride = 1;
  for (size_t dim = domain_.size(); dim-- > 0; stride *= of.whole[dim]) {
    strides[dim] = stride;
  }
  randoms_.push_back({input, constant.getInt()});
  // The upper 24 bits are a number of [0, 2^24).
  auto whole = [&](int64_t number) -> mlir::Value {
    return builder_.create<mlir::arith::ConstantOp>(loc_, builder_.getI32IntegerAttr(int32_t(number)));
  };
  mlir::Value bits = builder_.create<RandomOp>(loc_, strides);
  mlir::Value upper = builder_.create<mlir::arith::ShRUIOp>(loc_, bits, whole(8));
  return {builder_, loc_,
          builder_.create<mlir::arith::CmpIOp>(loc_, mlir::arith::CmpIPredicate::sge, upper,
                                               whole(int64_t(std::ceil(std::ldexp(rate, 24)))))};
}

Cell Cells::rowSum(Cell x) { return x.with(builder_.create<ReduceOp>(loc_, "sum", x.value())); }
Cell Cells::rowMax(Cell x) { return x.with(builder_.create<ReduceOp>(loc_, "max", x.value())); }

Cell Cells::sumRows(Cell x) { return x.with(builder_.create<SumRowsOp>(loc_, x.value())); }

Cell Cells::number(double number) { return Cell(builder_, loc_, {}).number(number); }

double Cells::constant(llvm::StringRef name) {
  mlir::Attribute value = subject_.constants.get(name);
  if (auto number = llvm::dyn_cast_or_null<mlir::FloatAttr>(value)) {
    return number.getValueAsDouble();
  }
  if (auto integer = llvm::dyn_cast_or_null<mlir::IntegerAttr>(value)) {
    return double(integer.getInt());
  }
  refuse();
  return 0;
}

llvm::StringRef Cells::word(llvm::StringRef name) {
  auto text = llvm::dyn_cast_or_null<mlir::StringAttr>(subject_.constants.get(name));
  if (!text) {
    refuse();
    return "";
  }
  return text.getValue();
}

int64_t Cells::integer(llvm::StringRef name) {
  auto number = llvm::dyn_cast_or_null<mlir::IntegerAttr>(subject_.constants.get(name));
  if (!number) {
    refuse();
    return 0;
  }
  return number.getInt();
}

llvm::SmallVector<int64_t> Cells::integers(llvm::StringRef name) {
  llvm::SmallVector<int64_t> numbers;
  if (auto list = llvm::dyn_cast_or_null<mlir::ArrayAttr>(subject_.constants.get(name))) {
    for (auto number : list.getAsRange<mlir::IntegerAttr>()) {
      numbers.push_back(number.getInt());
    }
  } else {
    refuse();
  }
  return numbers;
}

KernelOp Cells::finish() {
  bool whole = !refused_ && llvm::all_of(strides_, [](const auto &strides) { return strides.has_value(); }) &&
               llvm::all_of(domain_, [](int64_t extent) { return extent > 0; });
  if (!whole) {
    kernel_.erase();
    return {};
  }
  builder_.create<YieldOp>(loc_, written_);
  llvm::SmallVector<mlir::Attribute> strides;
  for (const std::optional<Strides> &list : strides_) {
    strides.push_back(builder_.getDenseI64ArrayAttr(*list));
  }
  kernel_.setDomain(domain_);
  kernel_.setRow(uint64_t(row_));
  kernel_.setStridesAttr(builder_.getArrayAttr(strides));
  if (llvm::any_of(offsets_, [](int64_t offset) { return offset > 0; })) {
    kernel_.setOffsets(offsets_);
  }
  return kernel_;
}

Described Descriptions::describe(mlir::OpBuilder &builder, mlir::Location loc, llvm::StringRef symbol,
                                 const Subject &subject) const {
  auto it = byName_.find(subject.name);
  if (it == byName_.end()) {
    return {};
  }
  Cells cells(builder, loc, symbol, subject);
  it->second(cells);
  KernelOp kernel = cells.finish();
  return {kernel, llvm::to_vector(cells.randoms())};
}

} // namespace weft::cell
