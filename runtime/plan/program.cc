#include "runtime/plan/program.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "runtime/plan/layout.h"
#include "runtime/plan/names.h"

namespace weft::plan {
namespace {

int32_t RootOf(const Stage& stage, int32_t b) {
  while (stage.buffers(b).alias_of() != 0) b = stage.buffers(b).alias_of() - 1;
  return b;
}

bool Persists(const Buffer& buffer) {
  return buffer.kind() == Buffer::PARAMETER || buffer.kind() == Buffer::OPTIMIZER || buffer.kind() == Buffer::CACHE ||
         buffer.has_init();
}

bool HasEpilogueAdd(const Kernel& kernel) {
  const auto epilogue = kernel.attributes().find("epilogue");
  return epilogue != kernel.attributes().end() && epilogue->second.string() == "add";
}

Work WorkOf(const Kernel& kernel, const std::vector<int32_t>& root) {
  Work work;
  work.reads.assign(kernel.inputs().begin(), kernel.inputs().end());
  work.writes.assign(kernel.outputs().begin(), kernel.outputs().end());
  if (FetchesSum(kernel) && work.reads.size() == 1) work.accumulator = work.reads[0];
  // accumulate(x, sum) -> sum, accumulate_einsum(left, right, sum) -> sum, einsum(left, right, sum) epilogue(add) ->
  // sum, and of embedding_grad(ids, gradient) the same
  const auto is = [&kernel](const char* name) { return kernel.name() == name; };
  const bool adds = (is("einsum") || is("embedding_grad")) && HasEpilogueAdd(kernel);
  const bool makes = adds || is("accumulate_einsum") || is("accumulate_embedding_grad");
  const size_t reads = is("accumulate") ? 2 : makes ? 3 : 0;
  if (reads == 0 || work.reads.size() != reads || work.writes.size() != 1) return work;
  const int32_t sum = work.reads.back();
  const bool also = std::find(work.reads.begin(), work.reads.end() - 1, sum) != work.reads.end() - 1;
  if (root[sum] == root[work.writes[0]] && !also) (adds ? work.added_to : work.accumulator) = sum;
  return work;
}

std::vector<Work> WorkOf(const Program& program, const Actor& actor) {
  std::vector<Work> works;
  for (const Kernel& kernel : actor.kernels()) works.push_back(WorkOf(kernel, program.root));
  if (actor.collectives_size() > 0) {
    Work& bundle = works.emplace_back();
    for (const Collective& collective : actor.collectives()) {
      bundle.reads.push_back(collective.input());
      bundle.writes.push_back(collective.output());
    }
  }
  if (actor.end_case() == Actor::kSend) {
    works.push_back({{program.plan->transfers(actor.send()).source_buffer()}, {}});
  }
  if (actor.end_case() == Actor::kReceive) {
    works.push_back({{}, {program.plan->transfers(actor.receive()).target_buffer()}});
  }
  return works;
}

void AddBuffers(Program& program) {
  const Stage& stage = *program.stage;
  const int count = stage.buffers_size();
  program.metric.assign(count, false);
  program.writer.assign(count, -1);
  program.readers.assign(count, {});
  for (int b = 0; b < count; ++b) {
    program.root.push_back(RootOf(stage, b));
    program.on_device.push_back(stage.buffers(program.root.back()).tier() == 0);
    program.offset.push_back(stage.buffers(b).offset() + stage.buffers(program.root.back()).tier() * kTierSpan);
    program.slots.push_back(stage.buffers(b).slots());
    const auto& offsets = stage.buffers(b).slot_offsets();
    program.slot_offsets.push_back(offsets.empty() ? nullptr : offsets.data());
    program.exact_bytes.push_back(LocalBytes(*program.placement, stage.buffers(b)));
    program.slot_bytes.push_back(AlignUp(program.exact_bytes.back()));
    program.persistent.push_back(Persists(stage.buffers(program.root[b])));
  }
  for (const Metric& metric : program.plan->metrics()) {
    if (metric.stage() == program.index) program.metric[metric.buffer()] = true;
  }
}

// Whether all that an actor writes of a root are products that add to it, and there is one.
bool OnlyAdds(const Program& program, int32_t actor, int32_t root) {
  bool adds = false;
  for (const Work& work : program.work[actor]) {
    const bool writes =
        std::any_of(work.writes.begin(), work.writes.end(), [&](int32_t b) { return program.root[b] == root; });
    if (writes && work.added_to < 0) return false;
    adds |= writes;
  }
  return adds;
}

// The next actor that adds to what `actor` has made of a root; -1: none.
int32_t NextToAdd(const Program& program, int32_t actor, int32_t root) {
  for (int32_t b : program.actor(actor).writes()) {
    if (program.root[b] != root) continue;
    for (int32_t reader : program.readers[b]) {
      if (reader != actor && program.micro(reader) && OnlyAdds(program, reader, root)) return reader;
    }
  }
  return -1;
}

void SetLastToAdd(Program& program) {
  program.last_to_add.assign(program.root.size(), -1);
  for (int32_t a = 0; a < static_cast<int32_t>(program.work.size()); ++a) {
    if (!program.micro(a)) continue;
    for (const Work& work : program.work[a]) {
      if (work.accumulator < 0) continue;
      // What is fetched, a store has left.
      int32_t last = MovesTiers(program.actor(a)) ? program.writer[work.accumulator] : a;
      if (last < 0) continue;
      // None comes twice in a plan that is not blocked; in others the proof ends before anybody asks.
      for (size_t steps = 0; steps < program.work.size(); ++steps) {
        const int32_t next = NextToAdd(program, last, program.root[work.accumulator]);
        if (next < 0 || next == a) break;
        last = next;
      }
      program.last_to_add[work.accumulator] = last;
    }
  }
}

}  // namespace

bool IsPort(const Kernel& kernel) { return kernel.name() == "input" || kernel.name() == "output"; }
bool HasPort(const Actor& actor) { return std::any_of(actor.kernels().begin(), actor.kernels().end(), &IsPort); }

bool MovesTier(const Kernel& kernel) { return kernel.name() == kFetch || kernel.name() == kStore; }

bool FetchesSum(const Kernel& kernel) { return kernel.name() == kFetch && kernel.attributes().contains(kSum); }

bool MovesTiers(const Actor& actor) {
  return actor.kernels_size() > 0 && std::all_of(actor.kernels().begin(), actor.kernels().end(), &MovesTier);
}

int32_t TierOfWork(const Program& program, int32_t actor) {
  for (const Kernel& kernel : program.actor(actor).kernels()) {
    if (MovesTier(kernel)) continue;
    for (const auto* operands : {&kernel.inputs(), &kernel.outputs()}) {
      for (int32_t b : *operands) {
        if (!program.on_device[b]) return program.buffer(program.root[b]).tier();
      }
    }
  }
  return 0;
}

std::string TextOf(const ByteRange& bytes) {
  const int64_t tier = bytes.begin / kTierSpan, base = tier * kTierSpan;
  return absl::StrCat("bytes ", bytes.begin - base, " to ", bytes.end - base,
                      tier == 0 ? "" : absl::StrCat(" of tier ", tier - 1));
}

int32_t Program::SourceOf(int32_t b) const {
  while (writer[b] < 0 && buffer(b).alias_of() != 0) b = buffer(b).alias_of() - 1;
  return b;
}

int64_t Program::SlotOf(int32_t a, int32_t b, int64_t micro_batch) const {
  if (slots[b] <= 1) return 0;
  if (micro(a)) return micro_batch % slots[b];
  b = SourceOf(b);
  const auto& reads = actor(a).reads();
  const bool last = writer[b] >= 0 && micro(writer[b]) && std::find(reads.begin(), reads.end(), b) != reads.end();
  return last ? (micro_batches - 1) % slots[b] : 0;
}

ByteRange Program::RangeOf(int32_t b, int64_t slot) const {
  const int64_t begin = slot_offsets[b] == nullptr ? offset[b] + slot * slot_bytes[b] : slot_offsets[b][slot];
  return {begin, begin + slot_bytes[b]};
}

std::string Program::WorkText(int32_t a, int work) const {
  const Actor& actor = this->actor(a);
  if (work >= 0 && work < actor.kernels_size()) {
    const Kernel& kernel = actor.kernels(work);
    return absl::StrCat("kernel ", work, " `", kernel.name(), "`", kernel.location().empty() ? "" : " at ",
                        kernel.location());
  }
  if (actor.collectives_size() != 1) return BundleText(actor);
  const std::string& location = actor.collectives(0).location();
  return absl::StrCat(BundleText(actor), location.empty() ? "" : " at ", location);
}

std::string Program::Where(int32_t a, int work) const {
  const std::string text = WorkText(a, work);
  return absl::StrCat("actor `", actor(a).name(), "`", text.empty() ? "" : ": ", text);
}

std::vector<TransferEnds> EndsOf(absl::Span<const Program> programs) {
  std::vector<TransferEnds> ends(programs.empty() ? 0 : programs[0].plan->transfers_size());
  for (const Program& program : programs) {
    for (int32_t a = 0; a < program.stage->actors_size(); ++a) {
      if (program.actor(a).end_case() == Actor::kSend) ends[program.actor(a).send()].sender = a;
      if (program.actor(a).end_case() == Actor::kReceive) ends[program.actor(a).receive()].receiver = a;
    }
  }
  return ends;
}

Program ProgramOf(const Plan& plan, int stage) {
  Program program;
  program.plan = &plan;
  program.stage = &plan.stages(stage);
  program.placement = &plan.placements(program.stage->placement());
  program.index = stage;
  program.micro_batches = plan.header().micro_batches();
  AddBuffers(program);
  for (int a = 0; a < program.stage->actors_size(); ++a) {
    const Actor& actor = program.stage->actors(a);
    program.work.push_back(WorkOf(program, actor));
    for (int32_t b : actor.writes()) program.writer[b] = a;
    for (int32_t b : actor.reads()) program.readers[b].push_back(a);
  }
  SetLastToAdd(program);
  return program;
}

std::vector<Program> ProgramsOf(const Plan& plan) {
  std::vector<Program> programs;
  for (int s = 0; s < plan.stages_size(); ++s) programs.push_back(ProgramOf(plan, s));
  return programs;
}

}  // namespace weft::plan
