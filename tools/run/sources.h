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
#include "tools/run/record.h"

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

// A file of tokens, and what is known of it.
struct TokenData {
  Record record;     // `data` and its like: see RecordOf
  std::string text;  // "corpus.txt: 116,290 tokens, uint16, largest 999 of 1,000"
  std::unique_ptr<executor::BatchSource> source;
};

// Serves `tokens` and `labels` from a file. The shape of the plan's `tokens`,
// [sequences a micro-batch, sequence], says how the file is cut; the table that
// they index, if it is an embedding, which are too large: kOutOfRange.
absl::StatusOr<TokenData> OpenTokens(const plan::Plan& plan, const std::string& path, uint64_t seed);

// Serves the tensors of a .safetensors file under their names.
absl::StatusOr<std::unique_ptr<executor::BatchSource>> OpenTensors(const std::string& path);

}  // namespace weft::run

#endif  // WEFT_TOOLS_RUN_SOURCES_H_
