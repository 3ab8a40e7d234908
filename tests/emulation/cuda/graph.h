// What streams of an emulated GPU record instead of doing it.
#ifndef WEFT_TESTS_EMULATION_CUDA_GRAPH_H_
#define WEFT_TESTS_EMULATION_CUDA_GRAPH_H_

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/device/cuda/driver.h"

namespace weft::cuda {

// Recordings begin and end on one stream: of streams that join one by an event, the emulation knows
// nothing. Thread-safe.
class EmulatedGraphs {
 public:
  using Work = std::vector<std::function<void()>>;

  Result Begin(Handle stream, int mode);
  // A graph, or null.
  Result End(Handle stream, Handle* graph);
  bool Records(Handle stream);
  // Adds to what the stream records, if it does; false: it does not, and `work` is as it was.
  bool Keep(Handle stream, std::function<void()>& work, Result* result);
  // From now on its end fails. Not recording: nothing.
  void Spoil(Handle stream);
  // Before what may wait, or allocates: spoils what forbids this thread to do so; whether there is any.
  bool Disturb();

  // Events: which recording marked it last, null for none.
  void Mark(Handle event, Handle stream);
  void Forget(Handle event);
  bool IsMarked(Handle event);
  // Whether it was marked by what the stream records now.
  bool IsMarkedBy(Handle event, Handle stream);

  // Ready to run; null if there is no such graph. The graph may go.
  Handle Instantiate(Handle graph);
  bool DestroyGraph(Handle graph);
  bool DestroyExec(Handle exec);
  // Null if there is no such one.
  std::shared_ptr<const Work> WorkOf(Handle exec);

 private:
  struct Recording {
    int mode;
    std::thread::id thread;
    bool spoilt = false;
    std::shared_ptr<Work> work = std::make_shared<Work>();
  };

  struct Exec {
    std::shared_ptr<const Work> work;
  };

  std::mutex mutex_;
  std::map<Handle, Recording> recordings_;                // by stream
  std::map<Handle, std::shared_ptr<const Work>> marked_;  // by event
  std::map<Handle, std::shared_ptr<const Work>> graphs_;
  std::map<Handle, std::unique_ptr<Exec>> execs_;
};

}  // namespace weft::cuda

#endif  // WEFT_TESTS_EMULATION_CUDA_GRAPH_H_
