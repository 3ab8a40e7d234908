// Prints how long the exact search takes for where the parameters of a job lie on its mesh, in seconds of a core.
//   exact JOB [KEY=VALUE ...]
#include <cstdio>
#include <string>
#include <vector>

#include "compiler/auto/layouts.h"
#include "compiler/auto/profiles.h"
#include "compiler/job/cluster.h"
#include "compiler/job/job.h"
#include "compiler/pipeline/model_source.h"
#include "ops/abi/status_macros.h"
#include "runtime/plan/cluster.h"
#include "tools/bench/cpu_seconds.h"

namespace {

using namespace weft;
using tools::CpuSeconds;

absl::Status Run(const std::string& path, const std::vector<std::string>& keys) {
  WEFT_ASSIGN_OR_RETURN(const Job asked, LoadJob(path, keys));
  Job job = LocateJob(asked, path);
  WEFT_ASSIGN_OR_RETURN(const Cluster cluster, LoadCluster(job.cluster(), {}));
  ResolveJob(&job);
  WEFT_ASSIGN_OR_RETURN(const std::unique_ptr<compiler::ModelSource> source, compiler::ModelSource::read(job));
  const double begin = CpuSeconds();
  compiler::Profiles profiles(source->module(), cluster, /*work=*/0);
  compiler::Layouts layouts(profiles.shallow(), cluster);
  WEFT_ASSIGN_OR_RETURN(const std::vector<Pin> pins,
                        layouts.find(job, static_cast<double>(plan::PlanBytesOf(cluster)), /*inFlight=*/1));
  std::printf("%.2f\n", CpuSeconds() - begin);
  for (const Pin& pin : pins) {
    std::printf("%s %s\n", pin.parameter().c_str(), pin.state().c_str());
  }
  return absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: exact JOB [KEY=VALUE ...]\n");
    return 2;
  }
  const absl::Status status = Run(argv[1], {argv + 2, argv + argc});
  if (!status.ok()) std::fprintf(stderr, "exact: %s\n", std::string(status.message()).c_str());
  return status.ok() ? 0 : 1;
}
