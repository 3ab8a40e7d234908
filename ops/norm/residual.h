// What CPU and GPU kernels of fused norms agree on: which operands there are.
#ifndef WEFT_OPS_NORM_RESIDUAL_H_
#define WEFT_OPS_NORM_RESIDUAL_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ops/abi/kernel.h"
#include "ops/abi/match_spec.h"

namespace weft::norm {

// `residual_layer_norm` and `residual_rms_norm`: inputs x, y and the norm's weights; outputs s = x + y, the norm of s
// and, as the norm alone has them, statistics or none. With the attribute `rate`, s = x + dropout(y).
//
// Their gradients: inputs those of the norm's gradient, then, where there is one, the gradient of s that comes from
// elsewhere; outputs the sum of both, those of the weights and, with `rate`, what dropout makes of the sum.
//
// x and y, or the operands of the gradient, have one type and shape.
struct ResidualForm {
  bool center;  // layer norm
  bool dropout;
  bool residual;       // of a gradient: one comes from elsewhere
  size_t norm_inputs;  // of the norm's gradient alone
  size_t norm_outputs;
};

inline absl::StatusOr<ResidualForm> ResidualGradientForm(const KernelSpec& spec, bool center) {
  ResidualForm form{.center = center, .dropout = spec.attributes.Has("rate")};
  form.norm_inputs = center ? 5 : 4;
  form.norm_outputs = center ? 3 : 2;
  form.residual = spec.inputs.size() > form.norm_inputs;
  WEFT_RETURN_IF_ERROR(
      CheckArity(spec, form.norm_inputs + (form.residual ? 1 : 0), form.norm_outputs + (form.dropout ? 1 : 0)));
  return form;
}

}  // namespace weft::norm

#endif  // WEFT_OPS_NORM_RESIDUAL_H_
