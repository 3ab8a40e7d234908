// Where a CUDA library is that is opened when the program runs.
#ifndef WEFT_RUNTIME_DEVICE_CUDA_LIBRARY_H_
#define WEFT_RUNTIME_DEVICE_CUDA_LIBRARY_H_

#include <dlfcn.h>

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace weft::cuda {

struct LibraryName {
  std::string title;                // "cuBLASLt", for people
  std::vector<std::string> files;   // "libcublasLt.so.13", the best first
  std::vector<std::string> wheels;  // folders of Python wheels that hold it, under site-packages: "nvidia/cublas/lib"
};

// An open library: a handle for dlsym(), and where it was found.
struct Library {
  void* handle;
  std::string path;
};

// Sets a field of a table of functions to an open library's; it stays null if the library has none of that name.
template <typename Type>
void LoadFunction(void* library, const char* symbol, std::function<Type>& field) {
  if (void* const found = dlsym(library, symbol)) field = reinterpret_cast<Type*>(found);
}

// Opens the first there is: in `folder` (if not empty) or in a wheel under it, where the system looks,
// under /usr/local/cuda, in a wheel of the system's or the user's Python. It stays open. kUnavailable, in
// one line, if there is none; a file of that name in `folder` that cannot be opened is an error that says why.
absl::StatusOr<Library> OpenLibrary(const LibraryName& name, const std::string& folder);

// The folders that OpenLibrary() looks into, in order; "" stands for the system's.
std::vector<std::string> LibraryFolders(const LibraryName& name, const std::string& folder);

// The user's home folder as the system knows it; "" if it does not.
std::string HomeFolder();

}  // namespace weft::cuda

#endif  // WEFT_RUNTIME_DEVICE_CUDA_LIBRARY_H_
