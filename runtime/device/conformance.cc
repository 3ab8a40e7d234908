#include "runtime/device/conformance.h"

#include <atomic>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

namespace weft::device {
namespace {

TEST_P(DeviceConformance, ArenasAreAlignedAndZero) {
  for (int64_t bytes : {0, 1, 4096, 1000003}) {
    const auto arena = device_->AllocateArena(bytes);
    ASSERT_TRUE(arena.ok()) << arena.status();
    EXPECT_EQ((*arena)->bytes(), bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>((*arena)->base()) % 4096, 0u);
    const auto host = NewHostMemory(bytes);
    std::memset(host->base(), 1, bytes);
    const auto stream = NewStream();
    stream->Submit([&] { EXPECT_TRUE(stream->Copy(host->base(), (*arena)->base(), bytes).ok()); });
    ASSERT_TRUE(stream->Join().ok());
    for (int64_t i = 0; i < bytes; ++i) ASSERT_EQ(host->base()[i], 0) << i;
  }
}

TEST_P(DeviceConformance, TooLargeAnArenaIsAnError) {
  EXPECT_EQ(device_->AllocateArena(int64_t{1} << 60).status().code(), absl::StatusCode::kResourceExhausted);
}

TEST_P(DeviceConformance, CopiesThereAndBack) {
  constexpr int64_t kBytes = 100000;
  const auto arena = NewArena(2 * kBytes), from = NewHostMemory(kBytes), to = NewHostMemory(kBytes);
  for (int64_t i = 0; i < kBytes; ++i) from->base()[i] = static_cast<char>(i * 31);
  const auto stream = NewStream();
  stream->Submit([&] {
    EXPECT_TRUE(stream->Copy(arena->base(), from->base(), kBytes).ok());
    EXPECT_TRUE(stream->Copy(arena->base() + kBytes, arena->base(), kBytes).ok());
    EXPECT_TRUE(stream->Copy(to->base(), arena->base() + kBytes, kBytes).ok());
  });
  ASSERT_TRUE(stream->Join().ok());
  EXPECT_EQ(std::memcmp(from->base(), to->base(), kBytes), 0);
}

TEST_P(DeviceConformance, TasksRunInOrderOnOneThread) {
  const auto stream = NewStream();
  std::vector<int> order;
  std::vector<std::thread::id> threads;
  for (int i = 0; i < 5 * Stream::kMaxTasks; ++i) {
    stream->Submit([&, i] {
      order.push_back(i);
      threads.push_back(std::this_thread::get_id());
    });
  }
  ASSERT_TRUE(stream->Join().ok());
  ASSERT_EQ(order.size(), 5u * Stream::kMaxTasks);
  for (size_t i = 0; i < order.size(); ++i) {
    EXPECT_EQ(order[i], static_cast<int>(i));
    EXPECT_EQ(threads[i], threads[0]);
    EXPECT_NE(threads[i], std::this_thread::get_id());
  }
}

TEST_P(DeviceConformance, StreamsRunSideBySide) {
  const auto a = NewStream(), b = NewStream();
  std::atomic<int> met{0};
  for (Stream* stream : {a.get(), b.get()}) {
    stream->Submit([&] {
      ++met;
      while (met.load() < 2) std::this_thread::yield();
    });
  }
  EXPECT_TRUE(a->Join().ok());
  EXPECT_TRUE(b->Join().ok());
}

// A stream that waits for an event sees what the other did before it.
TEST_P(DeviceConformance, EventsOrderStreams) {
  const auto producer = NewStream(), consumer = NewStream();
  const auto arena = NewArena(sizeof(int)), from = NewHostMemory(sizeof(int)), to = NewHostMemory(sizeof(int));
  const std::unique_ptr<Event> event = *device_->CreateEvent();
  EXPECT_TRUE(event->Synchronize().ok());  // not recorded yet
  for (int value = 1; value < 50; ++value) {
    std::atomic<bool> recorded{false};
    std::memcpy(from->base(), &value, sizeof(int));
    producer->Submit([&] {
      EXPECT_TRUE(producer->Copy(arena->base(), from->base(), sizeof(int)).ok());
      EXPECT_TRUE(producer->Record(*event).ok());
      recorded.store(true);
    });
    consumer->Submit([&] {
      while (!recorded.load()) std::this_thread::yield();
      EXPECT_TRUE(consumer->Wait(*event).ok());
      EXPECT_TRUE(consumer->Copy(to->base(), arena->base(), sizeof(int)).ok());
    });
    ASSERT_TRUE(consumer->Join().ok());
    ASSERT_TRUE(producer->Join().ok());
    int seen = 0;
    std::memcpy(&seen, to->base(), sizeof(int));
    ASSERT_EQ(seen, value);
    ASSERT_TRUE(event->Synchronize().ok());
  }
}

TEST_P(DeviceConformance, AStreamEndsItsTasksBeforeItGoes) {
  std::atomic<int> ran{0};
  {
    const auto stream = NewStream();
    for (int i = 0; i < 3; ++i) stream->Submit([&] { ++ran; });
  }
  EXPECT_EQ(ran.load(), 3);
}

}  // namespace
}  // namespace weft::device
