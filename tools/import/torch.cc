#include "tools/import/torch.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tools/hugging_face/zoo.h"

namespace weft::import {
namespace {

// Of a Python that has the package installed.
constexpr char kInstalled[] = R"(import sys
try:
    from weft.import_torch.__main__ import main
except ImportError:
    print("weft import: expected the Python package `weft`, as no python/weft is above this program, found none; pip "
          "install python/ of a checkout brings it", file=sys.stderr)
    sys.exit(2)
sys.exit(main(sys.argv[1:]))
)";

}  // namespace

absl::Status BecomeTorchImport(const std::string& source, const std::string& job) {
  const std::string above = hugging_face::AboveProgram("python/weft/import_torch/__main__.py");
  std::vector<std::string> words = {"python3"};
  if (above.empty()) {
    words.insert(words.end(), {"-c", kInstalled});
  } else {
    words.push_back(above.substr(0, above.rfind('/')));
  }
  words.insert(words.end(), {source, "-o", job});
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  return absl::InternalError(absl::StrCat("python3: cannot be run: ", std::strerror(errno)));
}

}  // namespace weft::import
