#include "runtime/collective/mpi/group.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace weft::collective {
namespace {

// Members that Waiting() names before it only counts them.
constexpr int kMostNames = 8;

size_t MostMessages(const Exchange& exchange) {
  size_t most = 0;
  for (const Round& round : exchange.rounds) most = std::max(most, round.sends.size() + round.receives.size());
  return most;
}

// What members have to agree on.
std::string WorkOf(const std::vector<CollectiveSpec>& bundle, const std::optional<Levels>& levels) {
  if (!levels.has_value()) return Describe(bundle);
  return absl::StrCat("by hosts of ", levels->on_host, ", in ", levels->parts,
                      levels->parts == 1 ? " part: " : " parts: ", Describe(bundle));
}

}  // namespace

MpiGroup::MpiGroup(Group group, int tag)
    : group_(std::move(group)),
      tag_(tag),
      fingerprint_(Fingerprint(absl::StrCat(group_.name, "/", group_.channel, "/", absl::StrJoin(group_.ranks, ",")))) {
}

absl::Status MpiGroup::Reserve(int64_t bytes) {
  if (bytes <= staging_bytes_) return absl::OkStatus();
  staging_.reset(static_cast<char*>(std::aligned_alloc(64, static_cast<size_t>(bytes))));
  staging_bytes_ = staging_ == nullptr ? 0 : bytes;
  if (staging_ != nullptr) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat("group ", group_.name, ": no memory for ", bytes, " bytes beside its tensors"));
}

absl::StatusOr<std::unique_ptr<Operation>> MpiCollective::Create(Wire* wire, MpiGroup* group, int m,
                                                                 const std::vector<CollectiveSpec>& bundle,
                                                                 const std::optional<Levels>& levels) {
  absl::StatusOr<Exchange> exchange = levels.has_value()
                                          ? TwoLevelExchangeOf(bundle, group->size(), m, *levels, wire->message_bytes())
                                          : ExchangeOf(bundle, group->size(), m, wire->message_bytes());
  if (!exchange.ok()) return exchange.status();
  if (absl::Status status = group->Reserve(exchange->staging_bytes); !status.ok()) return status;
  return std::unique_ptr<Operation>(
      new MpiCollective(wire, group, m, bundle, WorkOf(bundle, levels), *std::move(exchange)));
}

MpiCollective::MpiCollective(Wire* wire, MpiGroup* group, int m, const std::vector<CollectiveSpec>& bundle,
                             const std::string& work, Exchange exchange)
    : wire_(*wire),
      group_(*group),
      m_(m),
      bundle_(bundle),
      name_(NameOf(bundle)),
      exchange_(std::move(exchange)),
      first_receive_(group->size() + 1),
      hellos_(group->size()),
      requests_(2 * group->size() + MostMessages(exchange_)),
      terms_(group->size() + 1),
      progress_(group->size()) {
  hellos_[m_].group = group_.fingerprint();
  hellos_[m_].Describe(work);
  const std::vector<Message>& receives = exchange_.rounds[0].receives;
  for (int k = 0; k <= group_.size(); ++k) {
    first_receive_[k] =
        std::find_if(receives.begin(), receives.end(), [&](const Message& message) { return message.member >= k; }) -
        receives.begin();
  }
}

absl::Status MpiCollective::Run(absl::Span<const void* const> inputs, absl::Span<void* const> outputs, void* stream) {
  if (!group_.failure.ok()) return group_.failure;
  if (wire_.stopped()) return wire_.reason();
  inputs_ = inputs;
  outputs_ = outputs;
  hellos_[m_].number = group_.Issue();
  const absl::Status status = Perform();
  number_.store(0, std::memory_order_release);
  if (!status.ok()) {
    requests_.Abandon();
    group_.failure = status;
  }
  return status;
}

absl::Status MpiCollective::Perform() {
  for (const Round& round : exchange_.rounds) {
    const bool first = &round == exchange_.rounds.data();
    if (absl::Status status = first ? Begin(round) : GoOn(round); !status.ok()) return status;
    for (const Fold& fold : round.folds) Reduce(fold);
    Do(round.after);
  }
  return absl::OkStatus();
}

absl::Status MpiCollective::Begin(const Round& round) {
  const int n = group_.size();
  Count(round);
  for (int k = 0; k < n; ++k) progress_[k].heard.store(k == m_, std::memory_order_relaxed);
  number_.store(hellos_[m_].number, std::memory_order_release);
  unheard_ = n - 1;
  absl::Status status;
  for (int k = 0; k < n && status.ok(); ++k) {
    if (k == m_) continue;
    const int rank = group_.group().ranks[k];
    status = MpiStatus("receiving", MPI_Irecv(&hellos_[k], sizeof(Hello), MPI_BYTE, rank, group_.tag(), wire_.comm(),
                                              &requests_.active[k]));
    if (!status.ok()) break;
    status = MpiStatus("sending", MPI_Isend(&hellos_[m_], sizeof(Hello), MPI_BYTE, rank, group_.tag(), wire_.comm(),
                                            &requests_.active[n + k]));
  }
  if (status.ok()) status = Send(round);
  if (!status.ok()) return status;
  Do(round.meanwhile);
  return wire_.Await(
      requests_, [&] { return unheard_ > 0 ? Wire::Patience::kForPeers : Wire::Patience::kForData; },
      [&](int index, int bytes) {
        if (index < n) return Hear(index);
        return index < 2 * n ? absl::OkStatus() : Ended(round, index, bytes);
      });
}

absl::Status MpiCollective::GoOn(const Round& round) {
  if (round.sends.empty() && round.receives.empty()) return absl::OkStatus();
  Count(round);
  absl::Status status = Receive(round, 0, round.receives.size());
  if (status.ok()) status = Send(round);
  if (!status.ok()) return status;
  Do(round.meanwhile);
  return wire_.Await(
      requests_, [] { return Wire::Patience::kForData; },
      [&](int index, int bytes) { return Ended(round, index, bytes); });
}

// A member has issued its operation: if it is ours, takes what it sends.
absl::Status MpiCollective::Hear(int member) {
  const Hello &mine = hellos_[m_], &other = hellos_[member];
  const Group& group = group_.group();
  progress_[member].heard.store(true, std::memory_order_release);
  --unheard_;
  if (mine.Agrees(other)) {
    return Receive(exchange_.rounds[0], first_receive_[member], first_receive_[member + 1]);
  }
  if (mine.group != other.group) {
    return absl::FailedPreconditionError(absl::StrCat("channel ", group.channel, ": expected group ", group.name,
                                                      " of rank ", group.ranks[member], " too, got another group"));
  }
  if (mine.number != other.number) {
    return absl::InternalError(absl::StrCat("group ", group.name, ": rank ", group.ranks[member], ": expected #",
                                            mine.number, ", got #", other.number));
  }
  return Disagreement(group, group.ranks[m_], mine.text, group.ranks[member], other.text);
}

void MpiCollective::Count(const Round& round) {
  for (Progress& progress : progress_) progress.missing.store(0, std::memory_order_relaxed);
  for (const Message& message : round.sends) progress_[message.member].missing.fetch_add(1, std::memory_order_relaxed);
  for (const Message& message : round.receives)
    progress_[message.member].missing.fetch_add(1, std::memory_order_relaxed);
}

absl::Status MpiCollective::Send(const Round& round) {
  Do(round.before);
  MPI_Request* request = &requests_.active[2 * group_.size()];
  for (const Message& message : round.sends) {
    const int code = MPI_Isend(At(message.location), static_cast<int>(message.bytes), MPI_BYTE,
                               group_.group().ranks[message.member], group_.tag(), wire_.comm(), request++);
    if (code != MPI_SUCCESS) return MpiStatus("sending", code);
  }
  return absl::OkStatus();
}

absl::Status MpiCollective::Receive(const Round& round, size_t begin, size_t end) {
  MPI_Request* request = &requests_.active[2 * group_.size() + round.sends.size()];
  for (size_t i = begin; i < end; ++i) {
    const Message& message = round.receives[i];
    const int code = MPI_Irecv(At(message.location), static_cast<int>(message.bytes), MPI_BYTE,
                               group_.group().ranks[message.member], group_.tag(), wire_.comm(), &request[i]);
    if (code != MPI_SUCCESS) return MpiStatus("receiving", code);
  }
  return absl::OkStatus();
}

absl::Status MpiCollective::Ended(const Round& round, int index, int bytes) {
  const size_t i = index - 2 * group_.size();
  const bool sent = i < round.sends.size();
  const Message& message = sent ? round.sends[i] : round.receives[i - round.sends.size()];
  progress_[message.member].missing.fetch_sub(1, std::memory_order_release);
  if (sent || bytes == message.bytes) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("group ", group_.group().name, ": rank ",
                                          group_.group().ranks[message.member], ": expected a message of ",
                                          message.bytes, " bytes, got ", bytes));
}

void MpiCollective::Do(const std::vector<Move>& moves) const {
  for (const Move& move : moves) move.copy.Run(At(move.from), At(move.to));
}

void MpiCollective::Reduce(const Fold& fold) {
  const int terms = static_cast<int>(fold.terms.size());
  for (int k = 0; k < terms; ++k) terms_[k] = At(fold.terms[k]);
  void* const result = At(fold.result);
  fold.reduce(terms_.data(), terms, 0, &result, 1, 0, fold.elements);
}

char* MpiCollective::At(const Location& location) const {
  switch (location.side) {
    case Location::kInput:
      return static_cast<char*>(const_cast<void*>(inputs_[location.tensor])) + location.offset;
    case Location::kOutput:
      return static_cast<char*>(outputs_[location.tensor]) + location.offset;
    default:
      return group_.staging() + location.offset;
  }
}

std::string MpiCollective::Waiting() const {
  const uint64_t number = number_.load(std::memory_order_acquire);
  if (number == 0) return "";
  int count = 0;
  std::string missing;
  for (int k = 0; k < group_.size(); ++k) {
    const bool heard = progress_[k].heard.load(std::memory_order_acquire);
    if (heard && progress_[k].missing.load(std::memory_order_acquire) == 0) continue;
    if (count++ >= kMostNames) continue;
    absl::StrAppend(&missing, "; rank ", group_.group().ranks[k],
                    heard ? " has not done its part" : " has not issued it");
  }
  if (count == 0) return "";
  if (count > kMostNames) absl::StrAppend(&missing, "; and ", count - kMostNames, " more");
  return absl::StrCat(name_, " #", number, " of group ", group_.group().name, missing);
}

}  // namespace weft::collective
