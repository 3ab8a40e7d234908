// Between a plan's words and the runtime's: types, tiles and addresses.
#ifndef WEFT_RUNTIME_EXECUTOR_BINDING_H_
#define WEFT_RUNTIME_EXECUTOR_BINDING_H_

#include <cstdint>
#include <string>
#include <vector>

#include "ops/abi/attributes.h"
#include "ops/abi/tensor_spec.h"
#include "runtime/code/code.h"
#include "runtime/plan/enums.h"
#include "runtime/plan/program.h"

namespace weft::executor {

using plan::TypeOf;

Attributes AttributesOf(const plan::Kernel& kernel);

// One rank's place in its stage.
struct RankPlace {
  const plan::Program* program = nullptr;  // outlives this
  int64_t index = 0;                       // within the placement
  int rank = 0;
  std::vector<int64_t> coordinates;
  char* base = nullptr;              // of the rank's arena
  std::vector<char*> memories = {};  // of the cluster's tiers, where the host addresses them; else null

  // The rank's tile of a buffer.
  TensorSpec SpecOf(int32_t buffer) const;
  TensorSpec SpecOf(const plan::Buffer& global) const;
  // What a generated kernel draws.
  std::vector<code::RandomTile> RandomsOf(const plan::Kernel& kernel) const;
  // Where the buffer is that an act uses; null: in a tier that only copies reach.
  char* AddressOf(int32_t actor, int32_t buffer, int64_t micro_batch) const;
  // After how many micro-batches an actor's addresses of these buffers repeat;
  // 1 for actors that fire once a step.
  int64_t PeriodOf(int32_t actor, const std::vector<int32_t>& buffers) const;
};

}  // namespace weft::executor

#endif  // WEFT_RUNTIME_EXECUTOR_BINDING_H_
