#include "runtime/collective/spec.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace weft::collective {
namespace {

absl::Status CheckDim(const CollectiveSpec& spec, const char* what, int dim) {
  if (dim >= 0 && dim < static_cast<int>(spec.dims.size())) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(spec.ToString(), ": ", what, ": expected a dim below ", spec.dims.size(), ", got ", dim));
}

absl::Status CheckDivides(const CollectiveSpec& spec, int dim, int64_t members) {
  if (spec.dims[dim] % members == 0) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(spec.ToString(), ": expected a multiple of ", members, " along dim ",
                                                 dim, ", got ", spec.dims[dim]));
}

}  // namespace

int64_t CollectiveSpec::bytes() const {
  int64_t bytes = static_cast<int64_t>(SizeOf(dtype));
  for (int64_t d : dims) bytes *= d;
  return bytes;
}

std::string CollectiveSpec::ToString() const {
  std::string text = absl::StrCat(weft::NameOf(kind), " ", weft::NameOf(dtype), "[", absl::StrJoin(dims, ","), "]");
  const CollectiveFacts& facts = FactsOf(kind);
  if (facts.has_parts()) absl::StrAppend(&text, " along dim ", dim);
  if (facts.passes) absl::StrAppend(&text, " by ", by);
  if (back) absl::StrAppend(&text, " back");
  if (facts.has_split_dim()) absl::StrAppend(&text, " split along dim ", split_dim);
  if (facts.reduces && reduction == Reduction::kMax) absl::StrAppend(&text, " by maximum");
  return text;
}

std::string NameOf(const std::vector<CollectiveSpec>& bundle) {
  std::vector<std::string> kinds;
  for (const CollectiveSpec& spec : bundle) {
    std::string kind = weft::NameOf(spec.kind);
    if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) kinds.push_back(std::move(kind));
  }
  const std::string text = absl::StrJoin(kinds, " and ");
  return bundle.size() < 2 ? text : absl::StrCat(text, " of ", bundle.size(), " tensors");
}

std::string Describe(const std::vector<CollectiveSpec>& bundle) {
  std::vector<std::string> members;
  for (const CollectiveSpec& spec : bundle) members.push_back(spec.ToString());
  const std::string text = absl::StrJoin(members, ", ");
  return bundle.size() < 2 ? text : absl::StrCat(NameOf(bundle), ": ", text);
}

absl::Status Disagreement(const Group& group, int rank, const std::string& issued, int other,
                          const std::string& other_issued) {
  return absl::FailedPreconditionError(absl::StrCat("group ", group.name, ": rank ", rank, " issued ", issued,
                                                    ", rank ", other, " issued ", other_issued));
}

absl::StatusOr<int> MemberOf(const Group& group, const std::vector<CollectiveSpec>& bundle, int rank, int size) {
  const auto wrong = [&](const auto&... parts) {
    return absl::InvalidArgumentError(absl::StrCat("group ", group.name, ": expected ", parts...));
  };
  if (bundle.empty()) return wrong("one or more collectives, got none");
  const auto mine = std::find(group.ranks.begin(), group.ranks.end(), rank);
  if (mine == group.ranks.end()) {
    return wrong("rank ", rank, " among its members, got ", absl::StrJoin(group.ranks, ","));
  }
  for (int member : group.ranks) {
    if (member < 0 || member >= size) return wrong("ranks below ", size, ", got ", member);
  }
  return static_cast<int>(mine - group.ranks.begin());
}

absl::Status CheckPeers(const std::vector<Link>& links, int rank, int size) {
  for (const Link& link : links) {
    if (link.peer >= 0 && link.peer < size && link.peer != rank) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("transfer ", link.tag, ": expected another rank below ", size, ", got ", link.peer));
  }
  return absl::OkStatus();
}

absl::Status AddLinks(bool sends, const std::vector<Link>& links, int rank, int size, LinkEnds& ends) {
  if (absl::Status status = CheckPeers(links, rank, size); !status.ok()) return status;
  for (const Link& link : links) {
    if (ends.insert({sends, link.peer, link.tag}).second) continue;
    return absl::InvalidArgumentError(absl::StrCat("transfer ", link.tag, sends ? " to rank " : " from rank ",
                                                   link.peer, ": expected one ", sends ? "send" : "receive",
                                                   ", got two"));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<int64_t>> OutputDims(const CollectiveSpec& spec, int64_t members) {
  std::vector<int64_t> dims = spec.dims;
  const CollectiveFacts& facts = FactsOf(spec.kind);
  if (!facts.has_parts()) return dims;
  if (absl::Status status = CheckDim(spec, "dim", spec.dim); !status.ok()) return status;
  if (facts.passes && (spec.by < 1 || spec.by >= std::max<int64_t>(members, 2))) {
    return absl::InvalidArgumentError(
        absl::StrCat(spec.ToString(), ": expected 1 or more places, fewer than ", members, " members"));
  }
  if (facts.mirrors) {
    if (absl::Status status = CheckDivides(spec, spec.dim, 2); !status.ok()) return status;
  }
  if (facts.gathers) dims[spec.dim] *= members;
  if (!facts.cuts) return dims;
  if (facts.has_split_dim()) {
    if (absl::Status status = CheckDim(spec, "split dim", spec.split_dim); !status.ok()) return status;
    if (spec.dim == spec.split_dim) {
      return absl::InvalidArgumentError(absl::StrCat(spec.ToString(), ": expected two different dims, got one"));
    }
  }
  if (absl::Status status = CheckDivides(spec, spec.cut_dim(), members); !status.ok()) return status;
  dims[spec.cut_dim()] /= members;
  return dims;
}

}  // namespace weft::collective
