#include "tests/emulation/cuda/cublaslt.h"

#include <atomic>
#include <cmath>
#include <cstring>
#include <map>
#include <mutex>
#include <set>

#include "absl/strings/str_cat.h"
#include "ops/abi/dtype.h"

namespace weft::cuda::lt {
namespace {

struct Object {
  enum Kind { kHandle, kDesc, kLayout, kPreference } kind;
};
struct Desc : Object {
  int compute, scale;
  int32_t transposed[2] = {kOperationN, kOperationN};  // of A and B
  uint32_t epilogue = kEpilogueNone;
  void* bias = nullptr;
  void* aux = nullptr;
  int64_t aux_ld = 0;
};
struct Matrix : Object {
  int type;
  int64_t rows, columns, ld;
  int32_t batch = 1;
  int64_t batch_stride = 0;
};
struct Preferences : Object {
  uint64_t workspace_bytes = 0;
  uint32_t reductions = 7;
  uint32_t alignment[4] = {256, 256, 256, 256};  // of A, B, C, D
};

// What an algorithm is here: data[0] is this, then its index, and the alignments it counts on.
constexpr uint64_t kMagic = 0x7765667463756261u;

size_t BytesOf(int type) { return type == kFloat32 ? 4 : 2; }

float Load(const char* base, int type, int64_t index) {
  const char* const at = base + index * static_cast<int64_t>(BytesOf(type));
  if (type == kFloat32) {
    float value;
    std::memcpy(&value, at, sizeof(value));
    return value;
  }
  if (type == kBFloat16) {
    BFloat16 value;
    std::memcpy(&value, at, sizeof(value));
    return ToFloat(value);
  }
  _Float16 value;
  std::memcpy(&value, at, sizeof(value));
  return static_cast<float>(value);
}

void Store(char* base, int type, int64_t index, float value) {
  char* const at = base + index * static_cast<int64_t>(BytesOf(type));
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

// By its tanh approximation, as the library's.
float Gelu(float x) { return 0.5f * x * (1 + std::tanh(0.7978845608f * (x + 0.044715f * x * x * x))); }

// The operands of one call, all that it needs once the descriptors have changed or gone.
struct Product {
  Desc desc;
  Matrix a, b, d;
  float alpha, beta;
  const char* a_data;
  const char* b_data;
  const char* c_data;
  char* d_data;
  int64_t m, n, k;

  static int64_t At(const Matrix& matrix, int64_t row, int64_t column, int64_t batch) {
    return batch * matrix.batch_stride + column * matrix.ld + row;
  }
  float A(int64_t i, int64_t l, int64_t batch) const {
    return Load(a_data, a.type, desc.transposed[0] == kOperationT ? At(a, l, i, batch) : At(a, i, l, batch));
  }
  float B(int64_t l, int64_t j, int64_t batch) const {
    return Load(b_data, b.type, desc.transposed[1] == kOperationT ? At(b, j, l, batch) : At(b, l, j, batch));
  }

  void Run() const {
    for (int64_t batch = 0; batch < d.batch; ++batch) {
      for (int64_t j = 0; j < n; ++j) {
        for (int64_t i = 0; i < m; ++i) Element(i, j, batch);
      }
    }
    if (desc.epilogue != kEpilogueBiasGradientA) return;
    for (int64_t i = 0; i < m; ++i) {
      float sum = 0;
      for (int64_t l = 0; l < k; ++l) sum += A(i, l, 0);
      Store(static_cast<char*>(desc.bias), d.type, i, sum);
    }
  }

  void Element(int64_t i, int64_t j, int64_t batch) const {
    float sum = 0;
    for (int64_t l = 0; l < k; ++l) sum += A(i, l, batch) * B(l, j, batch);
    const int64_t at = At(d, i, j, batch);
    float value = alpha * sum;
    if (beta != 0) value += beta * Load(c_data, d.type, at);
    if (desc.epilogue & kEpilogueBias) value += Load(static_cast<const char*>(desc.bias), d.type, i);
    if (desc.epilogue & kEpilogueAux) Store(static_cast<char*>(desc.aux), d.type, j * desc.aux_ld + i, value);
    if (desc.epilogue & kEpilogueGelu) value = Gelu(value);
    Store(d_data, d.type, at, value);
  }
};

size_t SpanOf(const Matrix& it) {
  const int64_t last = Product::At(it, it.rows - 1, it.columns - 1, it.batch - 1);
  return static_cast<size_t>(last + 1) * BytesOf(it.type);
}

bool Aligned(const void* address, uint64_t bytes) {
  return bytes == 0 || reinterpret_cast<uint64_t>(address) % bytes == 0;
}

template <typename T>
bool Take(T& target, const void* value, size_t bytes) {
  if (bytes != sizeof(T)) return false;
  std::memcpy(&target, value, bytes);
  return true;
}

}  // namespace

struct EmulatedCublasLt::State {
  State(EmulatedDriver& on, const EmulatedCublasLtOptions& it) : driver(on), options(it) {}
  EmulatedDriver& driver;
  const EmulatedCublasLtOptions options;
  std::atomic<int64_t> heuristics{0};
  mutable std::mutex mutex;  // guards what follows
  std::map<Handle, std::shared_ptr<Object>> objects;
  std::vector<int> used;

  template <typename T>
  Status Make(Handle* handle, Object::Kind kind, std::shared_ptr<T> object) {
    object->kind = kind;
    std::lock_guard<std::mutex> lock(mutex);
    *handle = object.get();
    objects[*handle] = std::move(object);
    return kOk;
  }
  Status Drop(Handle handle) {
    std::lock_guard<std::mutex> lock(mutex);
    return objects.erase(handle) == 1 ? kOk : kInvalid;
  }
  // Null: no such thing.
  template <typename T>
  T* Find(Handle handle, Object::Kind kind) {
    std::lock_guard<std::mutex> lock(mutex);
    const auto found = objects.find(handle);
    return found != objects.end() && found->second->kind == kind ? static_cast<T*>(found->second.get()) : nullptr;
  }

  // kInvalid unless the layouts describe one product; then its extents are set.
  Status Read(Handle handle, Handle desc, Handle a, Handle b, Handle c, Handle d, Product& product) {
    const Desc* const operation = Find<Desc>(desc, Object::kDesc);
    const Matrix* const matrices[4] = {Find<Matrix>(a, Object::kLayout), Find<Matrix>(b, Object::kLayout),
                                       Find<Matrix>(c, Object::kLayout), Find<Matrix>(d, Object::kLayout)};
    if (Find<Object>(handle, Object::kHandle) == nullptr || operation == nullptr) return kInvalid;
    for (const Matrix* it : matrices) {
      if (it == nullptr || it->ld < it->rows || it->batch != matrices[0]->batch) return kInvalid;
    }
    product.desc = *operation;
    product.a = *matrices[0], product.b = *matrices[1], product.d = *matrices[3];
    const bool ta = operation->transposed[0] == kOperationT, tb = operation->transposed[1] == kOperationT;
    product.m = product.d.rows, product.n = product.d.columns;
    product.k = ta ? product.a.rows : product.a.columns;
    const bool agree = (ta ? product.a.columns : product.a.rows) == product.m &&
                       (tb ? product.b.columns : product.b.rows) == product.k &&
                       (tb ? product.b.rows : product.b.columns) == product.n && matrices[2]->rows == product.m &&
                       matrices[2]->columns == product.n;
    if (!agree || product.a.type != product.b.type || matrices[2]->type != product.d.type) return kInvalid;
    if (product.d.type != product.a.type && product.d.type != kFloat32) return kNotSupported;
    if ((product.desc.epilogue & kEpilogueAux) && (product.desc.aux_ld < product.m || product.desc.aux_ld % 8 != 0)) {
      return kInvalid;
    }
    return kOk;
  }

  Status Offer(const Product& product, const Preferences& preference, int most, HeuristicResult* results, int* count) {
    ++heuristics;
    if (!options.supports || preference.reductions != kReductionComputeType) return kNotSupported;
    *count = 0;
    for (size_t i = 0; i < options.choices.size() && *count < most; ++i) {
      if (options.choices[i].workspace_bytes > preference.workspace_bytes) continue;
      HeuristicResult& result = results[(*count)++];
      result = {.workspace_bytes = options.choices[i].workspace_bytes, .state = kOk, .waves = 1};
      result.algorithm.data[0] = kMagic;
      result.algorithm.data[1] = i;
      for (int o = 0; o < 4; ++o) result.algorithm.data[2 + o] = preference.alignment[o];
    }
    return *count > 0 ? kOk : kNotSupported;
  }

  Status CheckAlgorithm(const Algorithm& algorithm, HeuristicResult* result) const {
    if (algorithm.data[0] != kMagic || algorithm.data[1] >= options.choices.size()) return kInvalid;
    *result = {.workspace_bytes = options.choices[algorithm.data[1]].workspace_bytes, .state = kOk, .waves = 1};
    return kOk;
  }

  // "" or what is wrong with the addresses.
  std::string CheckAddresses(const Product& product, const Algorithm& algorithm, const void* workspace,
                             size_t workspace_bytes) const {
    const struct {
      const char* name;
      const void* address;
      size_t bytes;
      uint64_t alignment;
    } all[] = {{"A", product.a_data, SpanOf(product.a), algorithm.data[2]},
               {"B", product.b_data, SpanOf(product.b), algorithm.data[3]},
               {"D", product.d_data, SpanOf(product.d), algorithm.data[5]},
               {"workspace", workspace, workspace_bytes, 256}};
    for (const auto& it : all) {
      if (it.bytes == 0) continue;
      if (!driver.Holds(it.address, it.bytes))
        return absl::StrCat(it.name, ": expected ", it.bytes, " bytes of device memory");
      if (!Aligned(it.address, it.alignment)) return absl::StrCat(it.name, ": expected an alignment of ", it.alignment);
    }
    const size_t vector = static_cast<size_t>(product.m) * BytesOf(product.d.type);
    const uint32_t epilogue = product.desc.epilogue;
    if ((epilogue & (kEpilogueBias | kEpilogueBiasGradientA)) && !driver.Holds(product.desc.bias, vector)) {
      return absl::StrCat("bias: expected ", vector, " bytes of device memory");
    }
    if (epilogue & kEpilogueAux) {
      const size_t bytes =
          static_cast<size_t>((product.n - 1) * product.desc.aux_ld + product.m) * BytesOf(product.d.type);
      if (!driver.Holds(product.desc.aux, bytes))
        return absl::StrCat("aux: expected ", bytes, " bytes of device memory");
    }
    return "";
  }

  Status Run(Product product, const Algorithm& algorithm, void* workspace, size_t workspace_bytes, Handle stream) {
    HeuristicResult checked = {};
    if (CheckAlgorithm(algorithm, &checked) != kOk || checked.workspace_bytes > workspace_bytes) return kInvalid;
    const auto index = static_cast<int>(algorithm.data[1]);
    const EmulatedCublasLtOptions::Choice& choice = options.choices[index];
    if (choice.fails) return kNotSupported;
    {
      std::lock_guard<std::mutex> lock(mutex);
      used.push_back(index);
    }
    const std::string wrong = CheckAddresses(product, algorithm, workspace, workspace_bytes);
    const Result result = driver.Enqueue("cublasLtMatmul", stream, choice.milliseconds,
                                         [this, product, wrong, workspace, bytes = choice.workspace_bytes] {
                                           if (!wrong.empty() || !driver.computes()) return wrong;
                                           std::memset(workspace, 0xff, bytes);
                                           product.Run();
                                           return std::string();
                                         });
    return result == kSuccess ? kOk : kInvalid;
  }
};

EmulatedCublasLt::EmulatedCublasLt(EmulatedDriver& driver, const EmulatedCublasLtOptions& options)
    : state_(std::make_unique<State>(driver, options)) {
  State* const s = state_.get();
  table_.path = "emulated";
  table_.GetVersion = [s] { return s->options.version; };
  table_.GetStatusName = [](Status status) {
    return status == kInvalid ? "CUBLAS_STATUS_INVALID_VALUE" : "CUBLAS_STATUS_NOT_SUPPORTED";
  };
  table_.Create = [s](Handle* handle) { return s->Make(handle, Object::kHandle, std::make_shared<Object>()); };
  table_.DescCreate = [s](Handle* handle, int compute, int scale) {
    auto desc = std::make_shared<Desc>();
    desc->compute = compute;
    desc->scale = scale;
    if ((compute != kCompute32F && compute != kCompute32FastTf32) || scale != kFloat32) return kNotSupported;
    return s->Make(handle, Object::kDesc, desc);
  };
  table_.LayoutCreate = [s](Handle* handle, int type, uint64_t rows, uint64_t columns, int64_t ld) {
    auto matrix = std::make_shared<Matrix>();
    matrix->type = type;
    matrix->rows = static_cast<int64_t>(rows);
    matrix->columns = static_cast<int64_t>(columns);
    matrix->ld = ld;
    return s->Make(handle, Object::kLayout, matrix);
  };
  table_.PreferenceCreate = [s](Handle* handle) {
    return s->Make(handle, Object::kPreference, std::make_shared<Preferences>());
  };
  table_.Destroy = table_.DescDestroy = table_.LayoutDestroy =
      table_.PreferenceDestroy = [s](Handle handle) { return s->Drop(handle); };
  table_.DescSetAttribute = [s](Handle handle, int attribute, const void* value, size_t bytes) {
    Desc* const it = s->Find<Desc>(handle, Object::kDesc);
    const bool taken = it != nullptr && (attribute == kTransposeA    ? Take(it->transposed[0], value, bytes)
                                         : attribute == kTransposeB  ? Take(it->transposed[1], value, bytes)
                                         : attribute == kEpilogue    ? Take(it->epilogue, value, bytes)
                                         : attribute == kBiasPointer ? Take(it->bias, value, bytes)
                                         : attribute == kAuxPointer  ? Take(it->aux, value, bytes)
                                         : attribute == kAuxLd       ? Take(it->aux_ld, value, bytes)
                                                                     : false);
    return taken ? kOk : kInvalid;
  };
  table_.LayoutSetAttribute = [s](Handle handle, int attribute, const void* value, size_t bytes) {
    Matrix* const it = s->Find<Matrix>(handle, Object::kLayout);
    const bool taken = it != nullptr && (attribute == kBatchCount    ? Take(it->batch, value, bytes)
                                         : attribute == kBatchStride ? Take(it->batch_stride, value, bytes)
                                                                     : false);
    return taken ? kOk : kInvalid;
  };
  table_.PreferenceSetAttribute = [s](Handle handle, int attribute, const void* value, size_t bytes) {
    Preferences* const it = s->Find<Preferences>(handle, Object::kPreference);
    const bool taken = it != nullptr && (attribute == kMaxWorkspaceBytes  ? Take(it->workspace_bytes, value, bytes)
                                         : attribute == kReductionSchemes ? Take(it->reductions, value, bytes)
                                         : attribute >= kAlignmentA && attribute <= kAlignmentD
                                             ? Take(it->alignment[attribute - kAlignmentA], value, bytes)
                                             : false);
    return taken ? kOk : kInvalid;
  };
  table_.GetHeuristic = [s](Handle handle, Handle desc, Handle a, Handle b, Handle c, Handle d, Handle preference,
                            int most, HeuristicResult* results, int* count) {
    Product product = {};
    const Preferences* const it = s->Find<Preferences>(preference, Object::kPreference);
    if (it == nullptr) return kInvalid;
    const Status status = s->Read(handle, desc, a, b, c, d, product);
    return status == kOk ? s->Offer(product, *it, most, results, count) : status;
  };
  table_.Check = [s](Handle handle, Handle desc, Handle a, Handle b, Handle c, Handle d, const Algorithm* algorithm,
                     HeuristicResult* result) {
    Product product = {};
    const Status status = s->Read(handle, desc, a, b, c, d, product);
    return status == kOk ? s->CheckAlgorithm(*algorithm, result) : status;
  };
  table_.Matmul = [s](Handle handle, Handle desc, const void* alpha, const void* a_data, Handle a, const void* b_data,
                      Handle b, const void* beta, const void* c_data, Handle c, void* d_data, Handle d,
                      const Algorithm* algorithm, void* workspace, size_t workspace_bytes, Handle stream) {
    Product product = {};
    if (const Status status = s->Read(handle, desc, a, b, c, d, product); status != kOk) return status;
    std::memcpy(&product.alpha, alpha, sizeof(float));
    std::memcpy(&product.beta, beta, sizeof(float));
    product.a_data = static_cast<const char*>(a_data);
    product.b_data = static_cast<const char*>(b_data);
    product.c_data = static_cast<const char*>(c_data);
    product.d_data = static_cast<char*>(d_data);
    return s->Run(product, *algorithm, workspace, workspace_bytes, stream);
  };
}

EmulatedCublasLt::~EmulatedCublasLt() = default;

int64_t EmulatedCublasLt::products() const {
  std::lock_guard<std::mutex> lock(state_->mutex);
  return static_cast<int64_t>(state_->used.size());
}
int64_t EmulatedCublasLt::heuristics() const { return state_->heuristics; }
std::vector<int> EmulatedCublasLt::used() const {
  std::lock_guard<std::mutex> lock(state_->mutex);
  return state_->used;
}
int64_t EmulatedCublasLt::alive() const {
  std::lock_guard<std::mutex> lock(state_->mutex);
  return static_cast<int64_t>(state_->objects.size());
}

}  // namespace weft::cuda::lt
