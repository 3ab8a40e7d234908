// What a program answers where it is asked for no work. Links nothing but libc. Any thread.
#ifndef WEFT_RUNTIME_VERSION_ANSWER_H_
#define WEFT_RUNTIME_VERSION_ANSWER_H_

#include <optional>
#include <string>

namespace weft {

// Prints `help` for --help and -h, and VersionText of the program for --version. The exit status: 0, or 1 with a line
// on standard error if standard output cannot be written; none for any other argument.
std::optional<int> Answer(const std::string& argument, const std::string& program, const std::string& help);

}  // namespace weft

#endif  // WEFT_RUNTIME_VERSION_ANSWER_H_
