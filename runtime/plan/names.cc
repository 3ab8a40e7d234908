#include "runtime/plan/names.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "runtime/plan/enums.h"
#include "runtime/plan/layout.h"

namespace weft::plan {
namespace {

// The name of a value in plan.proto, as people read it; such a value has none if the plan is damaged.
std::string Lower(const std::string& name) { return name.empty() ? "invalid" : absl::AsciiStrToLower(name); }

}  // namespace

std::string NameOf(DType dtype) { return weft::NameOf(TypeOf(dtype)); }
std::string NameOf(Buffer::Kind kind) { return Lower(Buffer::Kind_Name(kind)); }
std::string NameOf(Collective::Kind kind) { return Lower(Collective::Kind_Name(kind)); }
std::string NameOf(Stream::Kind kind) { return Lower(Stream::Kind_Name(kind)); }

std::string TextOf(const Sbp& sbp) {
  switch (sbp.kind()) {
    case Sbp::BROADCAST:
      return "B";
    case Sbp::SPLIT:
      return absl::StrCat("S(", sbp.dim(), ")");
    case Sbp::PARTIAL_SUM:
      return "P";
    case Sbp::PARTIAL_MAX:
      return "P(max)";
    default:
      return "invalid";
  }
}

std::string SbpText(const Placement& placement, const Buffer& buffer) {
  std::vector<std::string> positional, named;
  bool names = placement.axes_size() == buffer.sbp_size();
  for (int a = 0; a < buffer.sbp_size(); ++a) {
    positional.push_back(TextOf(buffer.sbp(a)));
    if (!names || placement.axes(a).name().empty()) {
      names = false;
    } else if (buffer.sbp(a).kind() != Sbp::BROADCAST) {
      named.push_back(absl::StrCat(placement.axes(a).name(), "=", positional.back()));
    }
  }
  if (!names) return absl::StrCat("(", absl::StrJoin(positional, ", "), ")");
  return named.empty() ? "B" : absl::StrJoin(named, ", ");
}

std::string ShapeText(const std::vector<int64_t>& dims) { return absl::StrCat("[", absl::StrJoin(dims, ","), "]"); }

std::string TypeText(const Buffer& buffer) {
  return NameOf(buffer.dtype()) + ShapeText({buffer.shape().begin(), buffer.shape().end()});
}

std::string LocalTypeText(const Placement& placement, const Buffer& buffer) {
  const std::vector<int64_t> dims = LocalDims(placement, buffer);
  const std::string local = NameOf(buffer.dtype()) + ShapeText(dims);
  if (std::equal(dims.begin(), dims.end(), buffer.shape().begin(), buffer.shape().end())) return local;
  return absl::StrCat(local, " of ", ShapeText({buffer.shape().begin(), buffer.shape().end()}));
}

std::string MeshText(const Placement& placement) {
  if (placement.axes_size() == 0) return "one rank";
  std::vector<std::string> names, sizes;
  for (int a = 0; a < placement.axes_size(); ++a) {
    const std::string& name = placement.axes(a).name();
    names.push_back(name.empty() ? absl::StrCat("axis ", a) : name);
    sizes.push_back(absl::StrCat(placement.axes(a).size()));
  }
  return absl::StrCat(absl::StrJoin(names, " x "), " = ", absl::StrJoin(sizes, " x "));
}

std::string RanksAndMeshText(const Plan& plan) {
  int64_t ranks = 0;
  std::vector<std::string> meshes;
  for (const Stage& stage : plan.stages()) {
    const Placement& placement = plan.placements(stage.placement());
    ranks += placement.ranks_size();
    meshes.push_back(MeshText(placement));
  }
  const std::string text = absl::StrCat(CountText(ranks), ranks == 1 ? " rank" : " ranks");
  if (ranks == 1) return text;
  const bool alike = std::equal(meshes.begin() + 1, meshes.end(), meshes.begin());
  const std::string stages = meshes.size() == 1 ? "" : absl::StrCat(meshes.size(), " stages of ");
  return absl::StrCat(text, " (", stages, alike ? meshes[0] : absl::StrJoin(meshes, ", "), ")");
}

std::string AxesText(const Placement& placement, const Collective& collective) {
  std::vector<std::string> names;
  for (int32_t a : collective.axes()) {
    const bool named = a >= 0 && a < placement.axes_size() && !placement.axes(a).name().empty();
    names.push_back(named ? placement.axes(a).name() : absl::StrCat(a));
  }
  return absl::StrJoin(names, ", ");
}

std::string BundleText(const Actor& actor) {
  std::vector<std::string> kinds;
  for (const Collective& collective : actor.collectives()) {
    std::string kind = NameOf(collective.kind());
    if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) kinds.push_back(std::move(kind));
  }
  const std::string text = absl::StrJoin(kinds, " and ");
  return actor.collectives_size() < 2 ? text : absl::StrCat(text, " of ", actor.collectives_size(), " tensors");
}

std::string CountText(int64_t count) {
  std::string text = absl::StrCat(count);
  for (int i = static_cast<int>(text.size()) - 3; i > (count < 0 ? 1 : 0); i -= 3) text.insert(i, ",");
  return text;
}

std::string BytesText(int64_t bytes) {
  if (bytes < 1024) return absl::StrCat(bytes, " B");
  static constexpr const char* kUnits[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = static_cast<double>(bytes) / 1024;
  int unit = 0;
  for (; value >= 1023.5 && unit < 5; ++unit) value /= 1024;
  return absl::StrFormat("%.*f %s", value < 9.995 ? 2 : value < 99.95 ? 1 : 0, value, kUnits[unit]);
}

std::string SecondsText(double seconds) {
  if (seconds == 0) return "0 s";
  const double value = seconds >= 1 ? seconds : seconds >= 1e-3 ? seconds * 1e3 : seconds * 1e6;
  const char* unit = seconds >= 1 ? "s" : seconds >= 1e-3 ? "ms" : "us";
  return absl::StrFormat("%.*f %s", value < 9.995 ? 2 : value < 99.95 ? 1 : 0, value, unit);
}

std::string RanksText(const Placement& placement) {
  std::vector<std::string> parts;
  for (int first = 0; first < placement.ranks_size();) {
    int last = first;
    while (last + 1 < placement.ranks_size() && placement.ranks(last + 1) == placement.ranks(last) + 1) ++last;
    parts.push_back(first == last ? absl::StrCat(placement.ranks(first))
                                  : absl::StrCat(placement.ranks(first), " to ", placement.ranks(last)));
    first = last + 1;
  }
  return absl::StrJoin(parts, ", ");
}

// "h.0 to h.3, h.6": the layers of a policy, in runs of the list. Empty if there are none.
static std::string LayersText(const Header& header, Recompute::Policy policy) {
  std::vector<std::string> runs;
  const auto& layers = header.recompute();
  for (int first = 0; first < layers.size();) {
    int last = first;
    while (last + 1 < layers.size() && layers[last + 1].policy() == layers[first].policy()) ++last;
    if (layers[first].policy() == policy) {
      runs.push_back(first == last ? layers[first].scope()
                                   : absl::StrCat(layers[first].scope(), " to ", layers[last].scope()));
    }
    first = last + 1;
  }
  return absl::StrJoin(runs, ", ");
}

std::string RecomputeText(const Header& header) {
  const Recompute& asked = header.job().recompute();
  if (!header.training() || (asked.policy() == Recompute::NONE && asked.layers().empty())) return "";
  std::vector<std::string> parts;
  for (Recompute::Policy policy : {Recompute::FULL, Recompute::SELECTIVE}) {
    const std::string layers = LayersText(header, policy);
    if (!layers.empty()) parts.push_back(absl::StrCat(Recompute::Policy_Name(policy), " in ", layers));
  }
  const auto& layers = header.recompute();
  if (parts.empty()) parts.push_back(layers.empty() ? "nothing, for the model has no layers" : "nothing");
  const auto below = std::count_if(layers.begin(), layers.end(), [](const auto& layer) { return layer.offload(); });
  if (below > 0) parts.push_back(absl::StrCat("below the device what ", below, " of ", layers.size(), " layers keep"));
  return absl::StrCat(asked.policy() == Recompute::AUTO ? "AUTO: " : "", absl::StrJoin(parts, ", "));
}

std::string ChunkedLossesText(const Header& header) {
  std::vector<std::string> losses;
  for (const ChunkedLoss& loss : header.chunked_losses()) {
    const bool even = loss.rows() % loss.chunks() == 0;
    losses.push_back(absl::StrCat(
        loss.scope(), loss.scope().empty() ? "" : ": ", CountText(loss.chunks()), " parts of ", even ? "" : "at most ",
        CountText((loss.rows() + loss.chunks() - 1) / loss.chunks()), " rows, logits of ",
        BytesText(loss.chunk_bytes()), " instead of ", BytesText(loss.whole_bytes()), " at a time"));
  }
  return absl::StrJoin(losses, "; ");
}

std::string ActText(const Actor& actor, int64_t micro_batch) {
  if (actor.section() == Actor::STEP) return absl::StrCat("`", actor.name(), "` (step)");
  return absl::StrCat("`", actor.name(), "` (micro-batch ", micro_batch, ")");
}

}  // namespace weft::plan
