#include "runtime/sim/timeline.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "runtime/plan/names.h"
#include "runtime/sim/notes.h"

namespace weft::sim {
namespace {

constexpr int kColumns = 40;
constexpr int kMostColumns = 4096;

// The acts of one stream, in order.
using StreamActs = std::vector<const TimedAct*>;

std::vector<std::vector<StreamActs>> ByStream(const plan::Plan& plan, const Report& report) {
  std::vector<std::vector<StreamActs>> all;
  for (const plan::Stage& stage : plan.stages()) all.emplace_back(stage.streams_size());
  for (const TimedAct& act : report.acts) {
    all[act.stage][plan.stages(act.stage).actors(act.actor).stream()].push_back(&act);
  }
  return all;
}

// The chunks of a stage in ascending order, each with its place.
std::map<int32_t, int> ChunksOf(const plan::Stage& stage) {
  std::set<int32_t> chunks;
  for (const plan::Actor& actor : stage.actors()) {
    const bool unit = actor.section() == plan::Actor::MICRO && actor.phase() != plan::Actor::OTHER;
    if (unit) chunks.insert(actor.chunk());
  }
  std::map<int32_t, int> places;
  for (int32_t chunk : chunks) places.emplace(chunk, static_cast<int>(places.size()));
  return places;
}

std::string LabelOf(const plan::Actor& actor, const TimedAct& act, const std::map<int32_t, int>& chunks) {
  constexpr char kLetters[] = {'O', 'F', 'B', 'W', 'U'};
  const std::string letter(1, actor.phase() <= plan::Actor::UPDATE ? kLetters[actor.phase()] : 'O');
  if (actor.section() == plan::Actor::STEP) return letter;
  const auto chunk = chunks.find(actor.chunk());
  const int place = chunk == chunks.end() ? 0 : chunk->second;
  return place == 0 ? absl::StrCat(letter, act.micro_batch) : absl::StrCat(letter, act.micro_batch, ".", place);
}

// What the columns of one stream say.
class Row {
 public:
  Row(const plan::Stage& stage, const StreamActs& acts, double step_s, int columns)
      : width_(step_s / columns), shares_(columns), cells_(columns, "."), merged_(columns, 0) {
    const std::map<int32_t, int> chunks = ChunksOf(stage);
    for (const TimedAct* act : acts) Share(LabelOf(stage.actors(act->actor), *act, chunks), *act);
    for (int c = 0; c < columns; ++c) ShowMost(c);
    for (const std::string& label : labels_) {
      if (shown_.insert(label).second) Merge(label);
    }
    for (int c = 0; c < columns; ++c) {
      if (merged_[c] > 0) absl::StrAppend(&cells_[c], "+", merged_[c]);
    }
  }

  const std::vector<std::string>& cells() const { return cells_; }
  const std::vector<std::string>& labels() const { return labels_; }
  bool merges() const {
    return std::any_of(merged_.begin(), merged_.end(), [](int units) { return units > 0; });
  }

 private:
  // Seconds of a column by unit.
  void Share(const std::string& label, const TimedAct& act) {
    const int columns = static_cast<int>(shares_.size());
    const int first = std::clamp(static_cast<int>(act.begin_s / width_), 0, columns - 1);
    for (int c = first; c < columns && c * width_ < act.end_s; ++c) {
      const double seconds = std::min(act.end_s, (c + 1) * width_) - std::max(act.begin_s, c * width_);
      if (seconds > 0) shares_[c][label] += seconds;
    }
    // What takes no time is not drawn.
    if (act.end_s > act.begin_s && seen_.insert(label).second) labels_.push_back(label);
  }

  // The unit that takes most of a column, unless the stream is idle for more than half of it.
  void ShowMost(int c) {
    double busy = 0, most = 0;
    std::string cell = ".";
    for (const auto& [label, seconds] : shares_[c]) {
      busy += seconds;
      if (seconds > most) cell = label;
      most = std::max(most, seconds);
    }
    if (busy < width_ / 2) return;
    cells_[c] = cell;
    shown_.insert(cell);
  }

  // A unit that takes most of no column stands in the one that it takes most of.
  void Merge(const std::string& label) {
    int best = 0;
    double most = -1;
    for (int c = 0; c < static_cast<int>(shares_.size()); ++c) {
      const auto share = shares_[c].find(label);
      if (share == shares_[c].end() || share->second <= most) continue;
      most = share->second;
      best = c;
    }
    if (cells_[best] == ".") {
      cells_[best] = label;
    } else {
      ++merged_[best];
    }
  }

  const double width_;
  std::vector<std::map<std::string, double>> shares_;
  std::vector<std::string> cells_;
  std::vector<int> merged_;          // units that a column has beside the one it names
  std::vector<std::string> labels_;  // in the order of their first acts
  std::set<std::string> seen_, shown_;
};

// What the letters and marks of the lines mean, of those that occur.
std::vector<std::string> LegendOf(const std::string& drawn, bool merges) {
  std::vector<std::string> parts;
  for (const auto& [letter, meaning] : {std::pair("F", "F forward"),
                                        {"B", "B backward"},
                                        {"W", "W its weight part"},
                                        {"U", "U update"},
                                        {"O", "O other work"}}) {
    if (absl::StrContains(drawn, letter)) parts.push_back(meaning);
  }
  parts.push_back("F2 of micro-batch 2");
  if (absl::StrContains(drawn, ".1")) parts.push_back("F2.1 of the stage's second chunk");
  if (merges) parts.push_back("F2+3 and three units that are shorter than a column");
  parts.push_back(". idle");
  return parts;
}

int ColumnsOf(const Report& report, const TimelineOptions& options) {
  if (options.columns > 0) return std::min(options.columns, kMostColumns);
  if (!options.unit_times) return kColumns;
  return std::clamp(static_cast<int>(std::lround(report.step_s)), 1, kMostColumns);
}

// The lines of a timeline with a number of columns.
struct Drawing {
  struct Line {
    std::string name;
    std::vector<std::string> cells;
  };
  std::vector<Line> lines;
  int columns = 0;
  size_t name_width = 0, cell_width = 0;
  std::string drawn;  // all labels
  bool merges = false;

  size_t width() const { return name_width + 1 + columns * (cell_width + 1); }
};

Drawing Draw(const plan::Plan& plan, const Report& report, const std::vector<std::vector<StreamActs>>& streams,
             int columns) {
  Drawing drawing;
  drawing.columns = columns;
  for (size_t s = 0; s < streams.size() && report.step_s > 0; ++s) {
    const plan::Stage& stage = plan.stages(static_cast<int>(s));
    for (size_t i = 0; i < streams[s].size(); ++i) {
      const plan::Stream& stream = stage.streams(static_cast<int>(i));
      const Row row(stage, streams[s][i], report.step_s, columns);
      const std::vector<std::string>& cells = row.cells();
      const bool idle = std::all_of(cells.begin(), cells.end(), [](const std::string& cell) { return cell == "."; });
      if (idle && stream.kind() != plan::Stream::COMPUTE) continue;
      drawing.lines.push_back({absl::StrCat("stage ", s, " ", stream.name()), cells});
      drawing.merges |= row.merges();
      absl::StrAppend(&drawing.drawn, absl::StrJoin(row.labels(), " "));
      drawing.name_width = std::max(drawing.name_width, drawing.lines.back().name.size());
      for (const std::string& cell : cells) drawing.cell_width = std::max(drawing.cell_width, cell.size());
    }
  }
  return drawing;
}

// With as many columns as `width` has room for; wider columns merge more units, so that their labels grow.
Drawing DrawWithin(const plan::Plan& plan, const Report& report, const std::vector<std::vector<StreamActs>>& streams,
                   int width) {
  int columns = std::clamp(width / 2, 1, kMostColumns);
  for (;;) {
    Drawing drawing = Draw(plan, report, streams, columns);
    const auto wide = static_cast<int>(drawing.width());
    if (wide <= width || columns == 1) return drawing;
    const auto room = std::max(width - static_cast<int>(drawing.name_width) - 1, 0);
    columns = std::clamp(room / static_cast<int>(drawing.cell_width + 1), 1, columns - 1);
  }
}

// `parts` with ", " between them, on lines of at most `width` if that is not 0.
std::string Wrapped(const std::vector<std::string>& parts, size_t width) {
  std::string text, line;
  for (size_t i = 0; i < parts.size(); ++i) {
    const std::string part = absl::StrCat(parts[i], i + 1 < parts.size() ? "," : "");
    if (!line.empty() && width > 0 && line.size() + 1 + part.size() > width) {
      absl::StrAppend(&text, line, "\n");
      line.clear();
    }
    absl::StrAppend(&line, line.empty() ? "" : " ", part);
  }
  return absl::StrCat(text, line, "\n");
}

}  // namespace

std::string TimelineText(const plan::Plan& plan, const Report& report, const TimelineOptions& options) {
  const std::vector<std::vector<StreamActs>> streams = ByStream(plan, report);
  const bool fits = options.columns == 0 && options.width > 0;
  const Drawing drawing =
      fits ? DrawWithin(plan, report, streams, options.width) : Draw(plan, report, streams, ColumnsOf(report, options));
  std::string text;
  for (const Drawing::Line& line : drawing.lines) {
    std::string row = absl::StrFormat("%-*s ", static_cast<int>(drawing.name_width), line.name);
    for (const std::string& cell : line.cells) {
      absl::StrAppend(&row, absl::StrFormat(" %-*s", static_cast<int>(drawing.cell_width), cell));
    }
    row.erase(row.find_last_not_of(' ') + 1);
    absl::StrAppend(&text, row, "\n");
  }
  const double column = report.step_s / drawing.columns;
  const auto time = [&](double value) {
    return options.unit_times ? absl::StrFormat("%.3g units", value) : plan::SecondsText(value);
  };
  const std::vector<std::string> figures = {
      absl::StrCat("step ", time(report.step_s)),
      absl::StrCat("a column ", time(column), "; bubble ", absl::StrFormat("%.1f %%", 100 * report.bubble_fraction)),
      absl::StrCat("exposed communication ", time(report.exposed_comm_s))};
  return absl::StrCat(text, Wrapped(figures, options.width),
                      Wrapped(LegendOf(drawing.drawn, drawing.merges), options.width));
}

trace::Timeline TimelineOf(const plan::Plan& plan, const Report& report, int64_t step) {
  const std::vector<std::vector<StreamActs>> streams = ByStream(plan, report);
  size_t most = 1;
  for (const auto& stage : streams) {
    for (const StreamActs& acts : stage) most = std::max(most, acts.size());
  }
  trace::Timeline timeline(static_cast<int64_t>(most), 0);
  timeline.Annotate(NotesOf(plan));
  for (size_t s = 0; s < streams.size(); ++s) {
    const plan::Stage& stage = plan.stages(static_cast<int>(s));
    const int rank = plan.placements(stage.placement()).ranks(0);
    std::vector<std::string> names;
    for (const plan::Actor& actor : stage.actors()) names.push_back(actor.name());
    for (size_t i = 0; i < streams[s].size(); ++i) {
      trace::Track* track = timeline.AddTrack(kPredictedProcess + rank, absl::StrCat("rank ", rank, " (predicted)"),
                                              stage.streams(static_cast<int>(i)).name(), names);
      for (const TimedAct* act : streams[s][i]) {
        track->Add({.name = act->actor,
                    .micro_batch = static_cast<int32_t>(act->micro_batch),
                    .step = step,
                    .begin_ns = std::llround(act->begin_s * 1e9),
                    .end_ns = std::llround(act->end_s * 1e9)});
      }
    }
  }
  return timeline;
}

}  // namespace weft::sim
