// What the JSON of several commands has in common. Numbers are in SI base units: seconds, bytes, FLOP/s; shares are
// of 1. docs/howto/compare_layouts.md lists the keys.
#ifndef WEFT_RUNTIME_SHOW_PRINT_JSON_H_
#define WEFT_RUNTIME_SHOW_PRINT_JSON_H_

#include <nlohmann/json.hpp>
#include <string>

#include "runtime/measure/figures.h"
#include "runtime/plan/plan.pb.h"
#include "runtime/show/joins.h"

namespace weft::plan {

// An object; null for what is absent, so that every key is always there.
nlohmann::ordered_json FiguresJson(const Figures& figures);

// How a layout was chosen; null if nothing was.
nlohmann::ordered_json DecisionJson(const Decision& decision);

// What a kernel does, in its order, each with `name` and `location`.
nlohmann::ordered_json OperatorsJson(const Kernel& kernel);

// Each with `other`, `reason`, `text` and `tensors`.
nlohmann::ordered_json BoundariesJson(const Program& program, const std::vector<Boundary>& boundaries);

// As text, two spaces deep, with a line break at its end. Names may hold any bytes; what is not UTF-8 is replaced.
std::string JsonText(const nlohmann::ordered_json& json);

}  // namespace weft::plan

#endif  // WEFT_RUNTIME_SHOW_PRINT_JSON_H_
