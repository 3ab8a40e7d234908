// The best rate of a float32 matrix product on some threads, by Weft's einsum or
// oneDNN's, whichever is faster: what training rates are put beside.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "oneapi/dnnl/dnnl.h"
#include "ops/abi/registry.h"
#include "ops/families.h"

extern "C" void omp_set_num_threads(int threads);

namespace {

// GFLOP/s of the fastest of a few products of n x n matrices.
template <typename Product>
double BestRate(int64_t n, Product&& product) {
  double best = 0;
  for (int repeat = 0; repeat < 8; ++repeat) {
    const auto begin = std::chrono::steady_clock::now();
    if (!product()) return 0;
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    best = std::max(best, 2.0 * static_cast<double>(n) * n * n / seconds.count() * 1e-9);
  }
  return best;
}

double EinsumRate(int64_t n, int threads, const float* a, const float* b, float* c) {
  weft::KernelRegistry registry;
  weft::RegisterEinsumKernels(registry);
  const weft::TensorSpec matrix = weft::TensorSpec::Whole(weft::DType::kF32, {n, n});
  weft::KernelSpec spec;
  spec.name = "einsum";
  spec.inputs = {matrix, matrix};
  spec.outputs = {matrix};
  spec.attributes = {{"equation", std::string("ik,ko->io")}};
  spec.threads = threads;
  auto kernel = registry.Create(spec);
  if (!kernel.ok()) return 0;
  const void* inputs[] = {a, b};
  void* outputs[] = {c};
  return BestRate(n, [&] { return (*kernel)->Run({}, inputs, outputs).ok(); });
}

double LibraryRate(int64_t n, const float* a, const float* b, float* c) {
  return BestRate(n, [&] { return dnnl_sgemm('N', 'N', n, n, n, 1, a, n, b, n, 0, c, n) == dnnl_success; });
}

}  // namespace

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::atoi(argv[1]) : 1;
  omp_set_num_threads(threads);
  double einsum = 0, library = 0;
  for (int64_t n : {1024, 2048}) {
    std::vector<float> memory(3 * n * n);
    for (int64_t i = 0; i < 3 * n * n; ++i) memory[i] = static_cast<float>(i % 7) - 3.0f;
    float* const a = memory.data();
    einsum = std::max(einsum, EinsumRate(n, threads, a, a + n * n, a + 2 * n * n));
    library = std::max(library, LibraryRate(n, a, a + n * n, a + 2 * n * n));
  }
  std::printf("best %.1f GFLOP/s of a matrix product on %d thread%s (einsum %.1f, oneDNN %.1f)\n",
              std::max(einsum, library), threads, threads == 1 ? "" : "s", einsum, library);
  return einsum > 0 && library > 0 ? 0 : 1;
}
