#include "tests/fuzz/model.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"

namespace weft::fuzz {
namespace {

enum Flags { kPlain = 0, kMixesBatch = 1, kUsesExpert = 2 };

// Ops in the notation of a model file: $x and $y are operands, $r the result, $i a number of its own. Values keep to
// about 1, so that rounding is not magnified: what grows goes through tanh, and a sum over positions is scaled first,
// as 1 - tanh(10)^2 is nothing but rounding. Only half of a batch's mean is taken away: with all of it, rows of equal
// tokens are 0 in one layout and rounding in another, which the norm behind them makes large. What jumps, in its value
// or in its gradient, compares with a parameter added ($x+): two values may be equal but for rounding, which would then
// decide.
struct Piece {
  const char* text;
  int flags = kPlain;
};

constexpr Piece kPieces[] = {
    {"$r = weft.tanh $x"},
    {"$r = weft.neg $x"},
    {"$r = weft.sigmoid $x"},
    {"$r = weft.silu $x"},
    {"$r = weft.relu $x+"},
    {"$r = weft.gelu $x"},
    {"$r = weft.gelu $x approximate(tanh)"},
    {"%a$i = weft.square $x\n$r = weft.tanh %a$i"},
    {"%a$i = weft.tanh $x\n$r = weft.exp %a$i"},
    {"%a$i = weft.square $x\n%b$i = weft.fill [1] value(1)\n%c$i = weft.add %a$i, %b$i\n$r = weft.log %c$i"},
    {"%a$i = weft.square $x\n%b$i = weft.fill [hidden] value(0.5)\n%c$i = weft.add %a$i, %b$i\n$r = weft.sqrt %c$i"},
    {"%a$i = weft.square $x\n%b$i = weft.fill [1, hidden] value(1)\n%c$i = weft.add %b$i, %a$i\n$r = weft.rsqrt %c$i"},
    {"%a$i = weft.sigmoid $y\n%b$i = weft.fill [1] value(1)\n%c$i = weft.add %a$i, %b$i\n$r = weft.div $x, %c$i"},
    {"$r = weft.add $x, $y"},
    {"$r = weft.sub $x, $y"},
    {"%a$i = weft.mul $x, $y\n$r = weft.tanh %a$i"},
    {"$r = weft.maximum $x+, $y"},
    {"$r = weft.minimum $x+, $y"},
    {"%a$i = weft.greater_equal $x+, $y as_number\n$r = weft.mul $x, %a$i"},
    {"%a$i = weft.equal $x, $x as_number\n$r = weft.mul %a$i, $y"},
    {"%a$i = weft.less $x+, $y\n%b$i = weft.logical_not %a$i\n$r = weft.select %b$i, $x, $y"},
    {"%a$i = weft.iota [seq] dim(0)\n%b$i = weft.iota [seq, 1] dim(0)\n%c$i = weft.less_equal %a$i, %b$i\n"
     "%d$i = weft.cast %c$i to f32\n%e$i = weft.einsum \"bsh,ts->bth\" $x, %d$i\n%f$i = weft.scale %e$i by(0.1)\n"
     "$r = weft.tanh %f$i"},
    {"%a$i = weft.iota [hidden] dim(0) to f32\n%b$i = weft.sin %a$i\n%c$i = weft.cos $x\n"
     "$r = weft.mul %b$i, %c$i"},
    {"%a$i = weft.clamp $x+ min(-0.5) max(0.5)\n%b$i = weft.power $y by(2)\n%c$i = weft.tanh %b$i\n"
     "$r = weft.add %a$i, %c$i"},
    {"%a$i = weft.cumsum $x dim(1)\n%b$i = weft.scale %a$i by(0.2)\n$r = weft.tanh %b$i"},
    {"%a$i = weft.constant [3] values [2, 0, 2] to i32\n%b$i = weft.take $x, %a$i dim(1)\n"
     "%c$i = weft.constant [3] values [1, 3, 1] to i32\n%d$i = weft.scatter_add %b$i, %c$i dim(1) size(seq)\n"
     "$r = weft.add $y, %d$i"},
    {"%a$i = weft.constant [3] values [1, 3, 1] to i32\n%b$i = weft.slice $x dim(1) from(0) size(3)\n"
     "$r = weft.scatter_set $y, %a$i, %b$i dim(1)"},
    {"%a$i, %b$i = weft.top_k %tokens k(2) dim(1)\n%c$i = weft.parameter \"top$i\" [vocab, hidden] init(normal 0.3)\n"
     "%d$i = weft.take %c$i, %a$i dim(0)\n%e$i = weft.scatter_add %d$i, %b$i dim(1) size(seq) batch(1)\n"
     "$r = weft.add $x, %e$i"},
    // Three groups of a row each; what is behind them becomes zeros.
    {"%a$i = weft.fill [batch, 3] value(1) to i32\n"
     "%b$i = weft.parameter \"groups$i\" [3, hidden, hidden] init(normal rsqrt(hidden)) sbp(tensor = S(0))\n"
     "%c$i = weft.grouped_matmul $x, %b$i, %a$i transposed\n$r = weft.add $y, %c$i"},
    // A matrix for each token.
    {"%a$i, %b$i = weft.sort %tokens dim(1)\n%c$i = weft.take $x, %b$i dim(1) batch(1)\n"
     "%d$i = weft.fill [batch, seq] value(1) to i32\n"
     "%e$i = weft.scatter_add %d$i, %tokens dim(1) size(vocab) batch(1)\n"
     "%f$i = weft.parameter \"experts$i\" [vocab, hidden, hidden] init(normal rsqrt(hidden)) sbp(expert = S(0))\n"
     "$r = weft.grouped_matmul %c$i, %f$i, %e$i",
     kUsesExpert},
    {"%a$i = weft.parameter \"q$i\" [heads, hidden floordiv heads, hidden] init(normal rsqrt(hidden)) "
     "sbp(tensor = S(0))\n"
     "%b$i = weft.parameter \"k$i\" [1, hidden floordiv heads, hidden] init(normal rsqrt(hidden)) "
     "sbp(tensor = S(0), group = B)\n"
     "%c$i = weft.einsum \"bsi,ndi->bsnd\" $x, %a$i\n%d$i = weft.einsum \"bsi,ndi->bsnd\" $x, %b$i\n"
     "%e$i = weft.einsum \"bsi,ndi->bsnd\" $y, %b$i\n%f$i = weft.attention %c$i, %d$i, %e$i causal\n"
     "$r = weft.reshape %f$i [batch, seq, hidden]"},
    {"%a$i = weft.stop_gradient $y\n%b$i = weft.abs $x+\n%c$i = weft.add_scalar %b$i by(-0.5)\n"
     "$r = weft.mul %a$i, %c$i"},
    {"$r = weft.scale $x by(-0.75)"},
    {"$r = weft.add_n $x, $y, $x"},
    {"%a$i = weft.parameter \"bias$i\" [hidden] init(uniform -0.5 0.5)\n$r = weft.add $x, %a$i"},
    {"%a$i = weft.parameter \"gain$i\" [1] init(constant 0.5)\n$r = weft.mul $x, %a$i"},
    {"%a$i = weft.parameter \"places$i\" [seq, hidden] init(normal 0.3)\n$r = weft.add %a$i, $x"},
    {"%a$i = weft.parameter \"row$i\" [1, hidden] init(normal 0.3)\n"
     "%b$i = weft.broadcast_to %a$i [batch, seq, hidden]\n$r = weft.sub %b$i, $x"},
    {"%a$i = weft.parameter \"flat$i\" [heads, hidden floordiv heads] init(normal 0.3)\n"
     "%b$i = weft.reshape %a$i [hidden]\n$r = weft.add $x, %b$i"},
    {"%a$i = weft.parameter \"two$i\" [2 * hidden] init(normal 0.3)\n%b$i = weft.reshape %a$i [2, hidden]\n"
     "%c$i = weft.slice %b$i dim(0) from(1) size(1)\n$r = weft.add $x, %c$i"},
    {"%a$i = weft.parameter \"turned$i\" [hidden, hidden] init(normal rsqrt(hidden))\n"
     "%b$i = weft.transpose %a$i [1, 0]\n$r = weft.einsum \"bsi,io->bso\" $x, %b$i"},
    {"%a$i = weft.parameter \"twice$i\" [hidden, hidden] init(normal rsqrt(hidden))\n"
     "%b$i = weft.einsum \"bsi,io->bso\" $x, %a$i\n%c$i = weft.tanh %b$i\n"
     "$r = weft.einsum \"bso,io->bsi\" %c$i, %a$i"},
    {"%a$i = weft.reduce mean $x over [2] keep_dims\n$r = weft.sub $x, %a$i"},
    {"%a$i = weft.reduce max $x+ over [2] keep_dims\n$r = weft.sub $x, %a$i"},
    {"%a$i = weft.reduce mean $x over [1] keep_dims\n$r = weft.sub $y, %a$i"},
    {"%a$i = weft.reduce sum $x over [1]\n%b$i = weft.scale %a$i by(0.1)\n%c$i = weft.tanh %b$i\n"
     "%d$i = weft.reshape %c$i [batch, 1, hidden]\n$r = weft.add %d$i, $y"},
    {"%a$i = weft.reduce mean $x over [0] keep_dims\n%b$i = weft.scale %a$i by(0.5)\n$r = weft.sub $x, %b$i",
     kMixesBatch},
    {"%a$i = weft.reshape $x [batch, seq, heads, hidden floordiv heads]\n%b$i = weft.transpose %a$i [0, 2, 1, 3]\n"
     "%c$i = weft.softmax %b$i\n%d$i = weft.transpose %c$i [0, 2, 1, 3]\n$r = weft.reshape %d$i [batch, seq, hidden]"},
    {"%a$i = weft.reshape $x [batch * seq, hidden]\n"
     "%b$i = weft.parameter \"rows$i\" [hidden, hidden] init(normal rsqrt(hidden))\n"
     "%c$i = weft.einsum \"ri,io->ro\" %a$i, %b$i\n$r = weft.reshape %c$i [batch, seq, hidden]"},
    {"%a$i = weft.slice $x dim(2) from(0) size(hidden floordiv 2)\n"
     "%b$i = weft.slice $y dim(2) from(hidden floordiv 2) size((hidden + 1) floordiv 2)\n"
     "$r = weft.concat %b$i, %a$i dim(2)"},
    {"%a$i = weft.slice $x dim(1) from(0) size(seq + -1)\n$r = weft.pad %a$i dim(1) before(1) after(0)"},
    {"$r = weft.softmax $x"},
    {"$r = model.call @layer_norm \"norm$i\" ($x) [hidden, 0.1]"},
    {"$r = model.call @rms_norm \"norm$i\" ($x) [hidden, 0.1]"},
    {"$r = model.call @linear \"linear$i\" ($x) [hidden, hidden, B, B, rsqrt(hidden)]"},
    {"$r = model.call @mlp \"mlp$i\" ($x) [hidden, inner, 0.3]"},
    {"$r = model.call @causal_attention \"attn$i\" ($x) [hidden, heads, 0.3]"},
    {"%a$i = weft.parameter \"mix$i\" [seq, seq] init(normal rsqrt(seq))\n"
     "$r = weft.einsum \"bsh,ts->bth\" $x, %a$i"},
    {"%a$i = weft.einsum \"bsh,bth->bst\" $x, $y\n%b$i = weft.scale %a$i by(0.2)\n%c$i = weft.softmax %b$i\n"
     "$r = weft.einsum \"bst,bth->bsh\" %c$i, $y"},
    {"%a$i = weft.unfold $x dim(1) size [3] padding [1]\n"
     "%b$i = weft.parameter \"near$i\" [hidden, hidden, 3] init(normal rsqrt(3 * hidden))\n"
     "%c$i = weft.transpose %b$i [0, 2, 1]\n$r = weft.einsum \"bsic,oic->bso\" %a$i, %c$i"},
    {"%a$i = weft.parameter \"past$i\" [3, hidden] init(normal 0.5)\n"
     "$r = weft.depthwise_conv $x, %a$i padding [2] padding_after [0]"},
    {"%a$i = weft.max_pool $x+ dim(2) size [3] padding [1]\n$r = weft.sub $y, %a$i"},
    {"$r = weft.dropout $x rate(0.25)"},
    {"%a$i = weft.random_uniform [batch, seq, hidden] low(-0.2) high(0.2)\n$r = weft.add $x, %a$i"},
    {"%a$i = weft.random_normal [batch, seq, hidden] mean(0.5) std(0.1)\n%b$i = weft.mul $x, %a$i\n"
     "$r = weft.add %b$i, $x"},
    {"%a$i = weft.random_normal [seq, hidden] mean(0) std(0.1)\n$r = weft.add $x, %a$i", kMixesBatch},
    {"%a$i = weft.fill [hidden, hidden] value(0.05)\n%b$i = weft.einsum \"bsi,io->bso\" $x, %a$i\n"
     "$r = weft.add $x, %b$i"},
    {"%a$i = weft.fill [seq, hidden] value(0.3)\n%b$i = weft.exp %a$i\n%c$i = weft.softmax %b$i\n"
     "$r = weft.add $x, %c$i"},
    {"%a$i = weft.parameter \"table$i\" [vocab, hidden] init(normal 0.3)\n%b$i = weft.embedding %tokens, %a$i\n"
     "$r = weft.add $x, %b$i"},
    {"%a$i, %b$i = model.call @embedding \"again$i\" (%tokens) [vocab, hidden, 0.3]\n$r = weft.add %a$i, $x"},
    {"$r = weft.to_global $x sbp(data = S(0))"},
    {"%a$i = weft.parameter \"up$i\" [hidden, inner] init(normal rsqrt(hidden)) sbp(expert = S(1))\n"
     "%b$i = weft.einsum \"bsi,io->bso\" $x, %a$i\n%c$i = weft.tanh %b$i\n"
     "%d$i = weft.parameter \"down$i\" [inner, hidden] init(normal rsqrt(inner)) sbp(expert = S(0))\n"
     "$r = weft.einsum \"bso,oi->bsi\" %c$i, %d$i",
     kUsesExpert},
};

std::string BlockText(const Block& block, int number) {
  std::string text = absl::StrCat("model.layer @b", number, "(%v0, %v1, %tokens) {\n");
  int last = 1;
  std::set<int> unread;
  for (const Pick& pick : block.picks) {
    unread.insert(last);
    std::string piece = kPieces[pick.piece].text;
    if (absl::StrContains(piece, "$x+")) {
      piece = absl::StrCat("%p$i = weft.parameter \"apart$i\" [hidden] init(uniform -0.5 0.5)\n",
                           "%q$i = weft.add $x, %p$i\n", absl::StrReplaceAll(piece, {{"$x+", "%q$i"}}));
    }
    const auto operand = [&](const char* letter, int back) {
      const int value = std::max(0, last - back);
      if (absl::StrContains(piece, letter)) unread.erase(value);
      return absl::StrCat("%v", value);
    };
    const std::string x = operand("$x", pick.first), y = operand("$y", pick.second);
    absl::StrAppend(
        &text, "  ",
        absl::StrReplaceAll(
            piece,
            {{"$x", x}, {"$y", y}, {"$r", absl::StrCat("%v", last + 1)}, {"$i", absl::StrCat(last)}, {"\n", "\n  "}}),
        "\n");
    ++last;
  }
  // Nothing is in vain: what nobody has read is part of what the block yields.
  std::vector<std::string> sum = {absl::StrCat("%v", last)};
  for (int value : unread) sum.push_back(absl::StrCat("%v", value));
  if (block.residual && last > 1 && unread.count(1) == 0) sum.push_back("%v1");
  absl::StrAppend(&text, "  %sum = weft.add_n ", absl::StrJoin(sum, ", "),
                  // An eps of the size of the values: where they cancel, rounding stays as small as it is.
                  "\n  %end = model.call @layer_norm \"end\" (%sum) [hidden, 0.1]\n  model.return %end\n}\n\n");
  return text;
}

std::string GraphText(const Model& model) {
  std::string text =
      "model.graph @train(%tokens [batch, seq] i32, %labels [batch, seq] i32, %target [batch, seq, vocab] f32) {\n"
      "  %h0, %table = model.call @embedding \"emb\" (%tokens) [vocab, hidden, 0.5]\n";
  const int count = static_cast<int>(model.blocks.size());
  for (int i = 0; i < count; ++i) {
    absl::StrAppend(&text, "  %h", i + 1, " = model.call @b", i, " \"b.", i, "\" (%h",
                    std::max(0, i - model.blocks[i].far), ", %h", i, ", %tokens)\n");
  }
  if (model.tied) {
    absl::StrAppend(&text, "  %logits = model.call @tied_head \"head\" (%h", count, ", %table)\n");
  } else {
    absl::StrAppend(&text, "  %logits = model.call @linear \"head\" (%h", count,
                    ") [hidden, vocab, B, B, rsqrt(hidden)]\n");
  }
  if (model.loss == Loss::kCrossEntropy) {
    absl::StrAppend(&text, "  %loss, %count = weft.cross_entropy %logits, %labels\n",
                    "  weft.minimize %loss per %count\n}\n");
  } else {
    absl::StrAppend(&text, "  %difference = weft.sub %logits, %target\n  %square = weft.square %difference\n",
                    "  %loss = weft.reduce mean %square over [0, 1, 2]\n  weft.minimize %loss\n}\n");
  }
  return text;
}

Block RandomBlock(Dice& dice, int number) {
  Block block;
  block.far = dice.Percent(30) ? static_cast<int>(dice.Below(number + 1)) : 0;
  block.residual = dice.Percent(40);
  const int64_t count = 1 + dice.Below(5);
  for (int64_t i = 0; i < count; ++i) {
    const int piece = static_cast<int>(dice.Below(std::size(kPieces)));
    block.picks.push_back(
        {piece, dice.Percent(75) ? 0 : static_cast<int>(dice.Below(4)), static_cast<int>(dice.Below(4))});
  }
  return block;
}

}  // namespace

Model RandomModel(Dice& dice) {
  Model model;
  model.gpt2 = dice.Percent(35);
  model.heads = dice.Of({1, 2, 2, 4, 4, 3, 5});
  // A norm of 2 numbers is all but a sign.
  model.hidden = model.heads * (model.heads == 1 ? dice.Of({8, 7}) : dice.Of({4, 4, 8, 3, 5}));
  model.inner = dice.Percent(70) ? 4 * model.hidden : 5 + dice.Below(60);
  model.vocab = dice.Of({8, 12, 16, 16, 24, 32, 7, 13, 25});
  model.seq = dice.Of({4, 6, 8, 8, 12, 16, 5, 9});
  model.layers = 1 + dice.Below(6);
  model.dropout = dice.Of({0.0, 0.0, 0.1});
  model.tied = dice.Percent(50);
  model.loss = dice.Percent(75) ? Loss::kCrossEntropy : Loss::kMeanSquare;
  const int blocks = model.gpt2 ? 0 : static_cast<int>(1 + dice.Below(6));
  for (int i = 0; i < blocks; ++i) model.blocks.push_back(RandomBlock(dice, i));
  return model;
}

std::string TextOf(const Model& model, const std::string& root) {
  if (model.gpt2) return absl::StrCat("model.import \"", root, "/models/gpt2/gpt2.mlir\"\n");
  std::string text = absl::StrCat("model.import \"", root, "/models/layers.mlir\"\n\n");
  absl::StrAppend(&text, "model.config @vocab = ", model.vocab, "\nmodel.config @seq = ", model.seq,
                  "\nmodel.config @hidden = ", model.hidden, "\nmodel.config @heads = ", model.heads,
                  "\nmodel.config @inner = ", model.inner, "\n\n");
  for (size_t i = 0; i < model.blocks.size(); ++i) text += BlockText(model.blocks[i], static_cast<int>(i));
  return text + GraphText(model);
}

Traits TraitsOf(const Model& model) {
  Traits traits;
  const auto add_layers = [&](const char* first, const char* middle, int64_t count, const char* last) {
    traits.layers.push_back(first);
    for (int64_t i = 0; i < count; ++i) traits.layers.push_back(absl::StrCat(middle, i));
    traits.layers.push_back(last);
  };
  if (model.gpt2) {
    add_layers("wte", "h.", model.layers, "ln_f");
    return traits;
  }
  add_layers("emb", "b.", static_cast<int64_t>(model.blocks.size()), "head");
  for (const Block& block : model.blocks) {
    for (const Pick& pick : block.picks) {
      const int flags = kPieces[pick.piece].flags;
      if (absl::StrContains(kPieces[pick.piece].text, "$x+")) traits.jumps = true;
      if (flags & kMixesBatch) traits.mixes_batch = true;
      if (flags & kUsesExpert) traits.uses_expert = true;
    }
  }
  return traits;
}

}  // namespace weft::fuzz
