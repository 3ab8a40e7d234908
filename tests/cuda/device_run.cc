#include "tests/cuda/device_run.h"

#include <algorithm>
#include <utility>

namespace weft::tests {
namespace {

using weft::testing::Values;

constexpr int64_t kRoom = 1 << 20;  // a tensor's, at most

// Packs values as their type has them.
void Store(DType type, const Values& values, char* at) {
  for (size_t i = 0; i < values.size(); ++i) {
    const auto x = static_cast<float>(values[i]);
    if (type == DType::kF32) reinterpret_cast<float*>(at)[i] = x;
    if (type == DType::kBF16) reinterpret_cast<BFloat16*>(at)[i] = ToBFloat16(x);
    if (type == DType::kF16) reinterpret_cast<_Float16*>(at)[i] = static_cast<_Float16>(x);
  }
}

Values Load(const TensorSpec& spec, const char* at) {
  Values values(static_cast<size_t>(spec.elements()));
  for (size_t i = 0; i < values.size(); ++i) {
    if (spec.dtype == DType::kF32) values[i] = reinterpret_cast<const float*>(at)[i];
    if (spec.dtype == DType::kBF16) values[i] = ToFloat(reinterpret_cast<const BFloat16*>(at)[i]);
    if (spec.dtype == DType::kF16) values[i] = static_cast<double>(reinterpret_cast<const _Float16*>(at)[i]);
  }
  return values;
}

}  // namespace

absl::StatusOr<std::vector<Values>> RunOnDevice(EmulatedGpu& gpu, KernelSpec spec, const std::vector<Values>& inputs,
                                                const std::function<void()>& created, const RunContext& context,
                                                const std::vector<std::pair<int, int>>& in_place) {
  spec.gpu = gpu.device->gpu();
  spec.gpu_workspace = std::make_shared<GpuWorkspace>();
  auto kernel = gpu.kernels.Create(spec);
  if (!kernel.ok()) return kernel.status();
  if (created) created();
  const auto tensors = static_cast<int64_t>(spec.inputs.size() + spec.outputs.size());
  const auto device = *gpu.device->AllocateArena(tensors * kRoom);
  const auto host = *gpu.device->AllocateHostMemory(tensors * kRoom);
  const auto stream = *gpu.device->CreateStream("test");
  std::fill_n(reinterpret_cast<unsigned char*>(host->base()), tensors * kRoom, 0xff);
  std::vector<const void*> in;
  std::vector<void*> out;
  for (size_t i = 0; i < inputs.size(); ++i) {
    // Tensors are aligned to 64 bytes and to no more.
    Store(spec.inputs[i].dtype, inputs[i], host->base() + in.size() * kRoom + 64);
    in.push_back(device->base() + in.size() * kRoom + 64);
  }
  std::vector<size_t> places;  // of the outputs
  for (size_t o = 0; o < spec.outputs.size(); ++o) places.push_back(in.size() + o);
  for (const auto& [input, output] : in_place) places[static_cast<size_t>(output)] = static_cast<size_t>(input);
  for (size_t place : places) out.push_back(device->base() + place * kRoom + 64);
  absl::Status status;
  RunContext on_stream = context;
  on_stream.stream = stream->handle();
  stream->Submit([&] {
    status = stream->Copy(device->base(), host->base(), tensors * kRoom);
    if (status.ok()) status = (*kernel)->Run(on_stream, in, absl::MakeSpan(out));
    if (status.ok()) status = stream->Copy(host->base(), device->base(), tensors * kRoom);
  });
  const absl::Status joined = stream->Join();
  if (!status.ok() || !joined.ok()) return status.ok() ? joined : status;
  std::vector<Values> results;
  for (size_t o = 0; o < out.size(); ++o) {
    results.push_back(Load(spec.outputs[o], host->base() + places[o] * kRoom + 64));
  }
  return results;
}

}  // namespace weft::tests
