// The conformance suite on a GPU whose work is done when it is enqueued: what the
// kernels compute, and where; and which points streams wait for.
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/collective/conformance.h"
#include "runtime/collective/local/fabric.h"
#include "tests/emulation/simt/gpu_testing.h"

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
INSTANTIATE_TEST_SUITE_P(OnGpu, CollectiveAgreement, ::testing::Values(&RunOnGpu));

// Counts waits for points that are not recorded, and can hold a stream's wait up.
class WatchedGpu : public weft::testing::EmulatedGpu {
 public:
  absl::StatusOr<std::shared_ptr<void>> CreateEvent() override { return std::make_shared<char>(); }
  absl::Status Record(void* event, void* stream) override {
    std::lock_guard<std::mutex> lock(mutex_);
    recorded_.insert(event);
    return absl::OkStatus();
  }
  absl::Status Wait(void* event, void* stream) override {
    if (stream == held_stream && ++waits_ == held_wait) hold();
    std::lock_guard<std::mutex> lock(mutex_);
    if (!recorded_.contains(event)) ++unrecorded;
    return absl::OkStatus();
  }

  // Calls hold() before the held_wait-th wait of this stream.
  void* held_stream = nullptr;
  int held_wait = 0;
  std::function<void()> hold;
  std::atomic<int> unrecorded{0};

 private:
  std::mutex mutex_;
  std::set<void*> recorded_;
  std::atomic<int> waits_{0};
};

// Rank 0 is held up behind the last barrier of the first operation, between its waits for
// what ranks 1 and 2 have done, until rank 2 has posted the second one.
TEST(LocalGpuTest, WaitsForAnOperationWhoseMembersAreAtTheNext) {
  constexpr int kRanks = 3;
  WatchedGpu gpu;
  LocalFabric fabric(kRanks, 0, &gpu);
  std::vector<std::unique_ptr<Communicator>> communicators;
  std::vector<std::unique_ptr<Operation>> operations;  // first and second of each rank
  for (int r = 0; r < kRanks; ++r) {
    communicators.push_back(fabric.Join(r));
    for (int i = 0; i < 2; ++i) {
      auto made = communicators[r]->CreateCollective({"all", {0, 1, 2}}, {CollectiveSpec{.dims = {4}}});
      ASSERT_TRUE(made.ok()) << made.status();
      operations.push_back(*std::move(made));
    }
  }
  int streams[kRanks];
  gpu.held_stream = &streams[0];
  gpu.held_wait = 3;  // two for inputs, then that for rank 1
  gpu.hold = [&] {
    while (operations[5]->Waiting().empty()) std::this_thread::yield();
  };
  float values[kRanks][4] = {{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}};
  std::vector<std::thread> threads;
  for (int r = 0; r < kRanks; ++r) {
    threads.emplace_back([&, r] {
      void* const tensor = values[r];
      const void* const input = tensor;
      for (int i = 0; i < 2; ++i) {
        const absl::Status status = operations[2 * r + i]->Run({&input, 1}, {&tensor, 1}, &streams[r]);
        EXPECT_TRUE(status.ok()) << status;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(gpu.unrecorded, 0);
  for (const auto& tensor : values) EXPECT_EQ(tensor[0], 45);
}

}  // namespace
}  // namespace weft::collective
