// What one run of an op costs, in the units of the machine.
#ifndef WEFT_OPS_DIALECT_COST_H_
#define WEFT_OPS_DIALECT_COST_H_

#include <string>

#include "llvm/ADT/ArrayRef.h"
#include "mlir/IR/BuiltinTypes.h"

namespace weft::ir {

/// `batch` matrix products of [m, k] by [k, n]; none if m is 0.
struct Product {
  int64_t batch = 1, m = 0, n = 0, k = 0;
  std::string within = {}; // the kernel that they are a part of, whose shapes have rates of their own; "": none
};

struct Cost {
  double flops = 0;         // a multiply-add counts two
  double bytes = 0;         // read and written, each tensor once
  bool contraction = false; // runs at the rate of matrix products
  Product product;          // what the FLOPs are, if they are those of one contraction

  Cost &operator+=(const Cost &o) {
    flops += o.flops, bytes += o.bytes;
    return *this;
  }
};

/// One FLOP a result element, every tensor moved once.
Cost elementwiseCost(llvm::ArrayRef<mlir::RankedTensorType> operands, llvm::ArrayRef<mlir::RankedTensorType> results);

} // namespace weft::ir

#endif // WEFT_OPS_DIALECT_COST_H_
