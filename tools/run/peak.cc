#include "tools/run/peak.h"

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <thread>
#include <vector>

#include "runtime/trace/timeline.h"

namespace weft::run {
namespace {

constexpr int64_t kSize = 512;
// Time enough to warm up, and then for some runs also where other programs have
// most of the machine.
constexpr int64_t kMeasureNs = 150'000'000;
constexpr size_t kFewest = 4;

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};

// The seconds that this thread has run: not those in which others had its core.
double ThreadSeconds() {
  struct timespec time = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// The median time of a product, in seconds of this thread; nothing if it fails.
std::optional<double> SecondsOf(Kernel& kernel, int64_t bytes) {
  std::unique_ptr<char, Free> memory(static_cast<char*>(std::aligned_alloc(64, 3 * bytes)));
  std::fill_n(memory.get(), 3 * bytes, 0);
  const void* const inputs[] = {memory.get(), memory.get() + bytes};
  void* const outputs[] = {memory.get() + 2 * bytes};
  std::vector<double> times;
  const int64_t end = trace::NowNs() + kMeasureNs;
  while (times.size() < kFewest || trace::NowNs() < end) {
    const double begin = ThreadSeconds();
    if (!kernel.Run({}, inputs, outputs).ok()) return std::nullopt;
    times.push_back(ThreadSeconds() - begin);
  }
  std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
  return times[times.size() / 2];
}

}  // namespace

std::optional<double> MeasurePeak(const KernelRegistry& kernels, DType dtype, int threads) {
  const TensorSpec matrix = TensorSpec::Whole(dtype, {kSize, kSize});
  const KernelSpec spec{.name = "einsum",
                        .inputs = {matrix, matrix},
                        .outputs = {matrix},
                        .attributes = {{"equation", std::string("ik,ko->io")}},
                        .threads = 1};
  std::vector<std::unique_ptr<Kernel>> made;
  for (int t = 0; t < threads; ++t) {
    absl::StatusOr<std::unique_ptr<Kernel>> kernel = kernels.Create(spec);
    if (!kernel.ok()) return std::nullopt;
    made.push_back(*std::move(kernel));
  }
  std::vector<std::optional<double>> seconds(threads);
  std::vector<std::thread> running;
  for (int t = 0; t < threads; ++t) {
    running.emplace_back([&, t] { seconds[t] = SecondsOf(*made[t], matrix.bytes()); });
  }
  for (std::thread& thread : running) thread.join();
  double rate = 0;
  for (const std::optional<double>& it : seconds) {
    if (!it.has_value()) return std::nullopt;
    rate += 2.0 * kSize * kSize * kSize / *it;
  }
  return rate;
}

}  // namespace weft::run
