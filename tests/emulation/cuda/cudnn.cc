#include "tests/emulation/cuda/cudnn.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <set>

#include "absl/strings/str_cat.h"
#include "tests/emulation/cuda/cudnn_run.h"

namespace weft::cuda::dnn {
namespace {

// What a kind of descriptor can be told: the attribute, the type and number of its elements, whether it must be told,
// and of a descriptor its kind; kOperationGraph stands for any operation where an operation graph is told of them.
struct Rule {
  Kind kind;
  Attribute attribute;
  Type type;
  int64_t least, most;
  bool required;
  std::optional<Kind> of = std::nullopt;
};
constexpr Rule kRules[] = {
    {kTensor, kTensorId, kInt64Type, 1, 1, true},
    {kTensor, kTensorType, kDataTypeType, 1, 1, true},
    {kTensor, kTensorAlignment, kInt64Type, 1, 1, true},
    {kTensor, kTensorDimensions, kInt64Type, 4, 4, true},
    {kTensor, kTensorStrides, kInt64Type, 4, 4, true},
    {kTensor, kTensorVirtual, kBooleanType, 1, 1, false},
    {kTensor, kTensorByValue, kBooleanType, 1, 1, false},
    {kPointwise, kPointwiseMode, kPointwiseModeType, 1, 1, true},
    {kPointwise, kPointwisePrecision, kDataTypeType, 1, 1, true},
    {kPointwise, kPointwiseAxis, kInt64Type, 1, 1, false},
    {kPointwiseOperation, kPointwiseDescription, kDescriptorType, 1, 1, true, kPointwise},
    {kPointwiseOperation, kPointwiseX, kDescriptorType, 1, 1, true, kTensor},
    {kPointwiseOperation, kPointwiseB, kDescriptorType, 1, 1, false, kTensor},
    {kPointwiseOperation, kPointwiseT, kDescriptorType, 1, 1, false, kTensor},
    {kPointwiseOperation, kPointwiseY, kDescriptorType, 1, 1, true, kTensor},
    {kMatmul, kMatmulType, kDataTypeType, 1, 1, true},
    {kMatmulOperation, kMatmulA, kDescriptorType, 1, 1, true, kTensor},
    {kMatmulOperation, kMatmulB, kDescriptorType, 1, 1, true, kTensor},
    {kMatmulOperation, kMatmulC, kDescriptorType, 1, 1, true, kTensor},
    {kMatmulOperation, kMatmulDescription, kDescriptorType, 1, 1, true, kMatmul},
    {kReduction, kReductionOperator, kReductionType, 1, 1, true},
    {kReduction, kReductionComputeType, kDataTypeType, 1, 1, true},
    {kReductionOperation, kReductionX, kDescriptorType, 1, 1, true, kTensor},
    {kReductionOperation, kReductionY, kDescriptorType, 1, 1, true, kTensor},
    {kReductionOperation, kReductionDescription, kDescriptorType, 1, 1, true, kReduction},
    {kReshapeOperation, kReshapeX, kDescriptorType, 1, 1, true, kTensor},
    {kReshapeOperation, kReshapeY, kDescriptorType, 1, 1, true, kTensor},
    {kOperationGraph, kGraphHandle, kHandleType, 1, 1, true},
    {kOperationGraph, kGraphOperations, kDescriptorType, 1, 100, true, kOperationGraph},
    {kHeuristics, kHeuristicsGraph, kDescriptorType, 1, 1, true, kOperationGraph},
    {kHeuristics, kHeuristicsMode, kHeuristicModeType, 1, 1, true},
    {kPlan, kPlanHandle, kHandleType, 1, 1, true},
    {kPlan, kPlanConfig, kDescriptorType, 1, 1, true, kEngineConfig},
    {kVariantPack, kPackIds, kInt64Type, 1, 100, true},
    {kVariantPack, kPackPointers, kPointerType, 1, 100, true},
    {kVariantPack, kPackWorkspace, kPointerType, 1, 1, true},
};

size_t BytesOf(Type type) {
  switch (type) {
    case kBooleanType:
      return 1;
    case kInt64Type:
    case kHandleType:
    case kPointerType:
    case kDescriptorType:
      return 8;
    default:
      return 4;
  }
}

const Rule* RuleOf(Kind kind, int attribute) {
  for (const Rule& it : kRules) {
    if (it.kind == kind && it.attribute == attribute) return &it;
  }
  return nullptr;
}

bool IsOperation(Kind kind) {
  return kind == kPointwiseOperation || kind == kMatmulOperation || kind == kReductionOperation ||
         kind == kReshapeOperation;
}

struct Object {
  Kind kind;
  bool finalized = false;
  std::map<int, std::vector<char>> told;
  std::map<int, std::vector<std::shared_ptr<Object>>> refers;  // the same, of descriptors
  // What finalizing makes of it.
  EmulatedTensor tensor;
  EmulatedOperation operation;
  std::shared_ptr<const EmulatedGraph> graph;  // of an operation graph, a configuration, a plan
  int64_t engine = -1;

  bool Has(int attribute) const { return told.count(attribute) > 0; }
  template <typename T>
  std::vector<T> All(int attribute) const {
    const auto found = told.find(attribute);
    if (found == told.end()) return {};
    std::vector<T> values(found->second.size() / sizeof(T));
    std::memcpy(values.data(), found->second.data(), found->second.size());
    return values;
  }
  template <typename T>
  T One(int attribute, T otherwise = {}) const {
    return Has(attribute) ? All<T>(attribute).front() : otherwise;
  }
  const Object& Referred(int attribute) const { return *refers.at(attribute).front(); }
};

std::string FinalizeTensor(Object& it) {
  EmulatedTensor& tensor = it.tensor;
  tensor.id = it.One<int64_t>(kTensorId);
  tensor.type = it.One<int>(kTensorType);
  tensor.alignment = it.One<int64_t>(kTensorAlignment);
  tensor.is_virtual = it.One<char>(kTensorVirtual) != 0;
  tensor.by_value = it.One<char>(kTensorByValue) != 0;
  const std::vector<int64_t> dims = it.All<int64_t>(kTensorDimensions), strides = it.All<int64_t>(kTensorStrides);
  std::copy(dims.begin(), dims.end(), tensor.dims.begin());
  std::copy(strides.begin(), strides.end(), tensor.strides.begin());
  for (int i = 0; i < 4; ++i) {
    if (dims[i] < 1 || strides[i] < 1) return "expected extents and strides of 1 or more";
  }
  if (tensor.by_value && (tensor.is_virtual || tensor.elements() != 1)) return "expected a value to be one element";
  return "";
}

std::string FinalizeOperation(Object& it) {
  EmulatedOperation& operation = it.operation;
  operation.kind = it.kind;
  const auto tensor = [&](Attribute attribute) { return it.Referred(attribute).tensor; };
  if (it.kind == kMatmulOperation) {
    operation.inputs = {tensor(kMatmulA), tensor(kMatmulB)};
    operation.output = tensor(kMatmulC);
  } else if (it.kind == kReductionOperation) {
    operation.mode = it.Referred(kReductionDescription).One<int>(kReductionOperator);
    operation.inputs = {tensor(kReductionX)};
    operation.output = tensor(kReductionY);
  } else if (it.kind == kReshapeOperation) {
    operation.inputs = {tensor(kReshapeX)};
    operation.output = tensor(kReshapeY);
  } else {
    const Object& description = it.Referred(kPointwiseDescription);
    operation.mode = description.One<int>(kPointwiseMode);
    operation.axis = description.One<int64_t>(kPointwiseAxis, -1);
    operation.precision = description.One<int>(kPointwisePrecision);
    operation.inputs = {tensor(kPointwiseX)};
    if (it.Has(kPointwiseB)) operation.inputs.push_back(tensor(kPointwiseB));
    if (it.Has(kPointwiseT)) operation.inputs.push_back(tensor(kPointwiseT));
    operation.output = tensor(kPointwiseY);
  }
  return operation.Check();
}

// One tensor a name, each virtual one made once, before it is read.
std::string CheckGraph(const EmulatedGraph& graph) {
  std::set<int64_t> made, read;
  std::map<int64_t, const EmulatedTensor*> named;
  const auto name = [&](const EmulatedTensor& it) {
    const EmulatedTensor& first = *named.emplace(it.id, &it).first->second;
    return first.dims == it.dims && first.strides == it.strides && first.type == it.type &&
           first.is_virtual == it.is_virtual && first.by_value == it.by_value;
  };
  for (const EmulatedOperation& operation : graph) {
    for (const EmulatedTensor& it : operation.inputs) {
      if (!name(it)) return absl::StrCat("tensor ", it.id, ": expected one description");
      if (it.is_virtual && made.count(it.id) == 0) return absl::StrCat("tensor ", it.id, ": read before it is made");
      read.insert(it.id);
    }
    const EmulatedTensor& y = operation.output;
    if (!name(y) || y.by_value) return absl::StrCat("tensor ", y.id, ": expected one description");
    if (!made.insert(y.id).second || (read.count(y.id) > 0))
      return absl::StrCat("tensor ", y.id, ": made late, or twice");
  }
  return "";
}

}  // namespace

struct EmulatedCudnn::State {
  State(EmulatedDriver& on, const EmulatedCudnnOptions& it) : driver(on), options(it) {}
  EmulatedDriver& driver;
  const EmulatedCudnnOptions options;
  mutable std::mutex mutex;  // guards what follows
  std::map<Handle, std::shared_ptr<Object>> objects;
  std::map<Handle, Handle> streams;  // of handles
  std::vector<std::string> refusals;
  int64_t runs = 0, plans = 0, engine = -1;

  Status Refuse(Status status, const std::string& why) {
    refusals.push_back(why);
    return status;
  }
  Object* Find(Handle handle) {
    const auto found = objects.find(handle);
    return found != objects.end() ? found->second.get() : nullptr;
  }

  Status Set(Handle handle, int attribute, int type, int64_t count, const void* values) {
    Object* const it = Find(handle);
    if (it == nullptr || it->finalized || values == nullptr)
      return Refuse(kBadParam, "set: expected an open descriptor");
    const std::string what = absl::StrCat("descriptor ", it->kind, ", attribute ", attribute);
    const Rule* const rule = RuleOf(it->kind, attribute);
    if (rule == nullptr) return Refuse(kBadParam, absl::StrCat(what, ": not one of its"));
    if (rule->type != type) return Refuse(kAttributeType, absl::StrCat(what, ": expected type ", rule->type));
    if (count < rule->least || count > rule->most) return Refuse(kBadParam, absl::StrCat(what, ": of ", count));
    const char* const bytes = static_cast<const char*>(values);
    it->told[attribute].assign(bytes, bytes + static_cast<size_t>(count) * BytesOf(rule->type));
    if (rule->type == kHandleType && streams.count(it->One<Handle>(attribute)) == 0) {
      return Refuse(kBadParam, absl::StrCat(what, ": expected a handle"));
    }
    if (rule->type != kDescriptorType) return kOk;
    std::vector<std::shared_ptr<Object>>& refers = it->refers[attribute];
    refers.clear();
    for (Handle other : it->All<Handle>(attribute)) {
      const auto found = objects.find(other);
      if (found == objects.end()) return Refuse(kBadParam, absl::StrCat(what, ": expected a descriptor"));
      if (!found->second->finalized) return Refuse(kNotFinalized, absl::StrCat(what, ": expected it finalized"));
      const Kind kind = found->second->kind;
      if (attribute == kGraphOperations ? !IsOperation(kind) : kind != *rule->of) {
        return Refuse(kBadParam, absl::StrCat(what, ": a descriptor of kind ", kind));
      }
      refers.push_back(found->second);
    }
    return kOk;
  }

  Status Finalize(Handle handle) {
    Object* const it = Find(handle);
    if (it == nullptr || it->finalized) return Refuse(kBadParam, "finalize: expected an open descriptor");
    for (const Rule& rule : kRules) {
      if (rule.kind == it->kind && rule.required && !it->Has(rule.attribute)) {
        return Refuse(kBadParam, absl::StrCat("descriptor ", it->kind, ": expected attribute ", rule.attribute));
      }
    }
    std::string wrong;
    if (it->kind == kTensor) wrong = FinalizeTensor(*it);
    if (IsOperation(it->kind)) wrong = FinalizeOperation(*it);
    if (it->kind == kOperationGraph) wrong = FinalizeGraph(*it);
    if (it->kind == kVariantPack && it->All<int64_t>(kPackIds).size() != it->All<void*>(kPackPointers).size()) {
      wrong = "expected as many pointers as ids";
    }
    if (!wrong.empty()) return Refuse(kShapeMismatch, absl::StrCat("descriptor ", it->kind, ": ", wrong));
    if (it->kind == kPlan) {
      const Object& config = it->Referred(kPlanConfig);
      if (options.engines[static_cast<size_t>(config.engine)].plan_fails) return kGraphPattern;
      it->graph = config.graph;
      it->engine = config.engine;
      ++plans;
    }
    it->finalized = true;
    return kOk;
  }

  static std::string FinalizeGraph(Object& it) {
    auto graph = std::make_shared<EmulatedGraph>();
    for (const auto& operation : it.refers.at(kGraphOperations)) graph->push_back(operation->operation);
    it.graph = graph;
    return CheckGraph(*graph);
  }

  // Engines do attention: two products and a logarithm, or five.
  static bool IsAttention(const EmulatedGraph& graph) {
    const auto count = [&](const auto& is) { return std::count_if(graph.begin(), graph.end(), is); };
    const auto products = count([](const EmulatedOperation& it) { return it.kind == kMatmulOperation; });
    const auto logarithms =
        count([](const EmulatedOperation& it) { return it.kind == kPointwiseOperation && it.mode == kLogarithm; });
    return (products == 2 && logarithms == 1) || (products == 5 && logarithms == 0);
  }

  Status Get(Handle handle, int attribute, int type, int64_t most, int64_t* count, void* values) {
    Object* const it = Find(handle);
    if (it == nullptr || !it->finalized) return Refuse(kNotFinalized, "get: expected a finalized descriptor");
    const std::string what = absl::StrCat("descriptor ", it->kind, ", get ", attribute);
    if (it->kind == kHeuristics && attribute == kHeuristicsResults && type == kDescriptorType) {
      const std::shared_ptr<const EmulatedGraph> graph = it->Referred(kHeuristicsGraph).graph;
      const bool known = IsAttention(*graph) && it->One<int>(kHeuristicsMode) == kModeFirst;
      const auto have = known ? static_cast<int64_t>(options.engines.size()) : 0;
      *count = have;
      for (int64_t i = 0; i < std::min(have, most); ++i) {
        Object* const config = Find(static_cast<Handle*>(values)[i]);
        if (config == nullptr || config->kind != kEngineConfig || config->finalized) {
          return Refuse(kBadParam, absl::StrCat(what, ": expected open configurations"));
        }
        config->graph = graph;
        config->engine = i;
        config->finalized = true;
      }
      return kOk;
    }
    if (most < 1 || values == nullptr) return Refuse(kBadParam, absl::StrCat(what, ": expected room"));
    *count = 1;
    if (it->kind == kEngineConfig && attribute == kConfigEngine && type == kDescriptorType) {
      Object* const engine = Find(*static_cast<Handle*>(values));
      if (engine == nullptr || engine->kind != kEngine) return Refuse(kBadParam, absl::StrCat(what, ": no engine"));
      engine->engine = it->engine;
      engine->finalized = true;
      return kOk;
    }
    if (type != kInt64Type) return Refuse(kAttributeType, what);
    if (it->kind == kEngine && attribute == kEngineIndex) {
      *static_cast<int64_t*>(values) = it->engine;
      return kOk;
    }
    if (it->kind == kPlan && attribute == kPlanWorkspaceBytes) {
      *static_cast<int64_t*>(values) =
          static_cast<int64_t>(options.engines[static_cast<size_t>(it->engine)].workspace_bytes);
      return kOk;
    }
    return Refuse(kBadParam, absl::StrCat(what, ": not one of its"));
  }

  // What the pack lacks, or where memory is not as its tensor promises; values of the host move to `kept`.
  std::string Bind(const EmulatedGraph& graph, const Object& pack, std::map<int64_t, void*>& memory,
                   std::vector<std::vector<char>>& kept) const {
    std::map<int64_t, void*> told;
    const std::vector<int64_t> ids = pack.All<int64_t>(kPackIds);
    const std::vector<void*> pointers = pack.All<void*>(kPackPointers);
    for (size_t i = 0; i < ids.size(); ++i) {
      if (!told.emplace(ids[i], pointers[i]).second) return absl::StrCat("tensor ", ids[i], ": told twice");
    }
    std::map<int64_t, EmulatedTensor> needed;
    for (const EmulatedOperation& operation : graph) {
      for (const EmulatedTensor& it : operation.inputs) needed[it.id] = it;
      needed[operation.output.id] = operation.output;
    }
    for (const auto& [id, it] : needed) {
      if (it.is_virtual) continue;
      if (told.count(id) == 0) return absl::StrCat("tensor ", id, ": expected a pointer");
      void* const address = told[id];
      if (it.by_value) {
        const char* const value = static_cast<const char*>(address);
        kept.emplace_back(value, value + it.bytes());
        memory[id] = kept.back().data();
        continue;
      }
      memory[id] = address;
      if (!driver.Holds(address, it.bytes())) return absl::StrCat("tensor ", id, ": expected ", it.bytes(), " bytes");
      if (reinterpret_cast<uint64_t>(address) % static_cast<uint64_t>(it.alignment) != 0) {
        return absl::StrCat("tensor ", id, ": expected an alignment of ", it.alignment);
      }
    }
    return "";
  }

  Status Execute(Handle handle, Handle plan_handle, Handle pack_handle) {
    const Object* const plan = Find(plan_handle);
    const Object* const pack = Find(pack_handle);
    const bool known = plan != nullptr && plan->kind == kPlan && plan->finalized && pack != nullptr &&
                       pack->kind == kVariantPack && pack->finalized && streams.count(handle) > 0;
    if (!known) return Refuse(kBadParam, "run: expected a handle, a plan and a pack");
    const EmulatedCudnnOptions::Engine& engine = options.engines[static_cast<size_t>(plan->engine)];
    if (engine.run_fails) return kNotSupported;
    const auto memory = std::make_shared<std::map<int64_t, void*>>();
    const auto kept = std::make_shared<std::vector<std::vector<char>>>();
    kept->reserve(100);  // pointers into it stay
    std::string wrong = Bind(*plan->graph, *pack, *memory, *kept);
    void* const workspace = pack->One<void*>(kPackWorkspace);
    if (wrong.empty() && engine.workspace_bytes > 0 && !driver.Holds(workspace, engine.workspace_bytes)) {
      wrong = absl::StrCat("workspace: expected ", engine.workspace_bytes, " bytes");
    }
    ++runs;
    this->engine = plan->engine;
    const std::shared_ptr<const EmulatedGraph> graph = plan->graph;
    const Result result = driver.Enqueue("cudnnBackendExecute", streams[handle], 1,
                                         [this, graph, memory, kept, wrong, workspace, bytes = engine.workspace_bytes] {
                                           if (!wrong.empty() || !driver.computes()) return wrong;
                                           if (bytes > 0) std::memset(workspace, 0xff, bytes);
                                           RunGraph(*graph, *memory);
                                           return std::string();
                                         });
    return result == kSuccess ? kOk : kExecutionFailed;
  }
};

EmulatedCudnn::EmulatedCudnn(EmulatedDriver& driver, const EmulatedCudnnOptions& options)
    : state_(std::make_unique<State>(driver, options)) {
  State* const s = state_.get();
  const auto locked = [s](auto member) {
    return [s, member](auto... arguments) {
      std::lock_guard<std::mutex> lock(s->mutex);
      return (s->*member)(arguments...);
    };
  };
  table_.path = "emulated";
  table_.GetVersion = [s] { return s->options.version; };
  table_.GetErrorString = [](Status status) {
    return status == kNotSupported    ? "CUDNN_STATUS_NOT_SUPPORTED"
           : status == kGraphPattern  ? "CUDNN_STATUS_NOT_SUPPORTED_GRAPH_PATTERN"
           : status == kNotFinalized  ? "CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED"
           : status == kShapeMismatch ? "CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH"
           : status == kAttributeType ? "CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE"
           : status == kBadParam      ? "CUDNN_STATUS_BAD_PARAM"
                                      : "CUDNN_STATUS_EXECUTION_FAILED";
  };
  table_.Create = [s](Handle* handle) {
    if (s->options.create != kOk) return s->options.create;
    std::lock_guard<std::mutex> lock(s->mutex);
    auto object = std::make_shared<Object>();
    *handle = object.get();
    s->streams[*handle] = nullptr;
    s->objects[*handle] = std::move(object);
    return kOk;
  };
  table_.Destroy = [s](Handle handle) {
    std::lock_guard<std::mutex> lock(s->mutex);
    return s->streams.erase(handle) == 1 && s->objects.erase(handle) == 1 ? kOk : kBadParam;
  };
  table_.SetStream = [s](Handle handle, Handle stream) {
    std::lock_guard<std::mutex> lock(s->mutex);
    if (s->streams.count(handle) == 0) return kBadParam;
    s->streams[handle] = stream;
    return kOk;
  };
  table_.CreateDescriptor = [s](int kind, Handle* handle) {
    std::lock_guard<std::mutex> lock(s->mutex);
    auto object = std::make_shared<Object>();
    object->kind = static_cast<Kind>(kind);
    *handle = object.get();
    s->objects[*handle] = std::move(object);
    return kOk;
  };
  table_.DestroyDescriptor = [s](Handle handle) {
    std::lock_guard<std::mutex> lock(s->mutex);
    return s->objects.erase(handle) == 1 ? kOk : kBadParam;
  };
  table_.SetAttribute = locked(&State::Set);
  table_.GetAttribute = locked(&State::Get);
  table_.Finalize = locked(&State::Finalize);
  table_.Execute = locked(&State::Execute);
}

EmulatedCudnn::~EmulatedCudnn() = default;

int64_t EmulatedCudnn::runs() const {
  std::lock_guard<std::mutex> lock(state_->mutex);
  return state_->runs;
}
int64_t EmulatedCudnn::plans() const {
  std::lock_guard<std::mutex> lock(state_->mutex);
  return state_->plans;
}
int64_t EmulatedCudnn::engine() const {
  std::lock_guard<std::mutex> lock(state_->mutex);
  return state_->engine;
}
int64_t EmulatedCudnn::alive() const {
  std::lock_guard<std::mutex> lock(state_->mutex);
  return static_cast<int64_t>(state_->objects.size());
}
std::vector<std::string> EmulatedCudnn::refusals() const {
  std::lock_guard<std::mutex> lock(state_->mutex);
  return state_->refusals;
}

}  // namespace weft::cuda::dnn
