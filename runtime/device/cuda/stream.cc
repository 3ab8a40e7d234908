#include "runtime/device/cuda/stream.h"

namespace weft::device {

absl::StatusOr<std::unique_ptr<Event>> CudaEvent::Create(const CudaContext& context) {
  absl::StatusOr<std::shared_ptr<void>> handle = CreateCudaEvent(context);
  if (!handle.ok()) return handle.status();
  return std::unique_ptr<Event>(new CudaEvent(context, *std::move(handle)));
}

absl::Status CudaEvent::Synchronize() {
  if (absl::Status status = context_.Enter(); !status.ok()) return status;
  return context_.Check(context_.driver().EventSynchronize(handle()), "cuEventSynchronize");
}

absl::StatusOr<std::unique_ptr<Stream>> CudaStream::Create(const CudaContext& context, std::unique_ptr<Stream> host,
                                                           std::function<absl::Status()> look, bool urgent) {
  if (absl::Status status = context.Enter(); !status.ok()) return status;
  const cuda::Driver& driver = context.driver();
  int least = 0, greatest = 0;
  absl::Status status =
      context.Check(driver.CtxGetStreamPriorityRange(&least, &greatest), "cuCtxGetStreamPriorityRange");
  if (!status.ok()) return status;
  cuda::Handle handle = nullptr;
  status = context.Check(driver.StreamCreateWithPriority(&handle, cuda::kStreamNonBlocking, urgent ? greatest : least),
                         "cuStreamCreateWithPriority");
  if (!status.ok()) return status;
  // The thread's calls fail by themselves if this does.
  host->Submit([&context] { context.Enter().IgnoreError(); });
  return std::unique_ptr<Stream>(new CudaStream(context, handle, std::move(host), std::move(look)));
}

absl::StatusOr<std::unique_ptr<Graph>> CudaGraph::Create(const CudaContext& context, cuda::Handle captured,
                                                         cuda::Handle stream) {
  cuda::Handle handle = nullptr;
  absl::Status status =
      context.Check(context.driver().GraphInstantiate(&handle, captured, 0), "cuGraphInstantiateWithFlags");
  if (!status.ok()) return status;
  std::unique_ptr<Graph> graph(new CudaGraph(context, handle));
  status = context.Check(context.driver().GraphUpload(handle, stream), "cuGraphUpload");
  if (!status.ok()) return status;
  return graph;
}

CudaGraph::~CudaGraph() {
  context_.Enter().IgnoreError();
  context_.driver().GraphExecDestroy(handle_);
}

CudaStream::~CudaStream() {
  host_.reset();  // its tasks may still enqueue
  context_.Enter().IgnoreError();
  context_.driver().StreamSynchronize(handle_);
  context_.driver().StreamDestroy(handle_);
}

absl::Status CudaStream::Join() {
  absl::Status status = host_->Join();
  if (status.ok()) status = context_.Enter();
  if (status.ok()) status = context_.Check(context_.driver().StreamSynchronize(handle_), "cuStreamSynchronize");
  return status.ok() ? look_() : status;
}

absl::Status CudaStream::Copy(void* to, const void* from, size_t bytes) {
  if (bytes == 0) return absl::OkStatus();
  return context_.Check(context_.driver().MemcpyAsync(reinterpret_cast<cuda::Address>(to),
                                                      reinterpret_cast<cuda::Address>(from), bytes, handle_),
                        "cuMemcpyAsync");
}

absl::Status CudaStream::Record(Event& event) {
  return context_.Check(context_.driver().EventRecord(static_cast<CudaEvent&>(event).handle(), handle_),
                        "cuEventRecord");
}

absl::Status CudaStream::Wait(Event& event) {
  return context_.Check(context_.driver().StreamWaitEvent(handle_, static_cast<CudaEvent&>(event).handle(), 0),
                        "cuStreamWaitEvent");
}

absl::StatusOr<std::unique_ptr<Graph>> CudaStream::Capture(const std::function<absl::Status()>& task) {
  const cuda::Driver& driver = context_.driver();
  // Other threads, of other streams and ranks, may do what they like meanwhile.
  absl::Status status =
      context_.Check(driver.StreamBeginCapture(handle_, cuda::kCaptureThreadLocal), "cuStreamBeginCapture");
  if (!status.ok()) return status;
  status = task();
  cuda::Handle captured = nullptr;
  const absl::Status ended = context_.Check(driver.StreamEndCapture(handle_, &captured), "cuStreamEndCapture");
  if (status.ok()) status = ended;
  if (!status.ok() || captured == nullptr) {
    if (captured != nullptr) driver.GraphDestroy(captured);
    return status.ok() ? absl::InternalError("cuStreamEndCapture: expected a graph, got none") : status;
  }
  absl::StatusOr<std::unique_ptr<Graph>> graph = CudaGraph::Create(context_, captured, handle_);
  driver.GraphDestroy(captured);
  return graph;
}

absl::Status CudaStream::Replay(Graph& graph) {
  return context_.Check(context_.driver().GraphLaunch(static_cast<CudaGraph&>(graph).handle(), handle_),
                        "cuGraphLaunch");
}

}  // namespace weft::device
