#include "runtime/device/cuda/cudnn_graph.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace weft::device {

using namespace cuda::dnn;  // NOLINT(google-build-using-namespace): the library's words, on every line
using cuda::Handle;

namespace {

// What addresses are multiples of; tensors here are aligned to more.
constexpr int64_t kAlignment = 16;

}  // namespace

absl::StatusOr<CudnnDescriptor> CudnnDescriptor::Create(const Cudnn& library, Kind kind) {
  Handle handle = nullptr;
  const absl::Status status =
      library.Explain(library.CreateDescriptor(kind, &handle), absl::StrCat("cuDNN descriptor ", kind));
  if (!status.ok()) return status;
  const auto destroy = [&library](void* it) { library.DestroyDescriptor(it); };
  return CudnnDescriptor(library, kind, std::shared_ptr<void>(handle, destroy));
}

absl::Status CudnnDescriptor::Explain(Status status, const char* call, int attribute) const {
  if (status == kOk) return absl::OkStatus();
  return library_->Explain(status, absl::StrCat("cuDNN descriptor ", kind_, ", ", call, " ", attribute));
}

absl::Status CudnnDescriptor::Set(Attribute attribute, Type type, int64_t count, const void* values) const {
  return Explain(library_->SetAttribute(get(), attribute, type, count, values), "set", attribute);
}
absl::Status CudnnDescriptor::SetInts(Attribute attribute, const std::vector<int64_t>& values) const {
  return Set(attribute, kInt64Type, static_cast<int64_t>(values.size()), values.data());
}
absl::Status CudnnDescriptor::SetEnum(Attribute attribute, Type type, int value) const {
  return Set(attribute, type, 1, &value);
}
absl::Status CudnnDescriptor::SetFlag(Attribute attribute, bool value) const {
  return Set(attribute, kBooleanType, 1, &value);
}
absl::Status CudnnDescriptor::SetDescriptors(Attribute attribute, const std::vector<Handle>& values) const {
  return Set(attribute, kDescriptorType, static_cast<int64_t>(values.size()), values.data());
}
absl::Status CudnnDescriptor::Finalize() const { return Explain(library_->Finalize(get()), "finalize", 0); }

absl::StatusOr<int64_t> CudnnDescriptor::GetInt(Attribute attribute) const {
  int64_t value = 0, count = 0;
  const absl::Status status =
      Explain(library_->GetAttribute(get(), attribute, kInt64Type, 1, &count, &value), "get", attribute);
  if (!status.ok()) return status;
  return value;
}

CudnnShape CudnnShape::Packed(const std::array<int64_t, 4>& dims) {
  return {dims, {dims[1] * dims[2] * dims[3], dims[2] * dims[3], dims[3], 1}};
}

CudnnShape CudnnShape::Transposed() const {
  CudnnShape shape = *this;
  std::swap(shape.dims[2], shape.dims[3]);
  std::swap(shape.strides[2], shape.strides[3]);
  return shape;
}

void CudnnGraphBuilder::Keep(const absl::Status& status) {
  if (status_.ok()) status_ = status;
}

std::optional<CudnnDescriptor> CudnnGraphBuilder::Start(Kind kind) {
  if (!status_.ok()) return std::nullopt;
  absl::StatusOr<CudnnDescriptor> made = CudnnDescriptor::Create(library_, kind);
  Keep(made.status());
  if (!made.ok()) return std::nullopt;
  parts_.push_back(*made);
  return *made;
}

CudnnGraphBuilder::Tensor CudnnGraphBuilder::MakeTensor(int64_t id, const CudnnShape& shape, int type, bool is_virtual,
                                                        bool by_value) {
  const std::optional<CudnnDescriptor> it = Start(kTensor);
  if (!it.has_value()) return {nullptr, shape};
  Keep(it->SetInts(kTensorId, {id}));
  Keep(it->SetEnum(kTensorType, kDataTypeType, type));
  Keep(it->SetInts(kTensorAlignment, {kAlignment}));
  Keep(it->SetInts(kTensorDimensions, {shape.dims.begin(), shape.dims.end()}));
  Keep(it->SetInts(kTensorStrides, {shape.strides.begin(), shape.strides.end()}));
  Keep(it->SetFlag(kTensorVirtual, is_virtual));
  if (by_value) Keep(it->SetFlag(kTensorByValue, true));
  Keep(it->Finalize());
  return {it->get(), shape};
}

CudnnGraphBuilder::Tensor CudnnGraphBuilder::Memory(int64_t id, const CudnnShape& shape, int type) {
  return MakeTensor(id, shape, type, false, false);
}
CudnnGraphBuilder::Tensor CudnnGraphBuilder::Scalar(int64_t id, int type) {
  return MakeTensor(id, CudnnShape::Packed({1, 1, 1, 1}), type, false, true);
}
CudnnGraphBuilder::Tensor CudnnGraphBuilder::Virtual(const CudnnShape& shape, int type) {
  return MakeTensor(next_virtual_++, shape, type, true, false);
}
CudnnGraphBuilder::Tensor CudnnGraphBuilder::Virtual(const std::array<int64_t, 4>& dims, int type) {
  return Virtual(CudnnShape::Packed(dims), type);
}

void CudnnGraphBuilder::Link(const CudnnDescriptor& operation, Attribute attribute, Handle value) {
  Keep(operation.SetDescriptors(attribute, {value}));
}

void CudnnGraphBuilder::AddOperation(const CudnnDescriptor& operation) {
  Keep(operation.Finalize());
  operations_.push_back(operation.get());
}

CudnnGraphBuilder::Tensor CudnnGraphBuilder::AddPointwise(const CudnnDescriptor& description, const Tensor& x,
                                                          const Tensor& y, const Tensor* b, const Tensor* t) {
  Keep(description.Finalize());
  const std::optional<CudnnDescriptor> it = Start(kPointwiseOperation);
  if (!it.has_value()) return y;
  Link(*it, kPointwiseDescription, description.get());
  Link(*it, kPointwiseX, x.handle);
  if (b != nullptr) Link(*it, kPointwiseB, b->handle);
  if (t != nullptr) Link(*it, kPointwiseT, t->handle);
  Link(*it, kPointwiseY, y.handle);
  AddOperation(*it);
  return y;
}

CudnnGraphBuilder::Tensor CudnnGraphBuilder::Pointwise(PointwiseMode mode, const Tensor& x, const Tensor& y,
                                                       const Tensor* b, const Tensor* t, int precision) {
  const std::optional<CudnnDescriptor> it = Start(kPointwise);
  if (!it.has_value()) return y;
  Keep(it->SetEnum(kPointwiseMode, kPointwiseModeType, mode));
  Keep(it->SetEnum(kPointwisePrecision, kDataTypeType, precision));
  return AddPointwise(*it, x, y, b, t);
}

CudnnGraphBuilder::Tensor CudnnGraphBuilder::Index(int64_t axis, const Tensor& x, const Tensor& y) {
  const std::optional<CudnnDescriptor> it = Start(kPointwise);
  if (!it.has_value()) return y;
  Keep(it->SetEnum(kPointwiseMode, kPointwiseModeType, kIndex));
  Keep(it->SetEnum(kPointwisePrecision, kDataTypeType, kFloat32));
  Keep(it->SetInts(kPointwiseAxis, {axis}));
  return AddPointwise(*it, x, y, nullptr, nullptr);
}

CudnnGraphBuilder::Tensor CudnnGraphBuilder::Matmul(const Tensor& a, const Tensor& b, const Tensor& y) {
  const std::optional<CudnnDescriptor> description = Start(kMatmul), it = Start(kMatmulOperation);
  if (!description.has_value() || !it.has_value()) return y;
  Keep(description->SetEnum(kMatmulType, kDataTypeType, kFloat32));
  Keep(description->Finalize());
  Link(*it, kMatmulA, a.handle);
  Link(*it, kMatmulB, b.handle);
  Link(*it, kMatmulC, y.handle);
  Link(*it, kMatmulDescription, description->get());
  AddOperation(*it);
  return y;
}

CudnnGraphBuilder::Tensor CudnnGraphBuilder::Reduce(int how, const Tensor& x, const Tensor& y) {
  const std::optional<CudnnDescriptor> description = Start(kReduction), it = Start(kReductionOperation);
  if (!description.has_value() || !it.has_value()) return y;
  Keep(description->SetEnum(kReductionComputeType, kDataTypeType, kFloat32));
  Keep(description->SetEnum(kReductionOperator, kReductionType, how));
  Keep(description->Finalize());
  Link(*it, kReductionX, x.handle);
  Link(*it, kReductionY, y.handle);
  Link(*it, kReductionDescription, description->get());
  AddOperation(*it);
  return y;
}

CudnnGraphBuilder::Tensor CudnnGraphBuilder::Reshape(const Tensor& x, const Tensor& y) {
  const std::optional<CudnnDescriptor> it = Start(kReshapeOperation);
  if (!it.has_value()) return y;
  Link(*it, kReshapeX, x.handle);
  Link(*it, kReshapeY, y.handle);
  AddOperation(*it);
  return y;
}

absl::StatusOr<CudnnGraphBuilder::Graph> CudnnGraphBuilder::Finish(Handle handle) && {
  if (!status_.ok()) return status_;
  absl::StatusOr<CudnnDescriptor> graph = CudnnDescriptor::Create(library_, kOperationGraph);
  if (!graph.ok()) return graph.status();
  if (handle != nullptr) Keep(graph->Set(kGraphHandle, kHandleType, 1, &handle));
  Keep(graph->SetDescriptors(kGraphOperations, operations_));
  if (status_.ok()) Keep(graph->Finalize());
  if (!status_.ok()) return status_;
  return Graph{*std::move(graph), std::move(parts_)};
}

}  // namespace weft::device
