#include "runtime/executor/fences.h"

#include <algorithm>

namespace weft::executor {

Fences::Fences(const plan::Program& program) : actors_(program.stage->actors_size()) {
  for (size_t a = 0; a < actors_.size(); ++a) {
    actors_[a].awaited.resize(program.micro(static_cast<int32_t>(a)) ? program.micro_batches : 1, false);
  }
}

absl::StatusOr<std::unique_ptr<Fences>> Fences::Create(const plan::Program& program, device::Device& device) {
  const int actors = program.stage->actors_size();
  std::unique_ptr<Fences> fences(new Fences(program));
  std::vector<int64_t> depth(actors, 0);
  for (size_t b = 0; b < program.readers.size(); ++b) {
    for (int32_t reader : program.readers[b]) fences->AddRegister(program, static_cast<int32_t>(b), reader, depth);
  }
  for (int a = 0; a < actors; ++a) {
    for (int64_t i = 0; i < depth[a]; ++i) {
      absl::StatusOr<std::unique_ptr<device::Event>> event = device.CreateEvent();
      if (!event.ok()) return event.status();
      fences->actors_[a].ring.push_back(*std::move(event));
    }
  }
  return fences;
}

void Fences::AddRegister(const plan::Program& program, int32_t buffer, int32_t reader, std::vector<int64_t>& depth) {
  const int32_t writer = program.writer[buffer];
  if (program.actor(writer).stream() == program.actor(reader).stream()) return;
  const int64_t slots = std::max<int64_t>(program.buffer(buffer).slots(), 1);
  const bool both = program.micro(writer) && program.micro(reader);
  const int64_t last = program.micro(writer) ? program.micro_batches - 1 : 0;
  actors_[reader].waits.push_back({.peer = writer, .follow = both, .behind = 0, .last = last});
  depth[writer] = std::max(depth[writer], slots);
  actors_[writer].awaited[last] = true;
  if (!both) return;
  actors_[writer].waits.push_back({.peer = reader, .follow = true, .behind = slots});
  depth[reader] = std::max(depth[reader], slots);
  for (int64_t i = 0; i < program.micro_batches; ++i) {
    actors_[writer].awaited[i] = true;
    if (i + slots < program.micro_batches) actors_[reader].awaited[i] = true;
  }
}

absl::Status Fences::Before(int32_t actor, int64_t micro_batch, device::Stream& stream) {
  for (const Wait& wait : actors_[actor].waits) {
    const int64_t act = wait.ActFor(micro_batch);
    if (act < 0) continue;
    const auto& ring = actors_[wait.peer].ring;
    if (absl::Status status = stream.Wait(*ring[act % ring.size()]); !status.ok()) return status;
  }
  return absl::OkStatus();
}

bool Fences::Waits(int32_t actor, int64_t micro_batch) const {
  const std::vector<Wait>& waits = actors_[actor].waits;
  return std::any_of(waits.begin(), waits.end(), [&](const Wait& wait) { return wait.ActFor(micro_batch) >= 0; });
}

absl::Status Fences::After(int32_t actor, int64_t micro_batch, device::Stream& stream) {
  const auto& ring = actors_[actor].ring;
  return Records(actor, micro_batch) ? stream.Record(*ring[micro_batch % ring.size()]) : absl::OkStatus();
}

}  // namespace weft::executor
