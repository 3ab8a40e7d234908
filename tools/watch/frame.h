// A frame of `weft watch`.
#ifndef WEFT_TOOLS_WATCH_FRAME_H_
#define WEFT_TOOLS_WATCH_FRAME_H_

#include <string>
#include <utility>
#include <vector>

#include "tools/watch/course.h"

namespace weft::watch {

// Eighths of a line's height for the means of `columns` equal parts of the steps; fewer if there are fewer steps.
std::string Sparkline(const Series& series, int columns);

// One run: how far it is, what it is, then a line for every number, its latest value and its course. No line is wider
// than `width`. `name` is how it is called, `age_s` since when its file has not changed.
std::string RunFrame(const std::string& name, const Course& course, double age_s, int width);

// Several runs, a line each.
struct NamedRun {
  std::string name;
  const Course* course;
  double age_s;
};
std::string RunsFrame(const std::vector<NamedRun>& runs, int width);

// The latest numbers of runs in the text form of Prometheus: a gauge for each key, weft_loss{run="NAME"} 2.5.
std::string PrometheusText(const std::vector<NamedRun>& runs);

}  // namespace weft::watch

#endif  // WEFT_TOOLS_WATCH_FRAME_H_
