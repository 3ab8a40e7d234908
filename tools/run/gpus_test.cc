#include "tools/run/gpus.h"

#include "gtest/gtest.h"

namespace weft::run {
namespace {

TEST(GpusTest, EachRankHasItsOwn) {
  for (int rank = 0; rank < 8; ++rank) EXPECT_EQ(OrdinalOf(rank, 8), rank);
  EXPECT_EQ(OrdinalOf(5, 1), 0);  // a launcher shows each process one
  EXPECT_TRUE(CheckGpus({"a", "b", "c"}, "NVIDIA H200").ok());
}

TEST(GpusTest, TwoRanksOnOneAreRefused) {
  const absl::Status status = CheckGpus({"a", "b", "a"}, "NVIDIA H200");
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(),
            "target cuda: expected a GPU for each process, got ranks 0 and 2 on one (NVIDIA H200), which NCCL "
            "refuses; one process (weft-run without mpirun) runs all ranks on one GPU");
}

}  // namespace
}  // namespace weft::run
