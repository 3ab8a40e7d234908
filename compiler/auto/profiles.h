// The profiles of a model on all the meshes that a search asks for.
#ifndef WEFT_COMPILER_AUTO_PROFILES_H_
#define WEFT_COMPILER_AUTO_PROFILES_H_

#include <map>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "compiler/auto/profile.h"
#include "compiler/pipeline/candidates.h"
#include "mlir/IR/BuiltinOps.h"

namespace weft::compiler {

/// Compiles a model with three layers of each repeat, and remembers what came out. For one thread.
class Profiles {
public:
  /// `parsed` is the model as its file says it; `cluster` outlives this. `work`: see Candidates::limit.
  Profiles(mlir::ModuleOp parsed, const Cluster &cluster, int64_t work);

  /// Of the whole model on one stage: `job` is resolved, with paths as seen from here, and without stages. The error is
  /// that of Candidates.
  const absl::StatusOr<Profile> &of(const Job &job);

  /// The same if it is known, else nullptr.
  const absl::StatusOr<Profile> *known(const Job &job) const;

  /// The model with few layers.
  mlir::ModuleOp shallow() { return *shallow_; }

  /// Whether the model can be laid out like this at all, as far as its text says: its axes are used, and divide.
  bool elaborates(const Job &job);

  /// Lets them compile about so much from now on.
  void limit(int64_t work) { candidates_.limit(work); }

  /// Whether a profile was refused for want of work.
  bool exhausted() const { return candidates_.exhausted(); }

private:
  absl::StatusOr<Profile> make(const Job &job);
  absl::StatusOr<std::map<std::string, int64_t>> countRepeats(const Job &job);

  const Cluster &cluster_;
  mlir::OwningOpRef<mlir::ModuleOp> shallow_;
  Candidates candidates_;
  std::optional<std::map<std::string, int64_t>> repeats_; // once one has compiled
  std::map<std::string, absl::StatusOr<Profile>> known_;  // by the text of the job
};

/// Profiles on the same ranks in nodes of so many, a divisor of those that a node has.
struct PartedProfiles {
  /// As of Profiles.
  PartedProfiles(mlir::ModuleOp parsed, const Cluster &cluster, int64_t ranks, int64_t work);

  const Cluster parted;
  Profiles profiles;
};

} // namespace weft::compiler

#endif // WEFT_COMPILER_AUTO_PROFILES_H_
