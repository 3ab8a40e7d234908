#include "runtime/device/cuda/library.h"

#include <dlfcn.h>
#include <glob.h>
#include <pwd.h>
#include <unistd.h>

#include <filesystem>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace weft::cuda {
namespace {

// What matches, in an order that does not depend on the file system.
void AddMatches(const std::string& pattern, std::vector<std::string>& folders) {
  glob_t matches = {};
  if (glob(pattern.c_str(), GLOB_ONLYDIR, nullptr, &matches) == 0) {
    folders.insert(folders.end(), matches.gl_pathv, matches.gl_pathv + matches.gl_pathc);
  }
  globfree(&matches);
}

}  // namespace

std::string HomeFolder() {
  char buffer[4096];
  passwd entry = {};
  passwd* found = nullptr;
  if (getpwuid_r(getuid(), &entry, buffer, sizeof(buffer), &found) != 0 || found == nullptr) return "";
  return found->pw_dir;
}

std::vector<std::string> LibraryFolders(const LibraryName& name, const std::string& folder) {
  std::vector<std::string> folders;
  if (!folder.empty()) {
    folders.push_back(folder);
    for (const std::string& wheel : name.wheels) folders.push_back(absl::StrCat(folder, "/", wheel));
  }
  folders.push_back("");
  folders.push_back("/usr/local/cuda/lib64");
  const std::string home = HomeFolder();
  for (const std::string& wheel : name.wheels) {
    for (const std::string& packages :
         {std::string("/usr/local/lib/python3*/dist-packages"), std::string("/usr/local/lib/python3*/site-packages"),
          std::string("/usr/lib/python3*/site-packages"), home + "/.local/lib/python3*/site-packages"}) {
      if (packages[0] == '/') AddMatches(absl::StrCat(packages, "/", wheel), folders);
    }
  }
  return folders;
}

absl::StatusOr<Library> OpenLibrary(const LibraryName& name, const std::string& folder) {
  for (const std::string& searched : LibraryFolders(name, folder)) {
    for (const std::string& file : name.files) {
      const std::string path = searched.empty() ? file : absl::StrCat(searched, "/", file);
      std::error_code error;
      if (!searched.empty() && !std::filesystem::exists(path, error)) continue;
      void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
      if (handle != nullptr) return Library{handle, path};
      if (!folder.empty() && searched.compare(0, folder.size(), folder) == 0) {
        return absl::FailedPreconditionError(absl::StrCat(name.title, ": ", dlerror()));
      }
    }
  }
  return absl::UnavailableError(absl::StrCat(name.title, ": found no ", absl::StrJoin(name.files, " or "),
                                             folder.empty() ? "" : absl::StrCat(" in ", folder),
                                             folder.empty() ? " (--cuda-libs FOLDER says where it is)" : ""));
}

}  // namespace weft::cuda
