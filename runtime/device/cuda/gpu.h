// The Gpu of a CUDA device: modules, launches and what kernels allocate.
#ifndef WEFT_RUNTIME_DEVICE_CUDA_GPU_H_
#define WEFT_RUNTIME_DEVICE_CUDA_GPU_H_

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "ops/abi/gpu.h"
#include "ops/abi/gpu_attention.h"
#include "ops/abi/gpu_matmul.h"
#include "runtime/device/cuda/context.h"

namespace weft::device {

class CudaGpu : public Gpu {
 public:
  static absl::StatusOr<std::unique_ptr<CudaGpu>> Create(const CudaContext& context, std::vector<GpuModule> modules);
  ~CudaGpu() override;

  const GpuProperties& properties() const override { return properties_; }
  absl::Status Enter() override { return context_.Enter(); }
  absl::Status Add(const std::string& module, const std::string& text) override;
  absl::StatusOr<void*> Find(const std::string& module, const std::string& kernel, size_t argument_bytes,
                             int64_t shared_bytes) override;
  absl::StatusOr<std::shared_ptr<void>> Allocate(size_t bytes) override;
  absl::StatusOr<std::shared_ptr<GpuAlarm>> CreateAlarm(std::function<absl::Status(const GpuAlarm&)> describe) override;
  absl::Status Launch(void* kernel, const GpuGrid& grid, const void* arguments, void* stream) override;
  absl::Status Copy(void* to, const void* from, size_t bytes, void* stream) override;
  absl::Status Fill(void* to, uint8_t value, size_t bytes, void* stream) override;
  absl::StatusOr<std::shared_ptr<void>> CreateEvent() override { return CreateCudaEvent(context_); }
  absl::Status Record(void* event, void* stream) override;
  absl::Status Wait(void* event, void* stream) override;
  absl::StatusOr<bool> Reached(void* event) override;

  GpuMatmuls* matmuls() override { return matmuls_.get(); }
  // Both before the first kernel is made.
  void set_matmuls(std::unique_ptr<GpuMatmuls> matmuls) { matmuls_ = std::move(matmuls); }
  GpuAttentions* attentions() override { return attentions_.get(); }
  void set_attentions(std::unique_ptr<GpuAttentions> attentions) { attentions_ = std::move(attentions); }

  // What the first raised alarm says.
  absl::Status CheckAlarms() const;

 private:
  struct Function {
    std::string name;
    cuda::Handle handle;
  };
  struct Alarm {
    std::weak_ptr<GpuAlarm> alarm;
    std::function<absl::Status(const GpuAlarm&)> describe;
  };

  CudaGpu(const CudaContext& context, std::vector<GpuModule> modules, GpuProperties properties)
      : context_(context), modules_(std::move(modules)), properties_(properties) {}
  // Under the mutex.
  absl::StatusOr<cuda::Handle> Load(const std::string& name);
  absl::StatusOr<cuda::Handle> LoadImage(const std::string& name, const void* image);

  const CudaContext& context_;
  const std::vector<GpuModule> modules_;
  const GpuProperties properties_;
  std::unique_ptr<GpuMatmuls> matmuls_;
  std::unique_ptr<GpuAttentions> attentions_;
  mutable std::mutex mutex_;  // guards what follows
  std::map<std::string, cuda::Handle> loaded_;
  std::deque<Function> functions_;
  std::vector<Alarm> alarms_;
};

}  // namespace weft::device

#endif  // WEFT_RUNTIME_DEVICE_CUDA_GPU_H_
