// Kernels for tests of the executor: a linear model small enough to work out by
// hand. All tensors are f32; with whole numbers every sum is exact.
//
//   loss(x[r,c], w[c]) = sum of x * w        its gradient by w: column_sum(x)
#ifndef WEFT_RUNTIME_EXECUTOR_TEST_KERNELS_H_
#define WEFT_RUNTIME_EXECUTOR_TEST_KERNELS_H_

#include <cstring>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "ops/abi/registry.h"

namespace weft::executor {

// A kernel made of a function of its spec, context and operands.
using Inputs = absl::Span<const void* const>;
using Outputs = absl::Span<void* const>;
using Function = absl::Status (*)(const KernelSpec& spec, const RunContext& context, Inputs inputs, Outputs outputs);

template <Function function>
class FunctionKernel : public Kernel {
 public:
  explicit FunctionKernel(KernelSpec spec) : spec_(std::move(spec)) {}
  static absl::StatusOr<std::unique_ptr<Kernel>> Create(const KernelSpec& spec) {
    return std::make_unique<FunctionKernel>(spec);
  }
  absl::Status Run(const RunContext& context, Inputs inputs, Outputs outputs) override {
    return function(spec_, context, inputs, outputs);
  }

 private:
  const KernelSpec spec_;
};

inline const float* In(Inputs inputs, int i) { return static_cast<const float*>(inputs[i]); }
inline float* Out(Outputs outputs, int i) { return static_cast<float*>(outputs[i]); }

inline absl::Status Fill(const KernelSpec& spec, const RunContext&, Inputs, Outputs outputs) {
  const double value = *spec.attributes.Float("value");
  for (int64_t i = 0; i < spec.outputs[0].elements(); ++i) Out(outputs, 0)[i] = static_cast<float>(value);
  return absl::OkStatus();
}

inline absl::Status Scale(const KernelSpec& spec, const RunContext&, Inputs inputs, Outputs outputs) {
  const float factor = static_cast<float>(*spec.attributes.Float("factor"));
  for (int64_t i = 0; i < spec.outputs[0].elements(); ++i) Out(outputs, 0)[i] = factor * In(inputs, 0)[i];
  return absl::OkStatus();
}

inline absl::Status Loss(const KernelSpec& spec, const RunContext&, Inputs inputs, Outputs outputs) {
  const int64_t columns = spec.inputs[1].elements();
  double sum = 0;
  for (int64_t i = 0; i < spec.inputs[0].elements(); ++i) sum += In(inputs, 0)[i] * In(inputs, 1)[i % columns];
  Out(outputs, 0)[0] = static_cast<float>(sum);
  return absl::OkStatus();
}

inline absl::Status ColumnSum(const KernelSpec& spec, const RunContext&, Inputs inputs, Outputs outputs) {
  const int64_t columns = spec.outputs[0].elements();
  std::memset(outputs[0], 0, columns * sizeof(float));
  for (int64_t i = 0; i < spec.inputs[0].elements(); ++i) Out(outputs, 0)[i % columns] += In(inputs, 0)[i];
  return absl::OkStatus();
}

inline absl::Status Accumulate(const KernelSpec& spec, const RunContext& context, Inputs inputs, Outputs outputs) {
  for (int64_t i = 0; i < spec.outputs[0].elements(); ++i) {
    Out(outputs, 0)[i] = context.micro_batch == 0 ? In(inputs, 0)[i] : In(inputs, 1)[i] + In(inputs, 0)[i];
  }
  return absl::OkStatus();
}

// p -= g, in place.
inline absl::Status Descend(const KernelSpec& spec, const RunContext&, Inputs inputs, Outputs outputs) {
  for (int64_t i = 0; i < spec.outputs[0].elements(); ++i) Out(outputs, 0)[i] = In(inputs, 0)[i] - In(inputs, 1)[i];
  return absl::OkStatus();
}

// Fails on rank `coordinate` of axis 0 in step `step`.
inline absl::Status Fail(const KernelSpec& spec, const RunContext& context, Inputs, Outputs) {
  if (spec.coordinates[0] != *spec.attributes.Int("coordinate") || context.step != *spec.attributes.Int("step")) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError("token: expected below 256, got 300");
}

inline KernelRegistry TestKernels() {
  KernelRegistry registry;
  registry.Register("fill", &FunctionKernel<&Fill>::Create);
  registry.Register("scale", &FunctionKernel<&Scale>::Create);
  registry.Register("loss", &FunctionKernel<&Loss>::Create);
  registry.Register("column_sum", &FunctionKernel<&ColumnSum>::Create);
  registry.Register("accumulate", &FunctionKernel<&Accumulate>::Create);
  registry.Register("descend", &FunctionKernel<&Descend>::Create);
  registry.Register("fail", &FunctionKernel<&Fail>::Create);
  return registry;
}

}  // namespace weft::executor

#endif  // WEFT_RUNTIME_EXECUTOR_TEST_KERNELS_H_
