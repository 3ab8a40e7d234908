// What is written by io_uring is read again, also where the system refuses it.
#include "runtime/executor/disk.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <random>
#include <string>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace weft::executor {
namespace {

// More parts than are under way at a time, and a bit.
constexpr int64_t kBytes = (int64_t{37} << 20) + 123;

checkpoint::File Temporary(const char* name) {
  absl::StatusOr<checkpoint::File> file = checkpoint::File::Create(absl::StrCat(testing::TempDir(), "/", name));
  EXPECT_TRUE(file.ok()) << file.status();
  return *std::move(file);
}

std::string RandomBytes() {
  std::mt19937_64 random(1);
  std::string bytes(kBytes, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

void ExpectKeeps(Disk& disk, int64_t offset) {
  const std::string written = RandomBytes();
  ASSERT_TRUE(disk.Write(offset, written.data(), kBytes).ok());
  std::string read(kBytes, '\0');
  ASSERT_TRUE(disk.Read(offset, read.data(), kBytes).ok());
  EXPECT_TRUE(read == written);
  ASSERT_TRUE(disk.Read(offset + kBytes - 5, read.data(), 5).ok());
  EXPECT_EQ(read.substr(0, 5), written.substr(kBytes - 5));
}

// This thread's io_uring_setup fails from now on, as in containers that do not allow it.
void RefuseIoUring() {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_io_uring_setup, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program = {static_cast<unsigned short>(std::size(filter)), filter};
  ASSERT_EQ(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
  ASSERT_EQ(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

TEST(DiskTest, KeepsWhatIsWritten) {
  const checkpoint::File file = Temporary("kept");
  Disk disk(file);
  ExpectKeeps(disk, 0);
  ExpectKeeps(disk, 4099);
  EXPECT_TRUE(disk.Write(0, nullptr, 0).ok());
}

TEST(DiskTest, GoesOnWithoutIoUring) {
  std::thread refused([] {
    RefuseIoUring();
    const checkpoint::File file = Temporary("refused");
    Disk disk(file);
    EXPECT_EQ(disk.refusal(), "io_uring_setup: Operation not permitted");
    ExpectKeeps(disk, 4099);
  });
  refused.join();
}

TEST(DiskTest, SaysWhatFails) {
  const checkpoint::File file = Temporary("short");
  Disk disk(file);
  std::string bytes(kBytes, 'x');
  ASSERT_TRUE(disk.Write(0, bytes.data(), 3 << 20).ok());
  const absl::Status ends = disk.Read(0, bytes.data(), kBytes);
  EXPECT_EQ(ends.code(), absl::StatusCode::kDataLoss) << ends;

  // A file that may not grow: what a full disk looks like from here.
  std::signal(SIGXFSZ, SIG_IGN);
  const rlimit limit = {rlim_t{8} << 20, rlim_t{8} << 20};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  const absl::Status full = disk.Write(0, bytes.data(), kBytes);
  EXPECT_EQ(full.code(), absl::StatusCode::kResourceExhausted) << full;
  // Nothing is under way any more: the ring serves what comes next.
  EXPECT_TRUE(disk.Read(0, bytes.data(), 3 << 20).ok());
}

}  // namespace
}  // namespace weft::executor
