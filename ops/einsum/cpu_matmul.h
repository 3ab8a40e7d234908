// One oneDNN matrix product, prepared for fixed shapes and strides, on the thread that runs it.
#ifndef WEFT_OPS_EINSUM_CPU_MATMUL_H_
#define WEFT_OPS_EINSUM_CPU_MATMUL_H_

#include <cstddef>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "oneapi/dnnl/dnnl.h"
#include "ops/abi/dtype.h"
#include "ops/einsum/contraction.h"
#include "ops/einsum/cpu_product.h"

namespace weft::einsum {

// For bf16 operands. Weft's own code does not allocate in Run(); oneDNN 2.6 makes a few small
// allocations in each execution (its argument map), which no public interface avoids.
class Matmul : public Product {
 public:
  // kUnimplemented where oneDNN has no fast implementation of these strides and types on this CPU.
  static absl::StatusOr<std::unique_ptr<Matmul>> Create(const Contraction& contraction, const DType (&types)[3]);
  size_t workspace_bytes() const override { return workspace_bytes_; }
  absl::Status Run(const void* left, const void* right, void* result, void* workspace) override;

 private:
  template <typename T, dnnl_status_t (*kDestroy)(T*)>
  struct Destroy {
    void operator()(T* object) const { kDestroy(object); }
  };
  template <typename T, dnnl_status_t (*kDestroy)(T*)>
  using Handle = std::unique_ptr<T, Destroy<T, kDestroy>>;

  Matmul() = default;
  absl::Status Init(const Contraction& contraction, const DType (&types)[3]);

  size_t workspace_bytes_ = 0;
  Handle<dnnl_engine, dnnl_engine_destroy> engine_;
  Handle<dnnl_stream, dnnl_stream_destroy> stream_;
  Handle<dnnl_primitive, dnnl_primitive_destroy> primitive_;
  Handle<dnnl_memory, dnnl_memory_destroy> memory_[4];  // left, right, result, scratch
  dnnl_exec_arg_t arguments_[4];
};

}  // namespace weft::einsum

#endif  // WEFT_OPS_EINSUM_CPU_MATMUL_H_
