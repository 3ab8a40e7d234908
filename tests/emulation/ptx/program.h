// A kernel in PTX, read: instructions on registers of a warp.
#ifndef WEFT_TESTS_EMULATION_PTX_PROGRAM_H_
#define WEFT_TESTS_EMULATION_PTX_PROGRAM_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace weft::ptx {

inline constexpr int kWarp = 32;
// A register of all lanes of a warp. Narrow numbers are in the low bits, the others are 0.
using Register = std::array<uint64_t, kWarp>;

// Does an instruction for the lanes of `mask`.
using Compute = void (*)(Register& to, const Register& a, const Register& b, const Register& c, uint32_t mask);

enum class Kind { kCompute, kLoad, kStore, kPack, kUnpack, kBranch, kReturn, kBarrier, kExchange };
enum class Space { kGlobal, kShared, kParameter };

// Registers are by number; what is constant, or of the thread, is in registers too.
struct Instruction {
  Kind kind = Kind::kCompute;
  Compute compute = nullptr;
  int guard = -1;  // the predicate that says which lanes do it, or not if `unless`
  bool unless = false;
  std::vector<int> to, from;
  Space space = Space::kGlobal;
  int bytes = 0;    // of each of `to`, or of `from`, in memory; of a pack's parts
  int widened = 0;  // bytes to which the sign of what is loaded goes on; 0: it has none
  int64_t offset = 0;
  int target = 0;  // of a branch
  int line = 0;    // of the text
};

struct Program {
  std::string name;
  uint32_t threads = 1024;
  size_t argument_bytes = 0, shared_bytes = 0;
  std::vector<Instruction> instructions;
  int registers = 0;
  struct Constant {
    int at;
    uint64_t value;
  };
  std::vector<Constant> constants;
  int thread = -1, block = -1;  // %tid.x, %ctaid.x; below 0: not read
};

}  // namespace weft::ptx

#endif  // WEFT_TESTS_EMULATION_PTX_PROGRAM_H_
