#include "tools/plan/events.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <utility>

namespace weft::tools {
namespace {

std::string TextOf(const Json& object, const char* key) {
  const auto it = object.is_object() ? object.find(key) : object.end();
  return it != object.end() && it->is_string() ? it->get<std::string>() : "";
}

// Process and thread of an event.
std::pair<int64_t, int64_t> TrackOf(const Json& event) {
  return {static_cast<int64_t>(NumberOf(event, "pid", 0)), static_cast<int64_t>(NumberOf(event, "tid", 0))};
}

}  // namespace

double NumberOf(const Json& object, const char* key, double otherwise) {
  const auto it = object.is_object() ? object.find(key) : object.end();
  return it != object.end() && it->is_number() ? it->get<double>() : otherwise;
}

bool Is(const Json& event, const char* key, const std::string& word) { return TextOf(event, key) == word; }

double StepNumberOf(const Json& event) {
  return Is(event, "ph", "X") && event.contains("args") ? NumberOf(event["args"], "step", -1) : -1;
}

Json ReadTrace(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  Json trace = Json::parse(text, nullptr, false);
  if (!trace.is_object() || !trace.contains("traceEvents") || !trace["traceEvents"].is_array()) return Json();
  const Json& events = trace["traceEvents"];
  const bool any = std::any_of(events.begin(), events.end(), [](const Json& it) { return StepNumberOf(it) >= 0; });
  return any ? trace : Json();
}

bool HasDeviceTimes(const Json& trace) {
  return trace.contains("otherData") && Is(trace["otherData"], "kernels", "device");
}

std::vector<Event> EventsOf(const Json& trace) {
  std::map<std::pair<int64_t, int64_t>, std::string> tracks;
  for (const Json& event : trace["traceEvents"]) {
    if (Is(event, "name", "thread_name") && event.contains("args")) {
      tracks[TrackOf(event)] = TextOf(event["args"], "name");
    }
  }
  std::vector<Event> events;
  for (const Json& event : trace["traceEvents"]) {
    const double step = StepNumberOf(event);
    if (step < 0) continue;
    const double begin_s = 1e-6 * NumberOf(event, "ts", 0);
    events.push_back({TrackOf(event).first, tracks[TrackOf(event)], TextOf(event, "name"), static_cast<int64_t>(step),
                      static_cast<int64_t>(NumberOf(event["args"], "micro_batch", 0)), begin_s,
                      begin_s + 1e-6 * NumberOf(event, "dur", 0)});
  }
  return events;
}

}  // namespace weft::tools
