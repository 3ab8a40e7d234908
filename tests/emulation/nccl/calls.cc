#include "tests/emulation/nccl/calls.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace weft::nccl {
namespace {

const char* const kNames[] = {"ncclAllReduce", "ncclReduceScatter", "ncclAllGather", "ncclSend", "ncclRecv"};

// The collectives of a group and its calls with `peer`; `faced`: as the peer, which has
// `self` for its own, would say them.
std::string Between(const CallGroup& group, int self, int peer, bool faced) {
  std::vector<std::string> collectives, calls;
  for (Call call : group) {
    if (!call.point_to_point()) {
      collectives.push_back(call.ToString());
      continue;
    }
    if (call.peer != peer) continue;
    if (faced) {
      call.kind = call.kind == CallKind::kSend ? CallKind::kRecv : CallKind::kSend;
      call.peer = self;
    }
    calls.push_back(call.ToString());
  }
  std::sort(calls.begin(), calls.end());  // sends and receives of a pair go by each other
  return absl::StrCat(absl::StrJoin(collectives, ", "), "; ", absl::StrJoin(calls, ", "));
}

}  // namespace

DType TypeFrom(Type type) {
  for (DType it : {DType::kU8, DType::kI32, DType::kI64, DType::kF16, DType::kF32, DType::kF64, DType::kBF16}) {
    if (TypeOf(it) == type) return it;
  }
  return DType::kU8;
}

size_t Call::bytes() const { return count * SizeOf(TypeFrom(type)); }

std::string Call::ToString() const {
  std::string text = absl::StrCat(kNames[static_cast<int>(kind)], " of ", count, " ", NameOf(TypeFrom(type)));
  if (kind == CallKind::kAllReduce || kind == CallKind::kReduceScatter) {
    text += reduction == kMax ? " by max" : " by sum";
  }
  if (point_to_point()) absl::StrAppend(&text, kind == CallKind::kSend ? " to " : " from ", peer);
  return text;
}

std::string TextOf(const CallGroup& group) {
  std::vector<std::string> calls;
  for (const Call& call : group) calls.push_back(call.ToString());
  return absl::StrJoin(calls, ", ");
}

bool Meet(const CallGroup& a_calls, int a, const CallGroup& b_calls, int b) {
  return Between(a_calls, a, b, /*faced=*/false) == Between(b_calls, b, a, /*faced=*/true);
}

}  // namespace weft::nccl
