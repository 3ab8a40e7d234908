// A disk that is full while saving: one clear error, nothing left behind, and
// the checkpoint before it as it was. The limit on the size of files stands for
// the disk: the kernel refuses at the same places, after the same short writes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <filesystem>

#include "runtime/checkpoint/directory.h"
#include "runtime/checkpoint/file.h"
#include "tests/fixtures/checkpoint_model.h"

namespace weft::checkpoint {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;

void LimitFileSize(int64_t bytes) {
  signal(SIGXFSZ, SIG_IGN);
  const rlimit limit = {static_cast<rlim_t>(bytes), RLIM_INFINITY};
  setrlimit(RLIMIT_FSIZE, &limit);
}

// Runs `body` in a child process, whose limits it may change; true if the body
// was.
template <typename Body>
bool InChild(Body body) {
  const pid_t child = fork();
  if (child == 0) _exit(body() ? 0 : 1);
  int status = -1;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

class DiskFullTest : public testing::Test {
 protected:
  DiskFullTest() : folder_(testing::TempDir() + "/" + testing::UnitTest::GetInstance()->current_test_info()->name()) {
    fs::remove_all(folder_);
    EXPECT_TRUE(Save(Options(20), {2, 2}, 20).ok());
  }

  CheckpointWriter::Options Options(int64_t step) const { return {folder_, step, 7, {{"plan", "hash"}}, {.last = 1}}; }

  void ExpectOnlyTheOldOne() {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_)) names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    EXPECT_THAT(names, ElementsAre("latest", "step-00000020"));
    const absl::Status status = CheckSaved(folder_, 20);
    EXPECT_TRUE(status.ok()) << status;
  }

  const std::string folder_;
};

bool IsFull(const absl::Status& status) {
  if (status.code() == absl::StatusCode::kResourceExhausted) return true;
  std::fprintf(stderr, "expected a full disk, got %s\n", status.ToString().c_str());
  return false;
}

TEST_F(DiskFullTest, WhenTheFilesAreLaidOut) {
  for (int64_t limit : {0, 100, 1500}) {
    EXPECT_TRUE(InChild([&] {
      LimitFileSize(limit);
      return IsFull(Save(Options(40), {2, 2}, 40));
    })) << limit;
    ExpectOnlyTheOldOne();
  }
}

TEST_F(DiskFullTest, WhileTilesAreWritten) {
  const int64_t size = static_cast<int64_t>(fs::file_size(folder_ + "/step-00000020/" + kModelFile));
  for (int64_t limit : {size - 1, size - 30, size - 600}) {
    EXPECT_TRUE(InChild([&] {
      auto writer = CheckpointWriter::Create(Options(40), Infos(false), Infos(true));
      if (!writer.ok()) return false;
      LimitFileSize(limit);  // inside a tensor: a write comes back short first
      bool failed = false;
      for (int64_t rank = 0; rank < 4; ++rank) failed |= IsFull(WriteRank(**writer, {2, 2}, rank, 40));
      return failed && IsFull((*writer)->Commit());
    })) << limit;
    ExpectOnlyTheOldOne();
  }
}

TEST_F(DiskFullTest, WhenTheManifestIsWritten) {
  EXPECT_TRUE(InChild([&] {
    auto writer = CheckpointWriter::Create(Options(40), Infos(false), Infos(true));
    if (!writer.ok() || !WriteRank(**writer, {}, 0, 40).ok()) return false;
    LimitFileSize(1000);  // less than the manifest
    return IsFull((*writer)->Commit());
  }));
  ExpectOnlyTheOldOne();
}

TEST_F(DiskFullTest, SavesOnceThereIsRoomAgain) {
  EXPECT_TRUE(InChild([&] {
    LimitFileSize(100);
    if (!IsFull(Save(Options(40), {2, 2}, 40))) return false;
    LimitFileSize(1 << 20);
    return Save(Options(40), {2, 2}, 40).ok();
  }));
  const absl::Status status = CheckSaved(folder_, 40);
  EXPECT_TRUE(status.ok()) << status;
}

TEST(FileTest, SaysThatTheDeviceIsFull) {
  absl::StatusOr<File> file = File::Create("/dev/full");
  ASSERT_TRUE(file.ok()) << file.status();
  const absl::Status status = file->WriteAt(0, "x", 1);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(status.message(), "/dev/full: cannot write: No space left on device");
}

}  // namespace
}  // namespace weft::checkpoint
