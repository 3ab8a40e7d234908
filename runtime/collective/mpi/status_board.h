// Where a rank stands, for the message on its loss: a page of shared memory that the rank writes, and that the others
// on its host can read also when it is stopped or gone. What its words mean is
// the matter of the writer and of World::SetReader(): those of a run are actor::StreamStatus.
#ifndef WEFT_RUNTIME_COLLECTIVE_MPI_STATUS_BOARD_H_
#define WEFT_RUNTIME_COLLECTIVE_MPI_STATUS_BOARD_H_

#include <atomic>
#include <cstdint>
#include <vector>

namespace weft::collective {

// Memory without a name, shared through a descriptor of the process that made it.
// Nothing of it is left when all who know it have ended.
class StatusBoard {
 public:
  static constexpr int kWords = 128;

  // A board of this process: zeros.
  StatusBoard();
  // That of another process of this host, while that runs; see descriptor().
  StatusBoard(int process, int descriptor);
  ~StatusBoard();
  StatusBoard(StatusBoard&& other);
  StatusBoard(const StatusBoard&) = delete;
  StatusBoard& operator=(const StatusBoard&) = delete;

  // What the other process needs to know; -1: it cannot be shared.
  int descriptor() const { return descriptor_; }

  // The writer's. Null only for another's that cannot be read.
  std::atomic<int64_t>* words() const { return words_; }
  // A copy; empty if it cannot be read. Any thread.
  std::vector<int64_t> Read() const;

 private:
  int descriptor_ = -1;
  void* mapped_ = nullptr;
  std::atomic<int64_t>* words_ = nullptr;
};

}  // namespace weft::collective

#endif  // WEFT_RUNTIME_COLLECTIVE_MPI_STATUS_BOARD_H_
