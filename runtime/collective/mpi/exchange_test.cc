// The messages of all members of a group, delivered by hand: no MPI is needed to
// see that they fit together.
#include "runtime/collective/mpi/exchange.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "gtest/gtest.h"

namespace weft::collective {
namespace {

// How many members there are, and how they exchange: on two levels where `levels` has more than one on a host.
struct Way {
  int members = 3;
  Levels levels;
};

using Bytes = std::vector<char>;

// A member's memory.
struct Member {
  Exchange exchange;
  std::vector<Bytes> inputs, outputs;
  Bytes staging;

  char* At(const Location& location) {
    switch (location.side) {
      case Location::kInput:
        return inputs[location.tensor].data() + location.offset;
      case Location::kOutput:
        return outputs[location.tensor].data() + location.offset;
      default:
        return staging.data() + location.offset;
    }
  }
  int64_t BytesAfter(const Location& location) {
    const Bytes& all = location.side == Location::kInput    ? inputs[location.tensor]
                       : location.side == Location::kOutput ? outputs[location.tensor]
                                                            : staging;
    return static_cast<int64_t>(all.size()) - location.offset;
  }
  void Do(const std::vector<Move>& moves) {
    for (const Move& move : moves) move.copy.Run(At(move.from), At(move.to));
  }
};

std::vector<Message> Between(const std::vector<Message>& messages, int member) {
  std::vector<Message> some;
  for (const Message& it : messages) {
    if (it.member == member) some.push_back(it);
  }
  return some;
}

// Every message of a round finds its receive, of its size and inside the memory of both.
void Deliver(std::vector<Member>& members, size_t round) {
  const auto round_of = [&](int m) {
    return round < members[m].exchange.rounds.size() ? members[m].exchange.rounds[round] : Round();
  };
  const int count = static_cast<int>(members.size());
  for (int m = 0; m < count; ++m) members[m].Do(round_of(m).before);
  for (int from = 0; from < count; ++from) {
    for (int to = 0; to < count; ++to) {
      const std::vector<Message> sent = Between(round_of(from).sends, to);
      const std::vector<Message> received = Between(round_of(to).receives, from);
      ASSERT_EQ(sent.size(), received.size()) << from << " to " << to << " round " << round;
      for (size_t i = 0; i < sent.size(); ++i) {
        ASSERT_EQ(sent[i].bytes, received[i].bytes) << from << " to " << to << " message " << i;
        ASSERT_LE(sent[i].bytes, members[from].BytesAfter(sent[i].location));
        ASSERT_LE(received[i].bytes, members[to].BytesAfter(received[i].location));
        std::memcpy(members[to].At(received[i].location), members[from].At(sent[i].location), sent[i].bytes);
      }
    }
  }
}

int64_t Elements(const std::vector<int64_t>& dims) {
  int64_t elements = 1;
  for (int64_t d : dims) elements *= d;
  return elements;
}

Exchange ExchangeOf(const std::vector<CollectiveSpec>& bundle, const Way& way, int m, int64_t message_bytes) {
  absl::StatusOr<Exchange> exchange = way.levels.on_host > 1
                                          ? TwoLevelExchangeOf(bundle, way.members, m, way.levels, message_bytes)
                                          : ExchangeOf(bundle, way.members, m, message_bytes);
  EXPECT_TRUE(exchange.ok()) << exchange.status();
  return *std::move(exchange);
}

// Element i of every input of member m is fill(m, i).
template <typename Fill>
std::vector<Member> MembersOf(const std::vector<CollectiveSpec>& bundle, const Way& way, int64_t message_bytes,
                              const Fill& fill) {
  std::vector<Member> members(way.members);
  for (int m = 0; m < way.members; ++m) {
    members[m].exchange = ExchangeOf(bundle, way, m, message_bytes);
    members[m].staging.resize(members[m].exchange.staging_bytes);
    for (const CollectiveSpec& spec : bundle) {
      const size_t element_bytes = SizeOf(spec.dtype);
      Bytes input(Elements(spec.dims) * element_bytes);
      for (int64_t i = 0; i < Elements(spec.dims); ++i) fill(spec.dtype, m, i, input.data() + i * element_bytes);
      members[m].inputs.push_back(std::move(input));
      members[m].outputs.emplace_back(Elements(*OutputDims(spec, way.members)) * element_bytes);
    }
  }
  return members;
}

void FillByPlace(DType, int m, int64_t i, char* element) {
  const int32_t value = static_cast<int32_t>((m + 1) * 1000000 + i);
  std::memcpy(element, &value, sizeof(value));
}

void Perform(std::vector<Member>& members) {
  size_t rounds = 0;
  for (const Member& member : members) rounds = std::max(rounds, member.exchange.rounds.size());
  for (size_t round = 0; round < rounds; ++round) {
    Deliver(members, round);
    for (Member& member : members) {
      if (round >= member.exchange.rounds.size()) continue;
      const Round& own = member.exchange.rounds[round];
      member.Do(own.meanwhile);
      for (const Fold& fold : own.folds) {
        std::vector<const void*> terms;
        for (const Location& term : fold.terms) terms.push_back(member.At(term));
        void* const result = member.At(fold.result);
        fold.reduce(terms.data(), static_cast<int>(terms.size()), 0, &result, 1, 0, fold.elements);
      }
      member.Do(own.after);
    }
  }
}

std::vector<int32_t> OutputOf(const Member& member, size_t tensor) {
  std::vector<int32_t> output(member.outputs[tensor].size() / 4);
  std::memcpy(output.data(), member.outputs[tensor].data(), member.outputs[tensor].size());
  return output;
}

// Two hosts and more, of two members and more, and all members by themselves.
const Way kWays[] = {{3, {}}, {4, {2, 1}}, {4, {2, 5}}, {6, {2, 3}}, {6, {3, 2}}, {8, {2, 4}}, {12, {3, 7}}};

// Small and large tensors of every kind, in messages of 1000 bytes and whole.
TEST(ExchangeTest, MessagesFitTogether) {
  const DType i32 = DType::kI32;
  for (const Way& way : kWays) {
    for (int64_t message_bytes : {int64_t{1000}, int64_t{1} << 30}) {
      const int n = way.members;
      std::vector<Member> members =
          MembersOf({{.dtype = i32, .dims = {7}},
                     {.dtype = i32, .dims = {9001}},
                     {.kind = Kind::kReduceScatter, .dtype = i32, .dims = {60, 33 * n}, .dim = 1},
                     {.kind = Kind::kAllGather, .dtype = i32, .dims = {50, 40}, .dim = 1},
                     {.kind = Kind::kAllGather, .dtype = i32, .dims = {0}},
                     {.kind = Kind::kAllToAll, .dtype = i32, .dims = {30 * n, 41}, .dim = 1}},
                    way, message_bytes, FillByPlace);
      Perform(members);
      const int32_t sum_of_all = n * (n + 1) / 2 * 1000000;
      for (int m = 0; m < n; ++m) {
        for (size_t tensor : {0, 1}) {
          const std::vector<int32_t> sum = OutputOf(members[m], tensor);
          for (int32_t i = 0; i < static_cast<int32_t>(sum.size()); ++i) ASSERT_EQ(sum[i], sum_of_all + n * i);
        }
        const std::vector<int32_t> part = OutputOf(members[m], 2);
        for (int32_t i = 0; i < static_cast<int32_t>(part.size()); ++i) {
          ASSERT_EQ(part[i], sum_of_all + n * (i / 33 * 33 * n + m * 33 + i % 33));
        }
        const std::vector<int32_t> gathered = OutputOf(members[m], 3);
        for (int32_t i = 0; i < static_cast<int32_t>(gathered.size()); ++i) {
          ASSERT_EQ(gathered[i], (i % (40 * n) / 40 + 1) * 1000000 + i / (40 * n) * 40 + i % 40);
        }
        const std::vector<int32_t> turned = OutputOf(members[m], 5);
        for (int32_t i = 0; i < static_cast<int32_t>(turned.size()); ++i) {
          ASSERT_EQ(turned[i], (i % (41 * n) / 41 + 1) * 1000000 + (m * 30 + i / (41 * n)) * 41 + i % 41);
        }
      }
    }
  }
}

// Numbers whose sum depends on the order in which they are added.
void FillAtRandom(DType dtype, int m, int64_t i, char* element) {
  const uint32_t bits = static_cast<uint32_t>((m * 2654435761u) ^ (i * 2246822519u)) * 3266489917u;
  const float value = std::ldexp(static_cast<float>(static_cast<int32_t>(bits)), static_cast<int>(bits >> 7 & 15) - 40);
  switch (dtype) {
    case DType::kBF16: {
      const BFloat16 narrow = ToBFloat16(value);
      std::memcpy(element, &narrow, sizeof(narrow));
      break;
    }
    case DType::kF16: {
      const _Float16 narrow = static_cast<_Float16>(value);
      std::memcpy(element, &narrow, sizeof(narrow));
      break;
    }
    default:
      std::memcpy(element, &value, sizeof(value));
  }
}

// On two levels every element has the bits that it has directly.
TEST(ExchangeTest, TwoLevelsHaveTheSameBits) {
  for (const Way& way : kWays) {
    const int n = way.members;
    std::vector<CollectiveSpec> bundle;
    for (DType dtype : {DType::kF32, DType::kBF16, DType::kF16}) {
      bundle.push_back({.dtype = dtype, .dims = {5}});
      bundle.push_back({.dtype = dtype, .dims = {3, 1711}});
      bundle.push_back({.reduction = Reduction::kMax, .dtype = dtype, .dims = {900}});
      bundle.push_back({.kind = Kind::kReduceScatter, .dtype = dtype, .dims = {7 * n, 129}});
      bundle.push_back({.kind = Kind::kReduceScatter, .dtype = dtype, .dims = {2, n}, .dim = 1});
      bundle.push_back({.kind = Kind::kAllGather, .dtype = dtype, .dims = {70, 30}, .dim = 1});
    }
    for (int64_t message_bytes : {int64_t{1000}, int64_t{1} << 30}) {
      std::vector<Member> direct = MembersOf(bundle, {n, {}}, message_bytes, FillAtRandom);
      std::vector<Member> levels = MembersOf(bundle, way, message_bytes, FillAtRandom);
      Perform(direct);
      Perform(levels);
      for (int m = 0; m < n; ++m) {
        for (size_t tensor = 0; tensor < bundle.size(); ++tensor) {
          ASSERT_EQ(levels[m].outputs[tensor], direct[m].outputs[tensor]) << "member " << m << " tensor " << tensor;
        }
      }
    }
  }
}

// Kinds that go on two levels one at a time: none waits for another's rounds.
TEST(ExchangeTest, EachKindByItself) {
  const Way way{6, {2, 3}};
  for (Kind kind : {Kind::kAllReduce, Kind::kReduceScatter, Kind::kAllGather, Kind::kAllToAll, Kind::kShift}) {
    const std::vector<CollectiveSpec> bundle = {
        {.kind = kind, .dims = {6, 300}, .dim = 0, .split_dim = kind == Kind::kAllToAll ? 1 : 0, .by = 1}};
    std::vector<Member> direct = MembersOf(bundle, {6, {}}, 1 << 30, FillAtRandom);
    std::vector<Member> levels = MembersOf(bundle, way, 1 << 30, FillAtRandom);
    Perform(direct);
    Perform(levels);
    for (int m = 0; m < 6; ++m) ASSERT_EQ(levels[m].outputs, direct[m].outputs) << FactsOf(kind).name << " " << m;
  }
}

// Bytes that members send to those of other hosts, of `on_host` each.
int64_t BytesBetweenHosts(const std::vector<CollectiveSpec>& bundle, const Way& way, int on_host) {
  int64_t bytes = 0;
  for (int m = 0; m < way.members; ++m) {
    for (const Round& round : ExchangeOf(bundle, way, m, int64_t{1} << 30).rounds) {
      for (const Message& message : round.sends) {
        if (message.member / on_host != m / on_host) bytes += message.bytes;
      }
    }
  }
  return bytes;
}

// What is sent through the network falls by as much as there are members on a host.
TEST(ExchangeTest, LessGoesBetweenHosts) {
  const int64_t tensor = 12 * 64 * 100 * 4, on_host = 4, hosts = 3, n = 12;
  const Way direct{n, {}}, levels{n, {on_host, 5}};
  const std::vector<CollectiveSpec> sum = {{.dims = {tensor / 4}}};
  EXPECT_EQ(BytesBetweenHosts(sum, direct, on_host), 2 * tensor * (n - on_host));
  EXPECT_EQ(BytesBetweenHosts(sum, levels, on_host), 2 * tensor * (hosts - 1));
  const std::vector<CollectiveSpec> scattered = {{.kind = Kind::kReduceScatter, .dims = {tensor / 4}}};
  EXPECT_EQ(BytesBetweenHosts(scattered, direct, on_host), tensor * (n - on_host));
  EXPECT_EQ(BytesBetweenHosts(scattered, levels, on_host), tensor * (hosts - 1) + tensor * (hosts - 1) / hosts);
  const std::vector<CollectiveSpec> gathered = {{.kind = Kind::kAllGather, .dims = {tensor / 4 / n}}};
  EXPECT_EQ(BytesBetweenHosts(gathered, direct, on_host), tensor * (n - on_host));
  EXPECT_EQ(BytesBetweenHosts(gathered, levels, on_host), tensor * (hosts - 1));
}

// What is on its way is not touched: no message of a round is received where another one is sent from or received.
TEST(ExchangeTest, MessagesOfARoundLieApart) {
  const std::vector<CollectiveSpec> bundle = {{.dims = {70001}},
                                              {.kind = Kind::kReduceScatter, .dtype = DType::kBF16, .dims = {24, 999}},
                                              {.kind = Kind::kAllGather, .dims = {70, 30}, .dim = 1}};
  for (const Way& way : kWays) {
    for (int m = 0; m < way.members; ++m) {
      for (const Round& round : ExchangeOf(bundle, way, m, 5000).rounds) {
        std::vector<Message> all = round.receives;
        all.insert(all.end(), round.sends.begin(), round.sends.end());
        for (size_t a = 0; a < round.receives.size(); ++a) {
          for (size_t b = a + 1; b < all.size(); ++b) {
            const Location &one = all[a].location, &other = all[b].location;
            if (one.side != other.side || one.tensor != other.tensor) continue;
            ASSERT_TRUE(one.offset + all[a].bytes <= other.offset || other.offset + all[b].bytes <= one.offset);
          }
        }
      }
    }
  }
}

// The tensors of a bucket that are small go in one message to each peer and round.
TEST(ExchangeTest, SmallPiecesTravelTogether) {
  const std::vector<CollectiveSpec> bundle(50, CollectiveSpec{.dims = {900}});
  for (int m = 0; m < 3; ++m) {
    const Exchange exchange = ExchangeOf(bundle, Way(), m, int64_t{1} << 30);
    ASSERT_EQ(exchange.rounds.size(), 2u);
    for (const Round& round : exchange.rounds) {
      EXPECT_EQ(round.sends.size(), 2u);
      EXPECT_EQ(round.receives.size(), 2u);
    }
  }
}

// A large all_reduce is sent from where it lies; only its terms need memory.
TEST(ExchangeTest, LargeTensorsAreNotCopied) {
  const Exchange exchange = ExchangeOf({{.dims = {3000000}}}, Way(), 1, int64_t{1} << 30);
  for (const Round& round : exchange.rounds) {
    EXPECT_TRUE(round.before.empty() && round.meanwhile.empty() && round.after.empty());
  }
  EXPECT_NEAR(static_cast<double>(exchange.staging_bytes), 8e6, 1000);
}

}  // namespace
}  // namespace weft::collective
