// The `model` dialect in C++.
#ifndef WEFT_COMPILER_DIALECT_MODEL_MODEL_H_
#define WEFT_COMPILER_DIALECT_MODEL_MODEL_H_

#include "ops/dialect/weft.h"

#include "compiler/dialect/model/dialect.h.inc"
#define GET_OP_CLASSES
#include "compiler/dialect/model/model.h.inc"

#endif // WEFT_COMPILER_DIALECT_MODEL_MODEL_H_
