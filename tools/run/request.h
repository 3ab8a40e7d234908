// What the command line of weft-run asks for.
#ifndef WEFT_TOOLS_RUN_REQUEST_H_
#define WEFT_TOOLS_RUN_REQUEST_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

namespace weft::run {

// How often: after so many steps, or when so many seconds are over. Neither: never.
struct Interval {
  int64_t steps = 0;
  int64_t seconds = 0;

  bool none() const { return steps == 0 && seconds == 0; }
};

struct Request {
  std::string plan;
  // Training.
  std::string data;
  std::string init;
  bool init_partial = false;
  std::vector<std::string> renames;  // FROM=TO
  std::optional<int64_t> steps;
  std::optional<uint64_t> seed;
  std::string checkpoint_dir;
  Interval checkpoint_every;              // none: only at the end
  std::optional<bool> checkpoint_async;   // none: where there is memory for it
  int64_t checkpoint_keep = 0;            // 0: all
  int64_t checkpoint_keep_every = 0;      // steps; 0: none for ever
  Interval snapshot_every;                // none: never
  std::string snapshot_dir = "/dev/shm";  // of a memory file system
  bool drop_snapshots = false;            // and nothing else
  bool resume = false;
  std::string restarted;  // why: see --restarted
  std::vector<std::string> lost_hosts;
  bool allow_changed = false;
  bool other_data = false;
  bool allow_nonfinite = false;
  std::string eval_data;
  std::optional<int64_t> eval_every;
  std::optional<int64_t> eval_batches;
  std::optional<double> stop_at;
  std::optional<int64_t> patience;
  bool debug_nan = false;
  std::optional<Interval> slow_ranks_every;  // none: now and then
  Interval compare_replicas_every;           // none: never
  // Functions.
  std::string inputs;
  std::string outputs;
  bool show_shards = false;
  // Both.
  std::string metrics;
  std::string report;
  std::string tensorboard;
  int64_t log_every = 0;  // steps; 0: now and then
  std::string trace;
  bool trace_kernels = false;
  std::string tier_dir;
  int64_t threads = 0;          // a rank; 0: the cores shared by the ranks
  int64_t hang_seconds = 600;   // 0: never
  int64_t lost_seconds = 5;     // 0: never
  std::string cuda_libs;        // a folder with CUDA's libraries; "": wherever they are
  std::string algorithm_cache;  // "": the default
  bool deterministic = false;
  bool cuda_graphs = true;
  bool quiet = false;
  bool help = false;
  bool version = false;
  bool devices = false;  // print what there is
  bool check = false;    // whether the plan could be run here
};

// Reads the arguments behind the program's name: "--name value", "--name=value",
// or "--name" for switches. kInvalidArgument names the flag at fault.
absl::StatusOr<Request> ParseRequest(const std::vector<std::string>& arguments);

// By flag, what all processes of a run must be asked for alike. Of a file that may lie elsewhere on another host only
// whether it is given.
std::vector<std::pair<std::string, std::string>> SharedOptions(const Request& request);

// The text of --help.
const char* HelpText();

}  // namespace weft::run

#endif  // WEFT_TOOLS_RUN_REQUEST_H_
