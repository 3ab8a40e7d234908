#include "tools/import/python.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "tools/hugging_face/zoo.h"

namespace weft::import {
namespace {

// Of a Python that has the package installed. Its first argument is the front.
constexpr char kInstalled[] = R"(import importlib, sys
front = sys.argv.pop(1)
try:
    main = importlib.import_module("weft.importing.%s.__main__" % front).main
except ImportError:
    print("weft import: expected the Python package `weft`, as no python/weft is above this program, found none; pip "
          "install python/ of a checkout brings it", file=sys.stderr)
    sys.exit(2)
sys.exit(main(sys.argv[1:]))
)";

}  // namespace

absl::Status BecomePython(const std::string& front, const std::vector<std::string>& words) {
  const std::string above = hugging_face::AboveProgram(absl::StrCat("python/weft/importing/", front, "/__main__.py"));
  std::vector<std::string> line = {"python3"};
  if (above.empty()) {
    line.insert(line.end(), {"-c", kInstalled, front});
  } else {
    line.push_back(above.substr(0, above.rfind('/')));
  }
  line.insert(line.end(), words.begin(), words.end());
  std::vector<char*> arguments;
  for (std::string& word : line) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  return absl::InternalError(absl::StrCat("python3: cannot be run: ", std::strerror(errno)));
}

}  // namespace weft::import
