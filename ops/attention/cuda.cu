// Softmax attention, forward and backward, without storing the scores: Dao, "FlashAttention-2",
// 2023, sections 3.1 and 3.2, with the running maximum of Milakov and Gimelshein, "Online
// normalizer calculation for softmax", 2018.
//
// A block has one tile of query rows (of keys, for their gradient) of one head and walks along the
// keys (the query rows of all heads that read them), skipping what the mask hides. Every result is
// summed by one block in one order: deterministic, no atomics. The price is that the backward pass
// makes the scores twice.
#include "ops/attention/cuda_code_bias.h"
#include "ops/attention/cuda_code_log_sums.h"
#include "ops/attention/cuda_code_merge.h"
#include "ops/attention/cuda_code_pad.h"
#include "ops/attention/cuda_code_plain.h"
#include "ops/attention/cuda_code_tensor.h"

using weft::attention::AttentionArguments;
using weft::attention::ForwardTile;
using weft::attention::KeyGradientTile;
using weft::attention::kLogSumThreads;
using weft::attention::kMergeThreads;
using weft::attention::kPlainThreads;
using weft::attention::kResizeThreads;
using weft::attention::LogSumArguments;
using weft::attention::MergeArguments;
using weft::attention::QueryGradientTile;
using weft::attention::ResizeArguments;
using weft::gpu::BF16;
using weft::gpu::F16;

#define WEFT_PLAIN_WAY(T, type, depth, way, adjusted)                                     \
  WEFT_KERNEL(way##_forward_##type##_##depth, AttentionArguments, kPlainThreads) {        \
    weft::attention::plain::Forward<T, depth, adjusted>(args);                            \
  }                                                                                       \
  WEFT_KERNEL(way##_query_gradient_##type##_##depth, AttentionArguments, kPlainThreads) { \
    weft::attention::plain::QueryGradient<T, depth, adjusted>(args);                      \
  }                                                                                       \
  WEFT_KERNEL(way##_key_gradient_##type##_##depth, AttentionArguments, kPlainThreads) {   \
    weft::attention::plain::KeyGradient<T, depth, adjusted>(args);                        \
  }
#define WEFT_PLAIN(T, type, depth)                                                       \
  WEFT_PLAIN_WAY(T, type, depth, plain, false)                                           \
  WEFT_PLAIN_WAY(T, type, depth, plain_adjusted, true)                                   \
  WEFT_KERNEL(plain_bias_gradient_##type##_##depth, AttentionArguments, kPlainThreads) { \
    weft::attention::plain::BiasGradient<T, depth>(args);                                \
  }
#define WEFT_PLAIN_OF(T, type) \
  WEFT_PLAIN(T, type, 32)      \
  WEFT_PLAIN(T, type, 64)      \
  WEFT_PLAIN(T, type, 128)     \
  WEFT_PLAIN(T, type, 256)

WEFT_PLAIN_OF(float, f32)
WEFT_PLAIN_OF(BF16, bf16)
WEFT_PLAIN_OF(F16, f16)

#define WEFT_TENSOR_WAY(T, type, depth, way, adjusted)                                                         \
  WEFT_KERNEL(way##_forward_##type##_##depth, AttentionArguments, ForwardTile(depth).threads()) {              \
    weft::attention::tensor::Forward<T, depth, adjusted>(args);                                                \
  }                                                                                                            \
  WEFT_KERNEL(way##_query_gradient_##type##_##depth, AttentionArguments, QueryGradientTile(depth).threads()) { \
    weft::attention::tensor::QueryGradient<T, depth, adjusted>(args);                                          \
  }                                                                                                            \
  WEFT_KERNEL(way##_key_gradient_##type##_##depth, AttentionArguments, KeyGradientTile(depth).threads()) {     \
    weft::attention::tensor::KeyGradient<T, depth, adjusted>(args);                                            \
  }
#define WEFT_TENSOR(T, type, depth)              \
  WEFT_TENSOR_WAY(T, type, depth, tensor, false) \
  WEFT_TENSOR_WAY(T, type, depth, tensor_adjusted, true)

WEFT_TENSOR(BF16, bf16, 64)
WEFT_TENSOR(BF16, bf16, 128)
WEFT_TENSOR(F16, f16, 64)
WEFT_TENSOR(F16, f16, 128)

WEFT_KERNEL(merge_f32, MergeArguments, kMergeThreads) { weft::attention::Merge<float>(args); }
WEFT_KERNEL(merge_bf16, MergeArguments, kMergeThreads) { weft::attention::Merge<BF16>(args); }
WEFT_KERNEL(merge_f16, MergeArguments, kMergeThreads) { weft::attention::Merge<F16>(args); }

WEFT_KERNEL(resize, ResizeArguments, kResizeThreads) { weft::attention::Resize(args); }

WEFT_KERNEL(log_sums_in, LogSumArguments, kLogSumThreads) { weft::attention::CopyLogSums<false>(args); }
WEFT_KERNEL(log_sums_out, LogSumArguments, kLogSumThreads) { weft::attention::CopyLogSums<true>(args); }
