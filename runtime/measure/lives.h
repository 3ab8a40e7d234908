// Live ranges: from when to when the contents of a rank's buffers are needed in one execution. memory.h counts the
// bytes that are live, compiler/memory takes the most of them for the least that an arena needs.
//
//   acts in the order of the execution      f(0)   f(1)   b(0)   b(1)
//   slot 0 of `x`: f(0) writes, b(0) reads  ├─────────────┤
//   slot 1 of `x`                                  ├─────────────┤
#ifndef WEFT_RUNTIME_MEASURE_LIVES_H_
#define WEFT_RUNTIME_MEASURE_LIVES_H_

#include <cstdint>
#include <vector>

#include "runtime/plan/program.h"
#include "runtime/semantics/orders.h"

namespace weft::plan {

// The live ranges of one execution of a stage at a time. One thread. Cannot fail.
class Lives {
 public:
  // How an actor uses the bytes of one root while they hold the same contents: from its work `first` to `last`. An
  // actor that writes the root anew has another Use of it.
  struct Use {
    int32_t buffer = 0;  // the first of the root's views that is used
    int32_t first = 0, last = 0;
    bool begins = false;           // starts by writing all of it: new contents
    bool begins_at_first = false;  // likewise in micro-batch 0
    // The parts of the actor's work that `first` and `last` are in.
    int32_t first_part = 0, last_part = 0;
    // The index of slot 0 among the slots of all roots, and how many slots the root has: an act uses that of its
    // micro-batch.
    int32_t place = 0, slots = 1;
  };
  // What is the same in every act of an actor.
  struct Profile {
    std::vector<Use> uses;     // of roots that outlive the act, a root's in order
    std::vector<Use> scratch;  // of those that do not
    // The actor's work cut into parts, so that live ranges begin and end with a part. `parts`: the first work of each
    // part, then the number of works. `most_scratch`: a part each, the most bytes of `scratch` at one moment.
    std::vector<int32_t> parts;
    std::vector<int64_t> most_scratch;
  };
  // A live range of a slot: from the part that begins its contents to the last part that uses them. Parts are counted
  // over all acts of the execution.
  struct Life {
    int32_t root = 0;
    int64_t first = -1, last = 0;
  };
  struct Performed {
    int32_t actor = 0;
    int64_t micro_batch = 0;
    int64_t part = 0;  // its first one, counted over all acts
  };

  // The program must outlive it.
  explicit Lives(const Program& program);

  // Follows an execution; what was known of the one before is gone.
  void Perform(const std::vector<StageAct>& acts);

  // The most bytes that are live at one moment of an execution, state included. Buffers live whole: of one that only a
  // smaller view writes and reads, the rest counts as well. Does not change what Perform() found.
  int64_t LowerBound(const std::vector<StageAct>& acts);

  const std::vector<Life>& lives() const { return lives_; }
  const std::vector<Performed>& acts() const { return acts_; }
  const Profile& profile(int32_t actor) const { return profiles_[actor]; }
  int64_t parts() const { return parts_; }

 private:
  static constexpr size_t kNowhere = -1;

  Profile ProfileOf(int32_t actor, const std::vector<bool>& scratch);
  int32_t PlaceOf(int32_t root);
  void Divide(Profile& profile, size_t works) const;
  // Calls end(life) for each that ends; `part`: the act's first one.
  template <typename End>
  void Follow(const StageAct& act, int64_t part, const End& end);
  int64_t PartsOf(const StageAct& act) const { return static_cast<int64_t>(profiles_[act.actor].most_scratch.size()); }
  template <typename End>
  void Follow(const std::vector<StageAct>& acts, const End& end);

  const Program& program_;
  std::vector<Profile> profiles_;   // an actor each
  std::vector<size_t> in_profile_;  // while a profile is made: a root's place in its list
  std::vector<int32_t> place_;      // a root each: its slot 0 in open_
  std::vector<Life> open_, lives_;  // by slot; and those that have ended
  std::vector<Performed> acts_;
  int64_t parts_ = 0;  // of acts_
  std::vector<int64_t> change_;
};

}  // namespace weft::plan

#endif  // WEFT_RUNTIME_MEASURE_LIVES_H_
