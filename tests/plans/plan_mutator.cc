#include "tests/plans/plan_mutator.h"

#include <algorithm>
#include <map>
#include <utility>

#include "runtime/plan/layout.h"
#include "runtime/plan/program.h"

namespace weft::plan {
namespace {

constexpr int kMostActs = 2000;  // of a stream whose order is changed

void EraseValue(google::protobuf::RepeatedField<int32_t>* list, int at) {
  list->SwapElements(at, list->size() - 1);
  list->RemoveLast();
}

int32_t RootOf(const Stage& stage, int32_t b) {
  for (int steps = 0; stage.buffers(b).alias_of() > 0 && steps < stage.buffers_size(); ++steps) {
    if (stage.buffers(b).alias_of() > stage.buffers_size()) break;
    b = stage.buffers(b).alias_of() - 1;
  }
  return b;
}

}  // namespace

void PlanMutator::Mutate(Plan* plan) {
  if (plan->stages_size() == 0 || Coin(8)) return fields_.Mutate(plan);
  Stage& stage = *plan->mutable_stages(Below(plan->stages_size()));
  if (stage.buffers_size() == 0 || stage.actors_size() == 0 || stage.streams_size() == 0) return;
  switch (Below(20)) {
    case 0:
    case 1:
    case 2:
      return MoveBuffer(stage);
    case 3:
      return ChangeSlots(*plan, stage);
    case 4:
      return Coin() ? ScatterSlots(stage) : ChangeSlots(*plan, stage);
    case 5:
      return ChangeView(stage);
    case 6:
    case 7:
    case 8:
      return ChangeOrder(stage);
    case 9:
    case 10:
      return ChangeStream(stage);
    case 11:
      return MergeStreams(stage);
    case 12:
      return ChangeSection(*plan, stage);
    case 13:
      return ChangeLists(stage);
    case 14:
    case 15:
      return ChangeOperand(stage);
    case 16:
      return MoveKernel(stage);
    case 17:
      return ChangeBundles(stage);
    case 18:
      return ChangeMicroBatches(*plan);
    default:
      return Coin(3) ? ChangeMetric(*plan) : ChangeTransfer(*plan);
  }
}

// With its views; mostly to where another one begins or ends.
void PlanMutator::MoveBuffer(Stage& stage) {
  const int32_t root = RootOf(stage, Below(stage.buffers_size()));
  const Buffer& other = stage.buffers(Below(stage.buffers_size()));
  const int64_t old = stage.buffers(root).offset();
  int64_t offset = other.offset() + (Coin() ? 0 : kAlignment * (Below(9) - 4));
  if (Coin(8)) offset = stage.arena_bytes();
  offset = std::max<int64_t>(offset, 0);
  for (int b = 0; b < stage.buffers_size(); ++b) {
    if (RootOf(stage, b) != root) continue;
    Buffer& moved = *stage.mutable_buffers(b);
    moved.set_offset(moved.offset() + offset - old);
    for (int64_t& slot : *moved.mutable_slot_offsets()) slot = std::max<int64_t>(slot + offset - old, 0);
  }
  if (Coin()) stage.set_arena_bytes(stage.arena_bytes() + 4096);
}

// Of a register and its views, at its place or behind everything.
void PlanMutator::ChangeSlots(const Plan& plan, Stage& stage) {
  const int32_t root = RootOf(stage, Below(stage.buffers_size()));
  const int32_t slots = std::max(1, stage.buffers(root).slots() + (Coin() ? 1 : -1));
  const bool behind = Coin();
  for (int b = 0; b < stage.buffers_size(); ++b) {
    if (RootOf(stage, b) != root) continue;
    stage.mutable_buffers(b)->set_slots(slots);
    stage.mutable_buffers(b)->clear_slot_offsets();
    if (behind) stage.mutable_buffers(b)->set_offset(AlignUp(stage.arena_bytes()));
  }
  if (stage.placement() < 0 || stage.placement() >= plan.placements_size() || !behind) return;
  stage.set_arena_bytes(AlignUp(stage.arena_bytes()) + int64_t{slots} * 65536);
}

// Puts the slots of a buffer and its views where others lie.
void PlanMutator::ScatterSlots(Stage& stage) {
  const int32_t root = RootOf(stage, Below(stage.buffers_size()));
  const Buffer& whole = stage.buffers(root);
  if (whole.slots() < 2 || whole.slots() > 64) return;
  std::vector<int64_t> offsets = {whole.offset()};
  for (int i = 1; i < whole.slots(); ++i) {
    const int64_t line = Below(stage.arena_bytes() / kAlignment) * kAlignment;
    offsets.push_back(Coin() ? stage.buffers(Below(stage.buffers_size())).offset() : line);
  }
  for (int b = 0; b < stage.buffers_size(); ++b) {
    if (RootOf(stage, b) != root) continue;
    stage.mutable_buffers(b)->mutable_slot_offsets()->Assign(offsets.begin(), offsets.end());
  }
}

void PlanMutator::ChangeView(Stage& stage) {
  const int b = Below(stage.buffers_size()), other = Below(stage.buffers_size());
  Buffer& buffer = *stage.mutable_buffers(b);
  if (buffer.alias_of() != 0 && Coin()) {
    buffer.set_alias_of(0);
  } else {
    buffer.set_alias_of(other + 1);
    buffer.set_offset(stage.buffers(other).offset() + (Coin(4) ? kAlignment : 0));
    buffer.set_slots(stage.buffers(other).slots());
    *buffer.mutable_slot_offsets() = stage.buffers(other).slot_offsets();
  }
}

PlanMutator::Order PlanMutator::OrderOf(const Stage& stage, int stream) {
  Order order;
  for (const Run& run : stage.streams(stream).runs()) {
    for (int64_t i = 0; i < run.repeat() && order.size() < kMostActs; ++i) {
      for (int k = 0; k < run.actors_size(); ++k) {
        order.push_back({run.actors(k), MicroBatchOf(run, k, i)});
      }
    }
  }
  return order;
}

void PlanMutator::Sort(const Stage& stage, Order& order) {
  std::map<int32_t, std::vector<int64_t>> micro_batches;
  for (const Place& place : order) micro_batches[place.actor].push_back(place.micro_batch);
  for (auto& [actor, list] : micro_batches) std::sort(list.rbegin(), list.rend());
  for (Place& place : order) {
    place.micro_batch = micro_batches[place.actor].back();
    micro_batches[place.actor].pop_back();
  }
}

void PlanMutator::SetOrder(Stage& stage, int stream, Order order) {
  if (order.size() >= kMostActs) return;
  Sort(stage, order);
  Stream& it = *stage.mutable_streams(stream);
  it.clear_runs();
  const bool one = Coin();
  for (const Place& place : order) {
    const bool fresh = !one || it.runs_size() == 0;
    Run& run = fresh ? *it.add_runs() : *it.mutable_runs(it.runs_size() - 1);
    run.set_repeat(1);
    run.add_actors(place.actor);
    if (one) {
      run.add_offsets(place.micro_batch);
    } else {
      run.set_first_micro_batch(place.micro_batch);
    }
  }
}

void PlanMutator::ChangeOrder(Stage& stage) {
  const int stream = Below(stage.streams_size());
  Order order = OrderOf(stage, stream);
  const int count = static_cast<int>(order.size());
  if (count < 2) return;
  const int from = Below(count);
  if (Coin()) {
    std::swap(order[from], order[(from + 1) % count]);
  } else if (Coin()) {
    std::swap(order[from], order[Below(count)]);
  } else {
    const int to = Below(count);
    const Place place = order[from];
    order.erase(order.begin() + from);
    order.insert(order.begin() + to, place);
  }
  SetOrder(stage, stream, std::move(order));
}

// An actor goes to another stream, or to a new one.
void PlanMutator::ChangeStream(Stage& stage) {
  const int32_t a = Below(stage.actors_size());
  const int from = stage.actors(a).stream();
  int to = Below(stage.streams_size());
  if (Coin() || to == from) {
    to = stage.streams_size();
    Stream& fresh = *stage.add_streams();
    fresh.set_name("fresh");
    fresh.set_kind(Coin() ? Stream::COMMUNICATION : Stream::COMPUTE);
  }
  if (from < 0 || from >= stage.streams_size()) return;
  Order stay, go, there = OrderOf(stage, to);
  for (const Place& place : OrderOf(stage, from)) (place.actor == a ? go : stay).push_back(place);
  int at = Below(static_cast<int64_t>(there.size()) + 1);
  for (const Place& place : go) {
    there.insert(there.begin() + at, place);
    at += 1 + Below(static_cast<int64_t>(there.size()) - at);
  }
  stage.mutable_actors(a)->set_stream(to);
  SetOrder(stage, from, std::move(stay));
  SetOrder(stage, to, std::move(there));
}

// The second one's acts among the first one's, each in its order.
void PlanMutator::MergeStreams(Stage& stage) {
  const int one = Below(stage.streams_size()), other = Below(stage.streams_size());
  if (one == other) return;
  const Order first = OrderOf(stage, one), second = OrderOf(stage, other);
  Order both;
  size_t i = 0, j = 0;
  while (i < first.size() || j < second.size()) {
    const bool take = j == second.size() || (i < first.size() && Coin());
    both.push_back(take ? first[i++] : second[j++]);
  }
  for (Actor& actor : *stage.mutable_actors()) {
    if (actor.stream() == other) actor.set_stream(one);
  }
  SetOrder(stage, other, {});
  SetOrder(stage, one, std::move(both));
}

void PlanMutator::ChangeSection(const Plan& plan, Stage& stage) {
  const int32_t a = Below(stage.actors_size());
  Actor& actor = *stage.mutable_actors(a);
  const bool micro = actor.section() == Actor::MICRO;
  const int stream = actor.stream();
  if (stream < 0 || stream >= stage.streams_size() || plan.header().micro_batches() > kMostActs) return;
  Order order = OrderOf(stage, stream), changed;
  const bool last = Coin();
  for (size_t i = 0; i < order.size(); ++i) {
    if (order[i].actor != a) {
      changed.push_back(order[i]);
    } else if (!micro) {
      for (int64_t m = 0; m < plan.header().micro_batches(); ++m) changed.push_back({a, m});
    } else if (order[i].micro_batch == (last ? plan.header().micro_batches() - 1 : 0)) {
      changed.push_back({a, 0});
    }
  }
  actor.set_section(micro ? Actor::STEP : Actor::MICRO);
  SetOrder(stage, stream, std::move(changed));
}

void PlanMutator::ChangeLists(Stage& stage) {
  Actor& actor = *stage.mutable_actors(Below(stage.actors_size()));
  auto* list = Coin() ? actor.mutable_reads() : actor.mutable_writes();
  if (list->size() > 0 && Coin()) return EraseValue(list, Below(list->size()));
  list->Add(Below(stage.buffers_size()));
}

// Preferably one of the same type.
int PlanMutator::BufferLike(const Stage& stage, int buffer) {
  if (buffer < 0 || buffer >= stage.buffers_size()) return Below(stage.buffers_size());
  for (int tries = 0; tries < 30; ++tries) {
    const int other = Below(stage.buffers_size());
    const Buffer &a = stage.buffers(buffer), &b = stage.buffers(other);
    if (other != buffer && a.dtype() == b.dtype() && a.shape_size() == b.shape_size() &&
        std::equal(a.shape().begin(), a.shape().end(), b.shape().begin())) {
      return other;
    }
  }
  return Below(stage.buffers_size());
}

void PlanMutator::ChangeOperand(Stage& stage) {
  Actor& actor = *stage.mutable_actors(Below(stage.actors_size()));
  if (actor.collectives_size() > 0) {
    Collective& it = *actor.mutable_collectives(Below(actor.collectives_size()));
    if (Coin()) {
      it.set_input(BufferLike(stage, it.input()));
    } else {
      it.set_output(BufferLike(stage, it.output()));
    }
    return;
  }
  if (actor.kernels_size() == 0) return;
  Kernel& kernel = *actor.mutable_kernels(Below(actor.kernels_size()));
  auto* operands = Coin() ? kernel.mutable_inputs() : kernel.mutable_outputs();
  if (operands->empty()) return;
  if (operands->size() > 1 && Coin(4)) return operands->SwapElements(0, Below(operands->size()));
  const int at = Below(operands->size());
  operands->Set(at, BufferLike(stage, operands->Get(at)));
}

// Within its actor, or to another one.
void PlanMutator::MoveKernel(Stage& stage) {
  Actor& actor = *stage.mutable_actors(Below(stage.actors_size()));
  if (actor.kernels_size() == 0) return;
  const int k = Below(actor.kernels_size());
  if (Coin()) return actor.mutable_kernels()->SwapElements(k, Below(actor.kernels_size()));
  Actor& other = *stage.mutable_actors(Below(stage.actors_size()));
  if (actor.kernels_size() < 2 || other.kernels_size() == 0 || &other == &actor) return;
  const Kernel kernel = actor.kernels(k);
  actor.mutable_kernels()->DeleteSubrange(k, 1);
  *other.add_kernels() = kernel;
  other.mutable_kernels()->SwapElements(Below(other.kernels_size()), other.kernels_size() - 1);
}

// A collective goes to another bundle, with what it reads and writes.
void PlanMutator::ChangeBundles(Stage& stage) {
  std::vector<Actor*> bundles;
  for (Actor& actor : *stage.mutable_actors()) {
    if (actor.collectives_size() > 0) bundles.push_back(&actor);
  }
  if (bundles.empty()) return;
  Actor &from = *bundles[Below(static_cast<int64_t>(bundles.size()))],
        &to = *bundles[Below(static_cast<int64_t>(bundles.size()))];
  if (&from == &to) return from.mutable_collectives()->SwapElements(0, Below(from.collectives_size()));
  if (Coin(4)) {
    from.mutable_collectives()->Swap(to.mutable_collectives());
    return;
  }
  const int i = Below(from.collectives_size());
  const Collective it = from.collectives(i);
  *to.add_collectives() = it;
  if (from.collectives_size() > 1) from.mutable_collectives()->DeleteSubrange(i, 1);
  const auto move = [](google::protobuf::RepeatedField<int32_t>* old, google::protobuf::RepeatedField<int32_t>* fresh,
                       int32_t b) {
    const auto at = std::find(old->begin(), old->end(), b);
    if (at == old->end()) return;
    EraseValue(old, static_cast<int>(at - old->begin()));
    fresh->Add(b);
  };
  move(from.mutable_reads(), to.mutable_reads(), it.input());
  move(from.mutable_writes(), to.mutable_writes(), it.output());
}

// One more on every stream, where its last one is.
void PlanMutator::ChangeMicroBatches(Plan& plan) {
  const int64_t count = plan.header().micro_batches();
  if (count < 1 || count > 16) return;
  plan.mutable_header()->set_micro_batches(count + 1);
  for (Stage& stage : *plan.mutable_stages()) {
    for (int s = 0; s < stage.streams_size(); ++s) {
      Order more;
      for (const Place& place : OrderOf(stage, s)) {
        if (place.actor < 0 || place.actor >= stage.actors_size()) return;
        more.push_back(place);
        const bool micro = stage.actors(place.actor).section() == Actor::MICRO;
        if (micro && place.micro_batch == count - 1) more.push_back({place.actor, count});
      }
      SetOrder(stage, s, std::move(more));
    }
  }
}

void PlanMutator::ChangeTransfer(Plan& plan) {
  if (plan.transfers_size() == 0) return;
  Transfer& one = *plan.mutable_transfers(Below(plan.transfers_size()));
  Transfer& other = *plan.mutable_transfers(Below(plan.transfers_size()));
  if (&one != &other && Coin()) return one.Swap(&other);
  const int32_t stage = Coin() ? one.source_stage() : one.target_stage();
  if (stage < 0 || stage >= plan.stages_size()) return;
  if (stage == one.source_stage()) {
    one.set_source_buffer(BufferLike(plan.stages(stage), one.source_buffer()));
  } else {
    one.set_target_buffer(BufferLike(plan.stages(stage), one.target_buffer()));
  }
}

void PlanMutator::ChangeMetric(Plan& plan) {
  if (plan.metrics_size() == 0) return;
  Metric& metric = *plan.mutable_metrics(Below(plan.metrics_size()));
  if (metric.stage() < 0 || metric.stage() >= plan.stages_size()) return;
  metric.set_buffer(BufferLike(plan.stages(metric.stage()), metric.buffer()));
}

}  // namespace weft::plan
