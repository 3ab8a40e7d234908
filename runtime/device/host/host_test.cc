#include <pthread.h>
#include <sys/resource.h>

#include "gtest/gtest.h"
#include "runtime/device/conformance.h"
#include "runtime/device/host/device.h"

namespace weft::device {
namespace {

INSTANTIATE_TEST_SUITE_P(Host, DeviceConformance, testing::Values(&CreateHostDevice));

// What the plan counts is what the process has, from the start.
TEST(HostTest, ArenasAreResident) {
  auto resident_kib = [] {
    struct rusage usage = {};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
  };
  const std::unique_ptr<Device> device = CreateHostDevice();
  const long before = resident_kib();
  const auto arena = device->AllocateArena(int64_t{64} << 20);
  ASSERT_TRUE(arena.ok());
  EXPECT_GE(resident_kib() - before, 60 << 10);
}

TEST(HostTest, AStreamWithoutAThreadIsAnError) {
  const std::unique_ptr<Device> device = CreateHostDevice();
  pthread_attr_t usual, huge;
  ASSERT_EQ(pthread_getattr_default_np(&usual), 0);
  ASSERT_EQ(pthread_attr_init(&huge), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&huge, size_t{1} << 50), 0);  // more than can be addressed
  ASSERT_EQ(pthread_setattr_default_np(&huge), 0);
  const auto stream = device->CreateStream("r0 compute");
  ASSERT_EQ(pthread_setattr_default_np(&usual), 0);
  EXPECT_EQ(stream.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(stream.status().message().substr(0, 39), "stream `r0 compute`: expected a thread,");
}

}  // namespace
}  // namespace weft::device
