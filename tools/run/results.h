// Where a function's outputs go: a file, and the terminal.
#ifndef WEFT_TOOLS_RUN_RESULTS_H_
#define WEFT_TOOLS_RUN_RESULTS_H_

#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/executor/ports.h"
#include "tools/run/output_file.h"
#include "tools/run/train.h"

namespace weft::run {

// kFailedPrecondition for an output that is a pending sum.
absl::Status CheckWhole(const executor::Port& port);

// Keeps a copy of every rank's tile of every output, of the last micro-batch.
class Results : public executor::ResultSink {
 public:
  absl::StatusOr<std::unique_ptr<executor::ResultField>> Bind(const executor::Port& port) override;

  // Writes the whole outputs, from the ranks that speak for their tiles.
  // kFailedPrecondition for an output that is a pending sum. All processes come,
  // and get the same error; so with Print().
  absl::Status Write(const Context& context, const std::string& path) const;

  // Prints every rank's part of every output, with its layout and values.
  absl::Status Print(const Context& context) const;

 private:
  struct Part {
    executor::Port port;
    std::vector<char> bytes;
  };
  class Field;
  absl::Status CheckWhole() const;
  absl::Status WriteTiles(OutputFile& file) const;

  mutable std::mutex mutex_;
  std::map<std::pair<std::string, int>, std::unique_ptr<Part>> parts_;  // by output and rank
};

}  // namespace weft::run

#endif  // WEFT_TOOLS_RUN_RESULTS_H_
