// libcudnn.so of the same emulation.
#include "tests/emulation/cuda/cudnn.h"

#include "tests/emulation/libraries/emulation.h"
#include "tests/emulation/libraries/export.h"

namespace weft::tests {
namespace {

const cuda::dnn::Cudnn& Table() {
  static auto* const library = new cuda::dnn::EmulatedCudnn(TheDriver());
  return library->library();
}

}  // namespace
}  // namespace weft::tests

#define WEFT_EXPORT_FIELD(field, symbol, ...) \
  WEFT_EXPORT(dnn_##field, symbol, (&weft::tests::Exported<&weft::tests::Table, &weft::cuda::dnn::Cudnn::field>::Call))
WEFT_CUDNN_FUNCTIONS(WEFT_EXPORT_FIELD)
