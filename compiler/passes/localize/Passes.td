#ifndef WEFT_COMPILER_PASSES_LOCALIZE
#define WEFT_COMPILER_PASSES_LOCALIZE

include "mlir/Pass/PassBase.td"

def Localize : Pass<"weft-localize", "::mlir::ModuleOp"> {
  let summary = "Turns a graph into one program of local work a stage";
  let description = [{
    Every value becomes a buffer, every op a kernel on local tiles, every box a collective, a local kernel or a
    transfer, every shift a collective. What moves no data costs nothing: a reshape, and an accumulate over one micro-batch, are
    aliases. An op that updates a parameter writes it in place when nothing reads the old value afterwards; other
    assignments copy. `weft.graph` is replaced by `task.program`s. State of the optimizer lies in the tier `offload`, but
    for single numbers; with `parameters` parameters and their gradients too, with `host` parameters, and gradients that no
    later micro-batch adds to. They are copied to the device and back by
    what `schedule` adds, which leaves on the device what it has to.
  }];
  let dependentDialects = ["::weft::ir::WeftDialect", "::weft::task::TaskDialect"];
  let options = [
    Option<"offload", "offload", "std::string", "\"\"", "the tier of the optimizer's state; empty: the device">,
    Option<"parameters", "parameters", "bool", "false", "parameters and gradients lie there too">,
    Option<"host", "host", "bool", "false", "the host updates parameters, which lie there too">,
  ];
}

#endif
