// Snapshots in the memory of a host: the file, and its folder.
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/checkpoint/snapshot_file.h"
#include "runtime/checkpoint/snapshot_folder.h"

namespace weft::checkpoint {
namespace {

constexpr int64_t kTiles = 200;  // bytes; not a multiple of anything

class SnapshotTest : public testing::Test {
 protected:
  SnapshotTest() {
    std::string name = testing::TempDir() + "/snapshots.XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  ~SnapshotTest() override { EXPECT_TRUE(RemoveSnapshots(folder_).ok()); }

  std::string Path(const std::string& name) const { return folder_ + "/" + name; }

  static SnapshotHead Head() {
    return {.run = "0123456789abcdef",
            .plan = 0xfedcba9876543210,
            .rank = 3,
            .step = 120,
            .seed = uint64_t{1} << 63,
            .record = {{"data", "corpus \"a\""}, {"best", "\xff"}},
            .hosts = {{"a", "b"}, {"b", "a"}},
            .tiles = {{"w f32[2]", 0}, {"v f32[4]", 64}}};
  }

  std::string Sealed() const {
    const int64_t bytes = SnapshotFile::BytesFor(kTiles, Head());
    auto file = SnapshotFile::Create(Path(".partial"), bytes);
    EXPECT_TRUE(file.ok()) << file.status();
    for (int64_t i = 0; i < kTiles; ++i) (*file)->bytes()[i] = static_cast<char>(i * 7);
    EXPECT_TRUE((*file)->Seal(Head(), kTiles).ok());
    EXPECT_TRUE((*file)->Rename(Path(SnapshotName(120, 3))).ok());
    return (*file)->path();
  }

  std::string folder_;
};

TEST_F(SnapshotTest, IsReadAsItWasSealed) {
  const std::string path = Sealed();
  const auto file = SnapshotFile::Open(path);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_TRUE((*file)->Verify().ok());
  const SnapshotHead expected = Head(), &head = (*file)->head();
  EXPECT_EQ(head.run, expected.run);
  EXPECT_EQ(head.plan, expected.plan);
  EXPECT_EQ(head.rank, 3);
  EXPECT_EQ(head.step, 120);
  EXPECT_EQ(head.seed, expected.seed);
  EXPECT_EQ(head.record.at("data"), "corpus \"a\"");
  EXPECT_EQ(head.hosts, expected.hosts);
  EXPECT_EQ(head.tiles, expected.tiles);
  for (int64_t i = 0; i < kTiles; ++i) ASSERT_EQ((*file)->bytes()[i], static_cast<char>(i * 7));
  struct stat info;
  ASSERT_EQ(stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
}

TEST_F(SnapshotTest, EveryFlippedByteIsSeenAndTheFileNamed) {
  const std::string path = Sealed();
  std::string content;
  {
    std::ifstream file(path, std::ios::binary);
    content.assign(std::istreambuf_iterator<char>(file), {});
  }
  int64_t seen = 0;
  // But for the room that heads have to grow, nothing is left out.
  const size_t head_end = content.rfind('}') + 1;
  for (size_t at = 0; at < content.size(); ++at) {
    if (at == head_end) at = content.size() - 48;
    content[at] = static_cast<char>(content[at] ^ 1);
    std::ofstream(path, std::ios::binary) << content;
    content[at] = static_cast<char>(content[at] ^ 1);
    const auto file = SnapshotFile::Open(path);
    const absl::Status status = file.ok() ? (*file)->Verify() : file.status();
    ASSERT_EQ(status.code(), absl::StatusCode::kDataLoss) << at;
    ASSERT_EQ(status.message().substr(0, path.size() + 2), path + ": ") << status;
    ++seen;
  }
  EXPECT_GT(seen, kTiles);
}

TEST_F(SnapshotTest, ACutFileIsRefused) {
  const std::string path = Sealed();
  for (const off_t bytes : {100'000, 100, 7, 0}) {
    if (truncate(path.c_str(), bytes) != 0) FAIL();
    EXPECT_EQ(SnapshotFile::Open(path).status().code(), absl::StatusCode::kDataLoss) << bytes;
  }
}

TEST_F(SnapshotTest, WhatIsNotThereCannotBeTaken) {
  const auto file = SnapshotFile::Create(Path("x"), int64_t{1} << 60);
  EXPECT_FALSE(file.ok());
  EXPECT_NE(access(Path("x").c_str(), F_OK), 0);
  EXPECT_EQ(SnapshotFile::Open(Path("x")).status().code(), absl::StatusCode::kNotFound);
}

TEST_F(SnapshotTest, AHeadMayGrowButNotForEver) {
  const int64_t bytes = SnapshotFile::BytesFor(kTiles, Head());
  auto file = SnapshotFile::Create(Path("x"), bytes);
  ASSERT_TRUE(file.ok()) << file.status();
  SnapshotHead head = Head();
  head.step = 123456789;
  head.record["best"] = std::string(10'000, 'x');
  EXPECT_TRUE((*file)->Seal(head, kTiles).ok());
  EXPECT_EQ((*SnapshotFile::Open(Path("x")))->head().record, head.record);
  head.record["best"] = std::string(100'000, 'x');
  EXPECT_EQ((*file)->Seal(head, kTiles).code(), absl::StatusCode::kInternal);
}

TEST(SnapshotFolderTest, NamesSayWhatIsInThem) {
  int64_t step = 0;
  int rank = 0;
  EXPECT_TRUE(ParseSnapshotName(SnapshotName(120, 3), step, rank));
  EXPECT_EQ(step, 120);
  EXPECT_EQ(rank, 3);
  EXPECT_TRUE(ParseSnapshotName(SnapshotName(1234567890, 123456), step, rank));
  for (const char* other :
       {"step-00000120", "step-120.rank-00003", "step-00000120.rank-3", ".rank-00003.0.partial", ""})
    EXPECT_FALSE(ParseSnapshotName(other, step, rank)) << other;
  const std::string identity = NewSnapshotIdentity();
  EXPECT_NE(identity, NewSnapshotIdentity());
  EXPECT_EQ(IdentityOf(SnapshotFolderOf("/dev/shm", identity)), identity);
  for (const char* other : {"/", "/dev/shm", "/etc/weft-snapshots-", "weft-snapshots-0123456789abcdef",
                            "/dev/shm/weft-snapshots-0123456789abcdeg", "/dev/shm/weft-snapshots-0123456789abcdef/.."})
    EXPECT_EQ(IdentityOf(other), "") << other;
}

TEST_F(SnapshotTest, AFolderOfOthersIsRefused) {
  const std::string folder = Path("mine");
  EXPECT_EQ(CheckPrivate(folder).code(), absl::StatusCode::kNotFound);
  EXPECT_TRUE(MakePrivateFolder(folder).ok());
  EXPECT_TRUE(MakePrivateFolder(folder).ok());
  chmod(folder.c_str(), 0750);
  const absl::Status open = MakePrivateFolder(folder);
  EXPECT_EQ(open.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(open.message().find("(mode 0750)"), std::string::npos) << open;
  EXPECT_FALSE(RemoveSnapshots(folder).ok());
  if (symlink(folder_.c_str(), Path("link").c_str()) != 0) FAIL();
  EXPECT_FALSE(MakePrivateFolder(Path("link")).ok());
  EXPECT_FALSE(RemoveSnapshots(Path("link")).ok());
  std::ofstream(Path("file")) << "x";
  EXPECT_FALSE(MakePrivateFolder(Path("file")).ok());
}

TEST_F(SnapshotTest, MemoryIsAskedFor) {
  EXPECT_TRUE(CheckMemoryFolder("/dev/shm").ok());
  EXPECT_EQ(CheckMemoryFolder("/proc").code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(CheckMemoryFolder(Path("none")).code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(SnapshotTest, OneStepStays) {
  for (const std::string& name : {SnapshotName(110, 0), SnapshotName(120, 0), SnapshotName(120, 1),
                                  std::string(".rank-00000.1.partial"), std::string("foreign")})
    std::ofstream(Path(name)) << "x";
  EXPECT_EQ(SnapshotsIn(folder_),
            (std::vector<std::string>{SnapshotName(110, 0), SnapshotName(120, 0), SnapshotName(120, 1)}));
  EXPECT_TRUE(RemoveOtherSnapshots(folder_, 120).ok());
  EXPECT_EQ(SnapshotsIn(folder_), (std::vector<std::string>{SnapshotName(120, 0), SnapshotName(120, 1)}));
  EXPECT_NE(access(Path("foreign").c_str(), F_OK), 0);
}

TEST_F(SnapshotTest, TheIndexNamesFoldersAndNothingElse) {
  const std::vector<std::string> folders = {SnapshotFolderOf("/dev/shm", NewSnapshotIdentity()),
                                            SnapshotFolderOf("/dev/shm", NewSnapshotIdentity())};
  EXPECT_EQ(*ReadSnapshotIndex(folder_), std::vector<std::string>());
  ASSERT_TRUE(WriteSnapshotIndex(folder_, folders).ok());
  EXPECT_EQ(*ReadSnapshotIndex(folder_), folders);
  std::ofstream(Path(kSnapshotIndex)) << "/home/somebody\n";
  EXPECT_EQ(ReadSnapshotIndex(folder_).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_TRUE(WriteSnapshotIndex(folder_, {}).ok());
  EXPECT_TRUE(WriteSnapshotIndex(folder_, {}).ok());
  EXPECT_EQ(*ReadSnapshotIndex(folder_), std::vector<std::string>());
}

}  // namespace
}  // namespace weft::checkpoint
