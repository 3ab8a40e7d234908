// How ranks that have an emulated GPU each begin and end with NCCL between them.
#include "tests/emulation/nccl/ranks.h"

#include <functional>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace weft::collective {
namespace {

using testing::IsEmpty;

// Calls `task` for every rank, side by side.
void OnEach(int ranks, const std::function<void(int)>& task) {
  std::vector<std::thread> threads;
  for (int r = 0; r < ranks; ++r) threads.emplace_back([&task, r] { task(r); });
  for (std::thread& thread : threads) thread.join();
}

// An all_reduce on each rank, its stream and memory.
struct Sum {
  explicit Sum(EmulatedRanks& gpus, int rank, int64_t elements = 4)
      : stream(*gpus.devices[rank]->CreateStream("test")),
        arena(*gpus.devices[rank]->AllocateArena(elements * 4)),
        operation(*gpus.communicators[rank]->CreateCollective({.name = "data[0]", .ranks = {0, 1}},
                                                              {{.dims = {elements}}})) {}
  // What the act returned, once the GPU has ended.
  absl::Status Run() {
    absl::Status status;
    stream->Submit([&] {
      const void* const input = arena->base();
      void* const output = arena->base();
      status = operation->Run({&input, 1}, {&output, 1}, stream->handle());
    });
    const absl::Status joined = stream->Join();
    return status.ok() ? joined : status;
  }
  std::unique_ptr<device::Stream> stream;
  std::unique_ptr<device::Arena> arena;
  std::unique_ptr<Operation> operation;
};

TEST(NcclRanksTest, ConnectMakesAllCommunicatorsAtOnce) {
  EmulatedRanks gpus(2);
  std::vector<std::unique_ptr<Sum>> sums;
  for (int r = 0; r < 2; ++r) sums.push_back(std::make_unique<Sum>(gpus, r));
  EXPECT_EQ(sums[0]->Run().message(), "group data[0]: expected Connect() before it is used");
  OnEach(2, [&](int r) { EXPECT_TRUE(gpus.communicators[r]->Connect().ok()); });
  OnEach(2, [&](int r) { EXPECT_TRUE(sums[r]->Run().ok()); });
  EXPECT_EQ(gpus.nccl.groups(), 2);
  EXPECT_THAT(gpus.nccl.complaints(), IsEmpty());
}

// The host is long past the call; the GPU waits for the other rank until the abort.
TEST(NcclRanksTest, AnAbortFreesTheStream) {
  EmulatedRanks gpus(2);
  std::vector<std::unique_ptr<Sum>> sums;
  for (int r = 0; r < 2; ++r) sums.push_back(std::make_unique<Sum>(gpus, r));
  OnEach(2, [&](int r) { EXPECT_TRUE(gpus.communicators[r]->Connect().ok()); });
  std::thread waits([&] { sums[0]->Run().IgnoreError(); });
  while (sums[0]->operation->Waiting() != "all_reduce #1 of group data[0]") std::this_thread::yield();
  gpus.Abort(absl::UnavailableError("rank 1 is lost"));
  waits.join();
  EXPECT_EQ(sums[0]->Run().message(), "rank 1 is lost");
  EXPECT_EQ(gpus.nccl.open(), 0);
}

// Two groups on one stream: the first call waits for another rank, and the second behind it cannot end before.
// Whichever is told first, both are told before either is waited for.
TEST(NcclRanksTest, AnAbortEndsAllCommunicatorsAtOnce) {
  for (const bool first : {false, true}) {
    EmulatedRanks gpus(2);
    const std::unique_ptr<device::Stream> stream = *gpus.devices[0]->CreateStream("test");
    const std::unique_ptr<device::Arena> arena = *gpus.devices[0]->AllocateArena(16);
    std::vector<std::unique_ptr<Operation>> operations, others;
    for (const char* name : {first ? "data[0]" : "tensor[0]", first ? "tensor[0]" : "data[0]"}) {
      const Group group{.name = name, .ranks = {0, 1}};
      operations.push_back(*gpus.communicators[0]->CreateCollective(group, {{.dims = {4}}}));
      others.push_back(*gpus.communicators[1]->CreateCollective(group, {{.dims = {4}}}));
    }
    OnEach(2, [&](int r) { EXPECT_TRUE(gpus.communicators[r]->Connect().ok()); });
    stream->Submit([&] {
      const void* const input = arena->base();
      void* const output = arena->base();
      for (auto& operation : operations) {
        EXPECT_TRUE(operation->Run({&input, 1}, {&output, 1}, stream->handle()).ok());
      }
    });
    while (gpus.nccl.groups() < 2 || operations[1]->Waiting().empty()) std::this_thread::yield();
    gpus.Abort(absl::UnavailableError("rank 1 is lost"));
    EXPECT_TRUE(stream->Join().ok());
    EXPECT_EQ(gpus.nccl.open(), 0);
  }
}

// A group's kernel has more blocks than that of a link.
TEST(NcclRanksTest, ChannelsAreBounded) {
  EmulatedRanks gpus(2);
  const Sum zero(gpus, 0), one(gpus, 1);
  const Link link{.peer = 1, .tag = 3, .block = {{4}, {0}, {4}}};
  const auto sends = gpus.communicators[0]->CreateTransfer(true, DType::kF32, {link});
  Link back = link;
  back.peer = 0;
  const auto receives = gpus.communicators[1]->CreateTransfer(false, DType::kF32, {back});
  ASSERT_TRUE(sends.ok() && receives.ok()) << sends.status() << receives.status();
  OnEach(2, [&](int r) { EXPECT_TRUE(gpus.communicators[r]->Connect().ok()); });
  EXPECT_THAT(gpus.nccl.most_ctas(), testing::ElementsAre(4, 4, 16, 16));
}

TEST(NcclRanksTest, AnAbortEndsTheWaitForMembers) {
  EmulatedRanks gpus(2);
  const Sum sum(gpus, 0);
  absl::Status status;
  std::thread connects([&] { status = gpus.communicators[0]->Connect(); });
  while (gpus.nccl.open() == 0) std::this_thread::yield();
  gpus.Abort(absl::UnavailableError("rank 1 is lost"));
  connects.join();
  EXPECT_EQ(status.message(), "rank 1 is lost");
}

TEST(NcclRanksTest, AnErrorBehindTheCallsIsFound) {
  EmulatedRanks gpus(2);
  const Sum zero(gpus, 0), one(gpus, 1);
  OnEach(2, [&](int r) { EXPECT_TRUE(gpus.communicators[r]->Connect().ok()); });
  EXPECT_TRUE(gpus.communicators[0]->Check().ok());
  gpus.nccl.FailComms(2, 0, nccl::kRemoteError, "socket closed");
  const absl::Status status = gpus.communicators[0]->Check();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(status.message(), "group data[0]: NCCL: remote process exited (socket closed)");
}

TEST(NcclRanksTest, IdsOrCommunicatorsThatCannotBeMade) {
  {
    EmulatedRanks gpus(2);
    const Sum sum(gpus, 0);
    gpus.nccl.FailCalls("GetUniqueId", nccl::kSystemError);
    EXPECT_EQ(gpus.communicators[0]->Connect().message(), "ncclGetUniqueId: NCCL: unhandled system error");
  }
  EmulatedRanks gpus(2);
  const Sum sum(gpus, 0);
  gpus.nccl.FailCalls("CommInitRankConfig", nccl::kUnhandledCudaError);
  EXPECT_EQ(gpus.communicators[0]->Connect().message(),
            "group data[0]: ncclCommInitRankConfig: NCCL: unhandled cuda error");
}

// NCCL would hang, or sum what is not there; the emulation says what differs.
TEST(NcclRanksTest, TheEmulationNamesTheFirstDifference) {
  EmulatedRanks gpus(2);
  std::vector<std::unique_ptr<Sum>> sums;
  for (int r = 0; r < 2; ++r) sums.push_back(std::make_unique<Sum>(gpus, r, r == 0 ? 4 : 8));
  OnEach(2, [&](int r) { EXPECT_TRUE(gpus.communicators[r]->Connect().ok()); });
  OnEach(2, [&](int r) { sums[r]->Run().IgnoreError(); });
  ASSERT_EQ(gpus.nccl.complaints().size(), 1u);
  EXPECT_THAT(gpus.nccl.complaints()[0], testing::AllOf(testing::HasSubstr("call #1 of a communicator of 2: member "),
                                                        testing::HasSubstr("ncclAllReduce of 4 f32 by sum"),
                                                        testing::HasSubstr("ncclAllReduce of 8 f32 by sum")));
  EXPECT_THAT(std::string(gpus.communicators[0]->Check().message()), testing::HasSubstr("of 8 f32"));
}

}  // namespace
}  // namespace weft::collective
