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

}  // namespace
}  // namespace weft::device
