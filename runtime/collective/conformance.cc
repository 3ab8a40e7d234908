#include "runtime/collective/conformance.h"

#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "ops/abi/dtype.h"

// A sanitizer takes a minute over 64 MiB, and sees no more in them than in one.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define WEFT_LARGE_MIB 1
#endif
#endif
#ifndef WEFT_LARGE_MIB
#define WEFT_LARGE_MIB 64
#endif

namespace weft::collective {
namespace {

using Dims = std::vector<int64_t>;

int64_t Product(const Dims& dims) { return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>()); }

// Small whole numbers: every sum over a few ranks is exact in every type, and a
// u8 holds what is only moved.
double ValueAt(int rank, int64_t element) { return (rank + 1) * static_cast<double>((element * 7 + 3) % 13); }

// A dense tensor of any type, read and written as doubles.
class Tensor {
 public:
  Tensor(DType dtype, Dims dims) : dtype_(dtype), dims_(std::move(dims)), bytes_(Product(dims_) * SizeOf(dtype) + 1) {}
  const Dims& dims() const { return dims_; }
  int64_t elements() const { return Product(dims_); }
  void* data() { return bytes_.data(); }

  void Set(int64_t i, double value) {
    switch (dtype_) {
      case DType::kF32:
        return Store(i, static_cast<float>(value));
      case DType::kBF16:
        return Store(i, ToBFloat16(static_cast<float>(value)));
      case DType::kF16:
        return Store(i, static_cast<_Float16>(value));
      case DType::kU8:
        return Store(i, static_cast<uint8_t>(static_cast<int>(value)));
      case DType::kF64:
        return Store(i, value);
      case DType::kI32:
        return Store(i, static_cast<int32_t>(value));
      case DType::kI64:
        return Store(i, static_cast<int64_t>(value));
      default:
        FAIL() << "type " << NameOf(dtype_);
    }
  }
  double Get(int64_t i) const {
    switch (dtype_) {
      case DType::kF32:
        return Load<float>(i);
      case DType::kBF16:
        return ToFloat(Load<BFloat16>(i));
      case DType::kF16:
        return static_cast<double>(Load<_Float16>(i));
      case DType::kU8:
        return Load<uint8_t>(i);
      case DType::kF64:
        return Load<double>(i);
      case DType::kI32:
        return Load<int32_t>(i);
      case DType::kI64:
        return static_cast<double>(Load<int64_t>(i));
      default:
        return 0;
    }
  }
  void Fill(int rank) {
    for (int64_t i = 0; i < elements(); ++i) Set(i, ValueAt(rank, i));
  }

 private:
  template <typename T>
  void Store(int64_t i, T value) {
    std::memcpy(bytes_.data() + i * sizeof(T), &value, sizeof(T));
  }
  template <typename T>
  T Load(int64_t i) const {
    T value;
    std::memcpy(&value, bytes_.data() + i * sizeof(T), sizeof(T));
    return value;
  }

  DType dtype_;
  Dims dims_;
  std::vector<char> bytes_;
};

// The coordinates of element `i` of a tensor, and back.
Dims CoordinatesOf(const Dims& dims, int64_t i) {
  Dims at(dims.size());
  for (int d = static_cast<int>(dims.size()) - 1; d >= 0; --d) {
    at[d] = i % dims[d];
    i /= dims[d];
  }
  return at;
}
int64_t ElementAt(const Dims& dims, const Dims& at) {
  int64_t i = 0;
  for (size_t d = 0; d < dims.size(); ++d) i = i * dims[d] + at[d];
  return i;
}

// What member `m` of `ranks` must find at element `i` of its output, straight
// from the definitions.
double Expected(const CollectiveSpec& spec, const std::vector<int>& ranks, int m, const Dims& output_dims, int64_t i) {
  Dims at = CoordinatesOf(output_dims, i);
  if (spec.kind == Kind::kAllGather || spec.kind == Kind::kAllToAll) {
    const int64_t from = at[spec.dim] / spec.dims[spec.dim];
    at[spec.dim] %= spec.dims[spec.dim];
    if (spec.kind == Kind::kAllToAll) at[spec.split_dim] += m * output_dims[spec.split_dim];
    return ValueAt(ranks[from], ElementAt(spec.dims, at));
  }
  if (spec.kind == Kind::kReduceScatter) at[spec.dim] += m * output_dims[spec.dim];
  const int64_t element = ElementAt(spec.dims, at);
  if (spec.kind == Kind::kShift) return ValueAt(ranks[(m + ranks.size() - spec.by) % ranks.size()], element);
  if (spec.kind == Kind::kZigzag) {
    // Of 2 c pieces, member m has 2 m and 2 m + 1 on the one side, and on the other those as far from both ends, the
    // first of which is 2 m, or 2 m' + 1 of the mirrored member m'.
    const int64_t c = static_cast<int64_t>(ranks.size()), half = spec.dims[spec.dim] / 2, mirror = c - 1 - m;
    const bool second = at[spec.dim] >= half;
    const int64_t early = m <= mirror ? 2 * m : 2 * mirror + 1, piece = second ? 2 * c - 1 - early : early;
    int64_t from = piece / 2, from_half = piece % 2;
    if (spec.back) {
      const int64_t own = 2 * m + (second ? 1 : 0), first = std::min(own, 2 * c - 1 - own);
      from = first % 2 == 0 ? first / 2 : c - 1 - first / 2;
      from_half = own >= c ? 1 : 0;
    }
    at[spec.dim] = at[spec.dim] % half + from_half * half;
    return ValueAt(ranks[from], ElementAt(spec.dims, at));
  }
  double result = ValueAt(ranks[0], element);
  for (size_t r = 1; r < ranks.size(); ++r) {
    const double value = ValueAt(ranks[r], element);
    result = spec.reduction == Reduction::kSum ? result + value : std::max(result, value);
  }
  return result;
}

// Runs `bundle` once or more in `group` and compares every element, or one of `stride`.
void CheckBundle(Communicator& communicator, const Group& group, const std::vector<CollectiveSpec>& bundle,
                 int times = 1, bool in_place = false, int64_t stride = 1) {
  auto operation = communicator.CreateCollective(group, bundle);
  ASSERT_TRUE(operation.ok()) << operation.status();
  const int m =
      static_cast<int>(std::find(group.ranks.begin(), group.ranks.end(), communicator.rank()) - group.ranks.begin());
  for (int time = 0; time < times; ++time) {
    std::vector<Tensor> from, to;
    std::vector<const void*> inputs;
    std::vector<void*> outputs;
    for (const CollectiveSpec& spec : bundle) {
      const auto output_dims = OutputDims(spec, static_cast<int64_t>(group.ranks.size()));
      ASSERT_TRUE(output_dims.ok());
      from.emplace_back(spec.dtype, spec.dims).Fill(communicator.rank());
      to.emplace_back(spec.dtype, *output_dims);
      inputs.push_back(from.back().data());
      outputs.push_back(in_place && spec.kind == Kind::kAllReduce ? from.back().data() : to.back().data());
    }
    const absl::Status status = (*operation)->Run(inputs, outputs, nullptr);
    ASSERT_TRUE(status.ok()) << status;
    for (size_t b = 0; b < bundle.size(); ++b) {
      const Tensor& result = outputs[b] == inputs[b] ? from[b] : to[b];
      for (int64_t i = 0; i < result.elements(); i += stride) {
        ASSERT_EQ(result.Get(i), Expected(bundle[b], group.ranks, m, result.dims(), i))
            << bundle[b].ToString() << ", group " << group.name << ", rank " << communicator.rank() << ", element "
            << i;
      }
    }
  }
}

void CheckCollective(Communicator& communicator, const Group& group, const CollectiveSpec& spec, int times = 1,
                     bool in_place = false) {
  CheckBundle(communicator, group, {spec}, times, in_place);
}

Group All(Communicator& communicator) {
  Group group{.name = "all"};
  for (int r = 0; r < communicator.size(); ++r) group.ranks.push_back(r);
  return group;
}

// An implementation need not have it.
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(CollectiveAgreement);

// With arithmetic, and all.
constexpr DType kTypes[] = {DType::kF32, DType::kBF16, DType::kF16, DType::kI32, DType::kI64, DType::kF64};
constexpr DType kMovedTypes[] = {DType::kF32, DType::kBF16, DType::kF16, DType::kI32,
                                 DType::kI64, DType::kF64,  DType::kU8};

TEST_P(CollectiveConformance, AllReduce) {
  Run(3, [](Communicator& c) {
    for (DType dtype : kTypes) {
      for (Reduction reduction : {Reduction::kSum, Reduction::kMax}) {
        CheckCollective(c, All(c), {.reduction = reduction, .dtype = dtype, .dims = {5, 7}});
        CheckCollective(c, All(c), {.reduction = reduction, .dtype = dtype, .dims = {5, 7}}, 1, /*in_place=*/true);
      }
    }
  });
}

TEST_P(CollectiveConformance, AllReduceOfAnySize) {
  Run(4, [](Communicator& c) {
    for (int64_t size : {0, 1, 3, 15, 64, 1023, 70001}) {
      CheckCollective(c, All(c), {.dims = {size}});
      CheckCollective(c, All(c), {.dims = {size}}, 1, /*in_place=*/true);
    }
    CheckCollective(c, All(c), {.dims = {}});  // a scalar
  });
}

TEST_P(CollectiveConformance, ReduceScatterAlongEveryDim) {
  Run(3, [](Communicator& c) {
    for (int dim = 0; dim < 3; ++dim) {
      for (DType dtype : kTypes) {
        CheckCollective(c, All(c), {.kind = Kind::kReduceScatter, .dtype = dtype, .dims = {3, 6, 9}, .dim = dim});
      }
      CheckCollective(c, All(c),
                      {.kind = Kind::kReduceScatter, .reduction = Reduction::kMax, .dims = {3, 6, 9}, .dim = dim});
    }
    CheckCollective(c, All(c), {.kind = Kind::kReduceScatter, .dims = {0, 3}, .dim = 1});
    CheckCollective(c, All(c), {.kind = Kind::kReduceScatter, .dims = {30000}});
  });
}

TEST_P(CollectiveConformance, AllGatherAlongEveryDim) {
  Run(3, [](Communicator& c) {
    for (int dim = 0; dim < 3; ++dim) {
      for (DType dtype : kMovedTypes) {
        CheckCollective(c, All(c), {.kind = Kind::kAllGather, .dtype = dtype, .dims = {2, 5, 3}, .dim = dim});
      }
    }
    CheckCollective(c, All(c), {.kind = Kind::kAllGather, .dims = {0}});
    CheckCollective(c, All(c), {.kind = Kind::kAllGather, .dims = {1}});
    CheckCollective(c, All(c), {.kind = Kind::kAllGather, .dims = {30001}});
  });
}

TEST_P(CollectiveConformance, AllToAllAlongEveryPairOfDims) {
  Run(3, [](Communicator& c) {
    for (int dim = 0; dim < 3; ++dim) {
      for (int split_dim = 0; split_dim < 3; ++split_dim) {
        if (dim == split_dim) continue;
        for (DType dtype : kMovedTypes) {
          CheckCollective(
              c, All(c),
              {.kind = Kind::kAllToAll, .dtype = dtype, .dims = {3, 6, 9}, .dim = dim, .split_dim = split_dim});
        }
      }
    }
  });
}

TEST_P(CollectiveConformance, ShiftByEveryNumberOfPlaces) {
  Run(4, [](Communicator& c) {
    for (int by = 1; by < 4; ++by) {
      for (DType dtype : kMovedTypes) {
        CheckCollective(c, All(c), {.kind = Kind::kShift, .dtype = dtype, .dims = {2, 5, 3}, .dim = 1, .by = by});
      }
      CheckCollective(c, All(c), {.kind = Kind::kShift, .dims = {0}, .by = by});
      CheckCollective(c, All(c), {.kind = Kind::kShift, .dims = {30001}, .by = by});
    }
  });
}

TEST_P(CollectiveConformance, ZigzagAlongEveryDim) {
  for (int ranks : {3, 4}) {
    Run(ranks, [](Communicator& c) {
      for (int dim = 0; dim < 3; ++dim) {
        for (DType dtype : kMovedTypes) {
          for (bool back : {false, true}) {
            CheckCollective(c, All(c),
                            {.kind = Kind::kZigzag, .dtype = dtype, .dims = {2, 4, 6}, .dim = dim, .back = back});
          }
        }
      }
      CheckCollective(c, All(c), {.kind = Kind::kZigzag, .dims = {0}});
      CheckCollective(c, All(c), {.kind = Kind::kZigzag, .dims = {60002}});
    });
  }
}

// All kinds and types in one operation; some in place, some of no bytes.
TEST_P(CollectiveConformance, Bundles) {
  Run(3, [](Communicator& c) {
    const std::vector<CollectiveSpec> bundle = {
        {.dims = {5, 7}},
        {.kind = Kind::kReduceScatter, .dims = {3, 6}, .dim = 1},
        {.dtype = DType::kBF16, .dims = {1000}},
        {.kind = Kind::kAllGather, .dtype = DType::kI64, .dims = {2, 3}, .dim = 1},
        {.dims = {0}},
        {.reduction = Reduction::kMax, .dims = {33}},
        {.kind = Kind::kAllToAll, .dtype = DType::kI32, .dims = {3, 4}, .dim = 1, .split_dim = 0},
        {.kind = Kind::kShift, .dims = {4, 3}, .dim = 1, .by = 1},
        {.kind = Kind::kShift, .dtype = DType::kBF16, .dims = {3000}, .by = 1},
        {.kind = Kind::kZigzag, .dims = {3, 4}, .dim = 1},
        {.kind = Kind::kZigzag, .dtype = DType::kBF16, .dims = {3000}, .back = true},
        {.dtype = DType::kF64, .dims = {1}},
    };
    CheckBundle(c, All(c), bundle);
    CheckBundle(c, All(c), bundle, 20, /*in_place=*/true);
    CheckBundle(c, {.name = "self", .ranks = {c.rank()}, .channel = 1}, bundle);
  });
}

// What a tensor's sum is does not depend on the tensors beside it.
TEST_P(CollectiveConformance, BundlesGiveTheBitsOfTheirParts) {
  Run(4, [](Communicator& c) {
    constexpr int64_t kSizes[] = {1, 333, 64, 4097};
    std::vector<CollectiveSpec> bundle;
    std::vector<std::vector<float>> alone, together;
    std::vector<const void*> inputs;
    std::vector<void*> outputs;
    for (int64_t size : kSizes) {
      bundle.push_back({.dims = {size}});
      std::vector<float>& values = alone.emplace_back(size);
      for (int64_t i = 0; i < size; ++i) values[i] = 1.0f / static_cast<float>(1 + (i * 37 + c.rank() * 101) % 97);
    }
    together = alone;
    for (std::vector<float>& values : together) {
      inputs.push_back(values.data());
      outputs.push_back(values.data());
    }
    auto operation = c.CreateCollective(All(c), bundle);
    ASSERT_TRUE(operation.ok()) << operation.status();
    ASSERT_TRUE((*operation)->Run(inputs, outputs, nullptr).ok());
    for (size_t i = 0; i < bundle.size(); ++i) {
      auto one = c.CreateCollective(All(c), {bundle[i]});
      ASSERT_TRUE(one.ok() && RunOne(**one, alone[i].data(), alone[i].data()).ok());
      EXPECT_EQ(std::memcmp(alone[i].data(), together[i].data(), alone[i].size() * sizeof(float)), 0) << "tensor " << i;
    }
  });
}

TEST_P(CollectiveConformance, AGroupOfOne) {
  Run(2, [](Communicator& c) {
    const Group group{.name = "self", .ranks = {c.rank()}};
    CheckCollective(c, group, {.dims = {4, 4}});
    CheckCollective(c, group, {.dims = {4, 4}}, 2, /*in_place=*/true);
    CheckCollective(c, group, {.kind = Kind::kReduceScatter, .dims = {4, 4}});
    CheckCollective(c, group, {.kind = Kind::kAllGather, .dims = {4, 4}});
    CheckCollective(c, group, {.kind = Kind::kAllToAll, .dims = {4, 4}, .dim = 0, .split_dim = 1});
  });
}

// Rows and columns of a 2 x 2 mesh; members in any order.
TEST_P(CollectiveConformance, SubGroups) {
  Run(4, [](Communicator& c) {
    const int row = c.rank() / 2, column = c.rank() % 2;
    const Group rows{.name = "tensor", .ranks = {row * 2, row * 2 + 1}, .channel = 1};
    const Group columns{.name = "data", .ranks = {column + 2, column}, .channel = 2};
    for (int i = 0; i < 5; ++i) {
      CheckCollective(c, rows, {.dims = {33}});
      CheckCollective(c, columns, {.kind = Kind::kAllGather, .dims = {3, 2}, .dim = 1});
      CheckCollective(c, All(c), {.kind = Kind::kReduceScatter, .dims = {8}});
    }
  });
}

// Two streams of a rank use one group on two channels, with no order between them.
TEST_P(CollectiveConformance, ConcurrentChannels) {
  Run(2, [](Communicator& c) {
    std::vector<std::unique_ptr<Operation>> operations;
    for (int channel = 0; channel < 2; ++channel) {
      Group group = All(c);
      group.channel = channel;
      auto operation = c.CreateCollective(group, {{.dims = {257}}});
      ASSERT_TRUE(operation.ok()) << operation.status();
      operations.push_back(*std::move(operation));
    }
    std::vector<std::thread> streams;
    for (int channel = 0; channel < 2; ++channel) {
      streams.emplace_back([&, channel] {
        for (int i = 0; i < 50; ++i) {
          Tensor tensor(DType::kF32, {257});
          for (int64_t e = 0; e < 257; ++e) tensor.Set(e, ValueAt(c.rank(), e + channel));
          const absl::Status status = RunOne(*operations[channel], tensor.data(), tensor.data());
          ASSERT_TRUE(status.ok()) << status;
          for (int64_t e = 0; e < 257; ++e) ASSERT_EQ(tensor.Get(e), ValueAt(0, e + channel) + ValueAt(1, e + channel));
        }
      });
    }
    for (std::thread& stream : streams) stream.join();
  });
}

// 64 MiB of each kind, of which one element in some thousands is looked at.
TEST_P(CollectiveConformance, LargeTensors) {
  Run(4, [](Communicator& c) {
    constexpr int64_t kElements = int64_t{WEFT_LARGE_MIB} << 18;
    for (const CollectiveSpec& spec :
         {CollectiveSpec{.dims = {kElements}}, CollectiveSpec{.kind = Kind::kReduceScatter, .dims = {kElements}},
          CollectiveSpec{.kind = Kind::kReduceScatter, .dims = {1024, kElements / 1024}, .dim = 1},
          CollectiveSpec{.kind = Kind::kAllGather, .dims = {kElements / 4}},
          CollectiveSpec{.kind = Kind::kAllToAll, .dims = {512, kElements / 512}, .split_dim = 1}}) {
      CheckBundle(c, All(c), {spec}, 1, /*in_place=*/true, 9973);
    }
  });
}

// Streams of a rank use groups that overlap, and a ring of transfers, at once.
TEST_P(CollectiveConformance, ConcurrentGroups) {
  Run(4, [](Communicator& c) {
    const int row = c.rank() / 2, column = c.rank() % 2;
    const Group groups[] = {{.name = "tensor", .ranks = {row * 2, row * 2 + 1}, .channel = 1},
                            {.name = "data", .ranks = {column, column + 2}, .channel = 2},
                            {.name = "all", .ranks = {0, 1, 2, 3}, .channel = 3}};
    std::vector<std::thread> streams;
    for (const Group& group : groups) {
      streams.emplace_back([&c, group] {
        CheckBundle(c, group, {{.dims = {1 + 5000 * group.channel}}, {.kind = Kind::kAllGather, .dims = {7}}}, 30);
      });
    }
    const TensorBlock block{{3000}, {0}, {3000}};
    auto send = c.CreateTransfer(true, DType::kF32, {{.peer = (c.rank() + 1) % 4, .tag = 1, .block = block}});
    auto receive = c.CreateTransfer(false, DType::kF32, {{.peer = (c.rank() + 3) % 4, .tag = 1, .block = block}});
    ASSERT_TRUE(send.ok() && receive.ok());
    streams.emplace_back([&] {
      for (int time = 0; time < 30; ++time) {
        const std::vector<float> tile(3000, static_cast<float>(c.rank() * 100 + time));
        ASSERT_TRUE(RunOne(**send, tile.data(), nullptr).ok());
      }
    });
    for (int time = 0; time < 30; ++time) {
      std::vector<float> tile(3000);
      ASSERT_TRUE(RunOne(**receive, nullptr, tile.data()).ok());
      for (float value : tile) ASSERT_EQ(value, static_cast<float>((c.rank() + 3) % 4 * 100 + time));
    }
    for (std::thread& stream : streams) stream.join();
  });
}

TEST_P(CollectiveConformance, RunsAgainAndAgain) {
  Run(4, [](Communicator& c) { CheckCollective(c, All(c), {.dims = {100}}, 200, /*in_place=*/true); });
}

// Sums whose value depends on the order: all members must find the same bits,
// and the same again when it is repeated.
TEST_P(CollectiveConformance, EveryMemberFindsTheSameBits) {
  Run(4, [](Communicator& c) {
    constexpr int64_t kSize = 1000;
    auto sum = c.CreateCollective(All(c), {{.dims = {kSize}}});
    auto gather = c.CreateCollective(All(c), {{.kind = Kind::kAllGather, .dims = {kSize}}});
    ASSERT_TRUE(sum.ok() && gather.ok());
    std::vector<float> first;
    for (int time = 0; time < 5; ++time) {
      std::vector<float> input(kSize), output(kSize), all(4 * kSize);
      for (int64_t i = 0; i < kSize; ++i) input[i] = 1.0f / static_cast<float>(1 + (i * 37 + c.rank() * 101) % 97);
      ASSERT_TRUE(RunOne(**sum, input.data(), output.data()).ok());
      ASSERT_TRUE(RunOne(**gather, output.data(), all.data()).ok());
      for (int r = 0; r < 4; ++r) {
        ASSERT_EQ(std::memcmp(all.data() + r * kSize, output.data(), kSize * sizeof(float)), 0) << "rank " << r;
      }
      if (time == 0) first = output;
      ASSERT_EQ(std::memcmp(first.data(), output.data(), kSize * sizeof(float)), 0) << "time " << time;
    }
  });
}

// The sum is ((r0 + r1) + r2) in the order of the group, whoever is first.
TEST_P(CollectiveConformance, SumsInTheOrderOfTheGroup) {
  int channel = 0;
  for (const std::vector<int>& order : {std::vector<int>{0, 1, 2}, {2, 0, 1}}) {
    ++channel;
    Run(3, [&](Communicator& c) {
      const float terms[] = {1e8f, -1e8f, 1.25f};
      auto sum = c.CreateCollective({.name = "all", .ranks = order, .channel = channel}, {{.dims = {300}}});
      ASSERT_TRUE(sum.ok());
      std::vector<float> data(300, terms[c.rank()]);
      ASSERT_TRUE(RunOne(**sum, data.data(), data.data()).ok());
      const float expected = (terms[order[0]] + terms[order[1]]) + terms[order[2]];
      for (float value : data) ASSERT_EQ(value, expected);
    });
  }
}

// Halves are rounded once: 256 + 1 + 1 is 258, though in bf16 256 + 1 would be
// 256; in f16 it is 2048 that has no odd neighbour.
TEST_P(CollectiveConformance, RoundsHalvesOnce) {
  Run(3, [](Communicator& c) {
    auto sum = c.CreateCollective(All(c), {{.dtype = DType::kBF16, .dims = {1}}, {.dtype = DType::kF16, .dims = {1}}});
    ASSERT_TRUE(sum.ok());
    BFloat16 a = ToBFloat16(c.rank() == 0 ? 256.0f : 1.0f);
    _Float16 b = c.rank() == 0 ? 2048 : 1;
    const void* inputs[] = {&a, &b};
    void* outputs[] = {&a, &b};
    ASSERT_TRUE((*sum)->Run(inputs, outputs, nullptr).ok());
    EXPECT_EQ(ToFloat(a), 258.0f);
    EXPECT_EQ(static_cast<float>(b), 2050.0f);
  });
}

// A [6, 4] tensor, split by rows over ranks 0 and 1, goes to ranks 2 and 3,
// split by columns: four blocks.
TEST_P(CollectiveConformance, TransfersBetweenLayouts) {
  Run(4, [](Communicator& c) {
    const bool sends = c.rank() < 2;
    std::vector<Link> links;
    for (int i = 0; i < 2; ++i) {
      const int peer = sends ? 2 + i : i;
      const int row = sends ? c.rank() : i, column = sends ? i : c.rank() - 2;
      TensorBlock block =
          sends ? TensorBlock{{3, 4}, {0, column * 2}, {3, 2}} : TensorBlock{{6, 2}, {row * 3, 0}, {3, 2}};
      links.push_back({.peer = peer, .tag = 5, .block = block});
    }
    auto operation = sends ? c.CreateTransfer(true, DType::kI32, links) : c.CreateTransfer(false, DType::kI32, links);
    ASSERT_TRUE(operation.ok()) << operation.status();
    for (int time = 0; time < 20; ++time) {
      std::vector<int32_t> tile(12, -1);
      if (sends) {
        for (int i = 0; i < 12; ++i) tile[i] = time * 100 + c.rank() * 12 + i;
        ASSERT_TRUE(RunOne(**operation, tile.data(), nullptr).ok());
        tile.assign(12, -2);  // the receivers have their copies
      } else {
        ASSERT_TRUE(RunOne(**operation, nullptr, tile.data()).ok());
        for (int i = 0; i < 12; ++i) {
          ASSERT_EQ(tile[i], time * 100 + (i / 2) * 4 + (c.rank() - 2) * 2 + i % 2)
              << "rank " << c.rank() << " element " << i;
        }
      }
    }
  });
}

// Blocks of no, of odd and of many bytes.
TEST_P(CollectiveConformance, TransfersOfEveryTypeAndSize) {
  Run(2, [](Communicator& c) {
    int tag = 0;
    for (DType dtype : kMovedTypes) {
      for (int64_t columns : {0, 1, 7, 4001}) {
        const Link link{.peer = 1 - c.rank(), .tag = tag++, .block = {{3, columns + 2}, {0, 1}, {3, columns}}};
        auto operation = c.rank() == 0 ? c.CreateTransfer(true, dtype, {link}) : c.CreateTransfer(false, dtype, {link});
        ASSERT_TRUE(operation.ok()) << operation.status();
        for (int time = 0; time < 3; ++time) {
          Tensor tile(dtype, {3, columns + 2});
          if (c.rank() == 0) {
            tile.Fill(time);
            ASSERT_TRUE(RunOne(**operation, tile.data(), nullptr).ok());
            continue;
          }
          ASSERT_TRUE(RunOne(**operation, nullptr, tile.data()).ok());
          for (int64_t i = 0; i < tile.elements(); ++i) {
            const int64_t column = i % (columns + 2);
            const bool inside = column >= 1 && column <= columns;
            ASSERT_EQ(tile.Get(i), inside ? ValueAt(time, i) : 0)
                << NameOf(dtype) << " x " << columns << " element " << i;
          }
        }
      }
    }
  });
}

// 64 MiB, in one piece and in columns.
TEST_P(CollectiveConformance, LargeTransfers) {
  Run(2, [](Communicator& c) {
    constexpr int64_t kRows = WEFT_LARGE_MIB * 64, kColumns = 4096;
    int tag = 0;
    for (int64_t width : {kColumns, kColumns / 2}) {
      const Link link{
          .peer = 1 - c.rank(), .tag = tag++, .block = {{kRows, kColumns}, {0, kColumns - width}, {kRows, width}}};
      auto operation =
          c.rank() == 0 ? c.CreateTransfer(true, DType::kI32, {link}) : c.CreateTransfer(false, DType::kI32, {link});
      ASSERT_TRUE(operation.ok()) << operation.status();
      std::vector<int32_t> tile(kRows * kColumns, -1);
      if (c.rank() == 0) {
        std::iota(tile.begin(), tile.end(), 0);
        ASSERT_TRUE(RunOne(**operation, tile.data(), nullptr).ok());
        continue;
      }
      ASSERT_TRUE(RunOne(**operation, nullptr, tile.data()).ok());
      int64_t wrong = 0;
      for (int32_t i = 0; i < kRows * kColumns; ++i) wrong += tile[i] != (i % kColumns < kColumns - width ? -1 : i);
      EXPECT_EQ(wrong, 0);
    }
  });
}

// Ranks 0 and 1 wait for rank 2, which comes only when they have seen that.
TEST_P(CollectiveAgreement, SaysWhoIsMissing) {
  Run(3, [](Communicator& c) {
    const Group data{.name = "data[1]", .ranks = {0, 1, 2}, .channel = 1};
    const Group tell{.name = "tell", .ranks = {0, 1, 2}, .channel = 2};
    auto operation = c.CreateCollective(data, {{.dims = {4}}});
    auto bundle = c.CreateCollective(data, {{.dims = {4}}, {.dims = {2}}});
    auto seen = c.CreateCollective(tell, {{.dims = {}}});
    ASSERT_TRUE(operation.ok() && bundle.ok() && seen.ok());
    float a[4] = {}, b[2] = {}, nothing = 0;
    const void* inputs[] = {a, b};
    void* outputs[] = {a, b};
    const auto check = [&](Operation& one, size_t tensors, const std::string& expected) {
      EXPECT_EQ(one.Waiting(), "");
      if (c.rank() == 2) ASSERT_TRUE(RunOne(**seen, &nothing, &nothing).ok());
      std::thread issue([&] {
        EXPECT_TRUE(one.Run(absl::MakeSpan(inputs, tensors), absl::MakeSpan(outputs, tensors), nullptr).ok());
      });
      if (c.rank() != 2) {
        while (one.Waiting() != expected) std::this_thread::yield();
        EXPECT_TRUE(RunOne(**seen, &nothing, &nothing).ok());
      }
      issue.join();
    };
    check(**operation, 1, "all_reduce #1 of group data[1]; rank 2 has not issued it");
    check(**bundle, 2, "all_reduce of 2 tensors #2 of group data[1]; rank 2 has not issued it");
  });
}

TEST_P(CollectiveAgreement, SaysWhatATransferWaitsFor) {
  Run(2, [](Communicator& c) {
    auto seen = c.CreateCollective(All(c), {{.dims = {}}});
    ASSERT_TRUE(seen.ok());
    const Link link{.peer = 1 - c.rank(), .tag = 4, .block = {{2}, {0}, {2}}};
    auto operation =
        c.rank() == 0 ? c.CreateTransfer(true, DType::kF32, {link}) : c.CreateTransfer(false, DType::kF32, {link});
    ASSERT_TRUE(operation.ok());
    float tile[2] = {}, nothing = 0;
    const std::string expected[] = {"transfer 4 #1 to rank 1, which has not received it",
                                    "transfer 4 #2 from rank 0, which has not sent it"};
    for (int first : {0, 1}) {  // who is there first, and waits
      if (c.rank() != first) ASSERT_TRUE(RunOne(**seen, &nothing, &nothing).ok());
      std::thread issue([&] {
        EXPECT_TRUE(RunOne(**operation, c.rank() == 0 ? tile : nullptr, c.rank() == 0 ? nullptr : tile).ok());
      });
      if (c.rank() == first) {
        while ((*operation)->Waiting() != expected[first]) std::this_thread::yield();
        EXPECT_TRUE(RunOne(**seen, &nothing, &nothing).ok());
      }
      issue.join();
    }
  });
}

// Every thread that waits, in whatever it waits.
TEST_P(CollectiveConformance, AnAbortEndsEveryThread) {
  Run(3, [](Communicator& c) {
    if (c.rank() == 2) return c.Abort(absl::InternalError("rank 2 has failed"));
    const Link link{.peer = 2, .tag = 3, .block = {{1}, {0}, {1}}};
    std::vector<absl::StatusOr<std::unique_ptr<Operation>>> operations;
    operations.push_back(c.CreateCollective({.name = "a", .ranks = {0, 1, 2}, .channel = 1}, {{.dims = {1}}}));
    operations.push_back(c.CreateCollective({.name = "b", .ranks = {0, 1, 2}, .channel = 2}, {{.dims = {1}}}));
    operations.push_back(c.CreateTransfer(true, DType::kF32, {link}));
    operations.push_back(c.CreateTransfer(false, DType::kF32, {link}));
    std::vector<std::thread> threads;
    for (auto& operation : operations) {
      ASSERT_TRUE(operation.ok());
      threads.emplace_back([&operation] {
        float from = 0, to = 0;
        EXPECT_EQ(RunOne(**operation, &from, &to).message(), "rank 2 has failed");
      });
    }
    for (std::thread& thread : threads) thread.join();
  });
}

TEST_P(CollectiveAgreement, TheEndsOfATransferMustAgree) {
  Run(2, [](Communicator& c) {
    const int64_t size = 2 + c.rank();
    const Link link{.peer = 1 - c.rank(), .tag = 4, .block = {{4}, {0}, {size}}};
    auto operation =
        c.rank() == 0 ? c.CreateTransfer(true, DType::kF32, {link}) : c.CreateTransfer(false, DType::kF32, {link});
    float tile[4] = {};
    const absl::Status status = operation.ok() ? RunOne(**operation, tile, tile) : operation.status();
    // Who finds out tells the other one, as a run does with every error.
    EXPECT_EQ(status.message(), "transfer 4 from rank 0 to rank 1: the sender has f32[2], the receiver expects f32[3]");
    c.Abort(status);
  });
}

TEST_P(CollectiveConformance, AnAbortEndsEveryWait) {
  Run(3, [](Communicator& c) {
    auto operation = c.CreateCollective(All(c), {{.dims = {4}}});
    ASSERT_TRUE(operation.ok());
    if (c.rank() == 2) return c.Abort(absl::InternalError("rank 2 has failed"));  // never issues it
    std::vector<float> data(4);
    const absl::Status status = RunOne(**operation, data.data(), data.data());
    EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
    EXPECT_EQ(status.message(), "rank 2 has failed");
    EXPECT_FALSE(RunOne(**operation, data.data(), data.data()).ok());
  });
}

TEST_P(CollectiveConformance, AnAbortEndsTransfers) {
  Run(3, [](Communicator& c) {
    if (c.rank() == 2) return c.Abort(absl::InternalError("rank 2 has failed"));
    const Link link{.peer = 2, .tag = 0, .block = {{1}, {0}, {1}}};
    auto operation =
        c.rank() == 0 ? c.CreateTransfer(true, DType::kF32, {link}) : c.CreateTransfer(false, DType::kF32, {link});
    ASSERT_TRUE(operation.ok());
    float value = 0;
    EXPECT_EQ(RunOne(**operation, &value, &value).message(), "rank 2 has failed");
  });
}

// Who finds out tells the others, as a run does with every error. What is on its way then is of a wire that nobody uses
// again: a communicator that is freed without that may give its number, and what still arrives, to the next one.
TEST_P(CollectiveAgreement, DifferentOperationsAreAnError) {
  Run(2, [](Communicator& c) {
    auto operation = c.CreateCollective(All(c), {{.dims = {c.rank() == 0 ? 4 : 8}}});
    ASSERT_TRUE(operation.ok());
    std::vector<float> data(8);
    const absl::Status status = RunOne(**operation, data.data(), data.data());
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_NE(std::string(status.message()).find("all_reduce f32[4]"), std::string::npos) << status;
    EXPECT_NE(std::string(status.message()).find("all_reduce f32[8]"), std::string::npos) << status;
    c.Abort(status);
  });
}

TEST_P(CollectiveAgreement, DifferentKindsAreAnError) {
  Run(3, [](Communicator& c) {
    auto operation =
        c.CreateCollective(All(c), {{.kind = c.rank() == 1 ? Kind::kAllGather : Kind::kAllReduce, .dims = {2000}}});
    ASSERT_TRUE(operation.ok());
    std::vector<float> input(2000), output(6000);
    const absl::Status status = RunOne(**operation, input.data(), output.data());
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_NE(std::string(status.message()).find("all_gather f32[2000]"), std::string::npos) << status;
    c.Abort(status);
  });
}

TEST_P(CollectiveAgreement, DifferentBundlesAreAnError) {
  Run(2, [](Communicator& c) {
    std::vector<CollectiveSpec> bundle = {{.dims = {4}}, {.dims = {2}}};
    if (c.rank() == 1) bundle.push_back({.kind = Kind::kAllGather, .dims = {2}});
    auto operation = c.CreateCollective(All(c), bundle);
    ASSERT_TRUE(operation.ok());
    std::vector<float> data[3] = {std::vector<float>(4), std::vector<float>(4), std::vector<float>(4)};
    std::vector<const void*> inputs;
    std::vector<void*> outputs;
    for (size_t i = 0; i < bundle.size(); ++i) {
      inputs.push_back(data[i].data());
      outputs.push_back(data[i].data());
    }
    const absl::Status status = (*operation)->Run(inputs, outputs, nullptr);
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_NE(std::string(status.message()).find("of 2 tensors"), std::string::npos) << status;
    EXPECT_NE(std::string(status.message()).find("of 3 tensors"), std::string::npos) << status;
    c.Abort(status);
  });
}

TEST_P(CollectiveConformance, RefusesWhatItCannotDo) {
  Run(2, [](Communicator& c) {
    EXPECT_FALSE(c.CreateCollective(All(c), {}).ok());
    EXPECT_FALSE(c.CreateCollective(All(c), {{.kind = Kind::kReduceScatter, .dims = {3}}}).ok());
    EXPECT_FALSE(c.CreateCollective({.name = "other", .ranks = {1 - c.rank()}}, {{.dims = {3}}}).ok());
    EXPECT_FALSE(c.CreateTransfer(true, DType::kF32, {{.peer = 2, .block = {{1}, {0}, {1}}}}).ok());
  });
}

}  // namespace
}  // namespace weft::collective
