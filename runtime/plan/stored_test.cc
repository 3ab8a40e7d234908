#include "runtime/plan/stored.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace weft::plan {
namespace {

using ::testing::ElementsAre;

Buffer MakeBuffer(const std::string& name, const std::vector<int64_t>& shape, const std::vector<int64_t>& stored) {
  Buffer buffer;
  buffer.set_name(name);
  for (int64_t d : shape) buffer.add_shape(d);
  for (int64_t d : stored) buffer.add_stored_shape(d);
  return buffer;
}

TEST(StoredTest, ABufferIsATensor) {
  for (const std::vector<int64_t>& stored : {std::vector<int64_t>{}, {12, 2}}) {
    const auto tensors = StoredTensorsOf(MakeBuffer("w", {3, 4, 2}, stored));
    ASSERT_EQ(tensors.size(), 1u);
    EXPECT_EQ(tensors[0].name, "w");
    EXPECT_EQ(tensors[0].shape, stored.empty() ? std::vector<int64_t>({3, 4, 2}) : stored);
  }
}

TEST(StoredTest, AStackIsATensorForEachIndexOfItsFirstDim) {
  const auto tensors = StoredTensorsOf(MakeBuffer("h.1.experts.*.w1.weight", {11, 4, 2, 3}, {11, 8, 3}));
  ASSERT_EQ(tensors.size(), 11u);
  EXPECT_EQ(tensors[0].name, "h.1.experts.0.w1.weight");
  EXPECT_EQ(tensors[10].name, "h.1.experts.10.w1.weight");
  EXPECT_THAT(tensors[10].shape, ElementsAre(8, 3));
}

}  // namespace
}  // namespace weft::plan
