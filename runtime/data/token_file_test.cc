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
  file.Copy(0, file.size(), tokens.data());
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
  ExpectError(with16, TEXT, absl::StatusCode::kInvalidArgument, "got llm.c's token file");
}

// As numpy.save writes it: the array begins at a multiple of 64 bytes.
std::string Npy(const std::string& type, const std::string& shape) {
  std::string text = "{'descr': '" + type + "', 'fortran_order': False, 'shape': " + shape + ", }";
  text.resize((text.size() + 11 + 63) / 64 * 64 - 11, ' ');
  return std::string("\x93NUMPY\x01\0", 8) + static_cast<char>(text.size() + 1) + '\0' + text + '\n';
}

TEST(TokenFileTest, ReadsNumPyArrays) {
  const std::string with16 = Write("a16.npy", Npy("<u2", "(3,)") + Bytes<uint16_t>({7, 65535, 9}));
  ExpectTokens(with16, AUTO, U16, {7, 65535, 9});
  ExpectTokens(with16, U16, U16, {7, 65535, 9});
  ExpectTokens(Write("a32.bin", Npy("<u4", "(2,)") + Bytes<uint32_t>({7, 70000})), AUTO, U32, {7, 70000});
  const TokenLook look = (*TokenFile::Open(with16, AUTO))->Look();
  EXPECT_EQ(look.largest, 65535u);
  EXPECT_EQ(look.largest_at, 1);
  ExpectError(with16, TEXT, absl::StatusCode::kInvalidArgument, "got a NumPy array (.npy)");
}

TEST(TokenFileTest, NamesWhatIsWrongWithANumPyArray) {
  const auto expect = [](const std::string& bytes, Format format, absl::StatusCode code, const std::string& text) {
    ExpectError(Write("wrong.npy", bytes), format, code, text);
  };
  const std::string two = Bytes<uint16_t>({1, 2});
  expect(Npy("<u2", "(2,)") + two, U32, absl::StatusCode::kInvalidArgument, "tokens: expected U32, got U16");
  for (const char* type : {"<i8", ">u2", "<f4"}) {
    expect(Npy(type, "(2,)") + two, AUTO, absl::StatusCode::kInvalidArgument,
           std::string("expected a NumPy array of '<u2' (uint16) or '<u4' (uint32), got '") + type + "'");
  }
  for (const auto& [shape, got] : {std::pair<const char*, const char*>{"(1, 2)", "2"}, {"()", "0"}}) {
    expect(Npy("<u2", shape) + two, AUTO, absl::StatusCode::kInvalidArgument,
           std::string("expected a NumPy array of one dimension, got ") + got);
  }
  expect(Npy("<u2", "(0,)"), AUTO, absl::StatusCode::kDataLoss, "got an empty NumPy array");
  expect(Npy("<u2", "(3,)") + two, AUTO, absl::StatusCode::kDataLoss,
         "truncated: expected 3 U16 tokens by the file's header, got 4 bytes of them");
  expect(Npy("<u2", "(1,)") + two, AUTO, absl::StatusCode::kDataLoss, "damaged: expected 1 U16 tokens");
  expect(Npy("<u2", "(2,)") + two + "x", AUTO, absl::StatusCode::kDataLoss, "damaged: expected 2 U16 tokens");
  expect(Npy("<u2", "(9223372036854775807,)") + two, AUTO, absl::StatusCode::kDataLoss, "truncated");
}

// What another program would open, read as tokens, is nothing that was meant.
TEST(TokenFileTest, RefusesFilesOfOtherKinds) {
  const std::pair<std::string, std::string> kinds[] = {
      {"PK\x03\x04 and so on", "a zip archive"},
      {std::string("\x1f\x8b\x08\0\0\0", 6), "a gzip archive"},
      {std::string("\x40\0\0\0\0\0\0\0{\"wte\":", 16), "a safetensors file"},
      {std::string(257, 'n') + "ustar  ", "a tar archive"},
      {"WEFTPLAN", "a plan of weft-compile"}};
  for (const auto& [bytes, name] : kinds) {
    for (const Format format : {AUTO, TEXT}) {
      ExpectError(Write("kind", bytes), format, absl::StatusCode::kInvalidArgument,
                  "kind: expected text, or tokens as raw uint16 (data.format=U16, or a name that ends with .bin) or "
                  "uint32 (U32), got " +
                      name);
    }
    ExpectError(Write("kind.bin", bytes), AUTO, absl::StatusCode::kInvalidArgument,
                "expected tokens as raw U16, got " + name);
    ExpectError(Write("kind", bytes), U32, absl::StatusCode::kInvalidArgument, "tokens as raw U32, got " + name);
  }
  const std::string binary = Write("binary", std::string("ab\0c", 4));
  ExpectError(binary, TEXT, absl::StatusCode::kInvalidArgument, "got a byte 0 at 2");
  ExpectError(binary, AUTO, absl::StatusCode::kInvalidArgument, "got a byte 0 at 2");
  ExpectTokens(binary, U16, U16, {'a' + 256 * 'b', 256 * 'c'});
}

TokenLook Look(const std::string& path, int64_t limit) {
  auto file = TokenFile::Open(path, U16);
  EXPECT_TRUE(file.ok()) << file.status();
  return (*file)->Look(limit);
}

TEST(TokenFileTest, ALookFindsTheLargestTokenAndAHash) {
  std::vector<uint16_t> tokens(2'500'001, 7);  // blocks of a MiB, and an odd end
  tokens[1'234'567] = tokens[1'234'568] = 999;
  const std::string path = Write("look.bin", Bytes(tokens));
  const TokenLook look = Look(path, 1 << 30);
  EXPECT_TRUE(look.whole);
  EXPECT_EQ(look.largest, 999u);
  EXPECT_EQ(look.largest_at, 1'234'567);
  EXPECT_EQ(Look(Write("same.bin", Bytes(tokens)), 1 << 30).hash, look.hash);
  for (const size_t changed : {size_t{0}, size_t{1'000'000}, tokens.size() - 1}) {
    std::vector<uint16_t> others = tokens;
    others[changed] = 8;
    EXPECT_NE(Look(Write("other.bin", Bytes(others)), 1 << 30).hash, look.hash) << changed;
  }
  tokens.push_back(0);  // zeros at the end count
  EXPECT_NE(Look(Write("longer.bin", Bytes(tokens)), 1 << 30).hash, look.hash);
  // Of llm.c's files the header is no token.
  const TokenLook with_header = Look(Write("head.bin", Header(20240520, 1, 2) + Bytes<uint16_t>({3, 9})), 1 << 30);
  EXPECT_EQ(with_header.largest, 9u);
  EXPECT_EQ(with_header.largest_at, 1);
}

TEST(TokenFileTest, ALookAtALargeFileTakesItsEndsAndSomeBetween) {
  std::vector<uint16_t> tokens(4'000'000, 7);  // eight blocks, of which two are looked at
  const TokenLook look = Look(Write("large.bin", Bytes(tokens)), 1 << 21);
  EXPECT_FALSE(look.whole);
  EXPECT_EQ(look.largest, 7u);
  for (const auto& [changed, seen] : {std::pair<size_t, bool>{1, true}, {2'000'000, false}, {3'999'999, true}}) {
    std::vector<uint16_t> others = tokens;
    others[changed] = 8;
    const TokenLook other = Look(Write("large.bin", Bytes(others)), 1 << 21);
    EXPECT_EQ(other.largest, seen ? 8u : 7u);
    EXPECT_EQ(other.hash != look.hash, seen) << changed;
  }
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

}  // namespace
}  // namespace weft::data
