// NCCL for tests on machines without a GPU, over the emulated driver: it really
// moves the data of ranks that are threads of one process, a GPU each. What NCCL
// would wait for, or answer with a wrong sum, it names: all members must make the
// same calls in the same order, and each send meets a receive.
#ifndef WEFT_TESTS_EMULATION_NCCL_NCCL_H_
#define WEFT_TESTS_EMULATION_NCCL_NCCL_H_

#include <memory>
#include <string>
#include <vector>

#include "runtime/collective/nccl/nccl.h"
#include "tests/emulation/cuda/driver.h"

namespace weft::nccl {

// Thread-safe. Outlived by the driver; outlives the streams that have its work.
class EmulatedNccl {
 public:
  explicit EmulatedNccl(cuda::EmulatedDriver* driver);
  ~EmulatedNccl();
  const Nccl& nccl() const { return nccl_; }

  // Misuse so far: the first call in which members differ, memory that is not
  // there, a communicator used after its end.
  std::vector<std::string> complaints() const;
  // Communicators that have neither been destroyed nor aborted.
  int open() const;
  int64_t groups() const;  // of calls, so far
  // The most blocks of each communicator that was made, ascending.
  std::vector<int> most_ctas() const;

  // From now on the call fails: "GetUniqueId" or "CommInitRankConfig".
  void FailCalls(const std::string& call, Result result);
  // An error behind the calls, as of a lost peer: of all communicators of
  // that size and place.
  void FailComms(int size, int rank, Result result, const std::string& text);

 private:
  struct State;
  std::unique_ptr<State> state_;
  Nccl nccl_;
};

}  // namespace weft::nccl

#endif  // WEFT_TESTS_EMULATION_NCCL_NCCL_H_
