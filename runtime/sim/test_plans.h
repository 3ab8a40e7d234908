// Pipelines made by hand for tests of the simulator.
#ifndef WEFT_RUNTIME_SIM_TEST_PLANS_H_
#define WEFT_RUNTIME_SIM_TEST_PLANS_H_

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/plan/layout.h"
#include "runtime/plan/load.h"
#include "runtime/plan/plan.pb.h"

namespace weft::sim {

// One unit of a schedule: 'F' or 'B' of a micro-batch.
struct Unit {
  char kind;
  int64_t micro_batch;
};

// All forwards, then all backwards.
inline std::vector<Unit> GPipe(int64_t micro_batches) {
  std::vector<Unit> units;
  for (int64_t i = 0; i < micro_batches; ++i) units.push_back({'F', i});
  for (int64_t i = 0; i < micro_batches; ++i) units.push_back({'B', i});
  return units;
}

// Stage `stage` of `stages`: forwards until the first gradient is due, then one
// backward after each.
inline std::vector<Unit> OneFOneB(int stage, int stages, int64_t micro_batches) {
  const int64_t ahead = std::min<int64_t>(stages - stage, micro_batches);
  std::vector<Unit> units;
  for (int64_t i = 0; i < ahead; ++i) units.push_back({'F', i});
  for (int64_t i = 0; i < micro_batches; ++i) {
    units.push_back({'B', i});
    if (i + ahead < micro_batches) units.push_back({'F', i + ahead});
  }
  return units;
}

// The same for all stages.
inline std::vector<std::vector<Unit>> OneFOneB(int stages, int64_t micro_batches) {
  std::vector<std::vector<Unit>> units;
  for (int s = 0; s < stages; ++s) units.push_back(OneFOneB(s, stages, micro_batches));
  return units;
}

// A stage under construction: a mesh of one axis, tensors of 256 f32 elements
// which every rank holds.
class StageBuilder {
 public:
  StageBuilder(plan::Plan* plan, int ranks) : index_(plan->stages_size()), stage_(*plan->add_stages()) {
    stage_.set_placement(plan->placements_size());
    plan::Placement& placement = *plan->add_placements();
    placement.set_device("cpu");
    plan::Axis& axis = *placement.add_axes();
    axis.set_name("data");
    axis.set_size(ranks);
    for (int r = 0; r < ranks; ++r) placement.add_ranks(index_ * ranks + r);
  }

  int index() const { return index_; }
  plan::Stage& stage() { return stage_; }

  int AddBuffer(const std::string& name, int slots, plan::Buffer::Kind kind = plan::Buffer::ACTIVATION,
                plan::Sbp::Kind sbp = plan::Sbp::BROADCAST) {
    plan::Buffer& buffer = *stage_.add_buffers();
    buffer.set_name(name);
    buffer.set_dtype(plan::F32);
    buffer.add_shape(256);
    buffer.add_sbp()->set_kind(sbp);
    buffer.set_kind(kind);
    buffer.set_slots(slots);
    buffer.set_offset(stage_.arena_bytes());
    stage_.set_arena_bytes(stage_.arena_bytes() + 1024 * slots);
    return stage_.buffers_size() - 1;
  }

  int AddStream(plan::Stream::Kind kind, const std::string& name) {
    plan::Stream& stream = *stage_.add_streams();
    stream.set_kind(kind);
    stream.set_name(name);
    return stage_.streams_size() - 1;
  }

  plan::Actor& AddActor(const std::string& name, int stream, std::vector<int> reads, std::vector<int> writes) {
    plan::Actor& actor = *stage_.add_actors();
    actor.set_name(name);
    actor.set_stream(stream);
    actor.mutable_reads()->Assign(reads.begin(), reads.end());
    actor.mutable_writes()->Assign(writes.begin(), writes.end());
    return actor;
  }

  // Of one kernel that reads and writes the actor's registers; at 100 GFLOP/s it
  // takes `seconds`.
  plan::Actor& AddCompute(const std::string& name, plan::Actor::Phase phase, double seconds, std::vector<int> reads,
                          std::vector<int> writes) {
    plan::Actor& actor = AddActor(name, 0, reads, writes);
    actor.set_phase(phase);
    actor.set_chunk(index_);
    plan::Kernel& kernel = *actor.add_kernels();
    kernel.set_name("compute");
    kernel.mutable_inputs()->Assign(reads.begin(), reads.end());
    kernel.mutable_outputs()->Assign(writes.begin(), writes.end());
    kernel.mutable_cost()->set_contraction_flops(seconds * 100e9);
    return actor;
  }

  void AddRun(int stream, int actor, int64_t micro_batch, int64_t repeat) {
    plan::Run& run = *stage_.mutable_streams(stream)->add_runs();
    run.add_actors(actor);
    run.set_first_micro_batch(micro_batch);
    run.set_repeat(repeat);
  }

 private:
  const int index_;
  plan::Stage& stage_;
};

// Stages of `ranks` ranks each, whose forward takes 1 s and whose backward 2 s;
// what goes between them has 1 KiB. `units` are the order of each stage.
inline plan::Plan Pipeline(const std::vector<std::vector<Unit>>& units, int64_t micro_batches, int ranks = 1) {
  plan::Plan plan;
  plan.mutable_header()->set_version(plan::kPlanVersion);
  plan.mutable_header()->set_target("cpu");
  plan.mutable_header()->set_training(true);
  plan.mutable_header()->set_micro_batches(micro_batches);
  const int stages = static_cast<int>(units.size());
  const int slots = static_cast<int>(micro_batches);
  for (int s = 0; s < stages; ++s) {
    StageBuilder b(&plan, ranks);
    b.AddStream(plan::Stream::COMPUTE, "compute");
    const auto end = [&](const std::string& name, int buffer, bool send, int transfer) {
      const int stream = b.AddStream(plan::Stream::COMMUNICATION, name);
      plan::Actor& actor = send ? b.AddActor(name, stream, {buffer}, {}) : b.AddActor(name, stream, {}, {buffer});
      send ? actor.set_send(transfer) : actor.set_receive(transfer);
      while (plan.transfers_size() <= transfer) plan.add_transfers();
      plan::Transfer& it = *plan.mutable_transfers(transfer);
      send ? it.set_source_stage(s) : it.set_target_stage(s);
      send ? it.set_source_buffer(buffer) : it.set_target_buffer(buffer);
      b.AddRun(stream, b.stage().actors_size() - 1, 0, micro_batches);
    };
    // Transfer 2s goes forward from stage s, 2s + 1 back to it.
    std::vector<int> in, out, gradient_in, gradient_out;
    const int stash = b.AddBuffer("stash", slots);
    out.push_back(stash);
    gradient_in.push_back(stash);
    if (s > 0) in.push_back(b.AddBuffer("x", slots, plan::Buffer::COMMUNICATION));
    if (s > 0) gradient_out.push_back(b.AddBuffer("dx", slots, plan::Buffer::GRADIENT));
    if (s + 1 < stages) out.push_back(b.AddBuffer("y", slots));
    if (s + 1 < stages) gradient_in.push_back(b.AddBuffer("dy", slots, plan::Buffer::COMMUNICATION));
    if (s == 0) gradient_out.push_back(b.AddBuffer("dw", 1, plan::Buffer::GRADIENT));
    b.AddCompute("forward", plan::Actor::FORWARD, 1, in, out);
    b.AddCompute("backward", plan::Actor::BACKWARD, 2, gradient_in, gradient_out);
    if (s == 0) b.stage().mutable_actors(1)->clear_writes();  // dw is its own
    for (const Unit& unit : units[s]) b.AddRun(0, unit.kind == 'F' ? 0 : 1, unit.micro_batch, 1);
    if (s > 0) end("receive_x", in[0], false, 2 * s - 2);
    if (s > 0) end("send_dx", gradient_out[0], true, 2 * s - 1);
    if (s + 1 < stages) end("send_y", out[1], true, 2 * s);
    if (s + 1 < stages) end("receive_dy", gradient_in[1], false, 2 * s + 1);
  }
  return plan;
}

}  // namespace weft::sim

#endif  // WEFT_RUNTIME_SIM_TEST_PLANS_H_
