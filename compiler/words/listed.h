// Lists of names, for people.
#ifndef WEFT_COMPILER_WORDS_LISTED_H_
#define WEFT_COMPILER_WORDS_LISTED_H_

#include <string>
#include <vector>

namespace weft {

// "wte, h.0 to h.47, ln_f": three names or more that end in numbers which count up are said by the first and the last.
std::string Listed(const std::vector<std::string>& names);

}  // namespace weft

#endif  // WEFT_COMPILER_WORDS_LISTED_H_
