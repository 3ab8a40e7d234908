#include "runtime/trace/timeline.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/trace/file.h"

namespace weft::trace {
namespace {

// In quotes, with what JSON forbids escaped or replaced.
std::string Quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string MetadataJson(const char* kind, int process, int thread, const std::string& name) {
  return absl::StrFormat(R"({"ph":"M","name":"%s","pid":%d,"tid":%d,"args":{"name":%s}})", kind, process, thread,
                         Quoted(name));
}

std::string EventJson(const Event& event, int process, int thread, const std::string& name, int64_t origin_ns) {
  return absl::StrFormat(
      R"({"ph":"X","name":%s,"pid":%d,"tid":%d,"ts":%.3f,"dur":%.3f,"args":{"step":%d,"micro_batch":%d}})",
      Quoted(name), process, thread, static_cast<double>(event.begin_ns - origin_ns) * 1e-3,
      static_cast<double>(event.end_ns - event.begin_ns) * 1e-3, event.step + 1, event.micro_batch);
}

}  // namespace

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
    }
    append(MetadataJson("thread_name", track.process_, thread, track.stream_));
    const uint64_t kept = std::min<uint64_t>(track.added_, track.ring_.size());
    for (uint64_t e = track.added_ - kept; e < track.added_; ++e) {
      const Event& event = track.ring_[e % track.ring_.size()];
      append(EventJson(event, track.process_, thread, track.names_[event.name], origin_ns_));
    }
  }
  return json + "\n]}\n";
}

absl::Status Timeline::Write(const std::string& path) const { return WriteFile(path, ToJson()); }

}  // namespace weft::trace
