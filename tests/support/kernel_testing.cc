#include "tests/support/kernel_testing.h"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "absl/strings/str_cat.h"
#include "ops/abi/philox.h"

namespace weft::testing {
namespace {

constexpr size_t kGuard = kGuardBytes;
constexpr int kPattern = 0xff;  // NaN in every float type

// Aligned memory with a guard behind it.
class Memory {
 public:
  explicit Memory(const TensorSpec& spec)
      : bytes_(spec.bytes()),
        data_(static_cast<char*>(std::aligned_alloc(64, (bytes_ + 63) / 64 * 64 + kGuard)), &std::free) {
    std::memset(data_.get(), kPattern, bytes_ + kGuard);
  }
  void* data() const { return data_.get(); }
  bool GuardIntact() const {
    for (size_t i = bytes_; i < bytes_ + kGuard; ++i) {
      if (static_cast<unsigned char>(data_.get()[i]) != kPattern) return false;
    }
    return true;
  }

 private:
  size_t bytes_;
  std::unique_ptr<char, void (*)(void*)> data_;
};

void Store(DType dtype, const Values& values, void* data) {
  for (size_t i = 0; i < values.size(); ++i) {
    const double x = values[i];
    if (dtype == DType::kF32) static_cast<float*>(data)[i] = static_cast<float>(x);
    if (dtype == DType::kBF16) static_cast<BFloat16*>(data)[i] = ToBFloat16(static_cast<float>(x));
    if (dtype == DType::kF16) static_cast<_Float16*>(data)[i] = static_cast<_Float16>(x);
    if (dtype == DType::kI32) static_cast<int32_t*>(data)[i] = static_cast<int32_t>(x);
    if (dtype == DType::kI64) static_cast<int64_t*>(data)[i] = static_cast<int64_t>(x);
    if (dtype == DType::kF64) static_cast<double*>(data)[i] = x;
    if (dtype == DType::kU8) static_cast<uint8_t*>(data)[i] = static_cast<uint8_t>(x);
  }
}

Values Load(DType dtype, const void* data, int64_t n) {
  Values values(static_cast<size_t>(n));
  for (size_t i = 0; i < values.size(); ++i) {
    if (dtype == DType::kF32) values[i] = static_cast<const float*>(data)[i];
    if (dtype == DType::kBF16) values[i] = ToFloat(static_cast<const BFloat16*>(data)[i]);
    if (dtype == DType::kF16) values[i] = static_cast<double>(static_cast<const _Float16*>(data)[i]);
    if (dtype == DType::kI32) values[i] = static_cast<const int32_t*>(data)[i];
    if (dtype == DType::kI64) values[i] = static_cast<double>(static_cast<const int64_t*>(data)[i]);
    if (dtype == DType::kF64) values[i] = static_cast<const double*>(data)[i];
    if (dtype == DType::kU8) values[i] = static_cast<const uint8_t*>(data)[i];
  }
  return values;
}

}  // namespace

TensorSpec Tile(DType dtype, std::vector<int64_t> dims, std::vector<int64_t> global_dims, std::vector<int64_t> origin) {
  return {dtype, std::move(dims), std::move(global_dims), std::move(origin)};
}

absl::StatusOr<std::vector<Values>> RunKernel(const KernelRegistry& registry, const KernelSpec& spec,
                                              const std::vector<Values>& inputs, const RunContext& context,
                                              const std::vector<std::pair<int, int>>& in_place) {
  absl::StatusOr<std::unique_ptr<Kernel>> kernel = registry.Create(spec);
  if (!kernel.ok()) return kernel.status();
  return RunKernel(**kernel, spec, inputs, context, in_place);
}

absl::StatusOr<std::vector<Values>> RunKernel(Kernel& kernel, const KernelSpec& spec, const std::vector<Values>& inputs,
                                              const RunContext& context,
                                              const std::vector<std::pair<int, int>>& in_place) {
  if (inputs.size() != spec.inputs.size()) return absl::InternalError("the test gives another number of inputs");
  std::vector<Memory> in, out, copies;
  for (const TensorSpec& tensor : spec.inputs) in.emplace_back(tensor);
  for (const TensorSpec& tensor : spec.outputs) out.emplace_back(tensor);
  std::vector<const void*> in_address;
  std::vector<void*> out_address;
  for (const Memory& memory : in) in_address.push_back(memory.data());
  for (const Memory& memory : out) out_address.push_back(memory.data());
  for (auto [i, o] : in_place) in_address[i] = out_address[o];
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (static_cast<int64_t>(inputs[i].size()) != spec.inputs[i].elements()) {
      return absl::InternalError(absl::StrCat("the test gives input ", i, " another number of elements"));
    }
    Store(spec.inputs[i].dtype, inputs[i], const_cast<void*>(in_address[i]));
    copies.emplace_back(spec.inputs[i]);
    std::memcpy(copies[i].data(), in_address[i], spec.inputs[i].bytes());
  }

  RunContext given = context;
  if (spec.gpu_step_values != nullptr) {  // an emulated GPU, whose memory is the host's
    given.step = RunContext::kNoStep;
    if (spec.gpu_step_values->bytes() > 0) {
      spec.gpu_step_values->Fill(context.step, static_cast<double*>(spec.gpu_step_values->data()));
    }
  }
  absl::Status status = kernel.Run(given, in_address, absl::MakeSpan(out_address));
  if (!status.ok()) return status;

  std::vector<Values> results;
  for (size_t o = 0; o < out.size(); ++o) {
    if (!out[o].GuardIntact()) return absl::InternalError(absl::StrCat("output ", o, ": written beyond its end"));
    results.push_back(Load(spec.outputs[o].dtype, out_address[o], spec.outputs[o].elements()));
  }
  for (size_t i = 0; i < in.size(); ++i) {
    if (in_address[i] == in[i].data() && std::memcmp(in[i].data(), copies[i].data(), spec.inputs[i].bytes()) != 0) {
      return absl::InternalError(absl::StrCat("input ", i, ": written though it is not in place"));
    }
  }
  return results;
}

Values RandomValues(int64_t n, uint64_t seed, double low, double high, DType dtype) {
  Values values(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) {
    const double u = UniformFloat(PhiloxElement(MixSeed(seed, 77), 0, static_cast<uint64_t>(i)));
    const double x = low + (high - low) * u;
    values[i] = dtype == DType::kI32    ? std::floor(x)
                : dtype == DType::kBF16 ? ToFloat(ToBFloat16(static_cast<float>(x)))
                : dtype == DType::kF16  ? ToFloat(ToFloat16(static_cast<float>(x)))
                                        : static_cast<float>(x);
  }
  return values;
}

Values SliceOf(const Values& whole, const TensorSpec& tile) {
  Values part(static_cast<size_t>(tile.elements()));
  for (int64_t i = 0; i < tile.elements(); ++i) {
    int64_t rest = i, index = 0, stride = 1;
    for (int64_t d = tile.rank() - 1; d >= 0; --d) {
      index += (tile.origin[d] + rest % tile.dims[d]) * stride;
      rest /= tile.dims[d];
      stride *= tile.global_dims[d];
    }
    part[i] = whole[index];
  }
  return part;
}

int64_t BroadcastIndex(int64_t index, const std::vector<int64_t>& result, const std::vector<int64_t>& dims) {
  int64_t from = 0, stride = 1;
  for (size_t back = 1; back <= result.size(); ++back) {
    const int64_t coordinate = index % result[result.size() - back];
    index /= result[result.size() - back];
    if (back > dims.size()) continue;
    const int64_t extent = dims[dims.size() - back];
    from += (extent == 1 ? 0 : coordinate) * stride;
    stride *= extent;
  }
  return from;
}

}  // namespace weft::testing
