// Streams and events of a CUDA device.
#ifndef WEFT_RUNTIME_DEVICE_CUDA_STREAM_H_
#define WEFT_RUNTIME_DEVICE_CUDA_STREAM_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "runtime/device/cuda/context.h"
#include "runtime/device/device.h"

namespace weft::device {

class CudaEvent : public Event {
 public:
  static absl::StatusOr<std::unique_ptr<Event>> Create(const CudaContext& context);
  absl::Status Synchronize() override;
  cuda::Handle handle() const { return handle_.get(); }

 private:
  CudaEvent(const CudaContext& context, std::shared_ptr<void> handle) : context_(context), handle_(std::move(handle)) {}
  const CudaContext& context_;
  const std::shared_ptr<void> handle_;
};

// A graph that is ready to run.
class CudaGraph : public Graph {
 public:
  // Of what was captured, which stays the caller's; its memory on the GPU is there before the first run.
  static absl::StatusOr<std::unique_ptr<Graph>> Create(const CudaContext& context, cuda::Handle captured,
                                                       cuda::Handle stream);
  ~CudaGraph() override;
  cuda::Handle handle() const { return handle_; }

 private:
  CudaGraph(const CudaContext& context, cuda::Handle handle) : context_(context), handle_(handle) {}
  const CudaContext& context_;
  const cuda::Handle handle_;
};

// A stream of the GPU and the host's thread that feeds it.
class CudaStream : public Stream {
 public:
  // `host`: a stream of the host, whose thread is taken. `look`: what Join()
  // returns when the work is done without an error of the driver. `urgent`: of the highest priority.
  static absl::StatusOr<std::unique_ptr<Stream>> Create(const CudaContext& context, std::unique_ptr<Stream> host,
                                                        std::function<absl::Status()> look, bool urgent);
  ~CudaStream() override;
  void Submit(std::function<void()> task) override { host_->Submit(std::move(task)); }
  absl::Status Join() override;
  absl::Status Copy(void* to, const void* from, size_t bytes) override;
  absl::Status Record(Event& event) override;
  absl::Status Wait(Event& event) override;
  absl::StatusOr<std::unique_ptr<Graph>> Capture(const std::function<absl::Status()>& task) override;
  absl::Status Replay(Graph& graph) override;
  void* handle() const override { return handle_; }

 private:
  CudaStream(const CudaContext& context, cuda::Handle handle, std::unique_ptr<Stream> host,
             std::function<absl::Status()> look)
      : context_(context), handle_(handle), host_(std::move(host)), look_(std::move(look)) {}
  const CudaContext& context_;
  const cuda::Handle handle_;
  std::unique_ptr<Stream> host_;
  const std::function<absl::Status()> look_;
};

}  // namespace weft::device

#endif  // WEFT_RUNTIME_DEVICE_CUDA_STREAM_H_
