// libcublasLt.so of the same emulation.
#include "tests/emulation/cuda/cublaslt.h"

#include "tests/emulation/libraries/emulation.h"
#include "tests/emulation/libraries/export.h"

namespace weft::tests {
namespace {

const cuda::lt::CublasLt& Table() {
  static auto* const library = new cuda::lt::EmulatedCublasLt(TheDriver());
  return library->library();
}

}  // namespace
}  // namespace weft::tests

#define WEFT_EXPORT_FIELD(field, symbol, ...) \
  WEFT_EXPORT(lt_##field, symbol, (&weft::tests::Exported<&weft::tests::Table, &weft::cuda::lt::CublasLt::field>::Call))
WEFT_CUBLASLT_FUNCTIONS(WEFT_EXPORT_FIELD)
