#include "ops/cell/cells.h"

#include <cmath>
#include <numeric>

namespace weft::cell {
namespace {

template <typename Op, typename... Operands> Cell make(Cell like, Operands... operands) {
  return like.with(like.builder().create<Op>(like.loc(), operands...).getResult());
}

Cell compare(Cell a, mlir::arith::CmpFPredicate predicate, Cell b) {
  return a.with(a.builder().create<mlir::arith::CmpFOp>(a.loc(), predicate, a.value(), b.value()));
}

} // namespace

Cell Cell::number(double number) const {
  return with(builder_->create<mlir::arith::ConstantOp>(loc_, builder_->getF32FloatAttr(float(number))));
}

Cell operator+(Cell a, Cell b) { return make<mlir::arith::AddFOp>(a, a.value(), b.value()); }
Cell operator-(Cell a, Cell b) { return make<mlir::arith::SubFOp>(a, a.value(), b.value()); }
Cell operator*(Cell a, Cell b) { return make<mlir::arith::MulFOp>(a, a.value(), b.value()); }
Cell operator/(Cell a, Cell b) { return make<mlir::arith::DivFOp>(a, a.value(), b.value()); }
Cell operator-(Cell a) { return make<mlir::arith::NegFOp>(a, a.value()); }
Cell operator<(Cell a, Cell b) { return compare(a, mlir::arith::CmpFPredicate::OLT, b); }
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
Cell maximum(Cell a, Cell b) { return make<mlir::arith::MaximumFOp>(a, a.value(), b.value()); }
Cell minimum(Cell a, Cell b) { return make<mlir::arith::MinimumFOp>(a, a.value(), b.value()); }

Cells::Cells(mlir::OpBuilder &builder, mlir::Location loc, llvm::StringRef symbol, const Subject &subject)
    : subject_(subject), builder_(builder), loc_(loc), strides_(subject.inputs.size() + subject.outputs.size()),
      read_(subject.inputs.size()), written_(subject.outputs.size()) {
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

std::optional<Cells::Strides> Cells::aligned(llvm::ArrayRef<int64_t> shape) const {
  Strides strides(domain_.size(), 0);
  if (shape.size() > domain_.size()) {
    return std::nullopt;
  }
  int64_t stride = 1;
  for (size_t back = 1; back <= shape.size(); ++back) {
    const int64_t extent = shape[shape.size() - back];
    if (extent != 1 && extent != domain_[domain_.size() - back]) {
      return std::nullopt;
    }
    strides[domain_.size() - back] = extent == 1 ? 0 : stride;
    stride *= extent;
  }
  return strides;
}

std::optional<Cells::Strides> Cells::ofRows(llvm::ArrayRef<int64_t> shape) const {
  Strides strides(domain_.size(), 0);
  if (shape != llvm::ArrayRef(domain_).drop_back(size_t(rowDims_))) {
    return std::nullopt;
  }
  int64_t stride = 1;
  for (size_t dim = shape.size(); dim-- > 0;) {
    strides[dim] = stride;
    stride *= shape[dim];
  }
  return strides;
}

Cell Cells::in(unsigned index) { return input(index, aligned(subject_.inputs[index].shape)); }
Cell Cells::inOfRow(unsigned index) { return input(index, ofRows(subject_.inputs[index].shape)); }

Cell Cells::input(unsigned index, std::optional<Strides> strides) {
  mlir::Type type = subject_.inputs[index].type;
  if (!strides || !llvm::isa<mlir::FloatType>(type)) {
    refuse();
    return number(0);
  }
  strides_[index] = *strides;
  mlir::Value &value = read_[index];
  if (!value) {
    value = kernel_.getBody().getArgument(index);
    if (!type.isF32()) {
      value = builder_.create<mlir::arith::ExtFOp>(loc_, builder_.getF32Type(), value);
    }
  }
  return {builder_, loc_, value};
}

void Cells::out(unsigned index, Cell value) { output(index, aligned(subject_.outputs[index].shape), value); }
void Cells::outOfRow(unsigned index, Cell value) { output(index, ofRows(subject_.outputs[index].shape), value); }

void Cells::output(unsigned index, std::optional<Strides> strides, Cell value) {
  mlir::Type type = subject_.outputs[index].type;
  if (!strides || !llvm::isa<mlir::FloatType>(type)) {
    return refuse();
  }
  strides_[numInputs() + index] = *strides;
  written_[index] =
      type.isF32() ? value.value() : mlir::Value(builder_.create<mlir::arith::TruncFOp>(loc_, type, value.value()));
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
