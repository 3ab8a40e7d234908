#include "runtime/collective/local/group.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace weft::collective {

LocalGroup::LocalGroup(Group group, int spins, Stop* stop)
    : group_(std::move(group)), stop_(stop), members_(group_.ranks.size()), bell_(spins) {
  stop_->Add(&bell_);
}

bool LocalGroup::Meet(std::atomic<uint64_t>& arrived, uint64_t number) {
  const uint64_t all = number * members_.size();
  if (arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == all) {
    bell_.Ring();
  } else {
    bell_.Wait([&] { return arrived.load(std::memory_order_acquire) >= all || stop_->requested(); });
  }
  return !stop_->requested();
}

bool LocalGroup::Post(int m, const CollectiveSpec& spec, const void* input, void* output) {
  Member& member = members_[m];
  member.spec = &spec;
  member.input = input;
  member.output = output;
  const uint64_t number = member.posted.load(std::memory_order_relaxed) + 1;
  member.posted.store(number, std::memory_order_release);
  return Meet(posted_, number);
}

bool LocalGroup::Finish(int m) {
  Member& member = members_[m];
  const uint64_t number = member.posted.load(std::memory_order_relaxed);
  member.finished.store(number, std::memory_order_release);
  return Meet(finished_, number);
}

std::string LocalGroup::Missing(int m) const {
  const uint64_t number = members_[m].posted.load(std::memory_order_acquire);
  std::string missing;
  for (int k = 0; k < size(); ++k) {
    if (members_[k].posted.load(std::memory_order_acquire) < number) {
      absl::StrAppend(&missing, "; rank ", group_.ranks[k], " has not issued it");
    } else if (members_[m].finished.load(std::memory_order_acquire) == number &&
               members_[k].finished.load(std::memory_order_acquire) < number) {
      absl::StrAppend(&missing, "; rank ", group_.ranks[k], " has not done its part");
    }
  }
  return missing.empty() ? "" : absl::StrCat("#", number, " of group ", group_.name, missing);
}

absl::StatusOr<std::unique_ptr<Operation>> LocalCollective::Create(LocalGroup* group, int m,
                                                                   const CollectiveSpec& spec) {
  absl::StatusOr<std::vector<int64_t>> output_dims = OutputDims(spec, group->size());
  if (!output_dims.ok()) return output_dims.status();
  std::unique_ptr<LocalCollective> collective(new LocalCollective(group, m, spec));
  if (absl::Status status = collective->Prepare(*output_dims); !status.ok()) return status;
  return collective;
}

absl::Status LocalCollective::Prepare(const std::vector<int64_t>& output_dims) {
  const int64_t bytes = static_cast<int64_t>(SizeOf(spec_.dtype));
  const int n = group_.size();
  inputs_.resize(n);
  outputs_.resize(n);
  if (spec_.kind == Kind::kAllReduce || spec_.kind == Kind::kReduceScatter) {
    absl::StatusOr<ReduceFunction> reduce = ReducerFor(spec_.dtype, spec_.reduction);
    if (!reduce.ok()) return reduce.status();
    reduce_ = *reduce;
  }
  const std::vector<int64_t> zero(spec_.dims.size(), 0);
  if (spec_.kind == Kind::kReduceScatter) {
    std::vector<int64_t> origin = zero;
    origin[spec_.dim] = m_ * output_dims[spec_.dim];
    copies_.emplace_back(output_dims, spec_.dims, origin, output_dims, zero, bytes);
  } else if (spec_.kind != Kind::kAllReduce) {
    std::vector<int64_t> block = spec_.dims, from = zero;
    if (spec_.kind == Kind::kAllToAll) {
      block[spec_.split_dim] = output_dims[spec_.split_dim];
      from[spec_.split_dim] = m_ * block[spec_.split_dim];
    }
    for (int k = 0; k < n; ++k) {
      std::vector<int64_t> to = zero;
      to[spec_.dim] = k * spec_.dims[spec_.dim];
      copies_.emplace_back(block, spec_.dims, from, output_dims, to, bytes);
    }
  }
  return absl::OkStatus();
}

absl::Status LocalCollective::Run(const void* input, void* output, void* stream) {
  // Others may still read what this member posted before the stop.
  if (group_.stop().requested()) return group_.stop().reason();
  running_.store(true, std::memory_order_relaxed);
  absl::Status status;
  bool met = group_.Post(m_, spec_, input, output);
  if (met) {
    // If the members disagree, all of them see it, and all finish.
    status = CheckAgreement();
    if (status.ok()) DoPart(output);
    met = group_.Finish(m_);
  }
  running_.store(false, std::memory_order_relaxed);
  if (status.ok() && !met) status = group_.stop().reason();
  return status;
}

void LocalCollective::DoPart(void* output) {
  for (int k = 0; k < group_.size(); ++k) {
    inputs_[k] = group_.member(k).input;
    outputs_[k] = group_.member(k).output;
  }
  if (reduce_ != nullptr) return ReduceShare();
  for (int k = 0; k < group_.size(); ++k) copies_[k].Run(inputs_[k], output);
}

absl::Status LocalCollective::CheckAgreement() const {
  for (int k = 0; k < group_.size(); ++k) {
    const CollectiveSpec& other = *group_.member(k).spec;
    if (other == spec_) continue;
    return absl::FailedPreconditionError(absl::StrCat("group ", group_.group().name, ": rank ",
                                                      group_.group().ranks[m_], " issued ", spec_.ToString(), ", rank ",
                                                      group_.group().ranks[k], " issued ", other.ToString()));
  }
  return absl::OkStatus();
}

void LocalCollective::ReduceShare() {
  const int n = group_.size();
  const int64_t bytes = static_cast<int64_t>(SizeOf(spec_.dtype));
  if (spec_.kind == Kind::kReduceScatter) {
    copies_[0].ForEachRun([&](int64_t from, int64_t to, int64_t run) {
      reduce_(inputs_.data(), n, from, &outputs_[m_], 1, to, run / bytes);
    });
    return;
  }
  // Member m combines share m and writes it to everybody. Only member m
  // touches share m of any buffer, so input and output may be one. Shares are
  // whole cache lines.
  int64_t elements = 1;
  for (int64_t d : spec_.dims) elements *= d;
  const int64_t share = ((elements + n - 1) / n + 63) / 64 * 64;
  const int64_t begin = std::min(elements, m_ * share), end = std::min(elements, begin + share);
  if (begin < end) reduce_(inputs_.data(), n, begin * bytes, outputs_.data(), n, begin * bytes, end - begin);
}

std::string LocalCollective::Waiting() const {
  if (!running_.load(std::memory_order_relaxed)) return "";
  const std::string missing = group_.Missing(m_);
  return missing.empty() ? "" : absl::StrCat(NameOf(spec_.kind), " ", missing);
}

}  // namespace weft::collective
