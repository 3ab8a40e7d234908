#include "tools/hugging_face/names.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace weft::hugging_face {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Names Of(const std::vector<std::string>& in_file, const std::vector<std::string>& prefixes = {},
         const std::vector<std::string>& renames = {}) {
  std::vector<Rename> parsed;
  for (const std::string& text : renames) parsed.push_back(*ParseRename(text));
  absl::StatusOr<Names> names = Names::Of(in_file, prefixes, parsed);
  EXPECT_TRUE(names.ok()) << names.status();
  return *names;
}

TEST(NamesTest, TheBodyOfAClassHasAPrefixOrNone) {
  EXPECT_EQ(Of({"transformer.wte.weight"}).Find("wte.weight"), "transformer.wte.weight");
  EXPECT_EQ(Of({"norm.weight"}).Find("model.norm.weight"), "norm.weight");
  EXPECT_EQ(Of({"wte.weight", "transformer.wte.weight"}).Find("wte.weight"), "wte.weight");
  EXPECT_EQ(Of({"net.wte.weight"}).Find("wte.weight"), "");
  EXPECT_EQ(Of({"net.wte.weight"}, {"net."}).Find("wte.weight"), "net.wte.weight");
}

TEST(NamesTest, WhatIsAmbiguousIsNotFound) {
  EXPECT_EQ(Of({"bert.pooler.bias", "vit.pooler.bias"}).Find("model.pooler.bias"), "");
  EXPECT_EQ(Of({"bert.pooler.bias", "vit.pooler.bias"}).Find("vit.pooler.bias"), "vit.pooler.bias");
}

TEST(NamesTest, OldEndingsOfNorms) {
  const Names names = Of({"bert.LayerNorm.gamma", "bert.LayerNorm.beta", "layer.gamma"});
  EXPECT_EQ(names.Find("bert.LayerNorm.weight"), "bert.LayerNorm.gamma");
  EXPECT_EQ(names.Find("bert.LayerNorm.bias"), "bert.LayerNorm.beta");
  EXPECT_EQ(names.Find("layer.weight"), "");
}

TEST(NamesTest, CopiesAreKnown) {
  EXPECT_THAT(Of({"lm_head.weight"}).CopiesOf("transformer.wte.weight"), ElementsAre("lm_head.weight"));
  const Names names = Of({"lm_head.weight", "transformer.wte.weight"});
  EXPECT_EQ(names.Find("wte.weight"), "transformer.wte.weight");
  EXPECT_THAT(names.CopiesOf("wte.weight"), ElementsAre("lm_head.weight"));
  EXPECT_THAT(names.CopiesOf("wpe.weight"), IsEmpty());
}

TEST(NamesTest, RenamesMatchWholeNamesAndLeaveOut) {
  const Names names =
      Of({"blocks.3.w", "blocks.3.w.more", "head.w"}, {}, {R"(blocks\.(\d+)\.w=h.$1.weight)", "head.*="});
  EXPECT_EQ(names.Find("h.3.weight"), "blocks.3.w");
  EXPECT_EQ(names.Find("blocks.3.w.more"), "blocks.3.w.more");
  EXPECT_EQ(names.Find("head.w"), "");
}

TEST(NamesTest, Errors) {
  const auto same = Names::Of({"a.x", "b.x"}, {}, {*ParseRename(R"([ab]\.(x)=$1)")});
  EXPECT_THAT(same.status().message(), HasSubstr("expected one tensor that is called `x`, got `a.x` and `b.x`"));
  EXPECT_EQ(ParseRename("ab").status().message(), "expected FROM=TO, got `ab`");
  EXPECT_EQ(ParseRename("=b").status().message(), "expected FROM=TO, got `=b`");
  EXPECT_EQ(ParseRename("(a=b").status().message(), "expected a regular expression before `=`, got `(a`");
}

}  // namespace
}  // namespace weft::hugging_face
