#include "runtime/collective/share.h"

#include <algorithm>

namespace weft::collective {
namespace {

// A cache line; a multiple of every element's size.
constexpr int64_t kLine = 64;

int64_t RoundUp(int64_t bytes) { return (bytes + kLine - 1) / kLine * kLine; }

int64_t BytesOf(const CollectiveSpec& spec) {
  int64_t bytes = static_cast<int64_t>(SizeOf(spec.dtype));
  for (int64_t d : spec.dims) bytes *= d;
  return bytes;
}

}  // namespace

std::vector<Share> SharesOf(const std::vector<CollectiveSpec>& bundle, int64_t members, int64_t m) {
  int64_t whole = 0;
  for (const CollectiveSpec& spec : bundle) {
    if (spec.kind == Kind::kAllReduce) whole += RoundUp(BytesOf(spec));
  }
  const int64_t part = RoundUp((whole + members - 1) / members);
  std::vector<Share> shares;
  int64_t at = 0;
  for (const CollectiveSpec& spec : bundle) {
    const int64_t bytes = spec.kind == Kind::kAllReduce ? BytesOf(spec) : 0;
    const int64_t begin = std::clamp<int64_t>(m * part - at, 0, bytes);
    shares.push_back({begin, std::clamp<int64_t>((m + 1) * part - at, begin, bytes)});
    at += RoundUp(bytes);
  }
  return shares;
}

Way WayOf(const CollectiveSpec& spec, const std::vector<int64_t>& output_dims, int64_t source, int64_t target) {
  const std::vector<int64_t> zero(spec.dims.size(), 0);
  Way way{.dims = spec.dims, .from = zero, .to = zero};
  if (spec.kind == Kind::kReduceScatter) {
    way.dims = output_dims;
    way.from[spec.dim] = target * output_dims[spec.dim];
    return way;
  }
  way.to[spec.dim] = source * spec.dims[spec.dim];
  if (spec.kind == Kind::kAllToAll) {
    way.dims[spec.split_dim] = output_dims[spec.split_dim];
    way.from[spec.split_dim] = target * output_dims[spec.split_dim];
  }
  return way;
}

}  // namespace weft::collective
