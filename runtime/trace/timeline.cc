#include "runtime/trace/timeline.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/trace/file.h"

namespace weft::trace {
namespace {

std::string MetadataJson(const char* kind, int process, int thread, const std::string& name) {
  return absl::StrFormat(R"({"ph":"M","name":"%s","pid":%d,"tid":%d,"args":{"name":%s}})", kind, process, thread,
                         Quoted(name));
}

std::string SortJson(const char* kind, int process, int thread, int index) {
  return absl::StrFormat(R"({"ph":"M","name":"%s","pid":%d,"tid":%d,"args":{"sort_index":%d}})", kind, process, thread,
                         index);
}

double Microseconds(int64_t ns) { return static_cast<double>(ns) * 1e-3; }

// What all events of a name have: its name, its category, and the end of its arguments.
struct Label {
  std::string name, category, arguments;
  Note note;
};

Label LabelOf(const Notes& notes, int process, const std::string& name) {
  Label label{Quoted(name), "", "", notes.of ? notes.of(process, name) : Note()};
  if (!label.note.category.empty()) label.category = absl::StrCat(",\"cat\":", Quoted(label.note.category));
  for (const auto& [key, value] : label.note.arguments) absl::StrAppend(&label.arguments, ",", Quoted(key), ":", value);
  return label;
}

std::string EventJson(const Event& event, int process, int thread, const Label& label, int64_t origin_ns) {
  return absl::StrFormat(
      R"({"ph":"X","name":%s%s,"pid":%d,"tid":%d,"ts":%.3f,"dur":%.3f,"args":{"step":%d,"micro_batch":%d%s}})",
      label.name, label.category, process, thread, Microseconds(event.begin_ns - origin_ns),
      Microseconds(event.end_ns - event.begin_ns), event.step + 1, event.micro_batch, label.arguments);
}

// The beginning of an arrow, or its end: inside the event that it belongs to.
std::string ArrowJson(bool ends, int64_t id, int process, int thread, int64_t ns) {
  return absl::StrFormat(R"({"ph":"%s","name":"transfer","cat":"transfer","id":%d,"pid":%d,"tid":%d,"ts":%.3f})",
                         ends ? R"(f","bp":"e)" : "s", id, process, thread, Microseconds(ns));
}

// Bytes from this moment on, stacked by name.
std::string CounterJson(const std::vector<std::pair<std::string, int64_t>>& bytes, int process, int64_t ns) {
  std::string arguments;
  for (const auto& [name, count] : bytes) {
    absl::StrAppend(&arguments, arguments.empty() ? "" : ",", Quoted(name), ":", count);
  }
  return absl::StrFormat(R"({"ph":"C","name":"memory","pid":%d,"ts":%.3f,"args":{%s}})", process, Microseconds(ns),
                         arguments);
}

}  // namespace

std::string Quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Track* Timeline::AddTrack(int rank, const std::string& stream, std::vector<std::string> names) {
  return AddTrack(rank, absl::StrCat("rank ", rank), stream, std::move(names));
}

Track* Timeline::AddTrack(int process, const std::string& process_name, const std::string& stream,
                          std::vector<std::string> names) {
  tracks_.emplace_back(new Track(process, process_name, stream, std::move(names), capacity_));
  return tracks_.back().get();
}

std::string Timeline::ToJson() const {
  std::string json = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[";
  const char* separator = "\n";
  auto append = [&](const std::string& object) {
    absl::StrAppend(&json, separator, object);
    separator = ",\n";
  };
  std::set<int> processes;
  for (size_t t = 0; t < tracks_.size(); ++t) {
    const Track& track = *tracks_[t];
    const int thread = static_cast<int>(t);
    if (processes.insert(track.process_).second) {
      append(MetadataJson("process_name", track.process_, thread, track.process_name_));
      append(SortJson("process_sort_index", track.process_, thread, track.process_));
    }
    append(MetadataJson("thread_name", track.process_, thread, track.stream_));
    append(SortJson("thread_sort_index", track.process_, thread, thread));
    std::vector<Label> labels;
    for (const std::string& name : track.names_) labels.push_back(LabelOf(notes_, track.process_, name));
    const uint64_t kept = std::min<uint64_t>(track.added_, track.ring_.size());
    for (uint64_t e = track.added_ - kept; e < track.added_; ++e) {
      const Event& event = track.ring_[e % track.ring_.size()];
      const Label& label = labels[event.name];
      append(EventJson(event, track.process_, thread, label, origin_ns_));
      if (notes_.memory) {
        const auto bytes = notes_.memory(track.process_, track.names_[event.name], event.micro_batch);
        if (!bytes.empty()) append(CounterJson(bytes, track.process_, event.begin_ns - origin_ns_));
      }
      const int64_t turn = (event.step * notes_.micro_batches + event.micro_batch) * notes_.arrows;
      for (int64_t arrow : label.note.sends)
        append(ArrowJson(false, turn + arrow, track.process_, thread, event.begin_ns - origin_ns_));
      for (int64_t arrow : label.note.receives)
        append(ArrowJson(true, turn + arrow, track.process_, thread, event.end_ns - origin_ns_));
    }
  }
  return json + "\n]}\n";
}

absl::Status Timeline::Write(const std::string& path) const { return WriteFile(path, ToJson()); }

}  // namespace weft::trace
