#include "runtime/executor/segments.h"

#include <utility>

#include "runtime/actor/conditions.h"

namespace weft::executor {
namespace {

// The segments of one stream while they grow.
class Growing {
 public:
  Growing(std::vector<Segment>& done, int64_t& left) : done_(done), left_(left) {}
  ~Growing() { Close(); }

  void Add(const plan::StageAct& act, int kernels) {
    now_.acts.push_back(act);
    now_.kernels += kernels;
  }
  void Close() {
    if (now_.kernels >= kLeastKernels && now_.kernels <= left_) {
      left_ -= now_.kernels;
      done_.push_back(std::move(now_));
    }
    now_ = {};
  }

 private:
  std::vector<Segment>& done_;
  int64_t& left_;
  Segment now_;
};

}  // namespace

std::vector<std::vector<Segment>> SegmentsOf(const actor::ProgramSpec& spec, const Fences& fences,
                                             const std::vector<int>& kernels) {
  std::vector<std::vector<Segment>> segments(spec.streams.size());
  int64_t left = kMostKernels;
  for (size_t s = 0; s < spec.streams.size(); ++s) {
    Growing growing(segments[s], left);
    for (actor::Cursor cursor(spec, static_cast<int>(s)); !cursor.done(); cursor.Advance()) {
      const plan::StageAct act{cursor.actor(), static_cast<int32_t>(cursor.micro_batch())};
      const bool fits = kernels[act.actor] > 0;
      if (!fits || fences.Waits(act.actor, act.micro_batch)) growing.Close();
      if (fits) growing.Add(act, kernels[act.actor]);
      if (fences.Records(act.actor, act.micro_batch)) growing.Close();
    }
  }
  return segments;
}

}  // namespace weft::executor
