// Communicators for ranks that are threads of one process.
#ifndef WEFT_RUNTIME_COLLECTIVE_LOCAL_FABRIC_H_
#define WEFT_RUNTIME_COLLECTIVE_LOCAL_FABRIC_H_

#include <memory>

#include "ops/abi/gpu.h"
#include "runtime/collective/communicator.h"

namespace weft::collective {

// What `ranks` ranks share. Thread-safe; outlives its communicators.
class LocalFabric {
 public:
  // `spins`: how often a waiting thread looks before it sleeps. `gpu`: on which all
  // ranks are, each with streams of its own, and which outlives this; null: the host.
  explicit LocalFabric(int ranks, int spins = 0, Gpu* gpu = nullptr);
  ~LocalFabric();
  LocalFabric(const LocalFabric&) = delete;
  LocalFabric& operator=(const LocalFabric&) = delete;

  // The communicator of one rank; `rank` is below the number of ranks.
  std::unique_ptr<Communicator> Join(int rank);

  // As Communicator::Abort().
  void Abort(const absl::Status& reason);

 private:
  struct State;
  friend class LocalCommunicator;
  std::unique_ptr<State> state_;
};

}  // namespace weft::collective

#endif  // WEFT_RUNTIME_COLLECTIVE_LOCAL_FABRIC_H_
