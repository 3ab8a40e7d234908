#ifndef WEFT_COMPILER_PASSES_FUSE
#define WEFT_COMPILER_PASSES_FUSE

include "mlir/Pass/PassBase.td"

def FuseEpilogues : Pass<"weft-fuse-epilogues", "::weft::task::ProgramOp"> {
  let summary = "Gives matrix products what is done with their results";
  let description = [{
    An `einsum` takes over, as its attribute `epilogue`:

    - `add`: in the backward, the addition of a tensor like the result, as where several products give a gradient;
    - `bias`: the addition of a vector over the result's last dimensions, all of one operand;
    - `gelu`: the tanh form of GELU, behind the bias or alone; `keep`: what it is applied to is read by others too, as by
      its gradient, and is a second result;
    - `sum_lhs`, `sum_rhs`: the sums of an operand over what the product sums over, as the gradient of a bias. What a
      generated kernel makes is summed by it.

    With an `accumulate` of its result it becomes an `accumulate_einsum`, which adds to the sum over the micro-batches; not
    with an epilogue, and not on the host, where what follows a product is generated.

    An `embedding_grad` is like a product here: with `epilogue = "add"` it adds its rows to a table that is there, as to the
    gradient that a tied head makes, and as `accumulate_embedding_grad` to the sum over the micro-batches. Where micro-batches
    overlap, it does not add to a sum that a product has added to.

    What is between the two is read by nothing else, is no pending sum (a bias would be added once a rank) unless what is
    added to it is one too, and all are of one element type and of one unit of the schedule. What is computed again in the backward is left as it is, so that
    it comes out the same.
  }];
  let dependentDialects = ["::weft::task::TaskDialect"];
  let options = [Option<"overlap", "overlap", "int64_t", "1", "micro-batches that are under way together">];
  let statistics = [Statistic<"numFused", "fused", "kernels that products took over">];
}

def FusePacked : Pass<"weft-fuse-packed", "::weft::task::ProgramOp"> {
  let summary = "Lets attention read queries, keys and values where one product wrote them";
  let description = [{
    Where the queries, keys and values of an `attention` are the three parts of one tensor, as a product with one weight
    writes them, the kernel reads them there and gets the attribute `packed`; `attention_grad` writes the three gradients as
    parts of one tensor. The kernels that cut the parts out, that put their gradients between zeros and that add these are
    gone.

    The tensor is `[batch, seq, 3, heads, size]` or, with the last dimensions as one, a view of that. The three
    parts are read by attention alone, with all rows on each rank, and their gradients are added and read by nothing else.
    No bit changes but the sign of a zero: what is added to a gradient is 0.
  }];
  let dependentDialects = ["::weft::task::TaskDialect"];
  let statistics = [Statistic<"numPacked", "packed", "kernels that read or write parts of one tensor">];
}

def FuseCopies : Pass<"weft-fuse-copies", "::mlir::ModuleOp"> {
  let summary = "Keeps narrow copies of parameters from step to step";
  let description = [{
    A parameter that forward and backward read in a narrower type is cast once a step. In a training that cast goes behind the
    update, which it joins: the update then writes the copy too. What no step updates is not cast at all. The copy gets an
    initial value, `init "cast"`, and is kept like state.

    Where that would take memory, the cast stays at the step's beginning: where a copy is only gathered before the
    micro-batches (`zero.stage` 1 and 2), and with one micro-batch where at the peak gradients lie in the bytes of copies.
    It stays too for a parameter in a tier, and for all where it stays for most.

    A function updates nothing: its parameter itself is in memory in the narrower type, where nothing reads another, and
    `stored_type` says what it is in files.

    Parameters of a function that is evaluated between the steps of a training are left as the training has them.
  }];
  let dependentDialects = ["::weft::task::TaskDialect"];
  let options = [Option<"updates", "updates", "bool", "true", "whether updates of parameters may write copies">];
  let statistics = [Statistic<"numKept", "kept", "casts that no step begins with">];
}

def FuseClusters : Pass<"weft-fuse-clusters", "::mlir::ModuleOp"> {
  let summary = "Generates kernels, of operators that belong together";
  let description = [{
    Every kernel whose computation its family describes (`cells.cc`) becomes a generated one: a
    `cell.kernel`, which all kernels that do the same share. Then kernels join the ones that read their results: over one
    domain, place by place alike, along rows of one length, in one unit of the schedule. What nothing else
    reads is never in memory.

    What reads parameters that are gathered for a layer stays in that layer.

    The location of a generated kernel says which operators it is made of, and why what makes its inputs did not join
    (`compiler/analysis/location.h`).

    Numbers that pass between two kernels are rounded as they were in memory, so joining changes no bit of any
    result.
  }];
  let dependentDialects = ["::weft::task::TaskDialect", "::weft::cell::CellDialect"];
  let options = [
    Option<"joins", "joins", "int64_t", "-1", "kernels that may join others, in the program's order; -1: all">,
  ];
  let statistics = [
    Statistic<"numGenerated", "generated", "kernels that are generated">,
    Statistic<"numJoined", "joined", "kernels that joined others">,
    Statistic<"numDistinct", "distinct", "generated kernels that differ">,
  ];
}

def FuseSquares : Pass<"weft-fuse-squares", "::weft::task::ProgramOp"> {
  let summary = "Sums the squares of many tensors in one kernel";
  let description = [{
    An `add_n` of nothing but results of `square_sum`, which nothing else reads, becomes one `square_sum` of all that those
    read; an `add_n` whose first term is such a sum likewise. Each tensor's sum is rounded and added in the same order, so no
    bit changes. Gradients that a collective of the step reduces stay apart: their squares are summed while others are
    reduced.
  }];
  let dependentDialects = ["::weft::task::TaskDialect"];
  let statistics = [Statistic<"numFused", "fused", "square_sums that became part of another">];
}

def FuseBatches : Pass<"weft-fuse-batches", "::mlir::ModuleOp"> {
  let summary = "Runs the updates of many tensors as one kernel";
  let description = [{
    Generated kernels that run once a step, compute the same place by place, share the numbers that are no tensors (a
    learning rate) and write nothing but what has its bytes for the whole step, as parameters, the optimizer's state and
    narrow copies of parameters, become one `batch` kernel: an optimizer updates all parameters of a group in one launch. What a collective of the same section reads stays apart.
  }];
  let dependentDialects = ["::weft::task::TaskDialect", "::weft::cell::CellDialect"];
  let statistics = [Statistic<"numBatched", "batched", "kernels that became part of one for several tensors">];
}

#endif
