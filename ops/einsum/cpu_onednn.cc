// Defines what oneDNN's headers declare, by the library once it is opened. Without it every function says that nothing
// is implemented, and products are made in another way.
#include "ops/einsum/cpu_onednn.h"

#include <dlfcn.h>

#include "oneapi/dnnl/dnnl.h"
#include "oneapi/dnnl/dnnl_debug.h"

namespace {

struct Library {
  void* handle;
  std::string error;
};

const Library& Opened() {
  static const Library library = [] {
    void* const handle = dlopen("libdnnl.so.2", RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) return Library{nullptr, dlerror()};
    if (dlsym(handle, "dnnl_sgemm") != nullptr) return Library{handle, ""};
    return Library{nullptr, "libdnnl.so.2: expected oneDNN's functions, got a library that lacks some"};
  }();
  return library;
}

void* Symbol(const char* name) { return Opened().handle == nullptr ? nullptr : dlsym(Opened().handle, name); }

// What a function returns when there is no library.
template <typename Result>
constexpr Result kAbsent{};
template <>
constexpr dnnl_status_t kAbsent<dnnl_status_t> = dnnl_unimplemented;
template <>
constexpr const char* kAbsent<const char*> = "no libdnnl.so.2";

}  // namespace

// Defines the function that the header declares.
#define WEFT_ONEDNN(Result, name, parameters, arguments)                            \
  Result name parameters {                                                          \
    static auto* const function = reinterpret_cast<decltype(&name)>(Symbol(#name)); \
    return function != nullptr ? function arguments : kAbsent<Result>;              \
  }

WEFT_ONEDNN(const char*, dnnl_status2str, (dnnl_status_t status), (status))
WEFT_ONEDNN(dnnl_status_t, dnnl_set_max_cpu_isa, (dnnl_cpu_isa_t isa), (isa))
WEFT_ONEDNN(dnnl_status_t, dnnl_memory_desc_init_by_strides,
            (dnnl_memory_desc_t * desc, int ndims, const dnnl_dims_t dims, dnnl_data_type_t type,
             const dnnl_dims_t strides),
            (desc, ndims, dims, type, strides))
WEFT_ONEDNN(size_t, dnnl_memory_desc_get_size, (const dnnl_memory_desc_t* desc), (desc))
WEFT_ONEDNN(dnnl_status_t, dnnl_engine_create, (dnnl_engine_t * engine, dnnl_engine_kind_t kind, size_t index),
            (engine, kind, index))
WEFT_ONEDNN(dnnl_status_t, dnnl_engine_destroy, (dnnl_engine_t engine), (engine))
WEFT_ONEDNN(dnnl_status_t, dnnl_stream_create, (dnnl_stream_t * stream, dnnl_engine_t engine, unsigned flags),
            (stream, engine, flags))
WEFT_ONEDNN(dnnl_status_t, dnnl_stream_destroy, (dnnl_stream_t stream), (stream))
WEFT_ONEDNN(dnnl_status_t, dnnl_primitive_attr_create, (dnnl_primitive_attr_t * attributes), (attributes))
WEFT_ONEDNN(dnnl_status_t, dnnl_primitive_attr_destroy, (dnnl_primitive_attr_t attributes), (attributes))
WEFT_ONEDNN(dnnl_status_t, dnnl_primitive_attr_set_scratchpad_mode,
            (dnnl_primitive_attr_t attributes, dnnl_scratchpad_mode_t mode), (attributes, mode))
WEFT_ONEDNN(dnnl_status_t, dnnl_matmul_desc_init,
            (dnnl_matmul_desc_t * desc, const dnnl_memory_desc_t* left, const dnnl_memory_desc_t* right,
             const dnnl_memory_desc_t* bias, const dnnl_memory_desc_t* result),
            (desc, left, right, bias, result))
WEFT_ONEDNN(dnnl_status_t, dnnl_primitive_desc_create,
            (dnnl_primitive_desc_t * choice, const_dnnl_op_desc_t operation, const_dnnl_primitive_attr_t attributes,
             dnnl_engine_t engine, const_dnnl_primitive_desc_t forward),
            (choice, operation, attributes, engine, forward))
WEFT_ONEDNN(dnnl_status_t, dnnl_primitive_desc_destroy, (dnnl_primitive_desc_t choice), (choice))
WEFT_ONEDNN(dnnl_status_t, dnnl_primitive_desc_query,
            (const_dnnl_primitive_desc_t choice, dnnl_query_t what, int index, void* result),
            (choice, what, index, result))
WEFT_ONEDNN(const dnnl_memory_desc_t*, dnnl_primitive_desc_query_md,
            (const_dnnl_primitive_desc_t choice, dnnl_query_t what, int index), (choice, what, index))
WEFT_ONEDNN(dnnl_status_t, dnnl_primitive_create, (dnnl_primitive_t * primitive, const_dnnl_primitive_desc_t choice),
            (primitive, choice))
WEFT_ONEDNN(dnnl_status_t, dnnl_primitive_destroy, (dnnl_primitive_t primitive), (primitive))
WEFT_ONEDNN(dnnl_status_t, dnnl_primitive_execute,
            (const_dnnl_primitive_t primitive, dnnl_stream_t stream, int count, const dnnl_exec_arg_t* arguments),
            (primitive, stream, count, arguments))
WEFT_ONEDNN(dnnl_status_t, dnnl_memory_create,
            (dnnl_memory_t * memory, const dnnl_memory_desc_t* desc, dnnl_engine_t engine, void* data),
            (memory, desc, engine, data))
WEFT_ONEDNN(dnnl_status_t, dnnl_memory_destroy, (dnnl_memory_t memory), (memory))
WEFT_ONEDNN(dnnl_status_t, dnnl_memory_set_data_handle, (dnnl_memory_t memory, void* data), (memory, data))
WEFT_ONEDNN(dnnl_status_t, dnnl_sgemm,
            (char left_transposed, char right_transposed, dnnl_dim_t m, dnnl_dim_t n, dnnl_dim_t k, float alpha,
             const float* left, dnnl_dim_t left_stride, const float* right, dnnl_dim_t right_stride, float beta,
             float* result, dnnl_dim_t result_stride),
            (left_transposed, right_transposed, m, n, k, alpha, left, left_stride, right, right_stride, beta, result,
             result_stride))

WEFT_ONEDNN(const dnnl_version_t*, dnnl_version, (void), ())
WEFT_ONEDNN(dnnl_cpu_isa_t, dnnl_get_effective_cpu_isa, (void), ())

namespace weft::einsum {

std::string OneDnnError() { return Opened().error; }

void UseOneThread() {
  // Of the OpenMP runtime that the library brings.
  static auto* const set = reinterpret_cast<void (*)(int)>(Symbol("omp_set_num_threads"));
  if (set != nullptr) set(1);
}

}  // namespace weft::einsum
