// Every pair of states, on meshes of one, two and three axes.
#include "compiler/analysis/boxing.h"

#include <map>

#include <gtest/gtest.h>

#include "llvm/ADT/Sequence.h"

namespace weft::compiler {
namespace {

using ir::SbpState;
using States = llvm::SmallVector<SbpState>;
using Sizes = llvm::SmallVector<int64_t>;

std::string text(llvm::ArrayRef<SbpState> states) {
  std::string out;
  llvm::raw_string_ostream os(out);
  llvm::interleaveComma(states, os);
  return out;
}

// Every state of `shape` on a mesh of `sizes` that cuts evenly.
std::vector<States> allStates(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> sizes, bool max) {
  States one{SbpState::broadcast(), SbpState::partialSum()};
  if (max) {
    one.push_back(SbpState::partialMax());
  }
  for (size_t d = 0; d < shape.size(); ++d) {
    one.push_back(SbpState::split(int64_t(d)));
  }
  std::vector<States> all{{}};
  for (size_t axis = 0; axis < sizes.size(); ++axis) {
    std::vector<States> longer;
    for (const States &states : all) {
      for (SbpState state : one) {
        longer.push_back(states);
        longer.back().push_back(state);
      }
    }
    all = std::move(longer);
  }
  llvm::erase_if(all, [&](const States &states) { return !cutsEvenly(states, shape, sizes); });
  return all;
}

// Whether one axis may change so by this kind of step, as boxing.h says.
bool changes(BoxStep::Kind kind, SbpState from, SbpState to) {
  switch (kind) {
  case BoxStep::AllReduce:
    return from.isPartial() && to == SbpState::broadcast();
  case BoxStep::ReduceScatter:
    return from.isPartial() && to.isSplit();
  case BoxStep::AllGather:
    return from.isSplit() && to == SbpState::broadcast();
  case BoxStep::AllToAll:
    return from.isSplit() && to.isSplit() && from.dim != to.dim;
  case BoxStep::Shift:
  case BoxStep::Zigzag:
    return false; // moves tiles, and changes no state
  case BoxStep::Slice:
    return from == SbpState::broadcast() && to.isSplit();
  case BoxStep::Pad:
    return from.isSplit() && to == SbpState::partialSum();
  case BoxStep::Mask:
    return from == SbpState::broadcast() && to == SbpState::partialSum();
  case BoxStep::Relabel:
    return from == SbpState::broadcast() && to == SbpState::partialMax();
  }
  return false;
}

// An inner axis that cuts the dimension keeps the tiles of an outer one from being contiguous.
bool innermost(llvm::ArrayRef<SbpState> states, size_t axis) {
  return !states[axis].isSplit() ||
         llvm::none_of(states.drop_front(axis + 1), [&](SbpState inner) { return inner == states[axis]; });
}

struct Case {
  Sizes shape, sizes;
};

class Boxing : public testing::TestWithParam<Case> {
protected:
  // Checks the steps one by one; returns their sum of seconds.
  double check(const States &from, const States &to, llvm::ArrayRef<BoxStep> route) {
    const auto &[shape, sizes] = GetParam();
    States at = from;
    double seconds = 0;
    for (const BoxStep &step : route) {
      EXPECT_TRUE(step.axes.size() == 1 || (step.axes.size() > 1 && step.kind == BoxStep::AllReduce));
      for (size_t axis = 0; axis < sizes.size(); ++axis) {
        if (!llvm::is_contained(step.axes, int(axis))) {
          EXPECT_EQ(at[axis], step.after[axis]) << "axis " << axis << " of " << text(at) << " to " << text(step.after);
          continue;
        }
        EXPECT_TRUE(changes(step.kind, at[axis], step.after[axis])) << text(at) << " to " << text(step.after);
        EXPECT_TRUE(innermost(at, axis) && innermost(step.after, axis)) << text(at) << " to " << text(step.after);
        EXPECT_EQ(at[axis].kind, at[step.axes[0]].kind) << "one all-reduce of sums and maxima";
      }
      EXPECT_TRUE(cutsEvenly(step.after, shape, sizes)) << text(step.after);
      seconds += stepSeconds(step.kind, bytes(at, step.axes), spreadOf(sizes, step.axes, machine_), machine_);
      at = step.after;
    }
    EXPECT_EQ(at, to);
    return seconds;
  }

  // Of a tile under `states`, were it not split over `axes`.
  double bytes(const States &states, llvm::ArrayRef<int> axes) {
    double bytes = 4;
    for (int64_t extent : GetParam().shape) {
      bytes *= double(extent);
    }
    for (size_t axis = 0; axis < states.size(); ++axis) {
      if (states[axis].isSplit() && !llvm::is_contained(axes, int(axis))) {
        bytes /= double(GetParam().sizes[axis]);
      }
    }
    return bytes;
  }

  CostModel machine_;
};

TEST_P(Boxing, EveryPairHasARouteOfValidStepsAndNoneBeatsIt) {
  const auto &[shape, sizes] = GetParam();
  std::vector<States> all = allStates(shape, sizes, /*max=*/sizes.size() < 3);
  ASSERT_GT(all.size(), 3u);
  std::map<std::pair<States, States>, double> cost;
  for (const States &from : all) {
    for (const States &to : all) {
      llvm::SmallVector<BoxStep> route = findRoute(from, to, shape, 4, sizes, machine_);
      SCOPED_TRACE(text(from) + " to " + text(to));
      EXPECT_EQ(route.empty(), from == to);
      cost[{from, to}] = check(from, to, route);
    }
  }
  if (all.size() > 40) {
    return; // the cube of that is too many
  }
  for (const States &a : all) {
    for (const States &b : all) {
      for (const States &c : all) {
        EXPECT_LE((cost[{a, c}]), (cost[{a, b}] + cost[{b, c}] + 1e-12))
            << text(a) << " to " << text(b) << " to " << text(c);
      }
    }
  }
}

// Where one axis changes that nothing hinders, the route costs no more than changing that axis alone (other axes may
// help: pending sums over many ranks are cheaper to add in parts). Alone on its mesh, one step does what one step can.
TEST_P(Boxing, OneAxisCostsNoMoreThanAlone) {
  const auto &[shape, sizes] = GetParam();
  std::vector<States> all = allStates(shape, sizes, true);
  for (const States &from : all) {
    for (const States &to : all) {
      auto changed = llvm::to_vector(
          llvm::make_filter_range(llvm::seq(0, int(sizes.size())), [&](int axis) { return from[axis] != to[axis]; }));
      if (changed.size() != 1 || !innermost(from, changed[0]) || !innermost(to, changed[0])) {
        continue;
      }
      SCOPED_TRACE(text(from) + " to " + text(to));
      int axis = changed[0];
      llvm::SmallVector<BoxStep> route = findRoute(from, to, shape, 4, sizes, machine_);
      EXPECT_LE(check(from, to, route), transitionSeconds(from[axis], to[axis], bytes(from, {axis}),
                                                          spreadOf(sizes, {axis}, machine_), machine_) +
                                            1e-12);
      bool throughB = (from[axis].isPartial() && to[axis].isPartial()) ||
                      (from[axis].isSplit() && to[axis] == SbpState::partialMax());
      if (sizes.size() == 1 && !throughB) {
        EXPECT_EQ(route.size(), 1u);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Meshes, Boxing,
                         testing::Values(Case{{8, 4}, {2}}, Case{{8, 4}, {4}}, Case{{2048, 1024}, {2}},
                                         Case{{2048, 1024}, {4}}, Case{{8, 4}, {2, 2}}, Case{{2048, 1024}, {2, 2}},
                                         Case{{2, 12}, {2, 3}}, Case{{8, 8, 8}, {2, 2}}, Case{{512, 64, 64}, {2, 4}},
                                         Case{{8, 4}, {2, 2, 2}}, Case{{8, 8, 8}, {2, 2, 2}}));

// A pending sum over all axes is summed at once, however large.
TEST(BoxingRoute, ReducesTogether) {
  States pending(3, SbpState::partialSum()), whole(3, SbpState::broadcast());
  for (int64_t extent : {8, 4096}) {
    auto route = findRoute(pending, whole, {extent, extent}, 4, {2, 2, 2}, CostModel());
    ASSERT_EQ(route.size(), 1u);
    EXPECT_EQ(route[0].kind, BoxStep::AllReduce);
    EXPECT_EQ(route[0].axes, (llvm::SmallVector<int, 2>{0, 1, 2}));
  }
}

// A route that is known is that of the same states, type and mesh alone.
TEST(BoxingRoute, IsFoundOnceForEachTensorAndMesh) {
  mlir::MLIRContext context;
  mlir::Builder builder(&context);
  const CostModel machine;
  Routes routes(machine);
  const auto text = [](llvm::ArrayRef<BoxStep> route) {
    std::string all;
    for (const BoxStep &step : route) {
      all += std::to_string(step.kind) + " " + weft::compiler::text(step.after) + " " + std::to_string(step.seconds) +
             "\n";
    }
    return all;
  };
  for (int again = 0; again < 2; ++again) {
    for (const Sizes &shape : {Sizes{8, 8}, Sizes{4096, 8}}) {
      for (const Sizes &sizes : {Sizes{2, 2}, Sizes{4, 2}}) {
        for (mlir::Type element : {mlir::Type(builder.getF32Type()), mlir::Type(builder.getIntegerType(8))}) {
          for (const States &from : allStates(shape, sizes, /*max=*/false)) {
            const States to(2, SbpState::broadcast());
            EXPECT_EQ(text(routes.find(from, to, mlir::RankedTensorType::get(shape, element), sizes)),
                      text(findRoute(from, to, shape, element.getIntOrFloatBitWidth() / 8, sizes, machine)));
          }
        }
      }
    }
  }
}

// Measured rates are not exact: a sum that took less than a gather of the same bytes is no reason to sum with zeros.
TEST(BoxingRoute, GathersWhatIsSplitWhateverASumTakes) {
  CostModel machine;
  const auto tables = plan::RateTables::Of(
      {}, {}, {{CollectiveKind::kAllReduce, 2, 1, 1024, 1e-6}, {CollectiveKind::kAllGather, 2, 1, 1024, 1e-4}});
  ASSERT_TRUE(tables.ok()) << tables.status();
  machine.tables = std::make_shared<plan::RateTables>(*tables);
  const auto route = findRoute({SbpState::split(0)}, {SbpState::broadcast()}, {256}, 4, {2}, machine);
  ASSERT_EQ(route.size(), 1u);
  EXPECT_EQ(route[0].kind, BoxStep::AllGather);
}

// Truth values are gathered axis by axis, where small floats are summed with zeros at once.
TEST(BoxingRoute, SumsNoBytes) {
  const States split(2, SbpState::split(0)), whole(2, SbpState::broadcast());
  const auto kinds = [&](int64_t elementBytes) {
    std::vector<BoxStep::Kind> list;
    for (const BoxStep &step : findRoute(split, whole, {16}, elementBytes, {2, 2}, CostModel())) {
      list.push_back(step.kind);
    }
    return list;
  };
  EXPECT_EQ(kinds(1), (std::vector<BoxStep::Kind>{BoxStep::AllGather, BoxStep::AllGather}));
  EXPECT_EQ(kinds(4), (std::vector<BoxStep::Kind>{BoxStep::Pad, BoxStep::Pad, BoxStep::AllReduce}));
}

// By hand: 1 MB over 4 ranks of a node, 1 GB/s links, 2 GB/s memory, 1 ms a message and 10 us a kernel.
TEST(BoxingRoute, StepSeconds) {
  CostModel m;
  m.node = {1e9, 1e-3};
  m.memory_bytes_s = 2e9;
  m.launch_s = 1e-5;
  plan::Spread four = plan::Together(4);
  EXPECT_DOUBLE_EQ(stepSeconds(BoxStep::AllReduce, 1e6, four, m), 1e-3 + 1.5e-3);
  EXPECT_DOUBLE_EQ(stepSeconds(BoxStep::ReduceScatter, 1e6, four, m), 1e-3 + 0.75e-3);
  EXPECT_DOUBLE_EQ(stepSeconds(BoxStep::AllGather, 1e6, four, m), 1e-3 + 0.75e-3);
  EXPECT_DOUBLE_EQ(stepSeconds(BoxStep::AllToAll, 1e6, four, m), 1e-3 + 0.1875e-3);
  EXPECT_DOUBLE_EQ(stepSeconds(BoxStep::Slice, 1e6, four, m), 1e-5 + 0.25e-3);
  EXPECT_DOUBLE_EQ(stepSeconds(BoxStep::Pad, 1e6, four, m), 1e-5 + 1e-3);
  EXPECT_DOUBLE_EQ(stepSeconds(BoxStep::Mask, 1e6, four, m), 1e-5 + 1e-3);
  EXPECT_EQ(stepSeconds(BoxStep::Relabel, 1e6, four, m), 0);
}

// Gathering over the inner axis, on one node, is cheaper than over the outer one, across nodes; and so is the axis
// that a route prefers.
TEST(BoxingRoute, SeesTheNodes) {
  CostModel m;
  m.node_ranks = 4;
  plan::Spread outer = spreadOf({2, 4}, {0}, m), inner = spreadOf({2, 4}, {1}, m);
  EXPECT_FALSE(outer.one_node());
  EXPECT_TRUE(inner.one_node());
  EXPECT_GT(stepSeconds(BoxStep::AllGather, 1e6, outer, m), stepSeconds(BoxStep::AllGather, 1e6, inner, m));
}

TEST(BoxingRoute, CutsEvenly) {
  SbpState s0 = SbpState::split(0), s2 = SbpState::split(2), b = SbpState::broadcast();
  EXPECT_TRUE(cutsEvenly({s0, s0}, {4, 3}, {2, 2}));
  EXPECT_FALSE(cutsEvenly({s0, s0}, {6, 3}, {2, 2}));
  EXPECT_TRUE(cutsEvenly({b, b}, {3, 3}, {2, 2}));
  EXPECT_FALSE(cutsEvenly({s2}, {4, 4}, {2}));
}

} // namespace
} // namespace weft::compiler
