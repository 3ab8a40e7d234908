#include "compiler/passes/memory/placement.h"

#include <random>

#include "gtest/gtest.h"

namespace weft::compiler {
namespace {

Block makeBlock(int64_t bytes, int64_t first, int64_t last, bool kept = false, int64_t instance = 0) {
  return {bytes, {{first, last}}, {instance, first}, kept, {}};
}

bool meet(const Block &a, const Block &b) {
  return llvm::any_of(a.life, [&](Span x) {
    return llvm::any_of(b.life, [&](Span y) { return x.first <= y.last && y.first <= x.last; });
  });
}

// Places the blocks, with so much search, and returns what they need.
int64_t place(std::vector<Block> &blocks, int64_t positions, int64_t work) {
  Placement placement(blocks, positions);
  placement.start();
  placement.search(work);
  for (auto [block, offset] : llvm::zip(blocks, placement.offsets())) {
    block.offset = offset;
  }
  return placement.arena();
}

constexpr int64_t kSome = 200'000'000;

void expectDisjoint(const std::vector<Block> &blocks) {
  for (size_t a = 0; a < blocks.size(); ++a) {
    for (size_t b = 0; b < a; ++b) {
      if (meet(blocks[a], blocks[b]) && !llvm::is_contained(blocks[a].apart, int32_t(b))) {
        EXPECT_TRUE(blocks[a].offset + blocks[a].bytes <= blocks[b].offset ||
                    blocks[b].offset + blocks[b].bytes <= blocks[a].offset)
            << a << " and " << b;
      }
    }
  }
}

TEST(PlacementTest, KeepsApartWhatLivesAtOneTime) {
  std::mt19937 random(1);
  constexpr int64_t kPositions = 200;
  for (int round = 0; round < 2; ++round) {
    std::vector<Block> blocks;
    for (int i = 0; i < 300; ++i) {
      int64_t first = int64_t(random() % kPositions), last = std::min<int64_t>(first + random() % 40, kPositions - 1);
      blocks.push_back(makeBlock(int64_t(1 + random() % 100) * (random() % 8 == 0 ? 64 * 40 : 64), first, last));
      if (random() % 4 == 0 && first > 10) {
        blocks.back().life.insert(blocks.back().life.begin(), {int64_t(random() % (first - 5)), first - 4});
      }
    }
    for (int64_t work : {int64_t(0), kSome}) {
      int64_t arena = place(blocks, kPositions, work), end = 0;
      for (const Block &block : blocks) {
        end = std::max(end, block.offset + block.bytes);
      }
      EXPECT_EQ(arena, end);
      EXPECT_GE(arena, mostLive(blocks, kPositions));
      expectDisjoint(blocks);
    }
  }
}

// a and b have spans that meet, but never live at one time: c fits above either.
TEST(PlacementTest, LetsShareWhatIsOrderedOtherwise) {
  std::vector<Block> blocks = {makeBlock(128, 0, 5), makeBlock(128, 4, 9), makeBlock(64, 0, 8), makeBlock(64, 9, 9)};
  blocks[0].apart = {1};
  blocks[1].apart = {0};
  EXPECT_EQ(mostLive(blocks, 10), 192);
  EXPECT_EQ(place(blocks, 10, 0), 192);
  expectDisjoint(blocks);
  EXPECT_EQ(blocks[0].offset, blocks[1].offset);
}

// One block ends where another of its size begins, which may be live together with others than the first.
TEST(PlacementTest, CountsWhatIsLiveWhereverSomethingBegins) {
  std::vector<Block> blocks = {makeBlock(64, 0, 4), makeBlock(64, 5, 9), makeBlock(64, 0, 9), makeBlock(64, 3, 9)};
  blocks[0].apart = {3};
  blocks[3].apart = {0};
  EXPECT_EQ(mostLive(blocks, 10), 192);
}

// Micro-batches that keep 12 blocks each for times of several lengths, and now and then logits, as large as what a few
// of them keep, which fit only into holes that micro-batches leave whole.
TEST(PlacementTest, FindsWholeHolesBySearch) {
  constexpr int64_t kBytes = 1 << 20, kUnit = 120;
  std::mt19937 random(30);
  std::vector<Block> blocks;
  for (int64_t i = 0; i < 16; ++i) {
    int64_t begin = i * kUnit, end = begin + int64_t(1 + random() % 5) * kUnit;
    for (int64_t layer = 0; layer < 12; ++layer) {
      int64_t bytes = (i % 2 == 0 ? 3 : 4) * kBytes;
      blocks.push_back(makeBlock(bytes, begin + 9 * layer, end + 9 * (11 - layer), true, 2 * i + 1));
    }
    if (i % 2 == 0) {
      int64_t last = begin + kUnit + int64_t(random() % 250);
      blocks.push_back(makeBlock(45 * kBytes, begin + kUnit - 10, last, true, 2 * i + 2));
    }
  }
  constexpr int64_t kPositions = 26 * kUnit;
  const auto least = double(mostLive(blocks, kPositions));
  EXPECT_GT(double(place(blocks, kPositions, 0)), 1.1 * least) << "else this shows nothing";
  EXPECT_LE(double(place(blocks, kPositions, kSome)), 1.01 * least);
  expectDisjoint(blocks);
  const std::vector<Block> once = blocks;
  place(blocks, kPositions, kSome);
  for (auto [a, b] : llvm::zip(once, blocks)) {
    EXPECT_EQ(a.offset, b.offset) << "the same each time";
  }
}

} // namespace
} // namespace weft::compiler
