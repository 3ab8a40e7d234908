#include "runtime/executor/executor.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "absl/strings/str_cat.h"
#include "ops/abi/status_macros.h"
#include "runtime/executor/binding.h"
#include "runtime/executor/links.h"
#include "runtime/executor/port_kernels.h"
#include "runtime/executor/program_spec.h"
#include "runtime/executor/work.h"
#include "runtime/plan/layout.h"
#include "runtime/plan/stored.h"

namespace weft::executor {
namespace {

// The stage and the place in it of a rank.
absl::StatusOr<std::pair<int, int64_t>> FindRank(const plan::Plan& plan, int rank) {
  for (int s = 0; s < plan.stages_size(); ++s) {
    const plan::Placement& placement = plan.placements(plan.stages(s).placement());
    const auto found = std::find(placement.ranks().begin(), placement.ranks().end(), rank);
    if (found != placement.ranks().end()) return std::pair<int, int64_t>(s, found - placement.ranks().begin());
  }
  return absl::InvalidArgumentError(absl::StrCat("rank ", rank, ": no stage of the plan runs on it"));
}

absl::Status Prefixed(const std::string& prefix, const absl::Status& status) {
  return status.ok() ? status : absl::Status(status.code(), absl::StrCat(prefix, ": ", status.message()));
}

// "einsum at gpt2.mlir:31:8".
std::string WhereOf(const plan::Kernel& kernel) {
  return kernel.location().empty() ? kernel.name() : absl::StrCat(kernel.name(), " at ", kernel.location());
}

// Of one stream.
struct Workspaces {
  std::shared_ptr<Workspace> host = std::make_shared<Workspace>();
  std::shared_ptr<GpuWorkspace> gpu = std::make_shared<GpuWorkspace>();
};

// The step, counted from 1, that begins with recording graphs. The one before has called all libraries,
// which may prepare something when they are called first.
constexpr int64_t kRecordingStep = 2;

// The stream of the last work that writes buffer `b`, or what it is a view of; the first stream if none does.
int StreamThatWrites(const plan::Program& program, int32_t b) {
  while (true) {
    for (int32_t a = program.stage->actors_size() - 1; a >= 0; --a) {
      for (const plan::Work& work : program.work[a]) {
        if (std::find(work.writes.begin(), work.writes.end(), b) != work.writes.end()) return program.actor(a).stream();
      }
    }
    if (program.buffer(b).alias_of() == 0) return 0;
    b = program.buffer(b).alias_of() - 1;
  }
}

// The offset in the arena at which state of a tier is when a step uses it; nothing: no step brings it to the device.
std::optional<int64_t> OffsetInUse(const plan::Program& program, int32_t below) {
  for (const plan::Actor& actor : program.stage->actors()) {
    for (const plan::Kernel& kernel : actor.kernels()) {
      if (plan::MovesTier(kernel) && plan::BelowOf(kernel) == below) {
        return program.buffer(plan::AboveOf(kernel)).offset();
      }
    }
  }
  return std::nullopt;
}

// Of a sum over the micro-batches, to which the first one finds nothing added.
class FetchOfSum : public Kernel {
 public:
  explicit FetchOfSum(std::unique_ptr<Kernel> fetch) : fetch_(std::move(fetch)) {}
  absl::Status Run(const RunContext& context, absl::Span<const void* const> inputs,
                   absl::Span<void* const> outputs) override {
    return context.micro_batch == 0 ? absl::OkStatus() : fetch_->Run(context, inputs, outputs);
  }

 private:
  const std::unique_ptr<Kernel> fetch_;
};

// Drops what it is given.
class NoResult : public ResultField {
 public:
  absl::Status Take(int64_t, int64_t, const void*) override { return absl::OkStatus(); }
};

TensorSpec InMemory(const StateTile& tile) {
  TensorSpec spec = tile.spec;
  spec.dtype = tile.in_memory;
  return spec;
}

int64_t BytesInMemory(const StateTile& tile) { return static_cast<int64_t>(InMemory(tile).bytes()); }

// Whether all that files have of a buffer is among the names, and files have all of it: rows of padding in none.
bool IsLoaded(const plan::Buffer& buffer, const std::set<std::string>& loaded) {
  if (plan::IsStacked(buffer) && buffer.unpadded_shape_size() != 0) return false;
  const std::vector<plan::StoredTensor> stored = plan::StoredTensorsOf(buffer);
  return std::all_of(stored.begin(), stored.end(), [&](const auto& tensor) { return loaded.count(tensor.name) != 0; });
}

}  // namespace

// Makes the works of an executor whose arena and streams are there.
struct Executor::Builder {
  Executor& executor;
  RankPlace place;
  const std::vector<int> channels = ChannelsOf(*place.program->stage);
  // One a stream, whose kernels run one after another; the kernels keep them.
  std::vector<Workspaces> workspaces = {};
  // By actor: kernels that enqueue the same in every step, if it has no others.
  std::vector<int> kernels = {};

  absl::StatusOr<std::unique_ptr<FencedWork>> WorkOf(int32_t a) {
    const plan::Actor& actor = place.program->actor(a);
    const ActorContext context{.actor = a,
                               .stream = executor.streams_[actor.stream()].get(),
                               .fences = executor.fences_.get(),
                               .graphs = &executor.graphs_,
                               .seed = executor.services_.seed};
    const Services& services = executor.services_;
    absl::StatusOr<ActorOperation> made = OperationOf(place, actor, services.first_channel + channels[a],
                                                      *services.communicator, services.first_transfer);
    if (!made.ok()) return made.status();
    if (made->operation != nullptr) {
      return std::make_unique<OperationWork>(context, place, made->inputs, made->outputs, std::move(made->operation));
    }
    const bool on_host = plan::TierOfWork(*place.program, a) > 0;
    const bool steady = executor.services_.device->gpu() != nullptr && !on_host && OnlyEnqueues(actor);
    if (steady) kernels[a] = actor.kernels_size();
    std::unique_ptr<device::Event> arrived;
    if (on_host && executor.services_.device->gpu() != nullptr) {
      absl::StatusOr<std::unique_ptr<device::Event>> event = executor.services_.device->CreateEvent();
      if (!event.ok()) return event.status();
      arrived = *std::move(event);
    }
    auto work = std::make_unique<KernelWork>(context, steady, std::move(arrived));
    for (const plan::Kernel& kernel : actor.kernels()) {
      absl::StatusOr<std::unique_ptr<Kernel>> one = KernelOf(kernel, actor.stream(), on_host);
      if (!one.ok()) return Prefixed(WhereOf(kernel), one.status());
      if (plan::FetchesSum(kernel)) one = std::make_unique<FetchOfSum>(*std::move(one));
      work->Add(place, kernel, *std::move(one), WhereOf(kernel));
    }
    return work;
  }

  // Whether the host has nothing to do for an actor's kernels but to enqueue them.
  bool OnlyEnqueues(const plan::Actor& actor) const {
    return !plan::HasPort(actor) &&
           std::all_of(actor.kernels().begin(), actor.kernels().end(), [&](const plan::Kernel& kernel) {
             return !plan::MovesTier(kernel) || executor.StoreOf(plan::BelowOf(kernel)).only_enqueues();
           });
  }

  const Workspaces& WorkspacesOf(size_t stream) {
    while (workspaces.size() <= stream) workspaces.emplace_back();
    return workspaces[stream];
  }

  std::unique_ptr<Kernel> MoveOf(const plan::Kernel& kernel, device::Stream& stream) {
    const int32_t b = plan::BelowOf(kernel);
    const plan::Buffer& buffer = place.program->buffer(b);
    const PlaceInStore in_store{buffer.offset(), place.program->exact_bytes[b], buffer.slots(),
                                place.program->slot_bytes[b]};
    return kernel.name() == plan::kFetch ? CreateFetchKernel(executor.StoreOf(b), in_store, stream)
                                         : CreateStoreKernel(executor.StoreOf(b), in_store, stream);
  }

  absl::StatusOr<std::unique_ptr<Kernel>> KernelOf(const plan::Kernel& kernel, int stream, bool on_host) {
    if (plan::MovesTier(kernel)) return MoveOf(kernel, *executor.streams_[stream]);
    if (kernel.name() == "input") return InputOf(kernel, *executor.streams_[stream]);
    if (kernel.name() == "output") return OutputOf(kernel, *executor.streams_[stream]);
    KernelSpec spec = executor.SpecFor(kernel, on_host);
    spec.workspace = WorkspacesOf(stream).host;
    if (spec.gpu != nullptr) {
      spec.gpu_workspace = WorkspacesOf(stream).gpu;
      spec.gpu_step_values = executor.uploads_[stream]->values();
    }
    if (!kernel.symbol().empty()) {
      const Services& services = executor.services_;
      const auto& code = on_host && services.device->gpu() != nullptr ? services.host_code : services.code;
      return code->Make(kernel, place.RandomsOf(kernel), spec);
    }
    return executor.KernelsFor(on_host).Create(spec);
  }

  absl::StatusOr<Port> PortOf(const plan::Kernel& kernel, const google::protobuf::RepeatedField<int32_t>& operands) {
    if (operands.size() != 1)
      return absl::InvalidArgumentError(absl::StrCat("expected 1 buffer, got ", operands.size()));
    absl::StatusOr<std::string> name = AttributesOf(kernel).String("name");
    if (!name.ok()) return name.status();
    const plan::Buffer& buffer = place.program->buffer(operands[0]);
    return Port{.name = *std::move(name),
                .rank = executor.rank_,
                .spec = place.SpecOf(operands[0]),
                .primary = plan::IsPrimary(buffer, place.coordinates),
                .placement = place.program->placement,
                .buffer = &buffer};
  }

  absl::StatusOr<std::unique_ptr<Kernel>> InputOf(const plan::Kernel& kernel, device::Stream& stream) {
    absl::StatusOr<Port> port = PortOf(kernel, kernel.outputs());
    if (!port.ok()) return port.status();
    BatchSource* source = executor.services_.source;
    if (source == nullptr) {
      return absl::InvalidArgumentError(absl::StrCat("`", port->name, "`: expected a source of inputs, got none"));
    }
    absl::StatusOr<std::unique_ptr<BatchField>> field = BindInput(*source, *port);
    if (!field.ok()) return field.status();
    return CreateInputKernel(*std::move(field), *port, *executor.services_.device, stream);
  }

  absl::StatusOr<std::unique_ptr<Kernel>> OutputOf(const plan::Kernel& kernel, device::Stream& stream) {
    absl::StatusOr<Port> port = PortOf(kernel, kernel.inputs());
    if (!port.ok()) return port.status();
    std::unique_ptr<ResultField> field = std::make_unique<NoResult>();
    if (executor.services_.sink != nullptr) {
      absl::StatusOr<std::unique_ptr<ResultField>> bound = executor.services_.sink->Bind(*port);
      if (!bound.ok()) return bound.status();
      field = *std::move(bound);
    }
    return CreateOutputKernel(std::move(field), *port, *executor.services_.device, stream);
  }

  absl::Status Build() {
    absl::StatusOr<std::unique_ptr<Fences>> fences = Fences::Create(*place.program, *executor.services_.device);
    if (!fences.ok()) return fences.status();
    executor.fences_ = *std::move(fences);
    actor::ProgramSpec spec = ProgramSpecOf(*place.program, executor.rank_);
    spec.spins = executor.services_.spins;
    spec.status_words = executor.services_.status_words;
    kernels.resize(spec.actors.size());
    for (size_t a = 0; a < spec.actors.size(); ++a) {
      absl::StatusOr<std::unique_ptr<FencedWork>> work = WorkOf(static_cast<int32_t>(a));
      if (!work.ok()) return Prefixed(absl::StrCat("actor `", spec.actors[a].name, "`"), work.status());
      spec.actors[a].work = work->get();
      executor.works_.push_back(*std::move(work));
    }
    for (const Workspaces& each : workspaces) executor.workspaces_.push_back(each.gpu);
    executor.actors_ = std::make_unique<actor::RankProgram>(std::move(spec), executor.services_.fault);
    for (const auto& upload : executor.uploads_) {
      if (upload == nullptr) continue;
      if (absl::Status status = upload->Prepare(); !status.ok()) return status;
    }
    if (executor.services_.graphs && executor.services_.device->captures()) {
      const actor::ProgramSpec& made = executor.actors_->spec();
      executor.graphs_.set_segments(made, SegmentsOf(made, *executor.fences_, kernels));
    }
    return absl::OkStatus();
  }
};

Executor::Executor(plan::Program program, int rank, const Services& services)
    : program_(std::move(program)), rank_(rank), services_(services) {}

Executor::~Executor() = default;

absl::StatusOr<std::unique_ptr<Executor>> Executor::Create(const plan::Plan& plan, int rank, const Services& services) {
  const absl::StatusOr<std::pair<int, int64_t>> found = FindRank(plan, rank);
  if (!found.ok()) return found.status();
  const std::string where = absl::StrCat("rank ", rank);
  std::unique_ptr<Executor> executor(new Executor(plan::ProgramOf(plan, found->first), rank, services));
  const plan::Program& program = executor->program_;
  executor->index_ = found->second;
  executor->coordinates_ = plan::Coordinates(*program.placement, found->second);
  executor->arena_ = services.arena;
  if (executor->arena_ == nullptr) {
    auto arena = services.device->AllocateArena(std::max(program.stage->arena_bytes(), services.least_arena_bytes));
    if (!arena.ok()) return Prefixed(where, arena.status());
    executor->arena_ = *std::move(arena);
  }
  if (absl::Status status = executor->CreateTiers(); !status.ok()) return Prefixed(where, status);
  for (const plan::Stream& stream : program.stage->streams()) {
    // What other ranks wait for goes before this rank's own work.
    const bool urgent = stream.kind() == plan::Stream::COMMUNICATION;
    const std::string name = absl::StrCat("r", rank, " ", stream.name());
    auto made = urgent ? services.device->CreateUrgentStream(name) : services.device->CreateStream(name);
    if (!made.ok()) return Prefixed(where, made.status());
    executor->streams_.push_back(*std::move(made));
    executor->uploads_.push_back(services.device->gpu() == nullptr ? nullptr
                                                                   : std::make_unique<StepUpload>(*services.device));
  }
  Builder builder{*executor, executor->Place()};
  if (absl::Status status = builder.Build(); !status.ok()) return Prefixed(where, status);
  if (absl::Status status = executor->PrepareMetrics(); !status.ok()) return Prefixed(where, status);
  if (absl::Status status = executor->PrepareCopies(); !status.ok()) return Prefixed(where, status);
  executor->CollectState();
  return executor;
}

absl::Status Executor::CreateTiers() {
  if (services_.arena != nullptr) {
    tiers_ = services_.tiers;
    return absl::OkStatus();
  }
  const size_t least = services_.least_tier_bytes.size();
  for (int t = 0; t < std::max(program_.stage->tier_bytes_size(), static_cast<int>(least)); ++t) {
    tiers_.emplace_back();
    const int64_t bytes = std::max(t < program_.stage->tier_bytes_size() ? program_.stage->tier_bytes(t) : 0,
                                   t < static_cast<int>(least) ? services_.least_tier_bytes[t] : 0);
    if (bytes == 0) continue;
    auto store = TierStore::Create(program_.plan->header().cluster().tier(t), rank_, bytes, services_.tier_folder,
                                   *services_.device);
    if (!store.ok()) return store.status();
    tiers_.back() = *std::move(store);
  }
  return absl::OkStatus();
}

KernelSpec Executor::SpecFor(const plan::Kernel& kernel, bool on_host) const {
  const RankPlace place = Place();
  KernelSpec spec{.name = kernel.name(),
                  .attributes = AttributesOf(kernel),
                  .coordinates = place.coordinates,
                  .threads = services_.threads,
                  .gpu = on_host ? nullptr : services_.device->gpu()};
  for (int32_t b : kernel.inputs()) spec.inputs.push_back(place.SpecOf(b));
  for (int32_t b : kernel.outputs()) spec.outputs.push_back(place.SpecOf(b));
  return spec;
}

const KernelRegistry& Executor::KernelsFor(bool on_host) const {
  return on_host && services_.host_kernels != nullptr ? *services_.host_kernels : *services_.kernels;
}

RankPlace Executor::Place() const {
  RankPlace place{&program_, index_, rank_, coordinates_, arena_->base()};
  for (const auto& tier : tiers_) place.memories.push_back(tier == nullptr ? nullptr : tier->memory());
  return place;
}

TierStore& Executor::StoreOf(int32_t buffer) const { return *tiers_[program_.buffer(buffer).tier() - 1]; }

absl::StatusOr<int64_t> Executor::TakenBytesOf(int tier) const {
  const bool used = tier < static_cast<int>(tiers_.size()) && tiers_[tier] != nullptr;
  return used ? tiers_[tier]->TakenBytes() : int64_t{0};
}

std::string Executor::RefusalOf(int tier) const {
  const bool used = tier < static_cast<int>(tiers_.size()) && tiers_[tier] != nullptr;
  return used ? tiers_[tier]->refusal() : "";
}

// On the stream of the actor that writes it, a copy needs to wait for nothing.
absl::Status Executor::PrepareMetrics() {
  for (const plan::Metric& metric : program_.plan->metrics()) {
    if (metric.stage() != program_.index) continue;
    char* const address = arena_->base() + program_.MetricRangeOf(metric.buffer()).begin;
    metrics_.push_back({metric.name(), StreamThatWrites(program_, metric.buffer()), address, address});
  }
  if (services_.device->host_addressable() || metrics_.empty()) return absl::OkStatus();
  constexpr size_t kWord = sizeof(float);
  auto memory = services_.device->AllocateHostMemory(static_cast<int64_t>(metrics_.size() * kWord));
  if (!memory.ok()) return memory.status();
  metric_memory_ = *std::move(memory);
  for (size_t i = 0; i < metrics_.size(); ++i) metrics_[i].word = metric_memory_->base() + i * kWord;
  return absl::OkStatus();
}

int Executor::next_channel() const {
  int next = services_.first_channel;
  for (int channel : ChannelsOf(*program_.stage)) next = std::max(next, services_.first_channel + channel + 1);
  return next;
}

int64_t Executor::workspace_bytes() const {
  size_t bytes = 0;
  for (const auto& workspace : workspaces_) bytes += workspace->bytes() + workspace->Beside()->bytes();
  return static_cast<int64_t>(bytes);
}

int Executor::SaverOf(const plan::Buffer& buffer) const {
  std::vector<int64_t> saver = coordinates_;
  for (size_t axis = 0; axis < saver.size(); ++axis) {
    std::vector<int64_t> along(saver.size(), 0);
    along[axis] = coordinates_[axis];
    if (!plan::IsPrimary(buffer, along)) saver[axis] = 0;  // not split over it
  }
  return program_.placement->ranks(static_cast<int>(plan::IndexOf(*program_.placement, saver)));
}

void Executor::CollectState() {
  const RankPlace place = Place();
  const auto add = [this](StateTile tile, const plan::StoredTensor& stored) {
    tile.name = stored.name;
    tile.stored_shape = stored.shape;
    state_.push_back(std::move(tile));
  };
  for (int32_t b = 0; b < program_.stage->buffers_size(); ++b) {
    const plan::Buffer& buffer = program_.buffer(b);
    const bool optimizer = buffer.kind() == plan::Buffer::OPTIMIZER;
    if ((!optimizer && buffer.kind() != plan::Buffer::PARAMETER) || buffer.alias_of() != 0) continue;
    StateTile tile{.spec = place.SpecOf(b),
                   .optimizer = optimizer,
                   .primary = plan::IsPrimary(buffer, coordinates_),
                   .saved_by = SaverOf(buffer),
                   .tier = buffer.tier() - 1,
                   .offset = buffer.offset()};
    if (buffer.stored_dtype() != plan::INVALID) tile.spec.dtype = TypeOf(buffer.stored_dtype());
    const std::vector<plan::StoredTensor> stored = plan::StoredTensorsOf(buffer);
    if (!plan::IsStacked(buffer)) {
      add(tile, stored[0]);
      continue;
    }
    // Its rows follow one another, those of this rank too. Padding is in no file.
    const int64_t first = tile.spec.origin[0], count = tile.spec.InsideDims()[0];
    for (std::vector<int64_t>* dims :
         {&tile.spec.dims, &tile.spec.global_dims, &tile.spec.origin, &tile.spec.padded_dims}) {
      if (!dims->empty()) dims->erase(dims->begin());
    }
    for (int64_t i = first; i < first + count; ++i) {
      add(tile, stored[i]);
      tile.offset += BytesInMemory(tile);
    }
  }
}

void Executor::TraceKernels(trace::Timeline& timeline) {
  for (int32_t s = 0; s < program_.stage->streams_size(); ++s) {
    std::vector<std::string> names;
    std::vector<std::pair<KernelWork*, int>> works;  // with the name of their first kernel
    for (int32_t a = 0; a < program_.stage->actors_size(); ++a) {
      const plan::Actor& actor = program_.actor(a);
      if (actor.stream() != s || actor.kernels_size() == 0) continue;
      works.emplace_back(static_cast<KernelWork*>(works_[a].get()), static_cast<int>(names.size()));
      for (int k = 0; k < actor.kernels_size(); ++k) {
        names.push_back(absl::StrCat(actor.name(), "/", k, " ", actor.kernels(k).name()));
      }
    }
    if (works.empty()) continue;
    trace::Track* const track =
        timeline.AddTrack(rank_, absl::StrCat(program_.stage->streams(s).name(), " kernels"), std::move(names));
    for (const auto& [work, first_name] : works) work->Trace(track, first_name);
  }
}

void Executor::Watch(Probe* probe) {
  for (const auto& work : works_) work->Watch(probe);
}

TensorSpec Executor::SpecOf(int32_t buffer) const { return Place().SpecOf(buffer); }

absl::Status Executor::OnStream(const std::function<absl::Status(device::Stream&)>& task) {
  if (streams_.empty()) return absl::FailedPreconditionError(absl::StrCat("rank ", rank_, ": the stage has no stream"));
  absl::Status status;
  streams_[0]->Submit([&] { status = task(*streams_[0]); });
  const absl::Status joined = streams_[0]->Join();
  return status.ok() ? joined : status;
}

std::string Executor::InitialValueOf(int32_t b) const {
  return absl::StrCat("rank ", rank_, ": initial value of `", program_.buffer(b).name(), "`");
}

absl::Status Executor::Initialize(const std::set<std::string>& loaded) {
  std::unique_ptr<StepUpload> upload;
  if (services_.device->gpu() != nullptr) upload = std::make_unique<StepUpload>(*services_.device);
  struct Step {
    int32_t buffer;
    bool sets_padding;  // of what the step before it has made
    std::unique_ptr<Kernel> kernel;
    char* at;
    bool goes_down;
  };
  const RankPlace place = Place();
  std::vector<Step> steps;  // until what they enqueue is done
  copies_are_stale_ = true;
  for (int32_t b = 0; b < program_.stage->buffers_size(); ++b) {
    const plan::Buffer& buffer = program_.buffer(b);
    if (!buffer.has_init() || buffer.alias_of() != 0 || buffer.init().inputs_size() > 0) continue;
    if (buffer.kind() == plan::Buffer::PARAMETER && IsLoaded(buffer, loaded)) continue;
    if (buffer.stored_dtype() != plan::INVALID) {
      if (absl::Status status = InitializeNarrow(b); !status.ok()) return Prefixed(InitialValueOf(b), status);
      continue;
    }
    // Where a step has it on the device; else the host makes it where it stays.
    const std::optional<int64_t> above = buffer.tier() > 0 ? OffsetInUse(program_, b) : buffer.offset();
    char* const at = above ? arena_->base() + *above : place.memories[buffer.tier() - 1] + buffer.offset();
    const bool goes_down = above && buffer.tier() > 0;
    absl::StatusOr<std::unique_ptr<Kernel>> kernel = InitialiserOf(b, !above, upload.get());
    if (!kernel.ok()) return Prefixed(InitialValueOf(b), kernel.status());
    steps.push_back({b, false, *std::move(kernel), at, goes_down});
    if (buffer.unpadded_shape_size() == 0) continue;
    kernel = PaddingOf(SpecOf(b), !above);
    if (!kernel.ok()) return Prefixed(InitialValueOf(b), kernel.status());
    steps.push_back({b, true, *std::move(kernel), at, goes_down});
  }
  if (upload != nullptr) {
    if (absl::Status status = upload->Prepare(); !status.ok()) return Prefixed(absl::StrCat("rank ", rank_), status);
  }
  return OnStream([&](device::Stream& stream) {
    absl::Status status = upload == nullptr ? absl::OkStatus() : upload->Run(0, stream);
    const RunContext context{.seed = services_.seed, .stream = stream.handle()};
    for (const Step& step : steps) {
      if (!status.ok()) return status;
      const plan::Buffer& buffer = program_.buffer(step.buffer);
      void* const output = step.at;
      const void* const input = output;
      status = step.kernel->Run(context, {&input, step.sets_padding ? 1u : 0u}, absl::MakeConstSpan(&output, 1));
      if (status.ok() && step.goes_down) {
        status = StoreOf(step.buffer).Store(buffer.offset(), output, program_.exact_bytes[step.buffer], stream);
      }
      status = Prefixed(InitialValueOf(step.buffer), status);
    }
    return status;
  });
}

// The host makes it as files would have it, which is then loaded.
absl::Status Executor::InitializeNarrow(int32_t b) {
  const plan::Buffer& buffer = program_.buffer(b);
  StateTile tile{.spec = SpecOf(b), .in_memory = TypeOf(buffer.dtype()), .offset = buffer.offset()};
  tile.spec.dtype = TypeOf(buffer.stored_dtype());
  KernelSpec spec = SpecFor(buffer.init(), /*on_host=*/true);
  spec.outputs = {tile.spec};
  const auto kernel = KernelsFor(/*on_host=*/true).Create(spec);
  if (!kernel.ok()) return kernel.status();
  return LoadTile(tile, [&](void* bytes) -> absl::Status {
    const RunContext context{.seed = services_.seed};
    WEFT_RETURN_IF_ERROR((*kernel)->Run(context, {}, {&bytes, 1}));
    if (buffer.unpadded_shape_size() == 0) return absl::OkStatus();
    const auto padding = PaddingOf(tile.spec, /*on_host=*/true);
    if (!padding.ok()) return padding.status();
    const void* const input = bytes;
    return (*padding)->Run(context, {&input, 1}, {&bytes, 1});
  });
}

absl::Status Executor::Cast(const TensorSpec& from, const void* input, DType to, void* output) const {
  TensorSpec result = from;
  result.dtype = to;
  const KernelSpec spec{.name = "cast", .inputs = {from}, .outputs = {result}, .threads = services_.threads};
  const auto kernel = KernelsFor(/*on_host=*/true).Create(spec);
  if (!kernel.ok()) return kernel.status();
  return (*kernel)->Run({}, {&input, 1}, {&output, 1});
}

absl::Status Executor::PrepareCopies() {
  for (int32_t b = 0; b < program_.stage->buffers_size(); ++b) {
    const plan::Buffer& buffer = program_.buffer(b);
    if (buffer.init().inputs_size() == 0) continue;
    const int32_t parameter = buffer.init().inputs(0);
    KernelSpec spec = SpecFor(buffer.init(), /*on_host=*/false);
    spec.outputs = {SpecOf(b)};
    auto kernel = services_.kernels->Create(spec);
    if (!kernel.ok()) return Prefixed(absl::StrCat("`", buffer.name(), "`"), kernel.status());
    copies_.push_back(
        {*std::move(kernel), arena_->base() + program_.buffer(parameter).offset(), arena_->base() + buffer.offset()});
  }
  return absl::OkStatus();
}

absl::Status Executor::MakeCopies() {
  copies_are_stale_ = false;
  if (copies_.empty()) return absl::OkStatus();
  return OnStream([this](device::Stream& stream) {
    for (const Copy& copy : copies_) {
      WEFT_RETURN_IF_ERROR(copy.kernel->Run({.stream = stream.handle()}, {&copy.input, 1}, {&copy.output, 1}));
    }
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> Executor::InitialiserOf(int32_t b, bool on_host, StepUpload* upload) {
  KernelSpec spec = SpecFor(program_.buffer(b).init(), on_host);
  spec.outputs = {SpecOf(b)};
  if (spec.gpu != nullptr) spec.gpu_step_values = upload->values();
  return KernelsFor(on_host).Create(spec);
}

// Zeros beyond the tensor, which plans count on: `set_padding` over the state itself.
absl::StatusOr<std::unique_ptr<Kernel>> Executor::PaddingOf(const TensorSpec& tile, bool on_host) const {
  KernelSpec spec{.name = "set_padding", .inputs = {tile}, .outputs = {tile}, .threads = services_.threads};
  spec.attributes.Set("extents", tile.global_dims);
  spec.attributes.Set("value", int64_t{0});
  spec.gpu = on_host ? nullptr : services_.device->gpu();
  return KernelsFor(on_host).Create(spec);
}

void Executor::BeginStep(int64_t step) {
  step_ = step;
  if (copies_are_stale_) {
    const absl::Status status = MakeCopies();
    if (!status.ok()) services_.fault->Raise(Prefixed(absl::StrCat("rank ", rank_, ": copies of parameters"), status));
  }
  if (++begun_ == kRecordingStep && graphs_.counts().segments > 0) RecordGraphs();
  actors_->BeginStep();
  for (int s = 0; s < actors_->streams(); ++s) {
    streams_[s]->Submit([this, s] { RunStream(s); });
  }
}

// Before any stream goes on: to make a graph the driver may wait for all that this GPU does, also for
// what waits for another rank.
void Executor::RecordGraphs() {
  for (int s = 0; s < actors_->streams(); ++s) {
    streams_[s]->Submit([this, s] {
      graphs_.Capture(s, *streams_[s], [this](const plan::StageAct& act) {
        return works_[act.actor]->Do({.step = step_, .micro_batch = act.micro_batch});
      });
    });
  }
  for (auto& stream : streams_) stream->Join().IgnoreError();  // EndStep() says it again
}

void Executor::RunStream(int s) {
  device::Stream& stream = *streams_[s];
  // What goes wrong is in the fault.
  if (uploads_[s] != nullptr) {
    const absl::Status status = uploads_[s]->Run(step_, stream);
    if (!status.ok()) services_.fault->Raise(Prefixed(absl::StrCat("rank ", rank_, ": numbers of a step"), status));
  }
  if (!actors_->RunStream(s, step_).ok()) return;
  for (const MetricWord& metric : metrics_) {
    if (metric.stream != s || metric.word == metric.address) continue;
    const absl::Status status = stream.Copy(metric.word, metric.address, sizeof(float));
    if (!status.ok()) services_.fault->Raise(Prefixed(absl::StrCat("rank ", rank_, ": ", metric.name), status));
  }
}

absl::Status Executor::EndStep() {
  for (auto& stream : streams_) {
    const absl::Status status = stream->Join();
    if (!status.ok()) services_.fault->Raise(Prefixed(absl::StrCat("rank ", rank_), status));
  }
  return services_.fault->raised() ? services_.fault->status() : absl::OkStatus();
}

absl::StatusOr<float> Executor::Metric(const std::string& name) const {
  for (const MetricWord& metric : metrics_) {
    if (metric.name != name) continue;
    float value = 0;
    std::memcpy(&value, metric.word, sizeof(value));
    return value;
  }
  return absl::NotFoundError(absl::StrCat("rank ", rank_, ": no metric `", name, "` in its stage"));
}

absl::Status Executor::LoadTile(const StateTile& tile, const std::function<absl::Status(void*)>& fill) {
  copies_are_stale_ = true;
  const int64_t kept = BytesInMemory(tile);
  const auto load = [&](char* bytes) {
    if (tile.spec.reaches_beyond()) std::memset(bytes, 0, tile.spec.bytes());
    return fill(bytes);
  };
  const auto load_kept = [&](char* bytes) {
    if (tile.in_memory == tile.spec.dtype) return load(bytes);
    std::vector<char> stored(tile.spec.bytes());
    const absl::Status status = load(stored.data());
    return status.ok() ? Cast(tile.spec, stored.data(), tile.in_memory, bytes) : status;
  };
  if (tile.tier >= 0) {
    std::vector<char> bytes(kept);
    const absl::Status status = load_kept(bytes.data());
    return status.ok() ? tiers_[tile.tier]->Write(tile.offset, bytes.data(), kept) : status;
  }
  char* const address = arena_->base() + tile.offset;
  if (services_.device->host_addressable()) return load_kept(address);
  auto memory = services_.device->AllocateHostMemory(kept);
  if (!memory.ok()) return memory.status();
  if (absl::Status status = load_kept((*memory)->base()); !status.ok()) return status;
  return OnStream([&](device::Stream& stream) { return stream.Copy(address, (*memory)->base(), kept); });
}

absl::Status Executor::SaveTile(const StateTile& tile, const std::function<absl::Status(const void*)>& take) {
  const int64_t kept = BytesInMemory(tile);
  const auto take_stored = [&](const char* bytes) {
    if (tile.in_memory == tile.spec.dtype) return take(bytes);
    std::vector<char> stored(tile.spec.bytes());
    const absl::Status status = Cast(InMemory(tile), bytes, tile.spec.dtype, stored.data());
    return status.ok() ? take(stored.data()) : status;
  };
  if (tile.tier >= 0) {
    std::vector<char> bytes(kept);
    const absl::Status status = tiers_[tile.tier]->Read(tile.offset, bytes.data(), kept);
    return status.ok() ? take_stored(bytes.data()) : status;
  }
  const char* const address = arena_->base() + tile.offset;
  if (services_.device->host_addressable()) return take_stored(address);
  auto memory = services_.device->AllocateHostMemory(kept);
  if (!memory.ok()) return memory.status();
  const absl::Status copied =
      OnStream([&](device::Stream& stream) { return stream.Copy((*memory)->base(), address, kept); });
  return copied.ok() ? take_stored((*memory)->base()) : copied;
}

}  // namespace weft::executor
