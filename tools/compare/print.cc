#include <algorithm>

#include "absl/strings/str_cat.h"
#include "runtime/plan/names.h"
#include "runtime/show/figures.h"
#include "runtime/show/print_json.h"
#include "runtime/show/table.h"
#include "tools/compare/compare.h"

namespace weft::tools {
namespace {

using Json = nlohmann::ordered_json;

// "-" for what is not known.
template <typename T> std::string orDash(const std::optional<T> &value, std::string (*text)(T)) {
  return value.has_value() ? text(*value) : "-";
}

// The overrides that every variant has, if there are several.
Set commonOf(const std::vector<Entry> &entries) {
  Set common;
  int variants = 0;
  for (const Entry &entry : entries) {
    if (!entry.plan.empty()) {
      continue;
    }
    if (variants++ == 0) {
      common = entry.set;
    }
    std::erase_if(common, [&](const std::string &it) {
      return std::find(entry.set.begin(), entry.set.end(), it) == entry.set.end();
    });
  }
  return variants > 1 ? common : Set();
}

// The name of a row without what all have.
std::string nameOf(const Entry &entry, const Set &common) {
  if (!entry.plan.empty() || common.empty()) {
    return entry.name;
  }
  Set rest = entry.set;
  std::erase_if(rest,
                [&](const std::string &it) { return std::find(common.begin(), common.end(), it) != common.end(); });
  return rest.empty() ? "(nothing else)" : textOf(rest);
}

std::vector<std::string> rowOf(const Entry &entry, const std::string &name) {
  const plan::Figures &figures = *entry.figures;
  return {name,
          plan::CountText(figures.devices),
          plan::SecondsText(figures.step_s),
          orDash(figures.tokens_per_s, plan::RateText),
          orDash(figures.tokens_per_s_device, plan::RateText),
          orDash(figures.mfu, plan::ShareText),
          plan::BytesText(figures.peak_bytes),
          orDash(figures.headroom_bytes, plan::HeadroomText),
          plan::ShareText(figures.bubble_fraction),
          plan::SecondsText(figures.exposed_comm_s)};
}

} // namespace

std::string tableOf(const std::vector<Entry> &entries) {
  plan::Table table(0, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  table.Add({"", "ranks", "step", "tokens/s", "a device", "MFU", "memory", "headroom", "bubble", "exposed"});
  plan::Table others(2);
  const Set common = commonOf(entries);
  bool any = false, different = false;
  int64_t tokens = 0;
  for (const Entry &entry : entries) {
    if (!entry.fits()) {
      others.Add({nameOf(entry, common), entry.reason});
      continue;
    }
    different |= any && entry.tokens != tokens;
    any = true;
    tokens = entry.tokens;
    table.Add(rowOf(entry, nameOf(entry, common)));
  }
  return absl::StrCat(common.empty() ? "" : absl::StrCat("all with ", textOf(common), "\n"), any ? table.Text() : "",
                      different ? "steps differ in their tokens: compare tokens/s, not steps\n" : "",
                      others.empty() ? "" : absl::StrCat("cannot be\n", others.Text()));
}

std::string jsonOf(const std::vector<Entry> &entries) {
  Json rows = Json::array();
  for (const Entry &entry : entries) {
    Json &row = rows.emplace_back();
    row = {{"plan", entry.plan.empty() ? Json() : Json(entry.plan)},
           {"overrides", entry.plan.empty() ? Json(entry.set) : Json()},
           {"fits", entry.figures.has_value() ? Json(entry.fits()) : Json()},
           {"reason", entry.reason.empty() ? Json() : Json(entry.reason)}};
    const Json figures = plan::FiguresJson(entry.figures.value_or(plan::Figures()));
    // The keys are there without a plan too, null each.
    for (const auto &[key, value] : figures.items()) {
      row[key] = entry.figures.has_value() ? value : Json();
    }
    row["tokens_per_step"] = entry.figures.has_value() ? Json(entry.tokens) : Json();
  }
  return plan::JsonText({{"rows", rows}});
}

} // namespace weft::tools
