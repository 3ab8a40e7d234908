// A cuBLASLt for tests, on the emulated driver: does what the descriptors say,
// element by element, and refuses what the library would: a leading dimension
// that is too short, an address that is not aligned as was promised, a workspace
// that is too small, a matrix that leaves its allocation.
#ifndef WEFT_TESTS_EMULATION_CUDA_CUBLASLT_H_
#define WEFT_TESTS_EMULATION_CUDA_CUBLASLT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/device/cuda/cublaslt.h"
#include "tests/emulation/cuda/driver.h"

namespace weft::cuda::lt {

struct EmulatedCublasLtOptions {
  size_t version = 130100;
  // Of each algorithm that the heuristic offers, in its order: how long a product takes, what workspace
  // it wants, and whether it fails when it is run.
  struct Choice {
    double milliseconds = 1;
    size_t workspace_bytes = 0;
    bool fails = false;
  };
  std::vector<Choice> choices = {{1.5, 256}, {1.0, 1 << 16}, {2.0, 0}};
  // Pretends to support nothing.
  bool supports = true;
};

// Outlives its table's users; the driver outlives it.
class EmulatedCublasLt {
 public:
  explicit EmulatedCublasLt(EmulatedDriver& driver, const EmulatedCublasLtOptions& options = {});
  ~EmulatedCublasLt();
  const CublasLt& library() const { return table_; }

  int64_t products() const;    // enqueued
  int64_t heuristics() const;  // asked for
  // Of the products so far: the index of the algorithm.
  std::vector<int> used() const;
  // Descriptors and handles that are still there.
  int64_t alive() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
  CublasLt table_;
};

}  // namespace weft::cuda::lt

#endif  // WEFT_TESTS_EMULATION_CUDA_CUBLASLT_H_
