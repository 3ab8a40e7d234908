// What happens once a step: the norm of the gradients, the learning rate, the next parameters. The compiler
// builds these ops from the job, so their numbers are floats and not expressions.
#ifndef WEFT_OPS_OPTIMIZER
#define WEFT_OPS_OPTIMIZER

include "ops/dialect/base.td"

def Weft_SquareSumOp : Weft_PureOp<"square_sum"> {
  let summary = "Sum of squares of all elements";
  let description = [{
    A float32 scalar, accumulated in double precision. Of a tensor that is split it is a pending sum.

    Example: `%squares = weft.square_sum %gradient`

    **Constraints:** the operand is float32, bf16 or f16.
  }];
  let arguments = (ins Weft_Tensor:$input);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = "$input attr-dict `` custom<Types1>(type($input), type($result))";
  let extraClassDeclaration = [{
    ::weft::ir::Cost getCost(::llvm::ArrayRef<::mlir::RankedTensorType> operands,
                             ::llvm::ArrayRef<::mlir::RankedTensorType> results);
  }];
}

def Weft_ClipScaleOp : Weft_PureOp<"clip_scale"> {
  let summary = "The factor that averages gradients and bounds their norm";
  let description = [{
    From the sum of squares of all gradients, which are sums over `count` rows: `grad_norm` is
    `sqrt(square_sum) / count`, the norm of the averaged gradient, and `grad_scale`
    `min(1, clip_norm / (grad_norm + 1e-6)) / count`, by which every gradient is to be multiplied. With a
    `clip_norm` of 0 nothing is clipped: `grad_scale` is `1 / count`.

    Gradients that are `loss_scale` times too large are brought back: both results are divided by it.

    Example: `%scale, %norm = weft.clip_scale %square_sum, %count clip_norm(1.0)`,
    `%scale, %norm = weft.clip_scale %square_sum, %count loss_scale %s clip_norm(1.0)`

    **Constraints:**
    - the operands are float32 scalars
    - `clip_norm` is at least 0
  }];
  let arguments = (ins Weft_Tensor:$square_sum, Weft_Tensor:$count, Optional<Weft_Tensor>:$loss_scale,
                       F64Attr:$clip_norm);
  let results = (outs Weft_Tensor:$grad_scale, Weft_Tensor:$grad_norm);
  let assemblyFormat = [{
    $square_sum `,` $count (`loss_scale` $loss_scale^)? `clip_norm` `(` $clip_norm `)` attr-dict
    `` custom<ClipTypes>(ref($loss_scale), type($loss_scale), type($square_sum), type($count), type($grad_scale),
                         type($grad_norm))
  }];
}

def Weft_LossScaleOp : Weft_PureOp<"loss_scale"> {
  let summary = "Whether a step counts, and the loss scale of the next one";
  let description = [{
    Dynamic loss scaling (Micikevicius et al., "Mixed precision training", 2018, section 3.2): `scale` is the gradient of
    the loss that the backward began with, which lifts gradients into the range of float16. `square_sum`, the sum of
    squares of all gradients of all ranks, is finite if every gradient is.

    Where it is finite, the step counts: `step` is its number from 1, without the skipped ones, and after
    `growth_interval` such steps in a row (`good_steps`) `next_scale` is `growth_factor scale`, at most `max`.
    Where it is not, the step is skipped: `step` is 0, which tells updates to change nothing, `next_scale` is
    `backoff_factor scale`, at least `min`, and `next_skipped_steps` one more.

    Counts are float32: exact up to 2^24 steps.

    Example:
    ```mlir
    %step, %next, %next_good, %next_skipped = weft.loss_scale %square_sum, %scale, %good, %skipped
        growth_factor(2.0) backoff_factor(0.5) growth_interval(2000) min(1.0) max(16777216.0)
    ```

    **Constraints:**
    - the operands are float32 scalars
    - `growth_factor` is at least 1
    - `backoff_factor` is above 0 and below 1
    - `growth_interval` is at least 1
    - `min` is above 0, `max` at least `min`
  }];
  let arguments = (ins Weft_Tensor:$square_sum, Weft_Tensor:$scale, Weft_Tensor:$good_steps,
                       Weft_Tensor:$skipped_steps, F64Attr:$growth_factor, F64Attr:$backoff_factor,
                       I64Attr:$growth_interval, F64Attr:$min, F64Attr:$max);
  let results = (outs Weft_Tensor:$step, Weft_Tensor:$next_scale, Weft_Tensor:$next_good_steps,
                      Weft_Tensor:$next_skipped_steps);
  let assemblyFormat = [{
    $square_sum `,` $scale `,` $good_steps `,` $skipped_steps `growth_factor` `(` $growth_factor `)`
    `backoff_factor` `(` $backoff_factor `)` `growth_interval` `(` $growth_interval `)` `min` `(` $min `)`
    `max` `(` $max `)` attr-dict
    `` custom<Types4>(type($square_sum), type($scale), type($good_steps), type($skipped_steps), type($step),
                   type($next_scale), type($next_good_steps), type($next_skipped_steps))
  }];
  let extraClassDeclaration = [{
    ::llvm::SmallVector<int64_t> getInPlaceOperands() { return {-1, 1, 2, 3}; }
  }];
}

def Weft_LearningRateOp : Weft_PureOp<"learning_rate"> {
  let summary = "The learning rate of the step";
  let description = [{
    A float32 scalar, a function of the step s, which counts from 0. All but `count` begin with `lr (s + 1) / warmup` in
    the first `warmup` steps. Then, with x the share of the steps from `warmup` to `total` that are done, at most 1, and
    y(f) = `min_ratio + (1 - min_ratio) f`:

    - `constant`: `lr`
    - `warmup_cosine`: `lr y((1 + cos(pi x)) / 2)`
    - `warmup_linear`: `lr y(1 - x)`
    - `inverse_sqrt`: `lr sqrt(warmup / (s + 1))` (Vaswani et al., "Attention is all you need", 2017, equation 3)
    - `polynomial`: `lr y((1 - x)^power)`
    - `step`: `lr factor^k`, k the multiples of `every` up to s, or the `milestones` that are at most s
    - `warmup_stable_decay`: `lr`, and in the last `decay` steps before `total` a line to `lr min_ratio` (Hu et al.,
      "MiniCPM", 2024, section 4)
    - `cosine_restarts`: half cosines of `period` steps, then of `growth` times as many, and so on, each as that of
      `warmup_cosine` (Loshchilov and Hutter, "SGDR", 2017, equation 5)
    - `count`: `lr (s + 1)`, the number of the step for what else depends on it

    Example: `%lr = weft.learning_rate 6.0e-4 warmup_cosine warmup(700) total(20000) min_ratio(0.1)`

    **Constraints:**
    - `lr` is above 0
    - `schedule` is one of these
    - `warmup` is at least 0, with `inverse_sqrt` at least 1
    - where there is a `total`, it is above `warmup`
    - `min_ratio` is 0 to 1
    - `power` and `factor` are above 0; `growth` is at least 1
    - of `step` either `every` or `milestones` are given
    - of `cosine_restarts` `period` is at least 1, of `warmup_stable_decay` `decay` is 1 to `total - warmup`
  }];
  let arguments = (ins F64Attr:$lr, StrAttr:$schedule, DefaultValuedAttr<I64Attr, "0">:$warmup,
                       DefaultValuedAttr<I64Attr, "0">:$total, DefaultValuedAttr<F64Attr, "0.0">:$min_ratio,
                       OptionalAttr<F64Attr>:$power, OptionalAttr<F64Attr>:$factor, OptionalAttr<I64Attr>:$every,
                       OptionalAttr<DenseI64ArrayAttr>:$milestones, OptionalAttr<I64Attr>:$decay,
                       OptionalAttr<I64Attr>:$period, OptionalAttr<I64Attr>:$growth);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = [{
    $lr custom<Word>($schedule) (`warmup` `(` $warmup^ `)`)? (`total` `(` $total^ `)`)?
    (`min_ratio` `(` $min_ratio^ `)`)? (`power` `(` $power^ `)`)? (`factor` `(` $factor^ `)`)?
    (`every` `(` $every^ `)`)? (`milestones` $milestones^)? (`decay` `(` $decay^ `)`)?
    (`period` `(` $period^ `)`)? (`growth` `(` $growth^ `)`)? attr-dict `` custom<Types0>(type($result))
  }];
}

defvar updateDeclarations = [{
    ::mlir::Value getParameter() { return getP(); }
    ::mlir::Value getGradient() { return getG(); }
    ::mlir::OperandRange getState();
    static ::llvm::SmallVector<::llvm::StringRef> getStateNames();
    static ::llvm::SmallVector<::llvm::StringRef> getNumberNames();
    ::llvm::SmallVector<int64_t> getInPlaceOperands();
    ::weft::ir::Cost getCost(::llvm::ArrayRef<::mlir::RankedTensorType> operands,
                             ::llvm::ArrayRef<::mlir::RankedTensorType> results);
    void getKernelAttributes(::mlir::NamedAttrList &attributes);
  }];

// A rule of an optimizer: the next value of a parameter from its gradient, a `state` of the same shape, and `numbers`.
// Both are overwritten. `counts` are numbers of dimensions, those of MatrixView of ops.h. The number of the step, from 1,
// is that of the run unless `step` gives it; where that is 0, the results are the old values. Jobs call it what its op is
// called, unless ops_rules.cc has a row.
//
// Example: "lion", ["m"] and ["beta1"] make the op `weft.lion %p, %g, %m, %lr, %grad_scale beta1(0.9)`, whose results
// are `next` and `next_m`.
class Weft_UpdateOp<string opMnemonic, list<string> state, list<string> numbers, int flops, list<string> flags = [],
                    list<string> counts = [], list<Trait> traits = []>
    : Weft_PureOp<opMnemonic, !listconcat([Weft_UpdateOpInterface], traits)> {
  let arguments = !con((ins Weft_Tensor:$p, Weft_Tensor:$g), !dag(ins, !listsplat(Weft_Tensor, !size(state)), state),
                       (ins Weft_Tensor:$lr, Weft_Tensor:$grad_scale, Optional<Weft_Tensor>:$step),
                       !dag(ins, !listsplat(F64Attr, !size(numbers)), numbers),
                       !dag(ins, !listsplat(UnitAttr, !size(flags)), flags),
                       !dag(ins, !listsplat(I64Attr, !size(counts)), counts));
  let results = !con((outs Weft_Tensor:$next),
                     !dag(outs, !listsplat(Weft_Tensor, !size(state)), !foreach(name, state, "next_" # name)));
  let assemblyFormat = !interleave(!foreach(name, ["p", "g"] # state # ["lr", "grad_scale"], "$" # name), " `,` ")
      # " (`step` $step^)? "
      # !interleave(!foreach(name, numbers, "`" # name # "` `(` $" # name # " `)` "), "")
      # !interleave(!foreach(name, flags, "(`" # name # "` $" # name # "^)? "), "")
      # !interleave(!foreach(name, counts, "`" # name # "` `(` $" # name # " `)` "), "")
      # "attr-dict `` custom<UpdateTypes>(ref($step), type($step), "
      # !interleave(!foreach(name, ["p", "g"] # state # ["lr", "grad_scale", "next"]
                                   # !foreach(kept, state, "next_" # kept), "type($" # name # ")"), ", ") # ")";
  let extraClassDeclaration = updateDeclarations;
  defvar stateNames = "{" # !interleave(!foreach(name, state, "\"" # name # "\""), ", ") # "}";
  defvar numberNames = "{" # !interleave(!foreach(name, numbers, "\"" # name # "\""), ", ") # "}";
  defvar flagNames = "{" # !interleave(!foreach(name, flags, "\"" # name # "\""), ", ") # "}";
  let extraClassDefinition = [{
    ::mlir::OperandRange $cppClass::getState() { return getOperands().slice(2, }] # !size(state) # [{); }
    ::llvm::SmallVector<::llvm::StringRef> $cppClass::getStateNames() { return }] # stateNames # [{; }
    ::llvm::SmallVector<::llvm::StringRef> $cppClass::getNumberNames() { return }] # numberNames # [{; }
    ::llvm::SmallVector<int64_t> $cppClass::getInPlaceOperands() { return updatedOperands(*this); }
    ::weft::ir::Cost $cppClass::getCost(::llvm::ArrayRef<::mlir::RankedTensorType> operands,
                                        ::llvm::ArrayRef<::mlir::RankedTensorType> results) {
      return updateCost(}] # flops # [{, operands, results);
    }
    void $cppClass::getKernelAttributes(::mlir::NamedAttrList &attributes) {
      updateAttributes(*this, }] # flagNames # [{, attributes);
    }
    ::llvm::LogicalResult $cppClass::inferTypes(::llvm::SmallVectorImpl<::mlir::RankedTensorType> &results) {
      return inferUpdate(*this, results);
    }
    ::weft::ir::ShardingRule $cppClass::getShardingRule() { return updateRule(*this); }
  }];
}

def Weft_SgdOp : Weft_UpdateOp<"sgd", [], ["weight_decay"], 5> {
  let summary = "A step of gradient descent";
  let description = [{
    With `g' = grad_scale g + weight_decay p`: `p - lr g'`. Where `step` is given and 0: `p`.

    Example: `%next = weft.sgd %p, %g, %lr, %grad_scale weight_decay(0.0)`,
    `%next = weft.sgd %p, %g, %lr, %grad_scale step %step weight_decay(0.0)`

    **Constraints:**
    - `p` and `g` have one float32 type, or `g` is bf16 or f16
    - `lr`, `grad_scale` and `step` are float32 scalars
    - `weight_decay` is at least 0
  }];
}

def Weft_SgdMomentumOp : Weft_UpdateOp<"sgd_momentum", ["v"], ["momentum", "weight_decay"], 7> {
  let summary = "A step of gradient descent with momentum";
  let description = [{
    With `g' = grad_scale g + weight_decay p`: `v' = momentum v + g'` and `p - lr v'`. Where `step` is given and 0: `p`
    and `v`.

    Example: `%next, %next_v = weft.sgd_momentum %p, %g, %v, %lr, %grad_scale momentum(0.9) weight_decay(0.0)`

    **Constraints:**
    - `p`, `g` and `v` have one float32 type, or `g` is bf16 or f16
    - `lr`, `grad_scale` and `step` are float32 scalars
    - `momentum` is at least 0 and less than 1
    - `weight_decay` is at least 0
  }];
}

// FLOPs: scaling 1, decay 2, moments 3 and 4, corrections 2, root, sum, quotient, step 2.
def Weft_AdamOp : Weft_UpdateOp<"adam", ["m", "v"], ["beta1", "beta2", "eps", "weight_decay"], 17, ["decoupled"]> {
  let summary = "A step of Adam, or of AdamW";
  let description = [{
    Kingma and Ba, "Adam: a method for stochastic optimization", algorithm 1, with t the step from 1, that
    of the run or `step`; where `step` is 0, the results are `p`, `m` and `v`. `eps` is
    added to the corrected square root. Without `decoupled`, `weight_decay p` is added to the scaled gradient; with
    it, `lr weight_decay p` is subtracted from the parameter (Loshchilov and Hutter, "Decoupled weight decay
    regularization", algorithm 2).

    Example:
    ```mlir
    %next, %next_m, %next_v = weft.adam %p, %g, %m, %v, %lr, %grad_scale
        beta1(0.9) beta2(0.95) eps(1.0e-8) weight_decay(0.1) decoupled
    ```

    **Constraints:**
    - `p`, `g`, `m` and `v` have one float32 type, or `g` is bf16 or f16
    - `lr`, `grad_scale` and `step` are float32 scalars
    - `beta1` and `beta2` are at least 0 and less than 1
    - `eps` is above 0
    - `weight_decay` is at least 0
  }];
}

// A rule without a kernel of its own: once ZeRO has shared out what it keeps, the ops that it is made of take its place.
class Weft_ComposedUpdateOp<string opMnemonic, list<string> state, list<string> numbers, int flops,
                            list<string> counts = []>
    : Weft_UpdateOp<opMnemonic, state, numbers, flops, [], counts,
                    [DeclareOpInterfaceMethods<Weft_DecomposableOpInterface>]>;

def Weft_LionOp : Weft_ComposedUpdateOp<"lion", ["m"], ["beta1", "beta2", "weight_decay"], 12> {
  let summary = "A step of Lion";
  let description = [{
    Chen et al., "Symbolic discovery of optimization algorithms", 2023, algorithm 2: with g' = `grad_scale g`,
    `p - lr (sign(beta1 m + (1 - beta1) g') + weight_decay p)`, and then `m' = beta2 m + (1 - beta2) g'`. Where `step` is
    given and 0: `p` and `m`.

    Example: `%next, %next_m = weft.lion %p, %g, %m, %lr, %grad_scale beta1(0.9) beta2(0.99) weight_decay(0.1)`

    **Constraints:**
    - `p`, `g` and `m` have one float32 type, or `g` is bf16 or f16
    - `lr`, `grad_scale` and `step` are float32 scalars
    - `beta1` and `beta2` are at least 0 and less than 1
    - `weight_decay` is at least 0
  }];
}

def Weft_LambOp
    : Weft_ComposedUpdateOp<"lamb", ["m", "v"], ["beta1", "beta2", "eps", "weight_decay"], 24, ["batch"]> {
  let summary = "A step of LAMB";
  let description = [{
    You et al., "Large batch optimization for deep learning: training BERT in 76 minutes", 2020, algorithm 2, with the
    identity for phi: r is Adam's direction, `m' / (1 - beta1^t) / (sqrt(v' / (1 - beta2^t)) + eps)`, u is
    `r + weight_decay p`, and the next value `p - lr |p| / |u| u`, or `p - lr u` where one of the norms is 0. They are
    those of the whole tensor, or with `batch` 1 of each index of dimension 0. Where `step` is given and 0: `p`, `m` and
    `v`.

    Example:
    ```mlir
    %next, %next_m, %next_v = weft.lamb %p, %g, %m, %v, %lr, %grad_scale
        beta1(0.9) beta2(0.999) eps(1.0e-6) weight_decay(0.01) batch(0)
    ```

    **Constraints:**
    - `p`, `g`, `m` and `v` have one float32 type, or `g` is bf16 or f16
    - `lr`, `grad_scale` and `step` are float32 scalars
    - `beta1` and `beta2` are at least 0 and less than 1
    - `eps` is above 0
    - `weight_decay` is at least 0
    - `batch` is 0 or a number of dimensions of `p`
  }];
}

def Weft_LarsOp : Weft_ComposedUpdateOp<"lars", ["v"], ["momentum", "trust", "weight_decay"], 11, ["batch"]> {
  let summary = "A step of LARS";
  let description = [{
    You et al., "Large batch training of convolutional networks", 2017, algorithm 1: with g' = `grad_scale g` and
    `local = trust |p| / (|g'| + weight_decay |p|)`, or 1 where one of the norms is 0,
    `v' = momentum v + lr local (g' + weight_decay p)` and `p - v'`. Norms are those of the whole tensor, or with `batch`
    1 of each index of dimension 0. Where `step` is given and 0: `p` and `v`.

    Example:
    ```mlir
    %next, %next_v = weft.lars %p, %g, %v, %lr, %grad_scale momentum(0.9) trust(0.001) weight_decay(1.0e-4) batch(0)
    ```

    **Constraints:**
    - `p`, `g` and `v` have one float32 type, or `g` is bf16 or f16
    - `lr`, `grad_scale` and `step` are float32 scalars
    - `momentum` is at least 0 and less than 1
    - `trust` is above 0
    - `weight_decay` is at least 0
    - `batch` is 0 or a number of dimensions of `p`
  }];
}

defvar adafactorNumbers = ["decay", "eps1", "eps2", "clip", "weight_decay"];

defvar adafactorConstraints = [{
    **Constraints:**
    - `p` and `g` have one float32 type, or `g` is bf16 or f16
    - the state is float32
    - `lr`, `grad_scale` and `step` are float32 scalars
    - `decay`, `eps1`, `eps2` and `clip` are above 0
    - `weight_decay` is at least 0
    - `batch` is 0 or a number of dimensions of `p`
}];

def Weft_AdafactorOp
    : Weft_ComposedUpdateOp<"adafactor", ["r", "c"], adafactorNumbers, 20, ["batch", "rows"]> {
  let summary = "A step of Adafactor, of matrices";
  let description = [{
    Shazeer and Stern, "Adafactor: adaptive learning rates with sublinear memory cost", 2018, algorithm 4: with
    g' = `grad_scale g`, t the step from 1 and `b = t^-decay`, the means of rows and of columns
    `r' = r + b (mean(g'^2) + eps1 - r)` and `c'` likewise; `u = g' / sqrt(r' c' / mean(r'))`, divided by
    `max(1, RMS(u) / clip)`; and the next value `p - lr weight_decay p - max(eps2, RMS(p)) min(lr, 1 / sqrt(t)) u`.

    A row is an index of the `rows` dimensions behind the first `batch`, a column one of the others; `r` has an extent of 1
    in place of the latter, `c` of the former. Each index of the first `batch` is a matrix of its own. Where `step` is
    given and 0: `p`, `r` and `c`.

    Example:
    ```mlir
    %next, %next_r, %next_c = weft.adafactor %p, %g, %r, %c, %lr, %grad_scale
        decay(0.8) eps1(1.0e-30) eps2(1.0e-3) clip(1.0) weight_decay(0.0) batch(0) rows(1)
    ```

    }] # adafactorConstraints # [{
    - `rows` is at least 1 and leaves a dimension of columns
  }];
  let extraClassDeclaration = updateDeclarations # [{
    static ::llvm::SmallVector<::llvm::SmallVector<int64_t>> getStateShapes(::llvm::ArrayRef<int64_t> shape,
                                                                            int64_t batch, int64_t rows);
  }];
}

def Weft_AdafactorVectorOp
    : Weft_ComposedUpdateOp<"adafactor_vector", ["v"], adafactorNumbers, 16, ["batch"]> {
  let summary = "A step of Adafactor, of vectors";
  let description = [{
    As `weft.adafactor`, with a second moment of every element, `v' = v + b (g'^2 + eps1 - v)` and `u = g' / sqrt(v')`
    (algorithm 5 there). Where `step` is given and 0: `p` and `v`.

    Example:
    ```mlir
    %next, %next_v = weft.adafactor_vector %p, %g, %v, %lr, %grad_scale
        decay(0.8) eps1(1.0e-30) eps2(1.0e-3) clip(1.0) weight_decay(0.0) batch(0)
    ```

    }] # adafactorConstraints;
}

def Weft_MuonOp : Weft_ComposedUpdateOp<"muon", ["m"], ["momentum", "weight_decay"], 12, ["batch", "rows"]> {
  let summary = "A step of Muon, of matrices";
  let description = [{
    Jordan et al., "Muon: an optimizer for hidden layers in neural networks", 2024: with g' = `grad_scale g`,
    `m' = momentum m + (1 - momentum) g'` and Nesterov's `u = momentum m' + (1 - momentum) g'`, X is `u / (|u| + 1e-7)`
    after five steps of `X <- a X + (b A + c A A) X` with `A = X X^T`, a = 3.4445, b = -4.7750 and c = 2.0315, which bring its
    singular values near 1 (of a matrix with more rows than columns the transpose is meant). The next value is
    `p - lr (weight_decay p + 0.2 sqrt(max(rows, columns)) X)`: the length is that of AdamW's updates (Liu et al., "Muon is
    scalable for LLM training", 2025, section 2.2).

    `batch` and `rows` are as in `weft.adafactor`. Where `step` is given and 0: `p` and `m`.

    Example:
    `%next, %next_m = weft.muon %p, %g, %m, %lr, %grad_scale momentum(0.95) weight_decay(0.1) batch(0) rows(1)`

    **Constraints:**
    - `p`, `g` and `m` have one float32 type, or `g` is bf16 or f16
    - `lr`, `grad_scale` and `step` are float32 scalars
    - `momentum` is at least 0 and less than 1
    - `weight_decay` is at least 0
    - `batch` is 0 or a number of dimensions of `p`
    - `rows` is at least 1 and leaves a dimension of columns
  }];
}

#endif
