// A build without MPI.
#include "runtime/collective/mpi/world.h"

namespace weft::collective {

class World::Impl {};

absl::StatusOr<std::unique_ptr<World>> World::Create(const WorldOptions&) {
  return absl::UnimplementedError(
      "mpi: this build has none: install Open MPI (libopenmpi-dev, as tools/setup does) and build again");
}

World::~World() = default;
int World::rank() const { return 0; }
int World::size() const { return 1; }
int World::ranks_on_host() const { return 1; }
// Nobody has a world to ask.
Communicator& World::communicator() { __builtin_unreachable(); }
absl::StatusOr<std::vector<std::string>> World::AllGather(const std::string&) { return Create().status(); }
absl::Status World::Broadcast(int, std::string*) { return Create().status(); }
absl::Status World::Barrier() { return Create().status(); }
std::string World::Waiting() const { return ""; }
absl::Status World::failure() const { return Create().status(); }
int World::failed_by() const { return -1; }
int World::place_on_host() const { return 0; }
int World::hosts() const { return 1; }
absl::Span<std::atomic<int64_t>> World::board() { return {}; }
void World::SetReader(Reader) {}
void World::SetWaits(std::function<std::string()>) {}
std::string World::Stopped() const { return ""; }
absl::Status World::Finish() { return Create().status(); }

}  // namespace weft::collective
