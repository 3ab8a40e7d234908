// The rendezvous of a world, and what its ranks say when one is lost. Run by
// mpirun; the first argument says what is shown.
#include "runtime/collective/mpi/world.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/collective/mpi/launch.h"
#include "tests/fixtures/mpi_world.h"

namespace weft::collective {
namespace {

World* world = nullptr;

TEST(WorldTest, KnowsItsRanks) {
  EXPECT_TRUE(StartedByMpi());
  EXPECT_EQ(world->size(), 3);
  EXPECT_EQ(world->ranks_on_host(), 3);
  EXPECT_EQ(world->communicator().rank(), world->rank());
  EXPECT_EQ(world->communicator().size(), 3);
  EXPECT_EQ(World::Create().status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST(WorldTest, GathersBytes) {
  for (int time = 0; time < 20; ++time) {
    const std::string own(world->rank() * 1000 * time, static_cast<char>('a' + world->rank()));
    const absl::StatusOr<std::vector<std::string>> all = world->AllGather(own);
    ASSERT_TRUE(all.ok()) << all.status();
    ASSERT_EQ(all->size(), 3u);
    for (int r = 0; r < 3; ++r) EXPECT_EQ((*all)[r], std::string(r * 1000 * time, static_cast<char>('a' + r)));
  }
}

// Two parcels to each of the others, of which the first is larger than a piece.
TEST(WorldTest, CarriesParcels) {
  const int self = world->rank();
  const std::vector<size_t> sizes = {(size_t{3} << 20) + 17, 5, 0};
  const auto byte = [](int from, int to, size_t parcel, size_t at) {
    return static_cast<char>(from * 50 + to * 7 + parcel + at * 3);
  };
  std::vector<std::string> sent, received;
  for (int peer = 0; peer < 3; ++peer) {
    for (size_t p = 0; p < sizes.size(); ++p) {
      std::string& parcel = sent.emplace_back(sizes[p], '\0');
      for (size_t i = 0; i < sizes[p]; ++i) parcel[i] = byte(self, peer, p, i);
      received.emplace_back(sizes[p], '\0');
    }
  }
  std::vector<OutParcel> out;
  std::vector<InParcel> in;
  for (size_t i = 0; i < sent.size(); ++i) {
    const int peer = static_cast<int>(i / sizes.size());
    if (peer == self) continue;
    out.push_back({peer, sent[i]});
    in.push_back({peer, absl::MakeSpan(received[i])});
  }
  std::thread aside([&] { EXPECT_TRUE(world->Carry(out, in, [] { return false; }).ok()); });
  EXPECT_TRUE(world->AllGather("meanwhile").ok());
  aside.join();
  for (size_t i = 0; i < received.size(); ++i) {
    const int peer = static_cast<int>(i / sizes.size());
    if (peer == self) continue;
    for (size_t at = 0; at < received[i].size(); ++at) {
      ASSERT_EQ(received[i][at], byte(peer, self, i % sizes.size(), at)) << i << " at " << at;
    }
  }
  EXPECT_TRUE(world->Carry({}, {}, [] { return true; }).ok());
  ASSERT_TRUE(world->AllGather("").ok());
}

// Rank 2 sends nothing of what rank 0 waits for.
TEST(WorldTest, ParcelsMayBeGivenUp) {
  if (world->rank() == 0) {
    std::string parcel(10, '\0');
    int asked = 0;
    const absl::Status status = world->Carry({}, {{2, absl::MakeSpan(parcel)}}, [&] { return ++asked == 2; });
    EXPECT_EQ(status.code(), absl::StatusCode::kCancelled) << status;
  }
  ASSERT_TRUE(world->AllGather("").ok());
}

TEST(WorldTest, SaysWhoHasNotCome) {
  ASSERT_TRUE(world->AllGather("").ok());
  EXPECT_EQ(world->Waiting(), "");
  // Rank 2 comes when rank 0 has seen that it is missing.
  const Group pair{.name = "pair", .ranks = {0, 2}, .channel = 7};
  std::unique_ptr<Operation> tell;
  if (world->rank() != 1) {
    auto operation = world->communicator().CreateCollective(pair, {{.dims = {0}}});
    ASSERT_TRUE(operation.ok());
    tell = *std::move(operation);
  }
  float nothing = 0;
  const void* inputs[] = {&nothing};
  void* outputs[] = {&nothing};
  if (world->rank() == 2) ASSERT_TRUE(tell->Run(inputs, outputs, nullptr).ok());
  std::thread watch([&] {
    if (world->rank() != 0) return;
    while (world->Waiting().find("; rank 2 has not come") == std::string::npos) std::this_thread::yield();
    EXPECT_TRUE(tell->Run(inputs, outputs, nullptr).ok());
  });
  EXPECT_TRUE(world->AllGather("").ok());
  watch.join();
}

// Rank 1 dies, or fails, while the others wait for it.
int Lose(bool killed) {
  signal(SIGTERM, SIG_IGN);  // mpirun ends the others soon
  if (world->rank() == 1 && killed) raise(SIGKILL);
  if (world->rank() == 1) return 3;
  auto operation = world->communicator().CreateCollective({.name = "data[0]", .ranks = {0, 1, 2}}, {{.dims = {1}}});
  float value = 0;
  const void* inputs[] = {&value};
  void* outputs[] = {&value};
  const absl::Status status = (*operation)->Run(inputs, outputs, nullptr);
  std::fprintf(stderr, "rank %d: %s\n", world->rank(), status.ToString().c_str());
  return status.ok() ? 1 : 3;
}

// Ranks 1 and 2 are on a host of their own, which falls silent but for rank 2 if
// `vouched`. Each of the others says why it ends, if it does.
int FallSilent(bool vouched) {
  world->board()[5] = 40 + world->rank();
  world->SetReader([](int rank, const std::vector<int64_t>& words) {
    return "act " + std::to_string(words[5]) + " of rank " + std::to_string(rank);
  });
  world->SetWaits([] { return std::string("rank 0 waits for a word"); });
  if (absl::Status status = world->AllGather("").status(); !status.ok()) return 1;
  std::this_thread::sleep_for(std::chrono::milliseconds(500));  // heartbeats
  if (world->rank() == 1 || (world->rank() == 2 && !vouched)) {
    // The process lives, so that nobody but those who listen can tell. It wakes
    // when it is all over, and sees it.
    const int self = getpid();
    const int waker = fork();
    if (waker == 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(3500));
      kill(self, SIGCONT);
      _exit(0);
    }
    raise(SIGSTOP);
    waitpid(waker, nullptr, 0);
    if (vouched) return world->Finish().ok() ? 0 : 1;
    _exit(3);
  }
  if (vouched) return world->Finish().ok() ? 0 : 1;  // waits for rank 1
  while (world->failure().ok()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  std::fprintf(stderr, "rank 0: %s\n", world->failure().ToString().c_str());
  _exit(3);
}

}  // namespace
}  // namespace weft::collective

int main(int argc, char** argv) {
  using namespace weft::collective;
  const std::string what = argc > 1 ? argv[1] : "meet";
  WorldOptions options;
  if (what == "silent" || what == "vouched") {
    options.silence = std::chrono::seconds(1);
    options.host = LaunchedRank() == 0 ? "here" : "there";
  }
  const std::unique_ptr<World> made = MakeTestWorld(&argc, argv, options);
  if (made == nullptr) return 2;
  world = made.get();
  if (what == "meet") return RunTestsIn(*made);
  if (what == "silent" || what == "vouched") return FallSilent(what == "vouched");
  return Lose(what == "killed");
}
