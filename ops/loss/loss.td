// Cross entropy, whole and in the pieces that can be split along the vocabulary.
#ifndef WEFT_OPS_LOSS
#define WEFT_OPS_LOSS

include "ops/dialect/base.td"

defvar lossCost = [{
  ::weft::ir::Cost getCost(::llvm::ArrayRef<::mlir::RankedTensorType> operands,
                           ::llvm::ArrayRef<::mlir::RankedTensorType> results);
}];

defvar readsAnyLogits = [{
  ::weft::ir::Precision getPrecision() { return ::weft::ir::Precision::parse("any,wide->wide"); }
}];

def Weft_CrossEntropyOp
    : Weft_DifferentiableOp<"cross_entropy", [DeclareOpInterfaceMethods<Weft_DecomposableOpInterface>]> {
  let summary = "Cross entropy of logits and labels, summed over the rows";
  let description = [{
    From `logits[..., v]` and `labels[...]` computes `loss`, the sum over the rows of
    `log(sum(exp(logits))) - logits[label]`, and `count`, the number of rows. Rows whose label is `ignore` (-100
    unless given) count for neither. `weft.minimize %loss per %count` makes it a mean.

    With `weights[...]` each row's loss is multiplied by its weight, and `count` is the sum of the weights: the mean is
    sum(w l) / sum(w). Nothing flows back to the weights.

    With `label_smoothing(e)` the label has the probability 1 - e, and e is spread evenly over all v (Szegedy et al.,
    "Rethinking the inception architecture", 2016, section 7): `logits[label]` becomes
    `(1 - e) logits[label] + e mean(logits)`, as in PyTorch's `cross_entropy`.

    It has no kernel: after differentiation it becomes `reduce max`, `sum_exp`, `pick`, with label smoothing
    `reduce mean`, and `cross_entropy_loss`, each of which can be split along `v`, so that logits are never gathered.

    Example: `%loss, %count = weft.cross_entropy %logits, %labels ignore(-1)`,
    `%loss, %count = weft.cross_entropy %logits, %labels weights(%mask) label_smoothing(0.1)`

    **Constraints:**
    - logits are floating-point numbers, labels i32
    - logits have the shape of the labels and one dimension more
    - weights are float32 and have the shape of the labels
    - label smoothing is from 0 to 1
  }];
  let arguments = (ins Weft_Tensor:$logits, Weft_Tensor:$labels, Optional<Weft_Tensor>:$weights,
                       DefaultValuedAttr<I64Attr, "-100">:$ignore_index, OptionalAttr<Weft_Number>:$label_smoothing);
  let results = (outs Weft_Tensor:$loss, Weft_Tensor:$count);
  let assemblyFormat = [{
    $logits `,` $labels (`ignore` `(` $ignore_index^ `)`)? (`weights` `(` $weights^ `)`)?
    (`label_smoothing` `(` custom<Number>($label_smoothing)^ `)`)? attr-dict
    `` custom<CrossEntropyTypes>(ref($weights), type($logits), type($labels), type($weights), type($loss), type($count))
  }];
}

def Weft_SumExpOp : Weft_PureOp<"sum_exp"> {
  let summary = "Sum of exponentials over the last dimension, taken below a maximum";
  let description = [{
    From `logits[..., v]` and `max[...]` computes the sum over `v` of `exp(logits - max)`, in float32.

    Example: `%sum = weft.sum_exp %logits, %max`

    **Constraints:**
    - logits are floating-point numbers, `max` is float32
    - logits have the shape of `max` and one dimension more
  }];
  let arguments = (ins Weft_Tensor:$logits, Weft_Tensor:$max);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = "$logits `,` $max attr-dict `` custom<Types2>(type($logits), type($max), type($result))";
  let extraClassDeclaration = !strconcat(lossCost, readsAnyLogits);
}

def Weft_PickOp : Weft_PureOp<"pick"> {
  let summary = "The logit at the label of every row";
  let description = [{
    From `logits[..., v]` and `labels[...]` yields the logit at the label, as float32: 0 where the label is `ignore_index`.
    With `v` split a rank yields 0 for labels that are not its own, and the result is a pending sum. Another
    label outside 0 to v - 1 ends the run.

    Example: `%picked = weft.pick %logits, %labels`

    **Constraints:**
    - logits are floating-point numbers, labels i32
    - logits have the shape of the labels and one dimension more
  }];
  let arguments = (ins Weft_Tensor:$logits, Weft_Tensor:$labels, DefaultValuedAttr<I64Attr, "-100">:$ignore_index);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = [{
    $logits `,` $labels (`ignore` `(` $ignore_index^ `)`)? attr-dict
    `` custom<Types2>(type($logits), type($labels), type($result))
  }];
  let extraClassDeclaration = !strconcat(lossCost, readsAnyLogits);
}

def Weft_CrossEntropyLossOp : Weft_PureOp<"cross_entropy_loss"> {
  let summary = "Cross entropy from the statistics of every row";
  let description = [{
    `loss` is the sum over the rows of `log(sum) + max - picked`, `count` the number of rows; rows whose label is
    `ignore_index` count for neither. With `weights` each row counts as often as its weight says.

    Example: `%loss, %count = weft.cross_entropy_loss %max, %sum, %picked, %labels weights(%w)`

    **Constraints:**
    - `max`, `sum`, `picked` and `weights` are float32, labels i32
    - all have one shape
  }];
  let arguments = (ins Weft_Tensor:$max, Weft_Tensor:$sum, Weft_Tensor:$picked, Weft_Tensor:$labels,
                       Optional<Weft_Tensor>:$weights, DefaultValuedAttr<I64Attr, "-100">:$ignore_index);
  let results = (outs Weft_Tensor:$loss, Weft_Tensor:$count);
  let assemblyFormat = [{
    $max `,` $sum `,` $picked `,` $labels (`ignore` `(` $ignore_index^ `)`)? (`weights` `(` $weights^ `)`)? attr-dict
    `` custom<LossTypes>(ref($weights), type($max), type($sum), type($picked), type($labels), type($weights),
                              type($loss), type($count))
  }];
  let extraClassDeclaration = lossCost;
}

def Weft_CrossEntropyGradOp : Weft_PureOp<"cross_entropy_grad"> {
  let summary = "Gradient of the logits of a cross entropy";
  let description = [{
    `dloss (exp(logits - max) / sum - [v = label])`, and 0 in rows whose label is `ignore_index`, computed in
    float32. With `weights` each row is multiplied by its weight; with `label_smoothing(e)` the label's 1 is 1 - e, and
    e / v is taken off everywhere. May overwrite the logits, whose type it has.

    Example: `%dlogits = weft.cross_entropy_grad %dloss, %logits, %max, %sum, %labels weights(%w) label_smoothing(0.1)`

    **Constraints:**
    - `dloss` is a float32 scalar; logits are floating-point numbers, `max`, `sum` and `weights` float32, labels i32
    - `max`, `sum`, `weights` and the labels have one shape, logits one dimension more
    - label smoothing is from 0 to 1
  }];
  let arguments = (ins Weft_Tensor:$dloss, Weft_Tensor:$logits, Weft_Tensor:$max, Weft_Tensor:$sum,
                       Weft_Tensor:$labels, Optional<Weft_Tensor>:$weights,
                       DefaultValuedAttr<I64Attr, "-100">:$ignore_index, OptionalAttr<Weft_Number>:$label_smoothing);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = [{
    $dloss `,` $logits `,` $max `,` $sum `,` $labels (`ignore` `(` $ignore_index^ `)`)? (`weights` `(` $weights^ `)`)?
    (`label_smoothing` `(` custom<Number>($label_smoothing)^ `)`)? attr-dict
    `` custom<LossGradTypes>(ref($weights), type($dloss), type($logits), type($max), type($sum), type($labels),
                              type($weights), type($result))
  }];
  let extraClassDeclaration = lossCost # [{
    ::llvm::SmallVector<int64_t> getInPlaceOperands() { return {1}; }
    ::weft::ir::Precision getPrecision() { return ::weft::ir::Precision::parse("wide,same,wide->same"); }
    void getKernelAttributes(::mlir::NamedAttrList &attributes);
  }];
}

#endif
