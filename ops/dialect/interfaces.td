// What the compiler asks of an op. Implemented once an op, in its family.
#ifndef WEFT_OPS_DIALECT_INTERFACES
#define WEFT_OPS_DIALECT_INTERFACES

include "mlir/IR/OpBase.td"

def Weft_OpInterface : OpInterface<"WeftOpInterface"> {
  let cppNamespace = "::weft::ir";
  let description = "Shape, sharding rule, cost and kernel of an op on global tensors.";
  let methods = [
    InterfaceMethod<[{
        Appends the types of the results (without SBP), given that every operand is ranked and every
        attribute is a constant. Emits an error and fails if the operands do not fit.
      }], "::llvm::LogicalResult", "inferTypes",
      (ins "::llvm::SmallVectorImpl<::mlir::RankedTensorType> &":$results)>,
    InterfaceMethod<"The op as named dimensions; see sharding_rule.h. Operands are ranked.",
      "::weft::ir::ShardingRule", "getShardingRule", (ins)>,
    InterfaceMethod<"FLOPs and bytes of one run on local tiles of these types.",
      "::weft::ir::Cost", "getCost",
      (ins "::llvm::ArrayRef<::mlir::RankedTensorType>":$operands, "::llvm::ArrayRef<::mlir::RankedTensorType>":$results),
      "", [{ return elementwiseCost(operands, results); }]>,
    InterfaceMethod<[{
        How wide operands and results are where a job computes in bfloat16 or float16; see precision.h. By
        default all are float32.
      }], "::weft::ir::Precision", "getPrecision", (ins), "", [{ return {}; }]>,
    InterfaceMethod<"The name the kernel is registered under.", "::std::string", "getKernelName", (ins),
      "", [{ return $_op->getName().stripDialect().str(); }]>,
    InterfaceMethod<[{
        The attributes that the kernel is given: by default every inherent attribute. Integers, floats,
        strings and lists of integers reach the plan; others are an error.
      }], "void", "getKernelAttributes", (ins "::mlir::NamedAttrList &":$attributes),
      "", [{ attributes = inherentAttributes($_op); }]>,
    InterfaceMethod<[{
        For each result the operand whose bytes the kernel may overwrite with it, or -1. The kernel then
        gets one address as input and as output.
      }], "::llvm::SmallVector<int64_t>", "getInPlaceOperands", (ins),
      "", [{ return ::llvm::SmallVector<int64_t>($_op->getNumResults(), -1); }]>,
    InterfaceMethod<"Whether the same operands give other results in another micro-batch.", "bool", "variesByMicroBatch",
      (ins), "", [{ return false; }]>,
    InterfaceMethod<[{
        Makes the result this large where attributes say how large it is, as `shape` does unless an op says otherwise. Where
        operands say it, nothing happens: they have changed before.
      }], "void", "setResultShape", (ins "::llvm::ArrayRef<int64_t>":$shape), "",
      [{ ::weft::ir::setShapeAttribute($_op, shape); }]>,
    InterfaceMethod<[{
        Whether the op has no operands and makes the same numbers in every run: neither the step, the micro-batch nor
        the seed matters to it. Its result may then be made once and kept.
      }], "bool", "isConstant", (ins), "", [{ return false; }]>,
  ];
  let verify = [{ return verifyOp($_op); }];
}

def Weft_DifferentiableOpInterface : OpInterface<"DifferentiableOpInterface"> {
  let cppNamespace = "::weft::ir";
  let description = "An op that knows its gradient.";
  let methods = [
    InterfaceMethod<[{
        Builds the backward ops at `builder`, which stands behind the forward ops. `resultGradients` has one
        value a result, null where nothing flows back. Fills `operandGradients`, one an operand, null where
        there is none (integer operands). It may replace the op by one that also yields what the backward
        needs; the op is then erased by this function.
      }], "::llvm::LogicalResult", "buildGradient",
      (ins "::mlir::RewriterBase &":$builder, "::llvm::ArrayRef<::mlir::Value>":$resultGradients,
           "::llvm::SmallVectorImpl<::mlir::Value> &":$operandGradients)>,
  ];
}

def Weft_DecomposableOpInterface : OpInterface<"DecomposableOpInterface"> {
  let cppNamespace = "::weft::ir";
  let description = "An op without a kernel, replaced by ops that have one after differentiation.";
  let methods = [
    InterfaceMethod<"Replaces the op.", "::llvm::LogicalResult", "decompose", (ins "::mlir::RewriterBase &":$rewriter)>,
  ];
}

def Weft_UpdateOpInterface : OpInterface<"UpdateOpInterface"> {
  let cppNamespace = "::weft::ir";
  let description = [{
    An op that makes the next value of a parameter: a rule of an optimizer. Passes know rules by this interface alone:
    what ZeRO shares out, which gradients may be narrow, what is skipped where gradients overflow. Operands: parameter,
    gradient, state, learning rate, scale of the gradient and, if given, the number of the step. Results: the next
    values of the parameter and of the state.
  }];
  let methods = [
    InterfaceMethod<"What is updated.", "::mlir::Value", "getParameter", (ins)>,
    InterfaceMethod<"By what.", "::mlir::Value", "getGradient", (ins)>,
    InterfaceMethod<"What the rule keeps from step to step.", "::mlir::OperandRange", "getState", (ins)>,
    InterfaceMethod<"The number of the step; 0 says that all stays as it is. Empty: the step of the run.",
      "::mlir::MutableOperandRange", "getStepMutable", (ins)>,
    StaticInterfaceMethod<"The names of the operands of getState().", "::llvm::SmallVector<::llvm::StringRef>",
      "getStateNames", (ins)>,
    StaticInterfaceMethod<"The names of the attributes that are numbers.", "::llvm::SmallVector<::llvm::StringRef>",
      "getNumberNames", (ins)>,
    StaticInterfaceMethod<[{
        The shapes of getState() for a parameter of this shape: the same, but that some extents may be 1. `batch` and
        `rows` say which of its dimensions stand for the rows of matrices; see MatrixView of ops/optimizer/ops.h.
      }], "::llvm::SmallVector<::llvm::SmallVector<int64_t>>", "getStateShapes",
      (ins "::llvm::ArrayRef<int64_t>":$shape, "int64_t":$batch, "int64_t":$rows), "", [{
        ::llvm::SmallVector<int64_t> same(shape);
        return ::llvm::SmallVector<::llvm::SmallVector<int64_t>>(ConcreteOp::getStateNames().size(), same);
      }]>,
  ];
}

#endif
