// The `model` dialect in C++.
#ifndef WEFT_COMPILER_DIALECT_MODEL_MODEL_H_
#define WEFT_COMPILER_DIALECT_MODEL_MODEL_H_

#include "ops/dialect/weft.h"

#include "compiler/dialect/model/dialect.h.inc"
#define GET_OP_CLASSES
#include "compiler/dialect/model/model.h.inc"

namespace weft::model {

/// The attribute of a module that has texts of files, by real path: imports take these and not what is on disk. An
/// editor has texts that are not saved. Absent: none.
inline constexpr llvm::StringLiteral kTextsName("model.texts");

} // namespace weft::model

#endif // WEFT_COMPILER_DIALECT_MODEL_MODEL_H_
