// What a graph of cuDNN's operations computes.
#ifndef WEFT_TESTS_EMULATION_CUDA_CUDNN_RUN_H_
#define WEFT_TESTS_EMULATION_CUDA_CUDNN_RUN_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "runtime/device/cuda/cudnn.h"

namespace weft::cuda::dnn {

struct EmulatedTensor {
  int64_t id = 0;
  int type = kFloat32;
  std::array<int64_t, 4> dims = {}, strides = {};
  int64_t alignment = 1;
  bool is_virtual = false, by_value = false;

  int64_t elements() const { return dims[0] * dims[1] * dims[2] * dims[3]; }
  size_t bytes() const;  // from the first element to the last
};

// One operation: of a pointwise one x is `inputs[0]`, b or t follow as its mode has them.
struct EmulatedOperation {
  Kind kind = kPointwiseOperation;
  int mode = 0;       // of a pointwise operation or a reduction
  int64_t axis = -1;  // of kIndex
  int precision = kFloat32;
  std::vector<EmulatedTensor> inputs;
  EmulatedTensor output;

  // "" or what does not fit.
  std::string Check() const;
};

// Operations, each after what it reads.
using EmulatedGraph = std::vector<EmulatedOperation>;

// Runs the graph on the tensors' memory, by id; virtual ones have none.
void RunGraph(const EmulatedGraph& graph, const std::map<int64_t, void*>& memory);

}  // namespace weft::cuda::dnn

#endif  // WEFT_TESTS_EMULATION_CUDA_CUDNN_RUN_H_
