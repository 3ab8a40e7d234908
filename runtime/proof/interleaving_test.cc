// The verifier against an independent judge: a simulator that runs acts in
// random order, several at a time as real streams do, over blocks of memory
// that remember who wrote them. A verified plan never goes wrong in it; most
// plans that are refused for their bytes do, when tried often enough.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/plan/program.h"
#include "runtime/proof/verify.h"
#include "tests/plans/corpus.h"
#include "tests/plans/mutator.h"

namespace weft::plan {
namespace {

class Simulator {
 public:
  Simulator(const std::vector<Program>& programs, std::mt19937_64& random) : programs_(programs), random_(random) {
    for (const Program& program : programs) {
      StageState& stage = stages_.emplace_back();
      stage.ended.resize(program.stage->actors_size(), 0);
      for (int32_t b = 0; b < program.stage->buffers_size(); ++b) {
        if (program.root[b] != b || !program.persistent[b]) continue;
        for (Block* block : Blocks(program.index, program.RangeOf(b, 0))) block->root = b;
      }
      for (const Stream& stream : program.stage->streams()) streams_.push_back(Expand(program, stream));
    }
  }

  // What went wrong, or nothing.
  std::string Run() {
    while (error_.empty()) {
      std::vector<StreamState*> able;
      bool all = true;
      for (StreamState& stream : streams_) {
        all = all && stream.next == stream.acts.size();
        if (stream.running || (stream.next < stream.acts.size() && Ready(stream))) able.push_back(&stream);
      }
      if (able.empty()) return all ? CheckEnd() : "blocked";
      StreamState& stream = *able[random_() % able.size()];
      stream.running ? End(stream) : Start(stream);
    }
    return error_;
  }

 private:
  struct Block {
    int32_t root = -1, actor = -1;
    int64_t micro_batch = 0;
    int readers = 0, writers = 0;  // acts under way
  };
  struct StageState {
    std::unordered_map<int64_t, Block> blocks;  // by their number; tiers are far from the arena (kTierSpan)
    std::vector<int64_t> ended;                 // acts of an actor
  };
  struct StreamState {
    int stage = 0;
    std::vector<std::pair<int32_t, int64_t>> acts;
    size_t next = 0;
    bool running = false;
    std::vector<Block*> reading, writing;  // each once
  };

  static StreamState Expand(const Program& program, const Stream& stream) {
    StreamState state;
    state.stage = program.index;
    for (const weft::plan::Run& run : stream.runs()) {
      for (int64_t r = 0; r < run.repeat(); ++r) {
        for (int k = 0; k < run.actors_size(); ++k) {
          const int32_t a = run.actors(k);
          state.acts.emplace_back(a, program.micro(a) ? weft::plan::MicroBatchOf(run, k, r) : 0);
        }
      }
    }
    return state;
  }

  std::vector<Block*> Blocks(int stage, const ByteRange& bytes) {
    std::vector<Block*> blocks;
    for (int64_t at = bytes.begin; at < bytes.end; at += 64) blocks.push_back(&stages_[stage].blocks[at / 64]);
    return blocks;
  }

  // The rules of plan.proto, over a network that buffers everything.
  bool Ready(const StreamState& stream) const {
    const Program& program = programs_[stream.stage];
    const std::vector<int64_t>& ended = stages_[stream.stage].ended;
    const auto [a, i] = stream.acts[stream.next];
    const Actor& actor = program.actor(a);
    for (int32_t b : actor.reads()) {
      const bool each = program.micro(a) && program.micro(program.writer[b]);
      const bool last = !program.micro(a) && program.micro(program.writer[b]);
      if (ended[program.writer[b]] <= (last ? program.micro_batches - 1 : each ? i : 0)) return false;
    }
    for (int32_t b : actor.writes()) {
      for (int32_t reader : program.readers[b]) {
        if (program.micro(a) && program.micro(reader) && ended[reader] <= i - program.slots[b]) return false;
      }
    }
    if (actor.end_case() != Actor::kReceive) return true;
    const Program& source = programs_[program.plan->transfers(actor.receive()).source_stage()];
    for (int32_t s = 0; s < source.stage->actors_size(); ++s) {
      const Actor& sender = source.actor(s);
      if (sender.end_case() == Actor::kSend && sender.send() == actor.receive()) {
        return stages_[source.index].ended[s] > i;
      }
    }
    return false;
  }

  void Start(StreamState& stream) {
    stream.running = true;
    const Program& program = programs_[stream.stage];
    const auto [a, i] = stream.acts[stream.next];
    for (const Work& work : program.work[a]) {
      std::vector<std::pair<Block*, int32_t>> read;
      for (int32_t b : work.reads) {
        if (!program.Reads(work, b, i)) continue;
        for (Block* block : Blocks(stream.stage, program.RangeOf(b, program.SlotOf(a, b, i)))) {
          Read(stream, *block, b);
          read.emplace_back(block, program.root[b]);
        }
      }
      std::vector<Block*> written;
      for (int32_t b : work.writes) {
        for (Block* block : Blocks(stream.stage, program.RangeOf(b, program.SlotOf(a, b, i)))) {
          for (const auto& [other, root] : read) {
            if (other == block && root != program.root[b]) error_ = "writes over what the kernel reads";
          }
          if (std::find(written.begin(), written.end(), block) != written.end()) error_ = "writes twice";
          written.push_back(block);
          Write(stream, *block, program.root[b]);
        }
      }
    }
  }

  void Read(StreamState& stream, Block& block, int32_t b) {
    const Program& program = programs_[stream.stage];
    const auto [a, i] = stream.acts[stream.next];
    const bool mine = std::find(stream.writing.begin(), stream.writing.end(), &block) != stream.writing.end();
    if (block.writers > (mine ? 1 : 0)) error_ = "reads what is being written";
    if (block.root != program.root[b]) error_ = "reads what is not there";
    const auto& reads = program.actor(a).reads();
    if (std::find(reads.begin(), reads.end(), b) != reads.end() && block.actor != a) {
      const int32_t writer = program.writer[b];
      const int64_t made = !program.micro(writer) ? 0 : program.micro(a) ? i : program.micro_batches - 1;
      if (block.actor != writer || block.micro_batch != made) error_ = "reads another micro-batch";
    }
    if (std::find(stream.reading.begin(), stream.reading.end(), &block) != stream.reading.end()) return;
    stream.reading.push_back(&block);
    ++block.readers;
  }

  void Write(StreamState& stream, Block& block, int32_t root) {
    const auto has = [&](const std::vector<Block*>& list) { return std::count(list.begin(), list.end(), &block); };
    if (block.writers > has(stream.writing) || block.readers > has(stream.reading)) error_ = "writes what is in use";
    block.root = root;
    block.actor = stream.acts[stream.next].first;
    block.micro_batch = stream.acts[stream.next].second;
    if (has(stream.writing) > 0) return;
    stream.writing.push_back(&block);
    ++block.writers;
  }

  void End(StreamState& stream) {
    for (Block* block : stream.reading) --block->readers;
    for (Block* block : stream.writing) --block->writers;
    stream.reading.clear();
    stream.writing.clear();
    stream.running = false;
    ++stages_[stream.stage].ended[stream.acts[stream.next++].first];
  }

  std::string CheckEnd() {
    for (const Program& program : programs_) {
      for (int32_t b = 0; b < program.stage->buffers_size(); ++b) {
        const bool kept =
            program.root[b] == b && (program.persistent[b] || (program.metric[b] && program.slots[b] == 1));
        if (!kept) continue;
        for (Block* block : Blocks(program.index, program.RangeOf(b, 0))) {
          if (block->root != b) return "state or a metric is lost";
        }
      }
    }
    return "";
  }

  const std::vector<Program>& programs_;
  std::mt19937_64& random_;
  std::vector<StageState> stages_;
  std::vector<StreamState> streams_;
  std::string error_;
};

// Moves some buffers, with their views, to random places.
void Scatter(Plan& plan, std::mt19937_64& random) {
  for (Stage& stage : *plan.mutable_stages()) {
    const int64_t places = stage.arena_bytes() / 64;
    for (int moves = 1 + random() % 3; moves > 0; --moves) {
      const int b = random() % stage.buffers_size();
      if (stage.buffers(b).alias_of() != 0) continue;
      const int64_t shift = 64 * static_cast<int64_t>(random() % places) - stage.buffers(b).offset();
      for (int v = 0; v < stage.buffers_size(); ++v) {
        Buffer& view = *stage.mutable_buffers(v);
        if (v == b || view.alias_of() == b + 1) view.set_offset(view.offset() + shift);
      }
    }
  }
}

struct Tally {
  int verified = 0, refused = 0, caught = 0;
};

void Judge(const Plan& plan, std::mt19937_64& random, Tally& tally) {
  const absl::Status status = Verify(plan);
  if (status.code() == absl::StatusCode::kInvalidArgument) return;
  const std::vector<Program> programs = ProgramsOf(plan);
  int64_t bytes = 0;
  for (const Program& program : programs) bytes = std::max(bytes, program.stage->arena_bytes());
  if (bytes > 1 << 16 || plan.header().micro_batches() > 64) return;
  std::string error;
  for (int tries = 0; tries < (status.ok() ? 8 : 40) && error.empty(); ++tries) {
    error = Simulator(programs, random).Run();
  }
  if (status.ok()) {
    ++tally.verified;
    EXPECT_EQ(error, "") << plan.DebugString();
  } else {
    ++tally.refused;
    tally.caught += !error.empty();
  }
}

TEST(Interleavings, OfVerifiedPlansNeverGoWrong) {
  const absl::StatusOr<std::vector<CorpusPlan>> corpus = ReadCorpus("tests/plans");
  ASSERT_TRUE(corpus.ok()) << corpus.status();
  std::mt19937_64 random(1729);
  Mutator mutator(42);
  Tally scattered, mutated;
  for (const CorpusPlan& base : *corpus) {
    if (!base.expect.empty()) continue;
    for (int i = 0; i < 200; ++i) {
      Plan plan = base.plan;
      Scatter(plan, random);
      Judge(plan, random, scattered);
      Plan other = base.plan;
      mutator.Mutate(&other);
      Judge(other, random, mutated);
    }
  }
  EXPECT_GT(scattered.verified, 100);
  EXPECT_GT(mutated.verified, 300);
  // A refusal is not a guess: random order finds most of the faults as well.
  EXPECT_GT(scattered.refused, 300);
  EXPECT_GE(scattered.caught, scattered.refused * 9 / 10) << scattered.caught << " of " << scattered.refused;
}

}  // namespace
}  // namespace weft::plan
