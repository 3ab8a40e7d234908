// Communicators of ranks that are processes.
#ifndef WEFT_RUNTIME_COLLECTIVE_MPI_COMMUNICATOR_H_
#define WEFT_RUNTIME_COLLECTIVE_MPI_COMMUNICATOR_H_

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "runtime/collective/communicator.h"
#include "runtime/collective/mpi/group.h"
#include "runtime/collective/mpi/levels.h"
#include "runtime/collective/mpi/wire.h"

namespace weft::collective {

// Ranks are those of the wire, which outlives it.
class MpiCommunicator : public Communicator {
 public:
  // `hosts`: the name of each rank's; empty: all are on one.
  explicit MpiCommunicator(Wire* wire, std::vector<std::string> hosts = {}) : wire_(*wire), hosts_(std::move(hosts)) {}
  int rank() const override { return wire_.rank(); }
  int size() const override { return wire_.size(); }

  absl::StatusOr<std::unique_ptr<Operation>> CreateCollective(const Group& group,
                                                              const std::vector<CollectiveSpec>& specs) override;
  absl::StatusOr<std::unique_ptr<Operation>> CreateTransfer(bool sends, DType dtype,
                                                            const std::vector<Link>& links) override;
  int64_t staging_bytes() const override;
  void Abort(const absl::Status& reason) override { wire_.Abort(reason); }

  // As World::SetLevels().
  void SetLevels(PartsBetweenHosts parts);

 private:
  absl::Status CheckChannel(const Group& group) const;
  std::optional<Levels> LevelsOf(const Group& group, const std::vector<CollectiveSpec>& specs) const;

  Wire& wire_;
  const std::vector<std::string> hosts_;  // by rank
  mutable std::mutex mutex_;              // guards what follows
  PartsBetweenHosts parts_;
  std::map<std::tuple<std::string, std::vector<int>, int>, std::unique_ptr<MpiGroup>> groups_;
  LinkEnds links_;              // that have an operation
  int64_t transfer_bytes_ = 0;  // staging
};

}  // namespace weft::collective

#endif  // WEFT_RUNTIME_COLLECTIVE_MPI_COMMUNICATOR_H_
