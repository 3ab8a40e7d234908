// Dropout.
#ifndef WEFT_OPS_DROPOUT
#define WEFT_OPS_DROPOUT

include "ops/dialect/base.td"

// Not Pure: while the seed is unset, two equal ops draw different masks later, so that they must not be merged.
def Weft_DropoutOp : Weft_Op<"dropout", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
                                         DeclareOpInterfaceMethods<Weft_DifferentiableOpInterface>]> {
  let summary = "Sets elements to zero at random";
  let description = [{
    Every element becomes 0 with probability `rate`, or is multiplied by 1 / (1 - rate). What is dropped is a
    function of the run's seed, the op's seed, the step and the element's place in the whole batch, so it does not
    depend on the layout. The gradient is the same dropout, same seed, of the gradient. A rate of 0
    folds to the operand. The compiler sets `seed` before differentiation; 0 is unset.

    Example: `%y = weft.dropout %x rate(0.1)`

    **Constraints:**
    - the element type is floating point
    - the rate is at least 0 and less than 1
    - the seed is set when it is differentiated
  }];
  let arguments = (ins Weft_Tensor:$input, Weft_Number:$rate, DefaultValuedAttr<I64Attr, "0">:$seed);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = [{
    $input `rate` `(` custom<Number>($rate) `)` (`seed` `(` $seed^ `)`)? attr-dict
    `` custom<Types1>(type($input), type($result))
  }];
  let hasFolder = 1;
  let extraClassDeclaration = !strconcat(Weft_overwritesOperand, Weft_anyPrecision, [{
    bool variesByMicroBatch() { return true; }
  }]);
}

#endif
