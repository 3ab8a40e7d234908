// Rates of matrix products by Weft's einsum, and in float32 by OpenBLAS where it is installed.
//   gemm THREADS [bf16]          the best of both at 1024 and 2048: what training rates are put beside
//   gemm THREADS shapes [bf16]   both at the shapes of GPT-2 124M
#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "ops/abi/registry.h"
#include "ops/abi/scratch.h"
#include "ops/families.h"

namespace {

// result[rows, columns] = left[rows, inner] * right[inner, columns], either of which may lie transposed.
struct Shape {
  int rows, columns, inner;
  bool left_transposed = false, right_transposed = false;

  int64_t left() const { return int64_t{rows} * inner; }
  int64_t right() const { return int64_t{inner} * columns; }
  int64_t result() const { return int64_t{rows} * columns; }
};

// What a product reads and writes, several times over: a step finds nothing in the caches either.
class Operands {
 public:
  explicit Operands(const Shape& shape) : shape_(shape) {
    constexpr int64_t kFloats = 64 << 20;
    count_ = std::clamp<int64_t>(kFloats / (shape.left() + shape.right() + shape.result()), 1, 20);
    const int64_t floats = count_ * (shape.left() + shape.right() + shape.result());
    memory_ = weft::Scratch<float>(static_cast<size_t>(floats));
    for (int64_t i = 0; i < floats; ++i) memory_.data()[i] = static_cast<float>(i % 7) - 3.0f;
  }

  // GFLOP/s of `product`(left, right, result) in the best of some rounds; 0 if it fails.
  template <typename Product>
  double BestRate(Product&& product) {
    double best = 0;
    for (int round = 0; round < 5; ++round) {
      const auto begin = std::chrono::steady_clock::now();
      float* at = memory_.data();
      for (int64_t i = 0; i < count_; ++i) {
        if (!product(at, at + shape_.left(), at + shape_.left() + shape_.right())) return 0;
        at += shape_.left() + shape_.right() + shape_.result();
      }
      const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
      best =
          std::max(best, 2.0 * static_cast<double>(count_ * shape_.result()) * shape_.inner / seconds.count() * 1e-9);
    }
    return best;
  }

 private:
  const Shape shape_;
  int64_t count_;
  weft::Scratch<float> memory_;  // in huge pages, as what a rank has
};

// Operands of a narrower type take the first part of theirs, whatever its bits are as such.
double EinsumRate(const Shape& shape, int threads, Operands& operands, weft::DType type = weft::DType::kF32) {
  const auto matrix = [type](int64_t rows, int64_t columns, bool transposed) {
    return transposed ? weft::TensorSpec::Whole(type, {columns, rows}) : weft::TensorSpec::Whole(type, {rows, columns});
  };
  weft::KernelRegistry registry;
  weft::RegisterEinsumKernels(registry);
  weft::KernelSpec spec;
  spec.name = "einsum";
  spec.inputs = {matrix(shape.rows, shape.inner, shape.left_transposed),
                 matrix(shape.inner, shape.columns, shape.right_transposed)};
  spec.outputs = {matrix(shape.rows, shape.columns, false)};
  spec.attributes = {{"equation", std::string(shape.left_transposed ? "ki" : "ik") + "," +
                                      (shape.right_transposed ? "ok" : "ko") + "->io"}};
  spec.threads = threads;
  auto kernel = registry.Create(spec);
  if (!kernel.ok()) return 0;
  return operands.BestRate([&](const float* left, const float* right, float* result) {
    const void* inputs[] = {left, right};
    void* outputs[] = {result};
    return (*kernel)->Run({}, inputs, outputs).ok();
  });
}

// OpenBLAS with threads of its own, by Fortran's interface: matrices by columns, everything by pointer.
class OpenBlas {
 public:
  explicit OpenBlas(int threads) {
    void* const library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return;
    sgemm_ = reinterpret_cast<Sgemm>(dlsym(library, "sgemm_"));
    const auto set_threads = reinterpret_cast<void (*)(int)>(dlsym(library, "openblas_set_num_threads"));
    if (set_threads != nullptr) set_threads(threads);
  }

  bool is_there() const { return sgemm_ != nullptr; }
  double Rate(const Shape& shape, Operands& operands) const {
    if (!is_there()) return 0;
    const int left_stride = shape.left_transposed ? shape.rows : shape.inner;
    const int right_stride = shape.right_transposed ? shape.inner : shape.columns;
    return operands.BestRate([&](const float* left, const float* right, float* result) {
      const float one = 1, zero = 0;
      sgemm_(shape.right_transposed ? "T" : "N", shape.left_transposed ? "T" : "N", &shape.columns, &shape.rows,
             &shape.inner, &one, right, &right_stride, left, &left_stride, &zero, result, &shape.columns);
      return true;
    });
  }

 private:
  using Sgemm = void (*)(const char*, const char*, const int*, const int*, const int*, const float*, const float*,
                         const int*, const float*, const int*, const float*, float*, const int*);
  Sgemm sgemm_ = nullptr;
};

// Forward, and both products of the backward, of layers with these widths, and of a head.
std::vector<Shape> ShapesOf(int tokens) {
  std::vector<Shape> shapes;
  for (const auto [in, out] : {std::pair{768, 2304}, {768, 768}, {768, 3072}, {3072, 768}}) {
    shapes.push_back({tokens, out, in});
    if (tokens < 256) continue;  // generation has no backward
    shapes.push_back({tokens, in, out, false, true});
    shapes.push_back({in, out, tokens, true, false});
  }
  shapes.push_back({tokens, 50304, 768, false, true});
  if (tokens >= 256) {
    shapes.push_back({tokens, 768, 50304});
    shapes.push_back({50304, 768, tokens, true, false});
  }
  return shapes;
}

int PrintShapes(int threads, weft::DType type, const OpenBlas& library) {
  const bool beside = library.is_there() && type == weft::DType::kF32;
  std::printf("GFLOP/s of products in %s on %d thread%s%s\n", weft::NameOf(type), threads, threads == 1 ? "" : "s",
              beside               ? "; OpenBLAS in parentheses"
              : library.is_there() ? ""
                                   : "; no libopenblas.so.0 beside them");
  for (int tokens : {1, 8, 64, 256, 1024}) {
    for (const Shape& shape : ShapesOf(tokens)) {
      Operands operands(shape);
      const double einsum = EinsumRate(shape, threads, operands, type);
      if (einsum == 0) return 1;
      std::printf("  %5d x %5d%s  %5d x %5d%s  %7.1f", shape.rows, shape.inner, shape.left_transposed ? "'" : " ",
                  shape.inner, shape.columns, shape.right_transposed ? "'" : " ", einsum);
      if (beside) {
        const double other = library.Rate(shape, operands);
        std::printf("  (%7.1f)  %5.2f", other, einsum / other);
      }
      std::printf("\n");
      std::fflush(stdout);
    }
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::atoi(argv[1]) : 1;
  const OpenBlas library(threads);
  const bool narrow = std::string(argv[argc - 1]) == "bf16";
  const weft::DType type = narrow ? weft::DType::kBF16 : weft::DType::kF32;
  if (argc > 2 && std::string(argv[2]) == "shapes") return PrintShapes(threads, type, library);
  double einsum = 0, other = 0;
  for (int n : {1024, 2048}) {
    Operands operands({n, n, n});
    einsum = std::max(einsum, EinsumRate({n, n, n}, threads, operands, type));
    if (narrow) continue;
    other = std::max(other, library.Rate({n, n, n}, operands));
  }
  std::printf("best %.1f GFLOP/s of a matrix product on %d thread%s (einsum %.1f, ", std::max(einsum, other), threads,
              threads == 1 ? "" : "s", einsum);
  if (narrow) {
    std::printf("bfloat16)\n");
  } else if (library.is_there()) {
    std::printf("OpenBLAS %.1f)\n", other);
  } else {
    std::printf("no libopenblas.so.0)\n");
  }
  return einsum > 0 ? 0 : 1;
}
