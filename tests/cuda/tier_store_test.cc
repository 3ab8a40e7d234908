// What goes to a tier below a device comes back as it was: by memory of the host and by a disk, from a GPU and from the
// host.
#include "runtime/executor/tier_store.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/device/host/device.h"
#include "tests/cuda/emulated_gpu.h"

namespace weft::executor {
namespace {

// Of a disk below a GPU, several times the memory that copies go through, and a bit.
constexpr int64_t kBytes = (int64_t{19} << 20) + 123;
constexpr int64_t kOffset = 4096;

class TierStoreTest : public testing::TestWithParam<std::pair<Tier::Kind, bool>> {
 protected:
  TierStoreTest() {
    if (GetParam().second) gpu_ = std::make_unique<tests::EmulatedGpu>();
    if (gpu_ == nullptr) host_ = device::CreateHostDevice();
  }
  device::Device& device() { return gpu_ != nullptr ? *gpu_->device : *host_; }

  std::unique_ptr<tests::EmulatedGpu> gpu_;
  std::unique_ptr<device::Device> host_;
};

TEST_P(TierStoreTest, WhatIsStoredIsFetched) {
  const std::string folder = absl::StrCat(testing::TempDir(), "/store");
  Tier tier;
  tier.set_name("below");
  tier.set_kind(GetParam().first);
  const auto store = TierStore::Create(tier, /*rank=*/0, kOffset + kBytes, folder, device());
  ASSERT_TRUE(store.ok()) << store.status();
  const auto arena = device().AllocateArena(2 * kBytes);
  ASSERT_TRUE(arena.ok()) << arena.status();
  const auto from = device().AllocateHostMemory(kBytes), to = device().AllocateHostMemory(kBytes);
  const auto stream = device().CreateStream("tier");
  ASSERT_TRUE(from.ok() && to.ok() && stream.ok());
  for (int64_t i = 0; i < kBytes; ++i) (*from)->base()[i] = static_cast<char>(i * 31 + (i >> 20));
  char* const here = (*arena)->base();
  (*stream)->Submit([&] {
    EXPECT_TRUE((*stream)->Copy(here, (*from)->base(), kBytes).ok());
    EXPECT_TRUE((*store)->Store(kOffset, here, kBytes, **stream).ok());
    EXPECT_TRUE((*store)->Fetch(kOffset, here + kBytes, kBytes, **stream).ok());
    EXPECT_TRUE((*stream)->Copy((*to)->base(), here + kBytes, kBytes).ok());
  });
  ASSERT_TRUE((*stream)->Join().ok());
  EXPECT_EQ(std::memcmp((*from)->base(), (*to)->base(), kBytes), 0);

  // The host sees the same bytes.
  std::string read(kBytes, '\0');
  ASSERT_TRUE((*store)->Read(kOffset, read.data(), kBytes).ok());
  EXPECT_EQ(std::memcmp(read.data(), (*from)->base(), kBytes), 0);
  const auto taken = (*store)->TakenBytes();
  ASSERT_TRUE(taken.ok()) << taken.status();
  EXPECT_GE(*taken, kOffset + kBytes);
  if (tier.kind() == Tier::DISK) {
    EXPECT_TRUE(std::filesystem::is_empty(folder));
  }
}

INSTANTIATE_TEST_SUITE_P(TiersAndDevices, TierStoreTest,
                         testing::Values(std::pair(Tier::HOST, false), std::pair(Tier::HOST, true),
                                         std::pair(Tier::DISK, false), std::pair(Tier::DISK, true)),
                         [](const auto& info) {
                           return absl::StrCat(info.param.first == Tier::HOST ? "Host" : "Disk",
                                               info.param.second ? "BelowAGpu" : "BelowTheHost");
                         });

}  // namespace
}  // namespace weft::executor
