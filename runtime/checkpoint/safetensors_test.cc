#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <vector>

#include "runtime/checkpoint/safetensors_reader.h"
#include "runtime/checkpoint/safetensors_writer.h"

namespace weft::checkpoint {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Path(const std::string& name) { return testing::TempDir() + "/" + name; }

std::string WriteFile(const std::string& name, const std::string& bytes) {
  std::ofstream(Path(name), std::ios::binary) << bytes;
  return Path(name);
}

std::string Contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

// A file with this header text, as another writer might make it.
std::string WithHeader(const std::string& json, const std::string& data) {
  const uint64_t length = json.size();
  return std::string(reinterpret_cast<const char*>(&length), 8) + json + data;
}

template <typename T>
std::string Bytes(const std::vector<T>& values) {
  return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

std::unique_ptr<const SafetensorsReader> OpenOrDie(const std::string& path) {
  auto reader = SafetensorsReader::Open(path);
  EXPECT_TRUE(reader.ok()) << reader.status();
  return *std::move(reader);
}

void ExpectRefused(const std::string& json, const std::string& data, const std::string& text) {
  const std::string path = WriteFile("refused.safetensors", WithHeader(json, data));
  auto reader = SafetensorsReader::Open(path);
  ASSERT_FALSE(reader.ok()) << json;
  EXPECT_THAT(std::string(reader.status().message()), HasSubstr(text));
  EXPECT_THAT(std::string(reader.status().message()), HasSubstr("refused.safetensors"));
}

TEST(SafetensorsTest, ReadsWhatOtherWritersWrite) {
  // An odd header length, data in another order than the names, a type that is
  // not Weft's, a scalar, an empty tensor.
  const std::string path =
      WriteFile("other.safetensors",
                WithHeader(R"({"__metadata__":{"format":"pt"},"b":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]},)"
                           R"("a":{"dtype":"I32","shape":[],"data_offsets":[17,21]},)"
                           R"("mask":{"dtype":"BOOL","shape":[1],"data_offsets":[16,17]},)"
                           R"("none":{"dtype":"F32","shape":[0,3],"data_offsets":[21,21]}} )",
                           Bytes<float>({1, 2, 3, 4}) + std::string(1, '\1') + Bytes<int32_t>({-7})));
  auto reader = OpenOrDie(path);
  EXPECT_THAT(reader->header().metadata, ElementsAre(std::pair<const std::string, std::string>("format", "pt")));
  std::vector<float> b(4);
  ASSERT_TRUE(
      reader->Read(**reader->Find("b"), TensorSpec::Whole(DType::kF32, {2, 2}), {2, 2}, Conversion::kNone, b.data())
          .ok());
  EXPECT_THAT(b, ElementsAre(1, 2, 3, 4));
  int32_t a = 0;
  ASSERT_TRUE(reader->Read(**reader->Find("a"), TensorSpec::Whole(DType::kI32, {}), {}, Conversion::kNone, &a).ok());
  EXPECT_EQ(a, -7);
  EXPECT_TRUE(
      reader->Read(**reader->Find("none"), TensorSpec::Whole(DType::kF32, {0, 3}), {0, 3}, Conversion::kNone, nullptr)
          .ok());
  EXPECT_THAT(
      std::string(reader->Read(**reader->Find("mask"), TensorSpec::Whole(DType::kU8, {1}), {1}, Conversion::kNone, &a)
                      .message()),
      HasSubstr("`mask`: dtype: expected u8, got BOOL"));
}

TEST(SafetensorsTest, RefusesFilesOfAnotherKind) {
  auto message = [](const std::string& bytes) {
    return std::string(SafetensorsReader::Open(WriteFile("foreign", bytes)).status().message());
  };
  EXPECT_THAT(message(""), HasSubstr("not a safetensors file: expected at least 8 bytes, got 0"));
  EXPECT_THAT(message("In the beginning God created"),
              HasSubstr("not a safetensors file: expected a header of at most"));
  EXPECT_THAT(message(std::string("\x80\0\0\0\0\0\0\0{}", 10)),
              HasSubstr("truncated, or not a safetensors file: expected a header of 136 bytes, got 10 bytes in all"));
  EXPECT_EQ(SafetensorsReader::Open(Path("nowhere")).status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(SafetensorsReader::Open(testing::TempDir()).status().message()),
              HasSubstr("expected a regular file"));
}

TEST(SafetensorsTest, RefusesHeadersThatDoNotHold) {
  const std::string data(16, 'x');
  ExpectRefused("[1,2]", "", "expected a JSON object");
  ExpectRefused("{\"a\":", "", "expected a JSON object");
  ExpectRefused("{\"\xff\":{}}", "", "expected a JSON object");
  ExpectRefused(R"({"a":{"dtype":"F32","shape":[4]}})", data, "`a`: expected dtype, shape and data_offsets");
  ExpectRefused(R"({"a":7})", data, "`a`: expected dtype, shape and data_offsets");
  ExpectRefused(R"({"a":{"dtype":"F32","shape":[4],"data_offsets":[0,16],"x":1}})", data, "`a`: expected dtype");
  ExpectRefused(R"({"a":{"dtype":"F32","shape":[-4],"data_offsets":[0,16]}})", data, "`a`: expected dtype");
  ExpectRefused(R"({"a":{"dtype":"F32","shape":[4.0],"data_offsets":[0,16]}})", data, "`a`: expected dtype");
  ExpectRefused(R"({"a":{"dtype":"F32","shape":[4],"data_offsets":[0,16,16]}})", data, "`a`: expected dtype");
  ExpectRefused(R"({"a":{"dtype":"F31","shape":[4],"data_offsets":[0,16]}})", data,
                "another type of the format, got F31");
  ExpectRefused(R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,16]}})", data,
                "expected 12 bytes for F32[3], got data_offsets [0,16]");
  ExpectRefused(R"({"a":{"dtype":"F32","shape":[4],"data_offsets":[16,0]}})", data, "got data_offsets [16,0]");
  ExpectRefused(R"({"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0]}})", data, "is too large");
  ExpectRefused(R"({"a":{"dtype":"F32","shape":[4611686018427387904],"data_offsets":[0,0]}})", data, "is too large");
  ExpectRefused(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"F32","shape":[3],)"
                R"("data_offsets":[4,16]}})",
                data, "`b` overlaps `a`");
  ExpectRefused(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[8,16]}})", data,
                "no tensor holds the 8 bytes before `a`");
  ExpectRefused(R"({"a":{"dtype":"F32","shape":[8],"data_offsets":[0,32]}})", data,
                "truncated: expected 32 bytes of tensors, got 16");
  ExpectRefused(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", data,
                "expected 8 bytes of tensors, got 16");
  ExpectRefused(R"({"a":{"dtype":"F32","shape":[4],"data_offsets":[0,16]},"a":{"dtype":"F32","shape":[4],)"
                R"("data_offsets":[0,16]}})",
                data, "`a` stands twice");
  ExpectRefused(R"({"a":{"dtype":"F32","shape":[4],"shape":[4],"data_offsets":[0,16]}})", data, "`shape` stands twice");
  ExpectRefused(R"({"__metadata__":{"format":1}})", "", "__metadata__: expected an object of strings");
}

TEST(SafetensorsTest, NamesTheTensorsThereAreWhenOneIsMissing) {
  const std::string entry = R"(":{"dtype":"F32","shape":[0],"data_offsets":[0,0]})";
  auto reader = OpenOrDie(WriteFile("names.safetensors", WithHeader("{\"transformer.h.0.w" + entry + ",\"aa" + entry +
                                                                        ",\"bb" + entry + ",\"lm.h.0.w" + entry + "}",
                                                                    "")));
  const absl::Status status = reader->Find("h.0.w").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(
      std::string(status.message()),
      HasSubstr("names.safetensors: expected a tensor `h.0.w`, got `lm.h.0.w`, `transformer.h.0.w`, `aa` and 1 more"));
  EXPECT_EQ((*reader->Find("h.0.w", {"model.", "transformer.", "lm."}))->name, "transformer.h.0.w");
  EXPECT_EQ((*reader->Find("aa", {"transformer."}))->name, "aa");
  auto empty = OpenOrDie(WriteFile("empty.safetensors", WithHeader("{}", "")));
  EXPECT_THAT(std::string(empty->Find("x").status().message()), HasSubstr("expected a tensor `x`, got no tensors"));
}

TEST(SafetensorsTest, WidensSixteenBitFloatsWhenAsked) {
  const std::vector<uint16_t> half = {0x3c00, 0xc000, 0x7bff, 0x0001, 0x8000, 0x7c00, 0xfc00, 0x7e00, 0x0400, 0x03ff};
  const std::vector<uint16_t> brain = {0x3f80, 0xc000};
  auto reader =
      OpenOrDie(WriteFile("half.safetensors", WithHeader(R"({"h":{"dtype":"F16","shape":[10],"data_offsets":[0,20]},)"
                                                         R"("b":{"dtype":"BF16","shape":[2],"data_offsets":[20,24]},)"
                                                         R"("d":{"dtype":"F64","shape":[1],"data_offsets":[24,32]}})",
                                                         Bytes(half) + Bytes(brain) + std::string(8, '\0'))));
  std::vector<float> h(10), b(1);
  ASSERT_TRUE(
      reader->Read(**reader->Find("h"), TensorSpec::Whole(DType::kF32, {10}), {10}, Conversion::kWiden, h.data()).ok());
  EXPECT_EQ(h[0], 1.0f);
  EXPECT_EQ(h[1], -2.0f);
  EXPECT_EQ(h[2], 65504.0f);
  EXPECT_EQ(h[3], 0x1.0p-24f);
  EXPECT_TRUE(h[4] == 0.0f && std::signbit(h[4]));
  EXPECT_EQ(h[5], std::numeric_limits<float>::infinity());
  EXPECT_EQ(h[6], -std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(h[7]));
  EXPECT_EQ(h[8], 0x1.0p-14f);
  EXPECT_EQ(h[9], 0x1.ff8p-15f);
  ASSERT_TRUE(reader->Read(**reader->Find("b"), {DType::kF32, {1}, {2}, {1}}, {2}, Conversion::kWiden, b.data()).ok());
  EXPECT_EQ(b[0], -2.0f);
  EXPECT_THAT(
      std::string(
          reader->Read(**reader->Find("b"), TensorSpec::Whole(DType::kF32, {2}), {2}, Conversion::kNone, h.data())
              .message()),
      HasSubstr("half.safetensors: `b`: dtype: expected f32, got bf16"));
  EXPECT_THAT(
      std::string(
          reader->Read(**reader->Find("d"), TensorSpec::Whole(DType::kF32, {1}), {1}, Conversion::kWiden, h.data())
              .message()),
      HasSubstr("`d`: dtype: expected f32, got f64"));
}

TEST(SafetensorsTest, WidensInPieces) {
  const int64_t count = 10000;
  std::vector<BFloat16> values(count);
  for (int64_t i = 0; i < count; ++i) values[i] = ToBFloat16(static_cast<float>(i % 251));
  auto writer = SafetensorsWriter::Create(Path("long.safetensors"), {{"w", DType::kBF16, {count}}});
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE((*writer)->Write("w", TensorSpec::Whole(DType::kBF16, {count}), values.data()).ok());
  ASSERT_TRUE((*writer)->Commit().ok());
  auto reader = OpenOrDie(Path("long.safetensors"));
  std::vector<float> out(count);
  ASSERT_TRUE(
      reader
          ->Read(**reader->Find("w"), TensorSpec::Whole(DType::kF32, {count}), {count}, Conversion::kWiden, out.data())
          .ok());
  for (int64_t i = 0; i < count; ++i) ASSERT_EQ(out[i], static_cast<float>(i % 251));
}

TEST(SafetensorsTest, TransfersMoreThanOneCallTakes) {
  const std::string path = Path("large.safetensors");
  const int64_t count = (int64_t{5} << 20) + 3;
  std::vector<int64_t> values(count), out(count);
  for (int64_t i = 0; i < count; ++i) values[i] = 3 * i + 1;
  auto writer = SafetensorsWriter::Create(path, {{"w", DType::kI64, {count}}});
  ASSERT_TRUE(writer.ok()) << writer.status();
  const TensorSpec whole = TensorSpec::Whole(DType::kI64, {count});
  ASSERT_TRUE((*writer)->Write("w", whole, values.data()).ok());
  ASSERT_TRUE((*writer)->Commit().ok());
  auto reader = OpenOrDie(path);
  ASSERT_TRUE(reader->Read(**reader->Find("w"), whole, {count}, Conversion::kNone, out.data()).ok());
  EXPECT_TRUE(out == values);
  EXPECT_EQ(*reader->ChecksumOf(**reader->Find("w")), (*writer)->Checksums()[0]);
  std::filesystem::remove(path);
}

// Large writes go past the system's cache, but for the blocks that they share with their neighbours.
TEST(SafetensorsTest, LargeTilesMeetWithinABlock) {
  const std::string path = Path("meeting.safetensors");
  const int64_t rows = 5, row = 700'001;
  std::vector<float> values(rows * row), out(rows * row);
  for (int64_t i = 0; i < rows * row; ++i) values[i] = static_cast<float>(i);
  const std::vector<TensorInfo> tensors = {{"u8", DType::kU8, {3}}, {"w", DType::kF32, {rows, row}}};
  auto first = SafetensorsWriter::Create(path, tensors);
  ASSERT_TRUE(first.ok()) << first.status();
  auto second = SafetensorsWriter::Join(path, tensors);
  ASSERT_TRUE(second.ok()) << second.status();
  const uint8_t bytes[] = {1, 2, 3};
  ASSERT_TRUE((*second)->Write("u8", TensorSpec::Whole(DType::kU8, {3}), bytes).ok());
  for (int64_t r : {3, 0, 4, 1, 2}) {
    SafetensorsWriter& writer = r % 2 == 0 ? **first : **second;
    ASSERT_TRUE(writer.Write("w", {DType::kF32, {1, row}, {rows, row}, {r, 0}}, values.data() + r * row).ok());
  }
  const auto part = (*second)->Finish();
  ASSERT_TRUE(part.ok() && (*first)->Adopt(*part).ok() && (*first)->Commit().ok());
  auto reader = OpenOrDie(path);
  const TensorSpec whole = TensorSpec::Whole(DType::kF32, {rows, row});
  ASSERT_TRUE(reader->Read(**reader->Find("w"), whole, {rows, row}, Conversion::kNone, out.data()).ok());
  EXPECT_TRUE(out == values);
  EXPECT_EQ(*reader->ChecksumOf(**reader->Find("w")), (*first)->Checksums()[1]);
  std::filesystem::remove(path);
}

TEST(SafetensorsTest, WritesTilesAndReadsOtherTiles) {
  const std::string path = Path("tiles.safetensors");
  std::filesystem::remove(path);
  auto writer = SafetensorsWriter::Create(path, {{"u8", DType::kU8, {3}}, {"w", DType::kF32, {4, 12}}});
  ASSERT_TRUE(writer.ok()) << writer.status();
  EXPECT_FALSE(std::filesystem::exists(path));
  const uint8_t bytes[] = {1, 2, 3};
  ASSERT_TRUE((*writer)->Write("u8", TensorSpec::Whole(DType::kU8, {3}), bytes).ok());
  // [4, 12] seen as [4, 3, 4], whose last dim is split over two.
  for (int64_t r = 0; r < 2; ++r) {
    const TensorSpec tile{DType::kF32, {4, 3, 2}, {4, 3, 4}, {0, 0, 2 * r}};
    std::vector<float> values;
    for (int64_t e = 0; e < 24; ++e) values.push_back(static_cast<float>(e / 2 * 4 + 2 * r + e % 2));
    ASSERT_TRUE((*writer)->Write("w", tile, values.data()).ok());
  }
  ASSERT_TRUE((*writer)->Commit().ok());
  auto reader = OpenOrDie(path);
  std::vector<float> row(12);
  ASSERT_TRUE(
      reader->Read(**reader->Find("w"), {DType::kF32, {1, 12}, {4, 12}, {2, 0}}, {4, 12}, Conversion::kNone, row.data())
          .ok());
  for (int64_t i = 0; i < 12; ++i) EXPECT_EQ(row[i], static_cast<float>(24 + i));
  const std::vector<uint64_t> checksums = (*writer)->Checksums();
  EXPECT_EQ(*reader->ChecksumOf(*reader->header().Find("u8")), checksums[0]);
  EXPECT_EQ(*reader->ChecksumOf(*reader->header().Find("w")), checksums[1]);
  // Aligned, the larger elements first, and nothing left of the making.
  EXPECT_EQ(reader->header().Find("w")->begin % 8, 0);
  EXPECT_LT(reader->header().Find("w")->begin, reader->header().Find("u8")->begin);
  EXPECT_FALSE(std::filesystem::exists(path + ".partial"));
}

TEST(SafetensorsTest, KeepsTheOldFileUntilTheNewOneIsWhole) {
  const std::string path = WriteFile("old.safetensors", "old");
  auto message = [&](auto use) {
    auto writer = SafetensorsWriter::Create(path, {{"w", DType::kF32, {2, 2}}});
    EXPECT_TRUE(writer.ok());
    return std::string(use(**writer).message());
  };
  const std::vector<float> w(4, 1.0f);
  EXPECT_THAT(message([&](SafetensorsWriter& writer) {
                EXPECT_TRUE(writer.Write("w", {DType::kF32, {1, 2}, {2, 2}, {1, 0}}, w.data()).ok());
                return writer.Commit();
              }),
              HasSubstr("`w`: expected 4 elements written, got 2"));
  EXPECT_THAT(message([&](SafetensorsWriter& writer) {
                EXPECT_TRUE(writer.Write("w", TensorSpec::Whole(DType::kF32, {2, 2}), w.data()).ok());
                EXPECT_FALSE(writer.Write("w", {DType::kF32, {1, 2}, {2, 2}, {1, 0}}, w.data()).ok());
                return writer.Commit();
              }),
              HasSubstr("`w`: f32[1,2] of [2,2] at (1,0) overlaps what was written, f32[2,2]"));
  EXPECT_THAT(message([&](SafetensorsWriter& writer) {
                EXPECT_TRUE(writer.Write("w", {DType::kF32, {1, 2}, {2, 2}, {1, 0}}, w.data()).ok());
                return writer.Write("w", {DType::kF32, {2}, {4}, {0}}, w.data());
              }),
              HasSubstr("tiles of [2,2] and of [4] in one tensor"));
  EXPECT_THAT(message([&](SafetensorsWriter& writer) { return writer.Write("v", {}, w.data()); }),
              HasSubstr("no tensor `v` was laid out"));
  EXPECT_THAT(message([&](SafetensorsWriter& writer) {
                return writer.Write("w", TensorSpec::Whole(DType::kI32, {2, 2}), w.data());
              }),
              HasSubstr("`w`: dtype: expected f32, got i32"));
  EXPECT_THAT(message([&](SafetensorsWriter& writer) {
                return writer.Write("w", TensorSpec::Whole(DType::kF32, {5}), w.data());
              }),
              HasSubstr("`w`: shape: expected as many elements as [5], got [2,2]"));
  EXPECT_EQ(Contents(path), "old");
  EXPECT_FALSE(std::filesystem::exists(path + ".partial"));
}

TEST(SafetensorsTest, RefusesToLayOutWhatCannotBeNamed) {
  auto message = [](const std::vector<TensorInfo>& tensors) {
    return std::string(SafetensorsWriter::Create(Path("names.out"), tensors).status().message());
  };
  EXPECT_THAT(message({{"", DType::kF32, {}}}), HasSubstr("expected a tensor name"));
  EXPECT_THAT(message({{"__metadata__", DType::kF32, {}}}), HasSubstr("expected a tensor name"));
  EXPECT_THAT(message({{"\xff", DType::kF32, {}}}), HasSubstr("is not UTF-8"));
  EXPECT_THAT(message({{"a", DType::kF32, {}}, {"a", DType::kU8, {}}}), HasSubstr("`a` stands twice"));
  EXPECT_THAT(message({{"a", DType::kInvalid, {2}}}), HasSubstr("`a`: cannot store invalid[2]"));
  EXPECT_THAT(message({{"a", DType::kF32, {-2}}}), HasSubstr("`a`: cannot store f32[-2]"));
  EXPECT_THAT(message({{"a", DType::kF32, {int64_t{1} << 62}}}), HasSubstr("too large"));
  EXPECT_EQ(SafetensorsWriter::Create(Path("no/such/folder"), {}).status().code(), absl::StatusCode::kNotFound);
  EXPECT_FALSE(std::filesystem::exists(Path("names.out.partial")));
}

}  // namespace
}  // namespace weft::checkpoint
