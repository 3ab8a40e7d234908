#include "runtime/show/padding.h"

#include "gtest/gtest.h"

namespace weft::plan {
namespace {

TEST(PaddingTest, CountsWhatBuffersHaveBeyondTheirTensors) {
  Plan plan;
  plan.add_placements()->add_axes()->set_size(2);
  Stage& stage = *plan.add_stages();
  const auto add = [&](std::initializer_list<int64_t> shape, std::initializer_list<int64_t> unpadded) {
    Buffer& buffer = *stage.add_buffers();
    buffer.set_dtype(F32);
    buffer.mutable_shape()->Assign(shape.begin(), shape.end());
    buffer.mutable_unpadded_shape()->Assign(unpadded.begin(), unpadded.end());
    buffer.add_sbp()->set_kind(Sbp::BROADCAST);
    return &buffer;
  };
  EXPECT_EQ(TextOf(PaddingOf(plan)), "");
  add({4, 5}, {});
  EXPECT_EQ(TextOf(PaddingOf(plan)), "");
  add({4, 5}, {3, 5});
  add({4, 5}, {3, 5})->set_alias_of(2);
  EXPECT_EQ(PaddingOf(plan).share, 1 - 35.0 / 40);
  EXPECT_EQ(TextOf(PaddingOf(plan)), "3 to 4: 12 % of the bytes of all buffers");
  add({260, 4}, {257, 3});
  EXPECT_EQ(TextOf(PaddingOf(plan)).substr(0, 24), "3 to 4, 257 to 260: 25 %");
}

}  // namespace
}  // namespace weft::plan
