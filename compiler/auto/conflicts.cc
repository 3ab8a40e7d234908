#include "compiler/auto/conflicts.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/auto/choice.h"
#include "ops/abi/status_macros.h"

namespace weft::compiler {
namespace {

template <typename T> absl::Status expected(const std::string &key, const std::string &what, T got) {
  return absl::InvalidArgumentError(absl::StrCat(key, ": expected ", what, ", got ", got));
}

// The sizes that are set, as text and as their product.
struct Sizes {
  std::string text;
  int64_t product = 1;
};

Sizes sizesOf(const Dist &dist) {
  Sizes sizes;
  for (auto [axis, size] : {std::pair("data", dist.data()),
                            {"expert", dist.expert()},
                            {"context", dist.context()},
                            {"tensor", dist.tensor()},
                            {"pipeline", dist.pipeline()}}) {
    if (size == 0)
      continue;
    absl::StrAppend(&sizes.text, sizes.text.empty() ? "" : " x ", axis, " ", size);
    sizes.product *= size;
  }
  return sizes;
}

// With as many data ranks as the job says there may be ranks to spare.
absl::Status checkSizes(const Job &asked, const Cluster &cluster) {
  const int64_t ranks = cluster.node().count() * cluster.node().ranks();
  const Sizes sizes = sizesOf(asked.dist());
  const bool divides = asked.dist().data() > 0 ? sizes.product <= ranks : ranks % sizes.product == 0;
  if (!divides)
    return expected("dist", absl::StrCat("sizes whose product divides the ", ranks, " ranks of ", asked.cluster()),
                    sizes.product == 1 ? sizes.text : absl::StrCat(sizes.text, " = ", sizes.product));
  const int64_t group = asked.zero().group(), data = ranks / sizes.product;
  if (group > 1 && asked.dist().data() == 0 && data % group != 0)
    return expected("zero.group", absl::StrCat("a divisor of the data ranks, of which there are ", data, " at most"),
                    group);
  if (asked.dist().pipeline() > kMostStages)
    return expected("dist.pipeline", absl::StrCat("at most ", kMostStages, " with graph.auto_parallel"),
                    asked.dist().pipeline());
  const int64_t micro = asked.batch().micro();
  if (micro > 0 && asked.batch().global() / micro > kMostMicroBatches)
    return expected("batch.micro",
                    absl::StrCat("at most ", kMostMicroBatches, " micro-batches of batch.global (",
                                 asked.batch().global(), ") with graph.auto_parallel"),
                    micro);
  return absl::OkStatus();
}

absl::Status checkSchedule(const Pipeline &pipeline) {
  if (!pipeline.schedule_file().empty())
    return absl::OkStatus();
  const std::string name = PipelineSchedule_Name(pipeline.schedule());
  const bool hasForms = !pipeline.has_schedule() || pipeline.schedule() == ZERO_BUBBLE;
  if (pipeline.form() != H1 && !hasForms)
    return expected("pipeline.form", absl::StrCat("none, as pipeline.schedule ", name, " has no forms"),
                    ZeroBubble_Name(pipeline.form()));
  const int64_t chunks = pipeline.chunks();
  if (chunks == 0)
    return absl::OkStatus();
  int64_t least = 1, most = kMostChunks;
  if (pipeline.has_schedule() && pipeline.schedule() == INTERLEAVED)
    least = 2;
  else if (pipeline.has_schedule() && pipeline.schedule() == ZERO_BUBBLE && pipeline.form() == V)
    least = most = 2;
  else if (pipeline.has_schedule())
    most = 1;
  if (chunks >= least && chunks <= most)
    return absl::OkStatus();
  return expected("pipeline.chunks",
                  absl::StrCat(least == most ? absl::StrCat(least) : absl::StrCat(least, " to ", most),
                               pipeline.has_schedule() ? absl::StrCat(", as pipeline.schedule is ", name) : "",
                               " with graph.auto_parallel"),
                  chunks);
}

} // namespace

absl::Status checkKeys(const Job &asked, const Cluster &cluster) {
  WEFT_RETURN_IF_ERROR(checkSizes(asked, cluster));
  return checkSchedule(asked.pipeline());
}

} // namespace weft::compiler
