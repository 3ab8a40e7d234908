// A cuDNN for tests, on the emulated driver: takes descriptors as the library
// documents them (each attribute with its type and count, references to what is
// finalized, a graph whose tensors are each made once), computes what a graph
// says, element by element, and complains of memory that is not as was promised.
#ifndef WEFT_TESTS_EMULATION_CUDA_CUDNN_H_
#define WEFT_TESTS_EMULATION_CUDA_CUDNN_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/device/cuda/cudnn.h"
#include "tests/emulation/cuda/driver.h"

namespace weft::cuda::dnn {

struct EmulatedCudnnOptions {
  size_t version = 91900;
  // Of each engine that the heuristics have, in their order: its workspace, and whether its plan, or its first run, is
  // refused.
  struct Engine {
    size_t workspace_bytes = 256;
    bool plan_fails = false, run_fails = false;
  };
  std::vector<Engine> engines = {{256}, {1 << 14}};
  // The status of cudnnCreate().
  Status create = kOk;
};

// Outlives its table's users; the driver outlives it.
class EmulatedCudnn {
 public:
  explicit EmulatedCudnn(EmulatedDriver& driver, const EmulatedCudnnOptions& options = {});
  ~EmulatedCudnn();
  const Cudnn& library() const { return table_; }

  int64_t runs() const;    // enqueued
  int64_t plans() const;   // finalized
  int64_t engine() const;  // of the last run; -1: none
  int64_t alive() const;   // descriptors and handles that are still there
  // Why calls were refused, one line each.
  std::vector<std::string> refusals() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
  Cudnn table_;
};

}  // namespace weft::cuda::dnn

#endif  // WEFT_TESTS_EMULATION_CUDA_CUDNN_H_
