// Every change of SBP, run by the compiler and the runtime: the value must
// come through bit by bit. Values are small integers, so that pending sums are
// exact whatever the order.
#include <random>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "tests/support/function.h"

namespace weft::tests {
namespace {

const std::vector<std::string> kStates = {"B", "S(0)", "S(1)", "P", "P(max)"};
constexpr int64_t kRows = 16, kColumns = 8;

using Sbp = std::vector<std::string>;  // one state a mesh axis

std::vector<Sbp> AllSbp(size_t axes) {
  std::vector<Sbp> all = {{}};
  for (size_t a = 0; a < axes; ++a) {
    std::vector<Sbp> longer;
    for (const Sbp& sbp : all) {
      for (const std::string& state : kStates) {
        longer.push_back(sbp);
        longer.back().push_back(state);
      }
    }
    all = longer;
  }
  return all;
}

// "[[0, 1], [2, 3]]" for sizes {2, 2} and first rank 0.
std::string Ranks(const std::vector<int>& sizes, size_t axis, int& next) {
  std::vector<std::string> parts;
  for (int i = 0; i < sizes[axis]; ++i) {
    parts.push_back(axis + 1 == sizes.size() ? absl::StrCat(next++) : Ranks(sizes, axis + 1, next));
  }
  return absl::StrCat("[", absl::StrJoin(parts, ", "), "]");
}

std::string Placement(const std::vector<int>& sizes, int first) {
  int next = first;
  return absl::StrCat("placement(\"cpu\", ", Ranks(sizes, 0, next), ")");
}

// A graph in which %v has the layout `from`, with pending sums (or maxima)
// whose parts differ from rank to rank: an input has one more leading
// dimension for each pending axis, split over that axis and then reduced.
std::string Source(const Sbp& from, const std::string& placement, std::string& shape) {
  const bool max = std::count(from.begin(), from.end(), "P(max)") > 0 && std::count(from.begin(), from.end(), "P") == 0;
  const std::string reduced = max ? "P(max)" : "P";
  std::vector<std::string> dims, pins, over;
  int leading = 0;
  for (const std::string& state : from) leading += state == reduced;
  int next = 0;
  for (const std::string& state : from) {
    if (state == reduced) {
      over.push_back(absl::StrCat(next));
      dims.push_back("4");
      pins.push_back(absl::StrCat("S(", next++, ")"));
    } else if (state[0] == 'S') {
      pins.push_back(absl::StrCat("S(", leading + (state == "S(1)"), ")"));
    } else {
      pins.push_back("B");
    }
  }
  dims.push_back(absl::StrCat(kRows));
  dims.push_back(absl::StrCat(kColumns));
  shape = absl::StrJoin(dims, ", ");
  std::string text = absl::StrCat("  %0 = weft.to_global %x sbp(", absl::StrJoin(pins, ", "), ") ", placement, "\n");
  std::string value = "%0";
  if (!over.empty()) {
    absl::StrAppend(&text, "  %1 = weft.reduce ", max ? "max" : "sum", " %0 over [", absl::StrJoin(over, ", "), "]\n");
    value = "%1";
  }
  return absl::StrCat(text, "  %v = weft.to_global ", value, " sbp(", absl::StrJoin(from, ", "), ")\n");
}

// Small integers, and what the graph makes of them.
void Numbers(const Sbp& from, std::vector<float>& input, std::vector<float>& expected) {
  const bool max = std::count(from.begin(), from.end(), "P(max)") > 0 && std::count(from.begin(), from.end(), "P") == 0;
  int64_t parts = 1;
  for (const std::string& state : from) parts *= state == (max ? "P(max)" : "P") ? 4 : 1;
  std::mt19937 random(7);
  input.resize(parts * kRows * kColumns);
  for (float& x : input) x = static_cast<float>(static_cast<int>(random() % 201) - 100);
  expected.assign(kRows * kColumns, max ? -1000.0f : 0.0f);
  for (int64_t p = 0; p < parts; ++p) {
    for (int64_t e = 0; e < kRows * kColumns; ++e) {
      const float x = input[p * kRows * kColumns + e];
      expected[e] = max ? std::max(expected[e], x) : expected[e] + x;
    }
  }
}

void Check(const Sbp& from, const std::string& source_placement, const Sbp& to, const std::string& target_placement) {
  std::string shape;
  const std::string source = Source(from, source_placement, shape);
  const std::string text =
      absl::StrCat("model.graph @g(%x [", shape, "] f32) {\n", source, "  %w = weft.to_global %v sbp(",
                   absl::StrJoin(to, ", "), ") ", target_placement, "\n  weft.output \"y\" %w\n}\n");
  SCOPED_TRACE(text);
  absl::StatusOr<plan::Plan> plan = CompileModel(text, {});
  ASSERT_TRUE(plan.ok()) << plan.status();
  Arrays inputs;
  std::vector<float> expected;
  Numbers(from, inputs["x"], expected);
  absl::StatusOr<Arrays> outputs = Evaluate(*plan, inputs);
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  ASSERT_EQ((*outputs)["y"], expected);
}

void CheckMesh(const std::vector<int>& sizes) {
  const std::vector<Sbp> all = AllSbp(sizes.size());
  for (const Sbp& from : all) {
    for (const Sbp& to : all) {
      Check(from, Placement(sizes, 0), to, "");
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(BoxingTest, EveryPairOnTwoRanks) { CheckMesh({2}); }
TEST(BoxingTest, EveryPairOnFourRanks) { CheckMesh({4}); }
TEST(BoxingTest, EveryPairOnTwoByTwo) { CheckMesh({2, 2}); }

TEST(BoxingTest, PairsOnTwoByTwoByTwo) {
  const std::vector<Sbp> all = AllSbp(3);
  std::mt19937 random(11);
  for (int i = 0; i < 300; ++i) {
    Check(all[random() % all.size()], Placement({2, 2, 2}, 0), all[random() % all.size()], "");
    if (testing::Test::HasFatalFailure()) return;
  }
}

// From ranks to other ranks, on meshes of the same and of another shape.
void CheckPlacements(const std::vector<int>& source, const std::vector<int>& target, int stride) {
  int first = 1;
  for (int size : source) first *= size;
  int pair = 0;
  for (const Sbp& from : AllSbp(source.size())) {
    for (const Sbp& to : AllSbp(target.size())) {
      if (pair++ % stride != 0) continue;
      Check(from, Placement(source, 0), to, Placement(target, first));
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(PlacementTest, TwoRanksToTwoOthers) { CheckPlacements({2}, {2}, 1); }
TEST(PlacementTest, TwoRanksToFourOthers) { CheckPlacements({2}, {4}, 1); }
TEST(PlacementTest, TwoRanksToTwoByTwo) { CheckPlacements({2}, {2, 2}, 1); }
TEST(PlacementTest, TwoByTwoToTwo) { CheckPlacements({2, 2}, {2}, 1); }
TEST(PlacementTest, TwoByTwoToTwoByTwo) { CheckPlacements({2, 2}, {2, 2}, 7); }

}  // namespace
}  // namespace weft::tests
