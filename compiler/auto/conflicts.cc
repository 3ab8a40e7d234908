#include "compiler/auto/conflicts.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/auto/choice.h"
#include "compiler/job/stages.h"
#include "compiler/words/listed.h"
#include "compiler/words/nearest.h"
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
  int count = 0;
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
    ++sizes.count;
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
                    sizes.count < 2 ? sizes.text : absl::StrCat(sizes.text, " = ", sizes.product));
  const int64_t group = asked.zero().group(), data = ranks / sizes.product;
  if (group > 1 && asked.dist().data() == 0 && data % group != 0)
    return expected("zero.group", absl::StrCat("a divisor of the data ranks, of which there are ", data, " at most"),
                    group);
  if (asked.dist().pipeline() > kMostStages)
    return expected("dist.pipeline", absl::StrCat("at most ", kMostStages, " with graph.auto_parallel"),
                    asked.dist().pipeline());
  if (const std::string key = KeyOfStages(asked.pipeline());
      !key.empty() && asked.dist().pipeline() == 0 && ranks / sizes.product < 2)
    return expected("dist", absl::StrCat("sizes that leave ranks for 2 or more stages, which alone have ", key),
                    sizes.text.empty() ? absl::StrCat(ranks, ranks == 1 ? " rank" : " ranks") : sizes.text);
  const int64_t micro = asked.batch().micro();
  if (micro > 0 && asked.batch().global() / micro > kMostMicroBatches)
    return expected("batch.micro",
                    absl::StrCat("at most ", kMostMicroBatches, " micro-batches of batch.global (",
                                 asked.batch().global(), ") with graph.auto_parallel"),
                    micro);
  return absl::OkStatus();
}

// Chunks of a stage, as the cuts and the schedule have them.
absl::Status checkChunks(const Job &asked) {
  const Pipeline &pipeline = asked.pipeline();
  const int64_t stages = asked.dist().pipeline(), cuts = pipeline.cuts_size();
  if (cuts > 0 && (cuts + 1) % stages != 0)
    return expected("pipeline.cuts",
                    absl::StrCat("as many as chunks but one, a multiple of dist.pipeline (", stages, ") of these"),
                    cuts);
  const int64_t chunks = cuts > 0 ? (cuts + 1) / stages : pipeline.chunks();
  if (cuts > 0 && pipeline.chunks() > 0 && pipeline.chunks() != chunks)
    return expected("pipeline.chunks", absl::StrCat(chunks, ", as there are ", cuts, " cuts for ", stages, " stages"),
                    pipeline.chunks());
  if (chunks == 0 || !pipeline.schedule_file().empty())
    return absl::OkStatus();
  const bool isV = pipeline.form() == V;
  int64_t least = 1, most = kMostChunks;
  if (pipeline.has_schedule() && pipeline.schedule() == INTERLEAVED)
    least = 2;
  else if (isV)
    least = most = 2;
  else if (pipeline.has_schedule())
    most = 1;
  if (chunks >= least && chunks <= most)
    return absl::OkStatus();
  const std::string name = isV ? "pipeline.form is V"
                           : pipeline.has_schedule()
                               ? absl::StrCat("pipeline.schedule is ", PipelineSchedule_Name(pipeline.schedule()))
                               : "";
  return expected(cuts > 0 ? "pipeline.cuts" : "pipeline.chunks",
                  absl::StrCat(least == most ? absl::StrCat(least) : absl::StrCat(least, " to ", most),
                               cuts > 0 ? " chunks a stage" : "", name.empty() ? "" : absl::StrCat(", as ", name),
                               " with graph.auto_parallel"),
                  chunks);
}

} // namespace

absl::Status checkPieces(const Job &asked, const std::vector<std::string> &pieces) {
  const Pipeline &pipeline = asked.pipeline();
  const int64_t most = int64_t(pieces.size()), stages = asked.dist().pipeline();
  if (stages > most)
    return expected("dist.pipeline",
                    absl::StrCat("at most ", most, " stages, as the model may be cut into ", Listed(pieces)), stages);
  const bool isInterleaved = pipeline.has_schedule() && pipeline.schedule() == INTERLEAVED;
  const int64_t least = pipeline.form() == V || isInterleaved ? 2 : 1;
  const int64_t chunks = std::max(pipeline.chunks(), least), of = std::max<int64_t>(stages, 2);
  if (chunks > 1 && of * chunks > most)
    return expected(pipeline.chunks() > 0 ? "pipeline.chunks" : "pipeline.schedule",
                    absl::StrCat("at most ", most, " chunks, as the model may be cut into ", Listed(pieces)),
                    absl::StrCat(of, " x ", chunks));
  size_t before = 0;
  for (const std::string &cut : pipeline.cuts()) {
    const size_t at = size_t(std::find(pieces.begin(), pieces.end(), cut) - pieces.begin());
    if (at == pieces.size())
      return expected("pipeline.cuts", absl::StrCat("a layer, one of ", Listed(pieces)),
                      absl::StrCat(cut, DidYouMean(cut, pieces)));
    if (at <= before)
      return expected("pipeline.cuts", "layers in the order of the model, none the first",
                      absl::StrCat(cut, " after ", pieces[before]));
    before = at;
  }
  return absl::OkStatus();
}

absl::Status checkKeys(const Job &asked, const Cluster &cluster) {
  WEFT_RETURN_IF_ERROR(checkSizes(asked, cluster));
  return checkChunks(asked);
}

absl::Status noLayout(const Job &asked, const Cluster &cluster) {
  const Dist &dist = asked.dist();
  std::string set;
  for (auto [key, value] : {std::pair("batch.micro", asked.batch().micro()),
                            {"batch.overlap", asked.batch().overlap()},
                            {"dist.data", dist.data()},
                            {"dist.expert", dist.expert()},
                            {"dist.context", dist.context()},
                            {"dist.tensor", dist.tensor()},
                            {"dist.pipeline", dist.pipeline()},
                            {"zero.group", asked.zero().group()}}) {
    absl::StrAppend(&set, value > 0 ? absl::StrCat(", ", key, " ", value) : "");
  }
  return absl::InvalidArgumentError(
      absl::StrCat("graph.auto_parallel: expected keys that some layout has, got batch.global ", asked.batch().global(),
                   set, " on ", cluster.node().count() * cluster.node().ranks(),
                   " ranks: sizes of axes multiply to a divisor of the ranks, and dist.data divides batch.micro, which "
                   "divides batch.global"));
}

} // namespace weft::compiler
