// Whether this process is one of several that mpirun or its like has started.
#ifndef WEFT_RUNTIME_COLLECTIVE_MPI_LAUNCH_H_
#define WEFT_RUNTIME_COLLECTIVE_MPI_LAUNCH_H_

namespace weft::collective {

// True if a launcher of MPI processes says so (Open MPI's, PMIx's, PMI's): then
// a World is wanted. It costs nothing, unlike to ask MPI, and works without it.
bool StartedByMpi();

// The rank that the launcher gave this process; 0 without one.
int LaunchedRank();

}  // namespace weft::collective

#endif  // WEFT_RUNTIME_COLLECTIVE_MPI_LAUNCH_H_
