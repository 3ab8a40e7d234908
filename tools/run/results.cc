#include "tools/run/results.h"

#include <cstring>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "runtime/plan/names.h"

namespace weft::run {
namespace {

// Rows and columns of a tile that are printed.
constexpr int64_t kMaxRows = 16;
constexpr int64_t kMaxColumns = 16;

std::string ValueText(DType dtype, const char* bytes, int64_t element) {
  const auto load = [&](auto value) {
    std::memcpy(&value, bytes + element * sizeof(value), sizeof(value));
    return value;
  };
  switch (dtype) {
    case DType::kF32:
      return absl::StrFormat("%9.4f", load(float{}));
    case DType::kF64:
      return absl::StrFormat("%9.4f", load(double{}));
    case DType::kBF16:
      return absl::StrFormat("%9.4f", ToFloat(load(BFloat16{})));
    case DType::kI32:
      return absl::StrFormat("%6d", load(int32_t{}));
    case DType::kI64:
      return absl::StrFormat("%6d", load(int64_t{}));
    case DType::kU8:
      return absl::StrFormat("%4d", load(uint8_t{}));
    default:
      return "?";
  }
}

// The ranks of a mesh from `axis` inwards, as nested lists: "[[0, 1], [2, 3]]". `first` is an index into them.
std::string NestedRanks(const plan::Placement& placement, int axis, int64_t first) {
  if (axis == placement.axes_size()) return absl::StrCat(placement.ranks(static_cast<int>(first)));
  int64_t inner = 1;
  for (int i = axis + 1; i < placement.axes_size(); ++i) inner *= placement.axes(i).size();
  std::vector<std::string> parts;
  for (int64_t i = 0; i < placement.axes(axis).size(); ++i) {
    parts.push_back(NestedRanks(placement, axis + 1, first + i * inner));
  }
  return absl::StrCat("[", absl::StrJoin(parts, ", "), "]");
}

// The values as rows of the last dim, cut where they get too many.
std::string ValuesText(const TensorSpec& spec, const std::vector<char>& bytes) {
  const int64_t columns = spec.rank() == 0 ? 1 : spec.dims.back();
  const int64_t rows = columns == 0 ? 0 : spec.elements() / columns;
  std::string text;
  for (int64_t i = 0; i < std::min(rows, kMaxRows); ++i) {
    text += "   ";
    for (int64_t j = 0; j < std::min(columns, kMaxColumns); ++j) {
      absl::StrAppend(&text, " ", ValueText(spec.dtype, bytes.data(), i * columns + j));
    }
    text += columns > kMaxColumns ? " ...\n" : "\n";
  }
  if (rows > kMaxRows) absl::StrAppend(&text, "    ... ", rows - kMaxRows, " more rows\n");
  return text;
}

}  // namespace

class Results::Field : public executor::ResultField {
 public:
  explicit Field(Part* part) : part_(*part) {}
  absl::Status Take(int64_t, int64_t, const void* tile) override {
    std::memcpy(part_.bytes.data(), tile, part_.bytes.size());
    return absl::OkStatus();
  }

 private:
  Part& part_;
};

absl::StatusOr<std::unique_ptr<executor::ResultField>> Results::Bind(const executor::Port& port) {
  std::lock_guard<std::mutex> lock(mutex_);
  std::unique_ptr<Part>& part = parts_[{port.name, port.rank}];
  if (part != nullptr)
    return absl::InvalidArgumentError(absl::StrCat("output `", port.name, "`: expected one, got two"));
  part = std::make_unique<Part>(Part{port, std::vector<char>(port.spec.bytes())});
  return std::make_unique<Field>(part.get());
}

absl::Status Results::Write(const std::string& path) const {
  std::lock_guard<std::mutex> lock(mutex_);
  std::map<std::string, checkpoint::TensorInfo> tensors;
  for (const auto& [key, part] : parts_) {
    for (const plan::Sbp& sbp : part->port.buffer->sbp()) {
      if (sbp.kind() == plan::Sbp::BROADCAST || sbp.kind() == plan::Sbp::SPLIT) continue;
      return absl::FailedPreconditionError(absl::StrCat("output `", key.first, "`: expected S or B on every axis, got ",
                                                        plan::SbpText(*part->port.placement, *part->port.buffer)));
    }
    tensors[key.first] = {key.first, part->port.spec.dtype, part->port.spec.global_dims};
  }
  std::vector<checkpoint::TensorInfo> list;
  for (auto& [name, info] : tensors) list.push_back(std::move(info));
  auto writer = checkpoint::SafetensorsWriter::Create(path, list);
  if (!writer.ok()) return writer.status();
  for (const auto& [key, part] : parts_) {
    if (!part->port.primary) continue;
    absl::Status status = (*writer)->Write(key.first, part->port.spec, part->bytes.data());
    if (!status.ok()) return status;
  }
  return (*writer)->Commit();
}

void Results::Print(std::FILE* out) const {
  std::lock_guard<std::mutex> lock(mutex_);
  std::string last;
  for (const auto& [key, part] : parts_) {
    const executor::Port& port = part->port;
    const std::string sbp = plan::SbpText(*port.placement, *port.buffer);
    const std::string place = absl::StrCat(port.placement->device(), " ", NestedRanks(*port.placement, 0, 0));
    if (key.first != last) {
      std::fprintf(out, "output `%s`: global shape [%s], sbp %s, placement %s\n", key.first.c_str(),
                   absl::StrJoin(port.spec.global_dims, ",").c_str(), sbp.c_str(), place.c_str());
      last = key.first;
    }
    std::fprintf(out, "  rank %d: local shape [%s] at (%s) of [%s], sbp %s, placement %s\n%s", port.rank,
                 absl::StrJoin(port.spec.dims, ",").c_str(), absl::StrJoin(port.spec.origin, ",").c_str(),
                 absl::StrJoin(port.spec.global_dims, ",").c_str(), sbp.c_str(), place.c_str(),
                 ValuesText(port.spec, part->bytes).c_str());
  }
}

}  // namespace weft::run
