// The conformance suite on processes, and what MPI alone has to show. Run by
// mpirun on four ranks; a test of fewer uses the first ones.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/collective/conformance.h"
#include "runtime/collective/mpi/communicator.h"
#include "runtime/collective/mpi/library.h"
#include "tests/fixtures/mpi_world.h"

namespace weft::collective {
namespace {

// A wire of its own for every test, as an abort ends one for good.
void RunProcesses(int ranks, const Wire::Options& options, const Body& body, bool on_hosts = false) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm some = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank < ranks ? 0 : MPI_UNDEFINED, rank, &some);
  if (some != MPI_COMM_NULL) {
    auto wire = Wire::Create(some, options);
    ASSERT_TRUE(wire.ok()) << wire.status();
    std::vector<std::string> hosts = {"a", "a", "b", "b"};
    hosts.resize(on_hosts ? ranks : 0);
    MpiCommunicator communicator(wire->get(), hosts);
    communicator.SetLevels([](const std::vector<CollectiveSpec>&, int, int) { return 3; });
    body(communicator);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}
void RunWhole(int ranks, const Body& body) { RunProcesses(ranks, {}, body); }
void RunSpinning(int ranks, const Body& body) { RunProcesses(ranks, {.spins = 100}, body); }
// Long tensors go as many messages that no element's size divides.
void RunInPieces(int ranks, const Body& body) { RunProcesses(ranks, {.message_bytes = 99999}, body); }
// Two hosts of two ranks, between which all goes on two levels.
void RunOnHosts(int ranks, const Body& body) { RunProcesses(ranks, {}, body, true); }
void RunOnHostsInPieces(int ranks, const Body& body) { RunProcesses(ranks, {.message_bytes = 99999}, body, true); }

INSTANTIATE_TEST_SUITE_P(Whole, CollectiveConformance, testing::Values(&RunWhole));
INSTANTIATE_TEST_SUITE_P(Whole, CollectiveAgreement, testing::Values(&RunWhole));
INSTANTIATE_TEST_SUITE_P(Spinning, CollectiveConformance, testing::Values(&RunSpinning));
INSTANTIATE_TEST_SUITE_P(Spinning, CollectiveAgreement, testing::Values(&RunSpinning));
INSTANTIATE_TEST_SUITE_P(InPieces, CollectiveConformance, testing::Values(&RunInPieces));
INSTANTIATE_TEST_SUITE_P(InPieces, CollectiveAgreement, testing::Values(&RunInPieces));
INSTANTIATE_TEST_SUITE_P(OnHosts, CollectiveConformance, testing::Values(&RunOnHosts));
INSTANTIATE_TEST_SUITE_P(OnHosts, CollectiveAgreement, testing::Values(&RunOnHosts));
INSTANTIATE_TEST_SUITE_P(OnHostsInPieces, CollectiveConformance, testing::Values(&RunOnHostsInPieces));
INSTANTIATE_TEST_SUITE_P(OnHostsInPieces, CollectiveAgreement, testing::Values(&RunOnHostsInPieces));

// Members that choose different ways find out, as they do with different tensors.
TEST(MpiTest, AllChooseOneWay) {
  RunProcesses(
      4, {},
      [](Communicator& c) {
        if (c.rank() == 3) static_cast<MpiCommunicator&>(c).SetLevels(nullptr);
        const auto sum = c.CreateCollective({.name = "all", .ranks = {0, 1, 2, 3}}, {{.dims = {100}}});
        ASSERT_TRUE(sum.ok());
        std::vector<float> data(100);
        const absl::Status status = RunOne(**sum, data.data(), data.data());
        EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
        EXPECT_NE(std::string(status.message()).find("by hosts of 2, in 3 parts: all_reduce f32[100]"),
                  std::string::npos)
            << status;
      },
      true);
}

// There are as many channels and transfers as MPI has tags.
TEST(MpiTest, TagsAreBounded) {
  RunWhole(2, [](Communicator& c) {
    const int many = std::numeric_limits<int>::max();
    const auto operation = c.CreateCollective({.name = "all", .ranks = {0, 1}, .channel = many}, {{.dims = {1}}});
    EXPECT_EQ(std::string(operation.status().message()).find("channel 2147483647: expected a number from 0 to "), 0u)
        << operation.status();
    const Link link{.peer = 1 - c.rank(), .tag = many, .block = {{1}, {0}, {1}}};
    EXPECT_EQ(c.CreateTransfer(true, DType::kF32, {link}).status().code(), absl::StatusCode::kInvalidArgument);
  });
}

void End(MPI_Request& request) {
  MPI_Status status;
  for (int done = 0; done == 0;) MPI_Test(&request, &done, &status);
}

// The first rank that aborts speaks before the others hear of it: nobody can end it in between.
TEST(MpiTest, TheFirstToAbortSpeaksAtOnce) {
  int rank = 0, heard = -1, spoken = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const auto speak = [&](const absl::Status& reason) {
    EXPECT_EQ(reason.message(), "rank 0 has failed");
    MPI_Request word = MPI_REQUEST_NULL;
    MPI_Irecv(&heard, sizeof(heard), MPI_BYTE, 1, 0, MPI_COMM_WORLD, &word);
    End(word);
    ++spoken;
  };
  RunProcesses(2, {.on_abort = speak}, [&](Communicator& c) {
    const auto operation = c.CreateCollective({.name = "all", .ranks = {0, 1}, .channel = 3}, {{.dims = {1}}});
    ASSERT_TRUE(operation.ok());
    if (c.rank() == 0) return c.Abort(absl::InternalError("rank 0 has failed"));
    // Listens for a while, as it waits for rank 0.
    std::atomic<int> ended{0};
    float value = 0;
    const void* inputs[] = {&value};
    void* outputs[] = {&value};
    std::thread waits([&] {
      EXPECT_EQ((*operation)->Run(inputs, outputs, nullptr).message(), "rank 0 has failed");
      ended = 1;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    const int so_far = ended;
    MPI_Request word = MPI_REQUEST_NULL;
    MPI_Isend(&so_far, sizeof(so_far), MPI_BYTE, 0, 0, MPI_COMM_WORLD, &word);
    End(word);
    waits.join();
    c.Abort(absl::InternalError("rank 1 has failed"));  // too late: says nothing
  });
  EXPECT_EQ(spoken, rank == 0 ? 1 : 0);
  EXPECT_EQ(heard, rank == 0 ? 0 : -1);
}

// Messages of two groups between the same two ranks must not meet.
TEST(MpiTest, OverlappingGroupsNeedTwoChannels) {
  RunWhole(3, [](Communicator& c) {
    ASSERT_TRUE(c.CreateCollective({.name = "all", .ranks = {0, 1, 2}}, {{.dims = {1}}}).ok());
    if (c.rank() == 2) return;
    EXPECT_EQ(c.CreateCollective({.name = "some", .ranks = {0, 1}}, {{.dims = {1}}}).status().message(),
              "group some: expected a channel of its own, got 0, which group all has, and both have ranks 0 and 1");
    EXPECT_TRUE(c.CreateCollective({.name = "some", .ranks = {0, 1}, .channel = 1}, {{.dims = {1}}}).ok());
  });
}

// A wire that has failed stays so: what is left on it would be taken for other data.
TEST(MpiTest, NothingRunsAfterADisagreement) {
  RunWhole(2, [](Communicator& c) {
    const Group all{.name = "all", .ranks = {0, 1}};
    std::vector<float> data(5000);
    auto wrong = c.CreateCollective(all, {{.dims = {c.rank() == 0 ? 5000 : 4000}}});
    auto right = c.CreateCollective(all, {{.dims = {5000}}});
    ASSERT_TRUE(wrong.ok() && right.ok());
    const absl::Status status = RunOne(**wrong, data.data(), data.data());
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_EQ(RunOne(**right, data.data(), data.data()), status);
  });
}

}  // namespace
}  // namespace weft::collective

int main(int argc, char** argv) {
  const auto world = weft::collective::MakeTestWorld(&argc, argv);
  if (world == nullptr) return 2;
  if (world->size() == 4) return weft::collective::RunTestsIn(*world);
  std::fprintf(stderr, "expected four ranks, got %d\n", world->size());
  return 2;
}
