#include "ops/abi/step_values.h"

#include <cstdlib>

#include "gtest/gtest.h"
#include "ops/abi/kernel.h"

namespace weft {
namespace {

// Memory of the host; nothing else is asked for.
class HostGpu : public Gpu {
 public:
  const GpuProperties& properties() const override { return properties_; }
  absl::StatusOr<void*> Find(const std::string&, const std::string&, size_t, int64_t) override { return None(); }
  absl::StatusOr<std::shared_ptr<void>> Allocate(size_t bytes) override {
    ++allocations;
    return std::shared_ptr<void>(std::malloc(bytes), &std::free);
  }
  absl::StatusOr<std::shared_ptr<GpuAlarm>> CreateAlarm(std::function<absl::Status(const GpuAlarm&)>) override {
    return None();
  }
  absl::Status Launch(void*, const GpuGrid&, const void*, void*) override { return None(); }
  absl::Status Copy(void*, const void*, size_t, void*) override { return None(); }
  absl::Status Fill(void*, uint8_t, size_t, void*) override { return None(); }
  absl::StatusOr<std::shared_ptr<void>> CreateEvent() override { return None(); }
  absl::Status Record(void*, void*) override { return None(); }
  absl::Status Wait(void*, void*) override { return None(); }
  absl::StatusOr<bool> Reached(void*) override { return None(); }
  int allocations = 0;

 private:
  static absl::Status None() { return absl::UnimplementedError("none"); }
  const GpuProperties properties_;
};

double Square(int64_t step) { return static_cast<double>(step * step); }

TEST(StepValuesTest, AreFilledForAStep) {
  HostGpu gpu;
  GpuStepValues values(&gpu);
  EXPECT_EQ(values.bytes(), 0u);
  const double* const square = *values.Add(&Square);
  const double* const number =
      *AddStepNumber({.name = "x", .gpu_step_values = std::shared_ptr<GpuStepValues>(&values, [](GpuStepValues*) {})});
  EXPECT_EQ(values.bytes(), 2 * sizeof(double));
  for (int64_t step : {3, 4}) {
    values.Fill(step, static_cast<double*>(values.data()));
    EXPECT_EQ(*square, step * step);
    EXPECT_EQ(*number, step);
  }
  EXPECT_EQ(gpu.allocations, 1);
}

TEST(StepValuesTest, AKeyHasOnePlace) {
  HostGpu gpu;
  GpuStepValues values(&gpu);
  const double* const first = *values.Add(&Square, "square");
  EXPECT_NE(*values.Add(&Square), first);
  EXPECT_EQ(*values.Add(&Square, "square"), first);
  EXPECT_EQ(values.bytes(), 2 * sizeof(double));
}

TEST(StepValuesTest, ThereAreOnlySoMany) {
  HostGpu gpu;
  GpuStepValues values(&gpu);
  for (size_t i = 0; i < GpuStepValues::kMost; ++i) ASSERT_TRUE(values.Add(&Square).ok());
  EXPECT_EQ(values.Add(&Square).status().message(), "numbers of a step: expected at most 512 on one stream");
}

TEST(StepValuesTest, ASpecWithoutThemIsRefused) {
  EXPECT_EQ(AddStepNumber({.name = "dropout"}).status().message(),
            "kernel `dropout`: expected memory for numbers of a step");
}

}  // namespace
}  // namespace weft
