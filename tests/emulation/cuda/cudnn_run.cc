#include "tests/emulation/cuda/cudnn_run.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "absl/strings/str_cat.h"
#include "ops/abi/dtype.h"

namespace weft::cuda::dnn {
namespace {

using Index = std::array<int64_t, 4>;
using Values = std::vector<float>;  // of a tensor, its elements in order

size_t BytesOf(int type) { return type == kFloat32 || type == kInt32 ? 4 : type == kBoolean ? 1 : 2; }

float Load(const char* at, int type) {
  if (type == kFloat32) {
    float value;
    std::memcpy(&value, at, sizeof(value));
    return value;
  }
  if (type == kInt32) {
    int32_t value;
    std::memcpy(&value, at, sizeof(value));
    return static_cast<float>(value);
  }
  if (type == kBFloat16) {
    BFloat16 value;
    std::memcpy(&value, at, sizeof(value));
    return ToFloat(value);
  }
  if (type == kBoolean) return *at != 0 ? 1 : 0;
  _Float16 value;
  std::memcpy(&value, at, sizeof(value));
  return static_cast<float>(value);
}

float Rounded(float value, int type) {
  if (type == kBFloat16) return ToFloat(ToBFloat16(value));
  if (type == kFloat16) return static_cast<float>(static_cast<_Float16>(value));
  return value;
}

// Of the types that a graph's results have.
void Store(char* at, int type, float value) {
  if (type == kFloat32) {
    std::memcpy(at, &value, sizeof(value));
  } else if (type == kBFloat16) {
    const BFloat16 rounded = ToBFloat16(value);
    std::memcpy(at, &rounded, sizeof(rounded));
  } else {
    const auto rounded = static_cast<_Float16>(value);
    std::memcpy(at, &rounded, sizeof(rounded));
  }
}

int64_t At(const Index& index, const Index& strides) {
  int64_t at = 0;
  for (int i = 0; i < 4; ++i) at += index[i] * strides[i];
  return at;
}

template <typename Visit>
void ForEach(const Index& dims, const Visit& visit) {
  Index i;
  for (i[0] = 0; i[0] < dims[0]; ++i[0]) {
    for (i[1] = 0; i[1] < dims[1]; ++i[1]) {
      for (i[2] = 0; i[2] < dims[2]; ++i[2]) {
        for (i[3] = 0; i[3] < dims[3]; ++i[3]) visit(i);
      }
    }
  }
}

// The element of `tensor` that goes with one of a larger shape: repeated along axes of extent 1, and each head for a
// group of heads.
size_t Element(const EmulatedTensor& tensor, const Index& index, const Index& of) {
  size_t at = 0;
  for (int i = 0; i < 4; ++i) {
    at = at * static_cast<size_t>(tensor.dims[i]) + static_cast<size_t>(index[i] / (of[i] / tensor.dims[i]));
  }
  return at;
}

// Whether one shape stands for another, as Element() has it.
bool Repeats(const EmulatedTensor& it, const Index& dims, bool groups) {
  for (int i = 0; i < 4; ++i) {
    if (it.dims[i] != dims[i] && it.dims[i] != 1 && !(groups && i == 1 && dims[i] % it.dims[i] == 0)) return false;
  }
  return true;
}

int OperandsOf(int mode) {
  switch (mode) {
    case kExponential:
    case kLogarithm:
    case kIdentity:
    case kIndex:
      return 1;
    case kSelect:
      return 3;
    default:
      return 2;
  }
}

float Apply(int mode, float x, float b, float t) {
  switch (mode) {
    case kAdd:
      return x + b;
    case kMultiply:
      return x * b;
    case kDivide:
      return x / b;
    case kSubtract:
      return x - b;
    case kExponential:
      return std::exp(x);
    case kLogarithm:
      return std::log(x);
    case kNotLess:
      return x >= b ? 1 : 0;
    case kSelect:
      return t != 0 ? x : b;
    default:
      return x;
  }
}

Values Pointwise(const EmulatedOperation& it, const std::vector<const Values*>& in) {
  Values out;
  const Index& dims = it.output.dims;
  ForEach(dims, [&](const Index& i) {
    if (it.mode == kIndex) {
      out.push_back(static_cast<float>(i[static_cast<size_t>(it.axis)]));
      return;
    }
    float operands[3] = {};
    for (size_t o = 0; o < in.size(); ++o) operands[o] = (*in[o])[Element(it.inputs[o], i, dims)];
    out.push_back(Apply(it.mode, operands[0], operands[1], operands[2]));
  });
  return out;
}

Values Product(const EmulatedOperation& it, const Values& a, const Values& b) {
  Values out;
  const Index& dims = it.output.dims;
  const int64_t inner = it.inputs[0].dims[3];
  const Index of_a = {dims[0], dims[1], dims[2], inner}, of_b = {dims[0], dims[1], inner, dims[3]};
  ForEach(dims, [&](const Index& i) {
    float sum = 0;
    for (int64_t l = 0; l < inner; ++l) {
      sum +=
          a[Element(it.inputs[0], {i[0], i[1], i[2], l}, of_a)] * b[Element(it.inputs[1], {i[0], i[1], l, i[3]}, of_b)];
    }
    out.push_back(sum);
  });
  return out;
}

Values Reduction(const EmulatedOperation& it, const Values& x) {
  Values out(static_cast<size_t>(it.output.elements()),
             it.mode == kMaximum ? -std::numeric_limits<float>::infinity() : 0.0f);
  size_t next = 0;
  ForEach(it.inputs[0].dims, [&](const Index& i) {
    float& sum = out[Element(it.output, i, it.inputs[0].dims)];
    const float value = x[next++];
    sum = it.mode == kMaximum ? std::max(sum, value) : sum + value;
  });
  return out;
}

// The same memory in another shape.
Values Reshaped(const EmulatedOperation& it, const Values& x) {
  std::map<int64_t, float> memory;
  size_t next = 0;
  ForEach(it.inputs[0].dims, [&](const Index& i) { memory[At(i, it.inputs[0].strides)] = x[next++]; });
  Values out;
  ForEach(it.output.dims, [&](const Index& i) {
    const auto found = memory.find(At(i, it.output.strides));
    out.push_back(found != memory.end() ? found->second : std::numeric_limits<float>::quiet_NaN());
  });
  return out;
}

Values Compute(const EmulatedOperation& it, const std::vector<const Values*>& in) {
  switch (it.kind) {
    case kMatmulOperation:
      return Product(it, *in[0], *in[1]);
    case kReductionOperation:
      return Reduction(it, *in[0]);
    case kReshapeOperation:
      return Reshaped(it, *in[0]);
    default:
      return Pointwise(it, in);
  }
}

std::string CheckPointwise(const EmulatedOperation& it) {
  if (static_cast<int>(it.inputs.size()) != OperandsOf(it.mode)) {
    return absl::StrCat("mode ", it.mode, ": expected ", OperandsOf(it.mode), " operands, got ", it.inputs.size());
  }
  const int type = it.output.type;
  if (it.mode == kIndex) return it.axis < 0 || it.axis > 3 || type != kInt32 ? "expected an axis and int32" : "";
  for (const EmulatedTensor& in : it.inputs) {
    if (!Repeats(in, it.output.dims, false)) return "expected operands of the result's extents, or 1";
  }
  if (it.mode == kNotLess) {
    const bool same = it.inputs[0].type == it.inputs[1].type;
    return type == kBoolean && it.precision == kBoolean && same ? "" : "expected booleans of two of one type";
  }
  if (it.mode == kSelect && it.inputs[2].type != kBoolean) return "expected a choice by booleans";
  if (type == kBoolean) return "expected a result that is no boolean";
  const bool whole = it.inputs[0].type == kInt32;
  if (whole != (type == kInt32) || whole != (it.precision == kInt32)) return "expected int32 of int32, in int32";
  return "";
}

std::string CheckProduct(const EmulatedOperation& it) {
  const EmulatedTensor &a = it.inputs[0], &b = it.inputs[1], &c = it.output;
  if (a.dims[2] != c.dims[2] || b.dims[3] != c.dims[3] || a.dims[3] != b.dims[2]) {
    return "expected extents of a matrix product";
  }
  const Index heads_a = {c.dims[0], c.dims[1], a.dims[2], a.dims[3]};
  const Index heads_b = {c.dims[0], c.dims[1], b.dims[2], b.dims[3]};
  return Repeats(a, heads_a, true) && Repeats(b, heads_b, true) ? "" : "expected as many matrices";
}

}  // namespace

size_t EmulatedTensor::bytes() const {
  return static_cast<size_t>(At({dims[0] - 1, dims[1] - 1, dims[2] - 1, dims[3] - 1}, strides) + 1) * BytesOf(type);
}

std::string EmulatedOperation::Check() const {
  switch (kind) {
    case kMatmulOperation:
      return CheckProduct(*this);
    case kReductionOperation:
      return Repeats(output, inputs[0].dims, true) ? "" : "expected extents that a reduction leaves";
    case kReshapeOperation:
      return output.elements() == inputs[0].elements() ? "" : "expected as many elements";
    default:
      return CheckPointwise(*this);
  }
}

void RunGraph(const EmulatedGraph& graph, const std::map<int64_t, void*>& memory) {
  std::map<int64_t, Values> values;
  const auto read = [&](const EmulatedTensor& it) {
    Values& of = values[it.id];
    if (!of.empty()) return &of;
    const char* const base = static_cast<const char*>(memory.at(it.id));
    ForEach(it.dims, [&](const Index& i) {
      of.push_back(Load(base + At(i, it.strides) * static_cast<int64_t>(BytesOf(it.type)), it.type));
    });
    return &of;
  };
  for (const EmulatedOperation& it : graph) {
    std::vector<const Values*> in;
    for (const EmulatedTensor& input : it.inputs) in.push_back(read(input));
    Values out = Compute(it, in);
    for (float& value : out) value = Rounded(value, it.output.type);
    if (!it.output.is_virtual) {
      char* const base = static_cast<char*>(memory.at(it.output.id));
      size_t next = 0;
      ForEach(it.output.dims, [&](const Index& i) {
        Store(base + At(i, it.output.strides) * static_cast<int64_t>(BytesOf(it.output.type)), it.output.type,
              out[next++]);
      });
    }
    values[it.output.id] = std::move(out);
  }
}

}  // namespace weft::cuda::dnn
