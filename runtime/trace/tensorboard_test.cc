#include "runtime/trace/tensorboard.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "gtest/gtest.h"

namespace weft::trace {
namespace {

// RFC 3720, appendix B.4; and the check value of the catalogues, of "123456789".
TEST(TensorBoardTest, ChecksumsAreThoseOfTheStandard) {
  EXPECT_EQ(Crc32c(""), 0u);
  EXPECT_EQ(Crc32c(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(Crc32c(std::string(32, '\xff')), 0x62a8ab43u);
  EXPECT_EQ(Crc32c("123456789"), 0xe3069283u);
}

TEST(TensorBoardTest, ARecordHasItsLengthAndTwoChecksums) {
  const std::string record = RecordOf("abc");
  ASSERT_EQ(record.size(), 8u + 4 + 3 + 4);
  EXPECT_EQ(record.substr(0, 8), std::string("\x03\0\0\0\0\0\0\0", 8));
  EXPECT_EQ(record.substr(12, 3), "abc");
}

// Byte by byte: what the encoding of protocol buffers makes of the numbers. tests/steps/reports_test.py reads whole
// files.
TEST(TensorBoardTest, WritesTheNumbersOfAStep) {
  const std::string folder = testing::TempDir() + "/board/run";
  {
    auto writer = TensorBoardWriter::Open(folder, "vm", 1234567890);
    ASSERT_TRUE(writer.ok()) << writer.status();
    StepMetrics metrics{.step = 300};
    metrics.loss = 0.5f;
    ASSERT_TRUE((*writer)->Write(metrics, 2.0).ok());
  }
  const std::string path = folder + "/events.out.tfevents.1234567890.vm." + std::to_string(getpid());
  std::ifstream file(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  EXPECT_NE(text.find("\x1a\x0d"
                      "brain.Event:2"),
            std::string::npos);
  // wall_time 2.0, step 300, then a summary that begins with the loss.
  EXPECT_NE(text.find(std::string("\x09\0\0\0\0\0\0\0\x40\x10\xac\x02\x2a", 13)), std::string::npos);
  EXPECT_NE(text.find(std::string("\x0a\x0b\x0a\x04loss\x15\0\0\0\x3f", 13)), std::string::npos);
  EXPECT_EQ(text.find("grad_norm"), std::string::npos);  // it is not known
  std::filesystem::remove_all(testing::TempDir() + "/board");
}

TEST(TensorBoardTest, AFolderThatCannotBe) {
  const std::string path = testing::TempDir() + "/a_file";
  std::ofstream(path) << "x";
  const auto writer = TensorBoardWriter::Open(path + "/run", "vm", 1);
  EXPECT_EQ(writer.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(writer.status().message().find(path + "/run/events"), std::string::npos) << writer.status();
}

}  // namespace
}  // namespace weft::trace
