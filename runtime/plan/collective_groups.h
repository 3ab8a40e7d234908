// What the collectives of a stage exchange, and among whom on the machine.
#ifndef WEFT_RUNTIME_PLAN_COLLECTIVE_GROUPS_H_
#define WEFT_RUNTIME_PLAN_COLLECTIVE_GROUPS_H_

#include <cstdint>
#include <map>
#include <vector>

#include "runtime/plan/cost.h"
#include "runtime/plan/program.h"

namespace weft::plan {

// An actor's collectives, which are all along the same axes, as one bundle.
struct GroupedBundle {
  BundledBytes bytes;
  Spread group;  // of the groups along these axes the one that lies worst
};

// Remembers how groups lie. `program` and `machine` have to outlive it.
class CollectiveGroups {
 public:
  CollectiveGroups(const Program& program, const Machine& machine) : program_(program), machine_(machine) {}

  // Of an actor with collectives.
  GroupedBundle BundleOf(const Actor& actor);

 private:
  const Spread& GroupOf(const std::vector<int32_t>& axes);

  const Program& program_;
  const Machine& machine_;
  std::map<std::vector<int32_t>, Spread> groups_;
};

}  // namespace weft::plan

#endif  // WEFT_RUNTIME_PLAN_COLLECTIVE_GROUPS_H_
