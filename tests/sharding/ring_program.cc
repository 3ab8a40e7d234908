#include "tests/sharding/ring_program.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/passes/box/passes.h"
#include "llvm/ADT/DenseMap.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "tests/sharding/kernel_call.h"

namespace weft::tests {
namespace {

using Parts = std::vector<Values>;  // a rank each

mlir::Type With(mlir::Type type, const States& states) {
  return ir::withSbp(llvm::cast<mlir::RankedTensorType>(type),
                     ir::SbpAttr::get(type.getContext(), llvm::ArrayRef<ir::SbpState>(states)));
}

// A graph of nothing but the op, whose results are its outputs.
ir::GraphOp GraphOf(mlir::OpBuilder& b, mlir::Operation* op, const std::vector<States>& operands,
                    const std::vector<States>& results, const Mesh& mesh) {
  llvm::SmallVector<mlir::StringAttr> axes;
  llvm::SmallVector<int64_t> sizes(mesh.sizes.begin(), mesh.sizes.end()), ranks;
  for (size_t axis = 0; axis < sizes.size(); ++axis) axes.push_back(b.getStringAttr(absl::StrCat("axis", axis)));
  for (int64_t rank = 0; rank < mesh.Ranks(); ++rank) ranks.push_back(rank);
  const auto placement = ir::PlacementAttr::get(b.getContext(), b.getStringAttr("cpu"), axes, sizes, ranks);
  llvm::SmallVector<mlir::Attribute> names;
  for (unsigned i = 0; i < op->getNumOperands(); ++i) names.push_back(b.getStringAttr(absl::StrCat("x", i)));
  auto graph = b.create<ir::GraphOp>(op->getLoc(), "ring", b.getArrayAttr(names), b.getArrayAttr({placement}), 1,
                                     mlir::DenseI64ArrayAttr());
  mlir::Block& body = graph.getBody().emplaceBlock();
  b.setInsertionPointToStart(&body);
  mlir::IRMapping arguments;
  for (auto [operand, states] : llvm::zip(op->getOperands(), operands)) {
    arguments.map(operand, body.addArgument(With(operand.getType(), states), op->getLoc()));
  }
  mlir::Operation* const copy = b.clone(*op, arguments);
  for (auto [result, states] : llvm::zip(copy->getResults(), results)) {
    result.setType(With(result.getType(), states));
    b.create<ir::OutputOp>(op->getLoc(), b.getStringAttr("y"), mlir::UnitAttr(), result);
  }
  return graph;
}

// Runs ops on all ranks, one after the other.
class Ranks {
 public:
  Ranks(const KernelRegistry& registry, const Mesh& mesh) : registry_(registry), mesh_(mesh) {}

  void Set(mlir::Value value, Parts parts) { values_[value] = std::move(parts); }
  const Parts& Of(mlir::Value value) const { return values_.find(value)->second; }

  absl::Status Run(mlir::Operation& op) {
    if (auto shift = llvm::dyn_cast<ir::ShiftOp>(op)) {
      Shift(shift);
      return absl::OkStatus();
    }
    if (auto zigzag = llvm::dyn_cast<ir::ZigzagOp>(op)) {
      Zigzag(zigzag);
      return absl::OkStatus();
    }
    std::vector<Parts> results(op.getNumResults());
    for (int64_t rank = 0; rank < mesh_.Ranks(); ++rank) {
      const std::vector<int64_t> at = mesh_.CoordinatesOf(rank);
      std::vector<TensorSpec> inputs, outputs;
      std::vector<Values> values;
      for (mlir::Value operand : op.getOperands()) {
        inputs.push_back(TileAt(operand, at));
        values.push_back(Of(operand)[static_cast<size_t>(rank)]);
      }
      for (mlir::Value result : op.getResults()) outputs.push_back(TileAt(result, at));
      WEFT_ASSIGN_OR_RETURN(KernelSpec spec, SpecOf(&op, std::move(inputs), std::move(outputs), at));
      WEFT_ASSIGN_OR_RETURN(std::vector<Values> made, testing::RunKernel(registry_, spec, values, {}));
      for (size_t i = 0; i < made.size(); ++i) results[i].push_back(std::move(made[i]));
    }
    for (auto [result, parts] : llvm::zip(op.getResults(), results)) Set(result, std::move(parts));
    return absl::OkStatus();
  }

 private:
  TensorSpec TileAt(mlir::Value value, const std::vector<int64_t>& at) const {
    const auto states = ir::sbpOf(value.getType()).getStates();
    return *TileOf(WholeSpec(value.getType()), {states.begin(), states.end()}, mesh_, at);
  }

  // The rank that is at `target` along an axis, and as `rank` along the others.
  size_t RankAlong(int64_t rank, size_t axis, int64_t target) const {
    int64_t stride = 1;
    for (size_t inner = axis + 1; inner < mesh_.sizes.size(); ++inner) stride *= mesh_.sizes[inner];
    return static_cast<size_t>(rank + (target - mesh_.CoordinatesOf(rank)[axis]) * stride);
  }

  void Shift(ir::ShiftOp shift) {
    const auto axis = static_cast<size_t>(shift.getAxis());
    const Parts& from = Of(shift.getInput());
    Parts to(from.size());
    for (int64_t rank = 0; rank < mesh_.Ranks(); ++rank) {
      const int64_t at = mesh_.CoordinatesOf(rank)[axis];
      const int64_t target = (at + static_cast<int64_t>(shift.getBy())) % mesh_.sizes[axis];
      to[RankAlong(rank, axis, target)] = from[static_cast<size_t>(rank)];
    }
    Set(shift.getResult(), std::move(to));
  }

  // By its definition: which rank has which two of all pieces, on the one side and on the other.
  void Zigzag(ir::ZigzagOp zigzag) {
    const auto axis = static_cast<size_t>(zigzag.getAxis());
    const auto dim = static_cast<size_t>(ir::sbpOf(zigzag.getInput().getType()).getStates()[axis].dim);
    const int64_t count = mesh_.sizes[axis];
    const auto pieces = [&](int64_t at, bool neighbours) {
      const int64_t mirror = count - 1 - at, early = at <= mirror ? 2 * at : 2 * mirror + 1;
      return neighbours ? std::array{2 * at, 2 * at + 1} : std::array{early, 2 * count - 1 - early};
    };
    const Parts& from = Of(zigzag.getInput());
    Parts to = from;
    for (int64_t rank = 0; rank < mesh_.Ranks(); ++rank) {
      const std::vector<int64_t> at = mesh_.CoordinatesOf(rank);
      const std::vector<int64_t> dims = TileAt(zigzag.getInput(), at).dims;
      size_t piece = static_cast<size_t>(dims[dim]) / 2;
      for (size_t d = dim + 1; d < dims.size(); ++d) piece *= static_cast<size_t>(dims[d]);
      for (size_t half = 0; half < 2; ++half) {
        const int64_t wanted = pieces(at[axis], zigzag.getBack())[half];
        for (int64_t other = 0; other < count; ++other) {
          const auto held = pieces(other, !zigzag.getBack());
          for (size_t i = 0; i < 2; ++i) {
            if (held[i] != wanted) continue;
            const Values& source = from[RankAlong(rank, axis, other)];
            Values& target = to[static_cast<size_t>(rank)];
            for (size_t outer = 0; outer < target.size(); outer += 2 * piece) {
              std::copy_n(source.begin() + static_cast<int64_t>(outer + i * piece), piece,
                          target.begin() + static_cast<int64_t>(outer + half * piece));
            }
          }
        }
      }
    }
    Set(zigzag.getResult(), std::move(to));
  }

  const KernelRegistry& registry_;
  const Mesh& mesh_;
  llvm::DenseMap<mlir::Value, Parts> values_;
};

}  // namespace

absl::StatusOr<RingResults> RunRing(const KernelRegistry& registry, mlir::Operation* op, const std::string& zigzag,
                                    const std::vector<States>& operands, const std::vector<States>& results,
                                    const Mesh& mesh, const std::vector<std::vector<Values>>& inputs) {
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(op->getLoc());
  mlir::OpBuilder builder(op->getContext());
  builder.setInsertionPointToStart(module->getBody());
  ir::GraphOp graph = GraphOf(builder, op, operands, results, mesh);
  mlir::PassManager passes(op->getContext());
  passes.addNestedPass<ir::GraphOp>(compiler::createBoxRing({zigzag}));
  if (failed(mlir::verify(*module)) || failed(passes.run(*module))) return absl::InternalError("weft-box-ring failed");
  Ranks ranks(registry, mesh);
  for (auto [argument, parts] : llvm::zip(graph.getBody().getArguments(), inputs)) ranks.Set(argument, parts);
  RingResults ring;
  bool goes_round = false;
  for (mlir::Operation& one : graph.getBody().front()) {
    goes_round |= one.hasAttr("blocks");
    ring.zigzag |= one.hasAttr("zigzag");
    if (auto output = llvm::dyn_cast<ir::OutputOp>(one)) {
      ring.values.push_back(ranks.Of(output.getValue()));
    } else if (absl::Status status = ranks.Run(one); !status.ok()) {
      return status;
    }
  }
  return goes_round ? absl::StatusOr<RingResults>(std::move(ring)) : absl::InternalError("no ring was made");
}

}  // namespace weft::tests
