// Attention by cuDNN, played by an emulation that does what the graph says: the
// numbers of the CPU's kernel and of our own, for every mask and type; what
// cuDNN does not do is done by our own.
#include <algorithm>
#include <cmath>
#include <ostream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ops/cpu_kernels.h"
#include "tests/cuda/device_run.h"
#include "tests/cuda/emulated_gpu.h"
#include "tests/support/kernel_testing.h"

namespace weft::tests {
namespace {

using cuda::dnn::EmulatedCudnnOptions;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using weft::testing::RandomValues;
using weft::testing::RunKernel;
using weft::testing::Tile;
using weft::testing::Values;

const KernelRegistry& Cpu() {
  static const auto* cpu = [] {
    auto* registry = new KernelRegistry;
    RegisterCpuKernels(*registry);
    return registry;
  }();
  return *cpu;
}

struct Case {
  int64_t b, s, t, n, m, d;
  bool causal;
  int64_t global_s = 0, origin = 0;  // of the queries; 0: whole
  double scale = 0.25;

  int64_t rows() const { return global_s ? global_s : s; }
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << "b" << c.b << "_s" << c.s << "_t" << c.t << "_n" << c.n << "_m" << c.m << "_d" << c.d
       << (c.causal ? "_causal" : "") << "_origin" << c.origin;
}

KernelSpec SpecOf(const Case& c, const std::string& name, DType type) {
  KernelSpec spec{.name = name, .attributes = {{"causal", int64_t{c.causal}}, {"scale", c.scale}}};
  const TensorSpec q = Tile(type, {c.b, c.s, c.n, c.d}, {c.b, c.rows(), c.n, c.d}, {0, c.origin, 0, 0});
  const TensorSpec lse = Tile(DType::kF32, {c.b, c.n, c.s}, {c.b, c.n, c.rows()}, {0, 0, c.origin});
  const TensorSpec k = TensorSpec::Whole(type, {c.b, c.t, c.m, c.d});
  spec.inputs = {q, k, k};
  spec.outputs = {q, lse};
  if (name == "attention_grad") {
    spec.inputs = {q, q, k, k, q, lse};
    spec.outputs = {q, k, k};
  }
  return spec;
}

// q, k, v, dout; numbers that every type has.
std::vector<Values> InputsOf(const Case& c) {
  const int64_t q = c.b * c.s * c.n * c.d, k = c.b * c.t * c.m * c.d;
  return {RandomValues(q, 1, -1, 1, DType::kBF16), RandomValues(k, 2, -1, 1, DType::kBF16),
          RandomValues(k, 3, -1, 1, DType::kBF16), RandomValues(q, 4, -1, 1, DType::kBF16)};
}

// Within some roundings of the largest element: p, ds and the results are rounded to the type.
void ExpectNear(const Values& got, const Values& want, DType type, const std::string& what) {
  ASSERT_EQ(got.size(), want.size());
  double largest = 0;
  for (double x : want) largest = std::isinf(x) ? largest : std::max(largest, std::fabs(x));
  const double bound = 3 * largest * (type == DType::kBF16 ? 0x1.0p-8 : 0x1.0p-11);
  for (size_t i = 0; i < got.size(); ++i) {
    if (got[i] == want[i]) continue;  // -infinity, of a row that sees no key
    ASSERT_NEAR(got[i], want[i], bound) << what << " element " << i;
  }
}

// Both ops on the GPU, beside the CPU's in float32 and our own kernels; the runs that were cuDNN's.
int64_t RunBoth(EmulatedGpu& gpu, const Case& c, DType type) {
  const std::vector<Values> in = InputsOf(c);
  const KernelSpec forward = SpecOf(c, "attention", DType::kF32), gradient = SpecOf(c, "attention_grad", DType::kF32);
  const auto want = RunKernel(Cpu(), forward, {in[0], in[1], in[2]});
  EXPECT_TRUE(want.ok()) << want.status();
  const std::vector<Values> saved = {in[3], in[0], in[1], in[2], (*want)[0], (*want)[1]};
  const auto want_gradient = RunKernel(Cpu(), gradient, saved);
  EXPECT_TRUE(want_gradient.ok()) << want_gradient.status();
  EmulatedGpu own({.most_delay_us = 0});
  int64_t runs = 0;
  const auto run = [&](const std::string& name, const std::vector<Values>& inputs,
                       const std::vector<Values>& expected) {
    int64_t tried = 0;
    const auto got = RunOnDevice(gpu, SpecOf(c, name, type), inputs, [&] { tried = gpu.cudnn.runs(); });
    const auto ours = RunOnDevice(own, SpecOf(c, name, type), inputs);
    ASSERT_TRUE(got.ok() && ours.ok()) << got.status() << ours.status();
    runs += gpu.cudnn.runs() - tried;
    for (size_t o = 0; o < expected.size(); ++o) {
      ExpectNear((*got)[o], expected[o], type, name + " " + std::to_string(o));
      ExpectNear((*got)[o], (*ours)[o], type, name + " beside our own " + std::to_string(o));
    }
  };
  run("attention", {in[0], in[1], in[2]}, *want);
  run("attention_grad", saved, *want_gradient);
  EXPECT_THAT(gpu.driver.complaints(), IsEmpty());
  EXPECT_THAT(gpu.cudnn.refusals(), IsEmpty());
  return runs;
}

class AttentionLibraryTest : public ::testing::TestWithParam<Case> {};

TEST_P(AttentionLibraryTest, AgreesWithTheCpuAndWithOurOwn) {
  for (const DType type : {DType::kBF16, DType::kF16}) {
    for (const bool deterministic : {false, true}) {
      EmulatedGpu gpu({.most_delay_us = 0}, /*libraries=*/true, deterministic);
      EXPECT_EQ(RunBoth(gpu, GetParam(), type), 2) << NameOf(type) << " " << ::testing::PrintToString(gpu.notes);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, AttentionLibraryTest,
                         ::testing::Values(Case{2, 5, 5, 2, 2, 8, true}, Case{2, 5, 5, 2, 2, 8, false},
                                           Case{1, 12, 20, 4, 2, 16, false}, Case{1, 12, 20, 4, 2, 16, true},
                                           Case{1, 20, 12, 3, 1, 16, false}, Case{1, 1, 9, 2, 1, 8, true},
                                           // Head sizes that are padded.
                                           Case{2, 9, 9, 2, 2, 12, true}, Case{1, 12, 20, 4, 2, 100, false},
                                           Case{1, 33, 33, 2, 1, 64, true}, Case{1, 9, 9, 2, 2, 136, true},
                                           // Rows of a split sequence: the first, which sees keys as a whole does.
                                           Case{1, 8, 24, 2, 2, 8, true, 24, 0}, Case{1, 8, 24, 2, 2, 8, true, 24, 16},
                                           // The last rows of a longer one, which see all.
                                           Case{1, 1, 16, 2, 2, 8, true, 16, 15},
                                           Case{1, 9, 9, 2, 2, 8, true, 0, 0, -0.5}));

struct Refused {
  Case shape;
  std::string why;
  int64_t runs;  // by cuDNN nevertheless: forward
  DType type = DType::kBF16;
  EmulatedCudnnOptions library = {};
  int major = 9;
  bool deterministic = true;
};

TEST(AttentionFallbackTest, WhatCudnnDoesNotDoIsDoneByOurOwnKernelAndTold) {
  EmulatedCudnnOptions old, no_plan, no_run, large;
  old.version = 91002;
  no_plan.engines = {{256, /*plan_fails=*/true}};
  no_run.engines = {{256, false, /*run_fails=*/true}};
  large.engines = {{size_t{1} << 30}};
  const Refused all[] = {
      {{1, 9, 9, 2, 2, 8, true}, "cuDNN: expected bf16 or f16, got f32", 0, DType::kF32},
      {{1, 8, 24, 2, 2, 8, true, 24, 8}, "expected a causal mask from the first key on, or to the last, got 8 rows", 0},
      {{1, 20, 12, 2, 2, 8, true}, "expected a causal mask from the first key on", 0},
      {{1, 1, 1, 2, 2, 8, true}, "expected more than one row and one key", 1},
      {{1, 9, 9, 2, 2, 8, true}, "expected a multiple of 128 keys before 9.15.1, got 9", 1, DType::kBF16, old},
      {{1, 9, 9, 2, 2, 8, true}, "expected compute capability 8.x or 9.x", 1, DType::kBF16, {}, 10},
      {{1, 9, 9, 2, 2, 8, true}, "CUDNN_STATUS_NOT_SUPPORTED_GRAPH_PATTERN", 0, DType::kBF16, no_plan},
      {{1, 9, 9, 2, 2, 8, true}, "cudnnBackendExecute: CUDNN_STATUS_NOT_SUPPORTED", 0, DType::kBF16, no_run},
      {{1, 9, 9, 2, 2, 8, true}, "expected a workspace of at most 268435456 bytes", 0, DType::kBF16, large},
  };
  for (const Refused& it : all) {
    SCOPED_TRACE(it.why);
    EmulatedGpu gpu({.major = it.major, .most_delay_us = 0}, /*libraries=*/true, it.deterministic, it.library);
    EXPECT_EQ(RunBoth(gpu, it.shape, it.type), it.runs);
    EXPECT_THAT(gpu.notes, Contains(AllOf(HasSubstr(": by our own kernel; "), HasSubstr(it.why))));
  }
}

TEST(AttentionFallbackTest, ALibraryThatDoesNotWorkHereIsLeftOut) {
  EmulatedCudnnOptions library;
  library.create = cuda::dnn::kNotSupported;
  EmulatedGpu gpu({.most_delay_us = 0}, /*libraries=*/true, false, library);
  EXPECT_EQ(RunBoth(gpu, {1, 9, 9, 2, 2, 8, true}, DType::kBF16), 0);
  EXPECT_THAT(gpu.notes,
              Contains("attention of bf16[1,9,2,8] over 9 keys of 2 heads, causal from 1: by our own kernel; "
                       "cuDNN: cudnnCreate: CUDNN_STATUS_NOT_SUPPORTED"));
}

TEST(AttentionFallbackTest, TheNextEngineIsTakenWhereTheFirstIsRefused) {
  for (const auto& first :
       {EmulatedCudnnOptions::Engine{256, true, false}, EmulatedCudnnOptions::Engine{256, false, true},
        EmulatedCudnnOptions::Engine{size_t{1} << 30, false, false}}) {
    EmulatedCudnnOptions library;
    library.engines = {first, {1 << 14}};
    EmulatedGpu gpu({.most_delay_us = 0}, /*libraries=*/true, true, library);
    EXPECT_EQ(RunBoth(gpu, {1, 9, 9, 2, 2, 8, true}, DType::kBF16), 2);
    EXPECT_EQ(gpu.cudnn.engine(), 1);
    EXPECT_THAT(gpu.notes, Contains(HasSubstr("by cuDNN, engine 1, workspace of 16384 bytes")));
  }
}

TEST(AttentionFallbackTest, NothingIsAskedOfTheLibraryWhereItHasNothingToDo) {
  EmulatedGpu gpu({.most_delay_us = 0}, /*libraries=*/true);
  EXPECT_EQ(RunBoth(gpu, {1, 9, 9, 2, 2, 8, true}, DType::kF32), 0);
  EXPECT_EQ(gpu.cudnn.alive(), 0);
}

TEST(AttentionFallbackTest, AnEngineWithoutWorkspaceIsGivenNone) {
  EmulatedCudnnOptions library;
  library.engines = {{0}};
  EmulatedGpu gpu({.most_delay_us = 0}, /*libraries=*/true, true, library);
  EXPECT_EQ(RunBoth(gpu, {1, 9, 9, 2, 2, 8, true}, DType::kBF16), 2);
  EXPECT_THAT(gpu.notes, Contains(HasSubstr("by cuDNN, engine 0, workspace of 0 bytes")));
}

TEST(AttentionFallbackTest, OneSpecIsPlannedAndToldOnce) {
  EmulatedGpu gpu({.most_delay_us = 0}, /*libraries=*/true);
  const Case shape{1, 9, 9, 2, 2, 8, true};
  RunBoth(gpu, shape, DType::kBF16);
  const int64_t plans = gpu.cudnn.plans(), alive = gpu.cudnn.alive();
  RunBoth(gpu, shape, DType::kBF16);
  EXPECT_EQ(gpu.cudnn.plans(), plans);
  EXPECT_EQ(gpu.cudnn.alive(), alive);  // packs go
  EXPECT_EQ(gpu.notes.size(), 2u);
  gpu.device.reset();
  EXPECT_EQ(gpu.cudnn.alive(), 0);
}

TEST(AttentionFallbackTest, WithoutTheLogSumTheGraphHasNone) {
  EmulatedGpu gpu({.most_delay_us = 0}, /*libraries=*/true);
  const Case shape{1, 9, 9, 2, 2, 8, true};
  const std::vector<Values> in = InputsOf(shape);
  KernelSpec spec = SpecOf(shape, "attention", DType::kBF16);
  const auto both = RunOnDevice(gpu, spec, {in[0], in[1], in[2]});
  spec.outputs.pop_back();
  const auto one = RunOnDevice(gpu, spec, {in[0], in[1], in[2]});
  ASSERT_TRUE(both.ok() && one.ok()) << one.status();
  EXPECT_EQ((*both)[0], (*one)[0]);
  EXPECT_EQ(gpu.cudnn.plans(), 2);
}

}  // namespace
}  // namespace weft::tests
