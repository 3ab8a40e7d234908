#include "runtime/checkpoint/checkpoint_reader.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/checkpoint/checksum.h"
#include "runtime/checkpoint/directory.h"
#include "runtime/checkpoint/file.h"

namespace weft::checkpoint {
namespace {

constexpr int64_t kMostManifestBytes = int64_t{1} << 28;

// The manifest does not keep the parsed type, which follows from the name.
bool SameTensor(const TensorEntry& a, const TensorEntry& b) {
  return a.name == b.name && a.type == b.type && a.shape == b.shape && a.begin == b.begin && a.end == b.end;
}

}  // namespace

absl::StatusOr<std::unique_ptr<CheckpointReader>> CheckpointReader::Open(const std::string& path) {
  absl::StatusOr<std::string> folder = FindCheckpoint(path);
  if (!folder.ok()) return folder.status();
  const std::string manifest_path = absl::StrCat(*folder, "/", kManifestFile);
  absl::StatusOr<std::string> text = ReadText(manifest_path, kMostManifestBytes);
  if (!text.ok()) return text.status();
  absl::StatusOr<Manifest> manifest = ReadManifest(manifest_path, *text);
  if (!manifest.ok()) return manifest.status();
  std::unique_ptr<CheckpointReader> reader(new CheckpointReader(*folder, *std::move(manifest)));
  auto model = reader->OpenFile(kModelFile);
  if (!model.ok()) return model.status();
  reader->model_ = *std::move(model);
  auto optimizer = reader->OpenFile(kOptimizerFile);
  if (!optimizer.ok()) return optimizer.status();
  reader->optimizer_ = *std::move(optimizer);
  return reader;
}

absl::StatusOr<std::unique_ptr<const SafetensorsReader>> CheckpointReader::OpenFile(const std::string& name) {
  const std::string path = absl::StrCat(path_, "/", name);
  auto record = manifest_.files.find(name);
  if (record == manifest_.files.end()) {
    return absl::DataLossError(absl::StrCat(path_, "/", kManifestFile, ": expected `", name, "`, got no such file"));
  }
  auto opened = SafetensorsReader::Open(path);
  if (absl::IsNotFound(opened.status())) {  // kNotFound says that there is no checkpoint at all
    return absl::DataLossError(absl::StrCat(path, ": expected the file that ", kManifestFile, " lists, found none"));
  }
  if (!opened.ok()) return opened.status();
  const SafetensorsHeader& header = (*opened)->header();
  const FileRecord& expected = record->second;
  bool same = header.checksum == expected.header_checksum && header.tensors.size() == expected.tensors.size();
  for (size_t i = 0; same && i < header.tensors.size(); ++i) same = SameTensor(header.tensors[i], expected.tensors[i]);
  if (!same) {
    return absl::DataLossError(absl::StrCat(path, ": header: expected the one in ", kManifestFile, ", got another"));
  }
  for (size_t i = 0; i < header.tensors.size(); ++i) {
    tensors_.push_back(std::make_unique<Tensor>());
    tensors_.back()->file = opened->get();
    tensors_.back()->entry = &header.tensors[i];
    tensors_.back()->checksum = expected.checksums[i];
  }
  return opened;
}

absl::Status CheckpointReader::VerifyTensor(Tensor& tensor) {
  std::call_once(tensor.once, [&] {
    absl::StatusOr<uint64_t> checksum = tensor.file->ChecksumOf(*tensor.entry);
    if (!checksum.ok()) {
      tensor.verdict = checksum.status();
    } else if (*checksum != tensor.checksum) {
      tensor.verdict = absl::DataLossError(absl::StrCat(tensor.file->path(), ": `", tensor.entry->name,
                                                        "`: damaged: expected checksum ", ToHex(tensor.checksum),
                                                        ", got ", ToHex(*checksum)));
    }
  });
  return tensor.verdict;
}

absl::Status CheckpointReader::Read(const std::string& name, const TensorSpec& spec,
                                    const std::vector<int64_t>& stored_shape, void* out) {
  const SafetensorsHeader &model = model_->header(), &optimizer = optimizer_->header();
  const TensorEntry* entry = model.Find(name);
  const bool in_model = entry != nullptr;
  if (!in_model) entry = optimizer.Find(name);
  if (entry == nullptr) {
    return absl::NotFoundError(
        absl::StrCat(path_, ": expected a tensor `", name, "`, got ", NamesLike(name, {&model, &optimizer})));
  }
  const SafetensorsReader& file = in_model ? *model_ : *optimizer_;
  const size_t index =
      in_model ? entry - model.tensors.data() : model.tensors.size() + (entry - optimizer.tensors.data());
  if (absl::Status status = VerifyTensor(*tensors_[index]); !status.ok()) return status;
  return file.Read(*entry, spec, stored_shape, Conversion::kNone, out);
}

absl::Status CheckpointReader::Verify(int64_t part, int64_t parts) {
  for (size_t i = part; i < tensors_.size(); i += parts) {
    if (absl::Status status = VerifyTensor(*tensors_[i]); !status.ok()) return status;
  }
  return absl::OkStatus();
}

void CheckpointReader::Trust() {
  for (const auto& tensor : tensors_) std::call_once(tensor->once, [] {});
}

}  // namespace weft::checkpoint
