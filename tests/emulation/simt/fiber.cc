#include "tests/emulation/simt/fiber.h"

#include <sys/mman.h>

#include <cstdint>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WEFT_ASAN 1
extern "C" void __asan_unpoison_memory_region(const volatile void* at, size_t bytes);
extern "C" void __sanitizer_start_switch_fiber(void** fake, const void* bottom, size_t bytes);
extern "C" void __sanitizer_finish_switch_fiber(void* fake, const void** bottom, size_t* bytes);
// Looking for uses of variables after their function has returned gives every fiber megabytes
// of a second stack, mapped and unmapped with each block: minutes for what takes seconds.
extern "C" const char* __asan_default_options() { return "detect_stack_use_after_return=0"; }
#endif
#if __has_feature(thread_sanitizer)
#define WEFT_TSAN 1
extern "C" void* __tsan_get_current_fiber();
extern "C" void* __tsan_create_fiber(unsigned flags);
extern "C" void __tsan_destroy_fiber(void* fiber);
extern "C" void __tsan_switch_to_fiber(void* fiber, unsigned flags);
#endif
#endif

// Keeps what the System V x86-64 ABI wants kept on the stack it leaves, whose
// pointer goes to *from, and takes up the stack `to`.
extern "C" void weft_simt_switch(void** from, void* to);
asm(R"(
.text
.globl weft_simt_switch
.type weft_simt_switch, @function
weft_simt_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size weft_simt_switch, .-weft_simt_switch
)");

namespace weft::simt {
namespace {

thread_local Fiber* entering = nullptr;

}  // namespace

Fiber::Fiber() {
  stack_ = static_cast<char*>(
      mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
#if WEFT_TSAN
  sanitizer_.inside = __tsan_create_fiber(0);
#endif
}

Fiber::~Fiber() {
#if WEFT_TSAN
  __tsan_destroy_fiber(sanitizer_.inside);
#endif
  munmap(stack_, kBytes);
}

void Fiber::Trampoline() {
  Fiber* const fiber = entering;
#if WEFT_ASAN
  __sanitizer_finish_switch_fiber(nullptr, &fiber->sanitizer_.outside_bottom, &fiber->sanitizer_.outside_bytes);
#endif
  fiber->entry_();
  fiber->Leave(/*done=*/true);
}

void Fiber::Start(void (*entry)()) {
#if WEFT_ASAN
  __asan_unpoison_memory_region(stack_, kBytes);
#endif
  entry_ = entry;
  // As if the trampoline had been called from nowhere: six registers, then where to return to.
  void** top = reinterpret_cast<void**>(stack_ + kBytes) - 2;
  top[0] = reinterpret_cast<void*>(&Fiber::Trampoline);
  top[1] = nullptr;
  for (int i = 1; i <= 6; ++i) top[-i] = nullptr;
  inside_ = top - 6;
  sanitizer_.inside_stack = nullptr;
}

void Fiber::Enter() {
  entering = this;
#if WEFT_ASAN
  __sanitizer_start_switch_fiber(&sanitizer_.outside_stack, stack_, kBytes);
#endif
#if WEFT_TSAN
  sanitizer_.outside = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(sanitizer_.inside, 0);
#endif
  weft_simt_switch(&outside_, inside_);
#if WEFT_ASAN
  __sanitizer_finish_switch_fiber(sanitizer_.outside_stack, nullptr, nullptr);
#endif
}

void Fiber::Leave(bool done) {
#if WEFT_ASAN
  __sanitizer_start_switch_fiber(done ? nullptr : &sanitizer_.inside_stack, sanitizer_.outside_bottom,
                                 sanitizer_.outside_bytes);
#endif
#if WEFT_TSAN
  __tsan_switch_to_fiber(sanitizer_.outside, 0);
#endif
  weft_simt_switch(&inside_, outside_);
#if WEFT_ASAN
  __sanitizer_finish_switch_fiber(sanitizer_.inside_stack, &sanitizer_.outside_bottom, &sanitizer_.outside_bytes);
#endif
}

}  // namespace weft::simt
