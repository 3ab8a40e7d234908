#include "runtime/version/answer.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "runtime/version/version.h"

namespace weft {

std::optional<int> Answer(const std::string& argument, const std::string& program, const std::string& help) {
  const bool helps = argument == "--help" || argument == "-h";
  if (!helps && argument != "--version") return std::nullopt;
  const std::string text = helps ? help : VersionText(program);
  if (std::fputs(text.c_str(), stdout) >= 0 && std::fflush(stdout) == 0) return 0;
  std::fprintf(stderr, "%s: standard output: cannot be written: %s\n", program.c_str(), std::strerror(errno));
  return 1;
}

}  // namespace weft
