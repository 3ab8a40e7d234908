// Prints how long verifying and measuring plans takes: of the plans it is given,
// with what loading them takes; of none, synthetic training plans of a model of
// `layers`, each with a forward and a backward actor of `kernels` kernels, a
// gradient all-reduce and an update. Times are of a core.
#include "runtime/proof/verify.h"

#include <google/protobuf/arena.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <string>

#include "absl/strings/str_cat.h"
#include "runtime/measure/memory.h"
#include "runtime/plan/layout.h"
#include "runtime/plan/load.h"
#include "runtime/plan/validate.h"

namespace {

using weft::plan::Actor;
using weft::plan::Buffer;
using weft::plan::Kernel;
using weft::plan::Plan;
using weft::plan::Run;
using weft::plan::Sbp;
using weft::plan::Stage;
using weft::plan::Stream;

class Builder {
 public:
  Builder(int layers, int kernels, int64_t micro_batches) : layers_(layers), kernels_(kernels) {
    auto& header = *plan_.mutable_header();
    header.set_version(weft::plan::kPlanVersion);
    header.set_target("cpu");
    header.set_micro_batches(micro_batches);
    header.set_training(true);
    auto& placement = *plan_.add_placements();
    placement.set_device("cpu");
    placement.add_axes()->set_size(2);
    placement.add_ranks(0);
    placement.add_ranks(1);
    stage_ = plan_.add_stages();
    scratch_ = Take(64 * kLive);
  }

  Plan Build() {
    AddStreams();
    const int input = Add("x", Buffer::INPUT, Take(128), 2);
    Actor* load = AddActor("load", 2, Actor::MICRO, {}, {input});
    AddKernel(load, "input", {}, {input});
    (*load->mutable_kernels(0)->mutable_attributes())["name"].set_string("x");
    runs_[2][0]->add_actors(0);
    int from = input;
    std::vector<int> kept = {input};
    for (int l = 0; l < layers_; ++l) {
      const int to = Add(absl::StrCat("h.", l), Buffer::ACTIVATION, Take(64), 1);
      Chain(absl::StrCat("forward.", l), {from}, to, -1);
      kept.push_back(from = to);
    }
    int gradient = kept.back();
    for (int l = layers_ - 1; l >= 0; --l) {
      const int to = Add(absl::StrCat("dh.", l), Buffer::GRADIENT, Take(64), 1);
      const int sum = Add(absl::StrCat("dw.", l), Buffer::GRADIENT, Take(64), 1, Sbp::PARTIAL_SUM);
      const std::vector<int> reads =
          gradient == kept[l] ? std::vector<int>{gradient} : std::vector<int>{gradient, kept[l]};
      Chain(absl::StrCat("backward.", l), reads, to, sum);
      Finish(l, sum);
      gradient = to;
    }
    stage_->set_arena_bytes(bytes_);
    return std::move(plan_);
  }

 private:
  static constexpr int kLive = 16;  // kernels whose results are live at a time

  int64_t Take(int64_t bytes) { return (bytes_ += bytes) - bytes; }

  int Add(const std::string& name, Buffer::Kind kind, int64_t offset, int slots, Sbp::Kind sbp = Sbp::BROADCAST) {
    Buffer& buffer = *stage_->add_buffers();
    buffer.set_name(name);
    buffer.set_dtype(weft::plan::F32);
    buffer.add_shape(16);
    buffer.add_sbp()->set_kind(sbp);
    buffer.set_kind(kind);
    buffer.set_offset(offset);
    buffer.set_slots(slots);
    if (kind == Buffer::PARAMETER) buffer.mutable_init()->set_name("fill");
    return stage_->buffers_size() - 1;
  }

  void AddStreams() {
    for (int s = 0; s < 3; ++s) {
      Stream* stream = stage_->add_streams();
      stream->set_name(absl::StrCat("stream", s));
      for (int r = 0; r < 2; ++r) {
        runs_[s][r] = stream->add_runs();
        runs_[s][r]->set_repeat(r == 0 ? plan_.header().micro_batches() : 1);
      }
    }
  }

  Actor* AddActor(const std::string& name, int stream, Actor::Section section, const std::vector<int>& reads,
                  const std::vector<int>& writes) {
    Actor* actor = stage_->add_actors();
    actor->set_name(name);
    actor->set_stream(stream);
    actor->set_section(section);
    for (int b : reads) actor->add_reads(b);
    for (int b : writes) actor->add_writes(b);
    return actor;
  }

  void AddKernel(Actor* actor, const std::string& name, const std::vector<int>& inputs,
                 const std::vector<int>& outputs) {
    Kernel* kernel = actor->add_kernels();
    kernel->set_name(name);
    for (int b : inputs) kernel->add_inputs(b);
    for (int b : outputs) kernel->add_outputs(b);
  }

  // An actor whose kernels read the two results before them.
  void Chain(const std::string& name, const std::vector<int>& reads, int to, int sum) {
    std::vector<int> writes = {to};
    if (sum >= 0) writes.push_back(sum);
    runs_[0][0]->add_actors(stage_->actors_size());
    Actor* actor = AddActor(name, 0, Actor::MICRO, reads, writes);
    int before = reads.back(), last = reads.front();
    for (int k = 0; k < kernels_ - 1; ++k) {
      const int next = Add(absl::StrCat(name, ".", k), Buffer::ACTIVATION, scratch_ + 64 * (turn_++ % kLive), 1);
      AddKernel(actor, "add", {before, last}, {next});
      before = last;
      last = next;
    }
    AddKernel(actor, "copy", {last}, {to});
    if (sum >= 0) AddKernel(actor, "accumulate", {last, sum}, {sum});
  }

  void Finish(int l, int sum) {
    const int all = Add(absl::StrCat("dw.all.", l), Buffer::GRADIENT, Take(64), 1);
    const int weight = Add(absl::StrCat("w.", l), Buffer::PARAMETER, Take(64), 1);
    runs_[1][1]->add_actors(stage_->actors_size());
    Actor* reduce = AddActor(absl::StrCat("reduce.", l), 1, Actor::STEP, {sum}, {all});
    weft::plan::Collective* collective = reduce->add_collectives();
    collective->add_axes(0);
    collective->set_input(sum);
    collective->set_output(all);
    runs_[0][1]->add_actors(stage_->actors_size());
    AddKernel(AddActor(absl::StrCat("update.", l), 0, Actor::STEP, {all}, {}), "sgd", {weight, all}, {weight});
  }

  const int layers_, kernels_;
  Plan plan_;
  Stage* stage_ = nullptr;
  Run* runs_[3][2] = {};
  int64_t bytes_ = 0, scratch_ = 0, turn_ = 0;
};

// Of this process, so far.
double Seconds() {
  timespec now = {};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

int Measure(int layers, int kernels, int64_t micro_batches) {
  const Plan plan = Builder(layers, kernels, micro_batches).Build();
  double start = Seconds();
  const absl::Status status = weft::plan::Verify(plan);
  const double verify = Seconds() - start;
  if (!status.ok()) {
    std::fprintf(stderr, "verify: %s\n", status.ToString().c_str());
    return 1;
  }
  start = Seconds();
  const bool measured = weft::plan::MeasureMemory(plan).ok();
  std::printf("%8d  %8d  %13ld  %8.3f  %8.3f\n", 2 * layers, 2 * layers * kernels, static_cast<long>(micro_batches),
              verify, Seconds() - start);
  return measured ? 0 : 1;
}

// The least of several times, in milliseconds.
class Least {
 public:
  void Add(double seconds) { least_ = least_ < 0 ? 1e3 * seconds : std::min(least_, 1e3 * seconds); }
  double ms() const { return least_; }

 private:
  double least_ = -1;
};

int MeasureFile(const char* path) {
  Least load, parse, validate, verify;
  for (int i = 0; i < 5; ++i) {
    google::protobuf::Arena arena;
    auto* plan = google::protobuf::Arena::CreateMessage<Plan>(&arena);
    double start = Seconds();
    absl::Status status = weft::plan::LoadInto(path, *plan);
    load.Add(Seconds() - start);
    const std::string bytes = plan->SerializeAsString();
    auto* again = google::protobuf::Arena::CreateMessage<Plan>(&arena);
    start = Seconds();
    again->ParseFromString(bytes);
    parse.Add(Seconds() - start);
    start = Seconds();
    if (status.ok()) status = weft::plan::Validate(*plan);
    validate.Add(Seconds() - start);
    start = Seconds();
    if (status.ok()) status = weft::plan::Verify(*plan);
    verify.Add(Seconds() - start);
    if (status.ok()) continue;
    std::fprintf(stderr, "%s\n", status.ToString().c_str());
    return 1;
  }
  std::printf("%9.1f  %9.1f  %11.1f  %9.1f  %s\n", load.ms(), parse.ms(), validate.ms(), verify.ms(), path);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  int failed = 0;
  if (argc > 1) std::printf("%9s  %9s  %11s  %9s\n", "load ms", "parse ms", "validate ms", "verify ms");
  for (int i = 1; i < argc; ++i) failed |= MeasureFile(argv[i]);
  if (argc > 1) return failed;
  std::printf("%8s  %8s  %13s  %8s  %8s\n", "actors", "kernels", "micro-batches", "verify s", "memory s");
  for (int64_t micro_batches : {1, 8, 64, 512}) failed |= Measure(50, 200, micro_batches);
  for (int64_t micro_batches : {8, 64}) failed |= Measure(1, 10000, micro_batches);
  for (int64_t micro_batches : {8, 64}) failed |= Measure(5000, 2, micro_batches);
  return failed;
}
