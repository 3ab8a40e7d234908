// What every program says for --version. Links nothing but libc. Any thread.
#ifndef WEFT_RUNTIME_VERSION_VERSION_H_
#define WEFT_RUNTIME_VERSION_VERSION_H_

#include <string>

namespace weft {

// What a program was built from. Static storage.
struct Version {
  const char* number;  // of Weft: "0.1.0"
  const char* commit;  // "1c4e7a90b2d3", behind it "+changes" where files differ from it; "unknown" of a build without
                       // --stamp or without git
  const char* llvm;    // that the compiler is built with: "19.1.7"
  const char* cuda;    // whose compiler made the code for GPUs: "12.4"; "none" of a build without a toolkit
};

const Version& BuiltVersion();

// Four lines: "weft-run 0.1.0", then commit, LLVM and CUDA.
std::string VersionText(const std::string& program);

}  // namespace weft

#endif  // WEFT_RUNTIME_VERSION_VERSION_H_
