// Goes on with prompts.
#ifndef WEFT_TOOLS_GENERATE_GENERATE_H_
#define WEFT_TOOLS_GENERATE_GENERATE_H_

#include <cstdio>
#include <string>
#include <vector>

namespace weft::generate {

// The program weft-generate: arguments behind its name in, exit status out.
int Generate(const std::vector<std::string>& arguments, std::FILE* out, std::FILE* err);

}  // namespace weft::generate

#endif  // WEFT_TOOLS_GENERATE_GENERATE_H_
