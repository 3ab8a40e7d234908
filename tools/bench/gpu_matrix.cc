// The matrix rate of GPU 0: that of the fastest of several n x n x n products, made as
// a plan's are: cuBLASLt's fastest algorithm, or our own kernel. What training rates are put beside.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "ops/cuda_kernels.h"
#include "ops/families.h"
#include "runtime/device/cuda/cublaslt.h"
#include "runtime/device/cuda/device.h"
#include "runtime/device/cuda/driver.h"

namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  int64_t n = 8192;
  int repeats = 12, products = 10;  // a repeat's, timed together
  std::string libraries;
};

// Seconds of one product.
absl::StatusOr<double> Fastest(const Options& options, weft::device::Device& device) {
  const weft::TensorSpec matrix = weft::TensorSpec::Whole(weft::DType::kBF16, {options.n, options.n});
  weft::KernelRegistry registry;
  weft::RegisterEinsumCudaKernels(registry);
  weft::KernelSpec spec{.name = "einsum", .inputs = {matrix, matrix}, .outputs = {matrix}, .gpu = device.gpu()};
  spec.attributes = {{"equation", std::string("ik,ko->io")}};
  spec.gpu_workspace = std::make_shared<weft::GpuWorkspace>();
  auto kernel = registry.Create(spec);
  if (!kernel.ok()) return kernel.status();
  const int64_t bytes = options.n * options.n * 2;
  auto memory = device.AllocateArena(3 * bytes), staging = device.AllocateHostMemory(2 * bytes);
  if (!memory.ok()) return memory.status();
  if (!staging.ok()) return staging.status();
  auto stream = device.CreateStream("bench");
  if (!stream.ok()) return stream.status();
  // Random signs and mantissas, exponents around 1: zeros would be faster than numbers are.
  auto* const words = reinterpret_cast<uint16_t*>((*staging)->base());
  uint32_t state = 1;
  for (int64_t i = 0; i < bytes; ++i) {
    state = state * 1664525u + 1013904223u;
    words[i] = static_cast<uint16_t>((state >> 16 & 0x80ff) | 0x3f00);
  }
  const void* const inputs[] = {(*memory)->base(), (*memory)->base() + bytes};
  void* const outputs[] = {(*memory)->base() + 2 * bytes};
  absl::Status status;
  const auto run = [&](int products) {
    (*stream)->Submit([&] {
      for (int i = 0; i < products && status.ok(); ++i) {
        status = (*kernel)->Run({.stream = (*stream)->handle()}, inputs, outputs);
      }
    });
    const absl::Status joined = (*stream)->Join();
    if (status.ok()) status = joined;
  };
  (*stream)->Submit([&] { status = (*stream)->Copy((*memory)->base(), (*staging)->base(), 2 * bytes); });
  run(options.products);
  double best = 1e30;
  for (int repeat = 0; repeat < options.repeats && status.ok(); ++repeat) {
    const auto begin = Clock::now();
    run(options.products);
    best = std::min(best, std::chrono::duration<double>(Clock::now() - begin).count() / options.products);
  }
  if (!status.ok()) return status;
  return best;
}

absl::StatusOr<double> Measure(const Options& options, std::string& by) {
  auto driver = weft::cuda::OpenDriver();
  if (!driver.ok()) return driver.status();
  auto cublaslt = weft::cuda::lt::OpenCublasLt(options.libraries);
  by = cublaslt.ok() ? (*cublaslt)->ToString() : "our own kernel";
  auto device = weft::device::CreateCudaDevice(**driver, 0, weft::CudaModules(),
                                               {.cublaslt = cublaslt.ok() ? cublaslt->get() : nullptr});
  if (!device.ok()) return device.status();
  return Fastest(options, **device);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--cuda-libs" && i + 1 < argc) {
      options.libraries = argv[++i];
    } else if (argument == "--n" && i + 1 < argc && std::atoi(argv[i + 1]) > 0) {
      options.n = std::atoi(argv[++i]);
    } else {
      std::fprintf(stderr, "usage: gpu_matrix [--n SIZE] [--cuda-libs FOLDER]: FLOP/s of bfloat16 products, as JSON\n");
      return 2;
    }
  }
  std::string by;
  const absl::StatusOr<double> seconds = Measure(options, by);
  if (!seconds.ok()) {
    std::fprintf(stderr, "gpu_matrix: %s\n", std::string(seconds.status().message()).c_str());
    return 1;
  }
  const auto n = static_cast<double>(options.n);
  std::printf("{\"n\": %.0f, \"flops_s\": %.6e, \"by\": \"%s\"}\n", n, 2 * n * n * n / *seconds, by.c_str());
  return 0;
}
