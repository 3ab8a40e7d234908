#include "runtime/checkpoint/safetensors_writer.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/checkpoint/checksum.h"
#include "runtime/checkpoint/tile.h"

namespace weft::checkpoint {
namespace {

// What a process has written of a tensor.
struct Written {
  int64_t tensor = -1;
  int64_t elements = 0;
  uint64_t checksum = 0;
};

}  // namespace

SafetensorsWriter::SafetensorsWriter(std::string path, SafetensorsLayout layout, File file, bool joined)
    : path_(std::move(path)),
      partial_(file.path()),
      joined_(joined),
      layout_(std::move(layout)),
      file_(std::move(file)),
      progress_(layout_.header.tensors.size()) {
  file_.WritePastCache();
}

absl::StatusOr<std::unique_ptr<SafetensorsWriter>> SafetensorsWriter::Create(
    const std::string& path, const std::vector<TensorInfo>& tensors,
    const std::map<std::string, std::string>& metadata) {
  absl::StatusOr<SafetensorsLayout> layout = LayOut(path, tensors, metadata);
  if (!layout.ok()) return layout.status();
  // A rename onto a folder or a device would fail late, or replace the device.
  struct stat info;
  if (stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": expected the name of a file, got that of something else"));
  }
  absl::StatusOr<File> file = File::Create(path + ".partial");
  if (!file.ok()) return file.status();
  // From here on the destructor removes the file.
  std::unique_ptr<SafetensorsWriter> writer(new SafetensorsWriter(path, *std::move(layout), *std::move(file), false));
  absl::Status status = writer->file_.Allocate(writer->layout_.file_bytes);
  const std::string& text = writer->layout_.text;
  if (status.ok()) status = writer->file_.WriteAt(0, text.data(), static_cast<int64_t>(text.size()));
  if (!status.ok()) return status;
  return writer;
}

absl::StatusOr<std::unique_ptr<SafetensorsWriter>> SafetensorsWriter::Join(
    const std::string& path, const std::vector<TensorInfo>& tensors,
    const std::map<std::string, std::string>& metadata) {
  absl::StatusOr<SafetensorsLayout> layout = LayOut(path, tensors, metadata);
  if (!layout.ok()) return layout.status();
  absl::StatusOr<File> file = File::OpenToWrite(path + ".partial");
  if (!file.ok()) return file.status();
  return std::unique_ptr<SafetensorsWriter>(new SafetensorsWriter(path, *std::move(layout), *std::move(file), true));
}

SafetensorsWriter::~SafetensorsWriter() {
  if (!committed_ && !joined_) unlink(partial_.c_str());
}

absl::Status SafetensorsWriter::Fail(absl::Status status) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (failure_.ok()) failure_ = status;
  return status;
}

absl::Status SafetensorsWriter::Write(const std::string& name, const TensorSpec& spec, const void* data) {
  const TensorEntry* entry = layout_.header.Find(name);
  if (entry == nullptr) return Fail(absl::NotFoundError(absl::StrCat(path_, ": no tensor `", name, "` was laid out")));
  absl::Status status = WriteTile(*entry, progress_[entry - layout_.header.tensors.data()], spec, data);
  return status.ok() ? status : Fail(std::move(status));
}

absl::Status SafetensorsWriter::Claim(const TensorEntry& entry, Progress& progress, const TensorSpec& spec) {
  const std::string what = absl::StrCat(path_, ": `", entry.name, "`");
  if (spec.dtype != entry.dtype) {
    return absl::InvalidArgumentError(
        absl::StrCat(what, ": dtype: expected ", NameOf(entry.dtype), ", got ", NameOf(spec.dtype)));
  }
  if (absl::Status status = CheckTile(what, spec, entry.shape); !status.ok()) return status;
  std::lock_guard<std::mutex> lock(mutex_);
  if (!failure_.ok()) return failure_;
  for (const TensorSpec& other : progress.tiles) {
    if (other.global_dims != spec.global_dims) {
      return absl::InvalidArgumentError(absl::StrCat(what, ": tiles of ", ShapeText(other.global_dims), " and of ",
                                                     ShapeText(spec.global_dims), " in one tensor"));
    }
    if (Intersect(other, spec)) {
      return absl::InvalidArgumentError(
          absl::StrCat(what, ": ", spec.ToString(), " overlaps what was written, ", other.ToString()));
    }
  }
  progress.tiles.push_back(spec);
  return absl::OkStatus();
}

absl::Status SafetensorsWriter::WriteTile(const TensorEntry& entry, Progress& progress, const TensorSpec& spec,
                                          const void* data) {
  if (absl::Status status = Claim(entry, progress, spec); !status.ok()) return status;
  const int64_t size = static_cast<int64_t>(SizeOf(spec.dtype));
  uint64_t checksum = 0;
  absl::Status status = ForEachRun(spec, [&](int64_t index, int64_t offset, int64_t count) {
    const char* from = static_cast<const char*>(data) + offset * size;
    checksum += Checksum(size, index, from, count);
    return file_.WriteAt(entry.begin + index * size, from, count * size);
  });
  if (!status.ok()) return status;
  std::lock_guard<std::mutex> lock(mutex_);
  progress.elements += ElementsOf(spec.InsideDims());
  progress.checksum += checksum;
  return absl::OkStatus();
}

absl::StatusOr<std::string> SafetensorsWriter::Finish() {
  std::string part;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!failure_.ok()) return failure_;
    for (size_t i = 0; i < progress_.size(); ++i) {
      if (progress_[i].tiles.empty()) continue;
      const Written written{static_cast<int64_t>(i), progress_[i].elements, progress_[i].checksum};
      part.append(reinterpret_cast<const char*>(&written), sizeof(written));
    }
  }
  if (absl::Status status = file_.SyncAndClose(); !status.ok()) return Fail(std::move(status));
  return part;
}

absl::Status SafetensorsWriter::Adopt(const std::string& part) {
  std::lock_guard<std::mutex> lock(mutex_);
  for (size_t at = 0; at < part.size(); at += sizeof(Written)) {
    Written written;
    if (part.size() - at >= sizeof(written)) std::memcpy(&written, part.data() + at, sizeof(written));
    if (written.tensor < 0 || written.tensor >= static_cast<int64_t>(progress_.size())) {
      return absl::DataLossError(absl::StrCat(path_, ": expected what another process has written, got other bytes"));
    }
    progress_[written.tensor].elements += written.elements;
    progress_[written.tensor].checksum += written.checksum;
  }
  return absl::OkStatus();
}

absl::Status SafetensorsWriter::Commit() {
  if (joined_) return absl::FailedPreconditionError(absl::StrCat(path_, ": committed by who has not made it"));
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!failure_.ok()) return failure_;
    for (size_t i = 0; i < progress_.size(); ++i) {
      const TensorEntry& entry = layout_.header.tensors[i];
      if (progress_[i].elements == ElementsOf(entry.shape)) continue;
      return absl::FailedPreconditionError(absl::StrCat(path_, ": `", entry.name, "`: expected ",
                                                        ElementsOf(entry.shape), " elements written, got ",
                                                        progress_[i].elements));
    }
  }
  if (absl::Status status = file_.SyncAndClose(); !status.ok()) return Fail(std::move(status));
  if (rename(partial_.c_str(), path_.c_str()) != 0) return Fail(SystemError(path_, "replace", errno));
  committed_ = true;
  return SyncDirectory(Parent(path_));
}

std::vector<uint64_t> SafetensorsWriter::Checksums() const {
  std::lock_guard<std::mutex> lock(mutex_);
  std::vector<uint64_t> checksums;
  for (const Progress& progress : progress_) checksums.push_back(progress.checksum);
  return checksums;
}

}  // namespace weft::checkpoint
