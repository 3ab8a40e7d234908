// Initial parameters from files of weights or a checkpoint.
#ifndef WEFT_TOOLS_RUN_INIT_H_
#define WEFT_TOOLS_RUN_INIT_H_

#include <map>
#include <memory>
#include <set>
#include <string>

#include "absl/status/statusor.h"
#include "runtime/checkpoint/weights.h"
#include "runtime/executor/cluster.h"
#include "tools/hugging_face/weights.h"
#include "tools/run/train.h"

namespace weft::run {

// The files that a request names (checkpoint::Weights::Open).
class InitialParameters {
 public:
  // Nothing, if the request names none. Checks that the files have the plan's parameters, under their names, those of
  // Hugging Face's classes (tools/hugging_face/names.h), or what --rename makes of them, in their shapes, and are the
  // same on all processes. They may lack some parameters, and last rows of some, but not all, if the request is for a
  // part; otherwise kNotFound names what they lack. All processes come, and get the same error; so with Load().
  static absl::StatusOr<InitialParameters> Open(const Context& context);

  // How many there are, and which of the files' tensors are none, for people:
  // "w.safetensors: loaded 28 of 28 parameters; of no use here: `x`". "" for nothing.
  const std::string& text() const { return text_; }

  // What lies beside the weights and goes with the model: the tokenizer's files, and config.json if the model is still
  // that one. On the first process.
  const std::map<std::string, std::string>& companions() const { return companions_; }

  // Where the weights lie: a file. "" for nothing.
  std::string path() const { return weights_ == nullptr ? "" : weights_->path(); }

  // The parameters that Load() fills: nobody reads other initial values of theirs (StartCluster).
  std::set<std::string> loaded() const;

  // Loads what the files have. Optimizer state stays as it is.
  absl::Status Load(const Context& context, executor::Cluster& cluster) const;

 private:
  // Of this process alone.
  static absl::StatusOr<InitialParameters> OpenPath(const Context& context);
  // Notes parameters of which the weights have the first rows alone.
  absl::Status CheckShapes(const Context& context);
  absl::Status ReadCompanions(const std::string& folder);
  std::string Describe() const;

  std::unique_ptr<const checkpoint::Weights> weights_;  // null: nothing
  hugging_face::Match match_;
  std::map<std::string, int64_t> rows_;  // that the weights have, of parameters that have more
  std::string text_;
  std::map<std::string, std::string> companions_;
};

}  // namespace weft::run

#endif  // WEFT_TOOLS_RUN_INIT_H_
