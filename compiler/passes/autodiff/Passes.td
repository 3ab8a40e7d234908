#ifndef WEFT_COMPILER_PASSES_AUTODIFF
#define WEFT_COMPILER_PASSES_AUTODIFF

include "mlir/Pass/PassBase.td"

def Autodiff : Pass<"weft-autodiff", "::weft::ir::GraphOp"> {
  let summary = "Builds the backward ops of what the graph minimizes";
  let description = [{
    Consumes `weft.minimize`. Backward ops stand behind the forward ones, carry the `scope` of the op they
    belong to and `phase = "backward"`. The gradients of a parameter that is used several times are summed
    once; each is accumulated over the micro-batches and handed to a `weft.update`. The mean loss becomes the
    metric `loss`; of several it is their weighted sum, and each is a metric of its own. A graph without `weft.minimize` is
    left as it is.
  }];
  let dependentDialects = ["::weft::ir::WeftDialect"];
  let options = [
    Option<"batch", "batch", "int64_t", "1", "samples of a step">,
    Option<"microBatch", "micro-batch", "int64_t", "1", "samples of a micro-batch; the last has what is left">,
  ];
}

def AutodiffFreeze : Pass<"weft-autodiff-freeze", "::weft::ir::GraphOp"> {
  let summary = "Takes parameters out of training";
  let description = [{
    Runs before differentiation: behind a parameter whose whole name one of the regular expressions fits stands a
    `weft.stop_gradient`, which all its readers read. So it has no gradient, no update and no state. An expression that fits no
    parameter is an error.

    Example: `--weft-autodiff-freeze="frozen=h[.][0-5][.].*"`
  }];
  let dependentDialects = ["::weft::ir::WeftDialect"];
  let options = [
    ListOption<"frozen", "frozen", "std::string", "regular expressions (POSIX, extended)">,
  ];
}

def AutodiffOptimizer : Pass<"weft-autodiff-optimizer", "::weft::ir::GraphOp"> {
  let summary = "Replaces updates by the ops of an optimizer";
  let description = [{
    Consumes every `weft.update`: declares the optimizer's state beside the parameter, with its pins; builds the
    global norm of all gradients, the clipping scale, the learning rate and one update op a parameter.
    Metrics: `grad_norm` and `lr`.

    A group says numbers of the parameters whose whole names its regular expression fits: `weight_decay` in the place of
    the rule's, `lr_scale`, by which the learning rate is multiplied, and `adamw`, with which matrices are updated as
    vectors are. Of several groups the last that says a number counts. A group that fits no parameter that is updated is an
    error.

    Example: `--weft-autodiff-optimizer="rule=adamw lr=0.1 numbers=eps=1e-8 groups=weight_decay=0:.*(bias|ln).*"`
  }];
  let dependentDialects = ["::weft::ir::WeftDialect"];
  let options = [
    Option<"rule", "rule", "std::string", /*default=*/"\"sgd\"", "what a job calls it, as sgd, adam or adamw">,
    ListOption<"numbers", "numbers", "std::string", "of the rule, as beta1=0.9; 0 where they are not given">,
    Option<"lr", "lr", "double", "0.01", "learning rate">,
    Option<"clipNorm", "clip-norm", "double", "0", "bound of the global gradient norm, 0: none">,
    Option<"schedule", "schedule", "std::string", "\"constant\"", "of weft.learning_rate, as warmup_cosine">,
    ListOption<"scheduleNumbers", "schedule-numbers", "std::string", "of the schedule, as warmup=10">,
    ListOption<"groups", "groups", "std::string", "each `number=value ...:regular expression`; adamw=1 is a number">,
  ];
}

def AutodiffDecompose : Pass<"weft-autodiff-decompose", "::weft::ir::GraphOp"> {
  let summary = "Replaces composite ops by ops that have a kernel";
  let description = [{
    Runs after differentiation, so that composite ops are differentiated as a whole; equal ops that the
    forward and the backward then both have are merged by CSE. With `updates`, of rules of the optimizer alone, which passes
    in between know as one op: `shard` begins with it. What is left of them and counts steps, as `weft.adam`, is given
    the run's number where it has none.
  }];
  let dependentDialects = ["::weft::ir::WeftDialect"];
  let options = [
    Option<"updates", "updates", "bool", "false", "rules of the optimizer, and nothing else">,
  ];
}

def AutodiffPrune : Pass<"weft-autodiff-prune", "::weft::ir::GraphOp"> {
  let summary = "Removes what nobody reads";
  let description = [{
    Of a chain of ops whose last result nobody reads, all go; CSE takes the last one only. What is left is made for
    a sum over the micro-batches or for the step, and so tells in which section each op runs.
  }];
}

#endif
