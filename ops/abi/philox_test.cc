#include "ops/abi/philox.h"

#include "gtest/gtest.h"
#include "ops/abi/philox_lanes.h"

namespace weft {
namespace {

// The known answers of Random123, the authors' implementation.
TEST(PhiloxTest, KnownAnswers) {
  EXPECT_EQ(Philox(0, 0, 0), (PhiloxBlock{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(Philox(~0ull, ~0ull, ~0ull), (PhiloxBlock{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(Philox(0x299f31d0a4093822, 0x85a308d3243f6a88, 0x0370734413198a2e),
            (PhiloxBlock{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

constexpr uint64_t kKey = 0x123456789abcdef1, kEvent = 0xfedcba9876543210;

TEST(PhiloxTest, LanesAreBlocks) {
  // The last start crosses 2^32, so that lanes differ in the counter's second word.
  for (uint64_t first : {uint64_t{0}, uint64_t{12345}, (uint64_t{1} << 32) - 3}) {
    uint32_t words[4 * kPhiloxLanes];
    PhiloxLanes(kKey, kEvent, first, words);
    for (uint64_t i = 0; i < 4 * kPhiloxLanes; ++i) EXPECT_EQ(words[i], Philox(kKey, first + i / 4, kEvent)[i % 4]);
  }
}

TEST(PhiloxTest, WordsOfARangeAreThoseOfItsElements) {
  for (uint64_t first : {0, 1, 2, 3, 4, 1021}) {
    for (int64_t n : {0, 1, 2, 3, 4, 5, 31, 32, 33, 255, 256, 257, 1000}) {
      int64_t covered = 0;
      ForPhiloxWords(kKey, kEvent, first, n, [&](int64_t offset, const uint32_t* words, int64_t count) {
        ASSERT_EQ(offset, covered);
        for (int64_t i = 0; i < count; ++i) {
          ASSERT_EQ(words[i], PhiloxElement(kKey, kEvent, first + static_cast<uint64_t>(offset + i)));
        }
        covered += count;
      });
      EXPECT_EQ(covered, n);
    }
  }
}

}  // namespace
}  // namespace weft
