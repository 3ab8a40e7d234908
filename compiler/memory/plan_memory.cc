#include "compiler/memory/plan_memory.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "compiler/memory/blocks.h"
#include "compiler/memory/offset_search.h"
#include "runtime/measure/lives.h"
#include "runtime/plan/program.h"
#include "runtime/semantics/execution.h"
#include "runtime/semantics/orders.h"

namespace weft::compiler {
namespace {

// An arena that leaves half of the device free is not worth a search.
constexpr double kFree = 0.5;

// Receives need not wait for a free slot if that makes little more live, on all stages together: 2 %. Then each
// micro-batch may have a place of its own, which leaves more layouts. Example: GPT-2 124M, interleaved on 4 stages with
// 8 micro-batches and recompute FULL, has 1.7 % more live and needs 2 % fewer bytes.
constexpr double kLittleMore = 1.02;

// No more places than this for what micro-batches have in turn, and none for less than such a share of the bound: each
// is a number in the plan. 48 layers with 30 such buffers and 64 places are 90,000.
constexpr int64_t kMostPlaces = 64;
constexpr int64_t kLeastShare = 10'000;

// No more looks at placed blocks than this for each byte of the bound: a few bytes are worth no seconds. Example: a
// stage of 100 KiB gets some 30 ms, GPT-2 tiny of 20 MB what it asks for.
constexpr int64_t kLooksPerByte = 100;

// The search goes on with the best layouts so far, fewer and fewer, while the best arena is this much above the bound.
// For each it looks at so many placed blocks, some 300 million in a second of a core: at most fifteen seconds a stage.
// A layout of few blocks may gain most by long searches. Example: GPT-2 124M as a zero bubble in the form V, 4 stages,
// 64 micro-batches: with 12 places it has 1,700 blocks, is not among the best three after the first round, and ends
// below 3 % with 500 million looks, where those of 7,000 blocks hardly gain any more.
struct Round {
  double above = 1;
  size_t layouts = 0;
  int64_t effort = 0;
};
constexpr Round kRounds[] = {{1.02, 6, 40000000}, {1.02, 6, 120000000}, {1.03, 4, 500000000}, {1.03, 1, 1500000000}};

// Stages that share the effort of so many: a plan of 35 stages is laid out in the time of one of 8. Without that GPT
// with 529.6 billion parameters on 35 stages was not laid out after 580 s of a core, where it was stopped.
constexpr int64_t kStages = 8;

// Whether something fits is asked of many plans, so it is worth the first round alone. Example: recompute AUTO tries
// five policies of GPT-2 175B on 8 stages; with all rounds a stage that just does not fit would take its 15 s in each.
// Where micro-batches overlap there is more to place: all rounds took GPT-2 175B on 8 stages minutes.
absl::Span<const Round> RoundsFor(const MemoryOptions& options, int64_t overlap) {
  return absl::MakeConstSpan(kRounds, options.limit_bytes > 0 ? 1 : overlap > 1 ? 2 : std::size(kRounds));
}

int64_t LowerBound(const plan::Program& program, plan::Orders& orders) {
  plan::Lives lives(program);
  int64_t bound = 0;
  for (plan::Orders::Rule rule : orders.rules()) bound = std::max(bound, lives.LowerBound(orders.In(rule)));
  return bound;
}

// What the slots of a stage's buffers need, if those that may have `number` places.
struct SlotLayout {
  SlotLayout(const plan::Program& program, const plan::Orders& orders, std::vector<int32_t> counts,
             std::vector<int32_t> sharing, int64_t enough)
      : slots(std::move(counts)),
        together(std::move(sharing)),
        blocks(program, orders, slots, together),
        search(blocks) {
    search.Start(enough);
  }

  int64_t arena() const { return search.arena(); }

  std::vector<int32_t> slots, together;  // a buffer each: see Blocks
  const Blocks blocks;
  OffsetSearch search;
};

// Finds the best layout of one stage.
class StagePlanner {
 public:
  // `free`: a buffer each, whether it may have more slots than the schedule gives it.
  StagePlanner(const plan::Program& program, const plan::Orders& orders, std::vector<bool> free, int64_t bound)
      : program_(program), orders_(orders), free_(std::move(free)), bound_(bound), overlap_(OverlapOf(program)) {}

  bool IsEnough(const MemoryOptions& options, int64_t arena) const {
    return arena <= Enough(options, kRounds[std::size(kRounds) - 1]);
  }

  std::unique_ptr<SlotLayout> Make(const MemoryOptions& options) const {
    const auto enough = [&](const Round& round) { return Enough(options, round); };
    std::vector<std::unique_ptr<SlotLayout>> layouts;
    for (int64_t number : Numbers()) {
      layouts.push_back(WithPlaces(number, std::max(bound_, options.limit_bytes)));
      if (layouts.back()->arena() <= enough(kRounds[0])) return std::move(layouts.back());
    }
    const auto smaller = [](const auto& a, const auto& b) { return a->arena() < b->arena(); };
    uint32_t seed = options.seed;
    const int64_t stages = std::max<int64_t>(program_.plan->stages_size(), kStages);
    for (const Round& round : RoundsFor(options, overlap_)) {
      std::stable_sort(layouts.begin(), layouts.end(), smaller);
      layouts.resize(std::min(layouts.size(), round.layouts));
      if (layouts[0]->arena() <= enough(round)) break;
      for (std::unique_ptr<SlotLayout>& layout : layouts) {
        layout->search.Search(enough(round), std::min(round.effort * kStages / stages, kLooksPerByte * bound_), seed);
        seed += kSeeds;
        if (layout->arena() <= enough(round)) return std::move(layout);
      }
    }
    return std::move(*std::min_element(layouts.begin(), layouts.end(), smaller));
  }

 private:
  int64_t Enough(const MemoryOptions& options, const Round& round) const {
    return std::max({static_cast<int64_t>(round.above * static_cast<double>(bound_)),
                     static_cast<int64_t>(kFree * static_cast<double>(options.device_bytes)), options.limit_bytes});
  }

  static constexpr uint32_t kSeeds = 1000;  // from one search to the next, each of which takes a few

  // How many places the micro-batches may have in turn. As many as the schedule needs, side by side, is the least that
  // a plan can say. Up to as many as there are stages suit a pipeline, since so many micro-batches are under way; and
  // multiples of that, as interleaved chunks come in such groups. With a place for each micro-batch nothing is in the
  // way. Of micro-batches that overlap, those of a turn count as one. On one stage they come one after the other, and
  // more places never made less of it in sixteen plans of GPT-2 and Llama, but for 0.15 % in one with overlap.
  std::vector<int64_t> Numbers() const {
    const int64_t stages = program_.plan->stages_size(), turns = program_.micro_batches / overlap_;
    std::vector<int64_t> numbers = {1};
    if (stages == 1) return numbers;
    for (int64_t i = 2; i <= std::min(turns, kMostPlaces / overlap_); ++i) {
      if (i <= stages || i % stages == 0 || i == turns) numbers.push_back(i);
    }
    return numbers;
  }

  std::unique_ptr<SlotLayout> WithPlaces(int64_t number, int64_t enough) const {
    std::vector<int32_t> slots = program_.slots, together = slots;
    for (size_t b = 0; b < slots.size() && number > 1; ++b) {
      if (program_.slot_bytes[b] < bound_ / kLeastShare) continue;
      // What one actor alone touches is needed for one micro-batch of a turn at a time.
      const int64_t turn = slots[b] % overlap_ == 0 ? overlap_ : 1;
      if (free_[b] && slots[b] <= number * turn) slots[b] = static_cast<int32_t>(number * turn);
      together[b] = static_cast<int32_t>(turn);
    }
    return std::make_unique<SlotLayout>(program_, orders_, std::move(slots), std::move(together), enough);
  }

  const plan::Program& program_;
  const plan::Orders& orders_;
  const std::vector<bool> free_;
  const int64_t bound_;
  const int64_t overlap_;  // micro-batches that are under way together
};

void Set(const plan::Program& program, const SlotLayout& layout, plan::Stage& stage) {
  auto offset = layout.search.offsets().begin();
  for (int b = 0; b < stage.buffers_size(); ++b) {
    plan::Buffer& buffer = *stage.mutable_buffers(b);
    const int32_t root = program.root[b];
    if (root != b) {
      buffer.set_slots(stage.buffers(root).slots());
      buffer.set_offset(stage.buffers(root).offset());
      *buffer.mutable_slot_offsets() = stage.buffers(root).slot_offsets();
      continue;
    }
    if (!program.on_device[b]) continue;
    const int32_t slots = layout.slots[b], together = layout.together[b];
    buffer.set_slots(slots);
    buffer.clear_slot_offsets();
    buffer.set_offset(*offset);
    if (slots == together) {
      ++offset;
      continue;
    }
    for (int32_t i = 0; i < slots; ++i) {
      buffer.add_slot_offsets(*offset + i % together * program.slot_bytes[b]);
      if (i % together == together - 1) ++offset;
    }
  }
  stage.set_arena_bytes(layout.arena());
}

// One buffer after another: a tier has room, and what is planned there needs to know no lives.
void PlaceInTiers(const plan::Program& program, plan::Stage& stage) {
  stage.clear_tier_bytes();
  for (int b = 0; b < stage.buffers_size(); ++b) {
    plan::Buffer& buffer = *stage.mutable_buffers(b);
    if (buffer.tier() == 0 || program.root[b] != b) continue;
    while (stage.tier_bytes_size() < buffer.tier()) stage.add_tier_bytes(0);
    const int64_t begin = stage.tier_bytes(buffer.tier() - 1);
    buffer.set_offset(begin);
    stage.set_tier_bytes(buffer.tier() - 1, begin + buffer.slots() * program.slot_bytes[b]);
  }
}

// The order of the acts of a plan, a stage each, and the most bytes that are live in it.
struct Recorded {
  explicit Recorded(const plan::Plan& plan)
      : programs(plan::ProgramsOf(plan)), stages(programs.begin(), programs.end()) {}

  absl::Status Record() {
    const absl::Status status = plan::Execute(programs, [&](const plan::Act& act) {
      stages[act.stage].Add(act);
      return absl::OkStatus();
    });
    for (size_t s = 0; s < programs.size() && status.ok(); ++s) bounds.push_back(LowerBound(programs[s], stages[s]));
    return status;
  }

  double Live() const { return static_cast<double>(std::accumulate(bounds.begin(), bounds.end(), int64_t{0})); }

  const std::vector<plan::Program> programs;
  std::vector<plan::Orders> stages;
  std::vector<int64_t> bounds;
};

// The plan of these programs with as many slots as any buffer will ever get; nothing if it has them.
std::optional<plan::Plan> Loosened(const std::vector<plan::Program>& programs) {
  std::optional<plan::Plan> loose;
  for (const plan::Program& program : programs) {
    const std::vector<bool> may = AreOfMicroBatch(program);
    const int64_t most = std::min(kMostPlaces, program.micro_batches);
    for (int b = 0; b < program.stage->buffers_size(); ++b) {
      if (!may[program.root[b]] || program.slots[b] >= most) continue;
      if (!loose) loose = *program.plan;
      loose->mutable_stages(program.index)->mutable_buffers(b)->set_slots(static_cast<int32_t>(most));
    }
  }
  return loose;
}

// Whether a plan has the slots that its programs had when they were recorded: then it has that order too.
bool HasSlotsOf(const plan::Plan& plan, const Recorded& recorded) {
  return std::all_of(recorded.programs.begin(), recorded.programs.end(), [&](const plan::Program& program) {
    const auto& buffers = plan.stages(program.index).buffers();
    return std::equal(buffers.begin(), buffers.end(), program.slots.begin(),
                      [](const plan::Buffer& buffer, int32_t slots) { return buffer.slots() == slots; });
  });
}

}  // namespace

absl::Status PlanMemory(const MemoryOptions& options, plan::Plan* plan) {
  // A stage gets other slots and offsets when nobody asks for its program any more; the order knows no offsets.
  Recorded tight(*plan);
  for (const plan::Program& program : tight.programs) PlaceInTiers(program, *plan->mutable_stages(program.index));
  if (absl::Status status = tight.Record(); !status.ok()) return status;
  // More slots make no less live.
  const auto is_hopeless = [&](const plan::Program& program) {
    return options.limit_bytes > 0 && tight.bounds[program.index] > options.limit_bytes;
  };
  if (std::all_of(tight.programs.begin(), tight.programs.end(), is_hopeless)) {
    for (const plan::Program& program : tight.programs) {
      plan::Stage& stage = *plan->mutable_stages(program.index);
      stage.set_arena_bytes(tight.bounds[program.index]);
      stage.set_lower_bound_bytes(tight.bounds[program.index]);
    }
    return absl::OkStatus();
  }
  const std::optional<plan::Plan> loose = Loosened(tight.programs);
  std::optional<Recorded> loosened;
  if (loose) {
    loosened.emplace(*loose);
    if (absl::Status status = loosened->Record(); !status.ok()) return status;
  }
  const Recorded& free = loosened ? *loosened : tight;
  // Of a stage, for the slots that its program has: more slots change nothing of the order.
  const auto may_have_more = [&](const plan::Program& program) {
    std::vector<bool> may = AreOfMicroBatch(program);
    const std::vector<bool> never =
        NeverWaited(free.programs[program.index], free.stages[program.index], program.slots);
    std::transform(may.begin(), may.end(), never.begin(), may.begin(), std::logical_and<>());
    return may;
  };
  const bool loosen = free.Live() <= kLittleMore * tight.Live();
  const Recorded& order = loosen ? free : tight;
  for (const plan::Program& program : tight.programs) {
    if (is_hopeless(program)) {
      plan->mutable_stages(program.index)->set_arena_bytes(tight.bounds[program.index]);
      continue;
    }
    const StagePlanner planner(program, order.stages[program.index],
                               loosen ? AreOfMicroBatch(program) : may_have_more(program), order.bounds[program.index]);
    Set(program, *planner.Make(options), *plan->mutable_stages(program.index));
  }
  // With the slots that it has now, a plan may have less live than the order that they were chosen with.
  std::optional<Recorded> again;
  if (!HasSlotsOf(*plan, tight)) {
    again.emplace(*plan);
    if (absl::Status status = again->Record(); !status.ok()) return status;
  }
  const Recorded& planned = again ? *again : tight;
  for (const plan::Program& program : planned.programs) {
    plan::Stage& stage = *plan->mutable_stages(program.index);
    if (is_hopeless(program)) continue;
    const StagePlanner planner(program, planned.stages[program.index], may_have_more(program),
                               planned.bounds[program.index]);
    if (planner.IsEnough(options, stage.arena_bytes())) continue;
    const std::unique_ptr<SlotLayout> layout = planner.Make(options);
    if (layout->arena() < stage.arena_bytes()) Set(program, *layout, stage);
  }
  std::optional<Recorded> last;
  if (!HasSlotsOf(*plan, planned)) {
    last.emplace(*plan);
    if (absl::Status status = last->Record(); !status.ok()) return status;
  }
  const std::vector<int64_t>& bounds = last ? last->bounds : planned.bounds;
  for (size_t s = 0; s < bounds.size(); ++s) {
    plan->mutable_stages(static_cast<int>(s))->set_lower_bound_bytes(bounds[s]);
  }
  return absl::OkStatus();
}

}  // namespace weft::compiler
