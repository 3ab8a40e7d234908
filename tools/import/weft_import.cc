// weft-import: a folder of Hugging Face, a PyTorch module or an ONNX file in, a job out.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <system_error>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/checkpoint/file.h"
#include "runtime/checkpoint/weights.h"
#include "tools/hugging_face/architectures.h"
#include "tools/hugging_face/arguments.h"
#include "tools/hugging_face/folder.h"
#include "tools/hugging_face/names.h"
#include "tools/hugging_face/weights.h"
#include "tools/hugging_face/zoo.h"
#include "tools/import/python.h"

namespace {

namespace fs = std::filesystem;
using weft::checkpoint::Weights;
using weft::hugging_face::Arguments;
using weft::hugging_face::Imported;
using weft::hugging_face::Json;
using weft::hugging_face::Names;

constexpr char kHelp[] =
    R"(weft-import: reads a folder of Hugging Face, a PyTorch module or an ONNX file, and writes a job of its model

usage: weft import FOLDER -o NAME.job [--seq N] [--models FOLDER] [--other-pixels] [--quiet]
       weft import --torch FILE.py:FUNCTION -o NAME.job
       weft import MODEL.onnx -o NAME.job [--loss LOSS] [--size NAME=N,...] [--constant NAME,...]

FOLDER has a config.json, and the weights in model.safetensors or in several files with model.safetensors.index.json. The
job names a model file of Weft, and sets its numbers to those of config.json. The weights stay where they are: `weft run
--init FOLDER` reads them, and puts config.json and the tokenizer beside its checkpoints.

  -o NAME.job      where the job goes; a new file
  --seq N          the length of sequences; if absent, as many as the model has positions, of rotary ones 2048 at most
  --models FOLDER  where the model files are; if absent, models/ in a folder above this program or the working folder
  --other-pixels   go on although preprocessor_config.json scales pixels in another way than the model file, which takes
                   0 to 255 as -1 to 1
  --torch FILE.py:FUNCTION
                   instead of a folder: what FUNCTION returns, (module, example inputs, loss function or None). Writes
                   NAME.job, NAME.mlir and NAME.safetensors, which `weft run --init` reads. Runs python3, which needs
                   torch (docs/howto/import_a_pytorch_module.md)
  --loss LOSS      of MODEL.onnx: train. `cross_entropy` is that of the first output, whose last dimension is the classes,
                   and an input `labels`; another one is the name of an output that is the loss. If absent, the job
                   computes the outputs. Writes the same three files. Runs python3, which needs onnx
                   (docs/howto/import_an_onnx_model.md)
  --size NAME=N,...
                   of MODEL.onnx: how much dimensions of its inputs are that have a name and are not the batch
  --constant NAME,...
                   of MODEL.onnx: weights that are not trained
  --quiet          no lines about what was read
  --version        what this program was built from
  --help           this text

Models: gpt2, llama, mistral, mixtral, bert, roberta, t5, vit, vit_mae, swin, convnext. What the model file cannot say is an error,
each on a line: another activation, a head that is or is not tied, other rotary positions, a bias. What has no effect
is said.

examples:
  weft import gpt2 -o gpt2.job
  weft compile gpt2.job dist.data=2 -o gpt2.plan
  weft run gpt2.plan --init gpt2 --data corpus.bin --steps 100 --checkpoint-dir runs
  weft export runs -o gpt2-tuned
  weft import --torch words.py:words -o words.job
  weft import model.onnx --loss cross_entropy -o model.job

exit status: 0 done; 1 the work failed; 2 the request was wrong (flag, or a folder that is no such model)
)";

// What is for ONNX files alone.
constexpr const char* kOnnxFlags[] = {"--loss", "--size", "--constant"};

// Batch and optimizer are a beginning: what they should be follows from the data.
std::string JobText(const Imported& imported, const std::string& folder, const std::string& job,
                    const std::string& model) {
  std::vector<std::string> set;
  for (const auto& [name, value] : imported.settings) set.push_back(absl::StrCat("\"", name, "=", value, "\""));
  std::vector<std::string> lines;  // of four settings
  for (size_t i = 0; i < set.size(); i += 4) {
    lines.push_back(absl::StrJoin(set.begin() + i, set.begin() + std::min(i + 4, set.size()), ", "));
  }
  const std::string plan = job.substr(0, job.rfind('.')) + ".plan";
  return absl::StrCat("# The model of ", folder,
                      ", as `weft import` read its config.json. Batch and optimizer are to be chosen.\n",
                      "#   weft compile ", job, " -o ", plan, "\n", "#   weft run ", plan, " --init ", folder,
                      " --data DATA --checkpoint-dir RUNS\n", "#   weft export RUNS -o FOLDER\n", "model {\n  file: \"",
                      model, "\"\n  graph: \"", imported.graph, "\"\n  set: [\n    ", absl::StrJoin(lines, ",\n    "),
                      "\n  ]\n}\n", "batch { global: 8 micro: 8 }\n",
                      "optimizer {\n  adamw { lr: 5e-5 beta1: 0.9 beta2: 0.999 eps: 1e-8 weight_decay: 0.01 }\n",
                      "  clip_norm: 1.0\n  schedule { warmup_linear { warmup: 10 total: 100 } }\n}\n", "seed: 1\n");
}

// The model file as the job says it: from the job's folder.
std::string PathFrom(const std::string& job, const std::string& model) {
  std::error_code none;
  const fs::path from = fs::weakly_canonical(fs::absolute(job, none).parent_path(), none);
  return fs::weakly_canonical(model, none).lexically_relative(from).string();
}

// A tied head has one tensor here.
absl::Status CheckTies(const Weights& weights) {
  const absl::StatusOr<Names> names = Names::Of(weft::hugging_face::NamesIn(weights));
  if (!names.ok()) return absl::InvalidArgumentError(absl::StrCat(weights.path(), ": ", names.status().message()));
  std::set<std::string> parameters, copies;
  for (const auto& [name, in_file] : names->in_file()) {
    parameters.insert(name);
    for (const std::string& copy : names->CopiesOf(name)) copies.insert(copy);
  }
  for (const std::string& copy : copies) parameters.erase(copy);
  return CheckCopies(weights, *names, MatchParameters(weights, *names, parameters));
}

absl::StatusOr<Imported> ReadFolder(const std::string& folder, int64_t seq) {
  const std::string path = absl::StrCat(folder, "/", weft::hugging_face::kConfigFile);
  const absl::StatusOr<std::string> text = weft::checkpoint::ReadText(path, int64_t{1} << 24);
  if (absl::IsNotFound(text.status()))
    return absl::NotFoundError(absl::StrCat(path, ": expected a folder of Hugging Face, found no such file"));
  if (!text.ok()) return text.status();
  const absl::StatusOr<Json> config = weft::hugging_face::ParseObject(path, *text);
  if (!config.ok()) return config.status();
  Imported imported = weft::hugging_face::ReadConfig(*config, seq);
  for (std::string& error : imported.errors) {
    if (error.rfind("--", 0) != 0) error = absl::StrCat(path, ": ", error);
  }
  for (std::string& note : imported.notes) note = absl::StrCat(path, ": ", note);
  if (!imported.errors.empty()) return absl::InvalidArgumentError(absl::StrJoin(imported.errors, "\n"));
  return imported;
}

// Images must be made ready as the model file does it.
absl::Status CheckPixels(const std::string& folder) {
  const std::string path = folder + "/preprocessor_config.json";
  const absl::StatusOr<std::string> text = weft::checkpoint::ReadText(path, int64_t{1} << 24);
  if (absl::IsNotFound(text.status())) return absl::OkStatus();
  if (!text.ok()) return text.status();
  const absl::StatusOr<Json> config = weft::hugging_face::ParseObject(path, *text);
  if (!config.ok()) return config.status();
  for (const char* key : {"image_mean", "image_std"}) {
    if (!config->contains(key)) continue;
    const Json value = (*config)[key];
    const bool half =
        value.is_array() && std::all_of(value.begin(), value.end(), [](const Json& it) { return it == 0.5; });
    if (half) continue;
    return absl::InvalidArgumentError(absl::StrCat(path, ": ", key, ": expected 0.5 of every channel, got ",
                                                   value.dump(),
                                                   "; pass --other-pixels to train on pixels of the other scale"));
  }
  return absl::OkStatus();
}

absl::StatusOr<int64_t> SequenceOf(const Arguments& arguments) {
  const auto flag = arguments.flags.find("--seq");
  int64_t seq = 0;
  if (flag == arguments.flags.end()) return seq;
  if (absl::SimpleAtoi(flag->second, &seq) && seq > 0) return seq;
  return absl::InvalidArgumentError(
      absl::StrCat("--seq: expected a whole number above 0, got `", flag->second, "` (see --help)"));
}

absl::Status Import(const Arguments& arguments) {
  const auto flag = [&](const char* name) {
    const auto it = arguments.flags.find(name);
    return it == arguments.flags.end() ? "" : it->second;
  };
  const std::string folder = arguments.subject.substr(0, arguments.subject.find_last_not_of('/') + 1);
  const std::string job = flag("-o");
  if (const auto torch = arguments.flags.find("--torch"); torch != arguments.flags.end()) {
    if (job.empty()) return absl::InvalidArgumentError("expected -o NAME.job (see --help)");
    if (arguments.flags.size() > 2 || !folder.empty())
      return absl::InvalidArgumentError("--torch: expected with -o alone (see --help)");
    return weft::import::BecomePython("from_torch", {torch->second, "-o", job});
  }
  const bool is_onnx = absl::EndsWith(folder, ".onnx");
  if (is_onnx && job.empty()) return absl::InvalidArgumentError("expected -o NAME.job (see --help)");
  std::vector<std::string> words = {folder, "-o", job};
  size_t known = 1;
  for (const char* name : kOnnxFlags) {
    if (arguments.flags.count(name) == 0) continue;
    if (!is_onnx)
      return absl::InvalidArgumentError(absl::StrCat(name, ": expected with MODEL.onnx alone (see --help)"));
    words.insert(words.end(), {name, flag(name)});
    ++known;
  }
  if (is_onnx) {
    if (arguments.flags.size() > known)
      return absl::InvalidArgumentError(
          absl::StrCat(folder, ": expected with -o, --loss, --size and --constant alone (see --help)"));
    return weft::import::BecomePython("from_onnx", words);
  }
  if (folder.empty()) return absl::InvalidArgumentError("expected a folder (see --help)");
  if (job.empty()) return absl::InvalidArgumentError("expected -o NAME.job (see --help)");
  const absl::StatusOr<int64_t> seq = SequenceOf(arguments);
  if (!seq.ok()) return seq.status();
  std::error_code none;
  if (fs::exists(job, none))
    return absl::InvalidArgumentError(absl::StrCat("-o: ", job, ": expected a new file, found one"));
  const absl::StatusOr<Imported> imported = ReadFolder(folder, *seq);
  if (!imported.ok()) return imported.status();
  if (arguments.flags.count("--other-pixels") == 0) {
    if (absl::Status status = CheckPixels(folder); !status.ok()) return status;
  }
  const auto weights = Weights::Open(folder);
  if (!weights.ok()) return weights.status();
  if (imported->tied) {
    if (absl::Status status = CheckTies(**weights); !status.ok()) return status;
  }
  const absl::StatusOr<std::string> zoo = weft::hugging_face::FindZoo(flag("--models"));
  if (!zoo.ok()) return zoo.status();
  const std::string model = PathFrom(job, absl::StrCat(*zoo, "/", imported->file));
  absl::Status written = weft::checkpoint::ReplaceText(job, JobText(*imported, folder, job, model));
  if (!written.ok() || arguments.flags.count("--quiet") != 0) return written;
  for (const std::string& note : imported->notes) std::printf("%s\n", note.c_str());
  std::printf("%s: %zu tensors in %s\n", job.c_str(), (*weights)->tensors().size(), (*weights)->path().c_str());
  std::printf("next: weft compile %s -o PLAN; weft run PLAN --init %s --data DATA\n", job.c_str(), folder.c_str());
  return absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  return weft::hugging_face::RunProgram("weft-import", kHelp,
                                        {"-o", "--seq", "--models", "--torch", "--loss", "--size", "--constant"},
                                        {"--other-pixels"}, argc, argv, Import);
}
