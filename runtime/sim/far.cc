#include "runtime/sim/far.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "runtime/actor/conditions.h"
#include "runtime/executor/program_spec.h"

namespace weft::sim {
namespace {

constexpr int64_t kPage = 4096;
constexpr int64_t kMostPages = 1 << 14;  // an arena is looked at in so many parts at most
constexpr int64_t kMicroBatches = 4;     // later ones are like these

// A rank's memory while a step goes through it.
class Memory {
 public:
  Memory(const plan::Program& program, const plan::Machine& machine)
      : program_(program),
        near_(machine.near_bytes),
        doublings_(std::log(machine.far_bytes / machine.near_bytes)),
        page_(std::max(kPage, program.stage->arena_bytes() / kMostPages + 1)),
        touched_(program.stage->arena_bytes() / page_ + 1, -HUGE_VAL),
        toucher_(touched_.size(), 0) {}

  // How far what an act's kernel touches is, then none of it is far. What it writes in place counts once. What comes
  // from a tier, or goes there, takes the tier's time, and so does the host's work in it.
  double Touch(int32_t actor, const plan::Kernel& kernel, int64_t micro_batch) {
    if (plan::MovesTier(kernel) || plan::TierOfWork(program_, actor) > 0) return 0;
    ++kernels_;
    double share = 0, pages = 0;
    for (const auto* side : {&kernel.inputs(), &kernel.outputs()}) {
      for (int32_t b : *side) {
        const plan::ByteRange range = program_.ExactRangeOf(b, program_.SlotOf(actor, b, micro_batch));
        for (int64_t page = range.begin / page_; page * page_ < range.end; ++page) {
          if (std::exchange(toucher_[page], kernels_) == kernels_) continue;
          const int64_t begin = std::max(range.begin, page * page_), end = std::min(range.end, (page + 1) * page_);
          const double bytes = static_cast<double>(end - begin);
          share += bytes * ShareOf(now_ - touched_[page]);
          pages += bytes;
          if (now_ - touched_[page] > near_) now_ += bytes;
          touched_[page] = now_;
        }
      }
    }
    return pages > 0 ? share / pages : 0;
  }

 private:
  double ShareOf(double gone_through) const {
    return gone_through <= near_ ? 0 : std::min(1.0, std::log(gone_through / near_) / doublings_);
  }

  const plan::Program& program_;
  const double near_, doublings_;
  const int64_t page_;
  double now_ = 0;                // bytes gone through
  std::vector<double> touched_;   // by page, when
  int64_t kernels_ = 0;           // so many so far
  std::vector<int64_t> toucher_;  // by page, the last of them
};

}  // namespace

std::vector<std::vector<double>> FarShares(const plan::Program& program, const plan::Machine& machine) {
  std::vector<std::vector<double>> shares(program.stage->actors_size());
  for (int32_t a = 0; a < program.stage->actors_size(); ++a) shares[a].resize(program.actor(a).kernels_size(), 0);
  if (machine.far_tables == nullptr || static_cast<double>(program.stage->arena_bytes()) <= machine.near_bytes) {
    return shares;
  }
  const actor::ProgramSpec spec = executor::ProgramSpecOf(program, program.placement->ranks(0));
  Memory memory(program, machine);
  std::vector<int64_t> acts(shares.size(), 0);
  // In the first step nothing was touched before.
  for (const bool counts : {false, true}) {
    for (size_t s = 0; s < spec.streams.size(); ++s) {
      for (actor::Cursor cursor(spec, static_cast<int>(s)); !cursor.done(); cursor.Advance()) {
        const int32_t a = cursor.actor();
        if (cursor.micro_batch() >= kMicroBatches) continue;
        acts[a] += counts;
        for (int k = 0; k < program.actor(a).kernels_size(); ++k) {
          const double share = memory.Touch(a, program.actor(a).kernels(k), cursor.micro_batch());
          if (counts) shares[a][k] += share;
        }
      }
    }
  }
  for (size_t a = 0; a < shares.size(); ++a) {
    for (double& share : shares[a]) share /= static_cast<double>(std::max<int64_t>(acts[a], 1));
  }
  return shares;
}

}  // namespace weft::sim
