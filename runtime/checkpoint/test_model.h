// A small model for the tests of checkpoints: what its tensors hold, and how
// they are cut over ranks.
#ifndef WEFT_RUNTIME_CHECKPOINT_TEST_MODEL_H_
#define WEFT_RUNTIME_CHECKPOINT_TEST_MODEL_H_

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "runtime/checkpoint/checkpoint_reader.h"
#include "runtime/checkpoint/checkpoint_writer.h"

namespace weft::checkpoint {

// A tensor as a plan has it: its logical dims, the shape in the file, and the
// dims that the two axes of a mesh cut (-1: they do not).
struct TestTensor {
  std::string name;
  DType dtype;
  std::vector<int64_t> dims;
  std::vector<int64_t> stored;
  int data_dim;
  int tensor_dim;
  bool in_optimizer = false;
};

inline std::vector<TestTensor> TestModel() {
  return {
      {"wte.weight", DType::kF32, {16, 8}, {16, 8}, -1, 0},
      {"h.0.attn.c_attn.weight", DType::kF32, {8, 3, 4, 2}, {8, 24}, 0, 2},
      {"h.0.attn.c_attn.bias", DType::kF32, {3, 4, 2}, {24}, -1, 1},
      {"h.0.ln_1.weight", DType::kF32, {8}, {8}, 0, -1},
      {"half", DType::kBF16, {8, 4}, {8, 4}, 1, 0},
      {"scalar", DType::kF64, {}, {}, -1, -1},
      {"wte.weight.m", DType::kF32, {16, 8}, {16, 8}, 1, 0, true},
      {"count", DType::kI32, {4, 4}, {16}, 0, 1, true},
  };
}

// How many ranks each axis has.
struct TestMesh {
  int64_t data = 1;
  int64_t tensor = 1;
  int64_t ranks() const { return data * tensor; }
};

inline TensorSpec TileOn(const TestTensor& tensor, const TestMesh& mesh, int64_t rank) {
  TensorSpec spec = TensorSpec::Whole(tensor.dtype, tensor.dims);
  auto cut = [&](int dim, int64_t parts, int64_t part) {
    if (dim < 0) return;
    spec.dims[dim] /= parts;
    spec.origin[dim] += part * spec.dims[dim];
  };
  cut(tensor.data_dim, mesh.data, rank / mesh.tensor);
  cut(tensor.tensor_dim, mesh.tensor, rank % mesh.tensor);
  return spec;
}

inline bool IsPrimary(const TestTensor& tensor, const TestMesh& mesh, int64_t rank) {
  return (tensor.data_dim >= 0 || rank / mesh.tensor == 0) && (tensor.tensor_dim >= 0 || rank % mesh.tensor == 0);
}

// The bytes of a tile: every element's bits are a function of the tensor, its
// global index and `salt`, NaN patterns included.
inline std::vector<uint8_t> TileBytes(const TestTensor& tensor, const TensorSpec& spec, uint64_t salt) {
  std::vector<uint8_t> bytes;
  const size_t size = SizeOf(spec.dtype);
  for (int64_t e = 0; e < spec.elements(); ++e) {
    uint64_t index = 0, stride = 1;
    int64_t rest = e;
    for (int64_t d = spec.rank() - 1; d >= 0; --d) {
      index += (spec.origin[d] + rest % spec.dims[d]) * stride;
      rest /= spec.dims[d];
      stride *= spec.global_dims[d];
    }
    const uint64_t bits = (index + 1) * 0x9E3779B97F4A7C15ull + salt * 0xD1B54A32D192ED03ull + tensor.name.size();
    const uint8_t* first = reinterpret_cast<const uint8_t*>(&bits) + (8 - size);
    bytes.insert(bytes.end(), first, first + size);
  }
  return bytes;
}

inline std::vector<TensorInfo> Infos(bool optimizer) {
  std::vector<TensorInfo> infos;
  for (const TestTensor& tensor : TestModel()) {
    if (tensor.in_optimizer == optimizer) infos.push_back({tensor.name, tensor.dtype, tensor.stored});
  }
  return infos;
}

// What one rank writes.
inline absl::Status WriteRank(CheckpointWriter& writer, const TestMesh& mesh, int64_t rank, uint64_t salt) {
  for (const TestTensor& tensor : TestModel()) {
    if (!IsPrimary(tensor, mesh, rank)) continue;
    const TensorSpec spec = TileOn(tensor, mesh, rank);
    const std::vector<uint8_t> bytes = TileBytes(tensor, spec, salt);
    if (absl::Status status = writer.Write(tensor.name, spec, bytes.data()); !status.ok()) return status;
  }
  return absl::OkStatus();
}

// Saves the whole model, one rank after another.
inline absl::Status Save(const CheckpointWriter::Options& options, const TestMesh& mesh, uint64_t salt) {
  auto writer = CheckpointWriter::Create(options, Infos(false), Infos(true));
  if (!writer.ok()) return writer.status();
  for (int64_t rank = 0; rank < mesh.ranks(); ++rank) {
    if (absl::Status status = WriteRank(**writer, mesh, rank, salt); !status.ok()) return status;
  }
  return (*writer)->Commit();
}

// Reads what one rank holds and compares it byte by byte.
inline absl::Status CheckRank(CheckpointReader& reader, const TestMesh& mesh, int64_t rank, uint64_t salt) {
  for (const TestTensor& tensor : TestModel()) {
    const TensorSpec spec = TileOn(tensor, mesh, rank);
    std::vector<uint8_t> bytes(spec.bytes());
    absl::Status status = reader.Read(tensor.name, spec, tensor.stored, bytes.data());
    if (!status.ok()) return status;
    if (bytes != TileBytes(tensor, spec, salt)) return absl::InternalError(tensor.name + ": other bytes than saved");
  }
  return absl::OkStatus();
}

// Opens and compares everything, as one rank.
inline absl::Status CheckSaved(const std::string& path, uint64_t salt) {
  auto reader = CheckpointReader::Open(path);
  if (!reader.ok()) return reader.status();
  return CheckRank(**reader, {}, 0, salt);
}

}  // namespace weft::checkpoint

#endif  // WEFT_RUNTIME_CHECKPOINT_TEST_MODEL_H_
