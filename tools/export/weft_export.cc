// weft-export: a checkpoint in, a folder of Hugging Face out.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "google/protobuf/text_format.h"
#include "ops/abi/dtype.h"
#include "runtime/checkpoint/checkpoint_reader.h"
#include "runtime/checkpoint/directory.h"
#include "runtime/checkpoint/file.h"
#include "runtime/checkpoint/safetensors_writer.h"
#include "runtime/plan/job.pb.h"
#include "tools/hugging_face/architectures.h"
#include "tools/hugging_face/arguments.h"
#include "tools/hugging_face/folder.h"
#include "tools/hugging_face/zoo.h"

namespace {

namespace fs = std::filesystem;
using weft::DType;
using weft::TensorSpec;
using weft::checkpoint::CheckpointReader;
using weft::checkpoint::SafetensorsWriter;
using weft::checkpoint::TensorEntry;
using weft::checkpoint::TensorInfo;
using weft::hugging_face::Architecture;
using weft::hugging_face::Arguments;
using weft::hugging_face::Constant;
using weft::hugging_face::Json;
using Files = std::map<std::string, std::string>;  // content by name

constexpr char kHelp[] = R"(weft-export: writes a checkpoint as a folder that Hugging Face's from_pretrained opens

usage: weft export CHECKPOINT -o FOLDER [--type f32|bf16|f16] [--averages SCOPE] [--like FOLDER] [--models FOLDER] [--quiet]

CHECKPOINT is one that `weft run` has saved, or a folder of them, of which the newest is taken; RUNS/best is the best that
its evaluations have found. Every tensor is verified.
FOLDER gets model.safetensors, with the names of transformers' class and without padding; config.json, with the numbers of
the checkpoint's job; and the files that lay beside the weights at `weft run --init`: the tokenizer, how images are made
ready.

  -o FOLDER        where it goes; a new folder
  --type TYPE      of the weights: f32 (if absent), bf16 or f16, rounded to nearest even
  --averages SCOPE moving averages in place of the parameters that they follow: SCOPE.NAME as NAME. The model has them by
                   `model.call @net "SCOPE" (...) averages ""`
  --like FOLDER    take config.json, for what is no number of the model, and the other files from there
  --models FOLDER  where the model files are; if absent, models/ in a folder above this program or the working folder.
                   They say the numbers that the job does not: jobs of `weft import` say all
  --quiet          no line about what was written
  --version        what this program was built from
  --help           this text

examples:
  weft export runs -o gpt2-tuned
  weft export runs/step-00000100 -o gpt2-tuned --type bf16
  weft export runs/best -o gpt2-average --averages average

exit status: 0 done; 1 the work failed; 2 the request was wrong (flag, checkpoint, or a model that is none of transformers')
)";

constexpr int64_t kPieceElements = int64_t{1} << 24;

absl::StatusOr<weft::Job> JobOf(const CheckpointReader& reader) {
  const auto& run = reader.manifest().run;
  const auto text = run.find("job");
  weft::Job job;
  google::protobuf::TextFormat::Parser parser;
  parser.AllowUnknownField(true);  // of a newer version
  if (text != run.end() && parser.ParseFromString(text->second, &job)) return job;
  return absl::FailedPreconditionError(
      absl::StrCat(reader.path(), "/", weft::checkpoint::kManifestFile, ": expected the run's job, got none"));
}

// The numbers of a job's model: what the job sets, else what the model file says, if it can be found.
absl::StatusOr<Files> SettingsOf(const weft::Job& job, const std::string& models, const std::string& file) {
  Files settings;
  const absl::StatusOr<std::string> zoo = weft::hugging_face::FindZoo(models);
  if (!zoo.ok() && !models.empty()) return zoo.status();
  if (zoo.ok()) {
    const auto defaults = weft::hugging_face::ReadDefaults(absl::StrCat(*zoo, "/", file));
    if (!defaults.ok()) return defaults.status();
    settings = *defaults;
  }
  for (const std::string& setting : job.model().set()) {
    const size_t equals = setting.find('=');
    if (equals != std::string::npos) settings[setting.substr(0, equals)] = setting.substr(equals + 1);
  }
  return settings;
}

// A tensor of the checkpoint, and its name in the folder.
using Taken = std::pair<const TensorEntry*, std::string>;

// What a checkpoint becomes.
struct Exported {
  DType type;
  std::vector<Taken> tensors;
  Files files;         // beside the weights
  std::string prefix;  // before the names of parameters
  std::vector<Constant> constants;
};

const std::vector<TensorEntry>& TensorsOf(const CheckpointReader& reader) {
  return reader.manifest().files.at(weft::checkpoint::kModelFile).tensors;
}

// All tensors, or, with a scope of averages, these under the names of what they follow, which is left out.
absl::StatusOr<std::vector<Taken>> Take(const CheckpointReader& reader, const std::string& scope) {
  std::map<std::string, const TensorEntry*> by_name;
  for (const TensorEntry& entry : TensorsOf(reader)) by_name[entry.name] = &entry;
  std::map<std::string, const TensorEntry*> averages;  // by the name of what they follow
  for (const auto& [name, entry] : by_name) {
    if (scope.empty() || name.rfind(scope + ".", 0) != 0) continue;
    const std::string of = name.substr(scope.size() + 1);
    const auto followed = by_name.find(of);
    if (followed == by_name.end() || followed->second->shape != entry->shape) {
      return absl::InvalidArgumentError(absl::StrCat("--averages: ", reader.path(), ": `", name, "`: expected `", of,
                                                     "` of the same shape beside it, found none"));
    }
    averages[of] = entry;
  }
  if (!scope.empty() && averages.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--averages: ", reader.path(), ": expected tensors `", scope, ".NAME`, found none"));
  }
  std::vector<Taken> taken;
  for (const TensorEntry& entry : TensorsOf(reader)) {
    const auto average = averages.find(entry.name);
    const bool is_average = !scope.empty() && entry.name.rfind(scope + ".", 0) == 0;
    if (!is_average) taken.emplace_back(average == averages.end() ? &entry : average->second, entry.name);
  }
  return taken;
}

absl::StatusOr<Exported> Describe(const CheckpointReader& reader, DType type, const Arguments& arguments) {
  const auto flag = [&](const char* name) {
    const auto it = arguments.flags.find(name);
    return it == arguments.flags.end() ? "" : it->second;
  };
  const absl::StatusOr<weft::Job> job = JobOf(reader);
  if (!job.ok()) return job.status();
  const std::string like = flag("--like").empty() ? reader.path() : flag("--like");
  absl::StatusOr<Files> files = weft::hugging_face::ReadCompanions(like);
  if (!files.ok()) return files.status();
  Json base;
  if (const auto config = files->find(weft::hugging_face::kConfigFile); config != files->end()) {
    absl::StatusOr<Json> parsed =
        weft::hugging_face::ParseObject(absl::StrCat(like, "/", config->first), config->second);
    if (!parsed.ok()) return parsed.status();
    base = *std::move(parsed);
  } else if (!flag("--like").empty()) {
    return absl::NotFoundError(absl::StrCat("--like: ", like, ": expected config.json in it, found none"));
  }
  const std::string path = job->model().file(), name = path.substr(path.rfind('/') + 1);
  const bool typed = base.is_object() && base.contains("model_type") && base["model_type"].is_string();
  const Architecture* architecture =
      weft::hugging_face::FindArchitecture(name, typed ? base["model_type"].get<std::string>() : "");
  if (architecture == nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat(reader.path(), ": expected a model that transformers has, got that of ", path));
  }
  const absl::StatusOr<Files> settings = SettingsOf(*job, flag("--models"), weft::hugging_face::FileOf(*architecture));
  if (!settings.ok()) return settings.status();
  absl::StatusOr<Json> config = weft::hugging_face::WriteConfig(*architecture, *settings, std::move(base));
  if (!config.ok())
    return absl::Status(config.status().code(), absl::StrCat(reader.path(), ": ", config.status().message()));
  weft::hugging_face::SetType(type, *config);
  (*files)[weft::hugging_face::kConfigFile] = weft::hugging_face::TextOf(*config);
  absl::StatusOr<std::vector<Taken>> tensors = Take(reader, flag("--averages"));
  if (!tensors.ok()) return tensors.status();
  return Exported{type, *std::move(tensors), *std::move(files), weft::hugging_face::PrefixOf(*architecture),
                  weft::hugging_face::ConstantsOf(*architecture, *settings)};
}

// Elements of another type in place.
template <typename To, typename Round>
void Convert(const std::vector<float>& from, std::vector<char>& to, Round round) {
  to.resize(from.size() * sizeof(To));
  for (size_t i = 0; i < from.size(); ++i) reinterpret_cast<To*>(to.data())[i] = round(from[i]);
}

// The same numbers in another type, where they are or in `converted`.
const void* AsType(DType type, const std::vector<float>& values, std::vector<char>& converted) {
  if (type == DType::kBF16) Convert<weft::BFloat16>(values, converted, weft::ToBFloat16);
  if (type == DType::kF16) Convert<weft::Float16>(values, converted, weft::ToFloat16);
  return type == DType::kF32 ? static_cast<const void*>(values.data()) : converted.data();
}

// Rows of a tensor, as a tile of it.
TensorSpec Rows(DType type, const std::vector<int64_t>& shape, int64_t first, int64_t count) {
  TensorSpec spec = TensorSpec::Whole(type, shape);
  if (shape.empty()) return spec;
  spec.dims[0] = count;
  spec.origin[0] = first;
  return spec;
}

absl::Status CopyTensor(CheckpointReader& reader, const TensorEntry& entry, SafetensorsWriter& writer,
                        const std::string& name, DType type) {
  const int64_t rows = entry.shape.empty() ? 1 : entry.shape[0];
  int64_t width = 1;
  for (size_t i = 1; i < entry.shape.size(); ++i) width *= entry.shape[i];
  const int64_t step = std::max<int64_t>(1, kPieceElements / std::max<int64_t>(width, 1));
  std::vector<float> values;
  std::vector<char> converted;
  for (int64_t first = 0; first < rows; first += step) {
    const int64_t count = std::min(step, rows - first);
    values.resize(count * width);
    absl::Status status =
        reader.Read(entry.name, Rows(DType::kF32, entry.shape, first, count), entry.shape, values.data());
    if (!status.ok()) return status;
    status = writer.Write(name, Rows(type, entry.shape, first, count), AsType(type, values, converted));
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status WriteWeights(CheckpointReader& reader, const Exported& exported, const std::string& path) {
  std::vector<TensorInfo> tensors;
  for (const auto& [entry, name] : exported.tensors)
    tensors.push_back({exported.prefix + name, exported.type, entry->shape});
  for (const Constant& constant : exported.constants)
    tensors.push_back({constant.name, constant.reals.empty() ? DType::kI64 : exported.type, constant.shape});
  const auto writer = SafetensorsWriter::Create(path, tensors, {{"format", "pt"}});
  if (!writer.ok()) return writer.status();
  for (const auto& [entry, name] : exported.tensors) {
    absl::Status status = CopyTensor(reader, *entry, **writer, exported.prefix + name, exported.type);
    if (!status.ok()) return status;
  }
  for (const Constant& constant : exported.constants) {
    const bool whole = constant.reals.empty();
    std::vector<char> converted;
    absl::Status status = (*writer)->Write(
        constant.name, TensorSpec::Whole(whole ? DType::kI64 : exported.type, constant.shape),
        whole ? static_cast<const void*>(constant.values.data()) : AsType(exported.type, constant.reals, converted));
    if (!status.ok()) return status;
  }
  return (*writer)->Commit();
}

// Fills a folder, and gives it its name when it is whole.
absl::Status WriteFolder(CheckpointReader& reader, const Exported& exported, const std::string& folder) {
  const std::string partial = folder + ".partial";
  absl::Status status = weft::checkpoint::RemoveFolder(partial);  // of one that was killed
  if (status.ok()) status = weft::checkpoint::MakeFolder(partial);
  if (status.ok()) status = WriteWeights(reader, exported, absl::StrCat(partial, "/", weft::checkpoint::kModelFile));
  for (const auto& [name, text] : exported.files) {
    if (status.ok()) status = weft::checkpoint::ReplaceText(absl::StrCat(partial, "/", name), text);
  }
  std::error_code error;
  if (status.ok()) fs::rename(partial, folder, error);
  if (error) status = weft::checkpoint::SystemError(folder, "create", error.value());
  if (!status.ok()) weft::checkpoint::RemoveFolder(partial).IgnoreError();
  return status;
}

absl::StatusOr<DType> TypeOf(const Arguments& arguments) {
  const auto flag = arguments.flags.find("--type");
  const std::string name = flag == arguments.flags.end() ? "f32" : flag->second;
  for (DType type : {DType::kF32, DType::kBF16, DType::kF16}) {
    if (name == weft::NameOf(type)) return type;
  }
  return absl::InvalidArgumentError(absl::StrCat("--type: expected f32, bf16 or f16, got `", name, "` (see --help)"));
}

absl::Status Export(const Arguments& arguments) {
  const auto out = arguments.flags.find("-o");
  if (arguments.subject.empty()) return absl::InvalidArgumentError("expected a checkpoint (see --help)");
  if (out == arguments.flags.end()) return absl::InvalidArgumentError("expected -o FOLDER (see --help)");
  const std::string folder = out->second.substr(0, out->second.find_last_not_of('/') + 1);
  const absl::StatusOr<DType> type = TypeOf(arguments);
  if (!type.ok()) return type.status();
  std::error_code none;
  if (folder.empty() || fs::exists(folder, none))
    return absl::InvalidArgumentError(absl::StrCat("-o: ", out->second, ": expected a new folder, found one"));
  const auto reader = CheckpointReader::Open(arguments.subject);
  if (!reader.ok()) return reader.status();
  const absl::StatusOr<Exported> exported = Describe(**reader, *type, arguments);
  if (!exported.ok()) return exported.status();
  absl::Status written = WriteFolder(**reader, *exported, folder);
  if (!written.ok() || arguments.flags.count("--quiet") != 0) return written;
  std::printf("%s: %zu tensors of %s as %s\n", folder.c_str(), exported->tensors.size(), (*reader)->path().c_str(),
              weft::NameOf(*type));
  return absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  return weft::hugging_face::RunProgram("weft-export", kHelp, {"-o", "--type", "--averages", "--like", "--models"}, {},
                                        argc, argv, Export);
}
