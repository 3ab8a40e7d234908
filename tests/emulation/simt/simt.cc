#include "ops/cuda/simt.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <mutex>
#include <numeric>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/emulation/simt/fiber.h"

// What __shared__ puts there; absent if no kernel has any.
extern "C" char __start_weft_shared[] __attribute__((weak));
extern "C" char __stop_weft_shared[] __attribute__((weak));

namespace weft::simt {
namespace {

constexpr int kWarp = 32;
constexpr int kPoison = 0xff;  // NaN in every float type
constexpr size_t kGuard = 64;

enum class State { kReady, kAtBarrier, kInWarp, kDone };

// What a lane brings to an exchange, and takes from it.
struct Offer {
  Exchange kind = Exchange::kBarrier;
  uint32_t mask = 0;
  uint64_t word = 0;
  int operand = 0;
  void (*together)(void* const* lanes) = nullptr;
};

// An asynchronous copy that has not been done; `group` counts the commits before it.
struct Copy {
  void* to;
  const void* from;  // null: zeros
  size_t bytes;
  int group;

  void Do() const {
    if (from != nullptr) {
      std::memcpy(to, from, bytes);
    } else {
      std::memset(to, 0, bytes);
    }
  }
};

struct Lane {
  Thread thread;
  State state = State::kReady;
  int line = 0;  // of the barrier that it waits at
  Offer offer;
  std::deque<Copy> copies;
  int committed = 0;       // groups of copies
  Fiber* fiber = nullptr;  // null before it begins and after it ends
};

// The block that runs now.
class Block {
 public:
  Block(const EmulatedKernel& kernel, const GpuGrid& grid, const void* arguments)
      : kernel_(kernel), arguments_(arguments) {
    count_ = static_cast<int>(grid.threads[0] * grid.threads[1] * grid.threads[2]);
    lanes_.resize(count_);
    shared_.resize(grid.shared_bytes + kGuard + 16);
    shared_bytes_ = grid.shared_bytes;
    order_.resize(count_);
    std::iota(order_.begin(), order_.end(), 0);
    for (int t = 0; t < count_; ++t) {
      Thread& it = lanes_[t].thread;
      const auto [x, y, z] = grid.threads;
      const uint32_t u = static_cast<uint32_t>(t);
      it.thread = {u % x, u / x % y, u / x / y};
      it.block_size = {x, y, z};
      it.grid_size = {grid.blocks[0], grid.blocks[1], grid.blocks[2]};
    }
  }

  // 0: as they are counted, 1: the other way, more: by chance.
  void Shuffle(uint64_t order) {
    copy_at_once_ = order == 0;
    if (order == 1) std::reverse(order_.begin(), order_.end());
    if (order <= 1) return;
    uint64_t state = order * 0x9E3779B97F4A7C15ull;
    for (size_t i = order_.size(); i > 1; --i) {
      state = state * 6364136223846793005ull + 1442695040888963407ull;
      std::swap(order_[i - 1], order_[(state >> 33) % i]);
    }
  }

  absl::Status Run(Index block) {
    if (__start_weft_shared != nullptr) {
      std::memset(__start_weft_shared, kPoison, __stop_weft_shared - __start_weft_shared);
    }
    std::memset(shared_.data(), kPoison, shared_.size());
    for (Lane& lane : lanes_) {
      lane.thread.block = block;
      lane.state = State::kReady;
      lane.copies.clear();
      lane.committed = 0;
      if (lane.fiber != nullptr) free_.push_back(std::exchange(lane.fiber, nullptr));
    }
    done_ = 0;
    error_ = absl::OkStatus();
    while (done_ < count_ && error_.ok()) {
      for (int t : order_) {
        if (lanes_[t].state == State::kReady && error_.ok()) Go(t);
      }
      if (error_.ok() && done_ < count_) Release();
    }
    if (error_.ok() && !GuardIntact()) {
      error_ = Error(absl::StrCat("writes beyond its ", shared_bytes_, " bytes of dynamic shared memory"));
    }
    return error_;
  }

  void* dynamic_shared() {
    const auto at = reinterpret_cast<uintptr_t>(shared_.data());
    return reinterpret_cast<void*>((at + 15) / 16 * 16);
  }

  void BlockBarrier(int line) {
    Lane& lane = lanes_[current_];
    lane.state = State::kAtBarrier;
    lane.line = line;
    lane.fiber->Leave();
  }

  uint64_t WarpExchange(const Offer& offer, int line) {
    Lane& lane = lanes_[current_];
    lane.state = State::kInWarp;
    lane.line = line;
    lane.offer = offer;
    if (!TryExchange()) lane.fiber->Leave();
    return lane.offer.word;
  }

  void CheckShared(const void* at, size_t bytes, size_t alignment, int line) {
    const auto* begin = static_cast<const char*>(at);
    const auto within = [&](const char* from, const char* to) { return begin >= from && begin + bytes <= to; };
    const auto* dynamic = static_cast<const char*>(dynamic_shared());
    const bool shared = within(dynamic, dynamic + shared_bytes_) || within(__start_weft_shared, __stop_weft_shared);
    if (shared && reinterpret_cast<uintptr_t>(at) % alignment == 0) return;
    error_ = Error(absl::StrCat("line ", line, ": expected ", bytes, " bytes of shared memory, aligned to ", alignment,
                                shared ? ", got such that are not aligned" : ", got other memory"));
    Abandon();
  }

  void CopyAsync(void* to, const void* from, size_t bytes, bool inside, int line) {
    CheckShared(to, bytes, bytes, line);
    if (inside && reinterpret_cast<uintptr_t>(from) % bytes != 0) {
      error_ = Error(absl::StrCat("line ", line, ": a copy of ", bytes, " bytes that are not aligned"));
      Abandon();
    }
    Lane& lane = lanes_[current_];
    const Copy copy = {to, inside ? from : nullptr, bytes, lane.committed};
    if (copy_at_once_) {
      copy.Do();
    } else {
      lane.copies.push_back(copy);
    }
  }
  void CommitCopies() { ++lanes_[current_].committed; }
  void WaitCopies(int groups) {
    Lane& lane = lanes_[current_];
    while (!lane.copies.empty() && lane.copies.front().group < lane.committed - groups) {
      lane.copies.front().Do();
      lane.copies.pop_front();
    }
  }

 private:
  static void Body();

  absl::Status Error(const std::string& what) const {
    return absl::InternalError(absl::StrCat("kernel ", kernel_.module, ".", kernel_.name, ": ", what));
  }

  // After an error: the current lane never goes on. Nothing on its stack may own memory.
  void Abandon() {
    lanes_[current_].state = State::kAtBarrier;
    lanes_[current_].fiber->Leave();
  }

  bool GuardIntact() {
    const char* end = static_cast<char*>(dynamic_shared()) + shared_bytes_;
    return std::all_of(end, end + kGuard - 16, [](char c) { return c == static_cast<char>(kPoison); });
  }

  void Go(int t) {
    current_ = t;
    Lane& lane = lanes_[t];
    now = &lane.thread;
    if (lane.fiber == nullptr) {
      if (free_.empty()) {
        fibers_.push_back(std::make_unique<Fiber>());
        free_.push_back(fibers_.back().get());
      }
      lane.fiber = free_.back();
      free_.pop_back();
      lane.fiber->Start(&Block::Body);
    }
    lane.fiber->Enter();
    if (lane.state == State::kReady) {  // it came to its end
      lane.state = State::kDone;
      ++done_;
      free_.push_back(std::exchange(lane.fiber, nullptr));
    }
  }

  // Of the current lane's warp: if all lanes of its mask are there, gives each its word.
  bool TryExchange() {
    const int first = current_ / kWarp * kWarp, lanes = std::min(kWarp, count_ - first);
    const Offer& mine = lanes_[current_].offer;
    const uint32_t mask = lanes == kWarp ? mine.mask : mine.mask & ((1u << lanes) - 1);
    if ((mask >> (current_ - first) & 1) == 0) {
      error_ = Error(absl::StrCat("line ", lanes_[current_].line, ": lane ", current_ - first, " is not in its mask"));
      return false;
    }
    for (int l = 0; l < lanes; ++l) {
      if ((mask >> l & 1) == 0) continue;
      const Lane& lane = lanes_[first + l];
      if (lane.state != State::kInWarp) return false;
      if (lane.line != lanes_[current_].line || lane.offer.mask != mine.mask || lane.offer.kind != mine.kind ||
          lane.offer.together != mine.together) {
        error_ = Error(absl::StrCat("lanes of one warp are in different exchanges, at lines ", lane.line, " and ",
                                    lanes_[current_].line));
        return false;
      }
    }
    uint64_t words[kWarp] = {};
    for (int l = 0; l < lanes; ++l) words[l] = lanes_[first + l].offer.word;
    if (mine.kind == Exchange::kTogether) {
      if (lanes != kWarp) {
        error_ = Error(absl::StrCat("line ", lanes_[current_].line, ": expected a warp of 32 lanes, got ", lanes));
        return false;
      }
      void* brought[kWarp];
      for (int l = 0; l < kWarp; ++l) brought[l] = reinterpret_cast<void*>(words[l]);
      mine.together(brought);
    }
    for (int l = 0; l < lanes; ++l) {
      if ((mask >> l & 1) == 0) continue;
      Lane& lane = lanes_[first + l];
      lane.offer.word = WordFor(lane.offer, l, mask, words);
      lane.state = State::kReady;
    }
    return true;
  }

  uint64_t WordFor(const Offer& offer, int lane, uint32_t mask, const uint64_t (&words)[kWarp]) {
    int from = lane;
    switch (offer.kind) {
      case Exchange::kBarrier:
      case Exchange::kTogether:
        return 0;
      case Exchange::kBallot: {
        uint64_t ballot = 0;
        for (int l = 0; l < kWarp; ++l) ballot |= uint64_t{(mask >> l & 1) != 0 && words[l] != 0} << l;
        return ballot;
      }
      case Exchange::kIndex:
        from = offer.operand & (kWarp - 1);
        break;
      case Exchange::kXor:
        from = lane ^ offer.operand;
        break;
      case Exchange::kUp:
        from = lane - offer.operand < 0 ? lane : lane - offer.operand;
        break;
      case Exchange::kDown:
        from = lane + offer.operand >= kWarp ? lane : lane + offer.operand;
        break;
    }
    // What such a lane holds is undefined.
    return (mask >> from & 1) != 0 ? words[from] : ~uint64_t{0};
  }

  // Nobody is ready: all are at one barrier, or it never ends.
  void Release() {
    const Lane* waiting = nullptr;
    for (const Lane& lane : lanes_) {
      if (lane.state == State::kReady) return;  // an exchange woke it behind its turn
    }
    for (const Lane& lane : lanes_) {
      if (lane.state == State::kInWarp) {
        error_ = Error(absl::StrCat("line ", lane.line, ": not all lanes of its mask come there"));
        return;
      }
      if (lane.state == State::kAtBarrier) waiting = &lane;
    }
    for (const Lane& lane : lanes_) {
      if (lane.state == State::kAtBarrier && lane.line == waiting->line) continue;
      const std::string other = lane.state == State::kDone ? "have ended" : absl::StrCat("wait at line ", lane.line);
      error_ = Error(
          absl::StrCat("a barrier in divergent code: some threads wait at line ", waiting->line, ", some ", other));
      return;
    }
    for (Lane& lane : lanes_) lane.state = State::kReady;
  }

  const EmulatedKernel& kernel_;
  const void* const arguments_;
  int count_ = 0;
  std::vector<Lane> lanes_;
  std::vector<int> order_;
  std::vector<char> shared_;
  uint32_t shared_bytes_ = 0;
  bool copy_at_once_ = true;
  std::vector<std::unique_ptr<Fiber>> fibers_;
  std::vector<Fiber*> free_;
  int current_ = 0, done_ = 0;
  absl::Status error_;
};

thread_local Block* running = nullptr;

void Block::Body() { running->kernel_.body(running->arguments_); }

}  // namespace

thread_local const Thread* now = nullptr;

absl::Status RunGrid(const EmulatedKernel& kernel, const GpuGrid& grid, const void* arguments, uint64_t order) {
  if (absl::Status status = CheckGrid(kernel, grid); !status.ok()) return status;
  static std::mutex one_at_a_time;  // __shared__ is global
  std::lock_guard<std::mutex> lock(one_at_a_time);
  Block block(kernel, grid, arguments);
  block.Shuffle(order);
  running = &block;
  const auto [x, y, z] = grid.blocks;
  const uint64_t blocks = uint64_t{x} * y * z;
  for (uint64_t i = 0; i < blocks; ++i) {
    const uint64_t b = order == 1 ? blocks - 1 - i : i;
    const Index at{static_cast<uint32_t>(b % x), static_cast<uint32_t>(b / x % y), static_cast<uint32_t>(b / x / y)};
    if (absl::Status status = block.Run(at); !status.ok()) return status;
  }
  return absl::OkStatus();
}

void* DynamicShared() { return running->dynamic_shared(); }
void BlockBarrier(int line) { running->BlockBarrier(line); }
uint64_t WarpExchange(Exchange kind, uint32_t mask, uint64_t word, int operand, int line) {
  return running->WarpExchange({kind, mask, word, operand}, line);
}
void WarpTogether(void (*together)(void* const* lanes), void* mine, int line) {
  running->WarpExchange({Exchange::kTogether, 0xffffffffu, reinterpret_cast<uint64_t>(mine), 0, together}, line);
}
void CheckShared(const void* at, size_t bytes, size_t alignment, int line) {
  running->CheckShared(at, bytes, alignment, line);
}
void CopyAsync(void* to, const void* from, size_t bytes, bool inside, int line) {
  running->CopyAsync(to, from, bytes, inside, line);
}
void CommitCopies() { running->CommitCopies(); }
void WaitCopies(int groups) { running->WaitCopies(groups); }

}  // namespace weft::simt
