#include "compiler/analysis/ring.h"

#include <algorithm>

#include "compiler/analysis/cost.h"
#include "runtime/plan/cost.h"

namespace weft::compiler {
namespace {

using namespace weft::ir;
using Ring = ShardingRule::Ring;

// The dimension of a tensor that is, or begins with, `factor`.
size_t dimOf(const ShardingRule::Tensor &tensor, int factor) {
  return size_t(llvm::find_if(tensor, [&](auto &dim) { return llvm::is_contained(dim, factor); }) - tensor.begin());
}

double bytesOfAll(ArrayRef<int> which, ArrayRef<RankedTensorType> types) {
  double bytes = 0;
  for (int i : which) {
    bytes += double(bytesOf(types[i]));
  }
  return bytes;
}

// Whether a rank's rows are two halves.
bool hasHalves(const ShardingRule &rule, const Ring::Zigzag &zigzag, ArrayRef<RankedTensorType> operands) {
  const int first = zigzag.operands.front();
  return operands[first].getDimSize(unsigned(dimOf(rule.operands[first], rule.ring->rows))) % 2 == 0;
}

} // namespace

RingCost ringCost(WeftOpInterface op, const ShardingRule &rule, ArrayRef<RankedTensorType> operands,
                  ArrayRef<RankedTensorType> results, int64_t parts, const plan::Spread &group,
                  const CostModel &machine) {
  const Ring &ring = *rule.ring;
  SmallVector<RankedTensorType> whole(operands);
  int64_t blocks = parts;
  for (int operand : ring.operands) {
    SmallVector<int64_t> shape(operands[operand].getShape());
    int64_t &keys = shape[dimOf(rule.operands[operand], ring.keys)];
    blocks = ring.blocks(keys, parts);
    keys *= parts;
    whole[operand] = RankedTensorType::get(shape, operands[operand].getElementType());
  }
  double merged = 0;
  for (auto [i, type] : llvm::enumerate(results)) {
    merged += llvm::is_contained(ring.results, int(i)) ? 0 : 3 * 4 * double(type.getNumElements());
  }
  auto collective = [&](CollectiveKind kind, double bytes) {
    return plan::CollectiveSeconds(machine, kind, bytes, group);
  };
  const double shift =
      collective(CollectiveKind::kShift, bytesOfAll(ring.operands, operands) + bytesOfAll(ring.results, results));
  auto seconds = [&](double all) {
    const double block =
        all / double(blocks) + plan::KernelSeconds(machine, {}) + plan::KernelSeconds(machine, {0, 0, merged});
    return block + double(blocks - 1) * std::max(block, shift) + (ring.results.empty() || blocks == 1 ? 0 : shift);
  };
  const double all = plan::KernelSeconds(machine, workOf(op, whole, results));
  RingCost cost = {seconds(all), {}};
  if (ring.zigzag && parts > 1 && hasHalves(rule, *ring.zigzag, operands)) {
    cost.zigzag = seconds(all * double(parts) / double(2 * parts - 1)) +
                  collective(CollectiveKind::kZigzag, bytesOfAll(ring.zigzag->operands, operands)) +
                  collective(CollectiveKind::kZigzag, bytesOfAll(ring.zigzag->results, results));
  }
  return cost;
}

} // namespace weft::compiler
