#include "tests/codegen/reference.h"

#include <cmath>
#include <limits>

#include "llvm/ADT/TypeSwitch.h"
#include "ops/abi/philox.h"

namespace weft::compiler {
namespace {

using namespace mlir;

constexpr double kRound = 0x1p-24, kTiny = 0x1p-149;  // of float32: half a unit in the last place, the least number
// What elementary functions are off by, in units in the last place.
constexpr double kFunctionUlps = 8;

// A number that is rounded to `type`, after an error of its operands.
Bounded rounded(double number, double error, double ulps = 0.5, mlir::Type type = {}) {
  const bool half = type && type.isF16(), brain = type && type.isBF16();
  const double round = brain ? 0x1p-8 : half ? 0x1p-11 : kRound;
  const double largest = half ? 65504 : brain ? 0x1.fep127 : 0x1.fffffep127;
  const double least = half ? 0x1p-24 : brain ? 0x1p-133 : kTiny;
  if (std::fabs(number) > largest * (1 + round)) {
    return {std::copysign(std::numeric_limits<double>::infinity(), number), 0};
  }
  if (std::isnan(number) || std::isnan(error)) {
    return {number, 0};
  }
  return {number, error + 2 * ulps * round * (std::fabs(number) + error) + least};
}

Bounded chosen(bool first, Bounded a, Bounded b, bool sure) {
  Bounded is = first ? a : b, other = first ? b : a;
  return sure ? is : Bounded{is.number, std::fabs(is.number - other.number) + std::max(a.error, b.error)};
}

Bounded quotient(Bounded a, Bounded b) {
  const double number = a.number / b.number;
  const double least = std::fabs(b.number) - b.error;
  return rounded(number, least > 0                      ? (a.error + std::fabs(number) * b.error) / least
                         : a.error == 0 && b.error == 0 ? 0
                                                        : INFINITY);
}

Bounded extreme(Bounded a, Bounded b, bool largest) {
  if (std::isnan(a.number) || std::isnan(b.number)) {
    return {std::nan(""), 0};
  }
  return {largest ? std::max(a.number, b.number) : std::min(a.number, b.number), std::max(a.error, b.error)};
}

bool holds(arith::CmpFPredicate predicate, double a, double b) {
  switch (predicate) {
    case arith::CmpFPredicate::OLT:
      return a < b;
    case arith::CmpFPredicate::OLE:
      return a <= b;
    case arith::CmpFPredicate::OEQ:
      return a == b;
    case arith::CmpFPredicate::UNE:
      return a != b;
    default:
      llvm_unreachable("no cell asks that");
  }
}

bool holds(arith::CmpIPredicate predicate, double a, double b) {
  switch (predicate) {
    case arith::CmpIPredicate::sge:
      return a >= b;
    case arith::CmpIPredicate::ne:
      return a != b;
    default:
      llvm_unreachable("no cluster asks that");
  }
}

Bounded computed(Operation* op, ArrayRef<Bounded> x) {
  auto magnitude = [&](size_t i) { return std::fabs(x[i].number); };
  return llvm::TypeSwitch<Operation*, Bounded>(op)
      .Case([&](arith::AddFOp) { return rounded(x[0].number + x[1].number, x[0].error + x[1].error); })
      .Case([&](arith::SubFOp) { return rounded(x[0].number - x[1].number, x[0].error + x[1].error); })
      .Case([&](arith::MulFOp) {
        const double error = magnitude(0) * x[1].error + magnitude(1) * x[0].error + x[0].error * x[1].error;
        return rounded(x[0].number * x[1].number, error);
      })
      .Case([&](arith::DivFOp) { return quotient(x[0], x[1]); })
      .Case([&](arith::NegFOp) { return Bounded{-x[0].number, x[0].error}; })
      .Case([&](math::AbsFOp) { return Bounded{magnitude(0), x[0].error}; })
      .Case([&](arith::MaximumFOp) { return extreme(x[0], x[1], true); })
      .Case([&](arith::MinimumFOp) { return extreme(x[0], x[1], false); })
      .Case([&](arith::CmpFOp compare) {
        // 1 or 0; an error where it may be either.
        const double a = x[0].number, b = x[1].number, error = x[0].error + x[1].error;
        const bool sure = std::fabs(a - b) > error || error == 0;
        return Bounded{double(holds(compare.getPredicate(), a, b)), sure ? 0.0 : 1.0};
      })
      .Case([&](arith::SelectOp) { return chosen(x[0].number != 0, x[1], x[2], x[0].error == 0); })
      .Case([&](arith::ExtFOp) { return x[0]; })
      .Case([&](arith::TruncFOp op) { return rounded(x[0].number, x[0].error, 0.5, op.getType()); })
      .Case([&](math::ExpOp) {
        const double number = std::exp(x[0].number);
        return rounded(number, number == 0 ? 0 : number * std::expm1(x[0].error), kFunctionUlps);
      })
      .Case([&](math::LogOp) {
        Bounded log = rounded(std::log(x[0].number), x[0].error / x[0].number, kFunctionUlps);
        log.error += kFunctionUlps * kRound;  // near 1
        return log;
      })
      .Case([&](math::SqrtOp) {
        const double number = std::sqrt(x[0].number);
        return rounded(number, std::min(x[0].error / number, std::sqrt(x[0].error)));
      })
      .Case([&](math::TanhOp) { return rounded(std::tanh(x[0].number), x[0].error, kFunctionUlps); })
      .Case([&](math::ErfOp) {
        Bounded erf = rounded(std::erf(x[0].number), 2 / std::sqrt(M_PI) * x[0].error, kFunctionUlps);
        erf.error += kFunctionUlps * kRound;  // an approximation of the whole curve
        return erf;
      })
      .Case([&](arith::ShRUIOp) { return Bounded{double(uint32_t(x[0].number) >> uint32_t(x[1].number)), 0}; })
      .Case([&](arith::CmpIOp compare) {
        // Of what may be 1 or 0, and is compared with 0.
        return Bounded{double(holds(compare.getPredicate(), x[0].number, x[1].number)), x[0].error};
      })
      .Case<arith::ExtUIOp, arith::UIToFPOp>([&](auto) { return x[0]; })
      .Case([&](arith::ConstantOp constant) {
        auto integer = llvm::dyn_cast<IntegerAttr>(constant.getValue());
        return Bounded{
            integer ? double(integer.getInt()) : llvm::cast<FloatAttr>(constant.getValue()).getValueAsDouble(), 0};
      });
}

Bounded reduced(cell::ReduceOp reduce, const std::vector<Bounded>& row) {
  if (reduce.getKind() == "max") {
    Bounded largest{-std::numeric_limits<double>::infinity(), 0};
    for (const Bounded& x : row) {
      largest.error = std::max(largest.error, x.error);
      largest.number = x.number > largest.number ? x.number : largest.number;  // passes over what is none
    }
    return largest;
  }
  Bounded sum;
  double magnitudes = 0;
  for (const Bounded& x : row) {
    sum.number += x.number;
    sum.error += x.error;
    magnitudes += std::fabs(x.number);
  }
  sum.error += double(row.size()) * kRound * magnitudes;
  return rounded(sum.number, sum.error);
}

// A row's part of sums over all rows, of which every addition rounds.
void addRow(const std::vector<Bounded>& row, const std::vector<size_t>& places, std::vector<Bounded>& sums) {
  for (auto [place, x] : llvm::zip(places, row)) {
    sums[place].number += x.number;
    sums[place].error += x.error + kRound * (std::fabs(sums[place].number) + std::fabs(x.number)) * 2;
  }
}

// One row of a kernel.
struct Row {
  cell::KernelOp kernel;
  std::vector<std::vector<size_t>> places;  // by operand, then by `cell.random`: where its numbers are
  llvm::DenseMap<Value, std::vector<Bounded>> values;

  Row(cell::KernelOp kernel, size_t walks) : kernel(kernel), places(walks) {}

  void run(const std::vector<Numbers>& inputs, const std::vector<Draw>& draws,
           std::vector<std::vector<Bounded>>& outputs) {
    size_t random = 0;
    Block& block = kernel.getBody().front();
    for (BlockArgument argument : block.getArguments()) {
      for (size_t place : places[argument.getArgNumber()]) {
        values[argument].push_back({inputs[argument.getArgNumber()][place], 0});
      }
    }
    for (Operation& op : block.without_terminator()) {
      std::vector<Bounded> results;
      if (llvm::isa<cell::SumRowsOp>(op)) {
        results = values[op.getOperand(0)];  // of this row
      } else if (llvm::isa<cell::RandomOp>(op)) {
        for (size_t place : places[kernel.getStrides().size() + random]) {
          const Draw& draw = draws[random];
          results.push_back({double(PhiloxElement(draw.key, draw.event, uint64_t(draw.first) + place)), 0});
        }
        ++random;
      } else if (auto reduce = llvm::dyn_cast<cell::ReduceOp>(op)) {
        results.assign(kernel.getRow(), reduced(reduce, values[reduce.getValue()]));
      } else {
        for (size_t i = 0; i < kernel.getRow(); ++i) {
          SmallVector<Bounded> x;
          for (Value operand : op.getOperands()) {
            x.push_back(values[operand][i]);
          }
          results.push_back(computed(&op, x));
        }
      }
      values[op.getResult(0)] = results;
    }
    for (auto [index, value] : llvm::enumerate(kernel.getYielded())) {
      if (cell::SumRowsOp sum = cell::sumRowsOf(value)) {
        addRow(values[sum.getValue()], places[kernel.getNumInputs() + index], outputs[index]);
        continue;
      }
      for (auto [place, number] : llvm::zip(places[kernel.getNumInputs() + index], values[value])) {
        outputs[index][place] = number;
      }
    }
  }
};

}  // namespace

std::vector<std::vector<Bounded>> referenceOf(cell::KernelOp kernel, const std::vector<Numbers>& inputs,
                                              const std::vector<size_t>& sizes, const std::vector<Draw>& draws) {
  std::vector<std::vector<Bounded>> outputs;
  for (size_t size : sizes) {
    outputs.emplace_back(size);
  }
  const ArrayRef<int64_t> domain = kernel.getDomain();
  SmallVector<ArrayRef<int64_t>> walks;
  for (unsigned operand = 0; operand < kernel.getStrides().size(); ++operand) {
    walks.push_back(kernel.getStridesOf(operand));
  }
  for (auto random : kernel.getBody().getOps<cell::RandomOp>()) {
    walks.push_back(random.getStrides());
  }
  int64_t all = 1;
  for (int64_t extent : domain) {
    all *= extent;
  }
  for (int64_t begin = 0; begin < all; begin += int64_t(kernel.getRow())) {
    Row row(kernel, walks.size());
    for (int64_t place = begin; place < begin + int64_t(kernel.getRow()); ++place) {
      for (unsigned operand = 0; operand < row.places.size(); ++operand) {
        size_t at = operand < kernel.getStrides().size() ? size_t(kernel.getOffsetOf(operand)) : 0;
        int64_t rest = place;
        for (size_t dim = domain.size(); dim-- > 0; rest /= domain[dim]) {
          at += size_t(rest % domain[dim] * walks[operand][dim]);
        }
        row.places[operand].push_back(at);
      }
    }
    row.run(inputs, draws, outputs);
  }
  for (auto [index, value] : llvm::enumerate(kernel.getYielded())) {
    for (Bounded& number : outputs[index]) {
      if (cell::sumRowsOf(value)) {
        number = rounded(number.number, number.error, 0.5, value.getType());
      }
    }
  }
  return outputs;
}

}  // namespace weft::compiler
