#include "tests/emulation/simt/gpu_testing.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/emulation/ptx/ptx.h"
#include "tests/emulation/simt/emulated.h"

namespace weft::testing {
namespace {

constexpr size_t kGuard = 256;
constexpr int kPattern = 0xff;

bool GuardIntact(const char* at) {
  for (size_t i = 0; i < kGuard; ++i) {
    if (static_cast<unsigned char>(at[i]) != kPattern) return false;
  }
  return true;
}

bool Near(double a, double b, const Bound& bound) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (a == b) return true;
  return std::fabs(a - b) <= bound.absolute + bound.relative * std::max(std::fabs(a), std::fabs(b));
}

// Where kernels run, if not in the emulation.
GpuRunner& Runner() {
  static auto* const runner = new GpuRunner();
  return *runner;
}

double LargestOf(const std::vector<Values>& inputs) {
  double largest = 1;
  for (const Values& values : inputs) {
    for (double x : values) {
      if (std::isfinite(x)) largest = std::max(largest, std::fabs(x));
    }
  }
  return largest;
}

// For a GPU's own functions, within 2 units in the last place (CUDA C++ Programming Guide,
// "Mathematical functions"), and for sums that are rounded once with the product before.
Bound Loosened(Bound bound, DType type, double largest) {
  if (type != DType::kF32 && type != DType::kBF16 && type != DType::kF16) return bound;
  const double unit = type == DType::kF32 ? 0x1.0p-23 : type == DType::kBF16 ? 0x1.0p-8 : 0x1.0p-11;
  return {.relative = bound.relative + 4 * unit, .absolute = bound.absolute + 2 * 0x1.0p-23 * largest};
}

// NaNs are equal.
bool SameBits(const std::vector<Values>& a, const std::vector<Values>& b) {
  for (size_t o = 0; o < a.size(); ++o) {
    for (size_t i = 0; i < a[o].size(); ++i) {
      if (!Near(a[o][i], b[o][i], {})) return false;
    }
  }
  return true;
}

}  // namespace

EmulatedGpu::EmulatedGpu(uint64_t order) : order_(order), modules_(EmulatedModules()) {}

absl::Status EmulatedGpu::Add(const std::string& module, const std::string& text) {
  const auto is_known = [&](const auto& it) { return it->name == module; };
  if (std::any_of(modules_.begin(), modules_.end(), is_known)) return absl::OkStatus();
  WEFT_ASSIGN_OR_RETURN(std::unique_ptr<EmulatedModule> made, ptx::Parse(module, text));
  modules_.push_back(std::move(made));
  return absl::OkStatus();
}

absl::StatusOr<void*> EmulatedGpu::Find(const std::string& module, const std::string& kernel, size_t argument_bytes,
                                        int64_t shared_bytes) {
  for (const auto& it : modules_) {
    if (it->name != module) continue;
    for (const EmulatedKernel* found : it->kernels) {
      if (kernel != found->name) continue;
      if (shared_bytes > properties_.shared_bytes) {
        return absl::UnimplementedError(absl::StrCat("kernel ", module, ".", kernel, ": expected at most ",
                                                     properties_.shared_bytes, " bytes of shared memory, got ",
                                                     shared_bytes));
      }
      if (found->argument_bytes == argument_bytes) return const_cast<EmulatedKernel*>(found);
      return absl::InvalidArgumentError(absl::StrCat("kernel ", module, ".", kernel, ": expected arguments of ",
                                                     found->argument_bytes, " bytes, got ", argument_bytes));
    }
  }
  return absl::NotFoundError(absl::StrCat("kernel ", module, ".", kernel, ": not among those that are linked"));
}

absl::StatusOr<std::shared_ptr<void>> EmulatedGpu::Allocate(size_t bytes) {
  const size_t all = kGuard + (bytes + 255) / 256 * 256 + kGuard;
  char* const memory = static_cast<char*>(std::aligned_alloc(256, all));
  std::memset(memory, kPattern, all);
  const auto release = [memory, bytes](void*) {
    const bool intact = GuardIntact(memory) && GuardIntact(memory + kGuard + bytes);
    std::free(memory);
    EXPECT_TRUE(intact) << "written around a workspace of " << bytes << " bytes";
  };
  return std::shared_ptr<void>(memory + kGuard, release);
}

absl::StatusOr<std::shared_ptr<GpuAlarm>> EmulatedGpu::CreateAlarm(
    std::function<absl::Status(const GpuAlarm&)> describe) {
  alarms_.push_back({std::make_shared<GpuAlarm>(), std::move(describe)});
  return alarms_.back().alarm;
}

absl::Status EmulatedGpu::Launch(void* kernel, const GpuGrid& grid, const void* arguments, void* stream) {
  const auto* it = static_cast<const EmulatedKernel*>(kernel);
  ++launches_;
  return it->run(*it, grid, arguments, order_);
}

absl::Status EmulatedGpu::Copy(void* to, const void* from, size_t bytes, void* stream) {
  std::memmove(to, from, bytes);
  return absl::OkStatus();
}

absl::Status EmulatedGpu::Fill(void* to, uint8_t value, size_t bytes, void* stream) {
  std::memset(to, value, bytes);
  return absl::OkStatus();
}

absl::Status EmulatedGpu::Check() const {
  for (const Alarm& it : alarms_) {
    if (it.alarm->raised != 0) return it.describe(*it.alarm);
  }
  return absl::OkStatus();
}

void SetGpuRunner(GpuRunner runner) { Runner() = std::move(runner); }

absl::StatusOr<std::vector<Values>> RunGpuKernel(const KernelRegistry& registry, KernelSpec spec,
                                                 const std::vector<Values>& inputs, const RunContext& context,
                                                 const std::vector<std::pair<int, int>>& in_place) {
  std::vector<Values> first;
  if (Runner()) {
    for (const bool again : {false, true}) {
      absl::StatusOr<std::vector<Values>> results = Runner()(registry, spec, inputs, context, in_place);
      if (!results.ok()) return results;
      if (again && !SameBits(first, *results)) {
        return absl::InternalError(absl::StrCat(spec.name, ": another result when it is run again"));
      }
      first = *std::move(results);
    }
    return first;
  }
  for (uint64_t order : {0, 1, 2}) {
    EmulatedGpu gpu(order);
    spec.gpu = &gpu;
    spec.gpu_workspace = std::make_shared<GpuWorkspace>();
    spec.gpu_step_values = std::make_shared<GpuStepValues>(&gpu);
    absl::StatusOr<std::vector<Values>> results = RunKernel(registry, spec, inputs, context, in_place);
    if (!results.ok()) return results;
    if (absl::Status status = gpu.Check(); !status.ok()) return status;
    if (order > 0 && !SameBits(first, *results)) {
      return absl::InternalError(absl::StrCat(spec.name, ": the result depends on the order of the threads"));
    }
    first = *std::move(results);
  }
  return first;
}

void ExpectTwins(const KernelRegistry& cpu, const KernelRegistry& gpu, const KernelSpec& spec,
                 const std::vector<Values>& inputs, Bound bound, const RunContext& context,
                 const std::vector<std::pair<int, int>>& in_place) {
  const auto expected = RunKernel(cpu, spec, inputs, context, in_place);
  const auto got = RunGpuKernel(gpu, spec, inputs, context, in_place);
  ASSERT_TRUE(expected.ok()) << expected.status();
  ASSERT_TRUE(got.ok()) << got.status();
  const double largest = LargestOf(inputs);
  for (size_t o = 0; o < expected->size(); ++o) {
    const Bound allowed = Runner() ? Loosened(bound, spec.outputs[o].dtype, largest) : bound;
    for (size_t i = 0; i < (*expected)[o].size(); ++i) {
      ASSERT_TRUE(Near((*expected)[o][i], (*got)[o][i], allowed))
          << spec.name << " output " << o << " " << spec.outputs[o].ToString() << " element " << i << ": expected "
          << (*expected)[o][i] << ", got " << (*got)[o][i];
    }
  }
}

}  // namespace weft::testing
