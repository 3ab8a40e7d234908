#include "tests/sharding/kernel_call.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"

namespace weft::tests {
namespace {

// What the emitter makes of an attribute; nothing if the plan has no form for it.
std::optional<AttributeValue> ValueOf(mlir::Attribute attribute) {
  if (auto boolean = llvm::dyn_cast<mlir::BoolAttr>(attribute)) return int64_t{boolean.getValue()};
  if (auto integer = llvm::dyn_cast<mlir::IntegerAttr>(attribute)) return integer.getInt();
  if (auto number = llvm::dyn_cast<mlir::FloatAttr>(attribute)) return number.getValueAsDouble();
  if (auto text = llvm::dyn_cast<mlir::StringAttr>(attribute)) return text.getValue().str();
  if (llvm::isa<mlir::UnitAttr>(attribute)) return int64_t{1};
  std::vector<int64_t> numbers;
  if (auto list = llvm::dyn_cast<mlir::DenseI64ArrayAttr>(attribute)) {
    numbers.assign(list.asArrayRef().begin(), list.asArrayRef().end());
    return numbers;
  }
  auto array = llvm::dyn_cast<mlir::ArrayAttr>(attribute);
  if (!array) return std::nullopt;
  for (mlir::Attribute element : array) {
    auto integer = llvm::dyn_cast<mlir::IntegerAttr>(element);
    if (!integer) return std::nullopt;
    numbers.push_back(integer.getInt());
  }
  return numbers;
}

}  // namespace

DType DTypeOf(mlir::Type element) {
  if (element.isF32()) return DType::kF32;
  if (element.isBF16()) return DType::kBF16;
  if (element.isF16()) return DType::kF16;
  if (element.isInteger(32)) return DType::kI32;
  if (element.isInteger(64)) return DType::kI64;
  if (element.isInteger(8)) return DType::kU8;
  return DType::kInvalid;
}

TensorSpec WholeSpec(mlir::Type tensor) {
  auto type = llvm::cast<mlir::RankedTensorType>(tensor);
  return TensorSpec::Whole(DTypeOf(type.getElementType()), {type.getShape().begin(), type.getShape().end()});
}

absl::StatusOr<KernelSpec> SpecOf(mlir::Operation* op, std::vector<TensorSpec> inputs, std::vector<TensorSpec> outputs,
                                  std::vector<int64_t> coordinates) {
  auto interface = llvm::cast<ir::WeftOpInterface>(op);
  KernelSpec spec;
  spec.name = interface.getKernelName();
  spec.inputs = std::move(inputs);
  spec.outputs = std::move(outputs);
  spec.coordinates = std::move(coordinates);
  mlir::NamedAttrList attributes;
  interface.getKernelAttributes(attributes);
  for (mlir::NamedAttribute attribute : attributes) {
    if (llvm::isa<mlir::TypeAttr>(attribute.getValue())) continue;  // the output's dtype says it
    const std::string name = attribute.getName().str();
    std::optional<AttributeValue> value = ValueOf(attribute.getValue());
    if (!value) return absl::InternalError(absl::StrCat(spec.name, ": attribute ", name, " has no form in the plan"));
    spec.attributes.Set(name, *std::move(value));
  }
  return spec;
}

}  // namespace weft::tests
