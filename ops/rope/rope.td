// Rotary position embeddings.
#ifndef WEFT_OPS_ROPE
#define WEFT_OPS_ROPE

include "ops/dialect/base.td"

def Weft_RopeOp : Weft_DifferentiableOp<"rope"> {
  let summary = "Rotates pairs of a head by angles that grow with the position";
  let description = [{
    Rotary position embedding (Su et al., "RoFormer", 2021, section 3.2.2) of queries or keys `x[b, s, n, d]`. The pair `i`
    of a head, 0 to d/2 - 1, is turned by the angle `p theta^(-2i / d)`, where `p` is the position. A pair is
    `(x[i], x[i + d/2])`, as in Llama of Hugging Face; with `interleaved` it is `(x[2i], x[2i + 1])`, as in the paper.

    Positions are 0 to s - 1 in every row of the batch, or `positions[b, s]`, where they begin anew within a row. They are
    those of the whole sequence, also where it is split.

    `factor(f)` divides every angle by f (Chen et al., "Extending context window of large language models via positional
    interpolation", 2023). With `low(l) high(h) original(s)` it does so for the pairs that turn fewer than l times over s
    positions, not for those that turn more than h times, and between the two partly, as Llama 3.1 does
    (`rope_type` "llama3" of Hugging Face).

    `inverse` turns the other way, which is the gradient.

    Examples:
    ```mlir
    %y = weft.rope %x theta(10000.0)
    %z = weft.rope %x at(%positions) theta(500000.0) factor(8.0) low(1.0) high(4.0) original(8192)
    ```

    **Constraints:**
    - `x` has four dimensions and a floating-point element type
    - the head size is even and at most 512
    - positions are i32 and have the first two dimensions of `x`
    - `theta` and `factor` are above 0
    - `low`, `high` and `original` come together, with a `factor`; 0 < `low` < `high` and `original` is above 0
  }];
  let arguments = (ins Weft_Tensor:$x, Optional<Weft_Tensor>:$positions, Weft_Number:$theta,
                       OptionalAttr<Weft_Number>:$factor, OptionalAttr<Weft_Number>:$low,
                       OptionalAttr<Weft_Number>:$high, OptionalAttr<Weft_Number>:$original, UnitAttr:$interleaved,
                       UnitAttr:$inverse);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = [{
    $x (`at` `(` $positions^ `)`)? `theta` `(` custom<Number>($theta) `)` (`factor` `(` custom<Number>($factor)^ `)`)?
    (`low` `(` custom<Number>($low)^ `)`)? (`high` `(` custom<Number>($high)^ `)`)?
    (`original` `(` custom<Number>($original)^ `)`)? (`interleaved` $interleaved^)? (`inverse` $inverse^)?
    attr-dict `` custom<RopeTypes>(ref($positions), type($x), type($positions), type($result))
  }];
  let extraClassDeclaration = Weft_overwritesOperand # [{
    ::weft::ir::Precision getPrecision() { return ::weft::ir::Precision::parse("same->same"); }
    void getKernelAttributes(::mlir::NamedAttrList &attributes);
  }];
}

#endif
