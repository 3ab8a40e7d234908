#include "tests/emulation/cuda/graph.h"

namespace weft::cuda {

Result EmulatedGraphs::Begin(Handle stream, int mode) {
  std::lock_guard<std::mutex> lock(mutex_);
  const bool begun = recordings_.try_emplace(stream, Recording{mode, std::this_thread::get_id()}).second;
  return begun ? kSuccess : kIllegalState;
}

Result EmulatedGraphs::End(Handle stream, Handle* graph) {
  std::lock_guard<std::mutex> lock(mutex_);
  *graph = nullptr;
  const auto found = recordings_.find(stream);
  if (found == recordings_.end()) return kIllegalState;
  if (found->second.mode != kCaptureRelaxed && found->second.thread != std::this_thread::get_id()) {
    found->second.spoilt = true;
    return kCaptureWrongThread;
  }
  const Recording recording = std::move(found->second);
  recordings_.erase(found);
  if (recording.spoilt) return kCaptureInvalidated;
  *graph = recording.work.get();
  graphs_[*graph] = recording.work;
  return kSuccess;
}

bool EmulatedGraphs::Records(Handle stream) {
  std::lock_guard<std::mutex> lock(mutex_);
  return recordings_.count(stream) != 0;
}

bool EmulatedGraphs::Keep(Handle stream, std::function<void()>& work, Result* result) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto found = recordings_.find(stream);
  if (found == recordings_.end()) return false;
  *result = found->second.spoilt ? kCaptureInvalidated : kSuccess;
  if (!found->second.spoilt) found->second.work->push_back(std::move(work));
  return true;
}

void EmulatedGraphs::Spoil(Handle stream) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (const auto found = recordings_.find(stream); found != recordings_.end()) found->second.spoilt = true;
}

bool EmulatedGraphs::Disturb() {
  std::lock_guard<std::mutex> lock(mutex_);
  bool disturbed = false;
  for (auto& [stream, it] : recordings_) {
    const bool own = it.thread == std::this_thread::get_id();
    if (it.mode != kCaptureGlobal && !(it.mode == kCaptureThreadLocal && own)) continue;
    it.spoilt = disturbed = true;
  }
  return disturbed;
}

void EmulatedGraphs::Mark(Handle event, Handle stream) {
  std::lock_guard<std::mutex> lock(mutex_);
  marked_[event] = recordings_.at(stream).work;
}

void EmulatedGraphs::Forget(Handle event) {
  std::lock_guard<std::mutex> lock(mutex_);
  marked_.erase(event);
}

bool EmulatedGraphs::IsMarked(Handle event) {
  std::lock_guard<std::mutex> lock(mutex_);
  return marked_.count(event) != 0;
}

bool EmulatedGraphs::IsMarkedBy(Handle event, Handle stream) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto marked = marked_.find(event);
  const auto recording = recordings_.find(stream);
  return marked != marked_.end() && recording != recordings_.end() && marked->second == recording->second.work;
}

Handle EmulatedGraphs::Instantiate(Handle graph) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto found = graphs_.find(graph);
  if (found == graphs_.end()) return nullptr;
  auto exec = std::make_unique<Exec>(Exec{found->second});
  const Handle handle = exec.get();
  execs_[handle] = std::move(exec);
  return handle;
}

bool EmulatedGraphs::DestroyGraph(Handle graph) {
  std::lock_guard<std::mutex> lock(mutex_);
  return graphs_.erase(graph) != 0;
}

bool EmulatedGraphs::DestroyExec(Handle exec) {
  std::lock_guard<std::mutex> lock(mutex_);
  return execs_.erase(exec) != 0;
}

std::shared_ptr<const EmulatedGraphs::Work> EmulatedGraphs::WorkOf(Handle exec) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto found = execs_.find(exec);
  return found == execs_.end() ? nullptr : found->second->work;
}

}  // namespace weft::cuda
