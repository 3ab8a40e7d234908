// weft calibrate: from a command line to a cluster file.
#ifndef WEFT_TOOLS_CALIBRATE_CALIBRATE_H_
#define WEFT_TOOLS_CALIBRATE_CALIBRATE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/plan/cluster.pb.h"
#include "tools/run/processes.h"

namespace weft::calibrate {

struct Request {
  std::string cluster;  // a file; "": this machine
  std::string device;   // "cpu" or "cuda"; "": as the cluster says, else "cpu"
  std::string out;
  double seconds = 180;  // about
  bool quiet = false;
  bool help = false, version = false;
};

// Measures, and writes the cluster. All processes come. Errors name the file or the flag; after one nothing is written.
absl::Status Calibrate(const Request& request, run::Processes& processes);

// The text of a cluster file whose calibration is of `date`, with a comment that says what it is.
std::string TextOf(const Cluster& cluster);

}  // namespace weft::calibrate

#endif  // WEFT_TOOLS_CALIBRATE_CALIBRATE_H_
