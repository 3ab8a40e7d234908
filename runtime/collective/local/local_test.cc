#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/collective/conformance.h"
#include "runtime/collective/local/fabric.h"

namespace weft::collective {
namespace {

void RunThreads(int ranks, int spins, const Body& body) {
  LocalFabric fabric(ranks, spins);
  std::vector<std::thread> threads;
  for (int r = 0; r < ranks; ++r) {
    threads.emplace_back([&, r] {
      const std::unique_ptr<Communicator> communicator = fabric.Join(r);
      body(*communicator);
    });
  }
  for (std::thread& thread : threads) thread.join();
}
void RunSleeping(int ranks, const Body& body) { RunThreads(ranks, 0, body); }
void RunSpinning(int ranks, const Body& body) { RunThreads(ranks, 200, body); }

INSTANTIATE_TEST_SUITE_P(Sleeping, CollectiveConformance, testing::Values(&RunSleeping));
INSTANTIATE_TEST_SUITE_P(Sleeping, CollectiveAgreement, testing::Values(&RunSleeping));
INSTANTIATE_TEST_SUITE_P(Spinning, CollectiveConformance, testing::Values(&RunSpinning));
INSTANTIATE_TEST_SUITE_P(Spinning, CollectiveAgreement, testing::Values(&RunSpinning));

TEST(LocalTest, SaysWhoIsMissing) {
  LocalFabric fabric(3);
  std::vector<std::unique_ptr<Communicator>> ranks;
  std::vector<std::unique_ptr<Operation>> operations;
  for (int r = 0; r < 3; ++r) {
    ranks.push_back(fabric.Join(r));
    auto operation = ranks[r]->CreateCollective({.name = "data[1]", .ranks = {0, 1, 2}}, {{.dims = {4}}});
    ASSERT_TRUE(operation.ok());
    operations.push_back(*std::move(operation));
  }
  std::vector<float> data[3] = {std::vector<float>(4), std::vector<float>(4), std::vector<float>(4)};
  auto issue = [&](int r) { return RunOne(*operations[r], data[r].data(), data[r].data()); };
  {
    std::thread one([&] { EXPECT_TRUE(issue(1).ok()); }), two([&] { EXPECT_TRUE(issue(2).ok()); });
    EXPECT_TRUE(issue(0).ok());
    one.join();
    two.join();
  }
  EXPECT_EQ(operations[0]->Waiting(), "");
  std::thread zero([&] { EXPECT_EQ(issue(0).message(), "the watchdog"); });
  std::thread one([&] { EXPECT_EQ(issue(1).message(), "the watchdog"); });
  const std::string expected = "all_reduce #2 of group data[1]; rank 2 has not issued it";
  while (operations[0]->Waiting() != expected) std::this_thread::yield();
  while (operations[1]->Waiting() != expected) std::this_thread::yield();
  EXPECT_EQ(operations[2]->Waiting(), "");
  fabric.Abort(absl::DeadlineExceededError("the watchdog"));
  zero.join();
  one.join();
}

TEST(LocalTest, SaysWhatATransferWaitsFor) {
  LocalFabric fabric(2);
  const std::unique_ptr<Communicator> zero = fabric.Join(0), one = fabric.Join(1);
  const TensorBlock block{{2}, {0}, {2}};
  auto send = zero->CreateTransfer(true, DType::kF32, {{.peer = 1, .tag = 4, .block = block}});
  auto receive = one->CreateTransfer(false, DType::kF32, {{.peer = 0, .tag = 4, .block = block}});
  ASSERT_TRUE(send.ok() && receive.ok());
  std::vector<float> from = {1, 2}, to(2);
  std::thread sender([&] { EXPECT_TRUE(RunOne(**send, from.data(), nullptr).ok()); });
  while ((*send)->Waiting() != "transfer 4 #1 to rank 1, which has not received it") std::this_thread::yield();
  ASSERT_TRUE(RunOne(**receive, nullptr, to.data()).ok());
  sender.join();
  EXPECT_EQ(to, from);
  std::thread receiver([&] { EXPECT_FALSE(RunOne(**receive, nullptr, to.data()).ok()); });
  while ((*receive)->Waiting() != "transfer 4 #2 from rank 0, which has not sent it") std::this_thread::yield();
  fabric.Abort(absl::CancelledError("enough"));
  receiver.join();
}

TEST(LocalTest, TheEndsOfATransferMustAgree) {
  LocalFabric fabric(2);
  const std::unique_ptr<Communicator> zero = fabric.Join(0), one = fabric.Join(1);
  ASSERT_TRUE(zero->CreateTransfer(true, DType::kF32, {{.peer = 1, .tag = 4, .block = {{2}, {0}, {2}}}}).ok());
  EXPECT_EQ(
      one->CreateTransfer(false, DType::kF32, {{.peer = 0, .tag = 4, .block = {{4}, {0}, {3}}}}).status().message(),
      "transfer 4 from rank 0 to rank 1: the sender has f32[2], the receiver expects f32[3]");
}

}  // namespace
}  // namespace weft::collective
