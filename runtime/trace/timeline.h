// A timeline of what every stream did: events kept in memory while the run
// goes, written as a Chrome trace (chrome://tracing, ui.perfetto.dev) at its end.
#ifndef WEFT_RUNTIME_TRACE_TIMELINE_H_
#define WEFT_RUNTIME_TRACE_TIMELINE_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"

namespace weft::trace {

// Nanoseconds of a clock that never goes back.
inline int64_t NowNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// In quotes, with what JSON forbids escaped or replaced.
std::string Quoted(const std::string& text);

// What a name of a track means.
struct Note {
  std::string category;
  std::vector<std::pair<std::string, std::string>> arguments;  // by key, as JSON
  // Arrows that begin and end in its events: those of one number, step and micro-batch join.
  std::vector<int64_t> sends, receives;
};
struct Notes {
  std::function<Note(int process, const std::string& name)> of;
  // Numbers that stand while an event lasts, by name: one chart a process. None for an event that says nothing of them.
  std::function<std::vector<std::pair<std::string, int64_t>>(int process, const std::string& name, int32_t micro_batch)>
      memory;
  int64_t arrows = 0;  // their numbers are below
  int64_t micro_batches = 1;
};

struct Event {
  int32_t name = 0;         // index into the track's names
  int32_t micro_batch = 0;  // within the step
  int64_t step = 0;         // from 0; the file counts steps from 1
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
};

// The events of one stream. One thread adds; adding does not allocate: when the
// ring is full the oldest event goes.
class Track {
 public:
  void Add(const Event& event) {
    ring_[added_ % ring_.size()] = event;
    ++added_;
  }

 private:
  friend class Timeline;
  Track(int process, std::string process_name, std::string stream, std::vector<std::string> names, int64_t capacity)
      : process_(process),
        process_name_(std::move(process_name)),
        stream_(std::move(stream)),
        names_(std::move(names)),
        ring_(capacity) {}

  int process_;
  std::string process_name_;
  std::string stream_;
  std::vector<std::string> names_;
  std::vector<Event> ring_;
  uint64_t added_ = 0;
};

// Owns the tracks. AddTrack() and Write() are for one thread, while no other
// adds events.
class Timeline {
 public:
  // `capacity` events are kept of each track; at least 1. `origin_ns` is what
  // times count from: now, or the beginning of a time that is not the clock's.
  explicit Timeline(int64_t capacity, int64_t origin_ns = NowNs())
      : capacity_(capacity > 0 ? capacity : 1), origin_ns_(origin_ns) {}

  // A track of `rank` for its stream `stream`; Event::name indexes `names`.
  Track* AddTrack(int rank, const std::string& stream, std::vector<std::string> names);

  // The same in a process of its own number and name, for what is no rank that ran.
  Track* AddTrack(int process, const std::string& process_name, const std::string& stream,
                  std::vector<std::string> names);

  // What the file says beside the names.
  void Annotate(Notes notes) { notes_ = std::move(notes); }

  // A process for each rank, in their order, and a thread for each track; times in microseconds
  // since the origin. Events have the categories and arguments of their notes, and arrows from where something is sent
  // to where it has been received. A counter `memory` of each process says the bytes that its notes have.
  std::string ToJson() const;

  // kUnavailable naming the file if it cannot be written.
  absl::Status Write(const std::string& path) const;

 private:
  int64_t capacity_;
  int64_t origin_ns_;
  std::vector<std::unique_ptr<Track>> tracks_;
  Notes notes_;
};

}  // namespace weft::trace

#endif  // WEFT_RUNTIME_TRACE_TIMELINE_H_
