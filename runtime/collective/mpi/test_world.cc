#include "runtime/collective/mpi/test_world.h"

#include <cstdio>

#include "gtest/gtest.h"

namespace weft::collective {

std::unique_ptr<World> MakeTestWorld(int* argc, char** argv, const WorldOptions& options) {
  testing::InitGoogleTest(argc, argv);
  auto world = World::Create(options);
  if (!world.ok()) {
    std::fprintf(stderr, "%s\n", world.status().ToString().c_str());
    return nullptr;
  }
  if ((*world)->rank() != 0) testing::GTEST_FLAG(brief) = true;  // failures are printed by all
  return *std::move(world);
}

int RunTestsIn(World& world) {
  const int failed = RUN_ALL_TESTS();
  const absl::Status finished = world.Finish();
  if (!finished.ok()) std::fprintf(stderr, "%s\n", finished.ToString().c_str());
  return finished.ok() ? failed : 1;
}

}  // namespace weft::collective
