#include "tools/run/output_file.h"

namespace weft::run {

using checkpoint::SafetensorsWriter;

absl::StatusOr<std::unique_ptr<OutputFile>> OutputFile::Create(Processes& processes, const std::string& path,
                                                               const std::vector<checkpoint::TensorInfo>& tensors) {
  absl::StatusOr<std::unique_ptr<SafetensorsWriter>> writer = nullptr;
  if (processes.first()) writer = SafetensorsWriter::Create(path, tensors);
  if (absl::Status status = processes.Agree(writer.status()); !status.ok()) return status;
  if (!processes.first()) writer = SafetensorsWriter::Join(path, tensors);
  if (absl::Status status = processes.Agree(writer.status()); !status.ok()) return status;
  return std::unique_ptr<OutputFile>(new OutputFile(processes, *std::move(writer)));
}

absl::Status OutputFile::Commit(const absl::Status& own) {
  absl::Status written = own;
  absl::StatusOr<std::string> part = "";
  if (written.ok() && !processes_.first()) part = writer_->Finish();
  if (written.ok()) written = part.status();
  if (absl::Status status = processes_.Agree(written); !status.ok()) return status;
  const absl::StatusOr<std::vector<std::string>> parts = processes_.AllGather(*part);
  if (!parts.ok()) return parts.status();
  if (processes_.first()) {
    for (size_t r = 1; r < parts->size() && written.ok(); ++r) written = writer_->Adopt((*parts)[r]);
    if (written.ok()) written = writer_->Commit();
  }
  return processes_.Agree(written);
}

}  // namespace weft::run
