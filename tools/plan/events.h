// The events of a trace that weft-run, or something else, has written.
#ifndef WEFT_TOOLS_PLAN_EVENTS_H_
#define WEFT_TOOLS_PLAN_EVENTS_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace weft::tools {

using Json = nlohmann::ordered_json;

// What a trace from anywhere may hold in place of a number or a word.
double NumberOf(const Json& object, const char* key, double otherwise);
bool Is(const Json& event, const char* key, const std::string& word);

// The step of an act, counted from 1; -1 for what is none.
double StepNumberOf(const Json& event);

// The file's JSON; null if it cannot be read, or is no trace with an act of a step.
Json ReadTrace(const std::string& path);

// Whether it has the times of the device itself, not of the host that began a kernel: tools/bench/activity_trace.py
// writes such traces.
bool HasDeviceTimes(const Json& trace);

// An act, or a kernel of one.
struct Event {
  int64_t process = 0;
  std::string track;  // the stream's name, with " kernels" behind it if that is what the track has
  std::string name;
  int64_t step = 0;  // from 1
  int64_t micro_batch = 0;
  double begin_s = 0;
  double end_s = 0;
};

// Of what ReadTrace() gives.
std::vector<Event> EventsOf(const Json& trace);

}  // namespace weft::tools

#endif  // WEFT_TOOLS_PLAN_EVENTS_H_
