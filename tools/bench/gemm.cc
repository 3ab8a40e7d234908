// The best rate of a float32 matrix product on some threads: what training
// rates are put beside.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "ops/abi/registry.h"
#include "ops/einsum/cpu.h"

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::atoi(argv[1]) : 1;
  weft::KernelRegistry registry;
  weft::RegisterEinsumKernels(registry);
  double best = 0;
  for (int64_t n : {1024, 2048}) {
    weft::KernelSpec spec;
    spec.name = "einsum";
    spec.inputs = {weft::TensorSpec::Whole(weft::DType::kF32, {n, n}), weft::TensorSpec::Whole(weft::DType::kF32, {n, n})};
    spec.outputs = {weft::TensorSpec::Whole(weft::DType::kF32, {n, n})};
    spec.attributes = {{"equation", std::string("ik,ko->io")}};
    spec.threads = threads;
    auto kernel = registry.Create(spec);
    if (!kernel.ok()) {
      std::fprintf(stderr, "gemm: %s\n", kernel.status().ToString().c_str());
      return 1;
    }
    float* memory = static_cast<float*>(std::aligned_alloc(64, 3 * n * n * sizeof(float)));
    for (int64_t i = 0; i < 3 * n * n; ++i) memory[i] = static_cast<float>(i % 7) - 3.0f;
    const void* inputs[] = {memory, memory + n * n};
    void* outputs[] = {memory + 2 * n * n};
    for (int repeat = 0; repeat < 8; ++repeat) {
      const auto begin = std::chrono::steady_clock::now();
      if (!(*kernel)->Run({}, inputs, outputs).ok()) return 1;
      const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
      best = std::max(best, 2.0 * double(n) * double(n) * double(n) / seconds.count() * 1e-9);
    }
    std::free(memory);
  }
  std::printf("best %.1f GFLOP/s of a matrix product on %d thread%s\n", best, threads, threads == 1 ? "" : "s");
  return 0;
}
