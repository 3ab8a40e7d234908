#include "runtime/plan/read_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace weft::plan {
namespace {

std::string Path(const std::string& name) { return testing::TempDir() + "/" + name; }

TEST(ReadFileTest, ReadsPieceByPiece) {
  std::ofstream(Path("a")) << "0123456789";
  absl::StatusOr<FileReader> reader = FileReader::Open(Path("a"));
  ASSERT_TRUE(reader.ok()) << reader.status();
  EXPECT_EQ(*reader->Next(4), "0123");
  EXPECT_EQ(*reader->Next(0), "");
  EXPECT_EQ(*reader->Next(100), "456789");
  EXPECT_EQ(*reader->Next(100), "");
}

TEST(ReadFileTest, WhatHasNoEndIsRefused) {
  EXPECT_EQ(ReadText("/dev/zero").status().message(), "/dev/zero: expected at most 16777216 bytes, got more");
  EXPECT_EQ(*ReadText("/dev/null"), "");
  std::ofstream(Path("most")).flush();
  std::filesystem::resize_file(Path("most"), kMostTextBytes);
  EXPECT_EQ(ReadText(Path("most"))->size(), static_cast<size_t>(kMostTextBytes));
}

TEST(ReadFileTest, SaysWhatIsWrong) {
  EXPECT_EQ(ReadText(Path("none")).status(),
            absl::NotFoundError(Path("none") + ": cannot be opened: No such file or directory"));
  EXPECT_EQ(ReadText(testing::TempDir()).status(),
            absl::InvalidArgumentError(testing::TempDir() + ": cannot be read: Is a directory"));
}

}  // namespace
}  // namespace weft::plan
