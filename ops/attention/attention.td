// Softmax attention.
#ifndef WEFT_OPS_ATTENTION
#define WEFT_OPS_ATTENTION

include "ops/dialect/base.td"

// What all ops override of the op interface.
defvar attentionMethods = [{
  ::weft::ir::Cost getCost(::llvm::ArrayRef<::mlir::RankedTensorType> operands,
                           ::llvm::ArrayRef<::mlir::RankedTensorType> results);
  void getKernelAttributes(::mlir::NamedAttrList &attributes);
  ::std::string getKernelName();
}];

// Which keys a row sees, how it is computed, and the factor of the scores.
defvar attentionAttributes = (ins UnitAttr:$causal, OptionalAttr<Weft_Integer>:$window, UnitAttr:$unfused,
                                  OptionalAttr<Weft_Number>:$scale);

// Where keys go round: which of how many blocks, and whether a block is two halves from both ends of the sequence.
defvar blockAttributes = (ins OptionalAttr<Weft_Integer>:$block, OptionalAttr<Weft_Integer>:$blocks, UnitAttr:$zigzag);

def Weft_AttentionOp : Weft_DifferentiableOp<"attention", [AttrSizedOperandSegments]> {
  let summary = "Softmax attention of query heads over keys and values";
  let description = [{
    From `q[b, s, n, d]`, `k[b, t, m, d]` and `v[b, t, m, d]` computes `out[b, s, n, d]`, per head
    `softmax(scale q k^T + bias) v`. There are `n / m` query heads to a key head (grouped-query attention): query head
    `i` reads key head `i floordiv (n floordiv m)`. `s` and `t` may differ (cross attention). Without `scale(number)` it
    is 1 / sqrt(d).

    Three things say which keys a row sees:
    - With `causal`, query row `i` sees the keys 0 to `i + t - s`.
    - With `window(w)`, which needs `causal`, it sees the last `w` of these (Beltagy et al., "Longformer", 2020, section
      3.1; Mistral's sliding window).
    - `mask(%mask)` has truth values: 0 where a row does not see a key.

    A row that sees no key yields zeros, and its gradients are zeros.

    `bias(%bias)` is added to the scores, as the relative positions of T5 are; it stays float32 where a job computes in a
    narrow type. Bias and mask are `[b, n, s, t]`, and any of these extents may be 1: then the numbers are the same along it.
    A mask of the keys of a padded batch is `[b, 1, 1, t]`.

    `lse[b, n, s]`, the logarithm of the sum of exponentials of each row of scores, is what the gradient needs; -infinity
    where a row sees no key. Only differentiation asks for it.

    With `unfused` the kernel is `attention_unfused`: two products with a softmax between them, as before
    FlashAttention (Dao et al., 2022). It computes all pairs, masked or not, and what the gradient needs is
    `weights[b, n, s, t]`, the softmax, in place of `lse`. The numbers are the same but for rounding. It is there to
    plan runs as they were; there is no such kernel for GPUs.

    Rows, batch and key heads may be split. Where a rank has a single key head, its query heads may be split over further
    ranks that have the same one. Keys may be split over one axis that splits the rows too: they go round then, from rank to
    rank, in a ring (Liu et al., "Ring Attention", 2023).

    With `block(i) blocks(c)` it is what each rank of such a ring computes in its turn `i`. Rows and keys lie in `c` blocks,
    and the rows of block `r` see the keys of block `r` alone. Among all keys, by which `causal`, `window`, bias and mask
    go, these are the ones of block `(r - i) mod c`. The compiler alone writes this; `weft.attention_merge` adds the turns up.

    `zigzag` says that rows and keys have been through `weft.zigzag`: block `r` is half of it as early in the sequence as
    the other half is late, so that every rank has as many pairs of rows and keys to compute in a turn.

    Example:
    ```mlir
    %out = weft.attention %q, %k, %v causal
    %scaled = weft.attention %q, %k, %v scale(0.125)
    %near = weft.attention %q, %k, %v causal window(4096)
    %padded = weft.attention %q, %k, %v bias(%positions) mask(%seen)
    %stored = weft.attention %q, %k, %v causal unfused
    ```

    **Constraints:**
    - `q`, `k` and `v` have four dimensions and one floating-point element type
    - `k` and `v` have one type, the batch and head size of `q`
    - the query heads are a multiple of the key heads
    - with `causal` there are at least as many keys as queries, so that every row sees one
    - `window` is positive and comes with `causal`
    - `bias` is float32 and `mask` has truth values; each has four dimensions, `[b, n, s, t]` or 1
    - `block` and `blocks` come together, not with `unfused`; `blocks` divides rows and keys, and `block` is below it
    - `zigzag` comes with `blocks` and `causal`, without window, bias and mask; there are as many rows as keys, and an even
      number of them in a block
  }];
  let arguments = !con((ins Weft_Tensor:$q, Weft_Tensor:$k, Weft_Tensor:$v, Optional<Weft_Tensor>:$bias,
                            Optional<Weft_Tensor>:$mask), attentionAttributes, blockAttributes);
  // `saved` is lse or the weights.
  let results = (outs Weft_Tensor:$out, Optional<Weft_Tensor>:$saved);
  let assemblyFormat = [{
    $q `,` $k `,` $v (`bias` `(` $bias^ `)`)? (`mask` `(` $mask^ `)`)? (`causal` $causal^)?
    (`window` `(` custom<Number>($window)^ `)`)? (`unfused` $unfused^)? (`scale` `(` custom<Number>($scale)^ `)`)?
    (`block` `(` custom<Number>($block)^ `)`)? (`blocks` `(` custom<Number>($blocks)^ `)`)? (`zigzag` $zigzag^)? attr-dict
    `` custom<AttentionTypes>(ref($bias), ref($mask), type($q), type($k), type($v), type($bias), type($mask), type($out),
                              type($saved))
  }];
  let extraClassDeclaration = attentionMethods # [{
    ::weft::ir::Precision getPrecision() {
      return ::weft::ir::Precision::parse(getUnfused() ? "narrow,narrow,narrow,wide->narrow"
                                                       : "narrow,narrow,narrow,wide->narrow,wide");
    }
  }];
}

// The precision of a gradient's operands.
class Weft_AttentionGradient<string opMnemonic, string width, list<Trait> traits = []>
    : Weft_PureOp<opMnemonic, traits> {
  let extraClassDeclaration = attentionMethods # [{
    ::weft::ir::Precision getPrecision() {
      return ::weft::ir::Precision::parse(getUnfused() ? "narrow,narrow,narrow,narrow,narrow,narrow,wide->}] # width # [{"
                                                       : "narrow,narrow,narrow,narrow,narrow,wide->}] # width # [{");
    }
  }];
}

def Weft_AttentionGradOp : Weft_AttentionGradient<"attention_grad", "narrow", [AttrSizedOperandSegments]> {
  let summary = "Gradient of attention";
  let description = [{
    Takes the gradient of `out`, the operands of the forward op and both its results; the attributes are as there. Where
    the rows of the queries are split, the gradients of keys and values are pending sums.

    Example: `%dq, %dk, %dv = weft.attention_grad %dout, %q, %k, %v, %out, %lse causal`

    **Constraints:**
    - `q`, `k`, `v`, `bias` and `mask` are as in `weft.attention`
    - `dout` and `out` have the type of `q`
    - `lse` is float32, `[b, n, s]`; with `unfused` it is `weights`, `[b, n, s, t]` of the element type of `q`
  }];
  let arguments = !con((ins Weft_Tensor:$dout, Weft_Tensor:$q, Weft_Tensor:$k, Weft_Tensor:$v, Weft_Tensor:$out,
                            Weft_Tensor:$saved, Optional<Weft_Tensor>:$bias, Optional<Weft_Tensor>:$mask),
                       attentionAttributes, blockAttributes);
  let results = (outs Weft_Tensor:$dq, Weft_Tensor:$dk, Weft_Tensor:$dv);
  let assemblyFormat = [{
    $dout `,` $q `,` $k `,` $v `,` $out `,` $saved (`bias` `(` $bias^ `)`)? (`mask` `(` $mask^ `)`)? (`causal` $causal^)?
    (`window` `(` custom<Number>($window)^ `)`)? (`unfused` $unfused^)? (`scale` `(` custom<Number>($scale)^ `)`)?
    (`block` `(` custom<Number>($block)^ `)`)? (`blocks` `(` custom<Number>($blocks)^ `)`)? (`zigzag` $zigzag^)?
    attr-dict `` custom<AttentionGradTypes>(ref($bias), ref($mask), type($dout), type($q), type($k), type($v), type($out),
                                            type($saved), type($bias), type($mask), type($dq), type($dk), type($dv))
  }];
}

def Weft_AttentionMergeOp : Weft_PureOp<"attention_merge"> {
  let summary = "Attention over the keys of two sets that have none in common";
  let description = [{
    From what `weft.attention` says of the rows over some keys, `out[b, s, n, d]` and `lse[b, n, s]`, and over some more, `more`
    and `more_lse`, what it says over both (Milakov and Gimelshein, "Online normalizer calculation for softmax", 2018):
    with `m = max(lse, more_lse)`, `a = exp(lse - m)` and `b = exp(more_lse - m)`, `(a out + b more) / (a + b)` and
    `m + log(a + b)`. A row that sees no key of either has zeros and -infinity.

    Example: `%both, %both_lse = weft.attention_merge %out, %lse, %more, %more_lse`

    **Constraints:**
    - `out` and both log sums are float32; `more` has a floating-point type and the shape of `out`
    - `out` is `[b, s, n, d]`, both log sums are `[b, n, s]`
  }];
  let arguments = (ins Weft_Tensor:$out, Weft_Tensor:$lse, Weft_Tensor:$more, Weft_Tensor:$more_lse);
  let results = (outs Weft_Tensor:$both, Weft_Tensor:$both_lse);
  let assemblyFormat = [{
    $out `,` $lse `,` $more `,` $more_lse attr-dict
    `` custom<AttentionMergeTypes>(type($out), type($lse), type($more), type($more_lse), type($both), type($both_lse))
  }];
  let extraClassDeclaration = [{
    ::llvm::SmallVector<int64_t> getInPlaceOperands() { return {0, 1}; }
    ::weft::ir::Precision getPrecision() { return ::weft::ir::Precision::parse("wide,wide,narrow,wide->wide,wide"); }
  }];
}

def Weft_AttentionBiasGradOp : Weft_AttentionGradient<"attention_bias_grad", "wide"> {
  let summary = "Gradient of the bias of attention";
  let description = [{
    Takes what `weft.attention_grad` takes. `dbias` is summed over the dimensions along which the bias is the same, in one
    order; it is a pending sum where such a dimension is split. It is an op of its own because few models train the bias:
    nobody pays for it where it is a constant.

    Example: `%dbias = weft.attention_bias_grad %dout, %q, %k, %v, %out, %lse bias(%bias) causal`

    **Constraints:**
    - the operands are as in `weft.attention_grad`, and `bias` is one of them
  }];
  let arguments = !con((ins Weft_Tensor:$dout, Weft_Tensor:$q, Weft_Tensor:$k, Weft_Tensor:$v, Weft_Tensor:$out,
                            Weft_Tensor:$saved, Weft_Tensor:$bias, Optional<Weft_Tensor>:$mask),
                       attentionAttributes);
  let results = (outs Weft_Tensor:$dbias);
  let assemblyFormat = [{
    $dout `,` $q `,` $k `,` $v `,` $out `,` $saved `bias` `(` $bias `)` (`mask` `(` $mask^ `)`)? (`causal` $causal^)?
    (`window` `(` custom<Number>($window)^ `)`)? (`unfused` $unfused^)? (`scale` `(` custom<Number>($scale)^ `)`)?
    attr-dict `` custom<AttentionBiasGradTypes>(ref($mask), type($dout), type($q), type($k), type($v), type($out),
                                                type($saved), type($bias), type($mask), type($dbias))
  }];
}

#endif
