// Stacks that take turns on one thread.
#ifndef WEFT_TESTS_EMULATION_SIMT_FIBER_H_
#define WEFT_TESTS_EMULATION_SIMT_FIBER_H_

#include <cstddef>

namespace weft::simt {

// A stack on which a function runs. Of one thread. Plain data alone may be
// alive on it when it goes or restarts.
class Fiber {
 public:
  Fiber();
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // What the next Enter() begins with.
  void Start(void (*entry)());
  // Goes on with the fiber until it calls Leave() or its function returns.
  void Enter();
  void Leave() { Leave(/*done=*/false); }
  static constexpr size_t kBytes = 256 << 10;

 private:
  static void Trampoline();
  void Leave(bool done);

  void (*entry_)() = nullptr;
  char* stack_ = nullptr;
  void* inside_ = nullptr;   // where the fiber stands
  void* outside_ = nullptr;  // where Enter() stands
  // What the sanitizers have to be told; unused without them.
  struct {
    void* inside_stack = nullptr;
    void* outside_stack = nullptr;
    const void* outside_bottom = nullptr;
    size_t outside_bytes = 0;
    void* inside = nullptr;
    void* outside = nullptr;
  } sanitizer_;
};

}  // namespace weft::simt

#endif  // WEFT_TESTS_EMULATION_SIMT_FIBER_H_
