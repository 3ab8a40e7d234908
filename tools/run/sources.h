// Where a plan's inputs come from: a file of tokens, or a file of tensors.
#ifndef WEFT_TOOLS_RUN_SOURCES_H_
#define WEFT_TOOLS_RUN_SOURCES_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/executor/ports.h"
#include "runtime/plan/plan.pb.h"

namespace weft::run {

// An input or output of a plan, whole.
struct InputInfo {
  std::string name;
  plan::DType dtype = plan::INVALID;
  std::vector<int64_t> shape;  // global, of a micro-batch
};

// The inputs that a plan's stages read, each name once, in order of name.
std::vector<InputInfo> InputsOf(const plan::Plan& plan);

// The outputs that they write, likewise.
std::vector<InputInfo> OutputsOf(const plan::Plan& plan);

// Serves `tokens` and `labels` from a file. The shape of the plan's `tokens`,
// [sequences a micro-batch, sequence], says how the file is cut.
absl::StatusOr<std::unique_ptr<executor::BatchSource>> OpenTokens(const plan::Plan& plan, const std::string& path,
                                                                  uint64_t seed);

// Serves the tensors of a .safetensors file under their names.
absl::StatusOr<std::unique_ptr<executor::BatchSource>> OpenTensors(const std::string& path);

}  // namespace weft::run

#endif  // WEFT_TOOLS_RUN_SOURCES_H_
