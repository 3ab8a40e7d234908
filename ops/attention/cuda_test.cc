#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ops/abi/float_types.h"
#include "ops/abi/gpu_attention.h"
#include "ops/families.h"
#include "tests/emulation/simt/gpu_testing.h"

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
  int64_t window = 0;                // 0: none
  std::string bias = "", mask = "";  // dims of the scores, "bnst" or 1 in place of a letter; empty: none

  std::vector<int64_t> DimsOf(const std::string& word) const {
    std::vector<int64_t> dims;
    for (char letter : word) {
      dims.push_back(letter == 'b' ? b : letter == 'n' ? n : letter == 's' ? s : letter == 't' ? t : 1);
    }
    return dims;
  }
  // The inputs of a kernel: `others`, the bias and the mask, which hides a third of the keys and all from some rows.
  std::vector<Values> Inputs(std::vector<Values> others) const {
    const auto draw = [&](const std::string& word, uint64_t seed) {
      int64_t size = 1;
      for (int64_t extent : DimsOf(word)) size *= extent;
      return RandomValues(size, seed, -1, 1);
    };
    if (!bias.empty()) others.push_back(draw(bias, 8));
    if (mask.empty()) return others;
    Values seen = draw(mask, 9);
    const size_t keys = static_cast<size_t>(DimsOf(mask)[3]);
    for (size_t i = 0; i < seen.size(); ++i) seen[i] = seen[i] > -1.0 / 3 && i / keys % 5 != 4;
    others.push_back(seen);
    return others;
  }

  // What is added to a score, given Inputs({}): -infinity where the row does not see the key.
  double Added(const std::vector<Values>& more, int64_t bi, int64_t h, int64_t i, int64_t j) const {
    const auto at = [&](const std::string& word, const Values& values) {
      const std::vector<int64_t> dims = DimsOf(word);
      const int64_t indices[] = {bi, h, i, j};
      int64_t place = 0;
      for (size_t d = 0; d < 4; ++d) place = place * dims[d] + (dims[d] == 1 ? 0 : indices[d]);
      return values[static_cast<size_t>(place)];
    };
    constexpr double kHidden = -std::numeric_limits<double>::infinity();
    const int64_t limit = causal ? origin + i + 1 + t - rows() : t;
    if (j >= limit || (window > 0 && j < limit - window)) return kHidden;
    if (!mask.empty() && at(mask, more.back()) == 0) return kHidden;
    return bias.empty() ? 0.0 : at(bias, more.front());
  }

  int64_t rows() const { return global_s ? global_s : s; }
  int64_t q_size() const { return b * s * n * d; }
  int64_t k_size() const { return b * t * m * d; }
  std::string Name() const {
    return "b" + std::to_string(b) + " s" + std::to_string(s) + " t" + std::to_string(t) + " n" + std::to_string(n) +
           " m" + std::to_string(m) + " d" + std::to_string(d) + (causal ? " causal" : "") + " origin " +
           std::to_string(origin) + " window " + std::to_string(window) + " bias " + bias + " mask " + mask;
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
  if (name != "attention") {
    spec.inputs = {q, q, k, k, q, lse};
    spec.outputs = {q, k, k};
  }
  if (c.window > 0) spec.attributes.Set("window", c.window);
  for (const auto& [word, of] : {std::pair(c.bias, DType::kF32), std::pair(c.mask, DType::kU8)}) {
    if (word.empty()) continue;
    std::vector<int64_t> whole = c.DimsOf(word);
    const int64_t origin = word[2] == 's' ? c.origin : 0;
    if (word[2] == 's') whole[2] = c.rows();
    spec.inputs.push_back(Tile(of, c.DimsOf(word), whole, {0, 0, origin, 0}));
  }
  if (name == "attention_bias_grad") spec.outputs = {spec.inputs[6]};
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
                                                   {1, 150, 70, 2, 2, 64, false},
                                                   {2, 70, 90, 2, 1, 128, false},
                                                   {1, 160, 40, 1, 1, 64, true},
                                                   {1, 80, 210, 2, 2, 128, true, 210, 130},
                                                   {1, 40, 200, 3, 1, 64, true, 200, 80},
                                                   {1, 40, 102, 1, 1, 64, true},
                                                   {1, 40, 102, 1, 1, 128, true},
                                                   {1, 65, 65, 1, 1, 65, false},
                                                   {2, 70, 70, 2, 2, 100, true},
                                                   {1, 40, 40, 1, 1, 200, true},
                                                   {1, 3, 35, 1, 1, 256, true}};
  return *cases;
}

// With a bias, a mask or a window, which have kernels of their own.
const std::vector<Case>& AdjustedCases() {
  static const auto* cases = new std::vector<Case>{
      {1, 70, 70, 2, 2, 64, true, 0, 0, 1},
      {1, 150, 150, 2, 1, 24, true, 0, 0, 37},
      {1, 64, 200, 2, 2, 16, true, 200, 70, 90},
      {2, 5, 7, 4, 2, 8, false, 0, 0, 0, "bnst", ""},
      {2, 5, 7, 4, 2, 8, false, 0, 0, 0, "", "bnst"},
      {3, 40, 90, 4, 2, 16, false, 0, 0, 0, "1nst", "b11t"},
      {2, 40, 70, 2, 2, 80, true, 0, 0, 0, "b11t", "1ns1"},
      {2, 33, 100, 2, 1, 32, true, 100, 33, 0, "11st", "b1st"},
      {2, 70, 70, 3, 1, 17, true, 0, 0, 20, "1n1t", "bn1t"},
      {2, 70, 40, 2, 2, 200, false, 0, 0, 0, "1ns1", "11s1"},
      {2, 20, 40, 2, 2, 8, false, 0, 0, 0, "1n11", ""},
  };
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

TEST(AttentionCudaTest, AdjustedScoresAgreeWithTheirTwin) {
  for (const Case& c : AdjustedCases()) {
    SCOPED_TRACE(c.Name());
    const Inputs in = InputsOf(c);
    ExpectTwins(Cpu(), Cuda(), SpecOf(c, "attention"), c.Inputs({in.q, in.k, in.v}), BoundFor(c, c.t));
    const auto forward = RunKernel(Cpu(), SpecOf(c, "attention"), c.Inputs({in.q, in.k, in.v}));
    ASSERT_TRUE(forward.ok());
    const std::vector<Values> inputs = c.Inputs({in.dout, in.q, in.k, in.v, (*forward)[0], (*forward)[1]});
    ExpectTwins(Cpu(), Cuda(), SpecOf(c, "attention_grad"), inputs, BoundFor(c, std::max(c.t, c.s * c.n / c.m) * c.d));
    if (c.bias.empty()) continue;
    ExpectTwins(Cpu(), Cuda(), SpecOf(c, "attention_bias_grad"), inputs, BoundFor(c, c.b * c.n * c.s * c.t * c.d));
  }
}

// A half has this much error at most, relative to what it stands for.
double UnitOf(DType type) { return type == DType::kBF16 ? 0x1.0p-8 : 0x1.0p-11; }

// The sums of the magnitudes of the terms of out, dq, dk and dv, by which errors of p and ds are bounded.
struct Magnitudes {
  Values out, dq, dk, dv;
};
Magnitudes MagnitudesOf(const Case& c, const Inputs& in, const Values& out, const Values& lse) {
  Magnitudes sums = {Values(c.q_size()), Values(c.q_size()), Values(c.k_size()), Values(c.k_size())};
  const double scale = 1 / std::sqrt(static_cast<double>(c.d));
  const std::vector<Values> more = c.Inputs({});
  for (int64_t row = 0; row < c.b * c.n * c.s; ++row) {
    const int64_t bi = row / (c.n * c.s), h = row / c.s % c.n, i = row % c.s;
    const int64_t q = ((bi * c.s + i) * c.n + h) * c.d;
    double delta = 0;
    for (int64_t e = 0; e < c.d; ++e) delta += in.dout[q + e] * out[q + e];
    for (int64_t j = 0; j < c.t; ++j) {
      const double added = c.Added(more, bi, h, i, j);
      if (std::isinf(added)) continue;
      const int64_t k = ((bi * c.t + j) * c.m + h / (c.n / c.m)) * c.d;
      double score = 0, dp = 0;
      for (int64_t e = 0; e < c.d; ++e) {
        score += in.q[q + e] * in.k[k + e];
        dp += in.dout[q + e] * in.v[k + e];
      }
      const double p = std::exp(score * scale + added - lse[row]), ds = scale * p * std::fabs(dp - delta);
      // That delta is of a rounded `out` is a part of it.
      const double error = scale * p * std::sqrt(static_cast<double>(c.d));
      for (int64_t e = 0; e < c.d; ++e) {
        sums.out[q + e] += p * std::fabs(in.v[k + e]);
        sums.dv[k + e] += p * std::fabs(in.dout[q + e]);
        sums.dq[q + e] += (ds + error) * std::fabs(in.k[k + e]);
        sums.dk[k + e] += (ds + error) * std::fabs(in.q[q + e]);
      }
    }
  }
  return sums;
}

// `magnitude` for what p or ds is rounded to, and the rounding of the result.
void ExpectWithin(const Values& got, const Values& want, const Values& magnitude, DType type, const char* what) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    const double bound = UnitOf(type) * (1.25 * magnitude[i] + 1.25 * std::fabs(want[i])) + 0x1.0p-18;
    ASSERT_NEAR(got[i], want[i], bound) << what << " element " << i;
  }
}

// Halves have no twin: they are compared with that of f32 on the same numbers. What forward gives is what the
// gradient takes, so that both are of one rounding.
void ExpectHalvesAgree(const Case& c, DType type) {
  SCOPED_TRACE(c.Name() + " " + NameOf(type));
  const Inputs in = InputsOf(c, DType::kBF16);
  const auto want = RunKernel(Cpu(), SpecOf(c, "attention"), c.Inputs({in.q, in.k, in.v}));
  const auto got = RunGpuKernel(Cuda(), SpecOf(c, "attention", type), c.Inputs({in.q, in.k, in.v}));
  ASSERT_TRUE(want.ok() && got.ok()) << got.status();
  const Magnitudes magnitudes = MagnitudesOf(c, in, (*want)[0], (*want)[1]);
  ExpectWithin((*got)[0], (*want)[0], magnitudes.out, type, "out");
  for (size_t i = 0; i < (*want)[1].size(); ++i) {
    if (!std::isinf((*want)[1][i])) {
      ASSERT_NEAR((*got)[1][i], (*want)[1][i], 0x1.0p-18) << "lse " << i;
    } else {
      ASSERT_EQ((*got)[1][i], (*want)[1][i]) << "lse " << i;
    }
  }
  const std::vector<Values> inputs = c.Inputs({in.dout, in.q, in.k, in.v, (*want)[0], (*want)[1]});
  const auto grad = RunKernel(Cpu(), SpecOf(c, "attention_grad"), inputs);
  const auto got_grad = RunGpuKernel(Cuda(), SpecOf(c, "attention_grad", type), inputs);
  ASSERT_TRUE(grad.ok() && got_grad.ok()) << got_grad.status();
  ExpectWithin((*got_grad)[0], (*grad)[0], magnitudes.dq, type, "dq");
  ExpectWithin((*got_grad)[1], (*grad)[1], magnitudes.dk, type, "dk");
  ExpectWithin((*got_grad)[2], (*grad)[2], magnitudes.dv, type, "dv");
}

TEST(AttentionCudaTest, HalvesAgreeWithFloats) {
  for (size_t i = 0; i < Cases().size(); ++i) {
    ExpectHalvesAgree(Cases()[i], DType::kBF16);
    if (i % 3 == 0) ExpectHalvesAgree(Cases()[i], DType::kF16);  // which differs in few instructions
  }
  for (const Case& c : AdjustedCases()) ExpectHalvesAgree(c, DType::kBF16);
}

// q, k and v, or their gradients, as one tensor [batch, rows, 3, heads, depth].
Values Packed(const Case& c, const std::vector<Values>& parts) {
  const auto row = static_cast<size_t>(c.n * c.d);
  Values all;
  for (size_t at = 0; at < parts[0].size(); at += row) {
    for (const Values& part : parts) all.insert(all.end(), part.begin() + at, part.begin() + at + row);
  }
  return all;
}

// That kernel, where these are one tensor.
KernelSpec PackedSpecOf(const Case& c, const std::string& name, DType type) {
  KernelSpec spec = SpecOf(c, name, type);
  spec.attributes.Set("packed", int64_t{1});
  const TensorSpec all = TensorSpec::Whole(type, {c.b, c.s, 3, c.n, c.d});
  const auto first = spec.inputs.begin() + (name == "attention" ? 0 : 1);
  *first = all;
  spec.inputs.erase(first + 1, first + 3);
  if (name == "attention_grad") spec.outputs = {all};
  return spec;
}

// On both devices, by every way of a GPU: matrix instructions, heads with zeros behind them, plain.
TEST(AttentionCudaTest, PartsOfOneTensorAreTheSameNumbers) {
  const Case cases[] = {{1, 1, 1, 1, 1, 1, true},
                        {2, 5, 5, 2, 2, 3, false},
                        {2, 70, 70, 3, 3, 64, true},
                        {1, 40, 40, 2, 2, 100, true},
                        {1, 33, 33, 2, 2, 128, false},
                        {1, 20, 20, 2, 2, 200, true},
                        {2, 40, 40, 2, 2, 16, true, 0, 0, 7, "1nst", "b11t"}};
  for (const Case& c : cases) {
    for (DType type : {DType::kF32, DType::kBF16, DType::kF16}) {
      const Inputs in = InputsOf(c, type);
      const auto run = [&](bool on_gpu, const KernelSpec& spec, const std::vector<Values>& inputs) {
        return on_gpu ? RunGpuKernel(Cuda(), spec, inputs) : RunKernel(Cpu(), spec, inputs);
      };
      for (bool on_gpu : {false, true}) {
        SCOPED_TRACE(c.Name() + " " + NameOf(type) + (on_gpu ? " GPU" : " CPU"));
        const auto apart = run(on_gpu, SpecOf(c, "attention", type), c.Inputs({in.q, in.k, in.v}));
        const auto packed = run(on_gpu, PackedSpecOf(c, "attention", type), c.Inputs({Packed(c, {in.q, in.k, in.v})}));
        ASSERT_TRUE(apart.ok() && packed.ok()) << apart.status() << packed.status();
        EXPECT_EQ(*packed, *apart);
        const Values &out = (*apart)[0], &lse = (*apart)[1];
        const auto grads =
            run(on_gpu, SpecOf(c, "attention_grad", type), c.Inputs({in.dout, in.q, in.k, in.v, out, lse}));
        const auto grad = run(on_gpu, PackedSpecOf(c, "attention_grad", type),
                              c.Inputs({in.dout, Packed(c, {in.q, in.k, in.v}), out, lse}));
        ASSERT_TRUE(grads.ok() && grad.ok()) << grads.status() << grad.status();
        EXPECT_EQ((*grad)[0], Packed(c, *grads));
      }
    }
  }
}

// That results of one kernel are near those of another, and rows without keys exactly as there.
void ExpectNear(const absl::StatusOr<std::vector<Values>>& want, const absl::StatusOr<std::vector<Values>>& got,
                double bound, const std::string& what) {
  ASSERT_TRUE(want.ok() && got.ok()) << want.status() << got.status();
  for (size_t o = 0; o < want->size(); ++o) {
    for (size_t i = 0; i < (*want)[o].size(); ++i) {
      if (std::isinf((*want)[o][i])) {
        ASSERT_EQ((*got)[o][i], (*want)[o][i]) << what << " result " << o << " " << i;
      } else {
        ASSERT_NEAR((*got)[o][i], (*want)[o][i], bound) << what << " result " << o << " " << i;
      }
    }
  }
}

// The rows of rank 2 of 4, in every turn of a ring: the kernels are those of whole keys, with other limits.
TEST(AttentionCudaTest, BlocksOfKeysAsOnTheCpu) {
  for (const auto& [window, bias] :
       {std::pair(0, ""), std::pair(50, ""), std::pair(0, "1nst"), std::pair(50, "b1st")}) {
    for (int64_t turn = 0; turn < 4; ++turn) {
      for (DType type : {DType::kF32, DType::kBF16}) {
        const Case c{1, 40, 40, 2, 1, 64, true, 160, 80, window};
        const auto spec_of = [&](const std::string& name) {
          KernelSpec spec = SpecOf(c, name, type);
          const bool gradient = name == "attention_grad";
          const TensorSpec k = Tile(type, {1, 40, 1, 64}, {1, 160, 1, 64}, {0, 80, 0, 0});
          spec.inputs[gradient ? 2 : 1] = spec.inputs[gradient ? 3 : 2] = k;
          if (gradient) spec.outputs[1] = spec.outputs[2] = k;
          spec.attributes.Set("blocks", int64_t{4});
          spec.attributes.Set("block", turn);
          const int64_t heads = bias[0] == '1' ? 2 : 1;
          if (*bias != 0)
            spec.inputs.push_back(Tile(DType::kF32, {1, heads, 40, 160}, {1, heads, 160, 160}, {0, 0, 80, 0}));
          return spec;
        };
        const Inputs in = InputsOf(c, type);
        const auto with_bias = [&](std::vector<Values> values) {
          if (*bias != 0) values.push_back(RandomValues(spec_of("attention").inputs[3].elements(), 8, -1, 1));
          return values;
        };
        const auto compare = [&, window = window, bias = bias](const std::string& name,
                                                               const std::vector<Values>& inputs) {
          ExpectNear(RunKernel(Cpu(), spec_of(name), inputs), RunGpuKernel(Cuda(), spec_of(name), inputs),
                     type == DType::kF32 ? 1e-5 : 2e-2,
                     name + " turn " + std::to_string(turn) + " window " + std::to_string(window) + " bias " + bias);
        };
        compare("attention", with_bias({in.q, in.k, in.v}));
        // The log sums of whole rows, of which a block has a part.
        const Values lse(80, 5.0);
        compare("attention_grad", with_bias({in.dout, in.q, in.k, in.v, in.q, lse}));
      }
    }
  }
}

// A vendor's library that does by the CPU's kernels what it is asked for, in bf16.
class LoopLibrary : public GpuAttentions {
 public:
  absl::StatusOr<std::unique_ptr<GpuAttention>> Create(const GpuAttentionSpec& spec) override {
    ++created;
    return std::make_unique<Loops>(spec);
  }
  int created = 0;

 private:
  class Loops : public GpuAttention {
   public:
    explicit Loops(const GpuAttentionSpec& spec) : spec_(spec) {}
    size_t workspace_bytes() const override { return 8; }
    absl::Status Run(const GpuAttentionAddresses& it, void* workspace, void* stream) override {
      std::memset(workspace, 0xff, workspace_bytes());  // it is ours
      const GpuAttentionSpec& s = spec_;
      KernelSpec spec = SpecOf({s.batch, s.queries, s.keys, s.query_heads, s.key_heads, s.depth, s.causal},
                               s.gradient ? "attention_grad" : "attention", DType::kBF16);
      spec.attributes.Set("scale", static_cast<double>(s.scale));
      const auto query = [&](const void* from) { return Rows(from, s.queries, AllQueryRows(s), s.query_heads); };
      const auto key = [&](const void* from) { return Rows(from, s.keys, AllKeyRows(s), s.key_heads); };
      std::vector<Values> inputs = {query(it.q), key(it.k), key(it.v)};
      auto* const lse = static_cast<float*>(it.lse);
      const auto rows = static_cast<size_t>(s.batch * s.query_heads * s.queries);
      if (s.gradient) {
        inputs.insert(inputs.begin(), query(it.dout));
        inputs.push_back(query(it.out));
        inputs.emplace_back(lse, lse + rows);
      }
      WEFT_ASSIGN_OR_RETURN(const std::vector<Values> made, RunKernel(Cpu(), spec, inputs));
      if (!s.gradient) {
        Write(made[0], it.out, s.queries, AllQueryRows(s), s.query_heads);
        std::copy(made[1].begin(), made[1].end(), lse);
      } else {
        Write(made[0], it.dq, s.queries, AllQueryRows(s), s.query_heads);
        Write(made[1], it.dk, s.keys, AllKeyRows(s), s.key_heads);
        Write(made[2], it.dv, s.keys, AllKeyRows(s), s.key_heads);
      }
      return absl::OkStatus();
    }

   private:
    // Where row `i` of an element of the batch begins, of `all` rows.
    size_t At(int64_t b, int64_t i, int64_t all, int64_t heads) const {
      return static_cast<size_t>((b * all + i) * heads * spec_.depth);
    }
    Values Rows(const void* from, int64_t rows, int64_t all, int64_t heads) const {
      Values values;
      for (int64_t b = 0; b < spec_.batch; ++b) {
        const auto* at = static_cast<const BFloat16*>(from) + At(b, 0, all, heads);
        for (int64_t i = 0; i < rows * heads * spec_.depth; ++i) values.push_back(Widen(at[i]));
      }
      return values;
    }
    void Write(const Values& values, void* to, int64_t rows, int64_t all, int64_t heads) const {
      for (int64_t b = 0; b < spec_.batch; ++b) {
        auto* at = static_cast<BFloat16*>(to) + At(b, 0, all, heads);
        const double* from = values.data() + At(b, 0, rows, heads);
        for (int64_t i = 0; i < rows * heads * spec_.depth; ++i) at[i] = Narrow<BFloat16>(static_cast<float>(from[i]));
      }
    }

    const GpuAttentionSpec spec_;
  };
};

class LibraryGpu : public EmulatedGpu {
 public:
  GpuAttentions* attentions() override { return &library; }
  LoopLibrary library;
};

// What ranks of a ring of 5 compute of zigzag blocks, in every turn: by our kernels and by a library's.
TEST(AttentionCudaTest, ZigzagBlocksAsOnTheCpu) {
  const Case c{2, 40, 40, 2, 1, 64, true, 200, 0};
  for (int64_t rank = 0; rank < 5; ++rank) {
    for (int64_t turn = 0; turn < 5; ++turn) {
      for (const auto& [type, by_library] :
           {std::pair(DType::kF32, false), std::pair(DType::kBF16, false), std::pair(DType::kBF16, true)}) {
        Case of_rank = c;
        of_rank.origin = 40 * rank;
        const auto spec_of = [&, type = type](const std::string& name) {
          KernelSpec spec = SpecOf(of_rank, name, type);
          const bool gradient = name == "attention_grad";
          const TensorSpec k = Tile(type, {2, 40, 1, 64}, {2, 200, 1, 64}, {0, of_rank.origin, 0, 0});
          spec.inputs[gradient ? 2 : 1] = spec.inputs[gradient ? 3 : 2] = k;
          if (gradient) spec.outputs[1] = spec.outputs[2] = k;
          spec.attributes.Set("blocks", int64_t{5});
          spec.attributes.Set("block", turn);
          spec.attributes.Set("zigzag", int64_t{1});
          return spec;
        };
        const auto on_gpu = [&, by_library = by_library](const std::string& name, const std::vector<Values>& inputs) {
          if (!by_library) return RunGpuKernel(Cuda(), spec_of(name), inputs);
          LibraryGpu gpu;
          KernelSpec spec = spec_of(name);
          spec.gpu = &gpu;
          spec.gpu_workspace = std::make_shared<GpuWorkspace>();
          auto made = RunKernel(Cuda(), spec, inputs);
          EXPECT_EQ(gpu.library.created, 1);
          return made;
        };
        const Inputs in = InputsOf(of_rank, type);
        const auto compare = [&, type = type, by_library = by_library](const std::string& name,
                                                                       const std::vector<Values>& inputs) {
          ExpectNear(RunKernel(Cpu(), spec_of(name), inputs), on_gpu(name, inputs), type == DType::kF32 ? 1e-5 : 2e-2,
                     name + " rank " + std::to_string(rank) + " turn " + std::to_string(turn) +
                         (by_library ? " by library" : ""));
        };
        compare("attention", {in.q, in.k, in.v});
        compare("attention_grad", {in.dout, in.q, in.k, in.v, in.q, Values(160, 5.0)});
      }
    }
  }
}

TEST(AttentionCudaTest, MergesAsOnTheCpu) {
  for (int64_t depth : {3, 64, 200}) {
    for (DType type : {DType::kF32, DType::kBF16, DType::kF16}) {
      const TensorSpec out = TensorSpec::Whole(DType::kF32, {2, 7, 3, depth});
      const TensorSpec lse = TensorSpec::Whole(DType::kF32, {2, 3, 7}), more = TensorSpec::Whole(type, out.dims);
      const KernelSpec spec{.name = "attention_merge", .inputs = {out, lse, more, lse}, .outputs = {out, lse}};
      std::vector<Values> inputs = {RandomValues(out.elements(), 1, -1, 1), RandomValues(42, 2, -3, 3),
                                    RandomValues(out.elements(), 3, -1, 1, type), RandomValues(42, 4, -3, 3)};
      // Rows that see no key of the one, of the other, of both.
      constexpr double kNone = -std::numeric_limits<double>::infinity();
      inputs[1][0] = inputs[3][1] = inputs[1][2] = inputs[3][2] = kNone;
      const auto want = RunKernel(Cpu(), spec, inputs), got = RunGpuKernel(Cuda(), spec, inputs);
      ExpectNear(want, got, 1e-6, "depth " + std::to_string(depth));
      EXPECT_EQ((*want)[1][2], kNone);
      EXPECT_EQ((*want)[1][0], inputs[3][0]) << "what the other set says alone";
    }
  }
}

TEST(AttentionCudaTest, LargeScoresDoNotOverflow) {
  const Case c{1, 40, 200, 1, 1, 16, true};
  Inputs in = InputsOf(c, DType::kBF16);
  for (double& x : in.q) x *= 4096;
  const auto want = RunKernel(Cpu(), SpecOf(c, "attention"), {in.q, in.k, in.v});
  for (DType type : {DType::kF32, DType::kBF16, DType::kF16}) {
    const auto got = RunGpuKernel(Cuda(), SpecOf(c, "attention", type), {in.q, in.k, in.v});
    ASSERT_TRUE(want.ok() && got.ok()) << got.status();
    for (size_t i = 0; i < in.q.size(); ++i) ASSERT_NEAR((*got)[0][i], (*want)[0][i], 0.02) << NameOf(type) << i;
  }
}

TEST(AttentionCudaTest, TheLogSumIsOptional) {
  const Case c{1, 9, 9, 2, 2, 8, true};
  const Inputs in = InputsOf(c, DType::kBF16);
  for (DType type : {DType::kF32, DType::kBF16}) {
    KernelSpec spec = SpecOf(c, "attention", type);
    const auto both = RunGpuKernel(Cuda(), spec, {in.q, in.k, in.v});
    spec.outputs.pop_back();
    const auto one = RunGpuKernel(Cuda(), spec, {in.q, in.k, in.v});
    ASSERT_TRUE(both.ok() && one.ok()) << one.status();
    EXPECT_EQ((*both)[0], (*one)[0]);
  }
}

// Keeps the names of the kernels that are asked for.
class NamingGpu : public EmulatedGpu {
 public:
  absl::StatusOr<void*> Find(const std::string& module, const std::string& kernel, size_t argument_bytes,
                             int64_t shared_bytes) override {
    names.push_back(kernel);
    return EmulatedGpu::Find(module, kernel, argument_bytes, shared_bytes);
  }
  std::vector<std::string> names;
};

std::vector<std::string> KernelsOf(KernelSpec spec) {
  NamingGpu gpu;
  spec.gpu = &gpu;
  spec.gpu_workspace = std::make_shared<GpuWorkspace>();
  const auto made = Cuda().Create(spec);
  EXPECT_TRUE(made.ok()) << made.status();
  return gpu.names;
}

TEST(AttentionCudaTest, HalvesOfWholePacksGoToMatrixInstructions) {
  using ::testing::ElementsAre;
  const Case whole{1, 9, 9, 2, 2, 80, true}, odd{1, 9, 9, 2, 2, 81, true};
  EXPECT_THAT(KernelsOf(SpecOf(whole, "attention", DType::kBF16)), ElementsAre("tensor_forward_bf16_128"));
  EXPECT_THAT(KernelsOf(SpecOf(whole, "attention_grad", DType::kF16)),
              ElementsAre("tensor_query_gradient_f16_128", "tensor_key_gradient_f16_128"));
  // Of parts of a pack they are copies with zeros behind them; longer ones there is no room for.
  EXPECT_THAT(KernelsOf(SpecOf(odd, "attention", DType::kBF16)), ElementsAre("tensor_forward_bf16_128", "resize"));
  EXPECT_THAT(KernelsOf(SpecOf(odd, "attention_grad", DType::kBF16)),
              ElementsAre("tensor_query_gradient_bf16_128", "tensor_key_gradient_bf16_128", "resize"));
  EXPECT_THAT(KernelsOf(SpecOf({1, 9, 9, 2, 2, 129, true}, "attention", DType::kBF16)),
              ElementsAre("plain_forward_bf16_256"));
  EXPECT_THAT(KernelsOf(SpecOf(odd, "attention")), ElementsAre("plain_forward_f32_128"));
  EXPECT_THAT(KernelsOf(SpecOf(whole, "attention")), ElementsAre("plain_forward_f32_128"));
  // Those of scores with a bias, a mask or a window.
  const Case biased{1, 9, 9, 2, 2, 80, true, 0, 0, 0, "1nst", ""};
  EXPECT_THAT(KernelsOf(SpecOf(biased, "attention", DType::kBF16)), ElementsAre("tensor_adjusted_forward_bf16_128"));
  EXPECT_THAT(KernelsOf(SpecOf(biased, "attention_grad", DType::kBF16)),
              ElementsAre("tensor_adjusted_query_gradient_bf16_128", "tensor_adjusted_key_gradient_bf16_128"));
  EXPECT_THAT(KernelsOf(SpecOf(biased, "attention_bias_grad", DType::kBF16)),
              ElementsAre("plain_bias_gradient_bf16_128"));
  EXPECT_THAT(KernelsOf(SpecOf(biased, "attention")), ElementsAre("plain_adjusted_forward_f32_128"));
  EXPECT_THAT(KernelsOf(SpecOf({1, 9, 9, 2, 2, 80, true, 0, 0, 4}, "attention", DType::kBF16)),
              ElementsAre("tensor_adjusted_forward_bf16_128"));
  // A running maximum of unscaled scores is one of scaled ones only if the scale is above 0.
  KernelSpec turned = SpecOf(whole, "attention", DType::kBF16);
  turned.attributes = {{"causal", int64_t{1}}, {"scale", -0.5}};
  EXPECT_THAT(KernelsOf(turned), ElementsAre("plain_forward_bf16_128"));
}

TEST(AttentionCudaTest, RefusesWhatItCannotDo) {
  const auto error = [](const KernelSpec& spec) { return std::string(Cuda().Create(spec).status().message()); };
  EmulatedGpu gpu;
  const auto spec_of = [&](const Case& c) {
    KernelSpec spec = SpecOf(c, "attention");
    spec.gpu = &gpu;
    spec.gpu_workspace = std::make_shared<GpuWorkspace>();
    return spec;
  };
  EXPECT_THAT(error(spec_of({1, 4, 4, 3, 2, 8, true})),
              ::testing::HasSubstr("expected query heads to be a multiple of key heads, got 3 and 2"));
  EXPECT_THAT(error(spec_of({1, 4, 4, 1, 1, 257, true})),
              ::testing::HasSubstr("expected a head size of 1 to 256, got 257"));
  KernelSpec mixed = spec_of({1, 4, 4, 2, 2, 8, true});
  mixed.inputs[1].dtype = DType::kBF16;
  EXPECT_THAT(error(mixed), ::testing::HasSubstr("input 1: expected f32, got bf16[1,4,2,8]"));
  KernelSpec packed = PackedSpecOf({1, 4, 4, 2, 2, 8, true}, "attention_grad", DType::kF32);
  packed.inputs[1] = packed.outputs[0] = TensorSpec::Whole(DType::kF32, {1, 4, 2, 2, 8});
  EXPECT_THAT(error(packed), ::testing::HasSubstr("input 1: expected the parts q, k and v along dim 2, got 2"));
  mixed.inputs[0].dtype = DType::kI32;
  EXPECT_THAT(error(mixed), ::testing::HasSubstr("input 0: expected f32, bf16 or f16, got i32[1,4,2,8]"));
}

}  // namespace
}  // namespace weft
