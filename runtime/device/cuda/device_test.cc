#include "runtime/device/cuda/device.h"

#include <cstring>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ops/abi/registry.h"
#include "ops/families.h"
#include "runtime/device/conformance.h"
#include "tests/emulation/cuda/driver.h"
#include "tests/emulation/simt/emulated.h"

namespace weft::device {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// An emulated driver and a device on it.
struct Machine {
  explicit Machine(const cuda::EmulatedOptions& options = {}) : driver(options) {
    auto made = CreateCudaDevice(driver.driver(), 0, cuda::ImagesOf(modules));
    if (made.ok()) device = *std::move(made);
    status = made.status();
  }
  const std::vector<std::unique_ptr<EmulatedModule>> modules = EmulatedModules();
  cuda::EmulatedDriver driver;
  std::unique_ptr<Device> device;
  absl::Status status;
};

// The device with its driver, as one.
class Owner : public Device {
 public:
  std::string name() const override { return machine_.device->name(); }
  bool host_addressable() const override { return machine_.device->host_addressable(); }
  absl::StatusOr<std::unique_ptr<Arena>> AllocateArena(int64_t bytes) override {
    return machine_.device->AllocateArena(bytes);
  }
  absl::StatusOr<std::unique_ptr<Arena>> AllocateHostMemory(int64_t bytes) override {
    return machine_.device->AllocateHostMemory(bytes);
  }
  absl::StatusOr<std::unique_ptr<Stream>> CreateStream(const std::string& name) override {
    return machine_.device->CreateStream(name);
  }
  absl::StatusOr<std::unique_ptr<Event>> CreateEvent() override { return machine_.device->CreateEvent(); }

 private:
  Machine machine_;
};
std::unique_ptr<Device> CreateEmulated() { return std::make_unique<Owner>(); }

INSTANTIATE_TEST_SUITE_P(EmulatedCuda, DeviceConformance, testing::Values(&CreateEmulated));

KernelSpec ScaleBy(double factor, int64_t n, Gpu* gpu) {
  KernelSpec spec{.name = "scale",
                  .inputs = {TensorSpec::Whole(DType::kF32, {n})},
                  .outputs = {TensorSpec::Whole(DType::kF32, {n})},
                  .gpu = gpu};
  spec.attributes.Set("factor", factor);
  return spec;
}

TEST(CudaDeviceTest, AnUrgentStreamHasTheGreatestPriority) {
  Machine machine;
  const auto stream = machine.device->CreateStream("compute");
  EXPECT_EQ(machine.driver.urgent_streams(), 0);
  const auto urgent = machine.device->CreateUrgentStream("communication");
  ASSERT_TRUE(stream.ok() && urgent.ok());
  EXPECT_EQ(machine.driver.urgent_streams(), 1);
}

TEST(CudaDeviceTest, RunsKernelsBetweenCopies) {
  Machine machine;
  ASSERT_TRUE(machine.status.ok()) << machine.status;
  KernelRegistry registry;
  RegisterElementwiseCudaKernels(registry);
  constexpr int64_t kCount = 1000, kBytes = kCount * sizeof(float);
  const auto kernel = registry.Create(ScaleBy(3, kCount, machine.device->gpu()));
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  const auto arena = *machine.device->AllocateArena(2 * kBytes);
  const auto host = *machine.device->AllocateHostMemory(kBytes);
  const auto stream = *machine.device->CreateStream("test");
  auto* values = reinterpret_cast<float*>(host->base());
  for (int i = 0; i < kCount; ++i) values[i] = static_cast<float>(i);
  stream->Submit([&] {
    const void* input = arena->base();
    void* output = arena->base() + kBytes;
    EXPECT_TRUE(stream->Copy(arena->base(), values, kBytes).ok());
    EXPECT_TRUE((*kernel)->Run({.stream = stream->handle()}, {&input, 1}, {&output, 1}).ok());
    EXPECT_TRUE(stream->Copy(values, output, kBytes).ok());
  });
  ASSERT_TRUE(stream->Join().ok());
  for (int i = 0; i < kCount; ++i) ASSERT_EQ(values[i], 3.0f * static_cast<float>(i));
  EXPECT_THAT(machine.driver.complaints(), IsEmpty());
}

TEST(CudaDeviceTest, TooLargeAnArenaSaysWhatIsFree) {
  Machine machine({.memory_bytes = 1 << 20});
  const auto first = machine.device->AllocateArena(1 << 19);
  ASSERT_TRUE(first.ok());
  const auto second = machine.device->AllocateArena(1 << 20);
  EXPECT_EQ(second.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(second.status().message(),
            "GPU 0 (emulated): expected at most the 520192 bytes free of 1048576, got 1048576");
}

TEST(CudaDeviceTest, MemoryGoesBack) {
  Machine machine;
  const int64_t before = machine.driver.allocated_bytes();
  {
    const auto arena = machine.device->AllocateArena(100000);
  }
  EXPECT_EQ(machine.driver.allocated_bytes(), before);
}

TEST(CudaDeviceTest, AFailedLaunchNamesKernelAndShape) {
  Machine machine;
  const auto kernel = GpuKernel<char>::Find(machine.device->gpu(), "elementwise", "scale_f32");
  EXPECT_THAT(std::string(kernel.status().message()), HasSubstr("elementwise.scale_f32: expected arguments of"));
  KernelRegistry registry;
  RegisterElementwiseCudaKernels(registry);
  const auto scale = *registry.Create(ScaleBy(3, 10, machine.device->gpu()));
  const auto arena = *machine.device->AllocateArena(80);
  const auto stream = *machine.device->CreateStream("test");
  absl::Status status;
  stream->Submit([&] {
    const void* input = arena->base();
    void* output = arena->base() + 40;
    status = scale->Run({.stream = nullptr}, {&input, 1}, {&output, 1});
  });
  ASSERT_TRUE(stream->Join().ok());
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("GPU kernel elementwise.scale_f32 in 1x1x1 blocks of 256x1x1 threads, 0 bytes shared: "
                        "CUDA_ERROR_INVALID_VALUE"));
  EXPECT_THAT(machine.driver.complaints(), ElementsAre("cuLaunchKernel: expected a stream, got another handle"));
}

TEST(CudaDeviceTest, AnAlarmIsSeenWhenTheStreamIsJoined) {
  Machine machine;
  const auto alarm = machine.device->gpu()->CreateAlarm([](const GpuAlarm& it) {
    return absl::OutOfRangeError("token " + std::to_string(it.where) + ": got " + std::to_string(it.value));
  });
  ASSERT_TRUE(alarm.ok());
  const auto stream = *machine.device->CreateStream("test");
  EXPECT_TRUE(stream->Join().ok());
  **alarm = {.raised = 1, .where = 7, .value = 300};
  EXPECT_EQ(stream->Join().message(), "token 7: got 300");
}

TEST(CudaDeviceTest, CopiesOfOtherHostMemoryAreRefused) {
  Machine machine;
  const auto arena = *machine.device->AllocateArena(64);
  const auto stream = *machine.device->CreateStream("test");
  char here[64] = {};
  absl::Status status;
  stream->Submit([&] { status = stream->Copy(arena->base(), here, 64); });
  EXPECT_TRUE(stream->Join().ok());
  EXPECT_THAT(std::string(status.message()), HasSubstr("CUDA_ERROR_INVALID_VALUE"));
}

TEST(CudaDeviceDeathTest, TheHostCannotTouchDeviceMemory) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        Machine machine;
        const auto arena = *machine.device->AllocateArena(64);
        *static_cast<volatile char*>(arena->base()) = 1;
      },
      "");
}

TEST(CudaDeviceTest, RefusesWhatItHasNoCodeFor) {
  Machine old({.major = 7, .minor = 5});
  EXPECT_EQ(old.status.message(), "GPU 0 (emulated): expected a compute capability of 8.0 or more, got 7.5");
  cuda::EmulatedDriver driver;
  EXPECT_EQ(CreateCudaDevice(driver.driver(), 3, {}).status().message(),
            "GPU 3: expected one of the 1 of this machine");
  const auto bare = *CreateCudaDevice(driver.driver(), 0, {{"elementwise", "", 0}});
  EXPECT_EQ(bare->gpu()->Find("elementwise", "scale_f32", 24, 0).status().message(),
            "GPU module `elementwise`: this program was built without a CUDA toolkit and has no code for GPUs");
}

TEST(CudaDeviceTest, Inventory) {
  cuda::EmulatedDriver driver({.gpus = 2});
  const auto inventory = TakeInventory(driver.driver());
  ASSERT_TRUE(inventory.ok());
  EXPECT_EQ(inventory->ToString(),
            "CUDA driver 13.0, 2 GPUs\n"
            "  0: emulated, compute capability 9.0, 4 multiprocessors, 1.0 GiB\n"
            "  1: emulated, compute capability 9.0, 4 multiprocessors, 1.0 GiB");
}

}  // namespace
}  // namespace weft::device
