// What has no kernels by hand is described.
#include "ops/descriptions.h"

#include "gtest/gtest.h"
#include "ops/abi/generated_names.h"

namespace weft::cell {
namespace {

TEST(DescriptionsTest, AreThereForWhatHasNoOtherKernel) {
  for (std::string_view name : kGeneratedNames) {
    EXPECT_TRUE(allDescriptions().has(name)) << name;
  }
}

} // namespace
} // namespace weft::cell
