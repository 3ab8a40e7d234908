// The conformance suite on a GPU whose work is done when it is enqueued: what the
// kernels compute, and where. The order of streams is tested in tests/cuda.
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "ops/cuda/gpu_testing.h"
#include "runtime/collective/conformance.h"
#include "runtime/collective/local/fabric.h"

namespace weft::collective {
namespace {

void RunOnGpu(int ranks, const Body& body) {
  weft::testing::EmulatedGpu gpu(/*order=*/1);
  LocalFabric fabric(ranks, 0, &gpu);
  std::vector<std::thread> threads;
  for (int r = 0; r < ranks; ++r) {
    threads.emplace_back([&, r] {
      const std::unique_ptr<Communicator> communicator = fabric.Join(r);
      body(*communicator);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

INSTANTIATE_TEST_SUITE_P(OnGpu, CollectiveConformance, ::testing::Values(&RunOnGpu));

}  // namespace
}  // namespace weft::collective
