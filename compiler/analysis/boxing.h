// How a value gets from one SBP to another on one mesh, and what it costs.
#ifndef WEFT_COMPILER_ANALYSIS_BOXING_H_
#define WEFT_COMPILER_ANALYSIS_BOXING_H_

#include <map>
#include <tuple>

#include "compiler/analysis/machine.h"
#include "ops/dialect/weft.h"
#include "runtime/plan/collective_kind.h"

namespace weft::compiler {

/// One primitive change, over one mesh axis or (AllReduce) several.
struct BoxStep {
  enum Kind {
#define WEFT_ROW(name, ...) name, // a collective; the table says from what to what
    WEFT_COLLECTIVE_KINDS(WEFT_ROW)
#undef WEFT_ROW
        Slice, // B -> S(d), local
    Pad,       // S(d) -> P, local: zeros elsewhere
    Mask,      // B -> P, local: zeros but on coordinate 0
    Relabel,   // B -> P(max), nothing happens
  };
  Kind kind;
  llvm::SmallVector<int, 2> axes;
  llvm::SmallVector<ir::SbpState> after; // all axes
  double seconds = 0;                    // see stepSeconds
};

/// A shortest route from `from` to `to` for a tensor of `shape` (global) and
/// `elementBytes`, over a mesh of `axisSizes`; empty if they are equal. There
/// is a route for every pair of valid states: any state reaches all-B, and
/// all-B reaches any. Tensors of bytes are never summed on the way. A state that cuts a dimension unevenly is not
/// valid; asserted.
///
/// An axis can be given or relieved of a split of a dimension only if no
/// inner axis cuts the same dimension, since outer axes cut first.
llvm::SmallVector<BoxStep> findRoute(llvm::ArrayRef<ir::SbpState> from, llvm::ArrayRef<ir::SbpState> to,
                                     llvm::ArrayRef<int64_t> shape, int64_t elementBytes,
                                     llvm::ArrayRef<int64_t> axisSizes, const CostModel &machine);

/// Routes on one machine, which must outlive it: as layers repeat, so do they, and each is found once. For one thread.
class Routes {
public:
  explicit Routes(const CostModel &machine) : machine_(machine) {}

  /// findRoute() for a tensor of `type`. Valid until the next call.
  llvm::ArrayRef<BoxStep> find(llvm::ArrayRef<ir::SbpState> from, llvm::ArrayRef<ir::SbpState> to,
                               mlir::RankedTensorType type, llvm::ArrayRef<int64_t> axisSizes);

private:
  using States = llvm::SmallVector<ir::SbpState>;
  using Sizes = llvm::SmallVector<int64_t>;
  const CostModel &machine_;
  std::map<std::tuple<States, States, Sizes, int64_t, Sizes>, llvm::SmallVector<BoxStep>> known_;
};

/// Seconds of one step over a group of ranks on a tensor whose local size
/// without this axis's split is `bytes`.
double stepSeconds(BoxStep::Kind kind, double bytes, const plan::Spread &group, const CostModel &machine);

/// Seconds of a box on the ranks of its `placement`, where its operand lies too: those of its route.
double boxSeconds(ir::BoxOp box, ir::PlacementAttr placement, const CostModel &machine);

/// The groups along `axes` of a mesh of `axisSizes`, as they lie on nodes if its ranks count up from the beginning of
/// one.
plan::Spread spreadOf(llvm::ArrayRef<int64_t> axisSizes, llvm::ArrayRef<int> axes, const CostModel &machine);

/// The cheapest single-axis transition, and its cost; used where only one
/// axis is decided at a time. Zero if the states are equal.
double transitionSeconds(ir::SbpState from, ir::SbpState to, double bytes, const plan::Spread &group,
                         const CostModel &machine);

/// Whether `states` cut every dimension of `shape` evenly.
bool cutsEvenly(llvm::ArrayRef<ir::SbpState> states, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> axisSizes);

} // namespace weft::compiler

#endif // WEFT_COMPILER_ANALYSIS_BOXING_H_
