#include "ops/cpu_kernels.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace weft {
namespace {

// Every op that reaches a plan has a kernel; the list is the operator table.
TEST(CpuKernelsTest, HasEveryOp) {
  KernelRegistry registry;
  RegisterCpuKernels(registry);
  EXPECT_THAT(
      registry.Names(),
      ::testing::UnorderedElementsAre(
          "neg", "exp", "log", "sqrt", "rsqrt", "tanh", "sigmoid", "square", "add", "sub", "mul", "div", "maximum",
          "minimum", "abs", "sign", "sin", "cos", "add_scalar", "power", "clamp", "greater", "greater_equal", "less",
          "less_equal", "equal", "not_equal", "logical_and", "logical_or", "logical_not", "select", "cumsum", "iota",
          "constant", "scale", "add_n", "cast", "broadcast_to", "reduce", "reshape", "transpose", "slice", "pad",
          "concat", "einsum", "relu", "relu_grad", "silu", "silu_grad", "gelu", "gelu_grad", "rope", "softmax",
          "softmax_grad", "layer_norm", "layer_norm_grad", "rms_norm", "rms_norm_grad", "residual_layer_norm",
          "residual_layer_norm_grad", "residual_rms_norm", "residual_rms_norm_grad", "attention", "attention_grad",
          "attention_bias_grad", "attention_unfused", "attention_unfused_grad", "attention_unfused_bias_grad",
          "embedding", "embedding_grad", "take", "scatter_add", "scatter_set", "grouped_matmul", "grouped_outer",
          "sort", "top_k", "sum_exp", "pick", "cross_entropy_loss", "cross_entropy_grad", "dropout", "random_normal",
          "random_uniform", "fill", "square_sum", "clip_scale", "loss_scale", "learning_rate", "sgd", "sgd_momentum",
          "adam", "accumulate", "copy", "copy_tile", "mask_rank", "set_padding", "unfold", "fold", "max_pool",
          "max_pool_grad", "depthwise_conv", "depthwise_conv_grad_input", "depthwise_conv_grad_weight",
          "batch_variance", "batch_norm_apply", "batch_norm_sums", "batch_norm_grad"));
}

}  // namespace
}  // namespace weft
