#include "tools/run/peak.h"

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "runtime/trace/timeline.h"

namespace weft::run {
namespace {

constexpr int64_t kSize = 768;
// Long enough to wake the threads and to meet a quiet moment.
constexpr int64_t kMeasureNs = 150'000'000;

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};

}  // namespace

std::optional<double> MeasurePeak(const KernelRegistry& kernels, DType dtype, int threads) {
  const TensorSpec matrix = TensorSpec::Whole(dtype, {kSize, kSize});
  const KernelSpec spec{.name = "einsum",
                        .inputs = {matrix, matrix},
                        .outputs = {matrix},
                        .attributes = {{"equation", std::string("ik,ko->io")}},
                        .threads = threads};
  const absl::StatusOr<std::unique_ptr<Kernel>> kernel = kernels.Create(spec);
  if (!kernel.ok()) return std::nullopt;
  std::unique_ptr<char, Free> memory(static_cast<char*>(std::aligned_alloc(64, 3 * matrix.bytes())));
  std::fill_n(memory.get(), 3 * matrix.bytes(), 0);
  const void* const inputs[] = {memory.get(), memory.get() + matrix.bytes()};
  void* const outputs[] = {memory.get() + 2 * matrix.bytes()};
  double best_s = 1e30;
  const int64_t end = trace::NowNs() + kMeasureNs;
  for (int64_t begin = trace::NowNs(); begin < end; begin = trace::NowNs()) {
    if (!(*kernel)->Run({}, inputs, outputs).ok()) return std::nullopt;
    best_s = std::min(best_s, static_cast<double>(trace::NowNs() - begin) * 1e-9);
  }
  return 2.0 * kSize * kSize * kSize / best_s;
}

}  // namespace weft::run
