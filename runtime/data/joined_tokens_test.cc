#include "runtime/data/joined_tokens.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "runtime/data/token_file.h"

namespace weft::data {
namespace {

using ::testing::HasSubstr;

using Streams = std::vector<std::unique_ptr<const TokenStream>>;

Streams Open(const std::vector<std::string>& texts, Format last = TEXT) {
  Streams streams;
  for (size_t i = 0; i < texts.size(); ++i) {
    const std::string path = testing::TempDir() + "/shard" + std::to_string(i);
    std::ofstream(path) << texts[i];
    streams.push_back(*TokenFile::Open(path, i + 1 < texts.size() ? TEXT : last));
  }
  return streams;
}

std::unique_ptr<const JoinedTokens> Join(const std::vector<std::string>& texts) {
  return *JoinedTokens::Create("folder", Open(texts));
}

TEST(JoinedTokensTest, IsOneStream) {
  const auto joined = Join({"ab", "c", "defg"});
  const std::string all = "abcdefg";
  ASSERT_EQ(joined->size(), 7);
  for (int64_t begin = 0; begin < 7; ++begin) {
    for (int64_t end = begin; end <= 7; ++end) {
      std::vector<int32_t> part(end - begin);
      joined->Copy(begin, end - begin, part.data());
      EXPECT_EQ(std::string(part.begin(), part.end()), all.substr(begin, end - begin));
    }
  }
  EXPECT_EQ(joined->form(), "text");
  EXPECT_EQ(joined->documents(), 0);
}

TEST(JoinedTokensTest, LooksAtAll) {
  const TokenLook look = Join({"ab", "czx", "d"})->Look();
  EXPECT_EQ(look.largest, uint32_t{'z'});
  EXPECT_THAT(look.largest_in, HasSubstr("/shard1"));
  EXPECT_EQ(look.largest_at, 1);
  EXPECT_TRUE(look.whole);
  EXPECT_EQ(look.hash, Join({"ab", "czx", "d"})->Look().hash);
  EXPECT_NE(look.hash, Join({"czx", "ab", "d"})->Look().hash);
}

TEST(JoinedTokensTest, RefusesShardsOfAnotherForm) {
  const auto joined = JoinedTokens::Create("folder", Open({"ab", "cd"}, U16));
  EXPECT_THAT(std::string(joined.status().message()), HasSubstr("/shard1: expected text tokens, as "));
  EXPECT_THAT(std::string(joined.status().message()), HasSubstr("/shard0 has, got uint16"));
}

}  // namespace
}  // namespace weft::data
