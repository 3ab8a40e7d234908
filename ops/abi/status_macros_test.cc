#include "ops/abi/status_macros.h"

#include <memory>

#include "gtest/gtest.h"

namespace weft {
namespace {

absl::Status Fails() { return absl::NotFoundError("gone"); }
absl::StatusOr<std::unique_ptr<int>> Boxed(int value) { return std::make_unique<int>(value); }

absl::Status Counts(const absl::Status& status, int& calls, bool& passed) {
  const auto once = [&] { return ++calls, status; };
  WEFT_RETURN_IF_ERROR(once());
  passed = true;
  return absl::OkStatus();
}

TEST(StatusMacrosTest, ReturnsAnErrorAndGoesOnWithoutOne) {
  int calls = 0;
  bool passed = false;
  EXPECT_EQ(Counts(Fails(), calls, passed), Fails());
  EXPECT_FALSE(passed);
  EXPECT_TRUE(Counts(absl::OkStatus(), calls, passed).ok());
  EXPECT_TRUE(passed);
  EXPECT_EQ(calls, 2);  // once each
}

// Two in one function, of what can only be moved; into a new variable and into one that is there.
absl::StatusOr<int> Sum(absl::StatusOr<std::unique_ptr<int>> left) {
  WEFT_ASSIGN_OR_RETURN(const std::unique_ptr<int> a, std::move(left));
  std::unique_ptr<int> b;
  WEFT_ASSIGN_OR_RETURN(b, Boxed(2));
  return *a + *b;
}

TEST(StatusMacrosTest, AssignsOrReturnsTheError) {
  const absl::StatusOr<int> sum = Sum(Boxed(40));
  ASSERT_TRUE(sum.ok()) << sum.status();
  EXPECT_EQ(*sum, 42);
  EXPECT_EQ(Sum(Fails()).status(), Fails());
}

}  // namespace
}  // namespace weft
