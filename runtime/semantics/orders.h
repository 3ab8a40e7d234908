// The orders in which the acts of one stage may come: linear extensions of what the plan fixes.
//
// A plan fixes the order of acts within a stream, and waits fix some of the order between streams. The rest is chance.
//
//   compute          f0   f1   f2   f3
//   communication         g        waits for f0; f3 waits for it
//
//   g early          f0 g f1 f2 f3
//   g late           f0 f1 f2 g f3
//
// How much memory a stage needs depends on the order. Whoever asks for the most asks it of these extreme orders: each
// act of another stream than the computing one comes as early, or as late, as the plan lets it.
#ifndef WEFT_RUNTIME_SEMANTICS_ORDERS_H_
#define WEFT_RUNTIME_SEMANTICS_ORDERS_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "runtime/semantics/execution.h"

namespace weft::plan {

// Records one execution of a stage and derives the extreme ones from it. In each of them the compute stream's acts come
// in the recorded order; the acts of the other streams come earlier or later, as far as the waits allow. Acts of other
// stages do not appear. The program must outlive it. One thread. Cannot fail.
class Orders {
 public:
  explicit Orders(const Program& program);

  // Takes the acts of the stage in an order that the plan permits.
  void Add(const Act& act);

  // When the acts of the other streams come.
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
  // An act of another stream than the computing one. In the example above `early` of g is 1 and `late` is 3.
  struct Other {
    StageAct act;
    bool releases = false;        // needs more bytes than it leaves, as a send does
    int32_t early = 0, late = 0;  // acts of the compute stream that have ended before it, at least and at most
  };
  // What has been added: the compute stream's acts in their order, and those of all other streams.
  absl::Span<const StageAct> computed() const { return computed_; }
  absl::Span<const Other> others() const { return others_; }
  int32_t compute_stream() const { return compute_; }
  // A stream of the stage each: so many acts have ended before the other act `i`.
  absl::Span<const int32_t> Before(size_t i) const {
    return absl::MakeSpan(before_).subspan(i * streams_.size(), streams_.size());
  }

  // Those in which a stage's memory is measured: all, as long as they differ.
  absl::Span<const Rule> rules() const;
  // All acts that were added; none is added after.
  std::vector<StageAct> In(Rule rule);

 private:
  class Run;

  // Whether what an actor of another stream needs is more than what it leaves:
  // sends, stores, and collectives that reduce to shares.
  bool Releases(const Actor& actor) const;
  std::vector<int32_t> By(int32_t Other::* key) const;

  const Program& program_;
  std::vector<bool> releases_;  // an actor each
  int32_t compute_ = 0;         // the stream that computes
  int32_t first_stream_ = 0;    // of the stage, among all
  std::vector<StageAct> computed_;
  std::vector<Other> others_;                  // in the order in which they were added
  std::vector<int32_t> before_;                // see Before()
  std::vector<std::vector<int32_t>> streams_;  // places in others_
  std::vector<int32_t> needed_;                // a stream each: so many have been needed by what is computed
  std::vector<int32_t> by_early_, by_late_;    // places in others_, sorted
};

}  // namespace weft::plan

#endif  // WEFT_RUNTIME_SEMANTICS_ORDERS_H_
