// The command line of a small program: flags with values, and one thing that it is about.
#ifndef WEFT_TOOLS_HUGGING_FACE_ARGUMENTS_H_
#define WEFT_TOOLS_HUGGING_FACE_ARGUMENTS_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace weft::hugging_face {

struct Arguments {
  std::string subject;                       // what is no flag
  std::map<std::string, std::string> flags;  // by name; "" for one without a value
};

// "--flag VALUE" or "--flag=VALUE" for those in `valued`; those in `bare`, --help, -h, --version and --quiet have none.
// kInvalidArgument.
absl::StatusOr<Arguments> ParseArguments(const std::vector<std::string>& arguments,
                                         const std::vector<std::string>& valued, std::vector<std::string> bare);

// Runs a program: prints `help` or its version, or does `work`, whose first error is one line, and more lines for each
// error that is behind a newline. Returns the exit status: 0; 1 if the work failed; 2 if the request was wrong.
int RunProgram(const char* name, const char* help, const std::vector<std::string>& valued,
               const std::vector<std::string>& bare, int argc, char** argv, absl::Status (*work)(const Arguments&));

}  // namespace weft::hugging_face

#endif  // WEFT_TOOLS_HUGGING_FACE_ARGUMENTS_H_
