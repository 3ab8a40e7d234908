// A step does not allocate. This test replaces the C allocator of its process
// by one that counts, so it is alone in its binary.
#include <atomic>
#include <cstdlib>

#include "gtest/gtest.h"
#include "runtime/executor/local_cluster.h"
#include "tests/fixtures/linear_kernels.h"
#include "tests/fixtures/linear_plans.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define WEFT_COUNTS_ALLOCATIONS 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define WEFT_COUNTS_ALLOCATIONS 0
#endif
#endif
#ifndef WEFT_COUNTS_ALLOCATIONS
#define WEFT_COUNTS_ALLOCATIONS 1
#endif

namespace {
std::atomic<long> allocations{0};
}

#if WEFT_COUNTS_ALLOCATIONS
// glibc's own names for what is replaced; operator new calls malloc.
extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);

void* malloc(size_t size) {
  ++allocations;
  return __libc_malloc(size);
}
void* calloc(size_t count, size_t size) {
  ++allocations;
  return __libc_calloc(count, size);
}
void* realloc(void* old, size_t size) {
  ++allocations;
  return __libc_realloc(old, size);
}
void* aligned_alloc(size_t alignment, size_t size) {
  ++allocations;
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** result, size_t alignment, size_t size) {
  ++allocations;
  *result = __libc_memalign(alignment, size);
  return *result == nullptr;
}
}
#endif

namespace weft::executor {
namespace {

// Allocations of `steps` steps after one to warm up.
long Count(const plan::Plan& plan, int64_t steps) {
  KernelRegistry kernels = TestKernels();
  SampleSource source;
  trace::Timeline timeline(64);
  auto cluster = LocalCluster::Create(
      plan, {.kernels = &kernels, .source = &source, .hang_time_out = std::chrono::hours(1), .timeline = &timeline});
  EXPECT_TRUE(cluster.ok() && (*cluster)->Initialize().ok() && (*cluster)->Step(0).ok());
  const long before = allocations.load();
  for (int64_t step = 1; step <= steps; ++step) {
    const absl::Status status = (*cluster)->Step(step);
    if (!status.ok()) return -1;
  }
  return allocations.load() - before;
}

TEST(AllocationTest, TheCounterCounts) {
  if (!WEFT_COUNTS_ALLOCATIONS) GTEST_SKIP() << "a sanitizer has its own allocator";
  const long before = allocations.load();
  auto value = std::make_unique<int>(1);
  volatile int* keep = value.get();
  EXPECT_EQ(*keep, 1);
  EXPECT_EQ(allocations.load() - before, 1);
}

TEST(AllocationTest, AStepOfOneRank) { EXPECT_EQ(Count(OneRank(), 20), 0); }
TEST(AllocationTest, AStepWithCollectives) { EXPECT_EQ(Count(TwoRanks(), 20), 0); }
TEST(AllocationTest, AStepWithTransfers) { EXPECT_EQ(Count(TwoStages(), 20), 0); }

}  // namespace
}  // namespace weft::executor
