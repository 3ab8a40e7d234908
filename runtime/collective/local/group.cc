#include "runtime/collective/local/group.h"

#include "absl/strings/str_cat.h"

namespace weft::collective {

LocalGroup::LocalGroup(Group group, int spins, actor::Fault* fault)
    : group_(std::move(group)), fault_(fault), members_(group_.ranks.size()), bell_(spins) {
  fault_->AddListener([this](const absl::Status&) { bell_.Ring(); });
}

bool LocalGroup::Meet(std::atomic<uint64_t>& arrived, uint64_t number) {
  const uint64_t all = number * members_.size();
  if (arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == all) {
    bell_.Ring();
  } else {
    bell_.Wait([&] { return arrived.load(std::memory_order_acquire) >= all || fault_->raised(); });
  }
  return !fault_->raised();
}

bool LocalGroup::Post(int m, const std::vector<CollectiveSpec>& bundle, absl::Span<const void* const> inputs,
                      absl::Span<void* const> outputs, const Point* ready, const Point* done) {
  Member& member = members_[m];
  member.bundle = &bundle;
  member.inputs = inputs;
  member.outputs = outputs;
  member.ready = ready;
  member.done = done;
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
                                                                   const std::vector<CollectiveSpec>& bundle,
                                                                   Gpu* gpu) {
  std::unique_ptr<LocalCollective> collective(new LocalCollective(group, m, bundle, gpu));
  if (absl::Status status = collective->Prepare(); !status.ok()) return status;
  return collective;
}

absl::Status LocalCollective::Prepare() {
  absl::StatusOr<Point> ready = Point::Create(gpu_), done = Point::Create(gpu_);
  if (!ready.ok()) return ready.status();
  if (!done.ok()) return done.status();
  ready_ = *std::move(ready);
  done_ = *std::move(done);
  inputs_.resize(group_.size());
  outputs_.resize(group_.size());
  readies_.resize(group_.size());
  dones_.resize(group_.size());
  const std::vector<Share> shares = SharesOf(bundle_, group_.size(), m_);
  for (size_t i = 0; i < bundle_.size(); ++i) {
    absl::StatusOr<Part> part = PartOf(bundle_[i]);
    if (!part.ok()) return part.status();
    parts_.push_back(*std::move(part));
    parts_.back().share = shares[i];
    if (gpu_ == nullptr) continue;
    if (absl::Status status = AddMoves(bundle_[i], parts_.back()); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status LocalCollective::AddMoves(const CollectiveSpec& spec, Part& part) const {
  if (group_.size() > kMaxMembers) {
    return absl::UnimplementedError(absl::StrCat("group ", group_.group().name, ": expected at most ", kMaxMembers,
                                                 " members on a GPU, got ", group_.size()));
  }
  auto add = [&](absl::StatusOr<GpuMove> move) {
    if (move.ok()) part.moves.push_back(*std::move(move));
    return move.status();
  };
  const CollectiveFacts& facts = FactsOf(spec.kind);
  if (!facts.has_parts()) {
    const int64_t count = (part.share.end - part.share.begin) / part.element_bytes;
    return add(GpuMove::ReduceRange(gpu_, part.share.begin / part.element_bytes, count, spec.dtype, spec.reduction));
  }
  if (facts.reduces) {
    return add(GpuMove::Reduce(gpu_, part.copies[0], spec.dtype, spec.reduction));
  }
  absl::Status status;
  for (const TileCopy& copy : part.copies) {
    if (status.ok()) status = add(GpuMove::Copy(gpu_, copy, part.element_bytes));
  }
  return status;
}

absl::StatusOr<LocalCollective::Part> LocalCollective::PartOf(const CollectiveSpec& spec) const {
  absl::StatusOr<std::vector<int64_t>> output_dims = OutputDims(spec, group_.size());
  if (!output_dims.ok()) return output_dims.status();
  Part part{.element_bytes = static_cast<int64_t>(SizeOf(spec.dtype))};
  const CollectiveFacts& facts = FactsOf(spec.kind);
  if (facts.reduces) {
    absl::StatusOr<ReduceFunction> reduce = ReducerFor(spec.dtype, spec.reduction);
    if (!reduce.ok()) return reduce.status();
    part.reduce = *reduce;
  }
  if (!facts.has_parts()) return part;
  for (int k = 0; k < group_.size(); ++k) {
    const BlockMove move = BlockMoveOf(spec, *output_dims, group_.size(), k, m_);
    part.copies.emplace_back(move.dims, spec.dims, move.from, *output_dims, move.to, part.element_bytes);
    if (facts.reduces) break;
  }
  return part;
}

absl::Status LocalCollective::Run(absl::Span<const void* const> inputs, absl::Span<void* const> outputs, void* stream) {
  // Others may still read what this member posted before the stop.
  if (group_.fault().raised()) return group_.fault().status();
  running_.store(true, std::memory_order_relaxed);
  absl::Status status = ready_.Record(stream);
  bool met = group_.Post(m_, bundle_, inputs, outputs, &ready_, &done_);
  if (met) {
    for (int k = 0; k < group_.size(); ++k) {
      readies_[k] = *group_.member(k).ready;
      dones_[k] = *group_.member(k).done;
    }
    // If the members disagree, all of them see it, and all finish.
    if (status.ok()) status = CheckAgreement();
    if (status.ok()) status = DoParts(stream);
    met = group_.Finish(m_);
  }
  if (status.ok() && met) status = WaitForAll(dones_, stream);
  running_.store(false, std::memory_order_relaxed);
  if (status.ok() && !met) status = group_.fault().status();
  return status;
}

absl::Status LocalCollective::WaitForAll(const std::vector<Point>& points, void* stream) const {
  if (gpu_ == nullptr) return absl::OkStatus();
  for (int k = 0; k < group_.size(); ++k) {
    if (k == m_) continue;  // a stream does its own work in order
    if (absl::Status status = points[k].Wait(stream); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status LocalCollective::DoParts(void* stream) {
  absl::Status status = WaitForAll(readies_, stream);
  for (size_t i = 0; i < parts_.size() && status.ok(); ++i) {
    for (int k = 0; k < group_.size(); ++k) {
      inputs_[k] = group_.member(k).inputs[i];
      outputs_[k] = group_.member(k).outputs[i];
    }
    if (gpu_ == nullptr) {
      DoPart(i);
    } else {
      status = EnqueuePart(i, stream);
    }
  }
  return status.ok() ? done_.Record(stream) : status;
}

absl::Status LocalCollective::EnqueuePart(size_t i, void* stream) {
  const Part& part = parts_[i];
  const int n = group_.size();
  const CollectiveFacts& facts = FactsOf(bundle_[i].kind);
  if (!facts.has_parts()) return part.moves[0].Run(inputs_.data(), n, outputs_.data(), n, stream);
  if (facts.reduces) return part.moves[0].Run(inputs_.data(), n, &outputs_[m_], 1, stream);
  absl::Status status;
  for (int k = 0; k < n && status.ok(); ++k) status = part.moves[k].Run(&inputs_[k], 1, &outputs_[m_], 1, stream);
  return status;
}

absl::Status LocalCollective::CheckAgreement() const {
  for (int k = 0; k < group_.size(); ++k) {
    const std::vector<CollectiveSpec>& other = *group_.member(k).bundle;
    if (other == bundle_) continue;
    const std::vector<int>& ranks = group_.group().ranks;
    return Disagreement(group_.group(), ranks[m_], Describe(bundle_), ranks[k], Describe(other));
  }
  return absl::OkStatus();
}

void LocalCollective::DoPart(size_t i) {
  const Part& part = parts_[i];
  const int n = group_.size();
  const CollectiveFacts& facts = FactsOf(bundle_[i].kind);
  if (facts.reduces && facts.has_parts()) {
    part.copies[0].ForEachRun([&](int64_t from, int64_t to, int64_t run) {
      part.reduce(inputs_.data(), n, from, &outputs_[m_], 1, to, run / part.element_bytes);
    });
  } else if (facts.reduces) {
    // Member m reduces its share and writes it to everybody. Only member m
    // touches this share of any buffer, so input and output may be one.
    const auto [begin, end] = part.share;
    if (begin == end) return;
    part.reduce(inputs_.data(), n, begin, outputs_.data(), n, begin, (end - begin) / part.element_bytes);
  } else {
    for (int k = 0; k < n; ++k) part.copies[k].Run(inputs_[k], outputs_[m_]);
  }
}

std::string LocalCollective::Waiting() const {
  if (!running_.load(std::memory_order_relaxed)) return "";
  const std::string missing = group_.Missing(m_);
  return missing.empty() ? "" : absl::StrCat(name_, " ", missing);
}

}  // namespace weft::collective
