#include "ops/dialect/precision.h"

#include <algorithm>

#include "llvm/Support/ErrorHandling.h"

namespace weft::ir {
namespace {

Width widthOf(llvm::StringRef word) {
  if (word == "wide") {
    return Width::Wide;
  }
  if (word == "narrow") {
    return Width::Narrow;
  }
  if (word == "same") {
    return Width::Same;
  }
  if (word == "any") {
    return Width::Any;
  }
  llvm_unreachable("expected wide, narrow, same or any");
}

llvm::SmallVector<Width> listOf(llvm::StringRef text) {
  llvm::SmallVector<llvm::StringRef> words;
  text.split(words, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  llvm::SmallVector<Width> list;
  std::transform(words.begin(), words.end(), std::back_inserter(list), widthOf);
  return list;
}

} // namespace

Precision Precision::parse(llvm::StringRef text) {
  auto [operands, results] = text.split("->");
  return {listOf(operands), listOf(results), /*sum=*/false};
}

} // namespace weft::ir
