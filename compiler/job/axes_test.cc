#include "compiler/job/axes.h"

#include <gtest/gtest.h>

#include <set>

namespace weft {
namespace {

// A job of prime sizes, so that every product tells which of them it has.
Dist Primes() {
  Dist dist;
  const google::protobuf::Descriptor& keys = *Dist::descriptor();
  const int64_t primes[] = {2, 3, 5, 7, 11, 13, 17, 19, 23};
  for (int i = 0; i < keys.field_count(); ++i) {
    Dist::GetReflection()->SetInt64(&dist, keys.field(i), primes[i]);
  }
  dist.set_pipeline(1);
  return dist;
}

std::string Text(const std::vector<SizedAxis>& mesh) {
  std::string text;
  for (const SizedAxis& axis : mesh) text += std::string(axis.name) + "=" + std::to_string(axis.size) + " ";
  return text;
}

Zero Groups(int64_t stage, int64_t group) {
  Zero zero;
  zero.set_stage(stage);
  zero.set_group(group);
  return zero;
}

TEST(Axes, EveryKeyOfDistIsAnAxisOrThePipeline) {
  std::set<std::string> keys = {"pipeline"};
  for (std::string_view key : MeshKeys()) EXPECT_TRUE(keys.emplace(key).second) << key << " twice";
  for (int i = 0; i < Dist::descriptor()->field_count(); ++i) {
    EXPECT_EQ(keys.erase(Dist::descriptor()->field(i)->name()), 1u) << Dist::descriptor()->field(i)->name();
  }
  EXPECT_TRUE(keys.empty()) << *keys.begin();
}

TEST(Axes, EachKeySetsTheSizeOfItsOwnAxis) {
  for (std::string_view key : MeshKeys()) {
    const MeshAxis& axis = *FindMeshAxis(key);
    Dist dist;
    (dist.*axis.set_size)(6);
    EXPECT_EQ((dist.*axis.size)(), 6) << key;
    const google::protobuf::FieldDescriptor* field = Dist::descriptor()->FindFieldByName(std::string(key));
    ASSERT_NE(field, nullptr) << key;
    EXPECT_EQ(Dist::GetReflection()->GetInt64(dist, field), 6) << key;
  }
}

TEST(Axes, APartIsOfAnAxisWithAKey) {
  for (const MeshAxis& axis : kMeshAxes) {
    EXPECT_EQ(axis.size == nullptr, !axis.part_of.empty()) << axis.name;
    EXPECT_EQ(axis.set_size == nullptr, !axis.part_of.empty()) << axis.name;
    if (axis.part_of.empty()) continue;
    const MeshAxis* whole = FindMeshAxis(axis.part_of);
    ASSERT_NE(whole, nullptr) << axis.name;
    EXPECT_NE(whole->size, nullptr) << axis.name;
    EXPECT_EQ(whole->input_dim, axis.input_dim) << axis.name;
    EXPECT_EQ(whole->shares, axis.shares) << axis.name;
  }
}

TEST(Axes, AMeshIsOutermostFirstAndWithoutAxesOfOneRank) {
  Dist dist;
  for (std::string_view key : MeshKeys()) (dist.*FindMeshAxis(key)->set_size)(1);
  EXPECT_EQ(Text(MeshOf(dist, Zero())), "");
  dist.set_tensor(2);
  dist.set_data(3);
  EXPECT_EQ(Text(MeshOf(dist, Zero())), "data=3 tensor=2 ");
  dist.set_expert(5);
  dist.set_context(7);
  EXPECT_EQ(Text(MeshOf(dist, Zero())), "data=3 expert=5 context=7 tensor=2 ");
}

TEST(Axes, AGroupOfZeroCutsItsAxisInTwo) {
  Dist dist = Primes();
  for (std::string_view key : MeshKeys()) (dist.*FindMeshAxis(key)->set_size)(1);
  dist.set_data(8);
  EXPECT_EQ(Text(MeshOf(dist, Groups(3, 4))), "data=2 shard=4 ");
  EXPECT_EQ(Text(MeshOf(dist, Groups(1, 2))), "data=4 shard=2 ");
  EXPECT_EQ(Text(MeshOf(dist, Groups(0, 4))), "data=8 ");  // nothing is shared
  EXPECT_EQ(Text(MeshOf(dist, Groups(3, 0))), "data=8 ");
  EXPECT_EQ(Text(MeshOf(dist, Groups(3, 1))), "data=8 ");
  EXPECT_EQ(Text(MeshOf(dist, Groups(3, 8))), "data=8 ");  // all of them
}

TEST(Axes, RanksAreTheProductOfAllKeys) {
  const Dist dist = Primes();
  int64_t product = 1;
  for (int i = 0; i < Dist::descriptor()->field_count(); ++i) {
    product *= Dist::GetReflection()->GetInt64(dist, Dist::descriptor()->field(i));
  }
  EXPECT_EQ(StageRanks(dist), product);
  int64_t mesh = 1;
  for (const SizedAxis& axis : MeshOf(dist, Zero())) mesh *= axis.size;
  EXPECT_EQ(mesh, product);
}

TEST(Axes, ZeroSharesOverTheInnermostThatMayBe) {
  EXPECT_EQ(SharedKey().name, "data");
  EXPECT_EQ(SharedAxis({"data", "shard", "tensor"}), 1);
  EXPECT_EQ(SharedAxis({"data", "tensor"}), 0);
  EXPECT_EQ(SharedAxis({"expert", "context", "tensor"}), -1);
  EXPECT_EQ(SharedAxis({"_0", "_1"}), -1);
  EXPECT_EQ(SharedAxis({}), -1);
}

TEST(Axes, TheBatchIsCutByWhatSplitsDimensionZero) {
  Dist dist;
  for (std::string_view key : MeshKeys()) (dist.*FindMeshAxis(key)->set_size)(1);
  dist.set_context(3);
  dist.set_tensor(5);
  EXPECT_EQ(BatchParts(dist), 1);
  dist.set_data(4);
  EXPECT_EQ(BatchParts(dist), 4);
  EXPECT_EQ(BatchKeys("dist"), "dist.data");
  EXPECT_EQ(SizesText(dist), "data 4 x context 3 x tensor 5");
  EXPECT_EQ(RanksText(dist), "data 4 x context 3 x tensor 5 = 60");
  Dist one;
  one.set_tensor(5);
  EXPECT_EQ(RanksText(one), "tensor 5");
  one.set_pipeline(3);
  EXPECT_EQ(RanksText(one), "pipeline 3 x tensor 5 = 15");
  one.set_tensor(1);
  EXPECT_EQ(RanksText(one), "pipeline 3");
}

TEST(Axes, OtherNamesAreNoAxes) {
  EXPECT_EQ(FindMeshAxis("pipeline"), nullptr);
  EXPECT_EQ(FindMeshAxis("_0"), nullptr);
  EXPECT_EQ(FindMeshAxis(""), nullptr);
}

}  // namespace
}  // namespace weft
