// Random changes to plans that leave much of their sense, so that many come through the
// validator: other orders, streams, slots, offsets, views, operands, bundles. The same
// for the same seed.
#ifndef WEFT_TESTS_PLANS_PLAN_MUTATOR_H_
#define WEFT_TESTS_PLANS_PLAN_MUTATOR_H_

#include <cstdint>
#include <random>
#include <vector>

#include "runtime/plan/plan.pb.h"
#include "tests/plans/mutator.h"

namespace weft::plan {

class PlanMutator {
 public:
  explicit PlanMutator(uint64_t seed) : random_(seed), fields_(seed + 1) {}

  // Changes one thing of a valid plan. What it changed before may have made it invalid.
  void Mutate(Plan* plan);

 private:
  // An act of a stream's order.
  struct Place {
    int32_t actor = 0;
    int64_t micro_batch = 0;
  };
  using Order = std::vector<Place>;

  int Below(int64_t count) { return count <= 0 ? 0 : static_cast<int>(random_() % static_cast<uint64_t>(count)); }
  bool Coin(int of = 2) { return Below(of) == 0; }

  void MoveBuffer(Stage& stage);
  void ChangeSlots(const Plan& plan, Stage& stage);
  void ChangeView(Stage& stage);
  void ChangeOrder(Stage& stage);
  void ChangeStream(Stage& stage);
  void MergeStreams(Stage& stage);
  void ChangeSection(const Plan& plan, Stage& stage);
  void ChangeLists(Stage& stage);
  void ChangeOperand(Stage& stage);
  void MoveKernel(Stage& stage);
  void ChangeBundles(Stage& stage);
  void ChangeMicroBatches(Plan& plan);
  void ChangeTransfer(Plan& plan);
  void ChangeMetric(Plan& plan);

  static Order OrderOf(const Stage& stage, int stream);
  // Writes the order; as one run with offsets, or as runs of one act.
  void SetOrder(Stage& stage, int stream, Order order);
  // Puts every actor's micro-batches in order again.
  static void Sort(const Stage& stage, Order& order);
  int BufferLike(const Stage& stage, int buffer);

  std::mt19937_64 random_;
  Mutator fields_;
};

}  // namespace weft::plan

#endif  // WEFT_TESTS_PLANS_PLAN_MUTATOR_H_
