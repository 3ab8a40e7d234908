// How a model file is laid out: indents and spaces.
#ifndef WEFT_COMPILER_TEXT_FORMAT_H_
#define WEFT_COMPILER_TEXT_FORMAT_H_

#include <string>
#include <string_view>

namespace weft::text {

/// `text` with the indents and spaces of the house. Tokens, comments and line breaks stay:
///
/// - two spaces a body; a line that goes on stands below what follows the open bracket, or two behind the op's name;
/// - one space or none between two tokens, by what they are; several where a token stands right below or above one of
///   the neighbouring line, as in a table;
/// - two spaces or more between two statements of a line;
/// - two spaces before a comment behind code, or more in a table;
/// - at most one empty line, and none at the ends of a file or a body.
///
/// Formatted text stays as it is. Any thread.
std::string formatted(std::string_view text);

} // namespace weft::text

#endif // WEFT_COMPILER_TEXT_FORMAT_H_
