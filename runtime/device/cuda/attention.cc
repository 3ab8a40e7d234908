#include "runtime/device/cuda/attention.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"

namespace weft::device {
namespace {

using cuda::Handle;
using cuda::dnn::Cudnn;
using Id = AttentionTensor;

size_t RoundUp(size_t bytes) { return (bytes + 255) / 256 * 256; }

// A plan with all that is passed to it but addresses.
struct Choice {
  AttentionPlan plan;
  GpuAttentionSpec spec;
  size_t delta_at = 0, dq_sum_at = 0, bytes = 0;  // of the workspace; cuDNN's own part is first
  // Read when the plan is run.
  float scale, hidden = -std::numeric_limits<float>::infinity(), one = 1;
  int32_t keys, queries;

  Choice(AttentionPlan it, const GpuAttentionSpec& of)
      : plan(std::move(it)),
        spec(of),
        scale(of.scale),
        keys(static_cast<int32_t>(of.keys)),
        queries(static_cast<int32_t>(of.queries)) {
    const auto rows = static_cast<size_t>(of.batch * of.query_heads * of.queries);
    const auto has = [&](Id id) { return std::count(plan.graph.tensors.begin(), plan.graph.tensors.end(), id) > 0; };
    delta_at = RoundUp(plan.workspace_bytes);
    dq_sum_at = delta_at + (has(Id::kDelta) ? RoundUp(rows * sizeof(float)) : 0);
    bytes = dq_sum_at + (has(Id::kDqSum) ? RoundUp(rows * static_cast<size_t>(of.depth) * sizeof(float)) : 0);
  }

  const void* AddressOf(Id id, const GpuAttentionAddresses& it, char* workspace) const {
    // In the order of the ids, which begin at 1.
    const void* const all[] = {it.q,
                               it.k,
                               it.v,
                               it.out,
                               it.lse,
                               it.dout,
                               it.dq,
                               it.dk,
                               it.dv,
                               workspace + delta_at,
                               workspace + dq_sum_at,
                               &scale,
                               &hidden,
                               &one,
                               &keys,
                               &queries};
    static_assert(static_cast<size_t>(Id::kQueries) == std::extent_v<decltype(all)>);
    return all[static_cast<size_t>(id) - 1];
  }
};

// A handle works on one stream at a time.
class Runner {
 public:
  Runner(const Cudnn& library, Handle handle) : library_(library), handle_(handle) {}
  ~Runner() { library_.Destroy(handle_); }
  Handle handle() const { return handle_; }

  absl::Status Enqueue(const Choice& choice, const GpuAttentionAddresses& addresses, void* workspace, Handle stream) {
    std::vector<int64_t> ids;
    std::vector<const void*> pointers;
    for (const Id id : choice.plan.graph.tensors) {
      ids.push_back(static_cast<int64_t>(id));
      pointers.push_back(choice.AddressOf(id, addresses, static_cast<char*>(workspace)));
    }
    const absl::StatusOr<CudnnDescriptor> pack = CudnnDescriptor::Create(library_, cuda::dnn::kVariantPack);
    if (!pack.ok()) return pack.status();
    absl::Status status = pack->SetInts(cuda::dnn::kPackIds, ids);
    if (status.ok()) {
      status = pack->Set(cuda::dnn::kPackPointers, cuda::dnn::kPointerType, static_cast<int64_t>(pointers.size()),
                         pointers.data());
    }
    if (status.ok()) status = pack->Set(cuda::dnn::kPackWorkspace, cuda::dnn::kPointerType, 1, &workspace);
    if (status.ok()) status = pack->Finalize();
    if (!status.ok()) return status;
    std::lock_guard<std::mutex> lock(mutex_);
    if (stream != stream_) {
      status = library_.Explain(library_.SetStream(handle_, stream), "cudnnSetStream");
      if (!status.ok()) return status;
      stream_ = stream;
    }
    return library_.Explain(library_.Execute(handle_, choice.plan.plan.get(), pack->get()), "cudnnBackendExecute");
  }

  // The handle forgets a stream that goes.
  void Forget() {
    std::lock_guard<std::mutex> lock(mutex_);
    stream_ = nullptr;
  }

 private:
  const Cudnn& library_;
  const Handle handle_;
  std::mutex mutex_;  // guards the handle and what follows
  Handle stream_ = nullptr;
};

class CudnnAttention : public GpuAttention {
 public:
  CudnnAttention(Runner& runner, std::shared_ptr<const Choice> choice) : runner_(runner), choice_(std::move(choice)) {}
  size_t workspace_bytes() const override { return choice_->bytes; }
  absl::Status Run(const GpuAttentionAddresses& addresses, void* workspace, void* stream) override {
    return runner_.Enqueue(*choice_, addresses, workspace, stream);
  }

 private:
  Runner& runner_;
  const std::shared_ptr<const Choice> choice_;
};

// Runs it once, on memory and a stream of its own, and waits: its code is loaded now, which in a step might wait for
// work that waits for another rank. kResourceExhausted: no memory for that.
absl::Status RunOnce(const CudaContext& context, Runner& runner, const Choice& choice) {
  const GpuAttentionSpec& spec = choice.spec;
  const size_t element = SizeOf(spec.type);
  const auto rows = static_cast<size_t>(spec.batch * AllQueryRows(spec) * spec.query_heads);
  const size_t query = RoundUp(rows * static_cast<size_t>(spec.depth) * element);
  const size_t key =
      RoundUp(static_cast<size_t>(spec.batch * AllKeyRows(spec) * spec.key_heads * spec.depth) * element);
  // With `packed`, q, k and v are interleaved: the next begins behind the heads of one row.
  const size_t row = static_cast<size_t>(spec.query_heads * spec.depth) * element;
  const auto arena = AllocateCudaArena(
      context, static_cast<int64_t>(4 * query + 4 * key + RoundUp(rows * sizeof(float)) + choice.bytes));
  if (!arena.ok()) return arena.status();
  char* at = (*arena)->base();
  const auto take = [&](size_t bytes) { return std::exchange(at, at + bytes); };
  const auto take_parts = [&]() -> std::array<char*, 3> {
    char* const begin = take(query + 2 * key);
    if (spec.packed) return {begin, begin + row, begin + 2 * row};
    return {begin, begin + query, begin + query + key};
  };
  const auto [q, k, v] = take_parts();
  const auto [dq, dk, dv] = take_parts();
  GpuAttentionAddresses addresses = {.q = q, .k = k, .v = v, .dq = dq, .dk = dk, .dv = dv};
  addresses.out = take(query);
  addresses.dout = take(query);
  addresses.lse = take(RoundUp(rows * sizeof(float)));
  const cuda::Driver& driver = context.driver();
  Handle stream = nullptr;
  absl::Status status = context.Check(driver.StreamCreate(&stream, cuda::kStreamNonBlocking), "cuStreamCreate");
  if (!status.ok()) return status;
  status = runner.Enqueue(choice, addresses, at, stream);
  const absl::Status done = context.Check(driver.StreamSynchronize(stream), "cuStreamSynchronize");
  runner.Forget();
  driver.StreamDestroy(stream);
  return status.ok() ? done : status;
}

class CudnnAttentions : public GpuAttentions {
 public:
  CudnnAttentions(const CudaContext& context, const Cudnn& library, AttentionOptions options, int major)
      : context_(context), library_(library), options_(std::move(options)), major_(major) {}
  ~CudnnAttentions() override { context_.Enter().IgnoreError(); }

  absl::StatusOr<std::unique_ptr<GpuAttention>> Create(const GpuAttentionSpec& spec) override {
    if (absl::Status status = context_.Enter(); !status.ok()) return status;
    const std::string key = absl::StrCat(Describe(spec), spec.lse ? "" : ", no sums", ", scale ", spec.scale);
    std::lock_guard<std::mutex> lock(mutex_);
    auto found = chosen_.find(key);
    if (found == chosen_.end()) {
      absl::StatusOr<std::shared_ptr<const Choice>> choice = Choose(spec);
      if (!choice.ok() && !absl::IsUnimplemented(choice.status())) return choice.status();
      Tell(spec, choice);
      found = chosen_.emplace(key, std::move(choice)).first;
    }
    if (!found->second.ok()) return found->second.status();
    return std::make_unique<CudnnAttention>(*runner_, *found->second);
  }

 private:
  void Tell(const GpuAttentionSpec& spec, const absl::StatusOr<std::shared_ptr<const Choice>>& choice) const {
    if (!options_.note) return;
    if (choice.ok()) {
      options_.note(absl::StrCat(Describe(spec), ": by cuDNN, engine ", (*choice)->plan.engine, ", workspace of ",
                                 (*choice)->bytes, " bytes"));
    } else {
      options_.note(
          absl::StrCat(Describe(spec), ": by our own kernel; cuDNN: ", std::string(choice.status().message())));
    }
  }

  // kUnimplemented: it is not for cuDNN.
  absl::StatusOr<std::shared_ptr<const Choice>> Choose(const GpuAttentionSpec& spec) {
    if (absl::Status status = CheckAttention(spec, major_, library_.GetVersion(), options_.deterministic);
        !status.ok()) {
      return status;
    }
    if (absl::Status status = Start(); !status.ok()) return absl::UnimplementedError(status.message());
    std::optional<absl::StatusOr<std::shared_ptr<const Choice>>> tried;  // the last
    const absl::Status offered =
        OfferPlans(library_, runner_->handle(), nullptr, spec, options_.deterministic, [&](AttentionPlan plan) {
          tried = Try(std::make_shared<const Choice>(std::move(plan), spec));
          return !absl::IsUnimplemented(tried->status());
        });
    if (tried.has_value()) return *tried;
    return absl::UnimplementedError(offered.message());
  }

  // cuDNN's handle, which takes time and memory: only where there is attention for it.
  absl::Status Start() {
    if (runner_ != nullptr) return absl::OkStatus();
    Handle handle = nullptr;
    absl::Status status = library_.Explain(library_.Create(&handle), "cudnnCreate");
    if (status.ok()) runner_ = std::make_unique<Runner>(library_, handle);
    return status;
  }

  // kUnimplemented: another may do.
  absl::StatusOr<std::shared_ptr<const Choice>> Try(const std::shared_ptr<const Choice>& choice) {
    if (choice->plan.workspace_bytes > options_.workspace_bytes) {
      return absl::UnimplementedError(absl::StrCat("expected a workspace of at most ", options_.workspace_bytes,
                                                   " bytes, got ", choice->plan.workspace_bytes));
    }
    const absl::Status once = RunOnce(context_, *runner_, *choice);
    // Without room for operands beside what is there already, the library's word is taken.
    if (once.ok() || absl::IsResourceExhausted(once)) return choice;
    return once;
  }

  const CudaContext& context_;
  const Cudnn& library_;
  const AttentionOptions options_;
  const int major_;
  std::mutex mutex_;                // guards what follows
  std::unique_ptr<Runner> runner_;  // once there is a handle
  std::map<std::string, absl::StatusOr<std::shared_ptr<const Choice>>> chosen_;
};

}  // namespace

absl::Status CheckAttention(const GpuAttentionSpec& spec, int major, size_t version, bool deterministic) {
  const auto refuse = [](const auto&... parts) { return absl::UnimplementedError(absl::StrCat(parts...)); };
  if (spec.type != DType::kBF16 && spec.type != DType::kF16)
    return refuse("expected bf16 or f16, got ", NameOf(spec.type));
  if (spec.depth % 8 != 0) return refuse("expected a head size that is a multiple of 8, got ", spec.depth);
  if (std::min({spec.batch, spec.queries, spec.keys, spec.query_heads, spec.depth}) < 1) return refuse("it is empty");
  if (absl::Status status = MaskOf(spec).status(); !status.ok()) return status;
  if (!spec.gradient) return absl::OkStatus();
  // Of gradients, by cudnn-frontend's scaled_dot_product_flash_attention.h.
  if (spec.queries == 1 && spec.keys == 1) return refuse("expected more than one row and one key");
  if (spec.keys % 128 != 0 && version <= 91500) {
    return refuse("expected a multiple of 128 keys before ", cuda::dnn::VersionText(91501), ", got ", spec.keys);
  }
  if (deterministic && major >= 10)
    return refuse("expected compute capability 8.x or 9.x for the same bits every time");
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<GpuAttentions>> CreateCudnnAttentions(const CudaContext& context, const Cudnn& library,
                                                                     AttentionOptions options) {
  if (absl::Status status = context.Enter(); !status.ok()) return status;
  const absl::StatusOr<int> major = context.Attribute(cuda::kComputeCapabilityMajor);
  if (!major.ok()) return major.status();
  return std::make_unique<CudnnAttentions>(context, library, std::move(options), *major);
}

}  // namespace weft::device
