// What an act costs beside its work: actors with nothing to do, on one stream
// and passing a token to and fro between two.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "runtime/actor/rank_program.h"
#include "runtime/trace/timeline.h"

namespace {

using weft::actor::ActIndex;
using weft::actor::ProgramSpec;
using weft::actor::RankProgram;

class Nothing : public weft::actor::Work {
 public:
  absl::Status Run(const ActIndex&) override { return absl::OkStatus(); }
};

constexpr int kActors = 128;
constexpr int kMicroBatches = 64;
constexpr int kSteps = 40;

// A chain of actors, each reading the one before, on `streams` streams in turn.
ProgramSpec Chain(int streams, int spins, weft::actor::Work* work) {
  ProgramSpec spec;
  spec.where = "rank 0";
  spec.micro_batches = kMicroBatches;
  spec.spins = spins;
  spec.streams.resize(streams);
  for (auto& stream : spec.streams) stream.runs.push_back({{}, 0, kMicroBatches});
  for (int a = 0; a < kActors; ++a) {
    spec.registers.push_back({"x" + std::to_string(a), 1});
    std::vector<int> reads;
    if (a > 0) reads.push_back(a - 1);
    spec.actors.push_back({"a" + std::to_string(a), a % streams, weft::actor::Section::kMicro, reads, {a}, work});
    spec.streams[a % streams].runs[0].actors.push_back(a);
  }
  return spec;
}

// Nanoseconds an act, the best of the steps.
double Measure(int streams, int spins, weft::trace::Timeline* timeline) {
  Nothing work;
  weft::actor::Fault fault;
  RankProgram program(Chain(streams, spins, &work), &fault);
  if (timeline != nullptr) program.Trace(*timeline, 0);
  double best = 1e30;
  for (int step = 0; step < kSteps; ++step) {
    program.BeginStep();
    const int64_t begin = weft::trace::NowNs();
    std::vector<std::thread> others;
    for (int s = 1; s < streams; ++s) others.emplace_back([&, s] { (void)program.RunStream(s, step); });
    (void)program.RunStream(0, step);
    for (std::thread& other : others) other.join();
    best = std::min(best, static_cast<double>(weft::trace::NowNs() - begin) / (kActors * kMicroBatches));
  }
  return best;
}

}  // namespace

int main() {
  weft::trace::Timeline timeline(kActors * kMicroBatches);
  std::printf("1 stream                      %8.1f ns an act\n", Measure(1, 0, nullptr));
  std::printf("1 stream, traced              %8.1f ns an act\n", Measure(1, 0, &timeline));
  std::printf("2 streams in turn, spinning   %8.1f ns an act\n", Measure(2, 2000, nullptr));
  std::printf("2 streams in turn, sleeping   %8.1f ns an act\n", Measure(2, 0, nullptr));
  return 0;
}
