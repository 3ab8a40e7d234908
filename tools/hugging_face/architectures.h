// Which models of Hugging Face's transformers the model files of models/ are, and what the numbers of a config.json are
// called there.
#ifndef WEFT_TOOLS_HUGGING_FACE_ARCHITECTURES_H_
#define WEFT_TOOLS_HUGGING_FACE_ARCHITECTURES_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/hugging_face/folder.h"

namespace weft::hugging_face {

// Values of a model file's configuration, in order: what a job's model.set says.
using Settings = std::vector<std::pair<std::string, std::string>>;

// A row of the table in architectures.cc.
struct Architecture;

// What a config.json is here.
struct Imported {
  const Architecture* architecture = nullptr;  // null with errors only
  std::string file;                            // "gpt2/gpt2.mlir", of models/
  std::string graph;                           // that trains
  bool tied = false;                           // the head is the table of the embeddings
  Settings settings;
  // Each a line: "activation_function: expected gelu_new, got relu".
  std::vector<std::string> errors;
  // What makes a difference in training alone, or none that is known.
  std::vector<std::string> notes;
};

// `seq`: the length of sequences; 0: the longest that the model has positions for, of rotary positions 2048 at most.
Imported ReadConfig(const Json& config, int64_t seq);

// The architecture of a model file, by its name without folders; of several the one of `model_type`. Null: none.
const Architecture* FindArchitecture(const std::string& file, const std::string& model_type);

// Its model file, of models/.
std::string FileOf(const Architecture& architecture);

// What the state_dict of its class has before the names of a plan's parameters.
std::string PrefixOf(const Architecture& architecture);

// A tensor that a model file computes and transformers stores: of whole numbers, or of others, which have the type of
// the weights.
struct Constant {
  std::string name;
  std::vector<int64_t> shape;
  std::vector<int64_t> values = {};
  std::vector<float> reals = {};
};
std::vector<Constant> ConstantsOf(const Architecture& architecture, const std::map<std::string, std::string>& settings);

// `base`, or an empty object, with the numbers of a model. kInvalidArgument for a setting that is not there or no
// number.
absl::StatusOr<Json> WriteConfig(const Architecture& architecture, const std::map<std::string, std::string>& settings,
                                 Json base);

}  // namespace weft::hugging_face

#endif  // WEFT_TOOLS_HUGGING_FACE_ARCHITECTURES_H_
