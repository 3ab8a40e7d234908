#include "ops/abi/parallel.h"

#include <algorithm>
#include <atomic>

// The fork-join entry of libgomp (the OpenMP runtime that the distribution's
// oneDNN links), opened by openmp.cc. Calling it directly lets any compiler share
// that pool; a second OpenMP runtime in the process would fight over the cores.
extern "C" void GOMP_parallel(void (*function)(void*), void* data, unsigned threads, unsigned flags);
extern "C" int omp_get_thread_num(void);
extern "C" int omp_get_num_threads(void);

namespace weft::parallel_internal {
namespace {

struct Job {
  int64_t count;
  RangeFunction function;
  void* body;
  // libgomp orders the threads at fork and join by means that the thread
  // sanitizer cannot see; this says the same in its words.
  std::atomic<int> order{0};
};

void RunShare(void* data) {
  Job& job = *static_cast<Job*>(data);
  job.order.load(std::memory_order_acquire);
  const int64_t team = omp_get_num_threads();
  const int64_t index = omp_get_thread_num();
  const int64_t begin = job.count * index / team;
  const int64_t end = job.count * (index + 1) / team;
  if (begin < end) job.function(job.body, begin, end);
  job.order.fetch_add(1, std::memory_order_release);
}

}  // namespace

void ParallelRanges(int threads, int64_t count, int64_t grain, RangeFunction function, void* body) {
  if (count <= 0) return;
  const int64_t useful = std::max<int64_t>(1, count / std::max<int64_t>(1, grain));
  const int64_t team = std::min<int64_t>(std::max(threads, 1), useful);
  if (team == 1) {
    function(body, 0, count);
    return;
  }
  Job job{count, function, body};
  job.order.store(0, std::memory_order_release);
  GOMP_parallel(RunShare, &job, static_cast<unsigned>(team), 0);
  job.order.load(std::memory_order_acquire);
}

}  // namespace weft::parallel_internal
