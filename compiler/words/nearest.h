// Misspelt words: what was meant.
#ifndef WEFT_COMPILER_WORDS_NEAREST_H_
#define WEFT_COMPILER_WORDS_NEAREST_H_

#include <string>
#include <string_view>
#include <vector>

namespace weft {

// Letters to add, remove, replace or swap with their neighbour until `a` is `b`.
int EditDistance(std::string_view a, std::string_view b);

// The first of `known` with the fewest edits from `word`, if these are at most a third of the longer word's letters, or
// one: "tensor" for "tenssor", nothing for "colour". Takes time in proportion to the letters of `word` times those of
// `known`. Any thread.
std::string Nearest(std::string_view word, const std::vector<std::string>& known);

// "; did you mean tensor?", or nothing: behind an error that names `word`.
std::string DidYouMean(std::string_view word, const std::vector<std::string>& known);

}  // namespace weft

#endif  // WEFT_COMPILER_WORDS_NEAREST_H_
