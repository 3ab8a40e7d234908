#include "runtime/checkpoint/checkpoint_writer.h"

#include <cstring>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/checkpoint/directory.h"
#include "runtime/checkpoint/file.h"

namespace weft::checkpoint {
namespace {

// Loaders of Hugging Face models ask for this entry.
std::map<std::string, std::string> ModelMetadata() { return {{"format", "pt"}}; }

FileRecord RecordOf(const SafetensorsWriter& writer) {
  return {writer.file_bytes(), writer.header().checksum, writer.header().tensors, writer.Checksums()};
}

absl::Status CheckNames(const SafetensorsHeader& model, const SafetensorsHeader& optimizer) {
  for (const TensorEntry& entry : optimizer.tensors) {
    if (model.Find(entry.name) == nullptr) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("checkpoint: `", entry.name, "` is in the model and in the optimizer"));
  }
  return absl::OkStatus();
}

}  // namespace

CheckpointWriter::CheckpointWriter(const Options& options)
    : options_(options), partial_(PartialOf(options.folder, options.step)) {}

absl::Status CheckpointWriter::OpenFiles(decltype(&SafetensorsWriter::Create) open,
                                         const std::vector<TensorInfo>& model,
                                         const std::vector<TensorInfo>& optimizer) {
  auto model_file = open(absl::StrCat(partial_, "/", kModelFile), model, ModelMetadata());
  if (!model_file.ok()) return model_file.status();
  model_ = *std::move(model_file);
  auto optimizer_file = open(absl::StrCat(partial_, "/", kOptimizerFile), optimizer, {});
  if (!optimizer_file.ok()) return optimizer_file.status();
  optimizer_ = *std::move(optimizer_file);
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<CheckpointWriter>> CheckpointWriter::Create(const Options& options,
                                                                           const std::vector<TensorInfo>& model,
                                                                           const std::vector<TensorInfo>& optimizer) {
  if (options.step < 0) return absl::InvalidArgumentError("checkpoint: expected a step from 0");
  std::unique_ptr<CheckpointWriter> writer(new CheckpointWriter(options));
  const std::string& partial = writer->partial_;
  if (absl::Status status = RemovePartials(options.folder); !status.ok()) return status;
  if (absl::Status status = MakeFolder(partial); !status.ok()) return status;
  absl::Status status = writer->OpenFiles(&SafetensorsWriter::Create, model, optimizer);
  if (!status.ok()) return status;
  status = CheckNames(writer->model_->header(), writer->optimizer_->header());
  if (!status.ok()) return status;
  return writer;
}

absl::StatusOr<std::unique_ptr<CheckpointWriter>> CheckpointWriter::Join(const Options& options,
                                                                         const std::vector<TensorInfo>& model,
                                                                         const std::vector<TensorInfo>& optimizer) {
  std::unique_ptr<CheckpointWriter> writer(new CheckpointWriter(options));
  writer->open_ = false;
  absl::Status status = writer->OpenFiles(&SafetensorsWriter::Join, model, optimizer);
  if (!status.ok()) return status;
  return writer;
}

CheckpointWriter::~CheckpointWriter() { Abandon(); }

void CheckpointWriter::Abandon() {
  model_.reset();
  optimizer_.reset();
  // There is nobody to tell if this fails; the next save of the step tries again.
  if (std::exchange(open_, false)) RemoveFolder(partial_).IgnoreError();
}

absl::Status CheckpointWriter::Write(const std::string& name, const TensorSpec& spec, const void* data) {
  const bool in_optimizer = optimizer_->header().Find(name) != nullptr;
  return (in_optimizer ? optimizer_ : model_)->Write(name, spec, data);
}

absl::StatusOr<std::string> CheckpointWriter::Finish() {
  absl::StatusOr<std::string> model = model_->Finish(), optimizer = optimizer_->Finish();
  if (!model.ok()) return model.status();
  if (!optimizer.ok()) return optimizer.status();
  const uint64_t size = model->size();
  return std::string(reinterpret_cast<const char*>(&size), sizeof(size)) + *model + *optimizer;
}

absl::Status CheckpointWriter::Adopt(const std::string& part) {
  uint64_t size = 0;
  if (part.size() >= sizeof(size)) std::memcpy(&size, part.data(), sizeof(size));
  if (part.size() < sizeof(size) || part.size() - sizeof(size) < size) {
    return absl::DataLossError("checkpoint: expected what another process has written, got other bytes");
  }
  if (absl::Status status = model_->Adopt(part.substr(sizeof(size), size)); !status.ok()) return status;
  return optimizer_->Adopt(part.substr(sizeof(size) + size));
}

absl::Status CheckpointWriter::CommitManifest() {
  Manifest manifest{options_.step, options_.seed, options_.run, {}};
  manifest.files[kModelFile] = RecordOf(*model_);
  manifest.files[kOptimizerFile] = RecordOf(*optimizer_);
  absl::StatusOr<std::string> text = WriteManifest(manifest);
  if (!text.ok()) return text.status();
  return ReplaceText(absl::StrCat(partial_, "/", kManifestFile), *text);
}

absl::Status CheckpointWriter::CommitFiles() {
  if (absl::Status status = model_->Commit(); !status.ok()) return status;
  if (absl::Status status = optimizer_->Commit(); !status.ok()) return status;
  for (const auto& [name, text] : options_.beside) {
    if (absl::Status status = ReplaceText(absl::StrCat(partial_, "/", name), text); !status.ok()) return status;
  }
  if (absl::Status status = CommitManifest(); !status.ok()) return status;
  return Publish(options_.folder, partial_, options_.step);
}

absl::Status CheckpointWriter::Commit() {
  if (!open_) return absl::FailedPreconditionError("checkpoint: committed or abandoned before");
  if (absl::Status status = CommitFiles(); !status.ok()) {
    Abandon();
    return status;
  }
  open_ = false;
  const std::string marker = absl::StrCat(options_.folder, "/", kLatestFile);
  if (absl::Status status = ReplaceText(marker, StepName(options_.step) + "\n"); !status.ok()) return status;
  return RemoveOld(options_.folder, options_.step, options_.keep);
}

}  // namespace weft::checkpoint
