#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ops/families.h"
#include "tests/support/kernel_testing.h"

namespace weft {
namespace {

using testing::RandomValues;
using testing::RunKernel;
using testing::Values;

struct Case {
  const char* equation;
  std::map<char, int64_t> extents;
};

struct Letters {
  std::string left, right, result;
};

Letters Split(const std::string& equation) {
  const size_t comma = equation.find(','), arrow = equation.find("->");
  return {equation.substr(0, comma), equation.substr(comma + 1, arrow - comma - 1), equation.substr(arrow + 2)};
}

std::vector<int64_t> DimsOf(const Case& c, const std::string& letters) {
  std::vector<int64_t> dims;
  for (char letter : letters) dims.push_back(c.extents.at(letter));
  return dims;
}

struct Reference {
  Values value, magnitude;
  int64_t terms = 1;
};

// A loop over every letter.
Reference PlainLoops(const Case& c, const Values& a, const Values& b) {
  const Letters letters = Split(c.equation);
  std::string all = letters.result;
  for (char letter : letters.left + letters.right) {
    if (all.find(letter) == std::string::npos) all += letter;
  }
  int64_t results = 1, total = 1;
  for (char letter : letters.result) results *= c.extents.at(letter);
  for (char letter : all) total *= c.extents.at(letter);
  Reference reference = {Values(results, 0.0), Values(results, 0.0), results ? total / results : 0};
  for (int64_t i = 0; i < total; ++i) {
    std::map<char, int64_t> at;
    int64_t rest = i;
    for (auto letter = all.rbegin(); letter != all.rend(); ++letter) {
      at[*letter] = rest % c.extents.at(*letter);
      rest /= c.extents.at(*letter);
    }
    auto index = [&](const std::string& of) {
      int64_t linear = 0;
      for (char letter : of) linear = linear * c.extents.at(letter) + at[letter];
      return linear;
    };
    const double term = a[index(letters.left)] * b[index(letters.right)];
    reference.value[index(letters.result)] += term;
    reference.magnitude[index(letters.result)] += std::fabs(term);
  }
  return reference;
}

KernelSpec SpecOf(const Case& c, DType operands, DType result, int threads) {
  const Letters letters = Split(c.equation);
  KernelSpec spec;
  spec.name = "einsum";
  spec.inputs = {TensorSpec::Whole(operands, DimsOf(c, letters.left)),
                 TensorSpec::Whole(operands, DimsOf(c, letters.right))};
  spec.outputs = {TensorSpec::Whole(result, DimsOf(c, letters.result))};
  spec.attributes = {{"equation", std::string(c.equation)}};
  spec.threads = threads;
  return spec;
}

const KernelRegistry& Registry() {
  static const KernelRegistry* registry = [] {
    auto* r = new KernelRegistry;
    RegisterEinsumKernels(*r);
    return r;
  }();
  return *registry;
}

// Sums of `terms` products in float32, then rounded to the result's type: bf16 has 8 bits, f16 11 down to 2^-14.
void ExpectMatches(const Case& c, DType operands, DType result, int threads) {
  SCOPED_TRACE(std::string(c.equation) + " " + NameOf(operands) + " -> " + NameOf(result) + " threads " +
               std::to_string(threads));
  const Letters letters = Split(c.equation);
  const KernelSpec spec = SpecOf(c, operands, result, threads);
  const Values a = RandomValues(spec.inputs[0].elements(), 1, -1, 1, operands);
  const Values b = RandomValues(spec.inputs[1].elements(), 2, -1, 1, operands);
  auto got = RunKernel(Registry(), spec, {a, b});
  ASSERT_TRUE(got.ok()) << got.status().message();
  const Reference want = PlainLoops(c, a, b);
  const double sum_error = std::numeric_limits<float>::epsilon() * static_cast<double>(want.terms + 1);
  for (size_t i = 0; i < want.value.size(); ++i) {
    double bound = sum_error * want.magnitude[i];
    if (result == DType::kBF16) bound += std::ldexp(std::fabs(want.value[i]) + bound, -8);
    if (result == DType::kF16) bound += std::ldexp(std::fabs(want.value[i]) + bound, -11) + 0x1.0p-25;
    ASSERT_NEAR((*got)[0][i], want.value[i], bound) << "element " << i;
  }
}

const std::vector<Case>& Cases() {
  static const auto* cases =
      new std::vector<Case>{// GPT-2's, forward and backward.
                            {"bsh,hknd->bsknd", {{'b', 2}, {'s', 5}, {'h', 24}, {'k', 3}, {'n', 2}, {'d', 12}}},
                            {"bsnd,ndo->bso", {{'b', 2}, {'s', 7}, {'n', 3}, {'d', 8}, {'o', 24}}},
                            {"bsi,io->bso", {{'b', 3}, {'s', 5}, {'i', 17}, {'o', 33}}},
                            {"bsh,vh->bsv", {{'b', 2}, {'s', 9}, {'h', 20}, {'v', 101}}},
                            {"bsknd,hknd->bsh", {{'b', 2}, {'s', 5}, {'h', 24}, {'k', 3}, {'n', 2}, {'d', 12}}},
                            {"bsh,bsknd->hknd", {{'b', 2}, {'s', 5}, {'h', 24}, {'k', 3}, {'n', 2}, {'d', 12}}},
                            {"bsv,vh->bsh", {{'b', 2}, {'s', 9}, {'h', 20}, {'v', 101}}},
                            {"bsv,bsh->vh", {{'b', 2}, {'s', 9}, {'h', 20}, {'v', 101}}},
                            {"bsi,bso->io", {{'b', 3}, {'s', 5}, {'i', 17}, {'o', 33}}},
                            {"bso,io->bsi", {{'b', 3}, {'s', 5}, {'i', 17}, {'o', 33}}},
                            {"bso,ndo->bsnd", {{'b', 2}, {'s', 7}, {'n', 3}, {'d', 8}, {'o', 24}}},
                            {"bsnd,bso->ndo", {{'b', 2}, {'s', 7}, {'n', 3}, {'d', 8}, {'o', 24}}},
                            // Attention as products, heads inside.
                            {"bsnd,btnd->bnst", {{'b', 2}, {'s', 6}, {'t', 11}, {'n', 3}, {'d', 16}}},
                            {"bnst,btnd->bsnd", {{'b', 2}, {'s', 6}, {'t', 11}, {'n', 3}, {'d', 16}}},
                            {"bnst,bsnd->btnd", {{'b', 2}, {'s', 6}, {'t', 11}, {'n', 3}, {'d', 16}}},
                            // Axes that do not merge: in the batch for large matrices, copied for small ones.
                            {"bsh,hnd->bnsd", {{'b', 2}, {'s', 40}, {'h', 24}, {'n', 3}, {'d', 36}}},
                            {"bsh,hnd->bnsd", {{'b', 2}, {'s', 3}, {'h', 24}, {'n', 3}, {'d', 4}}},
                            {"bsh,hnd->nbsd", {{'b', 2}, {'s', 40}, {'h', 24}, {'n', 3}, {'d', 36}}},
                            {"bnsd,ndo->bso", {{'b', 2}, {'s', 7}, {'n', 3}, {'d', 8}, {'o', 24}}},
                            {"abc,cad->bd", {{'a', 3}, {'b', 5}, {'c', 7}, {'d', 9}}},
                            {"acb,acd->bad", {{'a', 3}, {'b', 5}, {'c', 7}, {'d', 9}}},
                            {"ab,bc->ca", {{'a', 13}, {'b', 5}, {'c', 31}}},
                            {"xab,xbc->acx", {{'x', 6}, {'a', 4}, {'b', 5}, {'c', 7}}},
                            {"abcd,dcef->aebf", {{'a', 3}, {'b', 4}, {'c', 5}, {'d', 6}, {'e', 2}, {'f', 3}}},
                            // Vectors, outer and element-wise products, extents of 1.
                            {"ab,b->a", {{'a', 11}, {'b', 19}}},
                            {"b,ab->a", {{'a', 11}, {'b', 19}}},
                            {"a,a->", {{'a', 300}}},
                            {"a,b->ab", {{'a', 11}, {'b', 19}}},
                            {"a,b->ba", {{'a', 11}, {'b', 19}}},
                            {"ab,ab->ab", {{'a', 5}, {'b', 7}}},
                            {"abh,h->abh", {{'a', 5}, {'b', 7}, {'h', 6}}},
                            {"bsh,hknd->bsknd", {{'b', 1}, {'s', 1}, {'h', 1}, {'k', 1}, {'n', 1}, {'d', 1}}},
                            {"bsi,io->bso", {{'b', 1}, {'s', 1}, {'i', 17}, {'o', 33}}},
                            {"bsi,io->bso", {{'b', 4}, {'s', 8}, {'i', 1}, {'o', 33}}},
                            {"bsi,io->bso", {{'b', 4}, {'s', 8}, {'i', 16}, {'o', 1}}},
                            {"bsi,bso->io", {{'b', 1}, {'s', 1}, {'i', 17}, {'o', 33}}},
                            // Long sums.
                            {"bsi,bso->io", {{'b', 4}, {'s', 700}, {'i', 9}, {'o', 33}}}};
  return *cases;
}

TEST(EinsumTest, FloatMatchesPlainLoops) {
  for (const Case& c : Cases()) {
    for (int threads : {1, 2}) ExpectMatches(c, DType::kF32, DType::kF32, threads);
  }
}

TEST(EinsumTest, BFloat16MatchesPlainLoops) {
  for (const Case& c : Cases()) {
    for (int threads : {1, 2}) {
      ExpectMatches(c, DType::kBF16, DType::kF32, threads);
      ExpectMatches(c, DType::kBF16, DType::kBF16, threads);
    }
  }
}

TEST(EinsumTest, Float16MatchesPlainLoops) {
  for (const Case& c : Cases()) {
    for (int threads : {1, 2}) {
      ExpectMatches(c, DType::kF16, DType::kF32, threads);
      ExpectMatches(c, DType::kF16, DType::kF16, threads);
    }
  }
}

// What overflows becomes infinite in the result, not on the way to it.
TEST(EinsumTest, Float16OverflowsAtTheEnd) {
  const Case c = {"ab,bc->ac", {{'a', 1}, {'b', 2}, {'c', 2}}};
  const Values a = {60000, 60000}, b = {2, 2, -1, 2};
  EXPECT_EQ(RunKernel(Registry(), SpecOf(c, DType::kF16, DType::kF16, 1), {a, b})->at(0), (Values{60000, INFINITY}));
  EXPECT_EQ(RunKernel(Registry(), SpecOf(c, DType::kF16, DType::kF32, 1), {a, b})->at(0), (Values{60000, 240000}));
}

TEST(EinsumTest, BitsDoNotDependOnThreads) {
  for (const Case& c : {Case{"bsi,bso->io", {{'b', 4}, {'s', 700}, {'i', 40}, {'o', 333}}},
                        Case{"bsi,io->bso", {{'b', 4}, {'s', 70}, {'i', 500}, {'o', 70}}},
                        Case{"bsi,io->bso", {{'b', 4}, {'s', 90}, {'i', 410}, {'o', 700}}},  // several pieces
                        Case{"bsnd,btnd->bnst", {{'b', 2}, {'s', 60}, {'t', 110}, {'n', 3}, {'d', 16}}}}) {
    for (DType operands : {DType::kF32, DType::kBF16}) {
      const KernelSpec spec = SpecOf(c, operands, DType::kF32, 1);
      const Values a = RandomValues(spec.inputs[0].elements(), 1, -1, 1, operands);
      const Values b = RandomValues(spec.inputs[1].elements(), 2, -1, 1, operands);
      auto first = RunKernel(Registry(), spec, {a, b});
      ASSERT_TRUE(first.ok());
      for (int threads : {2, 3, 7}) {
        EXPECT_EQ(*RunKernel(Registry(), SpecOf(c, operands, DType::kF32, threads), {a, b}), *first)
            << c.equation << " of " << NameOf(operands) << ", threads " << threads;
      }
    }
  }
}

// Kernels that share a workspace may be created in any order and run in turn.
TEST(EinsumTest, SharesAWorkspace) {
  // Both need copies.
  const Case small = {"xayb,xbyc->ac", {{'x', 3}, {'a', 13}, {'y', 2}, {'b', 5}, {'c', 31}}};
  const Case large = {"acb,acd->bad", {{'a', 30}, {'b', 50}, {'c', 70}, {'d', 90}}};
  auto workspace = std::make_shared<Workspace>();
  struct Made {
    std::unique_ptr<Kernel> kernel;
    std::vector<float> a, b, result;
    Reference want;
  };
  std::vector<Made> all;
  for (const Case& c : {small, large}) {
    KernelSpec spec = SpecOf(c, DType::kF32, DType::kF32, 2);
    spec.workspace = workspace;
    const Values a = RandomValues(spec.inputs[0].elements(), 1), b = RandomValues(spec.inputs[1].elements(), 2);
    all.push_back({*Registry().Create(spec),
                   {a.begin(), a.end()},
                   {b.begin(), b.end()},
                   std::vector<float>(spec.outputs[0].elements()),
                   PlainLoops(c, a, b)});
  }
  EXPECT_GT(workspace->bytes(), 0u);
  for (Made& made : all) {
    const void* inputs[] = {made.a.data(), made.b.data()};
    void* outputs[] = {made.result.data()};
    ASSERT_TRUE(made.kernel->Run({}, inputs, outputs).ok());
    for (size_t i = 0; i < made.result.size(); ++i) ASSERT_NEAR(made.result[i], made.want.value[i], 1e-4);
  }
}

TEST(EinsumTest, RefusesBadEquations) {
  auto message = [](const char* equation, std::vector<int64_t> left, std::vector<int64_t> right,
                    std::vector<int64_t> result) {
    KernelSpec spec;
    spec.name = "einsum";
    spec.inputs = {TensorSpec::Whole(DType::kF32, left), TensorSpec::Whole(DType::kF32, right)};
    spec.outputs = {TensorSpec::Whole(DType::kF32, result)};
    spec.attributes = {{"equation", std::string(equation)}};
    auto kernel = Registry().Create(spec);
    return std::string(kernel.ok() ? "created" : kernel.status().message());
  };
  using ::testing::HasSubstr;
  EXPECT_THAT(message("ab,bc", {2, 3}, {3, 4}, {2, 4}), HasSubstr("expected `left,right->result`"));
  EXPECT_THAT(message("aa,ab->b", {2, 2}, {2, 4}, {4}), HasSubstr("left operand: expected distinct letters, got `aa`"));
  EXPECT_THAT(message("ab,bc->ac", {2, 3}, {5, 4}, {2, 4}), HasSubstr("right operand: expected `b` to be 3, got 5"));
  EXPECT_THAT(message("ab,bc->ac", {2, 3, 1}, {3, 4}, {2, 4}), HasSubstr("left operand: expected rank 2, got 3"));
  EXPECT_THAT(message("abx,bc->ac", {2, 3, 5}, {3, 4}, {2, 4}), HasSubstr("got `x` in one"));
  EXPECT_THAT(message("ab,bc->acx", {2, 3}, {3, 4}, {2, 4, 5}), HasSubstr("got `x` in one"));
}

}  // namespace
}  // namespace weft
