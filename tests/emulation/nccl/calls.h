// NCCL's calls as text, to compare what members have issued.
#ifndef WEFT_TESTS_EMULATION_NCCL_CALLS_H_
#define WEFT_TESTS_EMULATION_NCCL_CALLS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "runtime/collective/nccl/nccl.h"

namespace weft::nccl {

enum class CallKind { kAllReduce, kReduceScatter, kAllGather, kSend, kRecv };

struct Call {
  CallKind kind;
  size_t count;
  Type type;
  Reduction reduction = kSum;
  int peer = -1;  // of a send or receive
  const char* from = nullptr;
  char* to = nullptr;

  bool point_to_point() const { return peer >= 0; }
  size_t bytes() const;
  // "ncclAllReduce of 4 f32 by sum", "ncclSend of 4 f32 to 1".
  std::string ToString() const;
};
DType TypeFrom(Type type);

// The calls between ncclGroupStart and ncclGroupEnd, of one communicator.
using CallGroup = std::vector<Call>;
std::string TextOf(const CallGroup& group);

// Whether member `a`'s group meets member `b`'s: the same collectives, and a
// receive for each send.
bool Meet(const CallGroup& a_calls, int a, const CallGroup& b_calls, int b);

}  // namespace weft::nccl

#endif  // WEFT_TESTS_EMULATION_NCCL_CALLS_H_
