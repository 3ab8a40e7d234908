// The orders in which the acts of one stage may come.
//
// A plan fixes the order of acts within a stream, and waits fix some of the
// order between streams; the rest is chance. Whoever asks for the most memory
// a stage can need asks it of the extreme orders: an act of a side stream as
// early, or as late, as the plan lets it.
#ifndef WEFT_RUNTIME_SEMANTICS_ORDERS_H_
#define WEFT_RUNTIME_SEMANTICS_ORDERS_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "runtime/semantics/execution.h"

namespace weft::plan {

// Records one execution of a stage and derives other executions from it. In
// each of them the compute stream's acts come in the recorded order; the acts
// of the other streams come earlier or later, as far as the waits allow. Acts of
// other stages do not appear. The program must outlive it. One thread.
class Orders {
 public:
  explicit Orders(const Program& program);

  // Takes the acts of the stage in an order that the plan permits.
  void Add(const Act& act);

  // When the other streams act.
  enum class Rule {
    // As soon as nothing is certain to come before.
    kEarly,
    // Not before something needs it.
    kLate,
    // What gives bytes back, such as sends, not before something needs it, such as
    // the receive of what is made of it; others early.
    kReleaseLate,
    // What gives bytes back not before something computed needs it; others early,
    // if they need no such act.
    kHoldReleases,
  };
  struct Step {
    int32_t actor = 0;
    int32_t micro_batch = 0;  // there are kMaxMicroBatches at most
  };
  // An act of another stream than that which computes.
  struct Other {
    Step step;
    bool releases = false;
    int32_t early = 0, late = 0;  // so many acts have been computed before, at least and at most
  };
  // What has been added: what the compute stream does, in order, and what the others do.
  absl::Span<const Step> computed() const { return computed_; }
  absl::Span<const Other> others() const { return others_; }
  int32_t compute_stream() const { return compute_; }
  // A stream of the stage each: so many acts have ended before the other act `i`.
  absl::Span<const int32_t> Before(size_t i) const {
    return absl::MakeSpan(before_).subspan(i * streams_.size(), streams_.size());
  }

  // Those in which a stage's memory is measured: all, as long as they differ.
  absl::Span<const Rule> rules() const;
  // All acts that were added; none is added after.
  std::vector<Step> In(Rule rule);

 private:
  class Run;

  // Whether what an actor of another stream needs is more than what it leaves:
  // sends, and collectives that reduce to shares.
  bool Releases(const Actor& actor) const;
  std::vector<int32_t> By(int32_t Other::* key) const;

  const Program& program_;
  std::vector<bool> releases_;  // an actor each
  int32_t compute_ = 0;         // the stream that computes
  int32_t first_stream_ = 0;    // of the stage, among all
  std::vector<Step> computed_;
  std::vector<Other> others_;                  // in the order in which they were added
  std::vector<int32_t> before_;                // see Before()
  std::vector<std::vector<int32_t>> streams_;  // places in others_
  std::vector<int32_t> needed_;                // a stream each: so many have been needed by what is computed
  std::vector<int32_t> by_early_, by_late_;    // places in others_, sorted
};

}  // namespace weft::plan

#endif  // WEFT_RUNTIME_SEMANTICS_ORDERS_H_
