#include "runtime/device/host/available.h"

#include <filesystem>
#include <fstream>

#include "gtest/gtest.h"

namespace weft::device {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20;

// A host of 8 GiB, of which 1 GiB is available.
class AvailableTest : public testing::Test {
 protected:
  AvailableTest() {
    std::filesystem::remove_all(root_);
    Write("/proc/meminfo", "MemTotal:       8388608 kB\nMemFree:          65536 kB\nMemAvailable:   1048576 kB\n");
  }
  void Write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text;
  }
  int64_t Available() const { return AvailableBytes(root_); }

 private:
  const std::string root_ = testing::TempDir() + "/available_test";
};

TEST_F(AvailableTest, IsWhatTheKernelSays) { EXPECT_EQ(Available(), 1024 * kMiB); }

TEST_F(AvailableTest, IsNotKnownOfAHostThatDoesNotSay) {
  Write("/proc/meminfo", "MemTotal:       8388608 kB\n");
  EXPECT_EQ(Available(), -1);
}

// 512 MiB, of which 300 are taken, 100 of them by files.
TEST_F(AvailableTest, IsWhatTheGroupHasLeft) {
  Write("/proc/self/cgroup", "0::/job/step\n");
  Write("/sys/fs/cgroup/job/memory.max", "536870912\n");
  Write("/sys/fs/cgroup/job/memory.current", "314572800\n");
  Write("/sys/fs/cgroup/job/memory.stat",
        "anon 209715200\nfile 104857600\ninactive_file 62914560\nactive_file 41943040\n");
  Write("/sys/fs/cgroup/job/step/memory.max", "max\n");
  Write("/sys/fs/cgroup/job/step/memory.current", "314572800\n");
  EXPECT_EQ(Available(), 312 * kMiB);
}

TEST_F(AvailableTest, IsWhatTheGroupSeenAsTheRootHasLeft) {
  Write("/proc/self/cgroup", "0::/elsewhere\n");
  Write("/sys/fs/cgroup/memory.max", "536870912\n");
  Write("/sys/fs/cgroup/memory.current", "536870912\n");
  EXPECT_EQ(Available(), 0);
}

TEST_F(AvailableTest, IsWhatAGroupOfTheFirstVersionHasLeft) {
  Write("/proc/self/cgroup", "9:name=systemd:/\n4:cpu,memory:/job\n");
  Write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  Write("/sys/fs/cgroup/memory/memory.usage_in_bytes", "6442450944\n");
  Write("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "536870912\n");
  Write("/sys/fs/cgroup/memory/job/memory.usage_in_bytes", "314572800\n");
  Write("/sys/fs/cgroup/memory/job/memory.stat", "total_inactive_file 104857600\ninactive_file 0\n");
  EXPECT_EQ(Available(), 312 * kMiB);
}

TEST_F(AvailableTest, IsNotMoreThanTheHostHas) {
  Write("/proc/self/cgroup", "0::/\n");
  Write("/sys/fs/cgroup/memory.max", "68719476736\n");
  Write("/sys/fs/cgroup/memory.current", "0\n");
  EXPECT_EQ(Available(), 1024 * kMiB);
}

}  // namespace
}  // namespace weft::device
