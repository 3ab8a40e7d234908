#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ops/abi/cpu_level.h"
#include "ops/attention/head.h"
#include "ops/families.h"
#include "tests/support/kernel_testing.h"

namespace weft {
namespace {

using testing::RandomValues;
using testing::RunKernel;
using testing::Tile;
using testing::Values;

constexpr double kEpsilon = std::numeric_limits<float>::epsilon();

// A bias or mask: the dims of the scores that it has, "bnst" or 1 in place of a letter, and its values.
struct OfScores {
  std::string word;
  Values values;
};

struct Case {
  int64_t b, s, t, n, m, d;
  bool causal;
  int64_t global_s = 0, origin = 0;  // of the queries; 0: whole
  int64_t window = 0;                // 0: none
  OfScores bias = {}, mask = {};

  int64_t rows() const { return global_s ? global_s : s; }
  // Of one row, were there no mask: the keys that are seen.
  int64_t Limit(int64_t i) const { return causal ? std::clamp<int64_t>(origin + i + 1 + t - rows(), 0, t) : t; }
  int64_t Begin(int64_t i) const { return window ? std::max<int64_t>(0, origin + i + 1 + t - rows() - window) : 0; }
  bool Sees(int64_t bi, int64_t h, int64_t i, int64_t j) const {
    return j >= Begin(i) && j < Limit(i) && (mask.word.empty() || mask.values[Place(mask.word, bi, h, i, j)] != 0);
  }
  double Bias(int64_t bi, int64_t h, int64_t i, int64_t j) const {
    return bias.word.empty() ? 0.0 : bias.values[Place(bias.word, bi, h, i, j)];
  }
  std::vector<int64_t> DimsOf(const std::string& word) const {
    std::vector<int64_t> dims;
    for (char letter : word)
      dims.push_back(letter == 'b' ? b : letter == 'n' ? n : letter == 's' ? s : letter == 't' ? t : 1);
    return dims;
  }
  int64_t SizeOf(const std::string& word) const {
    int64_t size = 1;
    for (int64_t extent : DimsOf(word)) size *= extent;
    return size;
  }
  size_t Place(const std::string& word, int64_t bi, int64_t h, int64_t i, int64_t j) const {
    const std::vector<int64_t> dims = DimsOf(word);
    const int64_t at[] = {bi, h, i, j};
    int64_t place = 0;
    for (size_t d = 0; d < 4; ++d) place = place * dims[d] + (dims[d] == 1 ? 0 : at[d]);
    return static_cast<size_t>(place);
  }
  // The inputs of a kernel: `others`, the bias and the mask.
  std::vector<Values> Inputs(std::vector<Values> others) const {
    for (const OfScores* it : {&bias, &mask}) {
      if (!it->word.empty()) others.push_back(it->values);
    }
    return others;
  }
  double scale() const { return 1 / std::sqrt(static_cast<double>(d)); }
  int64_t q_size() const { return b * s * n * d; }
  int64_t k_size() const { return b * t * m * d; }
  int64_t Q(int64_t bi, int64_t i, int64_t h, int64_t c) const { return ((bi * s + i) * n + h) * d + c; }
  int64_t K(int64_t bi, int64_t j, int64_t h, int64_t c) const { return ((bi * t + j) * m + h) * d + c; }
  int64_t L(int64_t bi, int64_t h, int64_t i) const { return (bi * n + h) * s + i; }
  // A score is scale times a sum of d products of numbers up to 1; its error changes p relatively.
  double PError() const { return kEpsilon * (2 * scale() * static_cast<double>(d * (d + 2)) + 8); }
};

// `c` with a bias and a mask of these dims, or none where a word is empty. The mask hides a third of the keys, and with
// `blind` every key of the first row of its values.
Case With(Case c, const std::string& bias, const std::string& mask, bool blind = false) {
  if (!bias.empty()) c.bias = {bias, RandomValues(c.SizeOf(bias), 8, -1, 1)};
  if (mask.empty()) return c;
  c.mask = {mask, RandomValues(c.SizeOf(mask), 9, 0, 1)};
  const size_t last = static_cast<size_t>(c.DimsOf(mask)[3]);
  for (size_t i = 0; i < c.mask.values.size(); ++i)
    c.mask.values[i] = c.mask.values[i] > 1.0 / 3 && !(blind && i < last);
  return c;
}

// A value and the sum of the magnitudes of its terms, by which rounding errors are bounded.
struct Sums {
  explicit Sums(int64_t n = 0) : value(n, 0.0), magnitude(n, 0.0) {}
  void Add(int64_t at, double term) {
    value[at] += term;
    magnitude[at] += std::fabs(term);
  }
  Values value, magnitude;
};

struct Forward {
  Sums out;
  Values lse;
};

// p of one row, zeros for keys that it does not see.
Values Probabilities(const Case& c, const Values& q, const Values& k, int64_t bi, int64_t h, int64_t i, double* lse) {
  constexpr double kHidden = -std::numeric_limits<double>::infinity();
  Values p(c.t, 0.0);
  double largest = kHidden, sum = 0;
  for (int64_t j = 0; j < c.t; ++j) {
    for (int64_t e = 0; e < c.d; ++e) p[j] += q[c.Q(bi, i, h, e)] * k[c.K(bi, j, h / (c.n / c.m), e)];
    p[j] = c.Sees(bi, h, i, j) ? p[j] * c.scale() + c.Bias(bi, h, i, j) : kHidden;
    largest = std::max(largest, p[j]);
  }
  for (double x : p) sum += std::exp(x - (std::isinf(largest) ? 0 : largest));
  *lse = largest + std::log(sum);
  for (double& x : p) x = std::isinf(*lse) ? 0 : std::exp(x - *lse);
  return p;
}

Forward ReferenceForward(const Case& c, const Values& q, const Values& k, const Values& v) {
  Forward result{Sums(c.q_size()), Values(c.b * c.n * c.s)};
  for (int64_t bi = 0; bi < c.b; ++bi) {
    for (int64_t h = 0; h < c.n; ++h) {
      for (int64_t i = 0; i < c.s; ++i) {
        const Values p = Probabilities(c, q, k, bi, h, i, &result.lse[c.L(bi, h, i)]);
        for (size_t j = 0; j < p.size(); ++j) {
          for (int64_t e = 0; e < c.d; ++e) {
            result.out.Add(c.Q(bi, i, h, e), p[j] * v[c.K(bi, j, h / (c.n / c.m), e)]);
          }
        }
      }
    }
  }
  return result;
}

struct Backward {
  Sums dq, dk, dv, dbias;
};

// By the product rule, without the shortcut delta = rowsum(dout * out) of the kernel:
// ds_j = p_j (dp_j - sum_l p_l dp_l), dp_j = dout . v_j.
Backward ReferenceBackward(const Case& c, const Values& dout, const Values& q, const Values& k, const Values& v) {
  Backward result{Sums(c.q_size()), Sums(c.k_size()), Sums(c.k_size()), Sums(c.bias.values.size())};
  for (int64_t bi = 0; bi < c.b; ++bi) {
    for (int64_t h = 0; h < c.n; ++h) {
      const int64_t kh = h / (c.n / c.m);
      for (int64_t i = 0; i < c.s; ++i) {
        double lse;
        const Values p = Probabilities(c, q, k, bi, h, i, &lse);
        Values dp(p.size(), 0.0);
        double mean = 0;
        for (size_t j = 0; j < p.size(); ++j) {
          for (int64_t e = 0; e < c.d; ++e) dp[j] += dout[c.Q(bi, i, h, e)] * v[c.K(bi, j, kh, e)];
          mean += p[j] * dp[j];
        }
        for (size_t j = 0; j < p.size(); ++j) {
          // The rounding error of dp - mean is not bounded by its value but by its terms'.
          const double ds = c.scale() * p[j] * (dp[j] - mean);
          const double extent = c.scale() * p[j] * std::sqrt(static_cast<double>(c.d));
          if (!c.bias.word.empty()) {
            const size_t at = c.Place(c.bias.word, bi, h, i, j);
            result.dbias.Add(at, ds / c.scale());
            result.dbias.magnitude[at] += extent / c.scale();
          }
          for (int64_t e = 0; e < c.d; ++e) {
            const int64_t at_q = c.Q(bi, i, h, e), at_k = c.K(bi, j, kh, e);
            result.dv.Add(at_k, p[j] * dout[at_q]);
            result.dq.Add(at_q, ds * k[at_k]);
            result.dk.Add(at_k, ds * q[at_q]);
            result.dq.magnitude[at_q] += extent;
            result.dk.magnitude[at_k] += extent;
          }
        }
      }
    }
  }
  return result;
}

// Sums of `terms` floats whose terms have the relative error `term_error`.
void ExpectWithin(const Values& got, const Sums& want, double term_error, int64_t terms, const std::string& what) {
  ASSERT_EQ(got.size(), want.value.size()) << what;
  for (size_t i = 0; i < got.size(); ++i) {
    const double bound = (term_error + kEpsilon * static_cast<double>(terms)) * want.magnitude[i] + 1e-30;
    ASSERT_NEAR(got[i], want.value[i], bound) << what << " element " << i;
  }
}

KernelSpec SpecOf(const Case& c, const std::string& name, int threads) {
  KernelSpec spec;
  spec.name = name;
  spec.attributes = {{"causal", int64_t{c.causal}}, {"scale", c.scale()}};
  if (c.window) spec.attributes.Set("window", c.window);
  spec.threads = threads;
  const TensorSpec q = Tile(DType::kF32, {c.b, c.s, c.n, c.d}, {c.b, c.rows(), c.n, c.d}, {0, c.origin, 0, 0});
  const TensorSpec lse = Tile(DType::kF32, {c.b, c.n, c.s}, {c.b, c.n, c.rows()}, {0, 0, c.origin});
  const TensorSpec k = TensorSpec::Whole(DType::kF32, {c.b, c.t, c.m, c.d});
  if (name == "attention") {
    spec.inputs = {q, k, k};
    spec.outputs = {q, lse};
  } else {
    spec.inputs = {q, q, k, k, q, lse};
    spec.outputs = {q, k, k};
  }
  for (const OfScores* it : {&c.bias, &c.mask}) {
    if (it->word.empty()) continue;
    std::vector<int64_t> dims = c.DimsOf(it->word), whole = dims;
    if (it->word[2] == 's') whole[2] = c.rows();
    spec.inputs.push_back(
        Tile(it == &c.bias ? DType::kF32 : DType::kU8, dims, whole, {0, 0, it->word[2] == 's' ? c.origin : 0, 0}));
  }
  if (name == "attention_bias_grad") spec.outputs = {spec.inputs[6]};
  return spec;
}

const KernelRegistry& Registry() {
  static const KernelRegistry* registry = [] {
    auto* r = new KernelRegistry;
    RegisterAttentionKernels(*r);
    return r;
  }();
  return *registry;
}

const std::vector<Case>& Cases() {
  static const auto* cases = new std::vector<Case>{{1, 1, 1, 1, 1, 1, true},
                                                   {1, 1, 1, 1, 1, 1, false},
                                                   {2, 5, 5, 2, 2, 3, true},
                                                   {2, 5, 7, 4, 2, 8, false},
                                                   {1, 70, 70, 2, 2, 64, true},
                                                   {2, 131, 131, 2, 1, 64, true},
                                                   {1, 97, 300, 3, 1, 17, true},
                                                   {1, 97, 300, 3, 1, 17, false},
                                                   {1, 60, 40, 2, 2, 16, true},
                                                   {1, 64, 128, 2, 2, 80, true, 128, 64},
                                                   {1, 33, 100, 2, 1, 32, true, 100, 0},
                                                   {1, 34, 100, 2, 1, 32, true, 100, 33},
                                                   {1, 256, 256, 2, 2, 65, true},
                                                   {1, 3, 129, 1, 1, 128, true},
                                                   {1, 70, 70, 2, 2, 64, true, 0, 0, 1},
                                                   {1, 300, 300, 2, 1, 8, true, 0, 0, 37},
                                                   {1, 64, 300, 2, 2, 16, true, 300, 128, 150},
                                                   With({2, 5, 7, 4, 2, 8, false}, "bnst", ""),
                                                   With({2, 5, 7, 4, 2, 8, false}, "", "bnst", true),
                                                   With({3, 60, 150, 4, 2, 16, false}, "1nst", "b11t", true),
                                                   With({2, 60, 150, 2, 2, 16, true}, "b11t", "1ns1"),
                                                   With({2, 33, 100, 2, 1, 32, true, 100, 33}, "11st", "b1st"),
                                                   With({2, 97, 300, 3, 1, 17, true, 0, 0, 64}, "1n1t", "bn1t"),
                                                   With({2, 150, 60, 2, 2, 8, false}, "1nst", "11s1", true)};
  return *cases;
}

std::string Name(const Case& c, int threads) {
  return "b" + std::to_string(c.b) + " s" + std::to_string(c.s) + " t" + std::to_string(c.t) + " n" +
         std::to_string(c.n) + " m" + std::to_string(c.m) + " d" + std::to_string(c.d) + (c.causal ? " causal" : "") +
         " window " + std::to_string(c.window) + " bias " + c.bias.word + " mask " + c.mask.word + " origin " +
         std::to_string(c.origin) + " threads " + std::to_string(threads);
}

TEST(AttentionTest, MatchesPlainLoops) {
  for (const Case& c : Cases()) {
    const Values q = RandomValues(c.q_size(), 1), k = RandomValues(c.k_size(), 2), v = RandomValues(c.k_size(), 3);
    const Forward want = ReferenceForward(c, q, k, v);
    for (int threads : {1, 2, 5}) {
      SCOPED_TRACE(Name(c, threads));
      auto got = RunKernel(Registry(), SpecOf(c, "attention", threads), c.Inputs({q, k, v}));
      ASSERT_TRUE(got.ok()) << got.status().message();
      ExpectWithin((*got)[0], want.out, c.PError(), c.t + 8, "out");
      for (size_t i = 0; i < want.lse.size(); ++i) {
        if (std::isinf(want.lse[i])) {
          ASSERT_EQ((*got)[1][i], want.lse[i]);
        } else {
          ASSERT_NEAR((*got)[1][i], want.lse[i], c.PError() + kEpsilon * (c.t + std::fabs(want.lse[i])));
        }
      }
    }
  }
}

TEST(AttentionTest, TheLogSumIsOptional) {
  const Case c{1, 9, 9, 2, 2, 8, true};
  KernelSpec spec = SpecOf(c, "attention", 1);
  const std::vector<Values> inputs = {RandomValues(c.q_size(), 1), RandomValues(c.k_size(), 2),
                                      RandomValues(c.k_size(), 3)};
  auto both = RunKernel(Registry(), spec, inputs);
  spec.outputs.pop_back();
  auto one = RunKernel(Registry(), spec, inputs);
  ASSERT_TRUE(both.ok() && one.ok());
  EXPECT_EQ((*both)[0], (*one)[0]);
}

TEST(AttentionTest, LargeScoresDoNotOverflow) {
  const Case c{1, 40, 200, 1, 1, 16, true};
  Values q = RandomValues(c.q_size(), 1), k = RandomValues(c.k_size(), 2), v = RandomValues(c.k_size(), 3);
  for (double& x : q) x *= 4096;
  auto got = RunKernel(Registry(), SpecOf(c, "attention", 1), {q, k, v});
  ASSERT_TRUE(got.ok());
  const Forward want = ReferenceForward(c, q, k, v);
  for (size_t i = 0; i < want.out.value.size(); ++i) ASSERT_NEAR((*got)[0][i], want.out.value[i], 4096 * c.PError());
}

TEST(AttentionGradTest, TheReferenceIsTheDerivative) {
  Case c = With({2, 3, 4, 2, 1, 3, true}, "1nst", "b11t");
  Values dout = RandomValues(c.q_size(), 4);
  std::vector<Values> x = {RandomValues(c.q_size(), 1), RandomValues(c.k_size(), 2), RandomValues(c.k_size(), 3),
                           c.bias.values};
  const Backward grad = ReferenceBackward(c, dout, x[0], x[1], x[2]);
  const Sums* grads[] = {&grad.dq, &grad.dk, &grad.dv, &grad.dbias};
  auto loss = [&] {
    c.bias.values = x[3];
    const Forward f = ReferenceForward(c, x[0], x[1], x[2]);
    double sum = 0;
    for (size_t i = 0; i < dout.size(); ++i) sum += dout[i] * f.out.value[i];
    return sum;
  };
  constexpr double kStep = 1e-5;
  for (int which = 0; which < 4; ++which) {
    for (size_t i = 0; i < x[which].size(); ++i) {
      const double at = x[which][i];
      x[which][i] = at + kStep;
      const double above = loss();
      x[which][i] = at - kStep;
      const double below = loss();
      x[which][i] = at;
      ASSERT_NEAR(grads[which]->value[i], (above - below) / (2 * kStep), 1e-8) << which << " " << i;
    }
  }
}

TEST(AttentionGradTest, MatchesPlainLoops) {
  for (const Case& c : Cases()) {
    const Values q = RandomValues(c.q_size(), 1), k = RandomValues(c.k_size(), 2), v = RandomValues(c.k_size(), 3);
    const Values dout = RandomValues(c.q_size(), 4);
    const Forward forward = ReferenceForward(c, q, k, v);
    const Backward want = ReferenceBackward(c, dout, q, k, v);
    std::vector<Values> first;
    for (int threads : {1, 2}) {
      SCOPED_TRACE(Name(c, threads));
      auto got = RunKernel(Registry(), SpecOf(c, "attention_grad", threads),
                           c.Inputs({dout, q, k, v, forward.out.value, forward.lse}));
      ASSERT_TRUE(got.ok()) << got.status().message();
      const double error = c.PError() + 4 * kEpsilon * static_cast<double>(c.d);
      ExpectWithin((*got)[0], want.dq, error, c.t, "dq");
      ExpectWithin((*got)[1], want.dk, error, c.s * c.n / c.m, "dk");
      ExpectWithin((*got)[2], want.dv, error, c.s * c.n / c.m, "dv");
      if (first.empty()) first = *got;
      EXPECT_EQ(*got, first) << "threads change the result";
    }
  }
}

TEST(AttentionBiasGradTest, MatchesPlainLoops) {
  for (const Case& c : Cases()) {
    if (c.bias.word.empty()) continue;
    const Values q = RandomValues(c.q_size(), 1), k = RandomValues(c.k_size(), 2), v = RandomValues(c.k_size(), 3);
    const Values dout = RandomValues(c.q_size(), 4);
    const Forward forward = ReferenceForward(c, q, k, v);
    const Sums want = ReferenceBackward(c, dout, q, k, v).dbias;
    const double error = c.PError() + 4 * kEpsilon * static_cast<double>(c.d);
    const int64_t terms = c.b * c.n * c.s * c.t / c.SizeOf(c.bias.word);
    std::vector<Values> first;
    for (int threads : {1, 2, 5}) {
      SCOPED_TRACE(Name(c, threads));
      auto got = RunKernel(Registry(), SpecOf(c, "attention_bias_grad", threads),
                           c.Inputs({dout, q, k, v, forward.out.value, forward.lse}));
      ASSERT_TRUE(got.ok()) << got.status().message();
      ExpectWithin((*got)[0], want, error, terms, "dbias");
      if (first.empty()) first = *got;
      EXPECT_EQ(*got, first) << "threads change the result";
    }
  }
}

// As where the keys lie in a cache that is not full: what is there of keys that nobody sees does not matter.
TEST(AttentionTest, KeysBehindTheLastThatIsSeenAreNotRead) {
  for (int64_t seen : {1, 100, 128, 140}) {
    Case c = With({1, 5, 400, 2, 2, 8, false}, "", "b1st");
    std::fill(c.mask.values.begin(), c.mask.values.end(), 0.0);
    for (int64_t i = 0; i < c.s; ++i) {
      for (int64_t j = 0; j < std::max<int64_t>(seen - i, 1); ++j) c.mask.values[c.Place("b1st", 0, 0, i, j)] = 1;
    }
    const Values q = RandomValues(c.q_size(), 1), k = RandomValues(c.k_size(), 2), v = RandomValues(c.k_size(), 3);
    const Forward want = ReferenceForward(c, q, k, v);
    Values unread = v;
    std::fill(unread.begin() + 256 * c.m * c.d, unread.end(), std::numeric_limits<double>::quiet_NaN());
    for (int threads : {1, 3}) {
      const auto got = RunKernel(Registry(), SpecOf(c, "attention", threads), c.Inputs({q, k, unread}));
      ASSERT_TRUE(got.ok());
      for (size_t e = 0; e < want.out.value.size(); ++e) EXPECT_NEAR((*got)[0][e], want.out.value[e], 1e-5) << seen;
    }
  }
}

// Also where what is added is -infinity, as some write a mask: no number is NaN.
TEST(AttentionTest, RowsThatSeeNoKeyAreZeros) {
  Case c = With({1, 3, 20, 1, 1, 8, false}, "b1st", "b1st");
  std::fill(c.mask.values.begin(), c.mask.values.end(), 1.0);
  for (int64_t j = 0; j < c.t; ++j) {
    c.mask.values[c.Place("b1st", 0, 0, 0, j)] = 0;
    c.bias.values[c.Place("b1st", 0, 0, 2, j)] = -std::numeric_limits<double>::infinity();
  }
  const Values q = RandomValues(c.q_size(), 1), k = RandomValues(c.k_size(), 2), v = RandomValues(c.k_size(), 3);
  const auto got = RunKernel(Registry(), SpecOf(c, "attention", 1), c.Inputs({q, k, v}));
  ASSERT_TRUE(got.ok());
  const auto inputs = c.Inputs({q, q, k, v, (*got)[0], (*got)[1]});
  const auto grad = RunKernel(Registry(), SpecOf(c, "attention_grad", 1), inputs);
  const auto bias_grad = RunKernel(Registry(), SpecOf(c, "attention_bias_grad", 1), inputs);
  ASSERT_TRUE(grad.ok() && bias_grad.ok());
  for (int64_t row : {0, 2}) {
    EXPECT_EQ((*got)[1][row], -std::numeric_limits<double>::infinity());
    for (int64_t e = 0; e < c.d; ++e) {
      EXPECT_EQ((*got)[0][c.Q(0, row, 0, e)], 0);
      EXPECT_EQ((*grad)[0][c.Q(0, row, 0, e)], 0);
    }
    for (int64_t j = 0; j < c.t; ++j) EXPECT_EQ((*bias_grad)[0][c.Place("b1st", 0, 0, row, j)], 0);
  }
  for (const auto* results : {&*grad, &*bias_grad}) {
    for (const Values& values : *results) {
      EXPECT_TRUE(std::all_of(values.begin(), values.end(), [](double x) { return std::isfinite(x); }));
      EXPECT_TRUE(std::any_of(values.begin(), values.end(), [](double x) { return x != 0; }));
    }
  }
}

// `spec` with tensors of `type` where they are of the operands' type: all but lse, bias and mask.
KernelSpec Typed(KernelSpec spec, DType type) {
  for (size_t i = 0; i < (spec.name == "attention" ? 3 : 5); ++i) spec.inputs[i].dtype = type;
  if (spec.name == "attention_bias_grad") return spec;
  for (TensorSpec& tensor : spec.outputs) {
    if (tensor.rank() == 4) tensor.dtype = type;
  }
  return spec;
}

double Rounded(double x, DType type) {
  const auto value = static_cast<float>(x);
  return type == DType::kBF16 ? ToFloat(ToBFloat16(value)) : ToFloat(ToFloat16(value));
}

// In bfloat16 and float16 the kernels compute what they compute in float, and round it once.
TEST(AttentionTest, HalvesAreFloatsRounded) {
  for (const Case& c : Cases()) {
    for (const DType type : {DType::kBF16, DType::kF16}) {
      const auto draw = [&](int64_t n, uint64_t seed) { return RandomValues(n, seed, -1, 1, type); };
      const Values q = draw(c.q_size(), 1), k = draw(c.k_size(), 2), v = draw(c.k_size(), 3),
                   dout = draw(c.q_size(), 4), out = draw(c.q_size(), 5), lse = RandomValues(c.b * c.n * c.s, 6, 3, 5);
      const std::vector<Values> backward = c.Inputs({dout, q, k, v, out, lse});
      std::vector<std::pair<std::string, std::vector<Values>>> kernels = {{"attention", c.Inputs({q, k, v})},
                                                                          {"attention_grad", backward}};
      if (!c.bias.word.empty()) kernels.push_back({"attention_bias_grad", backward});
      for (const auto& [name, inputs] : kernels) {
        SCOPED_TRACE(name + " " + Name(c, 5));
        const KernelSpec spec = SpecOf(c, name, 5), half = Typed(spec, type);
        const auto want = RunKernel(Registry(), spec, inputs), got = RunKernel(Registry(), half, inputs);
        ASSERT_TRUE(want.ok() && got.ok()) << got.status().message();
        for (size_t o = 0; o < want->size(); ++o) {
          for (size_t i = 0; i < (*want)[o].size(); ++i) {
            const double x = (*want)[o][i];
            ASSERT_EQ((*got)[o][i], half.outputs[o].dtype == type ? Rounded(x, type) : x) << o << " " << i;
          }
        }
      }
    }
  }
}

// The kernels take the newest level the CPU has; the others must agree with it.
TEST(HeadTest, LevelsAgree) {
  if (!CpuHasLevel4()) GTEST_SKIP() << "no AVX-512";
  using attention::HeadFunctions;
  const attention::HeadShape shape = {75, 150, 24, 0.2f, true, 76, 90, 0, 150};
  const int64_t q_size = shape.queries * shape.depth, k_size = shape.keys * shape.depth;
  auto floats = [](int64_t n, uint64_t seed) {
    const Values values = RandomValues(n, seed);
    return std::vector<float>(values.begin(), values.end());
  };
  const std::vector<float> q = floats(q_size, 1), k = floats(k_size, 2), v = floats(k_size, 3),
                           dout = floats(q_size, 4);
  std::vector<std::vector<float>> results;
  for (const HeadFunctions* f : {&attention::v3::Functions(), &attention::v4::Functions()}) {
    std::vector<float> scratch(std::max(f->forward_scratch(shape), f->backward_scratch(shape)) + 16);
    float* aligned = scratch.data() + (64 - reinterpret_cast<uintptr_t>(scratch.data()) % 64) % 64 / 4;
    std::vector<float> all(2 * q_size + 2 * k_size + shape.queries);
    float* out = all.data();
    float* dq = out + q_size;
    float* dk = dq + q_size;
    float* dv = dk + k_size;
    float* lse = dv + k_size;
    const int64_t d = shape.depth;
    f->forward(shape, {{q.data(), d}, {k.data(), d}, {v.data(), d}, {out, d}, lse}, 0, shape.queries, aligned);
    const attention::QueryGradient head = {{q.data(), d}, {out, d}, {dout.data(), d}, lse, {dq, d}};
    f->backward(shape, {{k.data(), d}, {v.data(), d}, {dk, d}, {dv, d}, &head, 1}, aligned);
    results.push_back(all);
  }
  for (size_t i = 0; i < results[0].size(); ++i) ASSERT_NEAR(results[0][i], results[1][i], 2e-5) << i;
}

// Whole heads on one rank and tiles of rows alike.
TEST(UnfusedAttentionTest, IsAttention) {
  for (const Case& c : Cases()) {
    const Values q = RandomValues(c.q_size(), 1), k = RandomValues(c.k_size(), 2), v = RandomValues(c.k_size(), 3);
    const Values dout = RandomValues(c.q_size(), 4);
    const Forward forward = ReferenceForward(c, q, k, v);
    const Backward backward = ReferenceBackward(c, dout, q, k, v);
    const TensorSpec weights = Tile(DType::kF32, {c.b, c.n, c.s, c.t}, {c.b, c.n, c.rows(), c.t}, {0, 0, c.origin, 0});
    for (int threads : {1, 2}) {
      SCOPED_TRACE(Name(c, threads));
      KernelSpec spec = SpecOf(c, "attention", threads), grad = SpecOf(c, "attention_grad", threads);
      spec.name = "attention_unfused", grad.name = "attention_unfused_grad";
      spec.outputs[1] = grad.inputs[5] = weights;
      const auto got = RunKernel(Registry(), spec, c.Inputs({q, k, v}));
      ASSERT_TRUE(got.ok()) << got.status().message();
      ExpectWithin((*got)[0], forward.out, c.PError(), c.t + 8, "out");
      for (int64_t row = 0; row < c.b * c.n * c.s; ++row) {
        double sum = 0, lse = 0;
        const int64_t i = row % c.s, head = row / c.s % c.n;
        const Values p = Probabilities(c, q, k, row / c.s / c.n, head, i, &lse);
        for (int64_t j = 0; j < c.t; ++j) {
          const double want = p[j];
          ASSERT_NEAR((*got)[1][row * c.t + j], want, (c.PError() + kEpsilon * (c.t + 8)) * want) << row << " " << j;
          sum += want;
        }
        if (!std::isinf(lse)) ASSERT_NEAR(sum, 1, 1e-9);
      }
      const std::vector<Values> inputs = c.Inputs({dout, q, k, v, forward.out.value, (*got)[1]});
      const auto gradients = RunKernel(Registry(), grad, inputs);
      ASSERT_TRUE(gradients.ok()) << gradients.status().message();
      const double error = c.PError() + 4 * kEpsilon * static_cast<double>(c.d);
      ExpectWithin((*gradients)[0], backward.dq, error, c.t, "dq");
      ExpectWithin((*gradients)[1], backward.dk, error, c.s * c.n / c.m, "dk");
      ExpectWithin((*gradients)[2], backward.dv, error, c.s * c.n / c.m, "dv");
      if (c.bias.word.empty()) continue;
      grad.name = "attention_unfused_bias_grad";
      grad.outputs = {grad.inputs[6]};
      const auto dbias = RunKernel(Registry(), grad, inputs);
      ASSERT_TRUE(dbias.ok()) << dbias.status().message();
      ExpectWithin((*dbias)[0], backward.dbias, error, c.b * c.n * c.s * c.t / c.SizeOf(c.bias.word), "dbias");
    }
  }
}

TEST(AttentionTest, RefusesWhatItCannotDo) {
  const Case c{1, 4, 4, 3, 2, 8, true};
  EXPECT_THAT(std::string(Registry().Create(SpecOf(c, "attention", 1)).status().message()),
              ::testing::HasSubstr("expected query heads to be a multiple of key heads, got 3 and 2"));
  KernelSpec spec = SpecOf({1, 4, 4, 2, 2, 8, true}, "attention", 1);
  spec.inputs[1] = spec.inputs[2] = Tile(DType::kF32, {1, 4, 2, 8}, {1, 8, 2, 8}, {0, 4, 0, 0});
  EXPECT_THAT(std::string(Registry().Create(spec).status().message()),
              ::testing::HasSubstr("expected all keys on each rank"));
  const auto error = [](const KernelSpec& of) { return std::string(Registry().Create(of).status().message()); };
  KernelSpec masked = SpecOf(With({2, 4, 6, 2, 2, 8, false}, "bnst", "b11t"), "attention", 1);
  masked.attributes.Set("window", int64_t{0});
  EXPECT_THAT(error(masked), ::testing::HasSubstr("attribute `window`: expected `causal` beside it"));
  masked.attributes.Set("causal", int64_t{1});
  EXPECT_THAT(error(masked), ::testing::HasSubstr("attribute `window`: expected 1 to"));
  masked.inputs[3].dims[3] = 5;
  EXPECT_THAT(error(masked), ::testing::HasSubstr("input 3: expected dim 3 to be 6, got f32[2,2,4,5]"));
  masked.inputs[3].dims[3] = 6;
  masked.inputs[4].dtype = DType::kI32;
  EXPECT_THAT(error(masked), ::testing::HasSubstr("input 4: expected u8, got i32[2,1,1,6]"));
}

}  // namespace
}  // namespace weft
