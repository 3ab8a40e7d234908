// What rules without a kernel of their own are made of.
#include <cmath>

#include "ops/constant/ops.h"
#include "ops/einsum/ops.h"
#include "ops/elementwise/ops.h"
#include "ops/logic/ops.h"
#include "ops/optimizer/ops.h"
#include "ops/reduce/ops.h"

namespace weft::ir {
namespace {

// Builds in front of an update what it is made of, on float32 tensors.
class Composer {
public:
  template <typename Op>
  Composer(mlir::RewriterBase &b, Op op)
      : b_(b), op_(op), lr_(op.getLr()), scale_(op.getGradScale()), step_(op.getStep()) {}

  // ---- formulas -----------------------------------------------------------
  template <typename Op, typename... Args> Value make(Args... args) {
    return create<Op>(b_, op_.getLoc(), args...)->getResult(0);
  }
  Value add(Value x, Value y) { return make<AddOp>(x, y); }
  Value sub(Value x, Value y) { return make<SubOp>(x, y); }
  Value mul(Value x, Value y) { return make<MulOp>(x, y); }
  Value div(Value x, Value y) { return make<DivOp>(x, y); }
  Value sqrt(Value x) { return make<SqrtOp>(x); }
  Value rsqrt(Value x) { return make<RsqrtOp>(x); }
  Value square(Value x) { return make<SquareOp>(x); }
  Value times(Value x, double factor) { return make<ScaleOp>(x, b_.getF64FloatAttr(factor)); }
  Value plus(Value x, double addend) { return make<AddScalarOp>(x, b_.getF64FloatAttr(addend)); }
  Value number(double value) { return make<FillOp>(b_.getArrayAttr({}), b_.getF64FloatAttr(value), mlir::TypeAttr()); }
  // x + share (y - x): what moves towards y. It may overwrite x.
  Value towards(Value x, Value y, double share) { return add(x, times(sub(y, x), share)); }
  Value towards(Value x, Value y, Value share) { return add(x, mul(sub(y, x), share)); }
  // a + factor x
  Value plusTimes(Value a, Value x, double factor) { return factor == 0 ? a : add(a, times(x, factor)); }

  // ---- what the update is given -------------------------------------------
  Value parameter() { return op_.getParameter(); }
  Value state(unsigned index) { return op_.getState()[index]; }
  Value lr() { return lr_; }

  Value gradient() {
    Value gradient = op_.getGradient();
    if (!tensorOf(gradient).getElementType().isF32()) {
      gradient = make<CastOp>(gradient, mlir::TypeAttr::get(b_.getF32Type()));
    }
    return mul(gradient, scale_);
  }

  // The number of the step, from 1.
  Value step() {
    if (step_) {
      return step_;
    }
    return buildLearningRate(b_, op_.getLoc(), 1, "count", {})->getResult();
  }

  // 1 / (1 - beta^t), with which a moving average that began with 0 is one of t steps. As 1 - e^-y is
  // 2 tanh(y / 2) / (1 + tanh(y / 2)), nothing cancels where beta is near 1.
  Value correction(double beta) {
    if (beta == 0) {
      return number(1);
    }
    Value half = make<TanhOp>(times(step(), -0.5 * std::log(beta)));
    return div(plus(half, 1), times(half, 2));
  }

  // ---- norms --------------------------------------------------------------
  // The first `batch` dimensions are of tensors of their own.
  Value squareSum(Value x, int64_t batch) {
    if (batch == 0) {
      return make<SquareSumOp>(x);
    }
    return sum(square(x), llvm::to_vector(llvm::seq<int64_t>(batch, tensorOf(x).getRank())));
  }
  Value norm(Value x, int64_t batch) { return sqrt(squareSum(x, batch)); }
  // Of the dimensions behind `batch`.
  Value rootMeanSquare(Value x, int64_t batch) {
    return sqrt(times(squareSum(x, batch), 1.0 / double(extents(batch, tensorOf(x).getRank()))));
  }
  Value sum(Value x, ArrayRef<int64_t> dims) { return reduce(b_, op_.getLoc(), x, "sum", dims, /*keepDims=*/true); }
  Value mean(Value x, int64_t from, int64_t to) {
    return times(sum(x, llvm::to_vector(llvm::seq<int64_t>(from, to))), 1.0 / double(extents(from, to)));
  }
  // The product of the parameter's extents, without padding.
  int64_t extents(int64_t from, int64_t to) {
    int64_t product = 1;
    SmallVector<int64_t> shape = unpaddedShapeOf(op_->getResult(0));
    for (int64_t extent : ArrayRef<int64_t>(shape).slice(size_t(from), size_t(to - from))) {
      product *= extent;
    }
    return product;
  }
  // `ratio`, or 1 where one of two norms is 0.
  Value whereBoth(Value x, Value y, Value ratio) {
    Value zero = number(0);
    Value both =
        make<LogicalAndOp>(make<GreaterOp>(x, zero, mlir::UnitAttr()), make<GreaterOp>(y, zero, mlir::UnitAttr()));
    return make<SelectOp>(both, ratio, number(1));
  }

  // ---- the end ------------------------------------------------------------
  // p - lr decay p, decoupled decay of a learning rate.
  Value decayed(double decay) {
    return decay == 0 ? parameter() : sub(parameter(), mul(parameter(), times(lr(), decay)));
  }

  // The next values take the place of the update; the old ones, where the step is skipped.
  LogicalResult finish(SmallVector<Value> next) {
    if (step_) {
      Value skipped = make<EqualOp>(step_, number(0), mlir::UnitAttr());
      next[0] = make<SelectOp>(skipped, parameter(), next[0]);
      for (auto [kept, value] : llvm::zip(op_.getState(), llvm::MutableArrayRef<Value>(next).drop_front())) {
        value = make<SelectOp>(skipped, kept, value);
      }
    }
    b_.replaceOp(op_, next);
    return mlir::success();
  }

private:
  mlir::RewriterBase &b_;
  UpdateOpInterface op_;
  Value lr_, scale_, step_;
};

double of(mlir::FloatAttr number) { return number.getValueAsDouble(); }

// ---- Muon -------------------------------------------------------------------
// Products of matrices [batch..., rows..., columns...], by letters.
class Matrices {
public:
  Matrices(Composer &c, int64_t batch, int64_t rows, int64_t rank) : c_(c) {
    auto take = [this](int64_t count) {
      std::string taken;
      for (int64_t i = 0; i < count; ++i) {
        taken += next_++;
      }
      return taken;
    };
    batch_ = take(batch);
    rows_ = take(rows);
    columns_ = take(rank - batch - rows);
    size_t most = std::max(rows_.size(), columns_.size());
    other_ = take(int64_t(most));
    third_ = take(int64_t(most));
  }

  // X X^T, or X^T X with `byColumns`.
  Value gram(Value x, bool byColumns) {
    std::string side = byColumns ? columns_ : rows_, other = other_.substr(0, side.size());
    std::string again = byColumns ? rows_ + other : other + columns_;
    return product(batch_ + rows_ + columns_, batch_ + again, batch_ + side + other, x, x);
  }
  // A A of what gram() gives.
  Value squared(Value a, bool byColumns) {
    std::string side = byColumns ? columns_ : rows_, other = other_.substr(0, side.size()),
                third = third_.substr(0, side.size());
    return product(batch_ + side + other, batch_ + other + third, batch_ + side + third, a, a);
  }
  // B X, or X B with `byColumns`.
  Value applied(Value b, Value x, bool byColumns) {
    std::string side = byColumns ? columns_ : rows_, other = other_.substr(0, side.size());
    std::string operand = byColumns ? rows_ + other : other + columns_;
    // B is symmetric, so that one form is enough.
    return product(batch_ + side + other, batch_ + operand, batch_ + rows_ + columns_, b, x);
  }

private:
  Value product(const std::string &lhs, const std::string &rhs, const std::string &result, Value x, Value y) {
    mlir::Builder builder(x.getContext());
    return c_.make<EinsumOp>(builder.getStringAttr(lhs + "," + rhs + "->" + result), x, y, mlir::TypeAttr());
  }

  Composer &c_;
  char next_ = 'a';
  std::string batch_, rows_, columns_, other_, third_;
};

// Singular values near 1 in the place of those of x.
Value orthogonal(Composer &c, Value x, int64_t batch, int64_t rows) {
  constexpr double kA = 3.4445, kB = -4.7750, kC = 2.0315;
  const int64_t rank = tensorOf(x).getRank();
  const bool byColumns = c.extents(batch, batch + rows) > c.extents(batch + rows, rank);
  Matrices matrices(c, batch, rows, rank);
  x = c.div(x, c.plus(c.norm(x, batch), 1e-7));
  for (int i = 0; i < 5; ++i) {
    Value a = matrices.gram(x, byColumns);
    Value b = c.plusTimes(c.times(a, kB), matrices.squared(a, byColumns), kC);
    x = c.add(c.times(x, kA), matrices.applied(b, x, byColumns));
  }
  return x;
}

// ---- Adafactor --------------------------------------------------------------
// The next parameter from a gradient that is divided by the root of its second moment.
template <typename Op> Value scaledStep(Composer &c, Op op, Value u) {
  const int64_t batch = op.getBatch();
  Value excess = c.make<ClampOp>(c.times(c.rootMeanSquare(u, batch), 1 / of(op.getClipAttr())),
                                 mlir::FloatAttr::get(mlir::Float64Type::get(op.getContext()), 1), mlir::Attribute());
  Value size = c.make<ClampOp>(c.rootMeanSquare(c.parameter(), batch), op.getEps2Attr(), mlir::Attribute());
  Value relative = c.make<MinimumOp>(c.lr(), c.rsqrt(c.step()));
  return c.sub(c.decayed(of(op.getWeightDecayAttr())), c.mul(u, c.div(c.mul(size, relative), excess)));
}

// The share by which second moments move.
template <typename Op> Value shareOf(Composer &c, Op op) {
  auto exponent = mlir::FloatAttr::get(mlir::Float64Type::get(op.getContext()), -of(op.getDecayAttr()));
  return c.make<PowerOp>(c.step(), exponent);
}

} // namespace

LogicalResult LionOp::decompose(mlir::RewriterBase &b) {
  Composer c(b, *this);
  const double beta1 = of(getBeta1Attr()), beta2 = of(getBeta2Attr());
  Value g = c.gradient(), m = c.state(0);
  Value sign = c.make<SignOp>(c.towards(m, g, 1 - beta1));
  Value next = c.sub(c.decayed(of(getWeightDecayAttr())), c.mul(sign, c.lr()));
  return c.finish({next, c.towards(m, g, 1 - beta2)});
}

LogicalResult LambOp::decompose(mlir::RewriterBase &b) {
  Composer c(b, *this);
  const double beta1 = of(getBeta1Attr()), beta2 = of(getBeta2Attr());
  Value g = c.gradient(), p = c.parameter();
  Value m = c.towards(c.state(0), g, 1 - beta1), v = c.towards(c.state(1), c.square(g), 1 - beta2);
  Value root = c.sqrt(c.mul(v, c.correction(beta2)));
  Value r = c.div(c.mul(m, c.correction(beta1)), c.plus(root, of(getEpsAttr())));
  Value u = c.plusTimes(r, p, of(getWeightDecayAttr()));
  Value length = c.norm(p, getBatch()), step = c.norm(u, getBatch());
  Value rate = c.mul(c.whereBoth(length, step, c.div(length, step)), c.lr());
  return c.finish({c.sub(p, c.mul(u, rate)), m, v});
}

LogicalResult LarsOp::decompose(mlir::RewriterBase &b) {
  Composer c(b, *this);
  const double decay = of(getWeightDecayAttr());
  Value g = c.gradient(), p = c.parameter();
  Value length = c.norm(p, getBatch()), ofGradient = c.norm(g, getBatch());
  Value local = c.div(c.times(length, of(getTrustAttr())), c.plusTimes(ofGradient, length, decay));
  Value rate = c.mul(c.whereBoth(length, ofGradient, local), c.lr());
  Value v = c.add(c.times(c.state(0), of(getMomentumAttr())), c.mul(c.plusTimes(g, p, decay), rate));
  return c.finish({c.sub(p, v), v});
}

LogicalResult AdafactorOp::decompose(mlir::RewriterBase &b) {
  Composer c(b, *this);
  const int64_t batch = getBatch(), columns = batch + getRows(), rank = tensorOf(getP()).getRank();
  const double eps = of(getEps1Attr());
  Value g = c.gradient(), share = shareOf(c, *this), squares = c.square(g);
  Value rows = c.towards(c.state(0), c.plus(c.mean(squares, columns, rank), eps), share);
  Value ofColumns = c.towards(c.state(1), c.plus(c.mean(squares, batch, columns), eps), share);
  // Each factor by itself: their product may be too small for float32.
  Value u = c.mul(c.mul(g, c.rsqrt(c.div(rows, c.mean(rows, batch, columns)))), c.rsqrt(ofColumns));
  return c.finish({scaledStep(c, *this, u), rows, ofColumns});
}

LogicalResult AdafactorVectorOp::decompose(mlir::RewriterBase &b) {
  Composer c(b, *this);
  Value g = c.gradient();
  Value v = c.towards(c.state(0), c.plus(c.square(g), of(getEps1Attr())), shareOf(c, *this));
  return c.finish({scaledStep(c, *this, c.mul(g, c.rsqrt(v))), v});
}

LogicalResult MuonOp::decompose(mlir::RewriterBase &b) {
  Composer c(b, *this);
  const int64_t batch = getBatch(), rows = getRows(), rank = tensorOf(getP()).getRank();
  const double momentum = of(getMomentumAttr());
  Value g = c.gradient(), m = c.towards(c.state(0), g, 1 - momentum);
  Value x = orthogonal(c, c.towards(g, m, momentum), batch, rows);
  const double larger = double(std::max(c.extents(batch, batch + rows), c.extents(batch + rows, rank)));
  Value step = c.mul(x, c.times(c.lr(), 0.2 * std::sqrt(larger)));
  return c.finish({c.sub(c.decayed(of(getWeightDecayAttr())), step), m});
}

} // namespace weft::ir
