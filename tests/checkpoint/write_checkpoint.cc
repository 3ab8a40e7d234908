// Saves a small GPT-2 from four ranks at a time, for a reader of another kind:
// write_checkpoint FOLDER. Element i of a tensor is i for f32 and bf16, and
// 7 i for i32; the reader knows that too.
#include <cstdint>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "ops/abi/dtype.h"
#include "runtime/checkpoint/checkpoint_writer.h"

namespace {

using weft::BFloat16;
using weft::DType;
using weft::TensorSpec;
using weft::checkpoint::CheckpointWriter;
using weft::checkpoint::TensorInfo;

struct Tensor {
  TensorInfo stored;
  std::vector<int64_t> dims;
  int split;  // the dim that is cut over the ranks
};

const std::vector<Tensor>& Model() {
  static const std::vector<Tensor> model = {
      {{"wte.weight", DType::kF32, {64, 16}}, {64, 16}, 0},
      {{"h.0.attn.c_attn.weight", DType::kF32, {16, 48}}, {16, 3, 4, 4}, 2},
      {{"h.0.attn.c_attn.bias", DType::kF32, {48}}, {3, 4, 4}, 1},
      {{"h.0.mlp.c_fc.weight", DType::kF32, {16, 64}}, {16, 64}, 1},
      {{"half", DType::kBF16, {8, 4}}, {8, 4}, 1},
  };
  return model;
}

const std::vector<Tensor>& Optimizer() {
  static const std::vector<Tensor> optimizer = {
      {{"wte.weight.m", DType::kF32, {64, 16}}, {64, 16}, 1},
      {{"count", DType::kI32, {4}}, {4}, 0},
  };
  return optimizer;
}

std::vector<char> Values(const TensorSpec& spec) {
  std::vector<char> bytes(spec.bytes());
  for (int64_t e = 0; e < spec.elements(); ++e) {
    int64_t rest = e, index = 0, stride = 1;
    for (int64_t d = spec.rank() - 1; d >= 0; --d) {
      index += (spec.origin[d] + rest % spec.dims[d]) * stride;
      rest /= spec.dims[d];
      stride *= spec.global_dims[d];
    }
    if (spec.dtype == DType::kF32) reinterpret_cast<float*>(bytes.data())[e] = static_cast<float>(index);
    if (spec.dtype == DType::kI32) reinterpret_cast<int32_t*>(bytes.data())[e] = static_cast<int32_t>(7 * index);
    if (spec.dtype == DType::kBF16) {
      reinterpret_cast<BFloat16*>(bytes.data())[e] = weft::ToBFloat16(static_cast<float>(index));
    }
  }
  return bytes;
}

std::vector<TensorInfo> Infos(const std::vector<Tensor>& tensors) {
  std::vector<TensorInfo> infos;
  for (const Tensor& tensor : tensors) infos.push_back(tensor.stored);
  return infos;
}

// The writer keeps the first failure, which Commit returns.
void WriteRank(CheckpointWriter& writer, int64_t rank, int64_t ranks) {
  for (const std::vector<Tensor>* tensors : {&Model(), &Optimizer()}) {
    for (const Tensor& tensor : *tensors) {
      TensorSpec spec = TensorSpec::Whole(tensor.stored.dtype, tensor.dims);
      spec.dims[tensor.split] /= ranks;
      spec.origin[tensor.split] = rank * spec.dims[tensor.split];
      writer.Write(tensor.stored.name, spec, Values(spec).data()).IgnoreError();
    }
  }
}

absl::Status Save(const std::string& folder) {
  auto writer = CheckpointWriter::Create({folder, 40, 1234, {{"plan", "hash"}}}, Infos(Model()), Infos(Optimizer()));
  if (!writer.ok()) return writer.status();
  std::vector<std::thread> threads;
  for (int64_t rank = 0; rank < 4; ++rank) threads.emplace_back([&, rank] { WriteRank(**writer, rank, 4); });
  for (std::thread& thread : threads) thread.join();
  return (*writer)->Commit();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: write_checkpoint FOLDER\n");
    return 2;
  }
  const absl::Status status = Save(argv[1]);
  if (status.ok()) return 0;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return 1;
}
