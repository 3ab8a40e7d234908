#include "tools/run/results.h"

#include <cstdlib>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "runtime/plan/enums.h"
#include "runtime/plan/names.h"
#include "tools/run/inputs.h"

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
    case DType::kF16:
      return absl::StrFormat("%9.4f", ToFloat(load(Float16{})));
    case DType::kI32:
      return absl::StrFormat("%6d", load(int32_t{}));
    case DType::kI64:
      return absl::StrFormat("%6d", load(int64_t{}));
    case DType::kU8:
      return absl::StrFormat("%4d", load(uint8_t{}));
    case DType::kInvalid:
      break;
  }
  return "?";
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

// Texts one after another, each behind its length.
void AppendField(std::string& bytes, const std::string& text) {
  const uint64_t size = text.size();
  bytes.append(reinterpret_cast<const char*>(&size), sizeof(size));
  bytes.append(text);
}

std::string TakeField(const std::string& bytes, size_t& at) {
  uint64_t size = 0;
  std::memcpy(&size, bytes.data() + at, sizeof(size));
  const std::string text = bytes.substr(at + sizeof(size), size);
  at += sizeof(size) + size;
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

absl::Status CheckWhole(const executor::Port& port) {
  for (const plan::Sbp& sbp : port.buffer->sbp()) {
    if (sbp.kind() == plan::Sbp::BROADCAST || sbp.kind() == plan::Sbp::SPLIT) continue;
    return absl::FailedPreconditionError(absl::StrCat("output `", port.name, "`: expected S or B on every axis, got ",
                                                      plan::SbpText(*port.placement, *port.buffer)));
  }
  return absl::OkStatus();
}

absl::Status Results::CheckWhole() const {
  for (const auto& [key, part] : parts_) {
    if (absl::Status status = run::CheckWhole(part->port); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status Results::WriteTiles(OutputFile& file) const {
  for (const auto& [key, part] : parts_) {
    if (!part->port.primary) continue;
    absl::Status status = file.Write(key.first, part->port.spec, part->bytes.data());
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status Results::Write(const Context& context, const std::string& path) const {
  std::lock_guard<std::mutex> lock(mutex_);
  Processes& processes = context.processes;
  if (absl::Status status = processes.Agree(CheckWhole()); !status.ok()) return status;
  std::vector<checkpoint::TensorInfo> tensors;
  for (const InputInfo& output : OutputsOf(context.plan)) {
    tensors.push_back({output.name, plan::TypeOf(output.dtype), output.shape});
  }
  const auto file = OutputFile::Create(processes, path, tensors);
  if (!file.ok()) return file.status();
  return (*file)->Commit(WriteTiles(**file));
}

absl::Status Results::Print(const Context& context) const {
  std::lock_guard<std::mutex> lock(mutex_);
  std::string own;
  for (const auto& [key, part] : parts_) {
    const executor::Port& port = part->port;
    const std::string sbp = plan::SbpText(*port.placement, *port.buffer);
    const std::string place = absl::StrCat(port.placement->device(), " ", NestedRanks(*port.placement, 0, 0));
    AppendField(own, key.first);
    AppendField(own, absl::StrCat(key.second));
    AppendField(own, absl::StrFormat("output `%s`: global shape [%s], sbp %s, placement %s\n", key.first,
                                     absl::StrJoin(port.spec.global_dims, ","), sbp, place));
    AppendField(own, absl::StrFormat("  rank %d: local shape [%s] at (%s) of [%s], sbp %s, placement %s\n%s", port.rank,
                                     absl::StrJoin(port.spec.dims, ","), absl::StrJoin(port.spec.origin, ","),
                                     absl::StrJoin(port.spec.global_dims, ","), sbp, place,
                                     ValuesText(port.spec, part->bytes)));
  }
  const absl::StatusOr<std::vector<std::string>> all = context.processes.AllGather(own);
  if (!all.ok() || !context.processes.first()) return all.status();
  std::map<std::pair<std::string, int>, std::pair<std::string, std::string>> texts;  // by output and rank
  for (const std::string& one : *all) {
    for (size_t at = 0; at < one.size();) {
      const std::string name = TakeField(one, at), rank = TakeField(one, at);
      std::string head = TakeField(one, at), body = TakeField(one, at);
      texts[{name, std::atoi(rank.c_str())}] = {std::move(head), std::move(body)};
    }
  }
  std::string last;
  for (const auto& [key, text] : texts) {
    if (key.first != last) std::fputs(text.first.c_str(), context.out);
    last = key.first;
    std::fputs(text.second.c_str(), context.out);
  }
  return absl::OkStatus();
}

}  // namespace weft::run
