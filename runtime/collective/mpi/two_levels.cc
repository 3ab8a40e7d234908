#include <algorithm>
#include <utility>

#include "runtime/collective/mpi/exchange.h"
#include "runtime/collective/mpi/exchange_builder.h"
#include "runtime/collective/share.h"

namespace weft::collective {
namespace {

// Of a strip: no host, but all members.
constexpr int kAll = -1;

// What the members of one place reduce of a tensor, for all members or for one: dense elements.
struct Strip {
  size_t tensor = 0;
  int host = kAll;  // that of the member that it is for
  Share share;      // if it is for all: where it lies in input and output
  int64_t elements = 0;
};

// A part of a strip.
struct Stretch {
  size_t strip = 0;
  int64_t begin = 0, elements = 0;
};

// What travels in one message.
struct Part {
  int host = kAll;
  std::vector<Stretch> stretches;
};

class TwoLevels {
 public:
  TwoLevels(const std::vector<CollectiveSpec>& bundle, int members, int m, const Levels& levels, int64_t message_bytes)
      : bundle_(bundle),
        on_host_(levels.on_host),
        hosts_(members / levels.on_host),
        host_(m / levels.on_host),
        place_(m % levels.on_host),
        m_(m),
        members_(members),
        parts_(levels.parts),
        builder_(bundle, members, m, message_bytes) {}

  absl::StatusOr<Exchange> Compile() {
    if (absl::Status status = builder_.Check(); !status.ok()) return status;
    for (size_t i = 0; i < bundle_.size(); ++i) {
      if (!Reduces(bundle_[i])) {
        builder_.AddOwnBlock(i);
      } else if (absl::Status status = ReducerFor(bundle_[i].dtype, bundle_[i].reduction).status(); !status.ok()) {
        return status;
      }
    }
    strips_ = StripsOf(place_);
    terms_.assign(strips_.size(), std::vector<Location>(on_host_));
    for (size_t s = 0; s < strips_.size(); ++s) terms_[s][place_] = builder_.DenseOf(PieceOf(strips_[s], place_, true));
    for (int k = 0; k < members_; ++k) {
      if (k != m_) AddFirst(k);
    }
    const std::vector<Part> parts = PartsOf(strips_);
    MakeRoom(parts);
    for (size_t c = 0; c < parts.size(); ++c) AddPart(parts[c], c);
    AddLast();
    return builder_.Take();
  }

 private:
  int MemberAt(int host, int place) const { return host * on_host_ + place; }
  bool last() const { return host_ == hosts_ - 1; }

  std::vector<Strip> StripsOf(int place) const {
    std::vector<Strip> strips;
    const std::vector<Share> shares = SharesOf(bundle_, on_host_, place);
    for (size_t i = 0; i < bundle_.size(); ++i) {
      if (!Reduces(bundle_[i]) || FactsOf(bundle_[i].kind).has_parts()) continue;
      const int64_t bytes = shares[i].end - shares[i].begin;
      if (bytes > 0) strips.push_back({i, kAll, shares[i], bytes / builder_.ElementBytes(i)});
    }
    for (int host = 0; host < hosts_; ++host) {
      for (size_t i = 0; i < bundle_.size(); ++i) {
        if (!Reduces(bundle_[i]) || !FactsOf(bundle_[i].kind).has_parts()) continue;
        const int64_t elements = ElementsOf(builder_.OutputDimsOf(i));
        if (elements > 0) strips.push_back({i, host, {}, elements});
      }
    }
    return strips;
  }

  // What a member of this host has of a strip of a place, as the sender or the receiver sees it.
  Piece PieceOf(const Strip& strip, int place, bool sends) const {
    if (strip.host == kAll) return ExchangeBuilder::RangePiece(Location::kInput, strip.tensor, strip.share);
    return builder_.BlockPiece(strip.tensor, m_, MemberAt(strip.host, place), sends);
  }

  // Terms between members of a host; what is gathered, to one member of each host; all else, to everybody.
  void AddFirst(int k) {
    const bool mate = k / on_host_ == host_, like = k % on_host_ == place_;
    std::vector<Piece> sent, received;
    for (size_t i = 0; i < bundle_.size(); ++i) {
      const CollectiveFacts& facts = FactsOf(bundle_[i].kind);
      if (facts.reduces || (facts.gathers && !facts.cuts && !mate && !like)) continue;
      sent.push_back(builder_.BlockPiece(i, m_, k, true));
      received.push_back(builder_.BlockPiece(i, k, m_, false));
    }
    if (mate) {
      for (const Strip& strip : StripsOf(k % on_host_)) sent.push_back(PieceOf(strip, k % on_host_, true));
      for (size_t s = 0; s < strips_.size(); ++s) {
        received.push_back(PieceOf(strips_[s], place_, false));
        received.back().staged = &terms_[s][k % on_host_];
      }
    }
    builder_.AddPieces(0, true, k, std::move(sent));
    builder_.AddPieces(0, false, k, std::move(received));
    if (mate) AddGathered(k);
  }

  // What members of its own place on other hosts have told each of two members of a host.
  void AddGathered(int mate) {
    std::vector<Piece> sent, received;
    for (size_t i = 0; i < bundle_.size(); ++i) {
      const CollectiveFacts& facts = FactsOf(bundle_[i].kind);
      if (!facts.gathers || facts.cuts) continue;
      for (int host = 0; host < hosts_; ++host) {
        if (host == host_) continue;
        sent.push_back(builder_.ReceivedPiece(i, MemberAt(host, place_)));
        received.push_back(builder_.BlockPiece(i, MemberAt(host, mate % on_host_), m_, false));
      }
    }
    if (sent.empty()) return;
    builder_.AddPieces(1, true, mate, std::move(sent));
    builder_.AddPieces(1, false, mate, std::move(received));
  }

  // Strips for one target make as many parts as there are, in proportion.
  std::vector<Part> PartsOf(const std::vector<Strip>& strips) const {
    std::vector<Part> parts;
    for (size_t begin = 0, end = 0; begin < strips.size(); begin = end) {
      int64_t bytes = 0;
      for (end = begin; end < strips.size() && strips[end].host == strips[begin].host; ++end) {
        bytes += WholeLines(strips[end].elements * builder_.ElementBytes(strips[end].tensor));
      }
      const int64_t wanted = strips[begin].host == kAll ? parts_ : (parts_ + hosts_ - 1) / hosts_;
      const int64_t most = WholeLines((bytes + wanted - 1) / wanted);
      int64_t room = 0;
      for (size_t s = begin; s < end; ++s) {
        const int64_t element_bytes = builder_.ElementBytes(strips[s].tensor);
        for (int64_t done = 0; done < strips[s].elements;) {
          if (room == 0) {
            parts.push_back({strips[s].host, {}});
            room = most;
          }
          const int64_t elements = std::min(strips[s].elements - done, room / element_bytes);
          parts.back().stretches.push_back({s, done, elements});
          done += elements;
          room -= std::min(room, WholeLines(elements * element_bytes));
        }
      }
    }
    return parts;
  }

  // Bytes of a part whose elements are dense, each stretch on whole lines: of sums under way, or of the tensors' types.
  int64_t BytesOf(const Part& part, bool under_way) const {
    int64_t bytes = 0;
    for (const Stretch& stretch : part.stretches) bytes += BytesOf(stretch, under_way);
    return bytes;
  }
  int64_t BytesOf(const Stretch& stretch, bool under_way) const {
    const size_t tensor = strips_[stretch.strip].tensor;
    return WholeLines(stretch.elements *
                      (under_way ? UnderWayBytes(bundle_[tensor].dtype) : builder_.ElementBytes(tensor)));
  }

  // Two parts are under way at a time: one is sent while the next is received.
  void MakeRoom(const std::vector<Part>& parts) {
    int64_t sum = 0, total = 0;
    for (const Part& part : parts) {
      sum = std::max(sum, BytesOf(part, true));
      total = std::max(total, BytesOf(part, false));
    }
    for (int k = 0; k < 2; ++k) {
      sums_[k] = {Location::kStaging, 0, builder_.Allocate(sum)};
      totals_[k] = {Location::kStaging, 0, builder_.Allocate(total)};
    }
  }

  // Part `c` is summed on host h at the end of round h + c, and travels in the next; so does its total, back from the
  // last host or straight to the one that it is for.
  void AddPart(const Part& part, size_t c) {
    const size_t h = host_, here = h + c, back = hosts_ + c;
    const Location& sum = sums_[c % 2];
    if (h > 0) Receive(here, MemberAt(host_ - 1, place_), sum, BytesOf(part, true));
    AddFolds(part, c);
    if (!last()) Send(here + 1, MemberAt(host_ + 1, place_), sum, BytesOf(part, true));

    const Location& total = totals_[c % 2];
    const int64_t bytes = BytesOf(part, false);
    if (last()) {
      if (part.host == kAll || part.host == host_) Place(here, part, total);
      const int target = part.host == kAll ? host_ - 1 : part.host;
      if (target != host_) Send(back, MemberAt(target, place_), total, bytes);
    } else if (part.host == kAll) {
      const size_t round = back + (hosts_ - 2 - h);
      Receive(round, MemberAt(host_ + 1, place_), total, bytes);
      Place(round, part, total);
      if (h > 0) Send(round + 1, MemberAt(host_ - 1, place_), total, bytes);
    } else if (part.host == host_) {
      const Location own{Location::kStaging, 0, builder_.Allocate(bytes)};
      Receive(back, MemberAt(hosts_ - 1, place_), own, bytes);
      Place(back, part, own);
    }
  }

  void Send(size_t round, int member, const Location& location, int64_t bytes) {
    builder_.AddMessages(builder_.At(round).sends, member, location, bytes);
  }
  void Receive(size_t round, int member, const Location& location, int64_t bytes) {
    builder_.AddMessages(builder_.At(round).receives, member, location, bytes);
  }

  // The terms of this host behind the sum of those before it.
  void AddFolds(const Part& part, size_t c) {
    Location sum = sums_[c % 2], total = totals_[c % 2];
    for (const Stretch& stretch : part.stretches) {
      const CollectiveSpec& spec = bundle_[strips_[stretch.strip].tensor];
      Fold fold{.reduce = *ReducerFor(spec.dtype, spec.reduction, {.first = host_ > 0, .results = !last()}),
                .terms = {},
                .result = last() ? total : sum,
                .elements = stretch.elements};
      if (host_ > 0) fold.terms.push_back(sum);
      for (Location term : terms_[stretch.strip]) {
        term.offset += stretch.begin * static_cast<int64_t>(SizeOf(spec.dtype));
        fold.terms.push_back(term);
      }
      builder_.At(host_ + c).folds.push_back(std::move(fold));
      sum.offset += BytesOf(stretch, true);
      total.offset += BytesOf(stretch, false);
    }
  }

  // The totals of a part to where this member wants them, at the end of a round.
  void Place(size_t round, const Part& part, Location total) {
    for (const Stretch& stretch : part.stretches) {
      const Strip& strip = strips_[stretch.strip];
      const int64_t element_bytes = builder_.ElementBytes(strip.tensor);
      const int64_t begin = strip.share.begin + stretch.begin * element_bytes;
      Piece piece = ExchangeBuilder::RangePiece(Location::kOutput, strip.tensor,
                                                {begin, begin + stretch.elements * element_bytes});
      builder_.At(round).after.push_back({total, piece.location, std::move(piece.copy)});
      total.offset += BytesOf(stretch, false);
    }
  }

  // Within the host, the totals that are for all: when those of all its places are there.
  void AddLast() {
    size_t most = 0;
    for (int place = 0; place < on_host_; ++place) most = std::max(most, PartsOf(StripsOf(place)).size());
    const size_t round = 2 * hosts_ + most;
    for (int place = 0; place < on_host_; ++place) {
      if (place == place_) continue;
      std::vector<Piece> sent, received;
      AddTotals(place_, sent);
      AddTotals(place, received);
      builder_.AddPieces(round, true, MemberAt(host_, place), std::move(sent));
      builder_.AddPieces(round, false, MemberAt(host_, place), std::move(received));
    }
  }
  void AddTotals(int place, std::vector<Piece>& pieces) const {
    for (const Strip& strip : StripsOf(place)) {
      if (strip.host != kAll) continue;
      pieces.push_back(ExchangeBuilder::RangePiece(Location::kOutput, strip.tensor, strip.share));
    }
  }

  const std::vector<CollectiveSpec>& bundle_;
  const int on_host_, hosts_, host_, place_;
  const int m_, members_;
  const int64_t parts_;
  ExchangeBuilder builder_;
  std::vector<Strip> strips_;                 // of this member's place
  std::vector<std::vector<Location>> terms_;  // by strip, then by place
  Location sums_[2], totals_[2];              // of even and of odd parts
};

}  // namespace

absl::StatusOr<Exchange> TwoLevelExchangeOf(const std::vector<CollectiveSpec>& bundle, int members, int m,
                                            const Levels& levels, int64_t message_bytes) {
  return TwoLevels(bundle, members, m, levels, message_bytes).Compile();
}

}  // namespace weft::collective
