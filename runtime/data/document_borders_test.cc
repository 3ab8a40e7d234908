#include "runtime/data/document_borders.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/data/joined_tokens.h"

namespace weft::data {
namespace {

using ::testing::ElementsAre;

// Tokens in memory, whose documents begin where `starts` says; none says nothing.
class Memory : public TokenStream {
 public:
  Memory(std::vector<int32_t> tokens, std::vector<int64_t> starts)
      : tokens_(std::move(tokens)), starts_(std::move(starts)) {}
  const std::string& path() const override { return path_; }
  std::string form() const override { return "memory"; }
  int64_t documents() const override { return static_cast<int64_t>(starts_.size()); }
  int64_t NextDocument(int64_t after, int64_t limit) const override {
    for (int64_t start : starts_) {
      if (start > after && start < limit) return start;
    }
    return limit;
  }
  int64_t size() const override { return static_cast<int64_t>(tokens_.size()); }
  void Copy(int64_t begin, int64_t count, int32_t* out) const override {
    ASSERT_TRUE(begin >= 0 && begin + count <= size());
    std::copy_n(tokens_.begin() + begin, count, out);
  }
  TokenLook Look(int64_t) const override { return {}; }

 private:
  const std::string path_ = "memory";
  const std::vector<int32_t> tokens_;
  const std::vector<int64_t> starts_;
};

std::vector<int32_t> Numbers(const DocumentBorders& borders, const Columns& columns) {
  std::vector<int32_t> out(columns.count, -1);
  borders.Number(columns, out.data());
  return out;
}

std::vector<int32_t> Places(const DocumentBorders& borders, const Columns& columns) {
  std::vector<int32_t> out(columns.count, -1);
  borders.Place(columns, out.data());
  return out;
}

std::vector<float> Mask(const DocumentBorders& borders, const Columns& columns) {
  std::vector<float> out(columns.count, -1);
  borders.Mask(columns, out.data());
  return out;
}

TEST(DocumentBordersTest, CountsDocumentsAndPlacesFromTheBeginOfTheSequence) {
  const Memory stream({5, 6, 7, 8, 9, 10, 11, 12, 13}, {0, 3, 4, 7});
  const DocumentBorders borders(stream, {});
  ASSERT_TRUE(borders.known());
  EXPECT_THAT(Numbers(borders, {1, 0, 7}), ElementsAre(0, 0, 1, 2, 2, 2, 3));
  EXPECT_THAT(Places(borders, {1, 0, 7}), ElementsAre(0, 1, 0, 0, 1, 2, 0));
  EXPECT_THAT(Mask(borders, {1, 0, 7}), ElementsAre(1, 0, 0, 1, 1, 0, 1));
  // A document that begins with the sequence is its first.
  EXPECT_THAT(Numbers(borders, {4, 0, 4}), ElementsAre(0, 0, 0, 1));
  // The label behind the last column may be of another document.
  EXPECT_THAT(Mask(borders, {4, 0, 3}), ElementsAre(1, 1, 0));
}

TEST(DocumentBordersTest, ATokenEndsADocument) {
  const Memory stream({1, 0, 2, 3, 0, 0, 4, 5}, {});
  EXPECT_FALSE(DocumentBorders(stream, {}).known());
  const DocumentBorders borders(stream, {.end_of_document = 0});
  ASSERT_TRUE(borders.known());
  EXPECT_THAT(Numbers(borders, {0, 0, 7}), ElementsAre(0, 0, 1, 1, 1, 2, 3));
  EXPECT_THAT(Places(borders, {0, 0, 7}), ElementsAre(0, 1, 0, 1, 2, 0, 0));
  // The end itself is learnt, what comes behind it is not.
  EXPECT_THAT(Mask(borders, {0, 0, 7}), ElementsAre(1, 0, 1, 1, 0, 0, 1));
}

TEST(DocumentBordersTest, AnIndexAndATokenBothCount) {
  const Memory stream({1, 0, 2, 3, 4, 5}, {0, 4});
  EXPECT_THAT(Numbers(DocumentBorders(stream, {.end_of_document = 0}), {0, 0, 6}), ElementsAre(0, 0, 1, 1, 2, 2));
}

TEST(DocumentBordersTest, SomeTokensAreNotLearnt) {
  const Memory stream({1, 2, 3, 4, 1, 2}, {});
  std::vector<uint8_t> out(5, 9);
  DocumentBorders(stream, {.masked = {3, 1}}).Mask({0, 0, 5}, out.data());
  EXPECT_THAT(out, ElementsAre(1, 0, 1, 0, 1));
}

TEST(DocumentBordersTest, AStreamThatIsJoinedBeginsADocument) {
  std::vector<std::unique_ptr<const TokenStream>> streams;
  for (int64_t count : {3, 4, 2}) {
    streams.push_back(std::make_unique<Memory>(std::vector<int32_t>(count, 7), std::vector<int64_t>{}));
  }
  auto joined = JoinedTokens::Create("joined", std::move(streams));
  ASSERT_TRUE(joined.ok()) << joined.status();
  EXPECT_THAT(Numbers(DocumentBorders(**joined, {.end_of_document = 0}), {1, 0, 7}), ElementsAre(0, 0, 1, 1, 1, 1, 2));
}

TEST(DocumentBordersTest, AnyPartOfASequenceIsThatPartOfTheWhole) {
  // Over several blocks of tokens, of which one in 100 ends a document.
  std::vector<int32_t> tokens(2000);
  std::vector<int64_t> starts = {0};
  uint32_t state = 1;
  for (size_t i = 0; i < tokens.size(); ++i) {
    state = state * 1664525u + 1013904223u;
    tokens[i] = static_cast<int32_t>(state >> 16) % 100;
    if (state % 97 == 0) starts.push_back(static_cast<int64_t>(i));
  }
  const Memory stream(tokens, starts);
  const DocumentBorders borders(stream, {.end_of_document = 3, .masked = {5, 6}});
  const int64_t begin = 17, length = 1900;
  const auto numbers = Numbers(borders, {begin, 0, length}), places = Places(borders, {begin, 0, length});
  const auto mask = Mask(borders, {begin, 0, length});
  int32_t number = 0, place = 0;
  for (int64_t c = 0; c < length; ++c, ++place) {
    const auto begins = [&](int64_t at) {
      return tokens[at - 1] == 3 || std::find(starts.begin(), starts.end(), at) != starts.end();
    };
    if (c > 0 && begins(begin + c)) {
      ++number;
      place = 0;
    }
    ASSERT_EQ(numbers[c], number) << c;
    ASSERT_EQ(places[c], place) << c;
    const int32_t label = tokens[begin + c + 1];
    ASSERT_EQ(mask[c], begins(begin + c + 1) || label == 5 || label == 6 ? 0 : 1) << c;
  }
  for (int64_t from : {0, 1, 255, 256, 1000, 1899}) {
    for (int64_t count : {int64_t{0}, int64_t{1}, int64_t{300}, length - from}) {
      if (from + count > length) continue;
      const Columns columns{begin, from, count};
      EXPECT_EQ(Numbers(borders, columns), std::vector(numbers.begin() + from, numbers.begin() + from + count));
      EXPECT_EQ(Places(borders, columns), std::vector(places.begin() + from, places.begin() + from + count));
      EXPECT_EQ(Mask(borders, columns), std::vector(mask.begin() + from, mask.begin() + from + count));
    }
  }
}

}  // namespace
}  // namespace weft::data
