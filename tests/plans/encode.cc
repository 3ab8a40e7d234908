// encode FILE.txtpb OUT.plan: writes a plan of the corpus as the compiler would,
// for tests of the tools that read plans.
#include <cstdio>

#include "runtime/plan/load.h"
#include "tests/plans/corpus.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "encode: expected FILE.txtpb OUT.plan\n");
    return 2;
  }
  absl::StatusOr<weft::plan::CorpusPlan> plan = weft::plan::ReadCorpusPlan(argv[1]);
  const absl::Status status = plan.ok() ? weft::plan::Save(plan->plan, argv[2]) : plan.status();
  if (status.ok()) return 0;
  std::fprintf(stderr, "encode: %s\n", status.ToString().c_str());
  return 1;
}
