#include "runtime/plan/rates.h"

#include <cmath>
#include <memory>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/plan/cost.h"

namespace weft::plan {
namespace {

using testing::HasSubstr;

std::string ErrorOf(const absl::StatusOr<RateTables>& tables) { return std::string(tables.status().message()); }

// Rates of 100 and 400 at m of 8 and 128; n and k are 64.
std::vector<ProductRate> Rows() { return {{"bf16", 128, 64, 64, 400}, {"bf16", 8, 64, 64, 100}}; }

TEST(RatesTest, ProductsAreLinearInLogarithms) {
  const RateTables tables = *RateTables::Of(Rows(), {}, {});
  EXPECT_NEAR(tables.FlopsOf({1, 8, 64, 64, "bf16"}), 100, 1e-9);
  EXPECT_NEAR(tables.FlopsOf({1, 32, 64, 64, "bf16"}), 200, 1e-9) << "half-way from 8 to 128, and from 100 to 400";
  EXPECT_NEAR(tables.FlopsOf({4, 8, 64, 64, "bf16"}), 200, 1e-9) << "a batch counts as rows";
  EXPECT_NEAR(tables.FlopsOf({1, 1, 64, 64, "bf16"}), 100, 1e-9);
  EXPECT_NEAR(tables.FlopsOf({1, 4096, 1, 4096, "bf16"}), 400, 1e-9);
  EXPECT_EQ(tables.FlopsOf({1, 8, 64, 64, "f32"}), 0);
  EXPECT_EQ(tables.FlopsOf({}), 0);
}

TEST(RatesTest, EachSizeOfAProductHasItsOwnAxis) {
  std::vector<ProductRate> cube;
  for (double m : {1, 4}) {
    for (double n : {1, 4}) {
      for (double k : {1, 4}) cube.push_back({"f32", m, n, k, m * n * n * k * k * k});
    }
  }
  const RateTables tables = *RateTables::Of(cube, {}, {});
  EXPECT_NEAR(tables.FlopsOf({1, 2, 1, 1, "f32"}), 2, 1e-9);
  EXPECT_NEAR(tables.FlopsOf({1, 1, 2, 1, "f32"}), 4, 1e-9);
  EXPECT_NEAR(tables.FlopsOf({1, 1, 1, 2, "f32"}), 8, 1e-9);
  EXPECT_NEAR(tables.FlopsOf({1, 2, 4, 2, "f32"}), 2 * 16 * 8, 1e-6);
}

TEST(RatesTest, KernelsAreLinearInLogarithms) {
  const RateTables tables = *RateTables::Of({}, {{"norm", 100, 10, 0}, {"norm", 10000, 1000, 0}, {"a", 1, 2, 3}}, {});
  KernelSpeed speed;
  for (const auto& [bytes, rate] : {std::pair(1.0, 10.0), {100, 10}, {1000, 100}, {10000, 1000}, {1e9, 1000}}) {
    ASSERT_TRUE(tables.SpeedOf("norm", "f32", bytes, &speed));
    EXPECT_NEAR(speed.bytes_s, rate, 1e-9) << bytes;
    EXPECT_EQ(speed.flops_s, 0);
  }
  ASSERT_TRUE(tables.SpeedOf("a", "", 0, &speed));
  EXPECT_NEAR(speed.flops_s, 3, 1e-12);
  EXPECT_FALSE(tables.SpeedOf("nor", "", 100, &speed));
}

TEST(RatesTest, KernelsOfAnElementTypeHaveTheirOwnRates) {
  const RateTables tables = *RateTables::Of({},
                                            {{"norm", 1, 10, 0, "f32"},
                                             {"norm", 1, 20, 0, "bf16"},
                                             {"cast", 1, 30, 0, "bf16"},
                                             {"add", 1, 40, 0},
                                             {"add", 1, 50, 0, "f32"}},
                                            {});
  const auto bytes_s = [&](const char* family, const char* type) {
    KernelSpeed speed;
    EXPECT_TRUE(tables.SpeedOf(family, type, 1, &speed)) << family;
    return std::lround(speed.bytes_s);
  };
  EXPECT_EQ(bytes_s("norm", "f32"), 10);
  EXPECT_EQ(bytes_s("norm", "bf16"), 20);
  EXPECT_EQ(bytes_s("norm", "f16"), 10) << "that of f32, where there is none of its own";
  EXPECT_EQ(bytes_s("cast", "f32"), 30) << "there is no other";
  EXPECT_EQ(bytes_s("add", "bf16"), 40) << "that of any type";
}

// Of 4 and 16 queries, as many keys, heads of 8 and 32.
TEST(RatesTest, ProductsWithinAKernelAreGridsOfTheirOwn) {
  std::vector<ProductRate> rates = {{"f32", 64, 64, 64, 1e6}};
  for (double m : {4, 16}) {
    for (double k : {8, 32}) rates.push_back({"f32", m, 0, k, m * k, "attention"});
  }
  const RateTables tables = *RateTables::Of(rates, {}, {});
  EXPECT_NEAR(tables.FlopsOf({1, 4, 4, 8, "f32", "attention"}), 32, 1e-9);
  EXPECT_NEAR(tables.FlopsOf({1, 8, 99, 16, "f32", "attention"}), 128, 1e-9) << "half-way on both axes";
  EXPECT_NEAR(tables.FlopsOf({1000, 4, 4, 8, "f32", "attention"}), 32, 1e-9) << "a batch does not count as rows";
  EXPECT_NEAR(tables.FlopsOf({1, 4, 4, 8, "f32"}), 1e6, 1e-6);
  EXPECT_EQ(tables.FlopsOf({1, 4, 4, 8, "bf16", "attention"}), 0);
  rates.pop_back();
  EXPECT_EQ(ErrorOf(RateTables::Of(rates, {}, {})),
            "product within attention, f32: expected an entry for each m, n and k, found none for 16 x 0 x 32");
}

TEST(RatesTest, CollectivesHaveALatencyAndABandwidth) {
  const RateTables tables = *RateTables::Of(
      {}, {}, {{CollectiveKind::kAllReduce, 8, 2, 1e6, 1e-3}, {CollectiveKind::kAllReduce, 8, 2, 1e4, 1e-5}});
  const auto seconds = [&](double bytes) { return tables.SecondsOf(CollectiveKind::kAllReduce, 8, 2, bytes); };
  EXPECT_NEAR(seconds(0), 1e-5, 1e-15);
  EXPECT_NEAR(seconds(1e4), 1e-5, 1e-15);
  EXPECT_NEAR(seconds(1e5), 1e-4, 1e-14);
  EXPECT_NEAR(seconds(1e7), 1e-2, 1e-12);
  EXPECT_EQ(tables.SecondsOf(CollectiveKind::kAllReduce, 2, 8, 1e5), -1);
  EXPECT_EQ(tables.SecondsOf(CollectiveKind::kAllGather, 8, 2, 1e5), -1);
}

TEST(RatesTest, WhatIsNoTableIsAnError) {
  std::vector<ProductRate> hole = Rows();
  hole.push_back({"bf16", 8, 128, 64, 1});
  EXPECT_EQ(ErrorOf(RateTables::Of(hole, {}, {})),
            "product bf16: expected an entry for each m, n and k, found none for 128 x 128 x 64");
  EXPECT_EQ(ErrorOf(RateTables::Of({{"bf16", 8, 0, 1, 1}}, {}, {})),
            "product[0].n: expected a finite number above 0, got 0");
  EXPECT_EQ(ErrorOf(RateTables::Of({{"", 8, 8, 1, 1}}, {}, {})), "product[0].type: expected an element type, got none");
  EXPECT_THAT(ErrorOf(RateTables::Of({Rows()[0], Rows()[0]}, {}, {})), HasSubstr("expected one entry a shape"));
  EXPECT_THAT(ErrorOf(RateTables::Of({}, {{"norm", 1, INFINITY, 0}}, {})),
              HasSubstr("kernel[0].bytes_s: expected a finite"));
  EXPECT_THAT(ErrorOf(RateTables::Of({}, {{"norm", 1, 1, -1}}, {})), HasSubstr("kernel[0].flops_s: expected a finite"));
  EXPECT_THAT(ErrorOf(RateTables::Of({}, {{"norm", 1, 1, 1}, {"norm", 2, 1, 0}}, {})),
              HasSubstr("or with none, got none"));
  EXPECT_THAT(ErrorOf(RateTables::Of({}, {{"norm", 1, 1, 1}, {"norm", 1, 2, 1}}, {})), HasSubstr("one entry a family"));
  const CollectiveTime good = {CollectiveKind::kAllReduce, 2, 1, 1, 1};
  CollectiveTime bad = good;
  bad.seconds = NAN;
  EXPECT_THAT(ErrorOf(RateTables::Of({}, {}, {good, bad})), HasSubstr("collective[1].seconds: expected a finite"));
  bad = good;
  bad.on_node = 1;
  EXPECT_EQ(ErrorOf(RateTables::Of({}, {}, {bad})), "collective[0]: expected 2 ranks or more, got 1");
  EXPECT_THAT(ErrorOf(RateTables::Of({}, {}, {good, good})), HasSubstr("collective[1]: expected one entry a kind"));
}

TEST(RatesTest, BetweenNearAndFarCostsAreLinearInLogarithms) {
  Machine machine;
  machine.launch_s = 1;
  machine.tables = std::make_shared<const RateTables>(
      *RateTables::Of({{"f32", 8, 8, 8, 100}}, {{"norm", 1, 64, 0}, {"add", 1, 10, 0}}, {}));
  machine.far_tables =
      std::make_shared<const RateTables>(*RateTables::Of({{"f32", 8, 8, 8, 25}}, {{"norm", 1, 4, 0}}, {}));
  machine.near_bytes = 1000, machine.far_bytes = 100000;
  const KernelWork norm = {0, 0, 64, {}, "norm"}, add = {0, 0, 50, {}, "add"};
  const KernelWork product = {400, 0, 0, {1, 8, 8, 8, "f32"}, "einsum"};
  for (const auto& [bytes, seconds] : {std::pair(0.0, 1.0), {999, 1}, {1000, 1}, {10000, 4}, {1e5, 16}, {1e9, 16}}) {
    machine.step_bytes = bytes;
    EXPECT_NEAR(KernelSeconds(machine, norm), 1 + seconds, 1e-9) << bytes;
    EXPECT_NEAR(KernelSeconds(machine, add), 1 + 5, 1e-9) << "what is measured near alone";
  }
  EXPECT_NEAR(KernelSeconds(machine, product), 1 + 16, 1e-9);
  machine.step_bytes = 0;
  EXPECT_NEAR(KernelSeconds(machine, product), 1 + 4, 1e-9);
}

// What tables have goes before the rates of the machine, and nothing else does.
TEST(RatesTest, CostsFollowThem) {
  Machine plain;
  plain.contraction_flops = 1000, plain.other_flops = 10, plain.memory_bytes_s = 100, plain.launch_s = 1;
  Machine machine = plain;
  machine.tables = std::make_shared<const RateTables>(*RateTables::Of(
      Rows(), {{"norm", 1, 50, 0}, {"attention", 1, 50, 200}}, {{CollectiveKind::kAllReduce, 2, 2, 1, 7}}));
  KernelWork work = {2000, 0, 100, {1, 32, 64, 64, "bf16"}, "einsum"};
  EXPECT_NEAR(KernelSeconds(machine, work), 1 + 10, 1e-9);
  work.bytes = 5000;
  EXPECT_NEAR(KernelSeconds(machine, work), 1 + 50, 1e-9);
  work.product.type = "f32";
  EXPECT_EQ(KernelSeconds(machine, work), KernelSeconds(plain, work));
  EXPECT_NEAR(KernelSeconds(machine, {0, 1e6, 100, {}, "norm"}), 1 + 2, 1e-9) << "the bytes say all";
  EXPECT_NEAR(KernelSeconds(machine, {2000, 0, 100, {}, "attention"}), 1 + 10, 1e-9);
  EXPECT_NEAR(KernelSeconds(machine, {2000, 0, 1000, {}, "attention"}), 1 + 20, 1e-9);
  EXPECT_EQ(KernelSeconds(machine, {0, 100, 0, {}, "add"}), 1 + 10);
  EXPECT_NEAR(CollectiveSeconds(machine, CollectiveKind::kAllReduce, 1, {4, 2}), 7, 1e-9);
  for (const Spread& other : {Spread{4, 4}, {3, 2}, {8, 2}}) {
    EXPECT_EQ(CollectiveSeconds(machine, CollectiveKind::kAllReduce, 1, other),
              CollectiveSeconds(plain, CollectiveKind::kAllReduce, 1, other));
  }
  EXPECT_EQ(CollectiveSeconds(machine, CollectiveKind::kAllGather, 1, {4, 2}),
            CollectiveSeconds(plain, CollectiveKind::kAllGather, 1, {4, 2}));
}

}  // namespace
}  // namespace weft::plan
