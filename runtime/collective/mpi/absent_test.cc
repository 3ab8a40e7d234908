#include "gtest/gtest.h"
#include "runtime/collective/mpi/world.h"

namespace weft::collective {
namespace {

TEST(AbsentTest, SaysWhatIsMissing) {
  const absl::Status status = World::Create().status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(status.message(),
            "mpi: this build has none: install Open MPI (libopenmpi-dev, as tools/setup does) and build again");
}

}  // namespace
}  // namespace weft::collective
