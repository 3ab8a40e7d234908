// Memory that a kernel allocates when it is created and uses in every Run().
#ifndef WEFT_OPS_ABI_SCRATCH_H_
#define WEFT_OPS_ABI_SCRATCH_H_

#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <memory>

namespace weft {

// `count` elements of a plain type, uninitialised, aligned to 64 bytes; in huge pages where they fill some. Movable.
template <typename T>
class Scratch {
 public:
  explicit Scratch(size_t count = 0) : data_(static_cast<T*>(Allocate(count * sizeof(T))), &std::free) {}
  T* data() const { return data_.get(); }

 private:
  static constexpr size_t kHugePage = size_t{2} << 20;

  static void* Allocate(size_t bytes) {
    const size_t alignment = bytes < kHugePage ? 64 : kHugePage;
    void* const memory = std::aligned_alloc(alignment, (bytes + alignment) / alignment * alignment);
#ifdef MADV_HUGEPAGE
    // A wish, not a need. What lies in small pages is looked up in tables that do not fit the caches.
    if (memory != nullptr && bytes >= kHugePage) (void)madvise(memory, bytes / kHugePage * kHugePage, MADV_HUGEPAGE);
#endif
    return memory;
  }

  std::unique_ptr<T, void (*)(void*)> data_;
};

}  // namespace weft

#endif  // WEFT_OPS_ABI_SCRATCH_H_
