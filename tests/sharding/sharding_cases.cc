// The table of the exhaustive sharding test.
#include <cstring>

#include "tests/sharding/op_case.h"

namespace weft::tests {
namespace {

using Cases = std::vector<OpCase>;

// Rows of 36 leave a vector's remainder in some tiles and not in others.
void AddPointwise(Cases& cases) {
  for (const char* op : {"exp", "tanh", "sigmoid", "square", "relu", "silu", "gelu"}) {
    const std::string text = std::string("weft.") + op + " %a";
    cases.push_back({std::string(op), text, {{"4x36xf32", Uniform(-3, 3)}}});
    cases.push_back(OpCase(std::string(op) + "_uneven", text, {{"6x10xf32"}}).Uneven());
  }
  for (const char* op : {"log", "sqrt", "rsqrt"}) {
    cases.push_back({op, std::string("weft.") + op + " %a", {{"4x36xf32", Positive()}}});
  }
  cases.push_back({"gelu_tanh", "weft.gelu %a approximate(tanh)", {{"4x4x36xf32", Uniform(-3, 3)}}});
  cases.push_back({"silu_grad", "weft.silu_grad %a, %b", {{"4x36xf32"}, {"4x36xf32"}}});
  cases.push_back({"gelu_grad", "weft.gelu_grad %a, %b", {{"4x36xf32"}, {"4x36xf32"}}});
  cases.push_back({"gelu_grad_tanh", "weft.gelu_grad %a, %b approximate(tanh)", {{"4x36xf32"}, {"4x36xf32"}}});
  cases.push_back(OpCase("relu_grad", "weft.relu_grad %a, %b", {{"4x36xf32"}, {"4x36xf32"}}).Exact());
  cases.push_back(OpCase("neg", "weft.neg %a", {{"4x4x8xf32"}}).Exact());
  cases.push_back(OpCase("scale", "weft.scale %a by(0.75)", {{"4x8xf32"}}).Exact());
  cases.push_back({"scale_rounds", "weft.scale %a by(0.1)", {{"4x8xf32"}}});
  for (const char* op : {"abs", "sign"}) {
    cases.push_back(OpCase(op, std::string("weft.") + op + " %a", {{"4x36xf32"}}).Exact());
  }
  for (const char* op : {"sin", "cos"}) {
    cases.push_back({op, std::string("weft.") + op + " %a", {{"4x36xf32", Uniform(-40, 40)}}});
  }
  cases.push_back(OpCase("add_number", "weft.add_scalar %a by(0.75)", {{"4x36xf32", Eighths()}}).Exact());
  cases.push_back({"power", "weft.power %a by(1.7)", {{"4x36xf32", Positive()}}});
  cases.push_back({"power_whole", "weft.power %a by(-3)", {{"4x36xf32", Away()}}});
  cases.push_back(OpCase("clamp", "weft.clamp %a min(-0.5) max(0.25)", {{"4x36xf32"}}).Exact());
  cases.push_back(OpCase("clamp_below", "weft.clamp %a max(0)", {{"4x36xf32"}}).Exact());
  cases.push_back(OpCase("clamp_uneven", "weft.clamp %a min(-0.5)", {{"6x10xf32"}}).Exact().Uneven());
  cases.push_back(OpCase("add_n", "weft.add_n %a, %b, %c", {{"4x8xf32"}, {"4x8xf32"}, {"4x8xf32"}}).Exact());
  cases.push_back({"cast_to_bf16", "weft.cast %a to bf16", {{"4x36xf32"}}});
  cases.push_back({"cast_from_bf16", "weft.cast %a to f32", {{"4x36xbf16"}}});
  cases.push_back({"cast_to_f16", "weft.cast %a to f16", {{"4x36xf32"}}});
  cases.push_back({"cast_from_f16", "weft.cast %a to f32", {{"4x36xf16"}}});
  for (const char* type : {"i32", "i64", "i8"}) {
    const std::string name = std::string("cast_") + type, integers = std::string("4x36x") + type;
    cases.push_back(OpCase(name + "_to_f32", "weft.cast %a to f32", {{integers, Integers(100)}}).Exact());
    cases.push_back(OpCase(name + "_to_f16", "weft.cast %a to f16", {{integers, Integers(100)}}).Exact());
    cases.push_back(OpCase(name + "_to_i64", "weft.cast %a to i64", {{integers, Integers(100)}}).Exact());
    cases.push_back(
        OpCase(name + "_from_f32", std::string("weft.cast %a to ") + type, {{"4x36xf32", Uniform(0, 9)}}).Exact());
  }
  cases.push_back(OpCase("set_padding", "weft.set_padding %a [3, 5] value(-1.5)", {{"4x8xf32"}}).Exact());
  cases.push_back(OpCase("set_padding_zero", "weft.set_padding %a [4, 7] value(0)", {{"4x8xf32"}}).Exact());
  cases.push_back(
      OpCase("set_padding_of_ids", "weft.set_padding %a [3, 8] value(7)", {{"4x8xi32", Integers(5)}}).Exact());
  cases.push_back(OpCase("broadcast_to_new_dim", "weft.broadcast_to %a [4, 8]", {{"8xf32"}}).Exact());
  cases.push_back(OpCase("broadcast_to_ones", "weft.broadcast_to %a [4, 4, 8]", {{"4x1xf32"}}).Exact());
  cases.push_back(OpCase("broadcast_to_scalar", "weft.broadcast_to %a [4, 8]", {{"f32"}}).Exact());
}

void AddBinary(Cases& cases) {
  const std::pair<const char*, std::pair<const char*, const char*>> shapes[] = {
      {"same", {"4x36xf32", "4x36xf32"}}, {"row", {"4x4x8xf32", "8xf32"}}, {"inner", {"4x4x8xf32", "4x1x8xf32"}},
      {"outer", {"4x1xf32", "8xf32"}},    {"scalar", {"4x8xf32", "f32"}},  {"left", {"8xf32", "4x8xf32"}},
      {"ones", {"1x8xf32", "4x1xf32"}},
  };
  for (const char* op : {"add", "sub", "mul", "maximum", "minimum", "div"}) {
    for (const auto& [name, types] : shapes) {
      const bool div = op == std::string("div");
      OpCase one(std::string(op) + "_" + name, std::string("weft.") + op + " %a, %b",
                 {{types.first, Eighths()}, {types.second, div ? Away() : Eighths()}});
      cases.push_back(div ? std::move(one) : std::move(one).Exact());
    }
    if (op == std::string("div")) continue;
    for (const char* type : {"i32", "i64"}) {
      cases.push_back(
          OpCase(std::string(op) + "_" + type, std::string("weft.") + op + " %a, %b",
                 {{std::string("4x4x8x") + type, Integers(100)}, {std::string("4x1x8x") + type, Integers(50)}})
              .Exact());
    }
  }
  cases.push_back(OpCase("add_uneven", "weft.add %a, %b", {{"6x4xf32"}, {"6x4xf32"}}).Exact().Uneven());
}

void AddLogic(Cases& cases) {
  const Input truth = {"4x4x8xi8", Integers(2)};
  for (const char* op : {"greater", "greater_equal", "less", "less_equal", "equal", "not_equal"}) {
    const std::string name = op, text = std::string("weft.") + op + " %a, %b";
    cases.push_back(OpCase(name, text, {{"4x4x8xf32", Eighths()}, {"4x1x8xf32", Eighths()}}).Exact());
    cases.push_back(OpCase(name + "_left", text, {{"8xi32", Integers(3)}, {"4x8xi32", Integers(3)}}).Exact());
    cases.push_back(OpCase(name + "_i64", text, {{"4x8xi64", Integers(3)}, {"i64", Integers(3)}}).Exact());
    cases.push_back(
        OpCase(name + "_as_number", text + " as_number", {{"4x4x8xf32", Eighths()}, {"8xf32", Eighths()}}).Exact());
  }
  for (const char* op : {"logical_and", "logical_or"}) {
    cases.push_back(OpCase(op, std::string("weft.") + op + " %a, %b", {truth, {"4x1xi8", Integers(2)}}).Exact());
  }
  cases.push_back(OpCase("logical_not", "weft.logical_not %a", {truth}).Exact());
  const char* const select = "weft.select %a, %b, %c";
  cases.push_back(OpCase("select", select, {truth, {"4x4x8xf32"}, {"4x4x8xf32"}}).Exact());
  cases.push_back(OpCase("select_row", select, {{"8xi8", Integers(2)}, {"4x4x8xf32"}, {"4x1xf32"}}).Exact());
  cases.push_back(OpCase("select_scalar", select, {truth, {"4x4x8xf32"}, {"f32"}}).Exact());
  cases.push_back(OpCase("select_i64", select, {truth, {"8xi64", Integers(99)}, {"4x1x1xi64", Integers(99)}}).Exact());
  cases.push_back(
      OpCase("select_uneven", select, {{"6x10xi8", Integers(2)}, {"6x1xf32"}, {"10xf32"}}).Exact().Uneven());
}

void AddConstants(Cases& cases) {
  cases.push_back({"fill", "weft.fill [4, 8] value(2.5)", {}});
  for (const char* type : {"bf16", "f16", "i32", "i64", "i8"}) {
    cases.push_back({std::string("fill_") + type, std::string("weft.fill [4, 8] value(3) to ") + type, {}});
    if (type[0] == 'i' && type[1] != '8') {
      cases.push_back({std::string("iota_") + type, std::string("weft.iota [4, 8, 12] dim(1) to ") + type, {}});
    }
    cases.push_back({std::string("constant_") + type,
                     std::string("weft.constant [2, 4] values [1, 2, 3, 4, 5, 6, 7, 8] to ") + type,
                     {}});
    cases.back().uneven = true;  // over four ranks
  }
  cases.push_back(OpCase("iota_uneven", "weft.iota [6, 4] dim(0)", {}).Uneven());
  cases.push_back({"iota_last", "weft.iota [4, 8] dim(1) to f32", {}});
  cases.push_back(
      {"constant", "weft.constant [4, 4] values [0.1, -2, 3.0e8, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7]", {}});
}

void AddScans(Cases& cases) {
  for (const char* words : {"", " exclusive", " reverse"}) {
    const std::string name = std::string("cumsum") + (*words ? "_" : "") + (*words ? words + 1 : "");
    cases.push_back(OpCase(name, std::string("weft.cumsum %a dim(1)") + words, {{"4x9x8xf32", Eighths()}}).Exact());
  }
  cases.push_back(OpCase("cumsum_last", "weft.cumsum %a dim(1)", {{"4x8xi32", Integers(9)}}).Exact());
  cases.push_back(OpCase("cumsum_uneven", "weft.cumsum %a dim(1)", {{"6x9x10xf32", Eighths()}}).Exact().Uneven());
  cases.push_back({"cumsum_rounds", "weft.cumsum %a dim(0)", {{"36x8xf32", Uniform(-4, 4)}}});
}

void AddReduceAndLayout(Cases& cases) {
  for (const char* kind : {"sum", "mean", "max"}) {
    for (const auto& [name, dims] : {std::pair("first", "[0]"), std::pair("last", "[2]"), std::pair("two", "[2, 0]"),
                                     std::pair("all", "[0, 1, 2]"), std::pair("kept", "[1] keep_dims")}) {
      cases.push_back(OpCase(std::string("reduce_") + kind + "_" + name,
                             std::string("weft.reduce ") + kind + " %a over " + dims, {{"4x4x8xf32", Eighths()}})
                          .Exact());
    }
  }
  cases.push_back({"reduce_sum_rounds", "weft.reduce sum %a over [1]", {{"4x64xf32", Uniform(-4, 4)}}});
  cases.push_back({"reduce_mean_rounds", "weft.reduce mean %a over [0]", {{"12x36xf32", Uniform(-4, 4)}}});
  cases.push_back(OpCase("reduce_uneven", "weft.reduce sum %a over [0]", {{"6x4xf32", Eighths()}}).Exact().Uneven());

  cases.push_back(OpCase("reshape_merge", "weft.reshape %a [32]", {{"4x8xf32"}}).Exact());
  cases.push_back(OpCase("reshape_cut", "weft.reshape %a [4, 8]", {{"32xf32"}}).Exact());
  cases.push_back(
      OpCase("reshape_heads", "weft.reshape %a [4, 4, 4, 3]", {{"4x4x12xf32"}}).Exact().Uneven());  // of what is inside
  cases.push_back(OpCase("reshape_rows", "weft.reshape %a [16, 8]", {{"4x4x8xi32", Integers(100)}}).Exact());
  cases.push_back(OpCase("reshape_three", "weft.reshape %a [64]", {{"4x4x4xf32"}}).Exact());
  cases.push_back(OpCase("reshape_ones", "weft.reshape %a [1, 4, 8, 1]", {{"4x1x8xf32"}}).Exact());
  cases.push_back(OpCase("reshape_not_nested", "weft.reshape %a [4, 8, 3]", {{"4x6x4xf32"}}).Exact());
  cases.push_back(OpCase("reshape_uneven_factor", "weft.reshape %a [4, 2, 6]", {{"4x12xf32"}}).Exact().Uneven());
  cases.push_back(OpCase("transpose", "weft.transpose %a [1, 0]", {{"4x8xf32"}}).Exact());
  cases.push_back(OpCase("transpose_three", "weft.transpose %a [2, 0, 1]", {{"4x8x12xf32"}}).Exact());
  cases.push_back(OpCase("transpose_heads", "weft.transpose %a [0, 2, 1, 3]", {{"4x4x8x4xbf16", Eighths()}}));
  cases.push_back(OpCase("slice", "weft.slice %a dim(1) from(2) size(3)", {{"4x9x4xf32"}}).Exact());
  cases.push_back(OpCase("slice_first", "weft.slice %a dim(0) from(1) size(1)", {{"3x4x8xf32"}}).Exact());
  cases.push_back(OpCase("pad", "weft.pad %a dim(1) before(2) after(1)", {{"4x3x4xf32"}}).Exact());
  cases.push_back(OpCase("pad_last", "weft.pad %a dim(1) before(0) after(5)", {{"4x3xf32"}}).Exact());
  cases.push_back(
      OpCase("concat", "weft.concat %a, %b, %c dim(1)", {{"4x3x8xf32"}, {"4x1x8xf32"}, {"4x4x8xf32"}}).Exact());
  cases.push_back(OpCase("concat_last", "weft.concat %a, %b dim(1)", {{"8x3xf32"}, {"8x2xf32"}}).Exact());
  cases.push_back(
      OpCase("concat_uneven", "weft.concat %a, %b dim(1)", {{"6x3x10xf32"}, {"6x2x10xf32"}}).Exact().Uneven());
}

// Inputs of eighths: products and sums of them do not round, so that even a cut contraction is exact.
void AddEinsum(Cases& cases) {
  const struct {
    const char *name, *equation, *lhs, *rhs;
  } rows[] = {
      {"linear", "bsi,io->bso", "4x4x8", "8x12"},
      {"linear_transposed", "bsi,oi->bso", "4x4x8", "12x8"},
      {"weight_grad", "bsi,bso->io", "4x4x8", "4x4x12"},
      {"scores", "bsnd,btnd->bnst", "4x4x4x8", "4x8x4x8"},
      {"values", "bnst,btnd->bsnd", "4x4x4x8", "4x8x4x8"},
      {"qkv", "bsi,icnd->bscnd", "4x4x8", "8x4x4x4"},
      {"out_projection", "bsnd,ndo->bso", "4x4x4x4", "4x4x8"},
      {"outer", "ij,kl->ijkl", "4x4", "4x8"},
      {"inner", "ij,ij->", "4x8", "4x8"},
      {"scaled", "ij,->ji", "4x8", ""},
      {"vector", "ij,j->i", "8x12", "12"},
      {"pointwise", "Ab,Ab->bA", "4x8", "4x8"},
  };
  for (const auto& row : rows) {
    auto type = [](const std::string& dims, const char* element) { return dims + (dims.empty() ? "" : "x") + element; };
    const std::string text = std::string("weft.einsum \"") + row.equation + "\" %a, %b";
    cases.push_back(OpCase(std::string("einsum_") + row.name, text,
                           {{type(row.lhs, "f32"), Eighths()}, {type(row.rhs, "f32"), Eighths()}})
                        .Exact());
  }
  cases.push_back(OpCase("einsum_bf16_to_f32", "weft.einsum \"bsi,io->bso\" %a, %b to f32",
                         {{"4x4x8xbf16", Eighths()}, {"8x12xbf16", Eighths()}})
                      .Exact());
  cases.push_back(
      {"einsum_f16", "weft.einsum \"bsi,io->bso\" %a, %b", {{"4x4x8xf16", Eighths()}, {"8x12xf16", Eighths()}}});
  cases.push_back(
      {"einsum_bf16", "weft.einsum \"bsi,io->bso\" %a, %b", {{"4x4x8xbf16", Eighths()}, {"8x12xbf16", Eighths()}}});
  cases.push_back(OpCase("einsum_rounds", "weft.einsum \"bsi,io->bso\" %a, %b", {{"4x12x36xf32"}, {"36x44xf32"}}));
  cases.push_back(
      OpCase("einsum_uneven", "weft.einsum \"bsi,io->bso\" %a, %b", {{"2x3x6xf32", Eighths()}, {"6x10xf32", Eighths()}})
          .Exact()
          .Uneven());
}

void AddRows(Cases& cases) {
  cases.push_back({"softmax", "weft.softmax %a", {{"4x8x10xf32", Uniform(-4, 4)}}});
  cases.push_back(OpCase("softmax_uneven", "weft.softmax %a", {{"6x8xf32"}}).Uneven());
  cases.push_back({"softmax_grad", "weft.softmax_grad %a, %b", {{"4x8x10xf32"}, {"4x8x10xf32", Uniform(0, 1)}}});
  cases.push_back({"rope", "weft.rope %a theta(100.0)", {{"4x8x4x6xf32"}}});
  cases.push_back({"rope_interleaved", "weft.rope %a theta(100.0) factor(2.0) interleaved inverse", {{"4x8x4x6xf32"}}});
  cases.push_back({"rope_at", "weft.rope %a at(%b) theta(100.0)", {{"4x8x4x6xf32"}, {"4x8xi32", Integers(50)}}});
  cases.push_back(OpCase("rope_uneven", "weft.rope %a theta(100.0)", {{"6x6x2x4xf32"}}).Uneven());
  const std::vector<Input> x_w_b = {{"4x8x10xf32"}, {"10xf32"}, {"10xf32"}};
  cases.push_back({"layer_norm", "weft.layer_norm %a, %b, %c eps(1.0e-5)", x_w_b});
  cases.push_back(OpCase("layer_norm_statistics", "weft.layer_norm %a, %b, %c eps(1.0e-5)", x_w_b)
                      .Results({"4x8x10xf32", "4x8xf32", "4x8xf32"}));
  cases.push_back(
      OpCase("layer_norm_uneven", "weft.layer_norm %a, %b, %c eps(1.0e-5)", {{"6x8xf32"}, {"8xf32"}, {"8xf32"}})
          .Uneven());
  cases.push_back({"layer_norm_grad",
                   "weft.layer_norm_grad %a, %b, %c, %d, %e",
                   {{"4x8x10xf32"}, {"4x8x10xf32"}, {"10xf32"}, {"4x8xf32"}, {"4x8xf32", Positive()}}});
  cases.push_back({"rms_norm", "weft.rms_norm %a, %b eps(1.0e-6)", {{"4x8x10xf32"}, {"10xf32"}}});
  cases.push_back(OpCase("rms_norm_statistics", "weft.rms_norm %a, %b eps(1.0e-6)", {{"4x8x10xf32"}, {"10xf32"}})
                      .Results({"4x8x10xf32", "4x8xf32"}));
  cases.push_back(OpCase("rms_norm_uneven", "weft.rms_norm %a, %b eps(1.0e-6)", {{"6x8xf32"}, {"8xf32"}}).Uneven());
  cases.push_back({"rms_norm_grad",
                   "weft.rms_norm_grad %a, %b, %c, %d",
                   {{"4x8x10xf32"}, {"4x8x10xf32"}, {"10xf32"}, {"4x8xf32", Positive()}}});
  cases.push_back(OpCase("rms_norm_grad_uneven", "weft.rms_norm_grad %a, %b, %c, %d",
                         {{"6x8xf32"}, {"6x8xf32"}, {"8xf32"}, {"6xf32", Positive()}})
                      .Uneven());
}

// A batch of vectors, images with channels first and last, parts of a batch, and sizes that no axis divides.
void AddBatchNorms(Cases& cases) {
  struct Shape {
    const char *name, *x, *kept, *channels, *over;
  };
  const Shape shapes[] = {{"", "8x12xf32", "12xf32", "12xf32", "[0]"},
                          {"_images", "4x8x4x4xf32", "8xf32", "8xf32", "[0, 2, 3]"},
                          {"_last", "4x4x4x12xf32", "12xf32", "12xf32", "[0, 1, 2]"},
                          {"_parts", "4x8x12xf32", "4x12xf32", "12xf32", "[1]"},
                          {"_uneven", "6x10xf32", "10xf32", "10xf32", "[0]"}};
  for (const Shape& it : shapes) {
    const Input x = {it.x}, kept = {it.kept}, spread = {it.kept, Positive()}, channels = {it.channels};
    const std::string over = std::string(" over ") + it.over, eps = over + " eps(1.0e-5)", name = it.name;
    const auto add = [&](const std::string& stem, const std::string& text, std::vector<Input> inputs) {
      cases.push_back({stem + name, text, std::move(inputs)});
      cases.back().uneven = name == "_uneven";
    };
    add("batch_variance", "weft.batch_variance %a, %b" + over, {x, kept});
    add("batch_norm_apply", "weft.batch_norm_apply %a, %b, %c, %d, %e" + eps, {x, kept, spread, channels, channels});
    add("batch_norm_sums", "weft.batch_norm_sums %a, %b, %c, %d" + eps, {x, x, kept, spread});
    add("batch_norm_grad", "weft.batch_norm_grad %a, %b, %c, %d, %e, %f, %g" + eps,
        {x, x, kept, spread, channels, kept, kept});
  }
}

// Queries [b, s, n, d], keys and values [b, t, m, d].
void AddAttention(Cases& cases) {
  const struct {
    const char *name, *q, *kv, *lse;
    bool uneven;
  } shapes[] = {
      {"heads", "4x8x4x12xf32", "4x8x4x12xf32", "4x4x8xf32", false},
      {"grouped", "4x8x8x4xf32", "4x8x4x4xf32", "4x8x8xf32", false},
      {"one_key_head", "4x8x4x8xf32", "4x8x1x8xf32", "4x4x8xf32", false},
      {"more_keys", "4x8x4x8xf32", "4x12x4x8xf32", "4x4x8xf32", false},
      {"uneven_groups", "4x8x4x4xf32", "4x8x2x4xf32", "4x4x8xf32", true},
  };
  for (const auto& shape : shapes) {
    for (const char* causal : {"", " causal"}) {
      const std::string suffix = std::string(shape.name) + (*causal ? "_causal" : "");
      const std::vector<Input> forward = {{shape.q}, {shape.kv}, {shape.kv}};
      const std::vector<Input> backward = {{shape.q},  {shape.q}, {shape.kv},
                                           {shape.kv}, {shape.q}, {shape.lse, Positive()}};
      std::vector<OpCase> added;
      added.push_back({"attention_" + suffix, std::string("weft.attention %a, %b, %c") + causal, forward});
      added.push_back(OpCase("attention_lse_" + suffix, std::string("weft.attention %a, %b, %c") + causal, forward)
                          .Results({shape.q, shape.lse}));
      added.push_back({"attention_grad_" + suffix,
                       std::string("weft.attention_grad %a, %b, %c, %d, %e, %f") + causal + " scale(0.25)", backward});
      const std::string weights = std::string(shape.lse, std::strrchr(shape.lse, 'x')) + "x" +
                                  std::string(shape.kv).substr(2, std::string(shape.kv).find('x', 2) - 2) + "xf32";
      added.push_back(
          OpCase("attention_unfused_" + suffix, std::string("weft.attention %a, %b, %c") + causal + " unfused", forward)
              .Results({shape.q, weights}));
      std::vector<Input> stored = backward;
      stored.back() = {weights, Positive()};
      added.push_back({"attention_unfused_grad_" + suffix,
                       std::string("weft.attention_grad %a, %b, %c, %d, %e, %f") + causal + " unfused scale(0.25)",
                       stored});
      for (OpCase& one : added) {
        one.uneven = shape.uneven;
        cases.push_back(std::move(one));
      }
    }
  }
}

// Attention with a bias, a mask or a window, with the gradient of the bias. In each dim of the scores, [b, n, s, t],
// bias and mask are whole or 1.
void AddAdjustedAttention(Cases& cases) {
  const struct {
    const char *name, *q, *kv, *lse, *weights, *bias, *mask, *attributes;
  } shapes[] = {
      {"window", "4x8x4x12xf32", "4x8x4x12xf32", "4x4x8xf32", "4x4x8x8xf32", "", "", " causal window(3)"},
      {"bias", "4x8x4x12xf32", "4x8x4x12xf32", "4x4x8xf32", "4x4x8x8xf32", "1x4x8x8xf32", "", ""},
      {"mask", "4x8x4x12xf32", "4x8x4x12xf32", "4x4x8xf32", "4x4x8x8xf32", "", "4x1x1x8xi8", ""},
      {"cross", "4x8x4x8xf32", "4x12x4x8xf32", "4x4x8xf32", "4x4x8x12xf32", "1x4x8x12xf32", "4x1x1x12xi8", ""},
      {"grouped_all", "4x8x8x4xf32", "4x8x4x4xf32", "4x8x8xf32", "4x8x8x8xf32", "4x8x8x8xf32", "4x1x8x8xi8",
       " causal window(5)"},
      {"one_key_head_bias", "4x8x4x8xf32", "4x8x1x8xf32", "4x4x8xf32", "4x4x8x8xf32", "1x4x1x8xf32", "1x4x8x8xi8", ""},
      {"bias_of_rows", "4x8x4x8xf32", "4x8x4x8xf32", "4x4x8xf32", "4x4x8x8xf32", "4x1x8x1xf32", "1x1x8x8xi8",
       " causal"},
  };
  for (const auto& shape : shapes) {
    const std::string name = shape.name;
    // `first` is the letter of the first optional operand.
    const auto operands = [&](char first, std::vector<Input>& inputs) {
      std::string text;
      for (const auto& [what, type] : {std::pair(" bias(%", shape.bias), std::pair(" mask(%", shape.mask)}) {
        if (*type == 0) continue;
        text += std::string(what) + first++ + ")";
        inputs.push_back({type, type == shape.bias ? Fill() : Integers(3)});
      }
      return text + shape.attributes;
    };
    std::vector<Input> forward = {{shape.q}, {shape.kv}, {shape.kv}};
    const std::string attention = "weft.attention %a, %b, %c" + operands('d', forward);
    std::vector<Input> backward = {{shape.q}, {shape.q}, {shape.kv}, {shape.kv}, {shape.q}, {shape.lse, Positive()}};
    const std::string more = " %a, %b, %c, %d, %e, %f" + operands('g', backward);
    std::vector<Input> stored = backward;
    stored[5] = {shape.weights, Positive()};
    cases.push_back({"attention_" + name, attention, forward});
    cases.push_back({"attention_grad_" + name, "weft.attention_grad" + more, backward});
    cases.push_back(
        OpCase("attention_unfused_" + name, attention + " unfused", forward).Results({shape.q, shape.weights}));
    cases.push_back({"attention_unfused_grad_" + name, "weft.attention_grad" + more + " unfused", stored});
    if (*shape.bias == 0) continue;
    cases.push_back({"attention_bias_grad_" + name, "weft.attention_bias_grad" + more, backward});
    cases.push_back({"attention_unfused_bias_grad_" + name, "weft.attention_bias_grad" + more + " unfused", stored});
  }
  cases.push_back({"attention_merge",
                   "weft.attention_merge %a, %b, %c, %d",
                   {{"4x8x4x12xf32"}, {"4x4x8xf32"}, {"4x8x4x12xf32"}, {"4x4x8xf32"}}});
  const Input q = {"2x8x2x4xf32"}, seen = {"2x1x1x8xi8", Uniform(1, 3)};
  cases.push_back(OpCase("attention_lse_mask", "weft.attention %a, %b, %c mask(%d) causal window(6)", {q, q, q, seen})
                      .Results({q.type, "2x2x8xf32"})
                      .Uneven());
}

void AddVocabulary(Cases& cases) {
  const Input ids = {"4x8xi32", Integers(16)};
  const Input labels = {"4x8xi32", Labels(16, -100)};
  const Input logits = {"4x8x16xf32", Uniform(-4, 4)};
  cases.push_back(OpCase("embedding", "weft.embedding %a, %b", {ids, {"16x12xf32"}}).Exact());
  cases.push_back(OpCase("embedding_uneven", "weft.embedding %a, %b", {ids, {"18x8xf32"}}).Exact().Uneven());
  cases.push_back(
      OpCase("embedding_grad", "weft.embedding_grad %a, %b vocab(16)", {ids, {"4x8x12xf32", Eighths()}}).Exact());
  cases.push_back(
      {"embedding_grad_rounds", "weft.embedding_grad %a, %b vocab(16)", {ids, {"4x8x12xf32", Uniform(-4, 4)}}});
  cases.push_back({"sum_exp", "weft.sum_exp %a, %b", {logits, {"4x8xf32", Uniform(2, 4)}}});
  cases.push_back(OpCase("sum_exp_uneven", "weft.sum_exp %a, %b", {{"4x18xf32"}, {"4xf32"}}).Uneven());
  cases.push_back(OpCase("pick", "weft.pick %a, %b", {logits, labels}).Exact());
  cases.push_back(
      OpCase("pick_uneven", "weft.pick %a, %b", {{"6x18xf32"}, {"6xi32", Labels(18, -100)}}).Exact().Uneven());
  cases.push_back(
      OpCase("pick_ignore", "weft.pick %a, %b ignore(-1)", {{"8x16xf32"}, {"8xi32", Labels(16, -1)}}).Exact());
  cases.push_back({"cross_entropy_loss",
                   "weft.cross_entropy_loss %a, %b, %c, %d",
                   {{"4x8xf32"}, {"4x8xf32", Uniform(1, 16)}, {"4x8xf32"}, labels}});
  cases.push_back({"cross_entropy_loss_ignore",
                   "weft.cross_entropy_loss %a, %b, %c, %d ignore(3)",
                   {{"16xf32"}, {"16xf32", Uniform(1, 16)}, {"16xf32"}, {"16xi32", Labels(16, 3)}}});
  cases.push_back(
      {"cross_entropy_loss_weights",
       "weft.cross_entropy_loss %a, %b, %c, %d ignore(3) weights(%e)",
       {{"16xf32"}, {"16xf32", Uniform(1, 16)}, {"16xf32"}, {"16xi32", Labels(16, 3)}, {"16xf32", Positive()}}});
  cases.push_back({"cross_entropy_grad_smoothed",
                   "weft.cross_entropy_grad %a, %b, %c, %d, %e weights(%f) label_smoothing(0.1)",
                   {{"f32", Positive()},
                    logits,
                    {"4x8xf32", Uniform(2, 4)},
                    {"4x8xf32", Uniform(1, 16)},
                    labels,
                    {"4x8xf32", Positive()}}});
  cases.push_back({"cross_entropy_grad",
                   "weft.cross_entropy_grad %a, %b, %c, %d, %e",
                   {{"f32", Positive()}, logits, {"4x8xf32", Uniform(2, 4)}, {"4x8xf32", Uniform(1, 16)}, labels}});
}

void AddRowsByNumber(Cases& cases) {
  const Input ids = {"4x8xi32", Integers(16)}, of_batch = {"4x8xi64", Integers(12)};
  cases.push_back(OpCase("take", "weft.take %a, %b dim(0)", {{"16x12xf32"}, ids}).Exact());
  cases.push_back(OpCase("take_inner", "weft.take %a, %b dim(1)", {{"4x16x4xf32"}, {"8xi32", Integers(16)}}).Exact());
  cases.push_back(OpCase("take_batch", "weft.take %a, %b dim(1) batch(1)", {{"4x12x8xf32"}, of_batch}).Exact());
  cases.push_back(OpCase("take_elements", "weft.take %a, %b dim(1) batch(1)", {{"4x12xf32"}, of_batch}).Exact());
  cases.push_back(
      OpCase("take_integers", "weft.take %a, %b dim(1) batch(1)", {{"4x12xi64", Integers(99)}, of_batch}).Exact());
  cases.push_back(OpCase("take_last", "weft.take %a, %b dim(1) batch(1) last", {{"4x12x8xf32"}, of_batch}).Exact());
  cases.push_back(
      OpCase("take_uneven", "weft.take %a, %b dim(1)", {{"6x16xf32"}, {"9xi32", Integers(16)}}).Exact().Uneven());
  cases.push_back(
      OpCase("scatter_add", "weft.scatter_add %a, %b dim(0) size(16)", {{"4x8x12xf32", Eighths()}, ids}).Exact());
  cases.push_back(
      {"scatter_add_rounds", "weft.scatter_add %a, %b dim(0) size(16)", {{"4x8x12xf32", Uniform(-4, 4)}, ids}});
  cases.push_back(OpCase("scatter_add_batch", "weft.scatter_add %a, %b dim(2) size(12) batch(1)",
                         {{"4x4x8xf32", Eighths()}, of_batch})
                      .Exact());
  cases.push_back(
      OpCase("scatter_add_integers", "weft.scatter_add %a, %b dim(0) size(16)", {{"4x8xi32", Integers(99)}, ids})
          .Exact());
  cases.push_back(
      OpCase("scatter_add_uneven", "weft.scatter_add %a, %b dim(0) size(18)", {{"4x8x4xf32", Eighths()}, ids})
          .Exact()
          .Uneven());
  cases.push_back(
      OpCase("scatter_set", "weft.scatter_set %a, %b, %c dim(0)", {{"16x12xf32"}, ids, {"4x8x12xf32"}}).Exact());
  cases.push_back(OpCase("scatter_set_batch", "weft.scatter_set %a, %b, %c dim(2) batch(1)",
                         {{"4x4x12x4xf32"}, of_batch, {"4x4x8x4xf32"}})
                      .Exact());
  cases.push_back(OpCase("scatter_set_uneven", "weft.scatter_set %a, %b, %c dim(0)", {{"18x4xf32"}, ids, {"4x8x4xf32"}})
                      .Exact()
                      .Uneven());
}

// Counts of at most 3 in 4 groups of 16 rows: the last rows are of no group.
void AddGrouped(Cases& cases) {
  const Input counts = {"4x4xi32", Integers(4)};
  const Input rows = {"4x16x8xf32", Eighths()}, other = {"4x16x12xf32", Eighths()};
  const std::string matmul = "weft.grouped_matmul %a, %b, %c", outer = "weft.grouped_outer %a, %b, %c groups(4)";
  cases.push_back(OpCase("grouped_matmul", matmul, {rows, {"4x8x12xf32", Eighths()}, counts}).Exact());
  cases.push_back(
      OpCase("grouped_matmul_transposed", matmul + " transposed", {rows, {"4x12x8xf32", Eighths()}, counts}).Exact());
  cases.push_back(
      OpCase("grouped_matmul_one", matmul, {{"16x8xf32", Eighths()}, {"4x8x12xf32", Eighths()}, {"4xi32", Integers(4)}})
          .Exact());
  cases.push_back(OpCase("grouped_matmul_rounds", matmul, {{"4x16x36xf32"}, {"4x36x12xf32"}, counts}).Rounded());
  cases.push_back(OpCase("grouped_matmul_uneven", matmul,
                         {{"6x16x6xf32", Eighths()}, {"6x6x10xf32", Eighths()}, {"6x6xi32", Integers(3)}})
                      .Exact()
                      .Uneven());
  cases.push_back(OpCase("grouped_outer", outer, {rows, other, counts}).Exact());
  cases.push_back(OpCase("grouped_outer_rounds", outer, {{"4x16x8xf32"}, {"4x16x12xf32"}, counts}).Rounded());
  cases.push_back(OpCase("grouped_outer_uneven", "weft.grouped_outer %a, %b, %c groups(6)",
                         {{"6x16x6xf32", Eighths()}, {"6x16x10xf32", Eighths()}, {"6x6xi32", Integers(3)}})
                      .Exact()
                      .Uneven());
  for (const std::string type : {"bf16", "f16"}) {
    const Input narrow = {"4x16x8x" + type, Eighths()};
    const std::vector<Input> of_matmul = {narrow, {"4x8x12x" + type, Eighths()}, counts};
    const std::vector<Input> of_outer = {narrow, {"4x16x12x" + type, Eighths()}, counts};
    cases.push_back(OpCase("grouped_matmul_" + type + "_to_f32", matmul + " to f32", of_matmul).Exact());
    cases.push_back(OpCase("grouped_outer_" + type + "_to_f32", outer + " to f32", of_outer).Exact());
  }
}

void AddSorts(Cases& cases) {
  cases.push_back(OpCase("sort", "weft.sort %a dim(1)", {{"4x9x8xf32", Eighths()}}).Exact());
  cases.push_back(OpCase("sort_uneven", "weft.sort %a dim(1)", {{"6x9x10xf32", Eighths()}}).Exact().Uneven());
  cases.push_back(OpCase("sort_descending", "weft.sort %a dim(0) descending", {{"9x8xi32", Integers(4)}}).Exact());
  cases.push_back(OpCase("top_k", "weft.top_k %a k(3) dim(2)", {{"4x4x8xf32", Eighths()}}).Exact());
  cases.push_back(OpCase("top_k_first", "weft.top_k %a k(4) dim(0)", {{"8x4xf32", Eighths()}}).Exact());
  cases.push_back(OpCase("top_k_uneven", "weft.top_k %a k(2) dim(1)", {{"6x8xf32", Eighths()}}).Exact().Uneven());
}

// An image of 5 x 6 places with eight channels, under windows of 3 x 2 that leave a rest; one dim alone, and dilated.
void AddWindows(Cases& cases) {
  const std::string windows = " stride [2, 1] padding [1, 0]", sized = " dim(1) size [3, 2]";
  const Input image = {"4x5x6x8xf32", Eighths()}, places = {"4x3x5x8xf32", Eighths()};
  cases.push_back(OpCase("unfold", "weft.unfold %a" + sized + windows, {image}).Exact());
  cases.push_back(
      OpCase("unfold_dilated", "weft.unfold %a dim(2) size [2] padding [1] dilation [2]", {{"4x8x5xf32"}}).Exact());
  cases.push_back(OpCase("unfold_integers", "weft.unfold %a dim(1) size [3] padding [2] padding_after [0]",
                         {{"4x7x8xi32", Integers(99)}})
                      .Exact());
  cases.push_back(OpCase("unfold_three", "weft.unfold %a dim(1) size [2, 1, 2]", {{"4x3x2x3x4xf32"}}).Exact());
  cases.push_back(OpCase("unfold_uneven", "weft.unfold %a dim(1) size [2]", {{"6x5x10xf32"}}).Exact().Uneven());
  cases.push_back(
      OpCase("fold", "weft.fold %a" + sized + " extents [5, 6]" + windows, {{"4x3x5x3x2x8xf32", Eighths()}}).Exact());
  cases.push_back(OpCase("fold_dilated", "weft.fold %a dim(2) size [2] extents [5] padding [1] dilation [2]",
                         {{"4x8x5x2xf32", Eighths()}})
                      .Exact());
  cases.push_back({"fold_rounds", "weft.fold %a dim(1) size [3] extents [12]", {{"4x10x3x36xf32", Uniform(-4, 4)}}});
  cases.push_back(OpCase("max_pool", "weft.max_pool %a" + sized + windows, {image}).Exact());
  cases.push_back(
      OpCase("max_pool_uneven", "weft.max_pool %a dim(1) size [2] stride [2]", {{"6x5x10xf32"}}).Exact().Uneven());
  // Few numbers, so that many elements are the largest.
  const Input few = {"4x3x5x8xf32", Integers(3)};
  cases.push_back(OpCase("max_pool_grad", "weft.max_pool_grad %a, %b, %c" + sized + windows,
                         {places, {"4x5x6x8xf32", Integers(3)}, few})
                      .Exact());
  const Input weights = {"3x2x8xf32", Eighths()};
  cases.push_back(OpCase("depthwise_conv", "weft.depthwise_conv %a, %b" + windows, {image, weights}).Exact());
  cases.push_back(OpCase("depthwise_conv_past", "weft.depthwise_conv %a, %b padding [3] padding_after [0]",
                         {{"4x9x36xf32"}, {"4x36xf32"}}));
  cases.push_back(
      OpCase("depthwise_conv_uneven", "weft.depthwise_conv %a, %b", {{"6x9x10xf32"}, {"4x10xf32"}}).Uneven());
  cases.push_back(OpCase("depthwise_conv_grad_input", "weft.depthwise_conv_grad_input %a, %b extents [5, 6]" + windows,
                         {places, weights})
                      .Exact());
  cases.push_back(OpCase("depthwise_conv_grad_weight", "weft.depthwise_conv_grad_weight %a, %b size [3, 2]" + windows,
                         {image, places})
                      .Exact());
  cases.push_back({"large_depthwise_conv_grad_weight",
                   "weft.depthwise_conv_grad_weight %a, %b size [3, 3] padding [1, 1]",
                   {{"32x12x12x40xf32"}, {"32x12x12x40xf32"}}});
}

void AddRandom(Cases& cases) {
  // Tiles that are 5 wide cut through what one counter yields.
  cases.push_back({"random_normal", "weft.random_normal [4, 20] mean(0.5) std(2.0) seed(7)", {}});
  cases.push_back({"random_normal_three", "weft.random_normal [4, 4, 12] mean(0.0) std(1.0)", {}});
  cases.push_back({"random_uniform", "weft.random_uniform [4, 20] low(-1.0) high(1.0) seed(7)", {}});
  cases.push_back(OpCase("random_uniform_uneven", "weft.random_uniform [6, 9] low(0.0) high(1.0)", {}).Uneven());
  cases.push_back(OpCase("dropout_half", "weft.dropout %a rate(0.5) seed(5)", {{"4x4x20xf32"}}).Exact());
  cases.push_back({"dropout_tenth", "weft.dropout %a rate(0.1) seed(9)", {{"4x36xf32"}}});
  cases.push_back(OpCase("dropout_uneven", "weft.dropout %a rate(0.1) seed(9)", {{"6x9xf32"}}).Uneven());
}

void AddOptimizer(Cases& cases) {
  const Input p = {"4x36xf32"}, positive = {"4x36xf32", Positive()}, scalar = {"f32", Uniform(0.25, 1)};
  cases.push_back(OpCase("square_sum", "weft.square_sum %a", {{"4x4x12xf32", Eighths()}}).Exact());
  cases.push_back({"square_sum_rounds", "weft.square_sum %a", {{"4x36xf32"}}});
  cases.push_back({"clip_scale", "weft.clip_scale %a, %b clip_norm(1.0)", {{"f32", Positive()}, {"f32", Positive()}}});
  cases.push_back(
      {"clip_scale_off", "weft.clip_scale %a, %b clip_norm(0.0)", {{"f32", Positive()}, {"f32", Positive()}}});
  cases.push_back({"clip_scale_of_scaled",
                   "weft.clip_scale %a, %b loss_scale %c clip_norm(1.0)",
                   {{"f32", Positive()}, {"f32", Positive()}, {"f32", Positive()}}});
  cases.push_back(
      {"loss_scale",
       "weft.loss_scale %a, %b, %c, %d growth_factor(2.0) backoff_factor(0.5) growth_interval(2) min(0.125) "
       "max(64.0)",
       {{"f32", Positive()}, {"f32", Positive()}, {"f32", Positive()}, {"f32", Positive()}}});
  cases.push_back({"learning_rate_constant", "weft.learning_rate 0.5 constant", {}});
  for (const char* schedule : {"warmup_cosine", "warmup_linear"}) {
    cases.push_back({std::string("learning_rate_") + schedule,
                     std::string("weft.learning_rate 0.5 ") + schedule + " warmup(2) total(9) min_ratio(0.1)",
                     {}});
  }
  cases.push_back({"sgd", "weft.sgd %a, %b, %c, %d weight_decay(0.1)", {p, p, scalar, scalar}});
  cases.push_back(
      OpCase("sgd_uneven", "weft.sgd %a, %b, %c, %d weight_decay(0.0)", {{"6xf32"}, {"6xf32"}, scalar, scalar})
          .Uneven());
  cases.push_back({"sgd_momentum",
                   "weft.sgd_momentum %a, %b, %c, %d, %e momentum(0.9) weight_decay(0.1)",
                   {p, p, p, scalar, scalar}});
  cases.push_back({"sgd_step", "weft.sgd %a, %b, %c, %d step %e weight_decay(0.1)", {p, p, scalar, scalar, scalar}});
  cases.push_back({"sgd_momentum_step",
                   "weft.sgd_momentum %a, %b, %c, %d, %e step %f momentum(0.9) weight_decay(0.1)",
                   {p, p, p, scalar, scalar, scalar}});
  for (const char* decoupled : {"", " decoupled"}) {
    cases.push_back(
        {std::string("adam") + (*decoupled ? "_decoupled" : ""),
         std::string("weft.adam %a, %b, %c, %d, %e, %f step %g beta1(0.9) beta2(0.95) eps(1.0e-8) weight_decay(0.1)") +
             decoupled,
         {p, p, p, positive, scalar, scalar, scalar}});
  }
  cases.push_back(OpCase("accumulate", "weft.accumulate %a", {{"4x36xf32"}}).Exact());
}

// Large enough that kernels cut their work into blocks and panels, which the tiles then cut elsewhere.
void AddLarge(Cases& cases) {
  // The library sums a large product in another order than its tiles.
  cases.push_back(
      OpCase("large_einsum", "weft.einsum \"bsi,io->bso\" %a, %b", {{"4x64x200xf32"}, {"200x136xf32"}}).Rounded());
  cases.push_back(
      OpCase("large_einsum_batched", "weft.einsum \"bsnd,btnd->bnst\" %a, %b", {{"4x72x4x20xf32"}, {"4x40x4x20xf32"}})
          .Rounded());
  cases.push_back({"large_softmax", "weft.softmax %a", {{"64x300xf32", Uniform(-4, 4)}}});
  cases.push_back(
      {"large_layer_norm", "weft.layer_norm %a, %b, %c eps(1.0e-5)", {{"64x300xf32"}, {"300xf32"}, {"300xf32"}}});
  cases.push_back({"large_layer_norm_grad",
                   "weft.layer_norm_grad %a, %b, %c, %d, %e",
                   {{"400x60xf32"}, {"400x60xf32"}, {"60xf32"}, {"400xf32"}, {"400xf32", Positive()}}});
  const Input q = {"2x128x4x20xf32"}, kv = {"2x128x2x20xf32"};
  cases.push_back(OpCase("large_attention", "weft.attention %a, %b, %c causal", {q, kv, kv})
                      .Results({q.type, "2x4x128xf32"})
                      .Uneven());
  cases.push_back(OpCase("large_attention_grad", "weft.attention_grad %a, %b, %c, %d, %e, %f causal",
                         {q, q, kv, kv, q, {"2x4x128xf32", Uniform(4, 5)}})
                      .Uneven());
  cases.push_back(
      {"large_sum_exp", "weft.sum_exp %a, %b", {{"32x1000xf32", Uniform(-4, 4)}, {"32xf32", Uniform(2, 4)}}});
  cases.push_back({"large_reduce", "weft.reduce sum %a over [0, 1]", {{"64x40x36xf32"}}});
  cases.push_back({"large_random_normal", "weft.random_normal [4, 100] mean(0.0) std(1.0) seed(3)", {}});
  cases.push_back({"large_dropout", "weft.dropout %a rate(0.2) seed(3)", {{"4x100xf32"}}});
}

// Cases of f32 that are run in bf16 and f16 too, and those of their operands that stay f32.
struct NarrowCase {
  const char *name, *wide;
};
constexpr NarrowCase kNarrowCases[] = {
    {"tanh", ""},
    {"sigmoid", ""},
    {"relu", ""},
    {"silu", ""},
    {"gelu", ""},
    {"gelu_tanh", ""},
    {"relu_grad", ""},
    {"silu_grad", ""},
    {"gelu_grad", ""},
    {"gelu_grad_tanh", ""},
    {"rope", ""},
    {"rope_at", ""},
    {"neg", ""},
    {"scale", ""},
    {"add_n", ""},
    {"broadcast_to_new_dim", ""},
    {"set_padding", ""},
    {"add_same", ""},
    {"add_row", ""},
    {"sub_row", ""},
    {"mul_inner", ""},
    {"div_row", ""},
    {"maximum_left", ""},
    {"minimum_row", ""},
    {"abs", ""},
    {"sign", ""},
    {"add_number", ""},
    {"clamp", ""},
    {"greater_as_number", ""},
    {"greater_equal_as_number", ""},
    {"less_as_number", ""},
    {"less_equal_as_number", ""},
    {"equal_as_number", ""},
    {"not_equal_as_number", ""},
    {"select", ""},
    {"cumsum", ""},
    {"reduce_sum_two", ""},
    {"reduce_sum_rounds", ""},
    {"reduce_max_last", ""},
    {"large_reduce", ""},
    {"reshape_heads", ""},
    {"transpose_three", ""},
    {"slice", ""},
    {"pad", ""},
    {"concat", ""},
    {"layer_norm", ""},
    {"layer_norm_statistics", "bc"},
    {"layer_norm_grad", "cde"},
    {"rms_norm_statistics", "b"},
    {"rms_norm_grad", "cd"},
    {"large_layer_norm_grad", "cde"},
    {"batch_variance", "b"},
    {"batch_variance_images", "b"},
    {"batch_norm_apply", "bcde"},
    {"batch_norm_apply_parts", "bcde"},
    {"batch_norm_sums", "cd"},
    {"batch_norm_sums_last", "cd"},
    {"batch_norm_grad", "cdefg"},
    {"batch_norm_grad_images", "cdefg"},
    {"attention_heads", ""},
    {"attention_lse_grouped_causal", ""},
    {"attention_grad_grouped_causal", "f"},
    {"attention_grad_one_key_head", "f"},
    {"attention_cross", "d"},
    {"attention_merge", "abd"},
    {"attention_grad_grouped_all", "fg"},
    {"attention_bias_grad_bias", "fg"},
    {"large_attention", ""},
    {"embedding", ""},
    {"embedding_grad", ""},
    {"take_batch", ""},
    {"take_last", ""},
    {"scatter_add", ""},
    {"scatter_set", ""},
    {"grouped_matmul", ""},
    {"grouped_outer", ""},
    {"top_k", ""},
    {"sort", ""},
    {"sum_exp", "b"},
    {"pick", ""},
    {"cross_entropy_grad", "acd"},
    {"cross_entropy_grad_smoothed", "acdf"},
    {"dropout_tenth", ""},
    {"large_dropout", ""},
    {"unfold", ""},
    {"fold", ""},
    {"fold_rounds", ""},
    {"max_pool", ""},
    {"max_pool_grad", ""},
    {"depthwise_conv", ""},
    {"depthwise_conv_past", ""},
    {"depthwise_conv_grad_input", ""},
    {"depthwise_conv_grad_weight", ""},
};

OpCase NarrowCopy(const OpCase& one, const std::string& type, const std::string& wide) {
  const auto narrow = [&](std::string& text) {
    if (const size_t at = text.find("f32"); at != std::string::npos) text.replace(at, 3, type);
  };
  OpCase copy = one;
  copy.name += "_" + type;
  copy.agreement = Agreement::kDefault;
  for (size_t i = 0; i < copy.inputs.size(); ++i) {
    if (wide.find(static_cast<char>('a' + i)) == std::string::npos) narrow(copy.inputs[i].type);
  }
  if (!copy.results.empty()) narrow(copy.results[0]);  // those behind it are statistics
  return copy;
}

Cases WideCases() {
  Cases cases;
  AddPointwise(cases);
  AddBinary(cases);
  AddLogic(cases);
  AddConstants(cases);
  AddScans(cases);
  AddReduceAndLayout(cases);
  AddEinsum(cases);
  AddRows(cases);
  AddBatchNorms(cases);
  AddAttention(cases);
  AddAdjustedAttention(cases);
  AddVocabulary(cases);
  AddRowsByNumber(cases);
  AddGrouped(cases);
  AddSorts(cases);
  AddWindows(cases);
  AddRandom(cases);
  AddOptimizer(cases);
  AddLarge(cases);
  return cases;
}

void AddNarrow(Cases& cases) {
  for (const NarrowPair& pair : NarrowPairs()) cases.push_back(pair.narrow);
  for (const char* type : {"bf16", "f16"}) {
    const std::string suffix = std::string("_to_f32_") + type, dims = std::string("4x4x8x") + type;
    cases.push_back(
        OpCase("reduce_sum" + suffix, "weft.reduce sum %a over [0, 1] to f32", {{dims, Eighths()}}).Exact());
    cases.push_back(OpCase("reduce_max" + suffix, "weft.reduce max %a over [2] to f32", {{dims, Eighths()}}).Exact());
  }
}

}  // namespace

std::vector<NarrowPair> NarrowPairs() {
  std::vector<NarrowPair> pairs;
  const Cases cases = WideCases();
  for (const NarrowCase& it : kNarrowCases) {
    for (const OpCase& one : cases) {
      if (one.name != it.name) continue;
      for (const char* type : {"bf16", "f16"}) pairs.push_back({one, NarrowCopy(one, type, it.wide)});
    }
  }
  return pairs;
}

std::vector<OpCase> ShardingCases() {
  Cases cases = WideCases();
  AddNarrow(cases);
  return cases;
}

}  // namespace weft::tests
