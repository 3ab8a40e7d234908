// NCCL with one rank: a communicator is made, and every collective leaves what it was
// given. NCCL refuses two ranks on one GPU, so that this is all that one GPU can show.
#include "runtime/collective/nccl/nccl.h"

#include <cstring>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/collective/nccl/communicator.h"
#include "tests/cuda/kernels/gpu.h"

namespace weft::tests {
namespace {

using collective::CollectiveSpec;
using collective::Kind;

class OwnIds : public collective::NcclIds {
 public:
  explicit OwnIds(const nccl::Nccl& nccl) : nccl_(nccl) {}
  absl::StatusOr<std::vector<nccl::UniqueId>> Exchange(const std::vector<collective::NcclName>& names) override {
    std::vector<nccl::UniqueId> ids(names.size());
    for (nccl::UniqueId& id : ids) {
      const absl::Status status = nccl_.Check(nccl_.GetUniqueId(&id), "ncclGetUniqueId", nullptr);
      if (!status.ok()) return status;
    }
    return ids;
  }

 private:
  const nccl::Nccl& nccl_;
};

TEST(NcclTest, OneRank) {
  const auto opened = nccl::OpenNccl(TestGpu::Get().options().libraries);
  if (!opened.ok()) GTEST_SKIP() << opened.status().message();
  std::printf("%s\n", (*opened)->ToString().c_str());
  device::Device& device = TestGpu::Get().device();
  OwnIds ids((*opened)->nccl);
  constexpr int64_t kCount = 1031;
  const auto bytes = static_cast<size_t>(kCount) * sizeof(float);
  const auto staging = *device.AllocateHostMemory(2 * bytes), from = *device.AllocateArena(bytes),
             to = *device.AllocateArena(bytes);
  auto* const values = reinterpret_cast<float*>(staging->base());
  collective::NcclCommunicator communicator(
      {.nccl = &(*opened)->nccl, .gpu = device.gpu(), .ids = &ids, .rank = 0, .size = 1});
  std::vector<std::unique_ptr<collective::Operation>> operations;
  for (Kind kind : {Kind::kAllReduce, Kind::kReduceScatter, Kind::kAllGather}) {
    auto made = communicator.CreateCollective({.name = "all", .ranks = {0}}, {{.kind = kind, .dims = {kCount}}});
    ASSERT_TRUE(made.ok()) << made.status();
    operations.push_back(*std::move(made));
  }
  const absl::Status connected = communicator.Connect();
  ASSERT_TRUE(connected.ok()) << connected;
  const auto stream = *device.CreateStream("test");
  for (auto& operation : operations) {
    for (int64_t i = 0; i < kCount; ++i) values[i] = static_cast<float>(i) - 500, values[kCount + i] = -1;
    absl::Status status;
    stream->Submit([&] {
      const void* input = from->base();
      void* output = to->base();
      status = stream->Copy(from->base(), values, bytes);
      if (status.ok()) status = operation->Run({&input, 1}, {&output, 1}, stream->handle());
      if (status.ok()) status = stream->Copy(values + kCount, to->base(), bytes);
    });
    const absl::Status joined = stream->Join();
    ASSERT_TRUE(status.ok() && joined.ok()) << status << joined;
    for (int64_t i = 0; i < kCount; ++i) ASSERT_EQ(values[kCount + i], static_cast<float>(i) - 500) << i;
  }
  EXPECT_TRUE(communicator.Check().ok());
}

}  // namespace
}  // namespace weft::tests
