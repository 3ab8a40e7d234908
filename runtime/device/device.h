// What the executor needs of a device: memory, and streams that do things in
// order. On a GPU a call enqueues work and returns; on the host it does the
// work before it returns. Callers assume the first, which the second satisfies.
#ifndef WEFT_RUNTIME_DEVICE_DEVICE_H_
#define WEFT_RUNTIME_DEVICE_DEVICE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ops/abi/gpu.h"

namespace weft::device {

// A block of device memory, freed with this object. Starts at a multiple of
// 4096 and is zero; the memory is taken, not only promised.
class Arena {
 public:
  virtual ~Arena() = default;
  virtual char* base() const = 0;  // a device address
  virtual int64_t bytes() const = 0;
};

// A point in a stream's work. Made by a device, used with its streams.
class Event {
 public:
  virtual ~Event() = default;
  // Blocks the calling host thread until the point recorded last is reached;
  // returns at once if there is none.
  virtual absl::Status Synchronize() = 0;
};

// Work that a stream has recorded instead of doing it. Made by Stream::Capture(),
// used with streams of the same device, which outlives it.
class Graph {
 public:
  virtual ~Graph() = default;
};

// A queue of work with a host thread that feeds it. All calls but Submit() and
// Join() are made from tasks, on the stream's own thread, and do not allocate.
class Stream {
 public:
  virtual ~Stream() = default;

  // Any thread: runs `task` on the stream's host thread after those before it.
  // At most kMaxTasks may wait. Does not allocate if `task` does not.
  virtual void Submit(std::function<void()> task) = 0;

  // Any thread but the stream's own: blocks until every task has returned and
  // all the work they enqueued is done; the first error of that work.
  virtual absl::Status Join() = 0;

  // Copies between host and device memory, or within the device, after the
  // stream's work so far. Host memory is AllocateHostMemory() of the device; it may be
  // changed once an event recorded after the copy is reached.
  virtual absl::Status Copy(void* to, const void* from, size_t bytes) = 0;

  // Marks this point of the stream.
  virtual absl::Status Record(Event& event) = 0;

  // The stream's later work begins after the point that `event` marks now.
  virtual absl::Status Wait(Event& event) = 0;

  // Calls `task`, and records what it enqueues on this stream instead of doing it. The task
  // waits for nothing, marks nothing and allocates no device memory. Allocates itself. After an error,
  // the task's or its own, the stream is as before; kUnimplemented if the device does not capture.
  virtual absl::StatusOr<std::unique_ptr<Graph>> Capture(const std::function<absl::Status()>& task) {
    return absl::UnimplementedError("a stream of this device records no work");
  }

  // Enqueues all that was recorded, with the addresses and numbers of then.
  virtual absl::Status Replay(Graph& graph) {
    return absl::UnimplementedError("a stream of this device records no work");
  }

  // What kernels and collectives get as RunContext::stream: null on the host.
  virtual void* handle() const = 0;

  static constexpr int kMaxTasks = 8;
};

// Thread-safe. Outlives what it makes.
class Device {
 public:
  virtual ~Device() = default;
  virtual std::string name() const = 0;

  // True if the host reads and writes arenas directly, and calls on streams
  // are complete when they return.
  virtual bool host_addressable() const = 0;

  // True if streams can record work, and do it again.
  virtual bool captures() const { return false; }

  // What kernels are made with; null where they are the host's. Lives as long as the device.
  virtual Gpu* gpu() { return nullptr; }

  // kResourceExhausted naming what was asked for and what there is.
  virtual absl::StatusOr<std::unique_ptr<Arena>> AllocateArena(int64_t bytes) = 0;

  // Host memory from which copies are asynchronous.
  virtual absl::StatusOr<std::unique_ptr<Arena>> AllocateHostMemory(int64_t bytes) = 0;

  // `name` is for debuggers and profilers.
  virtual absl::StatusOr<std::unique_ptr<Stream>> CreateStream(const std::string& name) = 0;
  // The same, for what others wait for: where there is room for some of a device's work alone, this stream's is taken
  // first.
  virtual absl::StatusOr<std::unique_ptr<Stream>> CreateUrgentStream(const std::string& name) {
    return CreateStream(name);
  }
  virtual absl::StatusOr<std::unique_ptr<Event>> CreateEvent() = 0;
};

}  // namespace weft::device

#endif  // WEFT_RUNTIME_DEVICE_DEVICE_H_
