#include "runtime/proof/race_detector.h"

#include <algorithm>

#include "runtime/plan/layout.h"
#include "runtime/plan/names.h"
#include "runtime/plan/validate_parts.h"

namespace weft::plan {

absl::Status CheckState(const Program& program) {
  struct Place {
    ByteRange bytes;
    int32_t buffer = -1;
  };
  std::vector<Place> places;
  for (int32_t b = 0; b < program.stage->buffers_size(); ++b) {
    if (program.root[b] != b) continue;
    if (program.buffer(b).slot_offsets().empty()) {
      places.push_back({program.AllSlotsOf(b), b});
      continue;
    }
    for (int32_t slot = 0; slot < program.slots[b]; ++slot) places.push_back({program.RangeOf(b, slot), b});
  }
  std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) {
    return std::pair(a.bytes.begin, a.buffer) < std::pair(b.bytes.begin, b.buffer);
  });
  // The furthest that a buffer, and that state, has reached from the left.
  const Place *furthest = nullptr, *state = nullptr;
  for (const Place& place : places) {
    const auto overlaps = [&](const Place* left) { return left != nullptr && left->bytes.end > place.bytes.begin; };
    const bool keeps = program.persistent[place.buffer];
    const Place* other = overlaps(state) ? state : keeps && overlaps(furthest) ? furthest : nullptr;
    if (other != nullptr) {
      const int32_t kept = keeps ? place.buffer : other->buffer;
      const int32_t on_it = kept == place.buffer ? other->buffer : place.buffer;
      return InvalidPlan("buffers `", program.buffer(other->buffer).name(), "` and `",
                         program.buffer(place.buffer).name(), "` overlap: expected `", program.buffer(kept).name(),
                         "`, which lives from step to step, apart from `", program.buffer(on_it).name(), "`, got ",
                         TextOf(other->bytes), " and ", TextOf(place.bytes));
    }
    if (furthest == nullptr || furthest->bytes.end < place.bytes.end) furthest = &place;
    if (keeps && (state == nullptr || state->bytes.end < place.bytes.end)) state = &place;
  }
  return absl::OkStatus();
}

RaceDetector::RaceDetector(const Program& program)
    : program_(program), footprints_(program), performed_(program.work.size(), false) {
  for (int32_t b = 0; b < program.stage->buffers_size(); ++b) {
    if (program.root[b] != b || !program.persistent[b]) continue;
    Content content;
    content.root = content.writer.buffer = b;
    const ByteRange bytes = program.AllSlotsOf(b);
    if (bytes.begin < bytes.end) map_.Assign(bytes.begin, bytes.end, content);
  }
}

absl::Status RaceDetector::Perform(const Act& act) {
  const absl::StatusOr<const Footprint*> footprint = footprints_.Of(act.actor, act.micro_batch);
  if (!footprint.ok()) return footprint.status();
  for (const Footprint::Read& read : (*footprint)->reads) {
    if (absl::Status status = Read(act, read); !status.ok()) {
      return Under(program_.Where(act.actor, read.work), status);
    }
  }
  for (const Footprint::Write& write : (*footprint)->writes) {
    if (absl::Status status = Write(act, write); !status.ok()) {
      return Under(program_.Where(act.actor, write.work), status);
    }
  }
  performed_[act.actor] = true;
  return absl::OkStatus();
}

bool RaceDetector::Written(int32_t root) const {
  for (size_t a = 0; a < performed_.size(); ++a) {
    for (const Work& work : program_.work[a]) {
      for (int32_t b : work.writes) {
        if (performed_[a] && program_.root[b] == root) return true;
      }
    }
  }
  return false;
}

absl::Status RaceDetector::Read(const Act& act, const Footprint::Read& read) {
  const int32_t root = program_.root[read.buffer];
  absl::Status status;
  map_.ForEachWithin(read.bytes.begin, read.bytes.end, [&](int64_t begin, int64_t end, Content* content) {
    const ByteRange bytes{begin, end};
    if (content == nullptr || content->root != root) {
      status = Missing(absl::StrCat(Text(act), " reads it"), read.buffer, content, bytes);
    } else if (const Access& writer = content->writer;
               writer.stream >= 0 && !act.After(writer.stream, writer.position)) {
      status = Race(writer, true, act, read.buffer, false, bytes);
    } else if (!IsMeant(act, read.buffer, bytes, writer)) {
      status =
          InvalidPlan("buffer `", program_.buffer(read.buffer).name(), "` is overwritten while live: ", Text(writer),
                      " wrote `", program_.buffer(writer.buffer).name(), "` before ", Text(act), " reads it");
    }
    if (!status.ok()) return false;
    const auto same = std::find_if(content->readers.begin(), content->readers.end(),
                                   [&](const Access& reader) { return reader.stream == act.stream; });
    const Access access{act.stream, act.position, act.actor, act.micro_batch, read.buffer};
    if (same != content->readers.end()) {
      *same = access;
    } else {
      content->readers.push_back(access);
    }
    return true;
  });
  return status;
}

absl::Status RaceDetector::Write(const Act& act, const Footprint::Write& write) {
  absl::Status status;
  const auto check = [&](const Access& access, bool writes, const ByteRange& bytes) {
    const bool own = access.stream == act.stream && access.position == act.position;
    if (access.stream < 0 || own || act.After(access.stream, access.position)) return true;
    status = Race(access, writes, act, write.buffer, true, bytes);
    return false;
  };
  map_.ForEach(write.bytes.begin, write.bytes.end, [&](int64_t begin, int64_t end, const Content* content) {
    if (content == nullptr) return true;
    for (const Access& reader : content->readers) {
      if (!check(reader, false, {begin, end})) return false;
    }
    return check(content->writer, true, {begin, end});
  });
  if (!status.ok() || write.bytes.begin == write.bytes.end) return status;
  Content content;
  content.root = write.root;
  content.writer = {act.stream, act.position, act.actor, act.micro_batch, write.buffer};
  map_.Assign(write.bytes.begin, write.bytes.end, std::move(content));
  return absl::OkStatus();
}

bool RaceDetector::IsMeant(const Act& act, int32_t buffer, const ByteRange& bytes, const Access& writer) const {
  if (writer.stream < 0 || program_.persistent[buffer]) return true;  // state has any number of writers
  const auto from = [&](int32_t b) {
    const int32_t maker = program_.writer[b];
    const int64_t made = !program_.micro(maker)      ? 0
                         : program_.micro(act.actor) ? act.micro_batch
                                                     : program_.micro_batches - 1;
    return writer.actor == maker && writer.micro_batch == made;
  };
  bool listed = false, meant = false;
  for (int32_t b : program_.actor(act.actor).reads()) {
    if (b == buffer) return from(b);
    if (program_.root[b] != program_.root[buffer]) continue;
    if (!program_.RangeOf(b, program_.SlotOf(act.actor, b, act.micro_batch)).Overlaps(bytes)) continue;
    listed = true;
    meant = meant || from(b);
  }
  // Bytes of no register are what the actor keeps for itself, or a sum that others add to behind it.
  return listed ? meant
                : writer.actor == act.actor || (writer.actor == program_.LastToAdd(act.actor, buffer) &&
                                                writer.micro_batch + 1 == act.micro_batch);
}

absl::Status RaceDetector::Race(const Access& earlier, bool earlier_writes, const Act& act, int32_t buffer, bool writes,
                                const ByteRange& bytes) const {
  const int32_t other = At(earlier, bytes);
  const int32_t mine = writes ? At({act.stream, act.position, act.actor, act.micro_batch, buffer}, bytes) : buffer;
  const std::string acts = absl::StrCat(Text(earlier), earlier_writes ? " writes" : " reads", " and ", Text(act),
                                        writes ? " writes" : " reads", ", and nothing orders them");
  if (program_.root[other] != program_.root[mine]) {
    return InvalidPlan("live buffers `", program_.buffer(other).name(), "` and `", program_.buffer(mine).name(),
                       "` overlap in ", TextOf(bytes), ": ", acts);
  }
  return InvalidPlan("buffer `", program_.buffer(mine).name(),
                     "` may be read before it is written or overwritten while live: ", acts);
}

absl::Status RaceDetector::Missing(const std::string& use, int32_t buffer, const Content* found,
                                   const ByteRange& bytes) const {
  const std::string& name = program_.buffer(buffer).name();
  if (found == nullptr || !Written(program_.root[buffer])) {
    return InvalidPlan("buffer `", name, "` is read before it is written: nothing wrote ", TextOf(bytes),
                       " of it before ", use);
  }
  return InvalidPlan("buffer `", name, "` is overwritten while live: ", Text(found->writer), " wrote `",
                     program_.buffer(At(found->writer, bytes)).name(), "` over ", TextOf(bytes), " before ", use);
}

absl::Status RaceDetector::CheckMetrics() {
  for (const Metric& metric : program_.plan->metrics()) {
    if (metric.stage() != program_.index) continue;
    const int32_t b = metric.buffer();
    const int32_t writer = program_.writer[b];
    const ByteRange bytes = program_.MetricRangeOf(b);
    absl::Status status;
    map_.ForEach(bytes.begin, bytes.end, [&](int64_t begin, int64_t end, const Content* content) {
      if (content == nullptr || content->root != program_.root[b]) {
        status = Missing("the step ends", b, content, {begin, end});
      } else if (writer >= 0 && content->writer.actor != writer) {
        status =
            InvalidPlan("buffer `", program_.buffer(b).name(), "` is overwritten while live: ", Text(content->writer),
                        " wrote `", program_.buffer(content->writer.buffer).name(), "` before the step ends");
      }
      return status.ok();
    });
    if (!status.ok()) return Under(absl::StrCat("metric `", metric.name(), "`"), status);
  }
  return absl::OkStatus();
}

std::string RaceDetector::Text(const Access& access) const {
  return ActText(program_.actor(access.actor), access.micro_batch);
}

std::string RaceDetector::Text(const Act& act) const { return ActText(program_.actor(act.actor), act.micro_batch); }

int32_t RaceDetector::At(const Access& access, const ByteRange& bytes) const {
  int32_t found = access.buffer;
  if (access.stream < 0 ||
      program_.RangeOf(found, program_.SlotOf(access.actor, found, access.micro_batch)).Overlaps(bytes)) {
    return found;
  }
  for (const Work& work : program_.work[access.actor]) {
    for (int32_t b : work.writes) {
      if (program_.RangeOf(b, program_.SlotOf(access.actor, b, access.micro_batch)).Overlaps(bytes)) found = b;
    }
  }
  return found;
}

}  // namespace weft::plan
