// MPI's header over a library that is opened when a process has others beside it:
// programs neither link nor need MPI. What the runtime calls of it is defined in
// library.cc; a function that is missing there fails to link. Included instead of mpi.h.
#ifndef WEFT_RUNTIME_COLLECTIVE_MPI_LIBRARY_H_
#define WEFT_RUNTIME_COLLECTIVE_MPI_LIBRARY_H_

#include <mpi.h>

#include "absl/status/status.h"

namespace weft::collective {

// Opens Open MPI's library, which stays open; kUnavailable, in one line, if there is
// none. Before anything else of MPI. Any thread.
absl::Status OpenMpi();

// The address of a function or an object of the library; null if it is not open or has none.
void* MpiSymbol(const char* name);

}  // namespace weft::collective

// MPI's constants are addresses of objects in the library (MPI_BYTE, MPI_COMM_WORLD).
#undef OMPI_PREDEFINED_GLOBAL
#define OMPI_PREDEFINED_GLOBAL(type, global)                            \
  [] {                                                                  \
    static void* const object = ::weft::collective::MpiSymbol(#global); \
    return static_cast<type>(object);                                   \
  }()

#endif  // WEFT_RUNTIME_COLLECTIVE_MPI_LIBRARY_H_
