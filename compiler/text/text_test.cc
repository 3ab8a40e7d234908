#include <filesystem>
#include <fstream>
#include <sstream>

#include "compiler/text/format.h"
#include "compiler/text/outline.h"
#include "compiler/text/tokens.h"
#include "gtest/gtest.h"

namespace weft::text {
namespace {

std::string joined(std::string_view text) {
  std::string all;
  for (const Token &token : tokensOf(text)) {
    all += (all.empty() ? "" : "|") + std::string(token.text);
  }
  return all;
}

TEST(TokensTest, AreThoseOfMlir) {
  EXPECT_EQ(joined("%a, %0:2 = weft.add %x_1, %y // of both  \n"), "%a|,|%0|:|2|=|weft.add|%x_1|,|%y|// of both");
  EXPECT_EQ(joined("by(-1.0e-5) 0x1F 3.5 2*hidden"), "by|(|-|1.0e-5|)|0x1F|3.5|2|*|hidden");
  EXPECT_EQ(joined("@base.mlp @\"a b\" \"q \\\" q\" #weft.sbp<S(0)> () -> !weft.any"),
            "@base.mlp|@\"a b\"|\"q \\\" q\"|#weft.sbp|<|S|(|0|)|>|(|)|->|!weft.any");
  EXPECT_EQ(joined("\"no end\nnext"), "\"no end|next");
}

TEST(TokensTest, SayWhereTheyStand) {
  const std::vector<Token> tokens = tokensOf("\n  a\n\tb");
  ASSERT_EQ(tokens.size(), 2u);
  EXPECT_EQ(tokens[0].line, 1);
  EXPECT_EQ(tokens[0].column, 2);
  EXPECT_EQ(tokens[1].line, 2);
  EXPECT_EQ(tokens[1].column, 1);
}

TEST(FormatTest, IndentsBodiesAndLinesThatGoOn) {
  EXPECT_EQ(formatted("model.layer   @linear (%x)[in,out ,split=B]{\n"
                      "// what it has\n"
                      "%w=weft.parameter \"weight\"[in,out]\n"
                      "init( normal 0.02 )sbp(tensor=split)\n"
                      "\n\n\n"
                      "      %y =  weft.einsum \"bsi,io->bso\"%x,%w   //   the product   \n"
                      "model.return %y\n"
                      "}"),
            "model.layer @linear(%x) [in, out, split = B] {\n"
            "  // what it has\n"
            "  %w = weft.parameter \"weight\" [in, out]\n"
            "         init(normal 0.02) sbp(tensor = split)\n"
            "\n"
            "  %y = weft.einsum \"bsi,io->bso\" %x, %w  //   the product\n"
            "  model.return %y\n"
            "}\n");
  EXPECT_EQ(formatted("model.graph @train(%tokens [batch, seq] i32,\n%labels[batch , seq]i32) {\n\n}\n"),
            "model.graph @train(%tokens [batch, seq] i32,\n"
            "                   %labels [batch, seq] i32) {\n"
            "}\n");
}

TEST(FormatTest, KnowsWhatIsSpacedHow) {
  EXPECT_EQ(formatted("%0=model.call @mlp \"mlp\"(%x)[4*(a+b),-1,a floordiv (b)]"),
            "%0 = model.call @mlp \"mlp\" (%x) [4 * (a + b), -1, a floordiv (b)]\n");
  EXPECT_EQ(formatted("%h = model.repeat layers \"h\" @block (%x)[if (index mod 2, w, 0)]"),
            "%h = model.repeat layers \"h\" @block(%x) [if(index mod 2, w, 0)]\n");
  EXPECT_EQ(formatted("%0 = weft.to_global %x sbp( S(0) ,P (max)) placement(\"cpu\",[ [0,1] ,[2,3]])"),
            "%0 = weft.to_global %x sbp(S(0), P(max)) placement(\"cpu\", [[0, 1], [2, 3]])\n");
  EXPECT_EQ(formatted("%0 = weft.add %x, %y : (tensor<*xf32>,tensor<8x4xf32, #weft.sbp<S(0), B>>) -> tensor<*xf32>"),
            "%0 = weft.add %x, %y : (tensor<*xf32>, tensor<8x4xf32, #weft.sbp<S(0), B>>) -> tensor<*xf32>\n");
}

TEST(FormatTest, KeepsTables) {
  const std::string table = "model.config @a  = 1     model.config @long  = 2  // one\n"
                            "model.config @bc = 12    model.config @short = 3  // two\n";
  EXPECT_EQ(formatted(table), table);
  EXPECT_EQ(formatted("model.config @a  = 1\n\nmodel.config @bc = 12\n"),
            "model.config @a = 1\n\nmodel.config @bc = 12\n");
  EXPECT_EQ(formatted("  %w = weft.parameter \"weight\"   [out]  init(ones)\n"),
            "%w = weft.parameter \"weight\" [out] init(ones)\n");
}

TEST(FormatTest, LeavesWhatItWrote) {
  for (const auto &entry : std::filesystem::recursive_directory_iterator("models")) {
    if (entry.path().extension() != ".mlir") {
      continue;
    }
    std::ifstream file(entry.path());
    std::stringstream text;
    text << file.rdbuf();
    // Without its layout, and laid out again: the tokens and the second layout are the first ones.
    std::string flat;
    int line = 0;
    const std::string whole = text.str();
    for (const Token &token : tokensOf(whole)) {
      flat += std::string(token.line - line, '\n') + (token.line == line ? " " : "") + std::string(token.text);
      line = token.line;
    }
    const std::string once = formatted(flat);
    EXPECT_EQ(joined(once), joined(whole)) << entry.path();
    EXPECT_EQ(formatted(once), once) << entry.path();
  }
}

TEST(OutlineTest, KnowsNamesOfWhatDoesNotParse) {
  const std::string text = "// What models share.\n"
                           "model.import \"../layers.mlir\" as \"base\"\n"
                           "model.config @hidden = 64\n"
                           "\n"
                           "// One.\n"
                           "// Two.\n"
                           "model.layer @block(%x, %y) [rate, width = 2 * hidden, norm = @rms] {\n"
                           "  %a, %b = model.call @pair (%x) [width]\n"
                           "  model.call @running (%a, %b)\n"
                           "  weft.assign %a, %x\n"
                           "  %c = weft.add %a, \n"
                           "\n"
                           "model.graph @train(%tokens [batch, seq] i32) {\n"
                           "  %0 = model.call @base.mlp \"mlp\" (%tokens)\n"
                           "}\n";
  const Outline outline = outlineOf(text);
  ASSERT_EQ(outline.symbols.size(), 3u);
  ASSERT_EQ(outline.imports.size(), 1u);
  EXPECT_EQ(outline.imports[0].path, "../layers.mlir");
  EXPECT_EQ(outline.imports[0].prefix, "base");
  const Symbol &block = *outline.find("block");
  auto names = [](const std::vector<Name> &all) {
    std::string joined;
    for (const Name &name : all) {
      joined += std::string(name.name) + std::to_string(name.result) + " ";
    }
    return joined;
  };
  EXPECT_EQ(names(block.values), "x0 y1 a0 b1 c0 ");
  EXPECT_EQ(names(block.parameters), "rate0 width0 norm0 ");
  EXPECT_EQ(outline.tokens[block.values[2].op].text, "model.call");
  EXPECT_EQ(commentAbove(outline, block.first), "One.\nTwo.");
  EXPECT_EQ(outline.around(outline.tokenAt(7, 4)), &block);
  EXPECT_EQ(outline.around(outline.tokenAt(13, 4))->name, "train");
  EXPECT_EQ(outline.tokenAt(3, 0), -1);
}

} // namespace
} // namespace weft::text
