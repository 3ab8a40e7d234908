// What the kernels of scans work out when they are created, on all devices.
#ifndef WEFT_OPS_SCAN_PLAN_H_
#define WEFT_OPS_SCAN_PLAN_H_

#include "absl/status/statusor.h"
#include "ops/abi/kernel.h"
#include "ops/abi/lines.h"

namespace weft::scan {

struct ScanPlan {
  Lines lines;  // of the operand
  bool exclusive = false, reverse = false;
};

// Checks the spec of a scan along attribute `dim`, which is whole.
absl::StatusOr<ScanPlan> MakeScanPlan(const KernelSpec& spec);

}  // namespace weft::scan

#endif  // WEFT_OPS_SCAN_PLAN_H_
