#include "runtime/show/figures.h"

#include <gtest/gtest.h>

namespace weft::plan {
namespace {

using Rows = std::vector<std::vector<std::string>>;

TEST(FiguresTextTest, SaysWhatIsKnown) {
  Figures figures;
  EXPECT_EQ(FiguresText(figures), "");
  EXPECT_EQ(FigureRows(figures), Rows{});
  figures.devices = 4;
  figures.tokens_per_s = 248905.4;
  figures.tokens_per_s_device = 62226.35;
  EXPECT_EQ(FiguresText(figures), "248,905 tokens/s (62,226 a device)");
  figures.mfu = 0.4641;
  figures.headroom_bytes = -(int64_t{3} << 29);
  figures.headroom_fraction = -0.125;
  EXPECT_EQ(FiguresText(figures), "248,905 tokens/s (62,226 a device), MFU 46.4 %, headroom -1.50 GiB (-12.5 %)");
  EXPECT_EQ(FigureRows(figures),
            (Rows{{"tokens/s", "248,905 (62,226 a device)"}, {"MFU", "46.4 %"}, {"headroom", "-1.50 GiB (-12.5 %)"}}));
  figures.devices = 1;
  figures.tokens_per_s = 2.875;
  EXPECT_EQ(FigureRows(figures)[0], (std::vector<std::string>{"tokens/s", "2.88"}));
}

}  // namespace
}  // namespace weft::plan
