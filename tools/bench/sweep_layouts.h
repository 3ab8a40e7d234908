// The grid of layouts that a sweep looks at (sweep_grid.cc), as keys of a job.
#ifndef WEFT_TOOLS_BENCH_SWEEP_LAYOUTS_H_
#define WEFT_TOOLS_BENCH_SWEEP_LAYOUTS_H_

#include <cstdint>
#include <string>
#include <vector>

namespace weft::tools {

// Degrees of parallelism, and a micro-batch.
struct Mesh {
  int64_t data = 1, context = 1, tensor = 1, pipeline = 1, micro = 1;
};

struct Scheduled {
  std::string keys;
  int64_t chunks = 1;
  double idle = 0;  // over work: so many times the stages less one, over the micro-batches
};

// The schedules of so many stages, of a model with so many layers.
std::vector<Scheduled> SchedulesOf(int64_t pipeline, int64_t layers);

// Of `ranks` ranks, and of `global` sequences a step.
std::vector<Mesh> MeshesOf(int64_t global, int64_t ranks, bool uses_context);

// "dist.data=8 dist.tensor=2 ...".
std::string KeysOf(const Mesh& mesh);

// " zero.stage=1", ...: ZeRO 1 comes first.
std::vector<std::string> ZerosOf(const Mesh& mesh, int64_t node_ranks);

}  // namespace weft::tools

#endif  // WEFT_TOOLS_BENCH_SWEEP_LAYOUTS_H_
