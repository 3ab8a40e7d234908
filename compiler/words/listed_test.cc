#include "compiler/words/listed.h"

#include <gtest/gtest.h>

namespace weft {
namespace {

TEST(ListedTest, SaysRunsByTheirEnds) {
  EXPECT_EQ(Listed({}), "");
  EXPECT_EQ(Listed({"wte", "h.0", "h.1", "ln_f"}), "wte, h.0, h.1, ln_f") << "two are no run";
  EXPECT_EQ(Listed({"wte", "h.8", "h.9", "h.10", "h.11", "ln_f"}), "wte, h.8 to h.11, ln_f");
  EXPECT_EQ(Listed({"a.0", "a.1", "a.2", "b.3", "b.4", "b.6"}), "a.0 to a.2, b.3, b.4, b.6");
  EXPECT_EQ(Listed({"1", "2", "3"}), "1 to 3");
  EXPECT_EQ(Listed({"x99999999999999999999", "x9"}), "x99999999999999999999, x9");
}

}  // namespace
}  // namespace weft
