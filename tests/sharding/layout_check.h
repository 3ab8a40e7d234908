// Runs an op in every layout that a rule allows and compares with one rank.
#ifndef WEFT_TESTS_SHARDING_LAYOUT_CHECK_H_
#define WEFT_TESTS_SHARDING_LAYOUT_CHECK_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "ops/abi/registry.h"
#include "ops/dialect/weft.h"
#include "tests/sharding/mesh_layout.h"
#include "tests/sharding/op_case.h"

namespace weft::tests {

// What a check went through.
struct Coverage {
  int64_t signatures = 0;  // over one axis
  int64_t layouts = 0;     // one signature an axis, run and compared
  int64_t refused = 0;     // that the rule says do not divide
  int64_t zigzag = 0;      // of the layouts, with halves from both ends of the sequence as well
  int64_t kernel_runs = 0;
};

// One op with drawn inputs. Not thread-safe.
class LayoutCheck {
 public:
  // All of them must outlive the check.
  LayoutCheck(const KernelRegistry& registry, const OpCase& one, mlir::Operation* op);

  // Runs the op on one rank. Must succeed before Check.
  absl::Status RunWhole();

  // Every combination of the signatures of `rule`, one an axis of `mesh`. Returns what is wrong, at most a few lines.
  std::vector<std::string> Check(const ir::ShardingRule& rule, const Mesh& mesh, Coverage& coverage);

 private:
  // The states of every tensor in one layout.
  struct Layout {
    std::vector<States> inputs, outputs;
    bool ring = false;     // over one of the axes
    bool zigzags = false;  // the ring, where it can
    std::string ToString() const;
  };
  // What every rank computed: values an output and rank, and the largest of an output.
  struct Computed {
    std::vector<std::vector<Values>> outputs;
    std::vector<double> largest;
  };

  Layout LayoutOf(const std::vector<const ir::Signature*>& chosen) const;
  bool Divides(const Layout& layout, const Mesh& mesh) const;
  // Whether every axis cuts the outermost of what a dimension is made of that is more than a single unit by then.
  static bool IsContiguous(const ir::ShardingRule& rule, const std::vector<const ir::Signature*>& chosen,
                           const Mesh& mesh);
  std::vector<std::pair<int, int>> InPlace(const Layout& layout, const Mesh& mesh) const;
  absl::StatusOr<Computed> RunRanks(const Layout& layout, const Mesh& mesh, Coverage& coverage) const;
  absl::Status Compare(const ir::ShardingRule& rule, const Layout& layout, const Mesh& mesh,
                       const Computed& computed) const;
  absl::Status CompareOutput(const ir::ShardingRule& rule, const Layout& layout, const Mesh& mesh,
                             const Computed& computed, size_t output) const;

  const KernelRegistry& registry_;
  const OpCase& case_;
  mlir::Operation* op_;
  bool accumulates_;                          // its kernel also reads what it has summed so far
  std::vector<TensorSpec> inputs_, outputs_;  // whole
  std::vector<Fill> fills_;
  std::vector<Values> input_values_, expected_;
};

}  // namespace weft::tests

#endif  // WEFT_TESTS_SHARDING_LAYOUT_CHECK_H_
