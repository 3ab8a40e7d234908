#include "runtime/data/token_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <vector>

namespace weft::data {
namespace {

using ::testing::HasSubstr;

std::string Write(const std::string& name, const std::string& bytes) {
  const std::string path = testing::TempDir() + "/" + name;
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

template <typename T>
std::string Bytes(const std::vector<T>& values) {
  return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

std::string Header(int32_t magic, int32_t version, int32_t count) {
  std::vector<int32_t> header(256, 0);
  header[0] = magic;
  header[1] = version;
  header[2] = count;
  return Bytes(header);
}

std::vector<int32_t> All(const TokenFile& file) {
  std::vector<int32_t> tokens(file.size());
  EXPECT_TRUE(file.Copy(0, file.size(), 0, tokens.data()).ok());
  return tokens;
}

void ExpectTokens(const std::string& path, Format format, Format found, const std::vector<int32_t>& expected) {
  auto file = TokenFile::Open(path, format);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ((*file)->format(), found);
  EXPECT_EQ(All(**file), expected);
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(static_cast<int32_t>((*file)->at(i)), expected[i]);
}

void ExpectError(const std::string& path, Format format, absl::StatusCode code, const std::string& text) {
  auto file = TokenFile::Open(path, format);
  ASSERT_FALSE(file.ok());
  EXPECT_EQ(file.status().code(), code);
  EXPECT_THAT(std::string(file.status().message()), HasSubstr(text));
  EXPECT_THAT(std::string(file.status().message()), HasSubstr(path));
}

TEST(TokenFileTest, ReadsEveryFormat) {
  const std::string text = Write("a.txt", "A\xffz");
  ExpectTokens(text, AUTO, TEXT, {65, 255, 122});
  ExpectTokens(text, TEXT, TEXT, {65, 255, 122});
  const std::string raw16 = Write("a16.bin", Bytes<uint16_t>({1, 65535, 3}));
  ExpectTokens(raw16, AUTO, U16, {1, 65535, 3});
  ExpectTokens(raw16, U16, U16, {1, 65535, 3});
  const std::string raw32 = Write("a32.bin", Bytes<uint32_t>({1, 128255}));
  ExpectTokens(raw32, U32, U32, {1, 128255});
}

TEST(TokenFileTest, ReadsTheHeaderWhateverTheName) {
  const std::string with16 = Write("h16.tokens", Header(20240520, 1, 2) + Bytes<uint16_t>({7, 9}));
  ExpectTokens(with16, AUTO, U16, {7, 9});
  ExpectTokens(with16, U16, U16, {7, 9});
  const std::string with32 = Write("h32.bin", Header(20240801, 7, 2) + Bytes<uint32_t>({7, 70000}));
  ExpectTokens(with32, AUTO, U32, {7, 70000});
  ExpectTokens(with32, U32, U32, {7, 70000});
  // As text, the header is bytes like any other.
  auto as_text = TokenFile::Open(with16, TEXT);
  ASSERT_TRUE(as_text.ok());
  EXPECT_EQ((*as_text)->size(), 1028);
}

TEST(TokenFileTest, NamesWhatIsWrong) {
  ExpectError(testing::TempDir() + "/none.bin", AUTO, absl::StatusCode::kNotFound, "cannot open: No such file");
  ExpectError(testing::TempDir(), AUTO, absl::StatusCode::kInvalidArgument, "expected a regular file");
  ExpectError(Write("empty.txt", ""), AUTO, absl::StatusCode::kDataLoss, "got an empty file");
  ExpectError(Write("odd.bin", "abc"), AUTO, absl::StatusCode::kDataLoss,
              "expected whole U16 tokens of 2 bytes, got 3 bytes");
  ExpectError(Write("odd32.bin", "abcdef"), U32, absl::StatusCode::kDataLoss, "whole U32 tokens of 4 bytes");
  ExpectError(Write("short.bin", Header(20240520, 1, 3) + Bytes<uint16_t>({1, 2})), AUTO, absl::StatusCode::kDataLoss,
              "truncated: expected 1030 bytes for the 3 tokens of the header, got 1028");
  ExpectError(Write("long.bin", Header(20240520, 1, 1) + Bytes<uint16_t>({1, 2})), AUTO, absl::StatusCode::kDataLoss,
              "damaged: expected 1026 bytes");
  ExpectError(Write("none.bin.head", Header(20240520, 1, 0)), AUTO, absl::StatusCode::kDataLoss, "the 0 tokens");
  ExpectError(Write("head.bin", Header(20240520, 1, 3).substr(0, 100)), AUTO, absl::StatusCode::kDataLoss,
              "expected a header of 1024 bytes, got 100");
  ExpectError(Write("version.bin", Header(20240520, 4, 1) + "ab"), AUTO, absl::StatusCode::kInvalidArgument,
              "header version: expected 1 (uint16) or 7 (uint32), got 4");
  ExpectError(Write("other.bin", Header(20240520, 1, 2) + "abcd"), U32, absl::StatusCode::kInvalidArgument,
              "tokens: expected U32, got U16");
}

TEST(TokenFileTest, RefusesTokensAtTheLimit) {
  auto file = TokenFile::Open(Write("limit.bin", Bytes<uint16_t>({1, 2, 300, 4, 299})), U16);
  ASSERT_TRUE(file.ok());
  int32_t out[4];
  EXPECT_TRUE((*file)->Copy(1, 4, 301, out).ok());
  const absl::Status status = (*file)->Copy(1, 4, 300, out);
  EXPECT_EQ(status.code(), absl::StatusCode::kOutOfRange);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("limit.bin: token at position 2: expected less than 300, got 300"));
  auto wide = TokenFile::Open(Write("wide.bin", Bytes<uint32_t>({1, 4000000000u})), U32);
  ASSERT_TRUE(wide.ok());
  EXPECT_THAT(std::string((*wide)->Copy(0, 2, 50257, out).message()), HasSubstr("got 4000000000"));
}

}  // namespace
}  // namespace weft::data
