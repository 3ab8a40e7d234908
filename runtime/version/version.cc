#include "runtime/version/version.h"

#include <string_view>

// stamp.cc, which is compiled with every program that is linked.
extern const char kWeftBuildCommit[];

namespace weft {
namespace {

// A build without --stamp leaves a zero.
const char* StampedCommit() {
  const std::string_view stamped = kWeftBuildCommit;
  return stamped.empty() || stamped == "0" ? "unknown" : kWeftBuildCommit;
}

}  // namespace

const Version& BuiltVersion() {
  static const Version version = {WEFT_NUMBER, StampedCommit(), WEFT_LLVM, WEFT_CUDA[0] != '\0' ? WEFT_CUDA : "none"};
  return version;
}

std::string VersionText(const std::string& program) {
  const Version& version = BuiltVersion();
  return program + " " + version.number + "\n  commit  " + version.commit + "\n  LLVM    " + version.llvm +
         "\n  CUDA    " + version.cuda + "\n";
}

}  // namespace weft
