#include "tests/emulation/ptx/ptx.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ops/abi/status_macros.h"
#include "tests/emulation/ptx/parse.h"

namespace weft::ptx {
namespace {

constexpr uint32_t kAll = 0xffffffffu;
constexpr int kNaN = 0xff;  // bytes of one

// A kernel with its program, which lives as long as its module.
struct PtxKernel : EmulatedKernel {
  PtxKernel() : EmulatedKernel() {}
  Program program;
};

// What the threads of a block share.
struct Block {
  const Program& program;
  const char* arguments;
  std::vector<char> shared;
};

// Threads that go together. Of those that are apart the ones that are behind go first, until they meet.
class Warp {
 public:
  Warp(Block& block, uint32_t first, uint32_t index) : block_(block), registers_(block.program.registers) {
    for (const Program::Constant& constant : block.program.constants) registers_[constant.at].fill(constant.value);
    for (int lane = 0; lane < kWarp; ++lane) {
      if (block.program.thread >= 0) registers_[block.program.thread][lane] = first + static_cast<uint32_t>(lane);
    }
    if (block.program.block >= 0) registers_[block.program.block].fill(index);
  }

  bool done() const { return live_ == 0; }
  int barrier() const { return barrier_; }  // the line where all wait

  // To the next barrier, or to the end.
  absl::Status Go() {
    waiting_ = 0;
    barrier_ = 0;
    while (uint32_t ready = live_ & ~waiting_) {
      // Threads at an exchange wait for the others of their warp.
      const bool all_wait = (ready & ~parked_) == 0;
      if (all_wait) parked_ = 0;
      ready &= ~parked_;
      int at = Least(ready), next = 0;
      const uint32_t mask = Together(ready, at, next);
      if (all_wait && mask != kAll) return Error(0, "exchanges that lanes of a warp do not reach");
      for (; at < next && error_.ok(); ++at) {
        if (!Step(block_.program.instructions[static_cast<size_t>(at)], mask, at)) break;
      }
      if (!error_.ok()) return error_;
      if (at == next) SetAll(mask, at);
    }
    if (live_ != 0 && live_ != kAll) return Error(barrier_, "a barrier that threads of the warp do not reach");
    return absl::OkStatus();
  }

 private:
  absl::Status Error(int line, const std::string& what) const {
    return absl::InternalError(absl::StrCat("PTX kernel ", block_.program.name, ", line ", line, ": ", what));
  }

  int Least(uint32_t ready) const {
    int least = static_cast<int>(block_.program.instructions.size());
    for (int lane = 0; lane < kWarp; ++lane) {
      if (ready >> lane & 1) least = std::min(least, at_[lane]);
    }
    return least;
  }

  // The threads at an instruction, and the first one behind it where others are.
  uint32_t Together(uint32_t ready, int at, int& next) const {
    uint32_t mask = 0;
    next = static_cast<int>(block_.program.instructions.size());
    for (int lane = 0; lane < kWarp; ++lane) {
      if ((ready >> lane & 1) == 0) continue;
      if (at_[lane] == at) {
        mask |= 1u << lane;
      } else {
        next = std::min(next, at_[lane]);
      }
    }
    return mask;
  }

  void SetAll(uint32_t mask, int at) {
    for (int lane = 0; lane < kWarp; ++lane) {
      if (mask >> lane & 1) at_[lane] = at;
    }
  }

  // False where the threads may be apart behind it; then they know where they are.
  bool Step(const Instruction& it, uint32_t mask, int at) {
    uint32_t doing = mask;
    if (it.guard >= 0) {
      for (int lane = 0; lane < kWarp; ++lane) {
        const bool holds = registers_[it.guard][lane] != 0;
        if (holds == it.unless) doing &= ~(1u << lane);
      }
    }
    switch (it.kind) {
      case Kind::kCompute:
        it.compute(registers_[it.to[0]], registers_[it.from[0]], registers_[it.from[1]], registers_[it.from[2]], doing);
        return true;
      case Kind::kLoad:
      case Kind::kStore:
        for (int lane = 0; lane < kWarp && error_.ok(); ++lane) {
          if (doing >> lane & 1) Access(it, lane);
        }
        return true;
      case Kind::kPack:
      case Kind::kUnpack:
        Repack(it, doing);
        return true;
      case Kind::kExchange:
        if (doing == kAll) return Exchange(it), true;
        parked_ |= mask;
        SetAll(mask, at);
        return false;
      case Kind::kBranch:
        SetAll(doing, it.target);
        SetAll(mask & ~doing, at + 1);
        return false;
      case Kind::kReturn:
        live_ &= ~doing;
        SetAll(mask & ~doing, at + 1);
        return false;
      case Kind::kBarrier:
        if (barrier_ != 0 && barrier_ != it.line) error_ = Error(it.line, "another barrier than other threads'");
        barrier_ = it.line;
        waiting_ |= doing;
        SetAll(mask, at + 1);
        return false;
    }
    return true;
  }

  void Access(const Instruction& it, int lane) {
    const bool loads = it.kind == Kind::kLoad;
    const std::vector<int>& words = loads ? it.to : it.from;
    const size_t first = loads ? 0 : 1, count = words.size() - first, bytes = static_cast<size_t>(it.bytes);
    uint64_t address = registers_[it.from[0]][lane] + static_cast<uint64_t>(it.offset);
    if (address % (bytes * count) != 0) {
      error_ = Error(it.line, absl::StrCat("an address that no multiple of ", bytes * count, " is: ", address));
      return;
    }
    if (it.space != Space::kGlobal) {
      const bool is_argument = it.space == Space::kParameter;
      const size_t size = is_argument ? block_.program.argument_bytes : block_.shared.size();
      if (address + bytes * count > size) {
        error_ =
            Error(it.line, absl::StrCat("byte ", address, " of ", size, is_argument ? " of arguments" : " shared"));
        return;
      }
      address += reinterpret_cast<uint64_t>(is_argument ? block_.arguments : block_.shared.data());
    }
    char* memory = reinterpret_cast<char*>(address);
    for (size_t i = 0; i < count; ++i, memory += bytes) {
      uint64_t& word = registers_[words[first + i]][lane];
      if (loads) {
        word = 0;
        std::memcpy(&word, memory, bytes);
        if (it.widened > it.bytes && (word >> (8 * bytes - 1)) & 1) {
          word |= ((~uint64_t{0} >> (64 - 8 * it.widened)) >> (8 * bytes)) << (8 * bytes);
        }
      } else {
        std::memcpy(memory, &word, bytes);
      }
    }
  }

  void Repack(const Instruction& it, uint32_t doing) {
    const int bits = 8 * it.bytes;
    const uint64_t part = bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
    for (int lane = 0; lane < kWarp; ++lane) {
      if ((doing >> lane & 1) == 0) continue;
      if (it.kind == Kind::kPack) {
        uint64_t whole = 0;
        for (size_t i = 0; i < it.from.size(); ++i) {
          whole |= (registers_[it.from[i]][lane] & part) << (bits * static_cast<int>(i));
        }
        registers_[it.to[0]][lane] = whole;
      } else {
        const uint64_t whole = registers_[it.from[0]][lane];
        for (size_t i = 0; i < it.to.size(); ++i) {
          registers_[it.to[i]][lane] = whole >> (bits * static_cast<int>(i)) & part;
        }
      }
    }
  }

  // shfl.sync.bfly: what the lane has whose number differs in the bits of the second operand.
  void Exchange(const Instruction& it) {
    if (static_cast<uint32_t>(registers_[it.from.back()][0]) != kAll) {
      error_ = Error(it.line, "an exchange of some lanes");
      return;
    }
    const Register before = registers_[it.from[0]];
    for (int lane = 0; lane < kWarp; ++lane) {
      registers_[it.to[0]][lane] = before[lane ^ static_cast<int>(registers_[it.from[1]][lane])];
    }
  }

  Block& block_;
  std::vector<Register> registers_;
  std::array<int, kWarp> at_ = {};
  uint32_t live_ = kAll, waiting_ = 0, parked_ = 0;  // at a barrier, at an exchange
  int barrier_ = 0;
  absl::Status error_;
};

// 0: as they are counted, 1: the other way, more: by chance.
std::vector<size_t> OrderOf(size_t count, uint64_t order) {
  std::vector<size_t> warps(count);
  std::iota(warps.begin(), warps.end(), size_t{0});
  if (order == 1) std::reverse(warps.begin(), warps.end());
  uint64_t state = order * 0x9E3779B97F4A7C15ull;
  for (size_t i = count; order > 1 && i > 1; --i) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    std::swap(warps[i - 1], warps[(state >> 33) % i]);
  }
  return warps;
}

absl::Status RunBlock(Block& block, uint32_t index, uint32_t threads, uint64_t order) {
  block.shared.assign(block.program.shared_bytes, static_cast<char>(kNaN));
  std::vector<Warp> warps;
  for (uint32_t first = 0; first < threads; first += kWarp) warps.emplace_back(block, first, index);
  const std::vector<size_t> turns = OrderOf(warps.size(), order);
  for (bool all_done = false; !all_done;) {
    size_t done = 0;
    int line = 0;
    for (size_t w : turns) {
      if (!warps[w].done()) WEFT_RETURN_IF_ERROR(warps[w].Go());
    }
    for (const Warp& warp : warps) {
      done += warp.done();
      if (line != 0 && !warp.done() && warp.barrier() != line) {
        return absl::InternalError(
            absl::StrCat("PTX kernel ", block.program.name, ": warps wait at lines ", line, " and ", warp.barrier()));
      }
      if (!warp.done()) line = warp.barrier();
    }
    all_done = done == warps.size();
    if (!all_done && done > 0) {
      return absl::InternalError(
          absl::StrCat("PTX kernel ", block.program.name, ", line ", line, ": a barrier that some warps do not reach"));
    }
  }
  return absl::OkStatus();
}

absl::Status Run(const EmulatedKernel& kernel, const GpuGrid& grid, const void* arguments, uint64_t order) {
  WEFT_RETURN_IF_ERROR(CheckGrid(kernel, grid));
  if (grid.threads[0] % kWarp != 0 || grid.threads[1] * grid.threads[2] != 1 || grid.blocks[1] * grid.blocks[2] != 1) {
    return absl::UnimplementedError(absl::StrCat("PTX kernel ", kernel.name, ": in ", grid.ToString()));
  }
  Block block{static_cast<const PtxKernel&>(kernel).program, static_cast<const char*>(arguments), {}};
  for (uint32_t index = 0; index < grid.blocks[0]; ++index) {
    WEFT_RETURN_IF_ERROR(RunBlock(block, index, grid.threads[0], order));
  }
  return absl::OkStatus();
}

}  // namespace

bool IsText(const void* image) {
  const char* const text = static_cast<const char*>(image);
  return std::memcmp(text, "//", 2) == 0 || text[0] == '.';
}

absl::StatusOr<std::unique_ptr<EmulatedModule>> Parse(const std::string& name, const std::string& text) {
  WEFT_ASSIGN_OR_RETURN(std::vector<Program> programs, ProgramsOf(text));
  auto module = std::make_unique<EmulatedModule>();
  auto kernels = std::make_shared<std::vector<PtxKernel>>(programs.size());
  module->name = name;
  for (size_t i = 0; i < programs.size(); ++i) {
    PtxKernel& kernel = (*kernels)[i];
    kernel.program = std::move(programs[i]);
    kernel.module = module->name.c_str();
    kernel.name = kernel.program.name.c_str();
    kernel.argument_bytes = kernel.program.argument_bytes;
    kernel.threads = kernel.program.threads;
    kernel.run = &Run;
    module->kernels.push_back(&kernel);
  }
  module->owner = std::move(kernels);
  return module;
}

}  // namespace weft::ptx
