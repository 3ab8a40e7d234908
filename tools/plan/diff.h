// The difference of two texts, line by line.
#ifndef WEFT_TOOLS_PLAN_DIFF_H_
#define WEFT_TOOLS_PLAN_DIFF_H_

#include <string>

namespace weft::tools {

// The lines that differ, "- " from `before` and "+ " from `after`, each under
// the headings ("@ ...") that they stand under: the nearest lines above them
// with less indentation. Empty if the texts are equal. The shortest edit by
// Myers' algorithm (Algorithmica 1, 1986); time and memory grow with the lines
// times the differences, and beyond `max_edits` of these all lines between the
// first and the last difference are printed.
std::string DiffLines(const std::string& before, const std::string& after, int max_edits = 2000);

}  // namespace weft::tools

#endif  // WEFT_TOOLS_PLAN_DIFF_H_
