#include "tests/emulation/cuda/deferred.h"

#include <atomic>
#include <thread>

#include "gtest/gtest.h"
#include "runtime/device/conformance.h"

namespace weft::device {
namespace {

INSTANTIATE_TEST_SUITE_P(Deferred, DeviceConformance, testing::Values(&CreateDeferredDevice));

TEST(DeferredTest, WorkIsDoneAfterTheCall) {
  const std::unique_ptr<Device> device = CreateDeferredDevice();
  const std::unique_ptr<Stream> stream = *device->CreateStream("test");
  int value = 0;
  std::atomic<bool> returned{false};
  stream->Submit([&] {
    Enqueue(stream->handle(), [&] {
      while (!returned.load()) std::this_thread::yield();  // would hang if the call did the work
      value = 1;
    });
    returned.store(true);
  });
  ASSERT_TRUE(stream->Join().ok());
  EXPECT_EQ(value, 1);
}

}  // namespace
}  // namespace weft::device
