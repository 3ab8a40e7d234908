// Which algorithms of cuBLASLt were chosen, kept from run to run in a file.
#ifndef WEFT_RUNTIME_DEVICE_CUDA_ALGORITHMS_H_
#define WEFT_RUNTIME_DEVICE_CUDA_ALGORITHMS_H_

#include <map>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "runtime/device/cuda/cublaslt.h"

namespace weft::cuda {

// A text file of one line an algorithm: a checksum, the algorithm, the key, which
// has no line breaks and names all that the choice depends on. Several
// processes may write it: each adds what it knows and replaces the file at once. Not thread-safe.
class AlgorithmFile {
 public:
  // Reads the file at once; "": none, everything is kept in memory alone. A file that
  // is damaged counts as empty: status() says so.
  explicit AlgorithmFile(std::string path);

  // OK also if there is no file yet.
  const absl::Status& status() const { return status_; }
  std::optional<lt::Algorithm> Find(const std::string& key) const;
  // Remembers, and rewrites the file, its folder made if need be.
  absl::Status Add(const std::string& key, const lt::Algorithm& algorithm);

 private:
  using Entries = std::map<std::string, lt::Algorithm>;
  // kDataLoss if the file is damaged; empty if there is none.
  absl::StatusOr<Entries> Read() const;
  absl::Status Write() const;

  const std::string path_;
  Entries entries_;
  absl::Status status_;
};

// Where the file is unless told otherwise: ~/.cache/weft/cublaslt.algorithms; "" if the user has no home.
std::string DefaultAlgorithmFile();

}  // namespace weft::cuda

#endif  // WEFT_RUNTIME_DEVICE_CUDA_ALGORITHMS_H_
