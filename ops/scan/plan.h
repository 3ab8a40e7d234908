// What the kernels of scans work out when they are created, on all devices.
#ifndef WEFT_OPS_SCAN_PLAN_H_
#define WEFT_OPS_SCAN_PLAN_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "ops/abi/kernel.h"

namespace weft::scan {

// The operand as outer x extent x inner: lines of `extent` elements, `inner` apart.
struct ScanPlan {
  int64_t outer = 1, extent = 1, inner = 1;
  bool exclusive = false, reverse = false;
};

// Checks the spec of a scan along attribute `dim`, which is whole.
absl::StatusOr<ScanPlan> MakeScanPlan(const KernelSpec& spec);

}  // namespace weft::scan

#endif  // WEFT_OPS_SCAN_PLAN_H_
