// A build without MPI.
#include "runtime/collective/mpi/world.h"

namespace weft::collective {

absl::StatusOr<std::unique_ptr<World>> World::Create(const WorldOptions&) {
  return absl::UnimplementedError(
      "mpi: this build has none: install Open MPI (libopenmpi-dev, as tools/setup does) and build again");
}

}  // namespace weft::collective
