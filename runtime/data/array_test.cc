#include "runtime/data/array.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "runtime/checkpoint/safetensors_writer.h"

namespace weft::data {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using std::string_literals::operator""s;

std::string Write(const std::string& name, const std::string& bytes) {
  const std::string path = testing::TempDir() + "/" + name;
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

std::string Npy(const std::string& type, const std::string& shape, const std::string& data,
                const char* fortran = "False") {
  std::string text = "{'descr': '" + type + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }";
  text.resize(118 - 1, ' ');
  return "\x93NUMPY\x01\0"s + static_cast<char>(118) + '\0' + text + "\n" + data;
}

// IDX of bytes 0, 1, 2, ...
std::string Idx(int type, std::initializer_list<int> shape, int count) {
  std::string file = {0, 0, static_cast<char>(type), static_cast<char>(shape.size())};
  for (int size : shape) file += {0, 0, static_cast<char>(size / 256), static_cast<char>(size % 256)};
  for (int i = 0; i < count; ++i) file += static_cast<char>(i);
  return file;
}

Array Open(const std::string& path, const std::string& field = "x") {
  absl::StatusOr<Array> array = OpenArray(path, field);
  EXPECT_TRUE(array.ok()) << array.status();
  return *std::move(array);
}

void ExpectError(const std::string& path, absl::StatusCode code, const std::string& text) {
  const absl::StatusOr<Array> array = OpenArray(path, "x");
  ASSERT_FALSE(array.ok()) << text;
  EXPECT_EQ(array.status().code(), code) << array.status();
  EXPECT_THAT(std::string(array.status().message()), HasSubstr(path + ": " + text));
}

TEST(ArrayTest, ReadsNumpysArrays) {
  const Array array = Open(Write("a.npy", Npy("<u2", "(2, 3)", "a\0b\0c\0d\0e\0f\0"s)));
  EXPECT_THAT(array.shape, ElementsAre(2, 3));
  EXPECT_EQ(array.RecordText(), "u16[3]");
  EXPECT_EQ(array.elements(), 3);
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(array.data), array.bytes()), "a\0b\0c\0d\0e\0f\0"s);
  EXPECT_EQ(Open(Write("b.npy", Npy("<f4", "(2,)", "12345678"))).RecordText(), "f32");
  // Of one dimension the two orders are one.
  EXPECT_EQ(Open(Write("c.npy", Npy("|u1", "(2,)", "12", "True"))).RecordText(), "u8");
}

TEST(ArrayTest, ReadsIdx) {
  const Array array = Open(Write("a.idx", Idx(8, {3, 2, 2}, 12)));
  EXPECT_THAT(array.shape, ElementsAre(3, 2, 2));
  EXPECT_EQ(array.RecordText(), "u8[2,2]");
  EXPECT_EQ(array.data[11], 11);
  EXPECT_EQ(Open(Write("b.idx", Idx(8, {300}, 300))).records(), 300);
}

TEST(ArrayTest, ReadsTensors) {
  const std::string path = testing::TempDir() + "/set.safetensors";
  auto writer = checkpoint::SafetensorsWriter::Create(path, {{"w", DType::kF32, {1}}, {"x", DType::kI64, {2, 1}}});
  const int64_t x[] = {7, -1};
  const float w[] = {1};
  ASSERT_TRUE((*writer)->Write("x", TensorSpec::Whole(DType::kI64, {2, 1}), x).ok());
  ASSERT_TRUE((*writer)->Write("w", TensorSpec::Whole(DType::kF32, {1}), w).ok());
  ASSERT_TRUE((*writer)->Commit().ok());
  const Array array = Open(path);
  EXPECT_EQ(array.RecordText(), "i64[1]");
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(array.data), 16),
            std::string(reinterpret_cast<const char*>(x), 16));
  EXPECT_THAT(std::string(OpenArray(path, "y").status().message()), HasSubstr("expected a tensor `y`, got `"));
}

TEST(ArrayTest, RefusesOtherArraysByName) {
  const auto wrong = absl::StatusCode::kInvalidArgument;
  ExpectError(Write("big.npy", Npy(">i4", "(1,)", "1234")), wrong,
              "elements: expected u8, u16, i32, i64, f16, f32 or f64, "
              "little-endian, got '>i4'");
  ExpectError(Write("bool.npy", Npy("|b1", "(1,)", "1")), wrong, "elements: expected");
  ExpectError(Write("fortran.npy", Npy("|u1", "(2, 2)", "1234", "True")), wrong,
              "expected the last dimension to vary fastest");
  ExpectError(Write("scalar.npy", Npy("|u1", "()", "1")), wrong, "expected an array of records, got a scalar");
  ExpectError(Write("float.idx", Idx(0x0D, {1}, 4)), wrong,
              "IDX elements: expected unsigned bytes (type 8), got type 13");
  ExpectError(Write("text.txt", "some text"), wrong,
              "expected an array: NumPy's (.npy) or IDX, also gzipped, or a "
              ".safetensors file, got a file of another kind");
  ExpectError(Write("a.zip", "PK\x03\x04 and more"), wrong,
              "expected an array: NumPy's (.npy) or IDX, also gzipped, or a "
              ".safetensors file, got a zip archive");
  ExpectError(testing::TempDir(), wrong, "expected a regular file of records");
}

TEST(ArrayTest, RefusesArraysOfAnotherLength) {
  const auto loss = absl::StatusCode::kDataLoss;
  ExpectError(Write("short.npy", Npy("|u1", "(2, 2)", "123")), loss,
              "truncated: expected u8[2,2] by the file's header, got 3 bytes");
  ExpectError(Write("long.npy", Npy("|u1", "(2, 2)", "12345")), loss,
              "damaged: expected u8[2,2] by the file's header, got 5 bytes");
  ExpectError(Write("none.npy", Npy("|u1", "(0, 2)", "")), loss,
              "expected at least one record, got an empty array, u8[0,2]");
  ExpectError(Write("huge.npy", Npy("<i8", "(4611686018427387904, 4)", "1")), loss, "truncated: expected i64[");
  ExpectError(Write("short.idx", Idx(8, {2, 2}, 3)), loss, "truncated: expected u8[2,2]");
  ExpectError(Write("header.idx", Idx(8, {2, 2}, 0).substr(0, 10)), loss,
              "truncated: expected an IDX header of 12 bytes, got 10");
  ExpectError(Write("empty.npy", ""), loss, "expected records, got an empty file");
}

TEST(ArrayTest, InflatesWhatIsGzipped) {
  // gzip of 00 00 08 01 00 00 00 02 05 06, stored.
  const std::string idx = "\0\0\x08\x01\0\0\0\x02\x05\x06"s;
  const std::string stored = "\x1f\x8b\x08\0\0\0\0\0\0\xff\x01\x0a\0\xf5\xff"s + idx + "\x69\xfd\x88\x01\x0a\0\0\0"s;
  const Array array = Open(Write("a.idx.gz", stored));
  EXPECT_EQ(array.records(), 2);
  EXPECT_EQ(array.data[1], 6);
  // Two members are one file: the first has all of the header.
  const std::string second = "\x1f\x8b\x08\0\0\0\0\0\x02\x03KLJ\x06\0\xc2\x41\x24\x35\x03\0\0\0"s;
  ExpectError(Write("two.idx.gz", stored + second), absl::StatusCode::kDataLoss,
              "damaged: expected u8[2] by the file's "
              "header, got 5 bytes");
  ExpectError(Write("t.idx.gz", stored.substr(0, 22)), absl::StatusCode::kDataLoss,
              "truncated: expected the end of a gzip archive");
  std::string damaged = stored;
  damaged[24] ^= 1;
  ExpectError(Write("d.idx.gz", damaged), absl::StatusCode::kDataLoss,
              "damaged: expected a gzip archive, got incorrect data check");
}

}  // namespace
}  // namespace weft::data
