// libweft-activity.so: what the GPU does while a program runs, whatever the program.
// The driver loads it into one that is started with CUDA_INJECTION64_PATH=<this file>
// (CUPTI's documentation, "Injection"). At the program's end it writes
// weft-activity.<process>.tsv into the folder where that was started, a line for each
// kernel, copy and fill: kind, stream, begin and end in ns, name. kernel_table.py reads it.
#include "runtime/device/cuda/activity.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <vector>

namespace {

using weft::activity::CopyRecord;
using weft::activity::FillRecord;
using weft::activity::KernelRecord;

constexpr size_t kBufferBytes = 8 << 20;

struct Cupti {
  int (*register_callbacks)(void (*)(uint8_t**, size_t*, size_t*), void (*)(void*, uint32_t, uint8_t*, size_t, size_t));
  int (*enable)(int);
  int (*flush)(uint32_t);
  int (*next)(uint8_t*, size_t, void**);
};

// Of the whole process: a profiler's callbacks have no argument of their own.
Cupti cupti;
std::mutex mutex;
std::FILE* file = nullptr;

void Write(const void* record) {
  switch (*static_cast<const uint32_t*>(record)) {
    case weft::activity::kKernel: {
      const auto& it = *static_cast<const KernelRecord*>(record);
      std::fprintf(file, "kernel\t%u\t%lu\t%lu\t%s\n", it.stream, it.begin, it.end, it.name == nullptr ? "" : it.name);
      return;
    }
    case weft::activity::kCopy: {
      const auto& it = *static_cast<const CopyRecord*>(record);
      std::fprintf(file, "copy\t%u\t%lu\t%lu\t%lu bytes\n", it.stream, it.begin, it.end, it.bytes);
      return;
    }
    case weft::activity::kFill: {
      const auto& it = *static_cast<const FillRecord*>(record);
      std::fprintf(file, "fill\t%u\t%lu\t%lu\t%lu bytes\n", it.stream, it.begin, it.end, it.bytes);
      return;
    }
    default:
      return;
  }
}

void GiveBuffer(uint8_t** buffer, size_t* bytes, size_t* records) {
  *buffer = static_cast<uint8_t*>(std::aligned_alloc(64, kBufferBytes));
  *bytes = *buffer == nullptr ? 0 : kBufferBytes;
  *records = 0;  // as many as there is room for
}

void TakeBuffer(void*, uint32_t, uint8_t* buffer, size_t, size_t bytes) {
  std::lock_guard<std::mutex> lock(mutex);
  void* record = nullptr;
  while (file != nullptr && cupti.next(buffer, bytes, &record) == 0) Write(record);
  std::free(buffer);
}

void Finish() {
  cupti.flush(weft::activity::kFlushForced);
  std::lock_guard<std::mutex> lock(mutex);
  std::fclose(file);
  file = nullptr;
}

template <typename Function>
bool Find(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(library, name));
  return function != nullptr;
}

bool Open() {
  void* library = nullptr;
  for (const char* name : {"libcupti.so.13", "libcupti.so.12", "libcupti.so"}) {
    if (library == nullptr) library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  }
  return library != nullptr && Find(library, "cuptiActivityRegisterCallbacks", cupti.register_callbacks) &&
         Find(library, "cuptiActivityEnable", cupti.enable) && Find(library, "cuptiActivityFlushAll", cupti.flush) &&
         Find(library, "cuptiActivityGetNextRecord", cupti.next);
}

}  // namespace

// What the driver calls when a program initialises it; 1: done.
extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  if (!Open()) {
    std::fprintf(stderr, "weft-activity: found no libcupti.so.13 or .12: nothing is recorded\n");
    return 1;
  }
  file = std::fopen(("weft-activity." + std::to_string(getpid()) + ".tsv").c_str(), "w");
  if (file == nullptr || cupti.register_callbacks(&GiveBuffer, &TakeBuffer) != 0) return 1;
  for (const int kind : {weft::activity::kKernel, weft::activity::kCopy, weft::activity::kFill}) {
    if (cupti.enable(kind) != 0) std::fprintf(stderr, "weft-activity: CUPTI does not record kind %d\n", kind);
  }
  std::atexit(&Finish);
  return 1;
}
