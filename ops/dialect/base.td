// The `weft` dialect: attributes, types and the op base class. Families include
// this file; nothing here knows a family.
#ifndef WEFT_OPS_DIALECT_BASE
#define WEFT_OPS_DIALECT_BASE

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/TensorEncoding.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "ops/dialect/interfaces.td"

def Weft_Dialect : Dialect {
  let name = "weft";
  let cppNamespace = "::weft::ir";
  let summary = "The global graph: whole tensors, and how they lie over a mesh";
  let description = [{
    Ops of this dialect work on global tensors. How a tensor is laid over the
    ranks of a mesh is part of its type: `tensor<8x4xf32, #weft.sbp<S(0), B>>`
    is split along dimension 0 over the first mesh axis and the same for every
    coordinate of the second. In a model file, before `elaborate`, types are
    unknown and elided; every value then has type `!weft.any`.
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let extraClassDeclaration = [{
    /// Adds the ops of one family; called by the family's dialect extension.
    template <typename... Ops> void addFamily() { addOperations<Ops...>(); }
    void registerStructure();
  }];
}

class Weft_Attr<string name, string attrMnemonic, list<Trait> traits = []> : AttrDef<Weft_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

def Weft_SbpAttr : Weft_Attr<"Sbp", "sbp", [VerifiableTensorEncoding]> {
  let summary = "How a tensor lies over a mesh, one state an axis";
  let description = [{
    The encoding of a ranked tensor type. Per mesh axis, outermost first:
    `S(d)`: dimension `d` is cut in equal parts; `B`: every coordinate holds the
    same; `P`: the tensor is the sum over the coordinates; `P(max)`: their
    maximum. Several axes may cut one dimension: the outer axis cuts first.

    Example: `tensor<8x4xf32, #weft.sbp<S(0), P>>`

    **Constraints:** a dimension that is split is one of the tensor's.
  }];
  let parameters = (ins ArrayRefParameter<"::weft::ir::SbpState">:$states);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    ::llvm::LogicalResult verifyEncoding(::llvm::ArrayRef<int64_t> shape, ::mlir::Type elementType,
                                         ::llvm::function_ref<::mlir::InFlightDiagnostic()> error) const;
  }];
}

def Weft_PlacementAttr : Weft_Attr<"Placement", "placement"> {
  let summary = "A mesh of ranks";
  let description = [{
    Example: `#weft.placement<"cpu", [data = 2, tensor = 2], [0, 1, 2, 3]>`: the
    axes with their sizes, outermost first, and the ranks in row-major order. A
    mesh given as raw ranks names its axes `_0`, `_1`, ...

    **Constraints:** as many ranks as the product of the sizes; no axis twice, no rank twice.
  }];
  let parameters = (ins "::mlir::StringAttr":$device, ArrayRefParameter<"::mlir::StringAttr">:$axes,
                        ArrayRefParameter<"int64_t">:$sizes, ArrayRefParameter<"int64_t">:$ranks);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Weft_ExprAttr : Weft_Attr<"Expr", "expr"> {
  let summary = "An expression over config names, before `elaborate`";
  let description = [{
    Integers, floats, names, `+`, `*`, `floordiv`, `mod`, parentheses, and the SBP states
    `S(n)`, `B`, `P`. Written bare in the assembly of ops: `[hidden, 4 * hidden]`.
  }];
  let parameters = (ins StringRefParameter<>:$text);
  let assemblyFormat = "`<` $text `>`";
}

def Weft_InitAttr : Weft_Attr<"Init", "init"> {
  let summary = "How a parameter starts";
  let description = [{
    `zeros`, `ones`, `constant v`, `normal std` (mean 0), `uniform low high`. In the assembly of
    `weft.parameter`: `init(normal 0.02)`.
  }];
  let parameters = (ins StringRefParameter<>:$kind, OptionalArrayRefParameter<"::mlir::Attribute">:$arguments);
  let assemblyFormat = "`<` $kind (`,` `[` $arguments^ `]`)? `>`";
}

def Weft_AnyType : TypeDef<Weft_Dialect, "Any"> {
  let mnemonic = "any";
  let summary = "A tensor whose shape and element type are not inferred yet";
}

def Weft_Tensor : AnyTypeOf<[AnyRankedTensor, Weft_AnyType], "ranked tensor">;
// A number that may still be an expression: IntegerAttr (i64), FloatAttr (f64) or ExprAttr.
def Weft_Number : AnyAttrOf<[I64Attr, F64Attr, Weft_ExprAttr], "number or expression">;
def Weft_Numbers : TypedArrayAttrBase<Weft_Number, "numbers or expressions">;
// An extent, a dimension: an i64 IntegerAttr, or an ExprAttr.
def Weft_Integer : AnyAttrOf<[I64Attr, Weft_ExprAttr], "integer or expression">;
def Weft_Integers : TypedArrayAttrBase<Weft_Integer, "integers or expressions">;

// Every op of the vocabulary. The verifier infers the result types again and
// compares, and checks the SBP of operands and results against the rule.
class Weft_Op<string opMnemonic, list<Trait> traits = []>
    : Op<Weft_Dialect, opMnemonic,
         !listconcat(traits, [DeclareOpInterfaceMethods<Weft_OpInterface, ["inferTypes", "getShardingRule"]>])>;

// An op whose kernel is pure and which can be differentiated.
class Weft_PureOp<string opMnemonic, list<Trait> traits = []> : Weft_Op<opMnemonic, !listconcat([Pure], traits)>;
class Weft_DifferentiableOp<string opMnemonic, list<Trait> traits = []>
    : Weft_PureOp<opMnemonic, !listconcat([DeclareOpInterfaceMethods<Weft_DifferentiableOpInterface>], traits)>;

// The extraClassDeclaration of an op that is as good in any floating-point type as its operands are.
defvar Weft_anyPrecision = [{
  ::weft::ir::Precision getPrecision() { return ::weft::ir::Precision::parse("same->same"); }
}];

// The extraClassDeclaration of a pointwise op, whose result may take the place of operand 0.
defvar Weft_overwritesOperand = [{
  ::llvm::SmallVector<int64_t> getInPlaceOperands() { return ::weft::ir::overwriteOperand(*this); }
}];

#endif
