#include "runtime/data/indexed_tokens.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <numeric>
#include <set>
#include <utility>

namespace weft::data {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using std::string_literals::operator""s;

template <typename T>
std::string Bytes(const std::vector<T>& values) {
  return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

struct Index {
  std::string magic = "MMIDIDX\0\0"s;
  int64_t version = 1;
  int type = 8;
  std::vector<int32_t> lengths;
  std::vector<int64_t> places, bounds;
};

// A set whose tokens count up from 0, in sequences of these lengths.
Index Counting(const std::vector<int32_t>& lengths, const std::vector<int64_t>& bounds, int64_t width = 2) {
  Index index{.lengths = lengths, .bounds = bounds};
  int64_t place = 0;
  for (const int32_t length : lengths) {
    index.places.push_back(place);
    place += length * width;
  }
  return index;
}

std::string Write(const Index& index, const std::string& tokens, const std::string& behind = "") {
  const std::string name = testing::TempDir() + "/set";
  const std::vector<int64_t> counts = {static_cast<int64_t>(index.lengths.size()),
                                       static_cast<int64_t>(index.bounds.size())};
  std::ofstream(name + ".idx", std::ios::binary)
      << index.magic << Bytes(std::vector<int64_t>{index.version}) << static_cast<char>(index.type) << Bytes(counts)
      << Bytes(index.lengths) << Bytes(index.places) << Bytes(index.bounds) << behind;
  std::ofstream(name + ".bin", std::ios::binary) << tokens;
  return name;
}

std::string Shorts(int count) {
  std::vector<uint16_t> tokens(count);
  std::iota(tokens.begin(), tokens.end(), 0);
  return Bytes(tokens);
}

std::vector<int32_t> All(const IndexedTokens& set) {
  std::vector<int32_t> tokens(set.size());
  set.Copy(0, set.size(), tokens.data());
  return tokens;
}

std::unique_ptr<const IndexedTokens> Open(const std::string& name, const SampleOrder::Options& options) {
  auto set = IndexedTokens::Open(name, options);
  EXPECT_TRUE(set.ok()) << set.status();
  return *std::move(set);
}

void ExpectError(const Index& index, const std::string& tokens, const std::string& text,
                 const std::string& behind = "") {
  const auto set = IndexedTokens::Open(Write(index, tokens, behind), {});
  ASSERT_FALSE(set.ok()) << text;
  EXPECT_THAT(std::string(set.status().message()), HasSubstr(text));
}

TEST(IndexedTokensTest, JoinsDocumentsInTheirOrder) {
  const Index index = Counting({2, 3, 0, 1}, {0, 2, 4});
  const auto set = Open(Write(index, Shorts(6)), {.order = SEQUENTIAL});
  EXPECT_THAT(All(*set), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_EQ(set->documents(), 2);
  EXPECT_EQ(set->form(), "uint16");
  EXPECT_EQ(set->Look().largest, 5u);
  EXPECT_EQ(set->Look().largest_at, 5);
  for (int64_t begin = 0; begin < 6; ++begin) {
    std::vector<int32_t> part(6 - begin);
    set->Copy(begin, 6 - begin, part.data());
    for (int64_t i = begin; i < 6; ++i) EXPECT_EQ(part[i - begin], i);
  }
}

TEST(IndexedTokensTest, ReadsEveryType) {
  Index index = Counting({2}, {0, 1}, 4);
  index.type = 4;
  EXPECT_THAT(All(*Open(Write(index, Bytes<int32_t>({70000, 1})), {})), ElementsAre(70000, 1));
  index.type = 1;
  EXPECT_THAT(All(*Open(Write(index, "\xff\1"), {})), ElementsAre(255, 1));
}

TEST(IndexedTokensTest, ASeedPermutesWholeDocuments) {
  const Index index = Counting({2, 3, 1, 4, 2, 2}, {0, 2, 3, 4, 5, 6});
  const auto once = All(*Open(Write(index, Shorts(14)), {.seed = 1}));
  EXPECT_EQ(All(*Open(Write(index, Shorts(14)), {.seed = 1})), once);
  std::set<std::vector<int32_t>> orders;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    std::vector<int32_t> all = All(*Open(Write(index, Shorts(14)), {.seed = seed}));
    orders.insert(all);
    // A document stays together: the one of two sequences, and the one of four tokens.
    for (const auto& [first, last] : {std::pair(0, 4), {6, 9}}) {
      const auto at = std::find(all.begin(), all.end(), first);
      ASSERT_LE(at + (last - first), all.end() - 1);
      for (int32_t token = first; token <= last; ++token) EXPECT_EQ(at[token - first], token);
    }
    std::sort(all.begin(), all.end());
    for (int32_t i = 0; i < 14; ++i) EXPECT_EQ(all[i], i);
  }
  EXPECT_GT(orders.size(), 10u);
}

TEST(IndexedTokensTest, TheHashIsOfBothFiles) {
  const auto hash = [](const Index& index, const std::string& tokens) {
    return Open(Write(index, tokens), {})->Look().hash;
  };
  const Index index = Counting({2, 4}, {0, 1, 2}), other = Counting({3, 3}, {0, 1, 2});
  EXPECT_EQ(hash(index, Shorts(6)), hash(index, Shorts(6)));
  EXPECT_NE(hash(index, Shorts(6)), hash(other, Shorts(6)));
  EXPECT_NE(hash(index, Shorts(6)), hash(index, Shorts(7).substr(2)));
}

TEST(IndexedTokensTest, FindsItsFilesByEitherName) {
  const std::string name = Write(Counting({2}, {0, 1}), Shorts(2));
  for (const char* ending : {"", ".bin", ".idx"}) EXPECT_EQ(IndexedTokens::NameOf(name + ending), name);
  EXPECT_THAT(IndexedTokens::NameOf(testing::TempDir() + "/other.bin"), IsEmpty());
}

TEST(IndexedTokensTest, NamesWhatIsWrongInAnIndex) {
  const Index good = Counting({2, 3}, {0, 1, 2});
  const auto with = [&](auto change) {
    Index index = good;
    change(index);
    return index;
  };
  const std::string tokens = Shorts(5);
  ExpectError(with([](Index& i) { i.magic = "NNIDIDX\0\0"s; }), tokens,
              "set.idx: expected an index of Megatron-LM, which begins with MMIDIDX, got another file");
  ExpectError(with([](Index& i) { i.version = 2; }), tokens, "set.idx: version: expected 1, got 2");
  ExpectError(with([](Index& i) { i.type = 5; }), tokens,
              "set.idx: type of a token: expected uint8 (1), int32 (4) or uint16 (8), got 5");
  ExpectError(good, tokens,
              "set.idx: expected 12 bytes for each of 2 sequences and 8 for each of 3 bounds of documents, got 49",
              "x");
  ExpectError(with([](Index& i) { i.places.pop_back(); }), tokens, "3 bounds of documents, got 40");
  ExpectError(with([](Index& i) { i.lengths[1] = 4; }), tokens,
              "set.idx: sequence 1: expected tokens inside the 10 bytes of ");
  ExpectError(with([](Index& i) { i.lengths[1] = -1; }), tokens, "got -1 of 2 bytes from 4");
  ExpectError(with([](Index& i) { i.places[0] = -2; }), tokens, "set.idx: sequence 0: expected tokens inside");
  ExpectError(with([](Index& i) { i.places[1] = 3; }), tokens,
              "set.idx: sequence 1: expected it to begin at byte 4 of ");
  ExpectError(with([](Index& i) { i.lengths[1] = 2; }), tokens,
              "set.bin: expected 8 bytes, those of the sequences of ");
  ExpectError(with([](Index& i) { i.bounds = {0, 2, 1}; }), tokens,
              "set.idx: bounds of documents: expected ascending ones from 0 to 2, the number of sequences, got 1 for "
              "document 2");
  ExpectError(with([](Index& i) { i.bounds = {0, 2, 1, 2}; }), tokens, "got 1 for document 2");
  ExpectError(with([](Index& i) { i.bounds = {0, 3, 2}; }), tokens, "got 3 for document 1");
  ExpectError(with([](Index& i) { i.bounds = {1, 1, 2}; }), tokens, "got 1 for document 0");
  ExpectError(with([](Index& i) { i.bounds = {}; }), tokens, "expected at least one document, got none");
  ExpectError(good, "", "set.bin: expected tokens, got an empty file");
  ExpectError(good, tokens + "z", "set.bin: expected 10 bytes");
  const std::string name = Write(good, tokens);
  std::ofstream(name + ".idx") << "MMIDIDX";
  EXPECT_THAT(std::string(IndexedTokens::Open(name, {}).status().message()),
              HasSubstr("set.idx: truncated: expected a header of 34 bytes, got 7"));
}

}  // namespace
}  // namespace weft::data
