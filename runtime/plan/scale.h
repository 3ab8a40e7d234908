// What if one rate of a cluster were another one: with its tables.
#ifndef WEFT_RUNTIME_PLAN_SCALE_H_
#define WEFT_RUNTIME_PLAN_SCALE_H_

#include <string>

#include "absl/status/status.h"
#include "runtime/plan/cluster.pb.h"

namespace weft::plan {

// Makes a rate of a resolved cluster `factor` times as large, and what a calibration says of it by size:
//   device.contraction_flops   products, and those within other kernels
//   device.memory_bytes_s      the other kernels' bytes/s
//   device.other_flops         no table has them
//   node.link_bytes_s          collectives on one node
//   network.link_bytes_s       collectives over several
//   tier.NAME.bytes_s          copies from and to a tier; nothing that is measured says it otherwise
//   tier.NAME.update_bytes_s   what the host does there
// Of the seconds of a collective those of the smallest entry of its kind and group stay: its latency. A machine has
// as many rates as there are keys, whoever scales one does so here. InvalidArgument, which begins with the key: another
// key, or a factor that is not finite and above 0. Any thread.
absl::Status ScaleRate(const std::string& key, double factor, Cluster* cluster);

}  // namespace weft::plan

#endif  // WEFT_RUNTIME_PLAN_SCALE_H_
