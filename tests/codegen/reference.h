// Generated kernels, computed place by place in double precision: what tests hold the code to.
#ifndef WEFT_TESTS_CODEGEN_REFERENCE_H_
#define WEFT_TESTS_CODEGEN_REFERENCE_H_

#include <vector>

#include "ops/cell/cell.h"

namespace weft::compiler {

/// A number, and how far from it code may be that rounds every step to float32 and results to what they are stored as:
/// the forward error of each operation (Higham, "Accuracy and stability of numerical algorithms", 2002, section 3.1),
/// added up.
struct Bounded {
  double number = 0, error = 0;
};

using Numbers = std::vector<double>;

/// What is said of a `cell.random` at each run.
struct Draw {
  uint64_t key = 0, event = 0;
  int64_t first = 0;  // element
};

/// The outputs for these inputs, of `sizes` numbers each.
std::vector<std::vector<Bounded>> referenceOf(cell::KernelOp kernel, const std::vector<Numbers>& inputs,
                                              const std::vector<size_t>& sizes, const std::vector<Draw>& draws = {});

}  // namespace weft::compiler

#endif  // WEFT_TESTS_CODEGEN_REFERENCE_H_
