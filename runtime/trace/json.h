// The little of JSON that the trace writes.
#ifndef WEFT_RUNTIME_TRACE_JSON_H_
#define WEFT_RUNTIME_TRACE_JSON_H_

#include <string>

namespace weft::trace {

// `text` in quotes, with what JSON forbids escaped.
std::string Quoted(const std::string& text);

}  // namespace weft::trace

#endif  // WEFT_RUNTIME_TRACE_JSON_H_
