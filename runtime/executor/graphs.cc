#include "runtime/executor/graphs.h"

#include <utility>

#include "runtime/actor/conditions.h"

namespace weft::executor {

void Graphs::set_segments(const actor::ProgramSpec& spec, std::vector<std::vector<Segment>> segments) {
  parts_.resize(spec.actors.size());
  streams_.resize(segments.size());
  for (size_t s = 0; s < segments.size(); ++s) {
    for (actor::Cursor cursor(spec, static_cast<int>(s)); !cursor.done(); cursor.Advance()) ++counts_.acts_a_step;
    for (const Segment& segment : segments[s]) {
      ++counts_.segments;
      counts_.acts += static_cast<int64_t>(segment.acts.size());
      for (const plan::StageAct& act : segment.acts) parts_[act.actor].resize(spec.micro_batches);
    }
    streams_[s].segments = std::move(segments[s]);
  }
}

void Graphs::Capture(int stream, device::Stream& device,
                     const std::function<absl::Status(const plan::StageAct&)>& enqueue) {
  if (streams_.empty() || streams_[stream].captured) return;
  OfStream& of_stream = streams_[stream];
  of_stream.captured = true;
  for (const Segment& segment : of_stream.segments) {
    absl::StatusOr<std::unique_ptr<device::Graph>> graph = device.Capture([&] {
      absl::Status status;
      for (size_t i = 0; i < segment.acts.size() && status.ok(); ++i) status = enqueue(segment.acts[i]);
      return status;
    });
    if (!graph.ok()) {
      if (of_stream.status.ok()) of_stream.status = graph.status();
      continue;
    }
    for (size_t i = 0; i < segment.acts.size(); ++i) {
      parts_[segment.acts[i].actor][segment.acts[i].micro_batch] = {.graph = graph->get(), .first = i == 0};
    }
    of_stream.graphs.push_back(*std::move(graph));
  }
}

absl::Status Graphs::status() const {
  for (const OfStream& of_stream : streams_) {
    if (!of_stream.status.ok()) return of_stream.status;
  }
  return absl::OkStatus();
}

}  // namespace weft::executor
