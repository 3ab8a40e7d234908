#include "tools/watch/frame.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "runtime/plan/names.h"
#include "runtime/show/table.h"
#include "runtime/trace/progress.h"

namespace weft::watch {
namespace {

constexpr double kStillS = 60;     // a file that has not changed for so long is worth a word
constexpr int kMostColumns = 120;  // of a course

// How a person reads it.
std::string ValueText(const std::string& name, double value) {
  if (name == "memory_bytes") return plan::BytesText(static_cast<int64_t>(value));
  if (absl::StartsWith(name, "mfu")) return absl::StrFormat("%.1f %%", 100 * value);
  if (name == "tokens_per_s") return plan::CountText(std::llround(value));
  if (name == "tflops") return value >= 10 ? absl::StrFormat("%.1f", value) : absl::StrFormat("%.4f", value);
  if (name == "lr") return absl::StrFormat("%.2e", value);
  if (std::floor(value) == value && std::abs(value) < 1e9) return absl::StrFormat("%.0f", value);
  return absl::StrFormat("%.5g", value);
}

std::string AboutText(const Course& course, const std::string& key) {
  const auto it = course.about().find(key);
  return it == course.about().end() ? "" : it->second;
}

// Cut to `width` letters; only ASCII is cut.
std::string Cut(const std::string& line, int width) {
  if (static_cast<int>(line.size()) <= width) return line;
  return line.substr(0, std::max(width - 3, 0)) + "...";
}

std::string ProgressText(const Course& course) {
  std::string text = course.steps() > 0
                         ? absl::StrCat("step ", course.step(), "/", course.steps(),
                                        absl::StrFormat(", %.0f %%", 100.0 * course.step() / course.steps()))
                         : absl::StrCat("step ", course.step());
  if (course.steps() > 0 && course.step() >= course.steps()) return text + ", done";
  const double left = course.seconds_left();
  return left >= 0 ? absl::StrCat(text, ", ", trace::DurationText(left), " left") : text;
}

std::string StateText(const Course& course, double age_s) {
  std::string text;
  if (!course.broken().empty()) absl::StrAppend(&text, course.broken(), " is not finite");
  if (!course.slow().empty()) absl::StrAppend(&text, text.empty() ? "" : "; ", course.slow());
  const bool done = course.steps() > 0 && course.step() >= course.steps();
  if (!done && age_s > kStillS)
    absl::StrAppend(&text, text.empty() ? "" : "; ", "nothing new for ", trace::DurationText(age_s));
  return text;
}

}  // namespace

std::string Sparkline(const Series& series, int columns) {
  static constexpr const char* kEighths[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const auto count = static_cast<int64_t>(series.values.size());
  const int64_t parts = std::min<int64_t>(columns, count);
  std::vector<double> means;
  for (int64_t p = 0; p < parts; ++p) {
    const int64_t begin = count * p / parts, end = count * (p + 1) / parts;
    double sum = 0;
    for (int64_t i = begin; i < end; ++i) sum += series.values[i].second;
    means.push_back(sum / static_cast<double>(end - begin));
  }
  std::string line;
  if (means.empty()) return line;
  const auto [low, high] = std::minmax_element(means.begin(), means.end());
  const double range = *high - *low;
  for (double mean : means) {
    const double share = range > 0 ? (mean - *low) / range : 0;
    line += kEighths[std::min(static_cast<int>(share * 8), 7)];
  }
  return line;
}

std::string RunFrame(const std::string& name, const Course& course, double age_s, int width) {
  std::string text;
  const auto add = [&](const std::string& line) {
    if (!line.empty()) absl::StrAppend(&text, Cut(line, width), "\n");
  };
  add(absl::StrCat(course.step() == 0 ? "no step yet" : ProgressText(course), "  ", name));
  add(StateText(course, age_s));
  std::string what = AboutText(course, "ranks");
  for (const auto& [key, word] : {std::pair("host", "on"), {"data", "data"}, {"plan", "plan"}, {"date", "since"}}) {
    const std::string value = AboutText(course, key);
    if (!value.empty()) absl::StrAppend(&what, what.empty() ? "" : ", ", word, " ", value);
  }
  add(what);
  struct Row {
    const Series* series;
    std::string value, range;
  };
  std::vector<Row> rows;
  size_t names = 0, values = 0, ranges = 0;
  for (const Series& series : course.series()) {
    if (series.name == "tokens") continue;  // the same in every step
    const auto by_value = [](const auto& a, const auto& b) { return a.second < b.second; };
    const auto [low, high] = std::minmax_element(series.values.begin(), series.values.end(), by_value);
    rows.push_back({&series, ValueText(series.name, series.values.back().second),
                    absl::StrCat(ValueText(series.name, low->second), " to ", ValueText(series.name, high->second))});
    names = std::max(names, series.name.size());
    values = std::max(values, rows.back().value.size());
    ranges = std::max(ranges, rows.back().range.size());
  }
  for (const Row& row : rows) {
    const std::string head = absl::StrFormat("  %-*s  %*s  %-*s", static_cast<int>(names), row.series->name,
                                             static_cast<int>(values), row.value, static_cast<int>(ranges), row.range);
    const int room = std::min(width - static_cast<int>(head.size()) - 2, kMostColumns);
    if (room < 1) {
      add(head);
    } else {
      absl::StrAppend(&text, head, "  ", Sparkline(*row.series, room), "\n");
    }
  }
  return text;
}

std::string RunsFrame(const std::vector<NamedRun>& runs, int width) {
  plan::Table table(0, {2, 3, 4});
  table.Add({"run", "step", "loss", "tokens/s", "memory", "ranks", "host", ""});
  for (const NamedRun& run : runs) {
    const auto latest = [&](const char* name) {
      const Series* series = run.course->Find(name);
      return series == nullptr ? std::string() : ValueText(name, series->values.back().second);
    };
    std::string state = StateText(*run.course, run.age_s);
    table.Add({run.name, run.course->step() == 0 ? "none yet" : ProgressText(*run.course), latest("loss"),
               latest("tokens_per_s"), latest("memory_bytes"), AboutText(*run.course, "ranks"),
               AboutText(*run.course, "host"), state});
  }
  std::string text, line;
  for (const char letter : table.Text()) {
    if (letter != '\n') {
      line += letter;
      continue;
    }
    absl::StrAppend(&text, Cut(line, width), "\n");
    line.clear();
  }
  return text;
}

std::string PrometheusText(const std::vector<NamedRun>& runs) {
  std::map<std::string, std::string> gauges;  // samples by name
  for (const NamedRun& run : runs) {
    const std::string label =
        absl::StrCat("{run=\"", absl::StrReplaceAll(run.name, {{"\\", "\\\\"}, {"\"", "\\\""}, {"\n", "\\n"}}), "\"} ");
    absl::StrAppend(&gauges["weft_step"], "weft_step", label, run.course->step(), "\n");
    for (const Series& series : run.course->series()) {
      std::string name = "weft_" + series.name;
      for (char& letter : name) {
        if (!absl::ascii_isalnum(letter)) letter = '_';
      }
      absl::StrAppend(&gauges[name], name, label, absl::StrFormat("%.9g", series.values.back().second), "\n");
    }
  }
  std::string text;
  for (const auto& [name, samples] : gauges) absl::StrAppend(&text, "# TYPE ", name, " gauge\n", samples);
  return text;
}

}  // namespace weft::watch
