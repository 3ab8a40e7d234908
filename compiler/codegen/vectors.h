// What a generated kernel computes at several places at once.
#ifndef WEFT_COMPILER_CODEGEN_VECTORS_H_
#define WEFT_COMPILER_CODEGEN_VECTORS_H_

#include "compiler/codegen/passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace weft::compiler {

/// Makes the operations of a kernel on vectors of `lanes` places, or on what a row shares.
///
/// bfloat16 is loaded and stored as bits.
class Vectors {
public:
  Vectors(mlir::OpBuilder &builder, cell::KernelOp kernel, const Loops &loops, int64_t lanes)
      : b(builder), loc(kernel.getLoc()), kernel_(kernel), loops_(loops), work_(kernel, loops), lanes_(lanes) {}

  virtual ~Vectors() = default;

protected:
  /// The bits of float32 numbers rounded to bfloat16, to nearest, ties to even; what is no number stays none.
  virtual mlir::Value narrowed(mlir::Value number, mlir::Type integers, mlir::Type halves) = 0;
  /// What a value of the kernel is at the places that are computed now.
  virtual mlir::Value valueOf(mlir::Value value) = 0;
  /// Where an operand's row begins.
  virtual mlir::Value rowAddressOf(unsigned operand) = 0;

  /// Adds to values_ what all places of a row share and is known by now, at the insertion point.
  void emitRowValues();
  /// Each of `before` with the terms of these places, of those where `active` holds; null: of all.
  llvm::SmallVector<mlir::Value> reducedWith(llvm::ArrayRef<cell::ReduceOp> reduces, mlir::ValueRange before,
                                             mlir::Value active);

  mlir::VectorType vectorOf(mlir::Type element) const { return mlir::VectorType::get(lanes_, element); }
  /// The op on these, each a vector or not.
  mlir::Value computed(mlir::Operation *op, llvm::ArrayRef<mlir::Value> operands, bool vector);
  /// `a` with one more term, vectors or not. A maximum passes over what is no number.
  mlir::Value combined(cell::ReduceOp reduce, mlir::Value a, mlir::Value term);
  static float neutralOf(cell::ReduceOp reduce);

  mlir::Value splat(mlir::TypedAttr number);
  mlir::Value i32(int64_t number) {
    return b.create<mlir::arith::ConstantOp>(loc, b.getI32IntegerAttr(int32_t(number)));
  }
  mlir::Value i64(int64_t number) { return b.create<mlir::arith::ConstantOp>(loc, b.getI64IntegerAttr(number)); }

  /// The type of an input's or an output's numbers, and as what they are loaded.
  mlir::Type elementOf(unsigned operand);
  mlir::Type storedType(mlir::Type element) { return element.isBF16() ? b.getI16Type() : element; }
  mlir::Value whole(mlir::Type integers, int64_t number);
  mlir::Value at(mlir::Value base, unsigned operand, mlir::Value offset);

  mlir::OpBuilder &b;
  mlir::Location loc;
  cell::KernelOp kernel_;
  const Loops &loops_;
  const Passes work_;
  const int64_t lanes_;
  llvm::DenseMap<mlir::Value, mlir::Value> values_; // of the row

private:
  mlir::Value widened(mlir::Value bits, mlir::Type integers, mlir::Type floats);
};

} // namespace weft::compiler

#endif // WEFT_COMPILER_CODEGEN_VECTORS_H_
