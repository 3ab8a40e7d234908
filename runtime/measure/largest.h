// Which tensors fill a rank's memory at its peak, as a person asks: those that
// the layers of a model make alike are counted together.
#ifndef WEFT_RUNTIME_MEASURE_LARGEST_H_
#define WEFT_RUNTIME_MEASURE_LARGEST_H_

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/measure/memory.h"

namespace weft::plan {

// Tensors of one local type and category that one line of the model makes, in
// one layer or in several: their names are the same but for numbers.
struct AlikeTensors {
  // "h.3.mlp.c_fc/add.23" if it is one; "*" where numbers differ: "h.*.mlp.c_fc/add.*".
  std::string name;
  std::string type;  // of each: "f32[8,64] of [16,64]"
  Category category = Category::kActivations;
  int64_t bytes = 0;  // of all
  int tensors = 0;
  int fewest = 0, most = 0;  // micro-batches that a tensor is kept for
  std::string origin;        // "gpt2.mlir:31:8 in h.*.mlp"; empty if unknown
  // "7 tensors, for 4 micro-batches"; what is one is not said.
  std::string CountText() const;
};

// What is live at the peak, most bytes first.
std::vector<AlikeTensors> LargestOf(const Program& program, const StageMemory& memory);

// What takes the memory at the peak, for the message of a plan that does not fit: bytes by category, then the `count`
// largest tensors, a line each, every line behind a line break.
//
//   at the peak: parameters 3.00 MiB, activations 14.0 KiB
//   the largest tensors there:
//     14.0 KiB  `h.*.mlp/y.*` f32[8,64] of [16,64] (7 tensors, activations, made at gpt2.mlir:31:8 in h.*.mlp)
std::string PeakText(const Program& program, const StageMemory& memory, int count);

}  // namespace weft::plan

#endif  // WEFT_RUNTIME_MEASURE_LARGEST_H_
