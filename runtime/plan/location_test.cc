#include "runtime/plan/location.h"

#include <gtest/gtest.h>

namespace weft::plan {
namespace {

TEST(LocationTest, LocationsAreALineAndAScope) {
  const auto parts = [](const char* location) {
    const LocationParts it = PartsOf(location);
    return it.line + "|" + it.scope;
  };
  EXPECT_EQ(parts("gpt2.mlir:31:8 in h.3.mlp"), "gpt2.mlir:31:8|h.3.mlp");
  EXPECT_EQ(parts("made in june.mlir:1:2 in h.0"), "made in june.mlir:1:2|h.0");
  EXPECT_EQ(parts("gpt2.mlir:31:8"), "gpt2.mlir:31:8|");
  EXPECT_EQ(parts("in h.3.mlp"), "|h.3.mlp");
  EXPECT_EQ(parts(""), "|");
}

}  // namespace
}  // namespace weft::plan
