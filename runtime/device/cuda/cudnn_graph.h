// Graphs of operations in cuDNN's words.
#ifndef WEFT_RUNTIME_DEVICE_CUDA_CUDNN_GRAPH_H_
#define WEFT_RUNTIME_DEVICE_CUDA_CUDNN_GRAPH_H_

#include <array>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/device/cuda/cudnn.h"

namespace weft::device {

// A backend descriptor, which goes with the last copy. Of one thread at a time.
class CudnnDescriptor {
 public:
  static absl::StatusOr<CudnnDescriptor> Create(const cuda::dnn::Cudnn& library, cuda::dnn::Kind kind);

  cuda::Handle get() const { return handle_.get(); }
  absl::Status Set(cuda::dnn::Attribute attribute, cuda::dnn::Type type, int64_t count, const void* values) const;
  absl::Status SetInts(cuda::dnn::Attribute attribute, const std::vector<int64_t>& values) const;
  // Of an enumeration: a type of elements, a mode.
  absl::Status SetEnum(cuda::dnn::Attribute attribute, cuda::dnn::Type type, int value) const;
  absl::Status SetFlag(cuda::dnn::Attribute attribute, bool value) const;
  absl::Status SetDescriptors(cuda::dnn::Attribute attribute, const std::vector<cuda::Handle>& values) const;
  absl::Status Finalize() const;
  // Of what is finalized.
  absl::StatusOr<int64_t> GetInt(cuda::dnn::Attribute attribute) const;

 private:
  CudnnDescriptor(const cuda::dnn::Cudnn& library, cuda::dnn::Kind kind, std::shared_ptr<void> handle)
      : library_(&library), kind_(kind), handle_(std::move(handle)) {}
  absl::Status Explain(cuda::dnn::Status status, const char* call, int attribute) const;

  const cuda::dnn::Cudnn* library_;
  cuda::dnn::Kind kind_;
  std::shared_ptr<void> handle_;
};

// Extents and strides, in elements, of what every tensor here is: [batch, head, row, column].
struct CudnnShape {
  std::array<int64_t, 4> dims, strides;

  static CudnnShape Packed(const std::array<int64_t, 4>& dims);
  // The last two axes in the other order: the same memory, transposed.
  CudnnShape Transposed() const;
};

// Makes a graph step by step. The first error is kept and ends all that follows. The library outlives it.
class CudnnGraphBuilder {
 public:
  explicit CudnnGraphBuilder(const cuda::dnn::Cudnn& library) : library_(library) {}

  struct Tensor {
    cuda::Handle handle = nullptr;
    CudnnShape shape;
  };
  // What has an address in memory; `id` names it when the graph is run.
  Tensor Memory(int64_t id, const CudnnShape& shape, int type);
  // One element that the host has when the graph is run.
  Tensor Scalar(int64_t id, int type);
  // What only the graph knows, packed.
  Tensor Virtual(const std::array<int64_t, 4>& dims, int type);
  Tensor Virtual(const CudnnShape& shape, int type);

  // Operations; the result is `y`. `precision`: the type that is computed in.
  Tensor Pointwise(cuda::dnn::PointwiseMode mode, const Tensor& x, const Tensor& y, const Tensor* b = nullptr,
                   const Tensor* t = nullptr, int precision = cuda::dnn::kFloat32);
  // The index along `axis` at every element of x's shape.
  Tensor Index(int64_t axis, const Tensor& x, const Tensor& y);
  Tensor Matmul(const Tensor& a, const Tensor& b, const Tensor& y);
  // Along the axes whose extent y has less of.
  Tensor Reduce(int how, const Tensor& x, const Tensor& y);
  Tensor Reshape(const Tensor& x, const Tensor& y);

  // The finalized graph; `handle` may be null where a device is described to the heuristics instead.
  struct Graph {
    CudnnDescriptor descriptor;
    std::vector<CudnnDescriptor> parts;  // that live as long
  };
  absl::StatusOr<Graph> Finish(cuda::Handle handle) &&;

 private:
  std::optional<CudnnDescriptor> Start(cuda::dnn::Kind kind);
  void Keep(const absl::Status& status);
  Tensor MakeTensor(int64_t id, const CudnnShape& shape, int type, bool is_virtual, bool by_value);
  void Link(const CudnnDescriptor& operation, cuda::dnn::Attribute attribute, cuda::Handle value);
  void AddOperation(const CudnnDescriptor& operation);
  Tensor AddPointwise(const CudnnDescriptor& description, const Tensor& x, const Tensor& y, const Tensor* b,
                      const Tensor* t);

  const cuda::dnn::Cudnn& library_;
  absl::Status status_;
  std::vector<CudnnDescriptor> parts_;
  std::vector<cuda::Handle> operations_;
  int64_t next_virtual_ = 1000;  // ids; those of memory and scalars are below
};

}  // namespace weft::device

#endif  // WEFT_RUNTIME_DEVICE_CUDA_CUDNN_GRAPH_H_
