#include "tools/hugging_face/arguments.h"

#include <algorithm>
#include <csignal>
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "runtime/version/version.h"

namespace weft::hugging_face {
namespace {

absl::Status Wrong(const std::string& what) { return absl::InvalidArgumentError(absl::StrCat(what, " (see --help)")); }

bool IsOf(const std::string& flag, const std::vector<std::string>& flags) {
  return std::find(flags.begin(), flags.end(), flag) != flags.end();
}

int StatusOf(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return 0;
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kDataLoss:
    case absl::StatusCode::kFailedPrecondition:
      return 2;
    default:
      return 1;
  }
}

}  // namespace

absl::StatusOr<Arguments> ParseArguments(const std::vector<std::string>& arguments,
                                         const std::vector<std::string>& valued, std::vector<std::string> bare) {
  bare.insert(bare.end(), {"--help", "--version", "--quiet"});
  Arguments parsed;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument.empty() || argument[0] != '-') {
      if (!parsed.subject.empty()) return Wrong(absl::StrCat(argument, ": expected one, got also ", parsed.subject));
      parsed.subject = argument;
      continue;
    }
    const size_t equals = argument.find('=');
    const std::string flag = argument == "-h" ? "--help" : argument.substr(0, equals);
    std::string value;
    if (IsOf(flag, valued)) {
      if (equals != std::string::npos) value = argument.substr(equals + 1);
      if (equals == std::string::npos && i + 1 < arguments.size()) value = arguments[++i];
      if (value.empty()) return Wrong(flag + ": expected a value, got none");
    } else if (!IsOf(flag, bare)) {
      return Wrong("unknown argument " + argument);
    } else if (equals != std::string::npos) {
      return Wrong(flag + ": expected no value");
    }
    const auto [first, added] = parsed.flags.emplace(flag, value);
    if (!added) return Wrong(absl::StrCat(flag, ": expected once, got `", first->second, "` and `", value, "`"));
  }
  return parsed;
}

int RunProgram(const char* name, const char* help, const std::vector<std::string>& valued,
               const std::vector<std::string>& bare, int argc, char** argv, absl::Status (*work)(const Arguments&)) {
  std::signal(SIGXFSZ, SIG_IGN);
  const absl::StatusOr<Arguments> arguments = ParseArguments({argv + 1, argv + argc}, valued, bare);
  absl::Status status = arguments.status();
  if (status.ok()) {
    const bool shows_help = arguments->flags.count("--help") != 0;
    if (shows_help || arguments->flags.count("--version") != 0) {
      std::fputs(shows_help ? help : VersionText(name).c_str(), stdout);
    } else {
      status = work(*arguments);
    }
  }
  if (std::fflush(stdout) != 0 && status.ok()) status = absl::InternalError("standard output: cannot be written");
  if (status.ok()) return 0;
  const std::vector<std::string> lines = absl::StrSplit(status.message(), '\n');
  for (const std::string& line : lines) std::fprintf(stderr, "%s: %s\n", name, line.c_str());
  return StatusOf(status);
}

}  // namespace weft::hugging_face
