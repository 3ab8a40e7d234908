// Random tensors: initial values and noise.
#ifndef WEFT_OPS_RANDOM
#define WEFT_OPS_RANDOM

include "ops/dialect/base.td"

// Not Pure: while the seed is unset, two equal ops draw different numbers later, so that they must not be merged.
class Weft_DrawOp<string opMnemonic> : Weft_Op<opMnemonic, [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
                                                           DeclareOpInterfaceMethods<Weft_DifferentiableOpInterface>]> {
  let results = (outs Weft_Tensor:$result);
}

def Weft_RandomNormalOp : Weft_DrawOp<"random_normal"> {
  let summary = "Numbers from a normal distribution";
  let description = [{
    A float32 tensor of independent normal numbers. An element is a function of the run's seed, the op's seed, the
    step and its place in the whole batch, so it does not depend on the layout; where dimension 0 is the batch, nor on
    how that is cut into micro-batches. The compiler gives every op without a seed (or with 0) one of its own.

    Example: `%noise = weft.random_normal [16, 8] mean(0.0) std(1.0)`

    **Constraints:**
    - extents are positive
    - the standard deviation is at least 0
  }];
  let arguments = (ins Weft_Integers:$shape, Weft_Number:$mean, Weft_Number:$std,
                       DefaultValuedAttr<I64Attr, "0">:$seed);
  let assemblyFormat = [{
    custom<Numbers>($shape) `mean` `(` custom<Number>($mean) `)` `std` `(` custom<Number>($std) `)`
    (`seed` `(` $seed^ `)`)? attr-dict `` custom<Types0>(type($result))
  }];
}

def Weft_RandomUniformOp : Weft_DrawOp<"random_uniform"> {
  let summary = "Numbers from a uniform distribution";
  let description = [{
    A float32 tensor of independent numbers, `low` included, `high` not. What an element is a function of,
    `weft.random_normal` says.

    Example: `%x = weft.random_uniform [16, 8] low(-1.0) high(1.0) seed(7)`

    **Constraints:**
    - extents are positive
    - `low` is at most `high`
  }];
  let arguments = (ins Weft_Integers:$shape, Weft_Number:$low, Weft_Number:$high,
                       DefaultValuedAttr<I64Attr, "0">:$seed);
  let assemblyFormat = [{
    custom<Numbers>($shape) `low` `(` custom<Number>($low) `)` `high` `(` custom<Number>($high) `)`
    (`seed` `(` $seed^ `)`)? attr-dict `` custom<Types0>(type($result))
  }];
}

#endif
