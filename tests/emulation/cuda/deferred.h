// A device for tests that works as a GPU does: a call on a stream enqueues and
// returns, the work is done later by another thread, and the host cannot look
// into its memory without a copy. What forgets to wait for an event goes wrong.
#ifndef WEFT_TESTS_EMULATION_CUDA_DEFERRED_H_
#define WEFT_TESTS_EMULATION_CUDA_DEFERRED_H_

#include <functional>
#include <memory>

#include "runtime/device/device.h"

namespace weft::device {

std::unique_ptr<Device> CreateDeferredDevice();

// Enqueues `work` on the stream that has this handle: what a kernel of such a
// device does. It runs after a random delay of some microseconds.
void Enqueue(void* stream_handle, std::function<void()> work);

}  // namespace weft::device

#endif  // WEFT_TESTS_EMULATION_CUDA_DEFERRED_H_
