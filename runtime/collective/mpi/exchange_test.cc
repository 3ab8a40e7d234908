// The messages of all members of a group, delivered by hand: no MPI is needed to
// see that they fit together.
#include "runtime/collective/mpi/exchange.h"

#include <cstring>
#include <vector>

#include "gtest/gtest.h"

namespace weft::collective {
namespace {

constexpr int kMembers = 3;

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

// Every message finds its receive, of its size and inside the memory of both.
void Deliver(std::vector<Member>& members, Round Exchange::* round) {
  for (Member& member : members) member.Do((member.exchange.*round).before);
  for (int from = 0; from < kMembers; ++from) {
    for (int to = 0; to < kMembers; ++to) {
      const std::vector<Message> sent = Between((members[from].exchange.*round).sends, to);
      const std::vector<Message> received = Between((members[to].exchange.*round).receives, from);
      ASSERT_EQ(sent.size(), received.size()) << from << " to " << to;
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

std::vector<Member> MembersOf(const std::vector<CollectiveSpec>& bundle, int64_t message_bytes) {
  std::vector<Member> members(kMembers);
  for (int m = 0; m < kMembers; ++m) {
    absl::StatusOr<Exchange> exchange = ExchangeOf(bundle, kMembers, m, message_bytes);
    EXPECT_TRUE(exchange.ok()) << exchange.status();
    members[m].exchange = *std::move(exchange);
    members[m].staging.resize(members[m].exchange.staging_bytes);
    for (const CollectiveSpec& spec : bundle) {
      std::vector<int32_t> input(Elements(spec.dims));
      for (size_t i = 0; i < input.size(); ++i) input[i] = static_cast<int32_t>((m + 1) * 1000000 + i);
      const char* bytes = reinterpret_cast<const char*>(input.data());
      members[m].inputs.emplace_back(bytes, bytes + input.size() * 4);
      members[m].outputs.emplace_back(Elements(*OutputDims(spec, kMembers)) * 4);
    }
  }
  return members;
}

void Perform(std::vector<Member>& members) {
  for (Member& member : members) member.Do(member.exchange.own);
  Deliver(members, &Exchange::first);
  for (Member& member : members) {
    for (const OwnShare& share : member.exchange.shares) {
      std::vector<const void*> terms;
      for (const Location& term : share.terms) terms.push_back(member.At(term));
      void* const result = member.At(share.result);
      share.reduce(terms.data(), kMembers, 0, &result, 1, 0, share.elements);
    }
    member.Do(member.exchange.first.after);
  }
  Deliver(members, &Exchange::second);
  for (Member& member : members) member.Do(member.exchange.second.after);
}

std::vector<int32_t> OutputOf(const Member& member, size_t tensor) {
  std::vector<int32_t> output(member.outputs[tensor].size() / 4);
  std::memcpy(output.data(), member.outputs[tensor].data(), member.outputs[tensor].size());
  return output;
}

// Small and large tensors of every kind, in messages of 1000 bytes and whole.
TEST(ExchangeTest, MessagesFitTogether) {
  for (int64_t message_bytes : {int64_t{1000}, int64_t{1} << 30}) {
    const DType i32 = DType::kI32;
    std::vector<Member> members = MembersOf({{.dtype = i32, .dims = {7}},
                                             {.dtype = i32, .dims = {9001}},
                                             {.kind = Kind::kReduceScatter, .dtype = i32, .dims = {60, 99}, .dim = 1},
                                             {.kind = Kind::kAllGather, .dtype = i32, .dims = {50, 40}, .dim = 1},
                                             {.kind = Kind::kAllGather, .dtype = i32, .dims = {0}},
                                             {.kind = Kind::kAllToAll, .dtype = i32, .dims = {90, 41}, .dim = 1}},
                                            message_bytes);
    Perform(members);
    for (int m = 0; m < kMembers; ++m) {
      for (size_t tensor : {0, 1}) {
        const std::vector<int32_t> sum = OutputOf(members[m], tensor);
        for (int32_t i = 0; i < static_cast<int32_t>(sum.size()); ++i) ASSERT_EQ(sum[i], 6000000 + 3 * i);
      }
      const std::vector<int32_t> part = OutputOf(members[m], 2);
      for (int32_t i = 0; i < static_cast<int32_t>(part.size()); ++i) {
        ASSERT_EQ(part[i], 6000000 + 3 * (i / 33 * 99 + m * 33 + i % 33));
      }
      const std::vector<int32_t> gathered = OutputOf(members[m], 3);
      for (int32_t i = 0; i < static_cast<int32_t>(gathered.size()); ++i) {
        ASSERT_EQ(gathered[i], (i % 120 / 40 + 1) * 1000000 + i / 120 * 40 + i % 40);
      }
      const std::vector<int32_t> turned = OutputOf(members[m], 5);
      for (int32_t i = 0; i < static_cast<int32_t>(turned.size()); ++i) {
        ASSERT_EQ(turned[i], (i % 123 / 41 + 1) * 1000000 + (m * 30 + i / 123) * 41 + i % 41);
      }
    }
  }
}

// The tensors of a bucket that are small go in one message to each peer and round.
TEST(ExchangeTest, SmallPiecesTravelTogether) {
  const std::vector<CollectiveSpec> bundle(50, CollectiveSpec{.dims = {900}});
  for (int m = 0; m < kMembers; ++m) {
    const absl::StatusOr<Exchange> exchange = ExchangeOf(bundle, kMembers, m, int64_t{1} << 30);
    ASSERT_TRUE(exchange.ok());
    EXPECT_EQ(exchange->first.sends.size(), 2u);
    EXPECT_EQ(exchange->first.receives.size(), 2u);
    EXPECT_EQ(exchange->second.sends.size(), 2u);
    EXPECT_EQ(exchange->second.receives.size(), 2u);
  }
}

// A large all_reduce is sent from where it lies; only its terms need memory.
TEST(ExchangeTest, LargeTensorsAreNotCopied) {
  const absl::StatusOr<Exchange> exchange = ExchangeOf({{.dims = {3000000}}}, kMembers, 1, int64_t{1} << 30);
  ASSERT_TRUE(exchange.ok());
  EXPECT_TRUE(exchange->first.before.empty() && exchange->first.after.empty());
  EXPECT_TRUE(exchange->second.before.empty() && exchange->second.after.empty());
  EXPECT_TRUE(exchange->own.empty());
  EXPECT_NEAR(static_cast<double>(exchange->staging_bytes), 8e6, 1000);
}

}  // namespace
}  // namespace weft::collective
