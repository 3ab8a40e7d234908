#include "runtime/data/npy_header.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weft::data {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A header of this version around this text, padded to 64 bytes.
std::string File(int version, std::string text) {
  const size_t begin = version == 1 ? 10 : 12;
  text.resize((begin + text.size() + 63) / 64 * 64 - begin, ' ');
  std::string file = std::string("\x93NUMPY") + static_cast<char>(version) + '\0' + static_cast<char>(text.size());
  file.resize(begin, '\0');
  return file + text;
}

absl::StatusOr<NpyHeader> Read(const std::string& file) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(file.data());
  EXPECT_TRUE(IsNpy(bytes, file.size()));
  return ReadNpyHeader("a.npy", bytes, file.size());
}

void ExpectError(const std::string& file, const std::string& text) {
  const auto header = Read(file);
  ASSERT_FALSE(header.ok());
  EXPECT_THAT(std::string(header.status().message()), HasSubstr("a.npy: " + text));
}

TEST(NpyHeaderTest, ReadsEveryVersion) {
  for (const int version : {1, 2, 3}) {
    const auto header = Read(File(version, "{'descr': '|u1', 'fortran_order': False, 'shape': (60000, 28, 28), }"));
    ASSERT_TRUE(header.ok()) << header.status();
    EXPECT_EQ(header->type, "|u1");
    EXPECT_FALSE(header->fortran_order);
    EXPECT_THAT(header->shape, ElementsAre(60000, 28, 28));
    EXPECT_EQ(header->bytes, 128);
  }
}

TEST(NpyHeaderTest, ReadsEveryShapeAndOrder) {
  EXPECT_THAT(Read(File(1, "{'shape': (5,), 'descr': '<f4', 'fortran_order': True}"))->shape, ElementsAre(5));
  EXPECT_TRUE(Read(File(1, "{'shape': (5,), 'descr': '<f4', 'fortran_order': True}"))->fortran_order);
  EXPECT_THAT(Read(File(1, "{'descr': '<f4', 'fortran_order': False, 'shape': ()}"))->shape, IsEmpty());
}

TEST(NpyHeaderTest, NamesWhatIsWrong) {
  const std::string good = "{'descr': '<u2', 'fortran_order': False, 'shape': (3,), }";
  ExpectError(File(4, good), ".npy version: expected 1, 2 or 3, got 4");
  ExpectError(File(1, good).substr(0, 100), "truncated: expected a .npy header of 128 bytes, got 100");
  ExpectError(File(1, good).substr(0, 7), "truncated: expected a .npy header of 10 bytes, got 7");
  ExpectError(File(1, "{}"), ".npy header: `descr`: expected an element type, got nothing");
  ExpectError(File(1, "{'descr': [('a', '<u2')], 'fortran_order': False, 'shape': (3,)}"),
              ".npy header: `descr`: expected one element type, got an array of several fields");
  ExpectError(File(1, "{'descr': '<u2', 'shape': (3,)}"), ".npy header: `fortran_order`: expected True or False");
  for (const char* shape : {"", "3", "(3", "(3,,)", "(-3,)", "(x,)", "(99999999999999999999,)"}) {
    ExpectError(File(1, std::string("{'descr': '<u2', 'fortran_order': False, 'shape': ") + shape),
                ".npy header: `shape`: expected sizes in parentheses");
  }
  ExpectError(std::string("\x93NUMPY\x01\0", 8) + static_cast<char>(good.size()) + '\0' + good,
              ".npy header: expected a multiple of 16 bytes, got ");
}

}  // namespace
}  // namespace weft::data
