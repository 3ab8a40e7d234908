// What tests that mpirun runs have in common: a world, and one listing.
#ifndef WEFT_RUNTIME_COLLECTIVE_MPI_TEST_WORLD_H_
#define WEFT_RUNTIME_COLLECTIVE_MPI_TEST_WORLD_H_

#include <memory>

#include "runtime/collective/mpi/world.h"

namespace weft::collective {

// Initialises GoogleTest, of whose listings that of rank 0 is enough, and makes
// the world. Null if there is none, which it has said.
std::unique_ptr<World> MakeTestWorld(int* argc, char** argv, const WorldOptions& options = {});

// Runs all tests and ends the world: the exit status.
int RunTestsIn(World& world);

}  // namespace weft::collective

#endif  // WEFT_RUNTIME_COLLECTIVE_MPI_TEST_WORLD_H_
