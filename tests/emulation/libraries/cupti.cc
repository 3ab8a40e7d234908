// libcupti.so of the same emulation: the times at which its kernels run.
#include <chrono>
#include <cstring>
#include <deque>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "runtime/device/cuda/activity.h"
#include "tests/emulation/libraries/emulation.h"

namespace weft::tests {
namespace {

using activity::KernelRecord;

constexpr int kNoMore = 12;  // CUPTI_ERROR_MAX_LIMIT_REACHED

struct Recorder {
  std::mutex mutex;
  bool kernels = false;
  void (*give)(uint8_t**, size_t*, size_t*) = nullptr;
  void (*take)(void*, uint32_t, uint8_t*, size_t, size_t) = nullptr;
  std::deque<KernelRecord> records;
  std::set<std::string> names;
};

Recorder& TheRecorder() {
  static auto* const recorder = new Recorder();
  return *recorder;
}

uint64_t Now() { return static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count()); }

}  // namespace

cuda::Result RecordLaunch(const char* name, cuda::Handle stream, const std::function<cuda::Result()>& launch) {
  Recorder& recorder = TheRecorder();
  {
    std::lock_guard<std::mutex> lock(recorder.mutex);
    if (!recorder.kernels) return launch();
  }
  auto begin = std::make_shared<uint64_t>(0);
  TheDriver().Enqueue("cupti", stream, 0, [begin] { return *begin = Now(), ""; });
  const cuda::Result result = launch();
  TheDriver().Enqueue("cupti", stream, 0, [begin, name = std::string(name)] {
    Recorder& recorder = TheRecorder();
    std::lock_guard<std::mutex> lock(recorder.mutex);
    recorder.records.push_back({.kind = activity::kKernel,
                                .begin = *begin,
                                .end = Now(),
                                .stream = 7,
                                .name = recorder.names.insert(name).first->c_str()});
    return "";
  });
  return result;
}

}  // namespace weft::tests

using weft::tests::TheRecorder;

extern "C" {
#define WEFT_API __attribute__((used, visibility("default"))) int

WEFT_API cuptiActivityRegisterCallbacks(void (*give)(uint8_t**, size_t*, size_t*),
                                        void (*take)(void*, uint32_t, uint8_t*, size_t, size_t)) {
  TheRecorder().give = give;
  TheRecorder().take = take;
  return 0;
}

WEFT_API cuptiActivityEnable(int kind) {
  std::lock_guard<std::mutex> lock(TheRecorder().mutex);
  if (kind == weft::activity::kKernel) TheRecorder().kernels = true;
  return 0;
}

WEFT_API cuptiActivityFlushAll(uint32_t) {
  auto& recorder = TheRecorder();
  while (true) {
    uint8_t* buffer = nullptr;
    size_t bytes = 0, most = 0, used = 0;
    recorder.give(&buffer, &bytes, &most);
    {
      std::lock_guard<std::mutex> lock(recorder.mutex);
      for (; !recorder.records.empty() && used + sizeof(weft::activity::KernelRecord) <= bytes;
           recorder.records.pop_front()) {
        std::memcpy(buffer + used, &recorder.records.front(), sizeof(weft::activity::KernelRecord));
        used += sizeof(weft::activity::KernelRecord);
      }
    }
    recorder.take(nullptr, 0, buffer, bytes, used);
    std::lock_guard<std::mutex> lock(recorder.mutex);
    if (recorder.records.empty()) return 0;
  }
}

// The library keeps records behind each other; here all have one size.
WEFT_API cuptiActivityGetNextRecord(uint8_t* buffer, size_t bytes, void** record) {
  uint8_t* const next =
      *record == nullptr ? buffer : static_cast<uint8_t*>(*record) + sizeof(weft::activity::KernelRecord);
  if (next >= buffer + bytes) return weft::tests::kNoMore;
  *record = next;
  return 0;
}
}
