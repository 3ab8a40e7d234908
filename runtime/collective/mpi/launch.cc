#include "runtime/collective/mpi/launch.h"

#include <cstdlib>
#include <initializer_list>

namespace weft::collective {

bool StartedByMpi() {
  // How launchers tell: there is no other way to know before MPI is initialised.
  for (const char* sign : {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK"}) {
    if (std::getenv(sign) != nullptr) return true;
  }
  return false;
}

int LaunchedRank() {
  for (const char* sign : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"}) {
    if (const char* rank = std::getenv(sign)) return std::atoi(rank);
  }
  return 0;
}

}  // namespace weft::collective
