// What a stream records, and how the emulated driver refuses what a real one would.
#include <cstring>
#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ops/abi/registry.h"
#include "ops/families.h"
#include "runtime/device/cuda/device.h"
#include "tests/emulation/cuda/driver.h"
#include "tests/emulation/simt/emulated.h"

namespace weft::device {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int kCount = 100;
constexpr size_t kBytes = kCount * sizeof(float);

class GraphTest : public testing::Test {
 protected:
  explicit GraphTest(const cuda::EmulatedOptions& options = {}) : driver_(options) {
    device_ = *CreateCudaDevice(driver_.driver(), 0, cuda::ImagesOf(modules_));
    RegisterElementwiseCudaKernels(registry_);
    arena_ = *device_->AllocateArena(kBytes);
    host_ = *device_->AllocateHostMemory(kBytes);
    stream_ = *device_->CreateStream("test");
    event_ = *device_->CreateEvent();
  }

  std::unique_ptr<Kernel> ScaleBy(double factor) {
    KernelSpec spec{.name = "scale",
                    .inputs = {TensorSpec::Whole(DType::kF32, {kCount})},
                    .outputs = {TensorSpec::Whole(DType::kF32, {kCount})},
                    .gpu = device_->gpu()};
    spec.attributes.Set("factor", factor);
    return *registry_.Create(spec);
  }

  // From host to device, times the factor in place.
  absl::Status Work(Kernel& scale) {
    const void* input = arena_->base();
    void* output = arena_->base();
    absl::Status status = stream_->Copy(arena_->base(), host_->base(), kBytes);
    if (status.ok()) status = scale.Run({.stream = stream_->handle()}, {&input, 1}, {&output, 1});
    return status;
  }

  // On the stream's thread.
  absl::Status Do(const std::function<absl::Status()>& task) {
    absl::Status status;
    stream_->Submit([&] { status = task(); });
    const absl::Status joined = stream_->Join();
    return status.ok() ? joined : status;
  }
  absl::StatusOr<std::unique_ptr<Graph>> Capture(const std::function<absl::Status()>& task) {
    absl::StatusOr<std::unique_ptr<Graph>> graph;
    const absl::Status status = Do([&] {
      graph = stream_->Capture(task);
      return absl::OkStatus();
    });
    EXPECT_TRUE(status.ok()) << status;
    return graph;
  }

  void Set(float value) {
    for (int i = 0; i < kCount; ++i) reinterpret_cast<float*>(host_->base())[i] = value;
  }
  float Get() {
    const absl::Status status = Do([&] { return stream_->Copy(host_->base(), arena_->base(), kBytes); });
    EXPECT_TRUE(status.ok()) << status;
    return reinterpret_cast<float*>(host_->base())[kCount - 1];
  }

  const std::vector<std::unique_ptr<EmulatedModule>> modules_ = EmulatedModules();
  cuda::EmulatedDriver driver_;
  KernelRegistry registry_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<Arena> arena_, host_;
  std::unique_ptr<Stream> stream_;
  std::unique_ptr<Event> event_;
};

TEST_F(GraphTest, IsRecordedOnceAndDoneAsOften) {
  const auto scale = ScaleBy(3);
  Set(1);
  ASSERT_TRUE(Do([&] { return Work(*scale); }).ok());
  Set(5);
  const auto graph = Capture([&] { return Work(*scale); });
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(Get(), 3);  // nothing has been done since
  for (float value : {5, 7}) {
    Set(value);
    const int64_t before = driver_.submissions();
    ASSERT_TRUE(Do([&] { return stream_->Replay(**graph); }).ok());
    EXPECT_EQ(driver_.submissions() - before, 1);
    EXPECT_EQ(Get(), 3 * value);
  }
  EXPECT_EQ(driver_.replays(), 2);
  EXPECT_THAT(driver_.complaints(), IsEmpty());
}

// A kernel whose arguments by value change from run to run: a graph keeps those of its recording.
TEST_F(GraphTest, ArgumentsAreThoseOfTheRecording) {
  auto arguments = ScaleBy(3);
  const auto graph = Capture([&] { return Work(*arguments); });
  ASSERT_TRUE(graph.ok()) << graph.status();
  arguments = ScaleBy(4);
  Set(2);
  ASSERT_TRUE(Do([&] { return stream_->Replay(**graph); }).ok());
  EXPECT_EQ(Get(), 6);
}

TEST_F(GraphTest, TheTasksErrorEndsTheRecording) {
  const auto graph = Capture([&] { return absl::InvalidArgumentError("no"); });
  EXPECT_EQ(graph.status().message(), "no");
  const auto scale = ScaleBy(3);
  Set(1);
  ASSERT_TRUE(Do([&] { return Work(*scale); }).ok());
  EXPECT_EQ(Get(), 3);
  EXPECT_THAT(driver_.complaints(), IsEmpty());
}

TEST_F(GraphTest, WaitingIsRefused) {
  ASSERT_TRUE(Do([&] { return stream_->Record(*event_); }).ok());
  const auto scale = ScaleBy(3);
  const auto graph = Capture([&] {
    event_->Synchronize().IgnoreError();
    return Work(*scale);
  });
  EXPECT_THAT(std::string(graph.status().message()), HasSubstr("CUDA_ERROR_STREAM_CAPTURE_INVALIDATED"));
  EXPECT_THAT(driver_.complaints(), ElementsAre("cuEventSynchronize: while this thread records a graph"));
}

TEST_F(GraphTest, AllocatingIsRefused) {
  for (const bool on_host : {false, true}) {
    const auto graph = Capture(
        [&] { return on_host ? device_->AllocateHostMemory(64).status() : device_->gpu()->Allocate(64).status(); });
    EXPECT_THAT(std::string(graph.status().message()), HasSubstr("CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"));
  }
  EXPECT_THAT(driver_.complaints(), ElementsAre("cuMemAlloc: while this thread records a graph",
                                                "cuMemHostAlloc: while this thread records a graph"));
}

TEST_F(GraphTest, EventsOfOutsideAreRefused) {
  ASSERT_TRUE(Do([&] { return stream_->Record(*event_); }).ok());
  const auto graph = Capture([&] { return stream_->Wait(*event_); });
  EXPECT_THAT(std::string(graph.status().message()), HasSubstr("CUDA_ERROR_STREAM_CAPTURE_ISOLATION"));
}

TEST_F(GraphTest, EventsOfInsideMarkNothingOutside) {
  const auto graph = Capture([&] {
    const absl::Status status = stream_->Record(*event_);
    return status.ok() ? stream_->Wait(*event_) : status;
  });
  EXPECT_TRUE(graph.ok()) << graph.status();
  EXPECT_THAT(std::string(event_->Synchronize().message()), HasSubstr("CUDA_ERROR_CAPTURED_EVENT"));
  const auto other = *device_->CreateStream("other");
  absl::Status status;
  other->Submit([&] { status = other->Wait(*event_); });
  EXPECT_TRUE(other->Join().ok());
  EXPECT_THAT(std::string(status.message()), HasSubstr("CUDA_ERROR_STREAM_CAPTURE_ISOLATION"));
}

TEST_F(GraphTest, OtherThreadsMayWaitAndAllocate) {
  ASSERT_TRUE(Do([&] { return stream_->Record(*event_); }).ok());
  const auto scale = ScaleBy(3);
  const auto graph = Capture([&] {
    std::thread other([&] {
      EXPECT_TRUE(event_->Synchronize().ok());
      EXPECT_TRUE(device_->AllocateArena(64).ok());
    });
    other.join();
    return Work(*scale);
  });
  EXPECT_TRUE(graph.ok()) << graph.status();
  EXPECT_THAT(driver_.complaints(), IsEmpty());
}

// The driver without cuFuncLoad: then a function is loaded by its first launch.
TEST(GraphLoadTest, AFirstLaunchThatLoadsIsRefused) {
  const std::vector<std::unique_ptr<EmulatedModule>> modules = EmulatedModules();
  cuda::EmulatedDriver emulated;
  cuda::Driver old = emulated.driver();
  old.FuncLoad = nullptr;
  const auto device = *CreateCudaDevice(old, 0, cuda::ImagesOf(modules));
  KernelRegistry registry;
  RegisterElementwiseCudaKernels(registry);
  KernelSpec spec{.name = "scale",
                  .inputs = {TensorSpec::Whole(DType::kF32, {1})},
                  .outputs = {TensorSpec::Whole(DType::kF32, {1})},
                  .gpu = device->gpu()};
  spec.attributes.Set("factor", 3.0);
  const auto kernel = *registry.Create(spec);
  const auto stream = *device->CreateStream("test");
  const auto arena = *device->AllocateArena(4);
  stream->Submit([&] {
    const void* input = arena->base();
    void* output = arena->base();
    EXPECT_FALSE(kernel->Run({.stream = stream->handle()}, {&input, 1}, {&output, 1}).ok());
  });
  EXPECT_TRUE(stream->Join().ok());
  EXPECT_THAT(emulated.complaints(),
              ElementsAre(HasSubstr("is loaded by its first launch, which may wait for all streams")));
}

class FullGpuTest : public GraphTest {
 protected:
  FullGpuTest() : GraphTest({.memory_bytes = 1 << 20, .graph_bytes = 1 << 20}) {}
};

TEST_F(FullGpuTest, NoRoomForAGraph) {
  const auto scale = ScaleBy(3);
  const int64_t before = driver_.allocated_bytes();
  const auto graph = Capture([&] { return Work(*scale); });
  EXPECT_EQ(graph.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(driver_.allocated_bytes(), before);
  Set(1);
  ASSERT_TRUE(Do([&] { return Work(*scale); }).ok());
  EXPECT_EQ(Get(), 3);
}

}  // namespace
}  // namespace weft::device
