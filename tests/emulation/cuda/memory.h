// The memory of an emulated GPU.
#ifndef WEFT_TESTS_EMULATION_CUDA_MEMORY_H_
#define WEFT_TESTS_EMULATION_CUDA_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

namespace weft::cuda {

// Pages that fault when they are touched while nobody works, or once they are
// freed; each allocation ends at a page that always faults. Thread-safe.
class EmulatedMemory {
 public:
  // Not `touchable`: addresses alone, which always fault.
  EmulatedMemory(int64_t capacity, bool touchable) : capacity_(capacity), touchable_(touchable) {}
  ~EmulatedMemory();

  // Garbage, not zeros. 0: not enough left.
  uint64_t Allocate(size_t bytes);
  // False: no allocation begins there.
  bool Free(uint64_t address);
  // Whether all the bytes are in one allocation.
  bool Holds(uint64_t address, size_t bytes) const;
  // Whether the address is, or was, of an allocation.
  bool IsDevice(uint64_t address) const;

  // While one of these lives, the memory can be touched.
  class Work {
   public:
    explicit Work(EmulatedMemory& memory) : memory_(memory) { memory_.Begin(); }
    ~Work() { memory_.End(); }

   private:
    EmulatedMemory& memory_;
  };

  int64_t capacity() const { return capacity_; }
  int64_t allocated() const;

 private:
  struct Block {
    size_t bytes;   // asked for
    size_t mapped;  // with the page behind
    bool freed;
  };
  void Begin();
  void End();
  void Protect(int protection);

  const int64_t capacity_;
  const bool touchable_;
  mutable std::mutex mutex_;
  std::map<uint64_t, Block> blocks_;  // freed ones too: their addresses do not come again
  int64_t allocated_ = 0;
  int working_ = 0;
};

}  // namespace weft::cuda

#endif  // WEFT_TESTS_EMULATION_CUDA_MEMORY_H_
