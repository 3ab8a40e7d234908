// Figures (runtime/measure/figures.h) as text: the same words wherever they stand. What is absent is left out.
#ifndef WEFT_RUNTIME_SHOW_FIGURES_H_
#define WEFT_RUNTIME_SHOW_FIGURES_H_

#include <string>
#include <vector>

#include "runtime/measure/figures.h"

namespace weft::plan {

// "46.4 %" of 0.464.
std::string ShareText(double share);

// "248,905"; fewer than 100 with three digits: "3.14".
std::string RateText(double per_second);

// "1.23 GiB", "-1.23 GiB".
std::string HeadroomText(int64_t bytes);

// Rows of a table, beside those of step, bubble and peak: tokens/s, MFU, headroom.
std::vector<std::vector<std::string>> FigureRows(const Figures& figures);

// "248,905 tokens/s (62,226 a device), MFU 46.4 %, headroom 1.23 GiB (61.5 %)"; empty if none is known.
std::string FiguresText(const Figures& figures);

}  // namespace weft::plan

#endif  // WEFT_RUNTIME_SHOW_FIGURES_H_
