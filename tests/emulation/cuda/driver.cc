#include "tests/emulation/cuda/driver.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>

#include "absl/strings/str_cat.h"
#include "tests/emulation/cuda/graph.h"
#include "tests/emulation/cuda/memory.h"
#include "tests/emulation/cuda/stream.h"
#include "tests/emulation/ptx/ptx.h"

namespace weft::cuda {
namespace {

thread_local const void* current_context = nullptr;

constexpr int kGreatestPriority = -5;

const char* NameOf(Result result) {
  switch (result) {
    case kSuccess:
      return "CUDA_SUCCESS";
    case kInvalidValue:
      return "CUDA_ERROR_INVALID_VALUE";
    case kOutOfMemory:
      return "CUDA_ERROR_OUT_OF_MEMORY";
    case kInvalidContext:
      return "CUDA_ERROR_INVALID_CONTEXT";
    case kInvalidPtx:
      return "CUDA_ERROR_INVALID_PTX";
    case kNoBinaryForGpu:
      return "CUDA_ERROR_NO_BINARY_FOR_GPU";
    case kNotFound:
      return "CUDA_ERROR_NOT_FOUND";
    case kNotReady:
      return "CUDA_ERROR_NOT_READY";
    case kLaunchFailed:
      return "CUDA_ERROR_LAUNCH_FAILED";
    case kIllegalState:
      return "CUDA_ERROR_ILLEGAL_STATE";
    case kCaptureUnsupported:
      return "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED";
    case kCaptureInvalidated:
      return "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED";
    case kCaptureIsolation:
      return "CUDA_ERROR_STREAM_CAPTURE_ISOLATION";
    case kCapturedEvent:
      return "CUDA_ERROR_CAPTURED_EVENT";
    case kCaptureWrongThread:
      return "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD";
    default:
      return nullptr;
  }
}

}  // namespace

struct EmulatedDriver::State {
  struct Gpu {
    explicit Gpu(const EmulatedOptions& it) : memory(it.memory_bytes, it.computes) {}
    EmulatedMemory memory;
  };

  explicit State(const EmulatedOptions& it) : options(it) {
    for (int g = 0; g < options.gpus; ++g) gpus.push_back(std::make_unique<Gpu>(options));
  }

  const EmulatedOptions options;
  std::vector<std::unique_ptr<Gpu>> gpus;
  EmulatedGraphs graphs;
  std::atomic<int64_t> launches{0}, submissions{0}, replays{0};
  std::atomic<Result> sticky{kSuccess};  // once a kernel has failed, everything does
  mutable std::mutex mutex;              // guards what follows
  std::vector<std::string> complaints;
  std::map<Handle, std::shared_ptr<EmulatedStream>> streams;
  std::map<Handle, const Gpu*> stream_gpus;
  std::set<Handle> events;
  std::map<uint64_t, size_t> pinned;
  std::set<Handle> loaded;  // functions
  std::map<Handle, uint64_t> graph_memory;
  std::vector<std::unique_ptr<EmulatedModule>> translated;
  int64_t urgent = 0;  // streams of the greatest priority, so far
  uint64_t seed = 0;

  Result Complain(Result result, const std::string& what) {
    std::lock_guard<std::mutex> lock(mutex);
    std::fprintf(stderr, "emulated CUDA driver: %s\n", what.c_str());
    complaints.push_back(what);
    return result;
  }

  Gpu* Current() const {
    for (const auto& gpu : gpus) {
      if (gpu.get() == current_context) return gpu.get();
    }
    return nullptr;
  }

  // What every call but those about devices begins with.
  Result Enter(const char* call) {
    if (sticky != kSuccess) return sticky;
    return Current() != nullptr ? kSuccess
                                : Complain(kInvalidContext, absl::StrCat(call, ": no context on this thread"));
  }

  // What calls begin with that may wait for the GPU or change its memory: not while a stream records.
  Result EnterAlone(const char* call) {
    if (const Result result = Enter(call); result != kSuccess) return result;
    if (!graphs.Disturb()) return kSuccess;
    return Complain(kCaptureUnsupported, absl::StrCat(call, ": while this thread records a graph"));
  }

  Result CreateStream(Handle* stream, int priority) {
    if (const Result result = Enter("cuStreamCreate"); result != kSuccess) return result;
    auto made = std::make_unique<EmulatedStream>(NextSeed(), options.most_delay_us);
    *stream = made.get();
    std::lock_guard<std::mutex> lock(mutex);
    streams[*stream] = std::move(made);
    stream_gpus[*stream] = Current();
    if (priority == kGreatestPriority) ++urgent;
    return kSuccess;
  }

  EmulatedStream* StreamOf(Handle stream) {
    std::lock_guard<std::mutex> lock(mutex);
    const auto found = streams.find(stream);
    return found == streams.end() ? nullptr : found->second.get();
  }

  // Adds work to a stream, if the handle is one.
  Result Enqueue(const char* call, Handle stream, std::function<void()> work) {
    if (const Result result = Enter(call); result != kSuccess) return result;
    EmulatedStream* const it = StreamOf(stream);
    if (it == nullptr) return Complain(kInvalidValue, absl::StrCat(call, ": expected a stream, got another handle"));
    Result result = kSuccess;
    if (graphs.Keep(stream, work, &result)) return result;
    ++submissions;
    it->Add(std::move(work));
    return kSuccess;
  }

  EmulatedEvent* EventOf(Handle event) {
    std::lock_guard<std::mutex> lock(mutex);
    return events.count(event) != 0 ? static_cast<EmulatedEvent*>(event) : nullptr;
  }

  // As the driver does before memory goes: what this thread's GPU still has to do.
  void DrainAll() {
    std::vector<std::shared_ptr<EmulatedStream>> all;  // other threads may destroy some meanwhile
    {
      std::lock_guard<std::mutex> lock(mutex);
      for (auto& [handle, stream] : streams) {
        if (stream_gpus[handle] == Current()) all.push_back(stream);
      }
    }
    for (const auto& stream : all) stream->Drain();
  }

  bool IsMemory(const Gpu& gpu, uint64_t address, size_t bytes) {
    if (gpu.memory.IsDevice(address)) return gpu.memory.Holds(address, bytes);
    std::lock_guard<std::mutex> lock(mutex);
    auto found = pinned.upper_bound(address);
    if (found == pinned.begin()) return false;
    --found;
    return address + bytes <= found->first + found->second;
  }

  Result Copy(uint64_t to, uint64_t from, size_t bytes, Handle stream) {
    Gpu* const gpu = Current();
    if (gpu != nullptr && !(IsMemory(*gpu, to, bytes) && IsMemory(*gpu, from, bytes))) {
      return Complain(kInvalidValue, absl::StrCat("cuMemcpyAsync of ", bytes,
                                                  " bytes: expected device or pinned host memory on both sides"));
    }
    return Enqueue("cuMemcpyAsync", stream, [this, gpu, to, from, bytes] {
      if (!options.computes) return;
      const EmulatedMemory::Work work(gpu->memory);
      std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes);
    });
  }

  Result Fill(uint64_t to, unsigned char value, size_t bytes, Handle stream) {
    Gpu* const gpu = Current();
    if (gpu != nullptr && !gpu->memory.Holds(to, bytes)) {
      return Complain(kInvalidValue, absl::StrCat("cuMemsetD8Async of ", bytes, " bytes: expected device memory"));
    }
    return Enqueue("cuMemsetD8Async", stream, [this, gpu, to, value, bytes] {
      if (!options.computes) return;
      const EmulatedMemory::Work work(gpu->memory);
      std::memset(reinterpret_cast<void*>(to), value, bytes);
    });
  }

  Result Translate(Handle* module, const char* text) {
    absl::StatusOr<std::unique_ptr<EmulatedModule>> made = ptx::Parse("generated", text);
    if (!made.ok()) return Complain(kInvalidPtx, std::string(made.status().message()));
    std::lock_guard<std::mutex> lock(mutex);
    *module = made->get();
    translated.push_back(*std::move(made));
    return kSuccess;
  }

  bool IsLoaded(const EmulatedKernel* kernel) {
    std::lock_guard<std::mutex> lock(mutex);
    return loaded.count(const_cast<EmulatedKernel*>(kernel)) != 0;
  }

  Result Launch(const EmulatedKernel* kernel, const GpuGrid& grid, Handle stream, void** parameters) {
    if (!IsLoaded(kernel)) {
      return Complain(kLaunchFailed, absl::StrCat("cuLaunchKernel: ", kernel->name,
                                                  " is loaded by its first launch, which may wait for all streams"));
    }
    ++launches;
    if (!options.computes) {
      const absl::Status fits = CheckGrid(*kernel, grid);
      return fits.ok() ? Enqueue("cuLaunchKernel", stream, [] {})
                       : Complain(kLaunchFailed, std::string(fits.message()));
    }
    Gpu* const gpu = Current();
    const auto* arguments = static_cast<const char*>(parameters[0]);
    return Enqueue("cuLaunchKernel", stream,
                   [this, gpu, kernel, grid, copy = std::vector<char>(arguments, arguments + kernel->argument_bytes),
                    order = NextSeed()] {
                     if (sticky != kSuccess) return;
                     const EmulatedMemory::Work work(gpu->memory);
                     const absl::Status status = kernel->run(*kernel, grid, copy.data(), order % 3);
                     if (status.ok()) return;
                     Complain(kLaunchFailed, std::string(status.message()));
                     sticky = kLaunchFailed;
                   });
  }

  Result Record(Handle event, Handle stream) {
    EmulatedEvent* const it = EventOf(event);
    if (it == nullptr) return Complain(kInvalidValue, "cuEventRecord: not an event");
    if (graphs.Records(stream)) return graphs.Mark(event, stream), kSuccess;
    graphs.Forget(event);
    EmulatedStream* const on = StreamOf(stream);
    return Enqueue("cuEventRecord", stream, [it, on, point = it->Note()] { it->Reach(point, on->milliseconds()); });
  }

  Result Wait(Handle stream, Handle event) {
    EmulatedEvent* const it = EventOf(event);
    if (it == nullptr) return Complain(kInvalidValue, "cuStreamWaitEvent: not an event");
    if (graphs.IsMarkedBy(event, stream)) return kSuccess;  // by this stream itself, before
    if (graphs.Records(stream) || graphs.IsMarked(event)) {
      graphs.Spoil(stream);
      return Complain(kCaptureIsolation, "cuStreamWaitEvent: one of stream and event is of a graph that is recorded");
    }
    return Enqueue("cuStreamWaitEvent", stream, [it, point = it->noted()] { it->Await(point); });
  }

  // Before the host looks at a stream or an event, or waits for it.
  Result Look(const char* call, Handle stream, Handle event) {
    if (stream != nullptr && graphs.Records(stream)) {
      graphs.Spoil(stream);
      return Complain(kCaptureUnsupported, absl::StrCat(call, ": the stream records a graph"));
    }
    if (event != nullptr && graphs.IsMarked(event)) {
      return Complain(kCapturedEvent, absl::StrCat(call, ": the event is of a graph"));
    }
    return EnterAlone(call);
  }

  Result Instantiate(Handle* exec, Handle graph) {
    if (const Result result = EnterAlone("cuGraphInstantiate"); result != kSuccess) return result;
    DrainAll();  // as a driver may, that wants memory for it
    if (options.on_graph) options.on_graph();
    const uint64_t memory = options.graph_bytes == 0 ? 0 : Current()->memory.Allocate(options.graph_bytes);
    if (options.graph_bytes != 0 && memory == 0) return kOutOfMemory;
    *exec = graphs.Instantiate(graph);
    if (*exec == nullptr) return Complain(kInvalidValue, "cuGraphInstantiate: not a graph");
    std::lock_guard<std::mutex> lock(mutex);
    graph_memory[*exec] = memory;
    return kSuccess;
  }

  Result Replay(Handle exec, Handle stream) {
    const std::shared_ptr<const EmulatedGraphs::Work> work = graphs.WorkOf(exec);
    if (work == nullptr) return Complain(kInvalidValue, "cuGraphLaunch: not a graph that is ready to run");
    if (graphs.Records(stream)) return Complain(kCaptureUnsupported, "cuGraphLaunch: on a stream that records");
    ++replays;
    return Enqueue("cuGraphLaunch", stream, [work] {
      for (const auto& each : *work) each();
    });
  }

  Result DestroyExec(Handle exec) {
    if (!graphs.DestroyExec(exec)) return Complain(kInvalidValue, "cuGraphExecDestroy: not a graph");
    uint64_t memory = 0;
    {
      std::lock_guard<std::mutex> lock(mutex);
      memory = graph_memory[exec];
      graph_memory.erase(exec);
    }
    if (memory != 0) Current()->memory.Free(memory);
    return kSuccess;
  }

  uint64_t NextSeed() {
    std::lock_guard<std::mutex> lock(mutex);
    return options.seed + ++seed;
  }
};

EmulatedDriver::EmulatedDriver(const EmulatedOptions& options) : state_(std::make_unique<State>(options)) {
  State* const s = state_.get();
  driver_.GetErrorName = [](Result result, const char** name) {
    return (*name = NameOf(result)) ? kSuccess : kInvalidValue;
  };
  driver_.GetErrorString = [](Result result, const char** text) {
    return (*text = "emulated") ? kSuccess : kInvalidValue;
  };
  driver_.Init = [](unsigned) { return kSuccess; };
  driver_.DriverGetVersion = [](int* version) { return *version = 13000, kSuccess; };
  driver_.DeviceGetCount = [s](int* count) { return *count = s->options.gpus, kSuccess; };
  driver_.DeviceGet = [s](Ordinal* device, int ordinal) {
    if (ordinal < 0 || ordinal >= s->options.gpus) return kInvalidValue;
    return *device = ordinal, kSuccess;
  };
  driver_.DeviceGetName = [](char* name, int bytes, Ordinal) {
    return std::snprintf(name, bytes, "emulated"), kSuccess;
  };
  driver_.DeviceTotalMem = [s](size_t* bytes, Ordinal) {
    return *bytes = static_cast<size_t>(s->options.memory_bytes), kSuccess;
  };
  driver_.DeviceGetAttribute = [s](int* value, int attribute, Ordinal) {
    const std::map<int, int> values = {{kMultiprocessorCount, 4},
                                       {kComputeCapabilityMajor, s->options.major},
                                       {kComputeCapabilityMinor, s->options.minor},
                                       {kMaxSharedBytesOptin, 99 << 10}};
    const auto found = values.find(attribute);
    if (found == values.end()) return kInvalidValue;
    return *value = found->second, kSuccess;
  };
  driver_.DeviceGetUuid = [](Uuid* uuid, Ordinal device) {
    *uuid = {};
    std::snprintf(uuid->bytes, sizeof(uuid->bytes), "emulated %d", device);
    return kSuccess;
  };
  driver_.DevicePrimaryCtxRetain = [s](Handle* context, Ordinal device) {
    return *context = s->gpus[device].get(), kSuccess;
  };
  driver_.DevicePrimaryCtxRelease = [](Ordinal) { return kSuccess; };
  driver_.CtxSetCurrent = [](Handle context) { return current_context = context, kSuccess; };
  driver_.MemGetInfo = [s](size_t* free, size_t* total) {
    if (const Result result = s->Enter("cuMemGetInfo"); result != kSuccess) return result;
    const EmulatedMemory& memory = s->Current()->memory;
    *free = static_cast<size_t>(memory.capacity() - memory.allocated());
    return *total = static_cast<size_t>(memory.capacity()), kSuccess;
  };
  driver_.MemAlloc = [s](Address* address, size_t bytes) {
    if (const Result result = s->EnterAlone("cuMemAlloc"); result != kSuccess) return result;
    *address = s->Current()->memory.Allocate(bytes);
    return *address != 0 ? kSuccess : kOutOfMemory;
  };
  driver_.MemFree = [s](Address address) {
    if (const Result result = s->EnterAlone("cuMemFree"); result != kSuccess) return result;
    s->DrainAll();
    return s->Current()->memory.Free(address) ? kSuccess : s->Complain(kInvalidValue, "cuMemFree: not allocated");
  };
  driver_.MemHostAlloc = [s](void** memory, size_t bytes, unsigned) {
    if (const Result result = s->EnterAlone("cuMemHostAlloc"); result != kSuccess) return result;
    *memory = std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    std::lock_guard<std::mutex> lock(s->mutex);
    s->pinned[reinterpret_cast<uint64_t>(*memory)] = bytes;
    return kSuccess;
  };
  driver_.MemFreeHost = [s](void* memory) {
    s->DrainAll();
    std::lock_guard<std::mutex> lock(s->mutex);
    if (s->pinned.erase(reinterpret_cast<uint64_t>(memory)) == 0) return kInvalidValue;
    return std::free(memory), kSuccess;
  };
  driver_.MemsetD8Async = [s](Address to, unsigned char value, size_t bytes, Handle stream) {
    return s->Fill(to, value, bytes, stream);
  };
  driver_.MemcpyAsync = [s](Address to, Address from, size_t bytes, Handle stream) {
    return s->Copy(to, from, bytes, stream);
  };
  driver_.StreamCreate = [s](Handle* stream, unsigned) { return s->CreateStream(stream, 0); };
  driver_.StreamCreateWithPriority = [s](Handle* stream, unsigned, int priority) {
    return s->CreateStream(stream, priority);
  };
  driver_.CtxGetStreamPriorityRange = [s](int* least, int* greatest) {
    if (const Result result = s->Enter("cuCtxGetStreamPriorityRange"); result != kSuccess) return result;
    *least = 0;
    return *greatest = kGreatestPriority, kSuccess;
  };
  driver_.StreamDestroy = [s](Handle stream) {
    if (s->graphs.Records(stream)) s->Complain(kCaptureUnsupported, "cuStreamDestroy: the stream records a graph");
    std::shared_ptr<EmulatedStream> gone;  // ends its work without the lock
    std::lock_guard<std::mutex> lock(s->mutex);
    const auto found = s->streams.find(stream);
    if (found == s->streams.end()) return kInvalidValue;
    gone = std::move(found->second);
    s->streams.erase(found);
    return kSuccess;
  };
  driver_.StreamSynchronize = [s](Handle stream) {
    if (const Result result = s->Look("cuStreamSynchronize", stream, nullptr); result != kSuccess) return result;
    EmulatedStream* const it = s->StreamOf(stream);
    if (it == nullptr) return s->Complain(kInvalidValue, "cuStreamSynchronize: not a stream");
    it->Drain();
    return s->sticky.load();
  };
  driver_.StreamWaitEvent = [s](Handle stream, Handle event, unsigned) { return s->Wait(stream, event); };
  driver_.EventCreate = [s](Handle* event, unsigned) {
    if (const Result result = s->Enter("cuEventCreate"); result != kSuccess) return result;
    *event = new EmulatedEvent();
    std::lock_guard<std::mutex> lock(s->mutex);
    s->events.insert(*event);
    return kSuccess;
  };
  driver_.EventDestroy = [s](Handle event) {
    s->DrainAll();  // those that still wait for it
    std::lock_guard<std::mutex> lock(s->mutex);
    if (s->events.erase(event) == 0) return kInvalidValue;
    s->graphs.Forget(event);
    return delete static_cast<EmulatedEvent*>(event), kSuccess;
  };
  driver_.EventRecord = [s](Handle event, Handle stream) { return s->Record(event, stream); };
  driver_.EventSynchronize = [s](Handle event) {
    EmulatedEvent* const it = s->EventOf(event);
    if (it == nullptr) return s->Complain(kInvalidValue, "cuEventSynchronize: not an event");
    if (const Result result = s->Look("cuEventSynchronize", nullptr, event); result != kSuccess) return result;
    it->Await(it->noted());
    return s->sticky.load();
  };
  driver_.EventQuery = [s](Handle event) {
    EmulatedEvent* const it = s->EventOf(event);
    if (it == nullptr) return s->Complain(kInvalidValue, "cuEventQuery: not an event");
    if (const Result result = s->Look("cuEventQuery", nullptr, event); result != kSuccess) return result;
    return it->reached() >= it->noted() ? s->sticky.load() : kNotReady;
  };
  driver_.EventElapsedTime = [s](float* milliseconds, Handle begin, Handle end) {
    EmulatedEvent* const from = s->EventOf(begin);
    EmulatedEvent* const to = s->EventOf(end);
    if (from == nullptr || to == nullptr) return s->Complain(kInvalidValue, "cuEventElapsedTime: not an event");
    return *milliseconds = static_cast<float>(to->milliseconds() - from->milliseconds()), kSuccess;
  };
  driver_.ModuleLoadData = [s](Handle* module, const void* image) {
    if (const Result result = s->EnterAlone("cuModuleLoadData"); result != kSuccess) return result;
    if (ptx::IsText(image)) return s->Translate(module, static_cast<const char*>(image));
    const auto* it = static_cast<const EmulatedModule*>(image);
    if (it->magic != EmulatedModule::kMagic) return kNoBinaryForGpu;
    return *module = const_cast<EmulatedModule*>(it), kSuccess;
  };
  driver_.ModuleUnload = [](Handle) { return kSuccess; };
  driver_.ModuleGetFunction = [](Handle* function, Handle module, const char* name) {
    for (const EmulatedKernel* kernel : static_cast<const EmulatedModule*>(module)->kernels) {
      if (std::strcmp(kernel->name, name) == 0) return *function = const_cast<EmulatedKernel*>(kernel), kSuccess;
    }
    return kNotFound;
  };
  driver_.FuncGetParamInfo = [](Handle function, size_t, size_t* offset, size_t* bytes) {
    *offset = 0;
    return *bytes = static_cast<const EmulatedKernel*>(function)->argument_bytes, kSuccess;
  };
  driver_.FuncLoad = [s](Handle function) {
    if (const Result result = s->EnterAlone("cuFuncLoad"); result != kSuccess) return result;
    std::lock_guard<std::mutex> lock(s->mutex);
    s->loaded.insert(function);
    return kSuccess;
  };
  driver_.StreamBeginCapture = [s](Handle stream, int mode) {
    if (const Result result = s->Enter("cuStreamBeginCapture"); result != kSuccess) return result;
    if (s->StreamOf(stream) == nullptr) return s->Complain(kInvalidValue, "cuStreamBeginCapture: not a stream");
    return s->graphs.Begin(stream, mode);
  };
  driver_.StreamEndCapture = [s](Handle stream, Handle* graph) { return s->graphs.End(stream, graph); };
  driver_.GraphInstantiate = [s](Handle* exec, Handle graph, unsigned long long) {
    return s->Instantiate(exec, graph);
  };
  driver_.GraphUpload = [s](Handle exec, Handle stream) {
    const bool both = s->graphs.WorkOf(exec) != nullptr && s->StreamOf(stream) != nullptr;
    return both ? kSuccess : s->Complain(kInvalidValue, "cuGraphUpload: expected a graph and a stream");
  };
  driver_.GraphLaunch = [s](Handle exec, Handle stream) { return s->Replay(exec, stream); };
  driver_.GraphExecDestroy = [s](Handle exec) { return s->DestroyExec(exec); };
  driver_.GraphDestroy = [s](Handle graph) {
    return s->graphs.DestroyGraph(graph) ? kSuccess : s->Complain(kInvalidValue, "cuGraphDestroy: not a graph");
  };
  driver_.FuncSetAttribute = [](Handle, int, int) { return kSuccess; };
  driver_.LaunchKernel = [s](Handle function, unsigned bx, unsigned by, unsigned bz, unsigned tx, unsigned ty,
                             unsigned tz, unsigned shared, Handle stream, void** parameters, void**) {
    return s->Launch(static_cast<const EmulatedKernel*>(function), {{bx, by, bz}, {tx, ty, tz}, shared}, stream,
                     parameters);
  };
}

EmulatedDriver::~EmulatedDriver() = default;

std::vector<std::string> EmulatedDriver::complaints() const {
  std::lock_guard<std::mutex> lock(state_->mutex);
  return state_->complaints;
}

Result EmulatedDriver::Enqueue(const std::string& call, Handle stream, double milliseconds,
                               std::function<std::string()> work) {
  State* const s = state_.get();
  State::Gpu* const gpu = s->Current();
  EmulatedStream* const on = s->StreamOf(stream);
  return s->Enqueue(call.c_str(), stream, [s, gpu, on, call, milliseconds, work = std::move(work)] {
    const EmulatedMemory::Work busy(gpu->memory);
    on->Spend(milliseconds);
    if (const std::string complaint = work(); !complaint.empty()) {
      s->Complain(kInvalidValue, absl::StrCat(call, ": ", complaint));
    }
  });
}

bool EmulatedDriver::computes() const { return state_->options.computes; }

bool EmulatedDriver::Holds(const void* address, size_t bytes) const {
  const State::Gpu* const gpu = state_->Current();
  return gpu != nullptr && gpu->memory.Holds(reinterpret_cast<uint64_t>(address), bytes);
}

int64_t EmulatedDriver::urgent_streams() const {
  std::lock_guard<std::mutex> lock(state_->mutex);
  return state_->urgent;
}

int64_t EmulatedDriver::launches() const { return state_->launches; }

int64_t EmulatedDriver::submissions() const { return state_->submissions; }

int64_t EmulatedDriver::replays() const { return state_->replays; }

int64_t EmulatedDriver::allocated_bytes() const {
  int64_t bytes = 0;
  for (const auto& gpu : state_->gpus) bytes += gpu->memory.allocated();
  return bytes;
}

std::vector<GpuModule> ImagesOf(const std::vector<std::unique_ptr<EmulatedModule>>& modules) {
  std::vector<GpuModule> images;
  for (const auto& it : modules) images.push_back({it->name, it.get(), sizeof(EmulatedModule)});
  return images;
}

}  // namespace weft::cuda
