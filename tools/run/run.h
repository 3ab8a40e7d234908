// weft-run without its process: for its main, and for tests.
#ifndef WEFT_TOOLS_RUN_RUN_H_
#define WEFT_TOOLS_RUN_RUN_H_

#include <cstdio>
#include <string>
#include <vector>

namespace weft::run {

// Runs with the arguments behind the program's name; returns the exit status.
int Run(const std::vector<std::string>& arguments, std::FILE* out, std::FILE* err);

}  // namespace weft::run

#endif  // WEFT_TOOLS_RUN_RUN_H_
