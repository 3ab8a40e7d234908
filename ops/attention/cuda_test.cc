#include "ops/attention/cuda.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ops/attention/cpu.h"
#include "ops/cuda/gpu_testing.h"

namespace weft {
namespace {

using weft::testing::EmulatedGpu;
using weft::testing::ExpectTwins;
using weft::testing::RandomValues;
using weft::testing::Registered;
using weft::testing::RunGpuKernel;
using weft::testing::RunKernel;
using weft::testing::Tile;
using weft::testing::Values;

const KernelRegistry& Cpu() { return Registered<&RegisterAttentionKernels>(); }
const KernelRegistry& Cuda() { return Registered<&RegisterAttentionCudaKernels>(); }

struct Case {
  int64_t b, s, t, n, m, d;
  bool causal;
  int64_t global_s = 0, origin = 0;  // of the queries; 0: whole

  int64_t rows() const { return global_s ? global_s : s; }
  int64_t q_size() const { return b * s * n * d; }
  int64_t k_size() const { return b * t * m * d; }
  std::string Name() const {
    return "b" + std::to_string(b) + " s" + std::to_string(s) + " t" + std::to_string(t) + " n" + std::to_string(n) +
           " m" + std::to_string(m) + " d" + std::to_string(d) + (causal ? " causal" : "") + " origin " +
           std::to_string(origin);
  }
};

KernelSpec SpecOf(const Case& c, const std::string& name, DType type = DType::kF32) {
  KernelSpec spec{.name = name,
                  .attributes = {{"causal", int64_t{c.causal}}, {"scale", 1 / std::sqrt(static_cast<double>(c.d))}}};
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

struct Inputs {
  Values q, k, v, dout;
};
Inputs InputsOf(const Case& c, DType type = DType::kF32) {
  return {RandomValues(c.q_size(), 1, -1, 1, type), RandomValues(c.k_size(), 2, -1, 1, type),
          RandomValues(c.k_size(), 3, -1, 1, type), RandomValues(c.q_size(), 4, -1, 1, type)};
}

const std::vector<Case>& Cases() {
  static const auto* cases = new std::vector<Case>{{1, 1, 1, 1, 1, 1, true},
                                                   {1, 1, 1, 1, 1, 1, false},
                                                   {2, 5, 5, 2, 2, 3, true},
                                                   {2, 5, 7, 4, 2, 8, false},
                                                   {1, 70, 70, 2, 2, 64, true},
                                                   {2, 131, 131, 2, 1, 64, true},
                                                   {1, 97, 150, 3, 1, 17, true},
                                                   {1, 97, 150, 3, 1, 17, false},
                                                   {1, 60, 40, 2, 2, 16, true},
                                                   {1, 64, 128, 2, 2, 80, true, 128, 64},
                                                   {1, 33, 100, 2, 1, 32, true, 100, 0},
                                                   {1, 34, 100, 2, 1, 32, true, 100, 33},
                                                   {1, 70, 70, 2, 2, 128, true},
                                                   {1, 65, 65, 1, 1, 65, false},
                                                   {1, 40, 40, 1, 1, 200, true},
                                                   {1, 3, 35, 1, 1, 256, true}};
  return *cases;
}

// Elements below 1, so that a score is below sqrt(d) and its error below (d + 2) 2^-24 sqrt(d); sums of at most
// `terms` terms, of which the larger have magnitudes like the result's.
weft::testing::Bound BoundFor(const Case& c, int64_t terms) {
  const double root = std::sqrt(static_cast<double>(c.d));
  return {.absolute = (static_cast<double>(terms) + 8 + 4 * root * root * root) * 0x1.0p-24};
}

TEST(AttentionCudaTest, AgreesWithItsTwin) {
  for (const Case& c : Cases()) {
    SCOPED_TRACE(c.Name());
    const Inputs in = InputsOf(c);
    ExpectTwins(Cpu(), Cuda(), SpecOf(c, "attention"), {in.q, in.k, in.v}, BoundFor(c, c.t));
  }
}

TEST(AttentionCudaTest, TheGradientAgreesWithItsTwin) {
  for (const Case& c : Cases()) {
    SCOPED_TRACE(c.Name());
    const Inputs in = InputsOf(c);
    const auto forward = RunKernel(Cpu(), SpecOf(c, "attention"), {in.q, in.k, in.v});
    ASSERT_TRUE(forward.ok());
    ExpectTwins(Cpu(), Cuda(), SpecOf(c, "attention_grad"), {in.dout, in.q, in.k, in.v, (*forward)[0], (*forward)[1]},
                BoundFor(c, std::max(c.t, c.s * c.n / c.m) * c.d));
  }
}

}  // namespace
}  // namespace weft
