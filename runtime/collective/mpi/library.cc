#include "runtime/collective/mpi/library.h"

#include <dlfcn.h>

#include "absl/strings/str_cat.h"

namespace weft::collective {
namespace {

// Of the versions of Open MPI that have one binary interface: 2 to 5.
constexpr char kFile[] = "libmpi.so.40";

// Its plug-ins look for its symbols among everybody's.
void* Library() {
  static void* const library = dlopen(kFile, RTLD_NOW | RTLD_GLOBAL);
  return library;
}

}  // namespace

absl::Status OpenMpi() {
  if (Library() != nullptr) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat("mpi: expected Open MPI's library, found no ", kFile));
}

void* MpiSymbol(const char* name) { return Library() == nullptr ? nullptr : dlsym(Library(), name); }

}  // namespace weft::collective

using weft::collective::MpiSymbol;

// Defines the function that the header declares.
#define WEFT_MPI(name, parameters, arguments)                                          \
  int name parameters {                                                                \
    static auto* const function = reinterpret_cast<decltype(&name)>(MpiSymbol(#name)); \
    return function != nullptr ? function arguments : MPI_ERR_OTHER;                   \
  }

WEFT_MPI(MPI_Initialized, (int* flag), (flag))
WEFT_MPI(MPI_Init_thread, (int* argc, char*** argv, int wanted, int* level), (argc, argv, wanted, level))
WEFT_MPI(MPI_Finalize, (), ())
WEFT_MPI(MPI_Error_string, (int code, char* text, int* length), (code, text, length))
WEFT_MPI(MPI_Comm_rank, (MPI_Comm comm, int* rank), (comm, rank))
WEFT_MPI(MPI_Comm_size, (MPI_Comm comm, int* size), (comm, size))
WEFT_MPI(MPI_Comm_dup, (MPI_Comm comm, MPI_Comm* made), (comm, made))
WEFT_MPI(MPI_Comm_free, (MPI_Comm * comm), (comm))
WEFT_MPI(MPI_Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm* made), (comm, color, key, made))
WEFT_MPI(MPI_Comm_split_type, (MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* made),
         (comm, type, key, info, made))
WEFT_MPI(MPI_Comm_get_attr, (MPI_Comm comm, int key, void* value, int* flag), (comm, key, value, flag))
WEFT_MPI(MPI_Comm_set_errhandler, (MPI_Comm comm, MPI_Errhandler handler), (comm, handler))
WEFT_MPI(MPI_Barrier, (MPI_Comm comm), (comm))
WEFT_MPI(MPI_Isend,
         (const void* from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request),
         (from, count, type, to, tag, comm, request))
WEFT_MPI(MPI_Issend,
         (const void* from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request),
         (from, count, type, to, tag, comm, request))
WEFT_MPI(MPI_Irecv, (void* to, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request* request),
         (to, count, type, from, tag, comm, request))
WEFT_MPI(MPI_Cancel, (MPI_Request * request), (request))
WEFT_MPI(MPI_Request_free, (MPI_Request * request), (request))
WEFT_MPI(MPI_Test, (MPI_Request * request, int* flag, MPI_Status* status), (request, flag, status))
WEFT_MPI(MPI_Testall, (int count, MPI_Request requests[], int* flag, MPI_Status statuses[]),
         (count, requests, flag, statuses))
WEFT_MPI(MPI_Testsome, (int count, MPI_Request requests[], int* ended, int indices[], MPI_Status statuses[]),
         (count, requests, ended, indices, statuses))
WEFT_MPI(MPI_Get_count, (const MPI_Status* status, MPI_Datatype type, int* count), (status, type, count))
