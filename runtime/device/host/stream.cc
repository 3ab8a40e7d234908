#include "runtime/device/host/stream.h"

#include <pthread.h>

#include <cstring>
#include <system_error>

#include "absl/strings/str_cat.h"

namespace weft::device {

absl::StatusOr<std::unique_ptr<Stream>> HostStream::Create(const std::string& name) {
  std::unique_ptr<HostStream> stream(new HostStream());
  try {
    stream->thread_ = std::thread([it = stream.get()] { it->Loop(); });
  } catch (const std::system_error& error) {
    return absl::ResourceExhaustedError(absl::StrCat("stream `", name, "`: expected a thread, got ", error.what()));
  }
  pthread_setname_np(stream->thread_.native_handle(), name.substr(0, 15).c_str());  // what the kernel has room for
  return stream;
}

HostStream::~HostStream() {
  if (!thread_.joinable()) return;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void HostStream::Submit(std::function<void()> task) {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [this] { return submitted_ - done_ < tasks_.size(); });
  tasks_[submitted_ % tasks_.size()] = std::move(task);
  ++submitted_;
  lock.unlock();
  changed_.notify_all();
}

absl::Status HostStream::Join() {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [this] { return done_ == submitted_; });
  return absl::OkStatus();
}

void HostStream::Loop() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return done_ < submitted_ || stop_; });
    if (done_ == submitted_) return;
    std::function<void()> task = std::move(tasks_[done_ % tasks_.size()]);
    lock.unlock();
    task();
    task = nullptr;
    lock.lock();
    ++done_;
    changed_.notify_all();
  }
}

absl::Status HostStream::Copy(void* to, const void* from, size_t bytes) {
  std::memcpy(to, from, bytes);
  return absl::OkStatus();
}

}  // namespace weft::device
