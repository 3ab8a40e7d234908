#include "tools/hugging_face/zoo.h"

#include <filesystem>
#include <regex>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "runtime/checkpoint/file.h"

namespace weft::hugging_face {
namespace {

namespace fs = std::filesystem;

constexpr const char* kKnown = "layers.mlir";  // which all model files share
constexpr int64_t kMostBytes = int64_t{1} << 24;

// `name` in `folder` or the nearest one above it; empty if none has such a file.
fs::path FileAbove(fs::path folder, const std::string& name) {
  std::error_code none;
  for (; !folder.empty(); folder = folder.parent_path()) {
    if (fs::is_regular_file(folder / name, none)) return folder / name;
    if (folder == folder.parent_path()) break;
  }
  return {};
}

fs::path ProgramFolder() {
  std::error_code none;
  return fs::read_symlink("/proc/self/exe", none).parent_path();
}

bool IsZoo(const fs::path& folder) {
  std::error_code none;
  return fs::is_regular_file(folder / kKnown, none);
}

}  // namespace

absl::StatusOr<std::string> FindZoo(const std::string& given) {
  if (!given.empty()) {
    if (IsZoo(given)) return given;
    return absl::NotFoundError(absl::StrCat("--models: ", given, ": expected a folder with ", kKnown, ", found none"));
  }
  std::error_code none;
  for (const fs::path& folder : {ProgramFolder(), fs::current_path(none)}) {
    const fs::path found = FileAbove(folder, absl::StrCat("models/", kKnown));
    if (!found.empty()) return found.parent_path().string();
  }
  return absl::NotFoundError(absl::StrCat("--models: expected the folder of the model files, as no models/", kKnown,
                                          " is above this program or the working folder"));
}

std::string AboveProgram(const std::string& name) { return FileAbove(ProgramFolder(), name).string(); }

absl::StatusOr<std::map<std::string, std::string>> ReadDefaults(const std::string& path) {
  const absl::StatusOr<std::string> text = checkpoint::ReadText(path, kMostBytes);
  if (!text.ok()) return text.status();
  std::map<std::string, std::string> defaults;
  static const std::regex import(R"re(model\.import "([^"]+)")re");
  for (std::sregex_iterator it(text->begin(), text->end(), import), end; it != end; ++it) {
    const auto imported = ReadDefaults((fs::path(path).parent_path() / (*it)[1].str()).string());
    if (!imported.ok()) return imported.status();
    defaults.insert(imported->begin(), imported->end());
  }
  static const std::regex config(R"(model\.config @(\w+)\s*=\s*([0-9.eE+-]+)\s*(?=model\.config|//|\n|$))");
  for (std::sregex_iterator it(text->begin(), text->end(), config), end; it != end; ++it)
    defaults[(*it)[1].str()] = (*it)[2].str();
  return defaults;
}

}  // namespace weft::hugging_face
