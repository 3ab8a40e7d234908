#include "ops/einsum/cpu_matmul.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "oneapi/dnnl/dnnl_debug.h"
#include "ops/abi/status_macros.h"
#include "ops/einsum/cpu_onednn.h"

namespace weft::einsum {
namespace {

absl::Status ToStatus(dnnl_status_t status, const char* what) {
  if (status == dnnl_success) return absl::OkStatus();
  const std::string message = absl::StrCat("oneDNN: ", what, ": ", dnnl_status2str(status));
  if (status == dnnl_unimplemented || status == dnnl_invalid_arguments) return absl::UnimplementedError(message);
  if (status == dnnl_out_of_memory) return absl::ResourceExhaustedError(message);
  return absl::InternalError(message);
}

constexpr int kWorkspace = 3;  // beside the three operands

// The dims and strides of one operand.
struct Strides {
  std::vector<dnnl_dim_t> dims, strides;
  void Add(int64_t extent, int64_t stride) {
    dims.push_back(extent);
    strides.push_back(stride);
  }
};

// Adds the last two dims, `outer` over `inner`. A missing one has extent 1 and a stride that
// leaves the matrix dense where it can be.
void AddMatrix(Strides& layout, const std::vector<Axis>& outer, const std::vector<Axis>& inner, Operand operand) {
  const int64_t rows = outer.empty() ? 1 : outer[0].extent, columns = inner.empty() ? 1 : inner[0].extent;
  int64_t row_stride = outer.empty() ? 0 : outer[0].stride[operand];
  int64_t column_stride = inner.empty() ? 0 : inner[0].stride[operand];
  if (outer.empty()) row_stride = column_stride <= 1 ? columns : 1;
  if (inner.empty()) column_stride = 1;
  layout.Add(rows, row_stride);
  layout.Add(columns, column_stride);
}

Strides StridesOf(const Contraction& contraction, Operand operand) {
  Strides layout;
  for (const Axis& axis : contraction.batch) {
    // A batch axis that this operand lacks is broadcast: extent 1, any stride.
    const bool has = axis.stride[operand] != 0;
    layout.Add(has ? axis.extent : 1, has ? axis.stride[operand] : 1);
  }
  const std::vector<Axis>& outer = operand == kRight ? contraction.inner : contraction.rows;
  const std::vector<Axis>& inner = operand == kLeft ? contraction.inner : contraction.columns;
  AddMatrix(layout, outer, inner, operand);
  return layout;
}

absl::Status Describe(const Strides& layout, DType type, dnnl_memory_desc_t& description) {
  return ToStatus(
      dnnl_memory_desc_init_by_strides(&description, static_cast<int>(layout.dims.size()), layout.dims.data(),
                                       type == DType::kBF16 ? dnnl_bf16 : dnnl_f32, layout.strides.data()),
      "memory description");
}

}  // namespace

absl::StatusOr<std::unique_ptr<Matmul>> Matmul::Create(const Contraction& contraction, const DType (&types)[3]) {
  if (contraction.batch.size() + 2 > DNNL_MAX_NDIMS) {
    return absl::UnimplementedError(absl::StrCat("oneDNN: expected at most ", DNNL_MAX_NDIMS, " dims, got more"));
  }
  std::unique_ptr<Matmul> matmul(new Matmul);
  UseOneThread();  // a primitive takes the number over when it is made
  WEFT_RETURN_IF_ERROR(matmul->Init(contraction, types));
  return matmul;
}

absl::Status Matmul::Init(const Contraction& contraction, const DType (&types)[3]) {
  dnnl_memory_desc_t descriptions[3];
  for (Operand operand : {kLeft, kRight, kResult}) {
    WEFT_RETURN_IF_ERROR(Describe(StridesOf(contraction, operand), types[operand], descriptions[operand]));
  }
  dnnl_engine_t engine;
  WEFT_RETURN_IF_ERROR(ToStatus(dnnl_engine_create(&engine, dnnl_cpu, 0), "engine"));
  engine_.reset(engine);
  dnnl_stream_t stream;
  WEFT_RETURN_IF_ERROR(ToStatus(dnnl_stream_create(&stream, engine, dnnl_stream_in_order), "stream"));
  stream_.reset(stream);

  dnnl_primitive_attr_t raw_attributes;
  WEFT_RETURN_IF_ERROR(ToStatus(dnnl_primitive_attr_create(&raw_attributes), "attributes"));
  const Handle<dnnl_primitive_attr, dnnl_primitive_attr_destroy> attributes(raw_attributes);
  dnnl_primitive_attr_set_scratchpad_mode(raw_attributes, dnnl_scratchpad_mode_user);
  dnnl_matmul_desc_t operation;
  WEFT_RETURN_IF_ERROR(ToStatus(dnnl_matmul_desc_init(&operation, &descriptions[kLeft], &descriptions[kRight],
                                                      /*bias=*/nullptr, &descriptions[kResult]),
                                "matmul"));
  dnnl_primitive_desc_t raw_choice;
  WEFT_RETURN_IF_ERROR(
      ToStatus(dnnl_primitive_desc_create(&raw_choice, &operation, raw_attributes, engine, nullptr), "matmul"));
  const Handle<dnnl_primitive_desc, dnnl_primitive_desc_destroy> choice(raw_choice);
  const char* name = nullptr;
  dnnl_primitive_desc_query(raw_choice, dnnl_query_impl_info_str, 0, &name);
  if (name && std::string(name).rfind("ref", 0) == 0) {
    return absl::UnimplementedError("oneDNN: only the reference matmul takes these strides and types");
  }
  dnnl_primitive_t primitive;
  WEFT_RETURN_IF_ERROR(ToStatus(dnnl_primitive_create(&primitive, raw_choice), "primitive"));
  primitive_.reset(primitive);

  const dnnl_memory_desc_t* scratch = dnnl_primitive_desc_query_md(raw_choice, dnnl_query_scratchpad_md, 0);
  workspace_bytes_ = scratch ? dnnl_memory_desc_get_size(scratch) : 0;
  const dnnl_memory_desc_t empty = {};
  const dnnl_memory_desc_t* all[4] = {&descriptions[0], &descriptions[1], &descriptions[2], scratch ? scratch : &empty};
  const int names[4] = {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST, DNNL_ARG_SCRATCHPAD};
  for (int i = 0; i < 4; ++i) {
    dnnl_memory_t memory;
    WEFT_RETURN_IF_ERROR(ToStatus(dnnl_memory_create(&memory, all[i], engine, DNNL_MEMORY_NONE), "memory"));
    memory_[i].reset(memory);
    arguments_[i] = {names[i], memory};
  }
  return absl::OkStatus();
}

absl::Status Matmul::Run(const void* left, const void* right, void* result, void* workspace) {
  UseOneThread();  // of this thread, which may be another than Create()'s
  dnnl_memory_set_data_handle(memory_[kLeft].get(), const_cast<void*>(left));
  dnnl_memory_set_data_handle(memory_[kRight].get(), const_cast<void*>(right));
  dnnl_memory_set_data_handle(memory_[kResult].get(), result);
  dnnl_memory_set_data_handle(memory_[kWorkspace].get(), workspace);
  return ToStatus(dnnl_primitive_execute(primitive_.get(), stream_.get(), 4, arguments_), "execution");
}

}  // namespace weft::einsum
