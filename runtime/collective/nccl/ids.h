// What NCCL's communicators are called, and how their members agree on the id
// that NCCL wants to make one.
#ifndef WEFT_RUNTIME_COLLECTIVE_NCCL_IDS_H_
#define WEFT_RUNTIME_COLLECTIVE_NCCL_IDS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/collective/nccl/nccl.h"

namespace weft::collective {

// A communicator's name, the same on all members.
struct NcclName {
  std::string title;       // "group data[1]", "transfer 4 from rank 0 to rank 1"
  int channel = 0;         // tells groups of one title apart
  std::vector<int> ranks;  // in the order of NCCL's ranks

  // Unique, and what members sort by: they make their communicators in this order.
  std::string Key() const;
};

class NcclIds {
 public:
  virtual ~NcclIds() = default;
  // One id a name, which all members of the name get. All ranks call it at the
  // same time with what they have in common with others, sorted; an error is
  // everybody's.
  virtual absl::StatusOr<std::vector<nccl::UniqueId>> Exchange(const std::vector<NcclName>& names) = 0;
};

}  // namespace weft::collective

#endif  // WEFT_RUNTIME_COLLECTIVE_NCCL_IDS_H_
