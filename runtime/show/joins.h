// What generated kernels were joined of, and where joining ended.
#ifndef WEFT_RUNTIME_SHOW_JOINS_H_
#define WEFT_RUNTIME_SHOW_JOINS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/plan/program.h"

namespace weft::plan {

// The operators of a kernel, those of one scope together: "add of h.3.mlp.c_proj (layers.mlir:9), dropout, add of h.3
// (gpt2.mlir:30, 31)".
std::string OperatorsText(const Kernel& kernel);

// Where a generated kernel ends: what makes an input of it, or reads an output, and did not join.
struct Boundary {
  std::string other;   // the name of a kernel, "all_reduce", "transfer"
  std::string reason;  // of apart.h, or a name for what no generated kernel does: "registered", "collective", ...
  std::string text;    // the reason, to people
  bool asked = false;  // the compiler could have joined the two: both are generated
  std::vector<int32_t> buffers;  // between the two
};

// Of a stage. Does not own the program.
class Boundaries {
 public:
  explicit Boundaries(const Program& program);

  // Of a generated kernel of an actor: of each thing that makes inputs, or reads outputs, and each reason one. What is
  // kept from step to step and what nothing in the step makes is no boundary.
  std::vector<Boundary> Before(int32_t actor, int32_t kernel) const;
  std::vector<Boundary> Behind(int32_t actor, int32_t kernel) const;

 private:
  struct At {
    int32_t actor, work;
    bool operator==(const At& other) const { return actor == other.actor && work == other.work; }
  };

  // Null: no kernel.
  const Kernel* KernelAt(const At& at) const;
  // The buffer that work has written whose contents `b` shows: itself, or one that it is a view of; -1: none.
  int32_t MadeOf(int32_t b) const;
  // What is between the work that makes a buffer and that which reads it; `other` is one of the two. Without a reason:
  // nothing.
  Boundary Between(const At& maker, const At& reader, int32_t made, const At& other) const;

  const Program& program_;
  std::vector<std::vector<At>> makers_, readers_;  // of what a buffer shows, a buffer each
};

// "gelu (h.3.mlp/gelu.94 and 2 more): they run in different parts of a step".
std::string BoundaryText(const Program& program, const Boundary& boundary);

}  // namespace weft::plan

#endif  // WEFT_RUNTIME_SHOW_JOINS_H_
