// Softmax attention.
#ifndef WEFT_OPS_ATTENTION
#define WEFT_OPS_ATTENTION

include "ops/dialect/base.td"

// What both ops override of the op interface.
defvar attentionMethods = [{
  ::weft::ir::Cost getCost(::llvm::ArrayRef<::mlir::RankedTensorType> operands,
                           ::llvm::ArrayRef<::mlir::RankedTensorType> results);
  void getKernelAttributes(::mlir::NamedAttrList &attributes);
  ::std::string getKernelName();
}];

def Weft_AttentionOp : Weft_DifferentiableOp<"attention"> {
  let summary = "Softmax attention of query heads over keys and values";
  let description = [{
    From `q[b, s, n, d]`, `k[b, t, m, d]` and `v[b, t, m, d]` computes `out[b, s, n, d]`, per head
    `softmax(scale q k^T) v`. There are `n / m` query heads to a key head (grouped-query attention): query head
    `i` reads key head `i floordiv (n floordiv m)`. With `causal`, query row `i` sees the keys 0 to `i + t - s`.
    Without `scale(number)` it is 1 / sqrt(d).

    `lse[b, n, s]`, the logarithm of the sum of exponentials of each row of scores, is what the gradient needs;
    only differentiation asks for it.

    With `unfused` the kernel is `attention_unfused`: two products with a softmax between them, as before
    FlashAttention (Dao et al., 2022). It computes all pairs, masked or not, and what the gradient needs is
    `weights[b, n, s, t]`, the softmax, in place of `lse`. The numbers are the same but for rounding. It is there to
    plan runs as they were; there is no such kernel for GPUs.

    Rows, batch and key heads may be split, keys not. With one key head the query heads may be split.

    Example:
    ```mlir
    %out = weft.attention %q, %k, %v causal
    %scaled = weft.attention %q, %k, %v scale(0.125)
    %stored = weft.attention %q, %k, %v causal unfused
    ```

    **Constraints:**
    - operands have four dimensions and one floating-point element type
    - `k` and `v` have one type, the batch and head size of `q`
    - the query heads are a multiple of the key heads
    - with `causal` there are at least as many keys as queries, so that every row sees one
  }];
  let arguments = (ins Weft_Tensor:$q, Weft_Tensor:$k, Weft_Tensor:$v, UnitAttr:$causal, UnitAttr:$unfused,
                       OptionalAttr<Weft_Number>:$scale);
  // `saved` is lse or the weights.
  let results = (outs Weft_Tensor:$out, Optional<Weft_Tensor>:$saved);
  let assemblyFormat = [{
    $q `,` $k `,` $v (`causal` $causal^)? (`unfused` $unfused^)? (`scale` `(` custom<Number>($scale)^ `)`)? attr-dict
    `` custom<AttentionTypes>(type($q), type($k), type($v), type($out), type($saved))
  }];
  let extraClassDeclaration = attentionMethods # [{
    ::weft::ir::Precision getPrecision() {
      return ::weft::ir::Precision::parse(getUnfused() ? "narrow->narrow" : "narrow->narrow,wide");
    }
  }];
}

def Weft_AttentionGradOp : Weft_PureOp<"attention_grad"> {
  let summary = "Gradient of attention";
  let description = [{
    Takes the gradient of `out`, the operands of the forward op and both its results; `unfused` is as there. Where the rows of the
    queries are split, the gradients of keys and values are pending sums.

    Example: `%dq, %dk, %dv = weft.attention_grad %dout, %q, %k, %v, %out, %lse causal`

    **Constraints:**
    - `q`, `k` and `v` are as in `weft.attention`
    - `dout` and `out` have the type of `q`
    - `lse` is float32, `[b, n, s]`; with `unfused` it is `weights`, `[b, n, s, t]` of the element type of `q`
  }];
  let arguments = (ins Weft_Tensor:$dout, Weft_Tensor:$q, Weft_Tensor:$k, Weft_Tensor:$v, Weft_Tensor:$out,
                       Weft_Tensor:$saved, UnitAttr:$causal, UnitAttr:$unfused,
                       OptionalAttr<Weft_Number>:$scale);
  let results = (outs Weft_Tensor:$dq, Weft_Tensor:$dk, Weft_Tensor:$dv);
  let assemblyFormat = [{
    $dout `,` $q `,` $k `,` $v `,` $out `,` $saved (`causal` $causal^)? (`unfused` $unfused^)?
    (`scale` `(` custom<Number>($scale)^ `)`)?
    attr-dict `` custom<Types6>(type($dout), type($q), type($k), type($v), type($out), type($saved),
                             type($dq), type($dk), type($dv))
  }];
  let extraClassDeclaration = attentionMethods # [{
    ::weft::ir::Precision getPrecision() {
      return ::weft::ir::Precision::parse(getUnfused() ? "narrow->narrow"
                                                       : "narrow,narrow,narrow,narrow,narrow,wide->narrow");
    }
  }];
}

#endif
