#include "runtime/device/cuda/matmul.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/device/cuda/device.h"
#include "tests/emulation/cuda/cublaslt.h"
#include "tests/emulation/cuda/driver.h"

namespace weft::device {
namespace {

using cuda::lt::EmulatedCublasLt;
using cuda::lt::EmulatedCublasLtOptions;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A device on an emulated driver, with an emulated library.
struct Machine {
  explicit Machine(MatmulOptions options = {}, const EmulatedCublasLtOptions& library = {},
                   const cuda::EmulatedOptions& gpu = {})
      : driver(gpu), lt(driver, library) {
    options.note = [this](const std::string& line) { notes.push_back(line); };
    auto made = CreateCudaDevice(driver.driver(), 0, {}, {.cublaslt = &lt.library(), .matmul = options});
    EXPECT_TRUE(made.ok()) << made.status();
    device = *std::move(made);
  }
  GpuMatmuls& matmuls() { return *device->gpu()->matmuls(); }

  cuda::EmulatedDriver driver;
  EmulatedCublasLt lt;
  std::vector<std::string> notes;
  std::unique_ptr<Device> device;
};

// 3 x 5 times 5 x 8, dense and row-major.
GpuMatmulSpec Small() {
  return {.rows = 3,
          .columns = 8,
          .inner = 5,
          .left = {.row_stride = 5, .column_stride = 1},
          .right = {.row_stride = 8, .column_stride = 1},
          .result = {.row_stride = 8, .column_stride = 1}};
}

// Buffers of floats at multiples of 4096, each element a small number of its own.
struct Buffers {
  explicit Buffers(Machine& machine)
      : device(*machine.device->AllocateArena(kBytes)),
        host(*machine.device->AllocateHostMemory(kBytes)),
        stream(*machine.device->CreateStream("test")) {
    for (int i = 0; i < kBytes / 4; ++i) reinterpret_cast<float*>(host->base())[i] = static_cast<float>(i % 13 - 6) / 4;
  }
  // Copies there, does it, copies back.
  absl::Status Do(const std::function<absl::Status(void* stream)>& work) {
    absl::Status status;
    stream->Submit([&] {
      status = stream->Copy(device->base(), host->base(), kBytes);
      if (status.ok()) status = work(stream->handle());
      if (status.ok()) status = stream->Copy(host->base(), device->base(), kBytes);
    });
    const absl::Status joined = stream->Join();
    return status.ok() ? joined : status;
  }
  static constexpr int64_t kBytes = 8 * 4096;
  char* at(int buffer) const { return device->base() + int64_t{buffer} * 4096; }
  const float* values(int buffer) const {
    return reinterpret_cast<const float*>(host->base()) + int64_t{buffer} * 1024;
  }
  std::unique_ptr<Arena> device, host;
  std::unique_ptr<Stream> stream;
};

enum { kLeftAt, kRightAt, kResultAt, kBiasAt, kKeptAt, kWorkspaceAt };

GpuMatmulAddresses AddressesOf(const Buffers& buffers, const GpuMatmulSpec& spec) {
  return {.left = buffers.at(kLeftAt),
          .right = buffers.at(kRightAt),
          .result = buffers.at(kResultAt),
          .bias = spec.bias ? buffers.at(kBiasAt) : nullptr,
          .kept = spec.keep ? buffers.at(kKeptAt) : nullptr,
          .bias_gradient = spec.bias_gradient ? buffers.at(kBiasAt) : nullptr};
}

// What the sums are, from operands in their places.
float SumOf(const Buffers& before, const GpuMatmulSpec& spec, int64_t row, int64_t column) {
  float sum = 0;
  for (int64_t k = 0; k < spec.inner; ++k) {
    sum += before.values(kLeftAt)[row * spec.left.row_stride + k * spec.left.column_stride] *
           before.values(kRightAt)[k * spec.right.row_stride + column * spec.right.column_stride];
  }
  return sum;
}

TEST(MatmulTest, AddsToWhatIsThere) {
  GpuMatmulSpec spec = Small();
  spec.alpha = 2;
  spec.beta = 0.5f;
  Machine machine({.time_algorithms = false});
  const auto matmul = machine.matmuls().Create(spec);
  ASSERT_TRUE(matmul.ok()) << matmul.status();
  EXPECT_EQ((*matmul)->workspace_bytes(), 256u);
  const Buffers before(machine);
  Buffers buffers(machine);
  const absl::Status status = buffers.Do(
      [&](void* stream) { return (*matmul)->Run(AddressesOf(buffers, spec), buffers.at(kWorkspaceAt), stream); });
  ASSERT_TRUE(status.ok()) << status;
  for (int64_t i = 0; i < spec.rows; ++i) {
    for (int64_t j = 0; j < spec.columns; ++j) {
      const int64_t at = i * spec.result.row_stride + j;
      EXPECT_EQ(buffers.values(kResultAt)[at], 2 * SumOf(before, spec, i, j) + 0.5f * before.values(kResultAt)[at]);
    }
  }
  EXPECT_THAT(machine.driver.complaints(), IsEmpty());
}

TEST(MatmulTest, BiasGeluAndWhatItIsAppliedTo) {
  GpuMatmulSpec spec = Small();
  spec.bias = spec.gelu = spec.keep = true;
  Machine machine({.time_algorithms = false});
  const auto matmul = machine.matmuls().Create(spec);
  ASSERT_TRUE(matmul.ok()) << matmul.status();
  const Buffers before(machine);
  Buffers buffers(machine);
  const absl::Status status = buffers.Do(
      [&](void* stream) { return (*matmul)->Run(AddressesOf(buffers, spec), buffers.at(kWorkspaceAt), stream); });
  ASSERT_TRUE(status.ok()) << status;
  for (int64_t i = 0; i < spec.rows; ++i) {
    for (int64_t j = 0; j < spec.columns; ++j) {
      const float x = SumOf(before, spec, i, j) + before.values(kBiasAt)[j];
      EXPECT_EQ(buffers.values(kKeptAt)[i * spec.columns + j], x);
      const double gelu = 0.5 * x * (1 + std::tanh(std::sqrt(2 / 3.14159265358979) * (x + 0.044715 * x * x * x)));
      EXPECT_NEAR(buffers.values(kResultAt)[i * spec.result.row_stride + j], gelu, 1e-5);
    }
  }
  EXPECT_THAT(machine.driver.complaints(), IsEmpty());
}

TEST(MatmulTest, TheGradientOfABias) {
  GpuMatmulSpec spec = Small();
  spec.bias_gradient = true;
  Machine machine({.time_algorithms = false});
  const auto matmul = machine.matmuls().Create(spec);
  ASSERT_TRUE(matmul.ok()) << matmul.status();
  const Buffers before(machine);
  Buffers buffers(machine);
  const absl::Status status = buffers.Do(
      [&](void* stream) { return (*matmul)->Run(AddressesOf(buffers, spec), buffers.at(kWorkspaceAt), stream); });
  ASSERT_TRUE(status.ok()) << status;
  for (int64_t j = 0; j < spec.columns; ++j) {
    float sum = 0;
    for (int64_t k = 0; k < spec.inner; ++k) sum += before.values(kRightAt)[k * spec.right.row_stride + j];
    EXPECT_EQ(buffers.values(kBiasAt)[j], sum);
  }
}

TEST(MatmulTest, TheFastestIsTakenAndKept) {
  const std::string path = std::string(std::getenv("TEST_TMPDIR")) + "/fastest";
  std::remove(path.c_str());
  {
    Machine machine({.algorithm_file = path});
    const auto matmul = machine.matmuls().Create(Small());
    ASSERT_TRUE(matmul.ok()) << matmul.status();
    EXPECT_EQ((*matmul)->workspace_bytes(), size_t{1} << 16);  // the second choice's
    EXPECT_THAT(machine.driver.complaints(), IsEmpty());
    // The same once more is known.
    ASSERT_TRUE(machine.matmuls().Create(Small()).ok());
    EXPECT_EQ(machine.lt.heuristics(), 1);
  }
  Machine machine({.algorithm_file = path});
  const auto matmul = machine.matmuls().Create(Small());
  ASSERT_TRUE(matmul.ok()) << matmul.status();
  EXPECT_EQ((*matmul)->workspace_bytes(), size_t{1} << 16);
  EXPECT_EQ(machine.lt.products(), 1);  // which loads its code
  EXPECT_EQ(machine.lt.heuristics(), 0);
  EXPECT_THAT(machine.notes, IsEmpty());
  // Another problem, or another version of the library, is another matter.
  GpuMatmulSpec other = Small();
  other.tf32 = true;
  ASSERT_TRUE(machine.matmuls().Create(other).ok());
  EXPECT_EQ(machine.lt.heuristics(), 1);
  Machine newer({.algorithm_file = path}, {.version = 130200});
  ASSERT_TRUE(newer.matmuls().Create(Small()).ok());
  EXPECT_EQ(newer.lt.heuristics(), 1);
}

TEST(MatmulTest, WithoutTimingTheLibrarysFirstIsTakenAndNoFileIsTouched) {
  const std::string path = std::string(std::getenv("TEST_TMPDIR")) + "/untimed";
  std::remove(path.c_str());
  Machine machine({.algorithm_file = path, .time_algorithms = false});
  const auto matmul = machine.matmuls().Create(Small());
  ASSERT_TRUE(matmul.ok()) << matmul.status();
  EXPECT_EQ((*matmul)->workspace_bytes(), 256u);
  EXPECT_EQ(machine.lt.products(), 1);  // which loads its code
  EXPECT_FALSE(std::ifstream(path).good());
}

TEST(MatmulTest, ADamagedFileIsOneLine) {
  const std::string path = std::string(std::getenv("TEST_TMPDIR")) + "/broken";
  std::ofstream(path) << "no algorithms";
  Machine machine({.algorithm_file = path});
  ASSERT_TRUE(machine.matmuls().Create(Small()).ok());
  EXPECT_THAT(machine.notes, ElementsAre(HasSubstr("the file is ignored")));
}

TEST(MatmulTest, WhatFailsWhenItRunsIsLeftOut) {
  Machine machine({}, {.choices = {{1.0, 0, /*fails=*/true}, {3.0, 512}, {2.99, 1024}}});
  const auto matmul = machine.matmuls().Create(Small());
  ASSERT_TRUE(matmul.ok()) << matmul.status();
  EXPECT_EQ((*matmul)->workspace_bytes(), 512u);  // the last gains too little
}

TEST(MatmulTest, WithoutRoomToTimeTheLibrarysFirstIsTaken) {
  Machine machine({}, {}, {.memory_bytes = 64 << 10});
  const auto matmul = machine.matmuls().Create(Small());
  ASSERT_TRUE(matmul.ok()) << matmul.status();
  EXPECT_EQ((*matmul)->workspace_bytes(), 256u);
}

TEST(MatmulTest, WhatCannotBeSaidIsUnimplemented) {
  Machine machine;
  GpuMatmulSpec strided = Small();
  strided.left.column_stride = 2;
  EXPECT_EQ(machine.matmuls().Create(strided).status().message(),
            "matrix product: left operand: expected a stride of 1, got 5x3 elements at strides 2 and 5");
  GpuMatmulSpec empty = Small();
  empty.rows = 0;
  EXPECT_TRUE(absl::IsUnimplemented(machine.matmuls().Create(empty).status()));
  GpuMatmulSpec many = Small();
  many.batch = 2;
  many.gelu = true;
  EXPECT_EQ(machine.matmuls().Create(many).status().message(), "matrix product: expected no epilogue of a batch");
  // Once each, with the reason.
  EXPECT_TRUE(absl::IsUnimplemented(machine.matmuls().Create(many).status()));
  ASSERT_EQ(machine.notes.size(), 3u);
  EXPECT_EQ(machine.notes[2],
            "product of f32[3,5] by [5,8], 2 of them, gelu: not by cuBLASLt: matrix product: expected no epilogue of a "
            "batch");
  Machine other({}, {.supports = false});
  EXPECT_TRUE(absl::IsUnimplemented(other.matmuls().Create(Small()).status()));
}

TEST(MatmulTest, NothingOfTheLibraryIsLeft) {
  Machine machine;
  ASSERT_TRUE(machine.matmuls().Create(Small()).ok());
  machine.device.reset();
  EXPECT_EQ(machine.lt.alive(), 0);
  EXPECT_EQ(machine.driver.allocated_bytes(), 0);
}

TEST(MatmulTest, TheEmulationSeesWrongAddresses) {
  Machine machine({.time_algorithms = false});
  const auto matmul = machine.matmuls().Create(Small());
  ASSERT_TRUE(matmul.ok()) << matmul.status();
  Buffers buffers(machine);
  GpuMatmulAddresses addresses = AddressesOf(buffers, Small());
  addresses.left = buffers.at(kLeftAt) + 32;
  GpuMatmulAddresses outside = AddressesOf(buffers, Small());
  outside.result = buffers.at(9) - 64;
  const absl::Status status = buffers.Do([&](void* stream) {
    const absl::Status first = (*matmul)->Run(addresses, buffers.at(kWorkspaceAt), stream);
    return first.ok() ? (*matmul)->Run(outside, buffers.at(kWorkspaceAt), stream) : first;
  });
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_THAT(machine.driver.complaints(), ElementsAre("cublasLtMatmul: B: expected an alignment of 64",
                                                       "cublasLtMatmul: D: expected 96 bytes of device memory"));
}

}  // namespace
}  // namespace weft::device
