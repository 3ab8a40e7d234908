#include "tests/plans/stamps.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <set>
#include <thread>

#include "absl/strings/str_cat.h"
#include "ops/abi/philox.h"
#include "runtime/plan/layout.h"

namespace weft::plan {
namespace {

constexpr char kSite[] = "stamp.site";
constexpr char kLog[] = "stamp.log";

template <typename Word>
void FillWords(uint64_t key, Word base, Word mask, int64_t elements, void* tile) {
  char* at = static_cast<char*>(tile);
  for (int64_t i = 0; i < elements; ++i, at += sizeof(Word)) {
    const Word word = static_cast<Word>(base | (static_cast<Word>(Mix(key, i)) & mask));
    std::memcpy(at, &word, sizeof(word));
  }
}

// Some acts take longer than others, as they do.
void Delay(uint64_t key) {
  if (key % 16 == 0) std::this_thread::sleep_for(std::chrono::microseconds(key / 16 % 128));
  if (key % 4 == 1) std::this_thread::yield();
}

uint64_t HashOfSpec(const TensorSpec& spec, const void* tile) {
  return HashTile(tile, static_cast<int64_t>(spec.bytes()));
}

class StampKernel : public weft::Kernel {
 public:
  static absl::StatusOr<std::unique_ptr<weft::Kernel>> Create(const KernelSpec& spec) {
    const absl::StatusOr<int64_t> site = spec.attributes.Int(kSite), log = spec.attributes.Int(kLog);
    if (!site.ok() || !log.ok()) return absl::InternalError("kernel without a stamp");
    return std::make_unique<StampKernel>(spec, static_cast<int>(*site), reinterpret_cast<Log*>(*log));
  }

  StampKernel(const KernelSpec& spec, int site, Log* log)
      : spec_(spec), site_(site), log_(*log), rank_(IndexOf(log->placement(log->site(site).stage), spec.coordinates)) {}

  absl::Status Run(const RunContext& context, absl::Span<const void* const> inputs,
                   absl::Span<void* const> outputs) override {
    const KernelSite& site = log_.site(site_);
    const bool initial = site.actor < 0;
    uint64_t stamp = StampOf(site_, rank_, initial ? 0 : context.step, context.micro_batch);
    const uint64_t delay = Mix(stamp, log_.delays);
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (static_cast<int>(i) == site.accumulator && context.micro_batch == 0) continue;
      const uint64_t hash = HashOfSpec(spec_.inputs[i], inputs[i]);
      if (!initial) log_.read[log_.PlaceOf(site_, rank_, context.micro_batch, static_cast<int>(i))] = hash;
      stamp = Mix(stamp, hash);
    }
    Delay(delay);
    for (size_t o = 0; o < outputs.size(); ++o) {
      FillTile(Mix(stamp, o), static_cast<DType>(spec_.outputs[o].dtype), spec_.outputs[o].elements(), outputs[o]);
    }
    const uint64_t written = HashOf(inputs, outputs);
    Delay(delay >> 32);
    if (HashOf(inputs, outputs) != written) ++log_.disturbed;
    return absl::OkStatus();
  }

 private:
  // Of everything that the kernel touches.
  uint64_t HashOf(absl::Span<const void* const> inputs, absl::Span<void* const> outputs) const {
    uint64_t hash = 0;
    const int32_t accumulator = log_.site(site_).accumulator;
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (static_cast<int32_t>(i) != accumulator) hash = Mix(hash, HashOfSpec(spec_.inputs[i], inputs[i]));
    }
    for (size_t o = 0; o < outputs.size(); ++o) hash = Mix(hash, HashOfSpec(spec_.outputs[o], outputs[o]));
    return hash;
  }

  const KernelSpec spec_;
  const int site_;
  Log& log_;
  const int64_t rank_;
};

class StampInput : public executor::BatchField {
 public:
  explicit StampInput(const executor::Port& port) : name_(port.name), rank_(port.rank), spec_(port.spec) {}
  absl::Status Fill(int64_t step, int64_t micro_batch, void* tile) override {
    FillTile(StampOfInput(name_, rank_, step, micro_batch), static_cast<DType>(spec_.dtype), spec_.elements(), tile);
    return absl::OkStatus();
  }

 private:
  const std::string name_;
  const int rank_;
  const TensorSpec spec_;
};

class StampOutput : public executor::ResultField {
 public:
  StampOutput(const executor::Port& port, Log& log) : log_(log), site_(std::atoi(port.name.c_str())), spec_(port.spec) {
    const auto& ranks = port.placement->ranks();
    rank_ = std::find(ranks.begin(), ranks.end(), port.rank) - ranks.begin();
  }
  absl::Status Take(int64_t, int64_t micro_batch, const void* tile) override {
    log_.read[log_.PlaceOf(site_, rank_, micro_batch, 0)] = HashOfSpec(spec_, tile);
    return absl::OkStatus();
  }

 private:
  Log& log_;
  const int site_;
  int64_t rank_ = 0;
  const TensorSpec spec_;
};

}  // namespace

uint64_t Mix(uint64_t a, uint64_t b) { return MixSeed(a, b); }

uint64_t HashTile(const void* bytes, int64_t size) {
  uint64_t hash = static_cast<uint64_t>(size);
  const char* at = static_cast<const char*>(bytes);
  for (; size > 0; size -= 8, at += 8) {
    uint64_t word = 0;
    std::memcpy(&word, at, static_cast<size_t>(std::min<int64_t>(size, 8)));
    hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
    hash ^= hash >> 29;
  }
  return hash;
}

void FillTile(uint64_t key, DType dtype, int64_t elements, void* tile) {
  switch (dtype) {
    case F32:
      return FillWords<uint32_t>(key, 0x3f800000u, 0x7fffffu, elements, tile);
    case BF16:
      return FillWords<uint16_t>(key, 0x3f80u, 0x7fu, elements, tile);
    case F16:
      return FillWords<uint16_t>(key, 0x3c00u, 0x3ffu, elements, tile);
    case F64:
      return FillWords<uint64_t>(key, 0x3ff0000000000000u, 0xfffffffffffffu, elements, tile);
    case I32:
      return FillWords<uint32_t>(key, 0, 0xffffu, elements, tile);
    case I64:
      return FillWords<uint64_t>(key, 0, 0xffffffffu, elements, tile);
    default:
      return FillWords<uint8_t>(key, 0, 0xffu, elements, tile);
  }
}

uint64_t StampOf(int site, int64_t rank, int64_t step, int64_t micro_batch) {
  return Mix(Mix(Mix(static_cast<uint64_t>(site), static_cast<uint64_t>(rank)), static_cast<uint64_t>(step)),
             static_cast<uint64_t>(micro_batch));
}

uint64_t StampOfInput(const std::string& name, int rank, int64_t step, int64_t micro_batch) {
  return Mix(HashTile(name.data(), static_cast<int64_t>(name.size())), StampOf(-1, rank, step, micro_batch));
}

int Log::Add(Kernel* kernel, KernelSite site) {
  const int index = static_cast<int>(sites_.size());
  const bool port = site.actor >= 0 && IsPort(*kernel);
  kernel->clear_attributes();
  if (port) (*kernel->mutable_attributes())["name"].set_string(absl::StrCat(index));
  (*kernel->mutable_attributes())[kSite].set_int_(index);
  (*kernel->mutable_attributes())[kLog].set_int_(reinterpret_cast<int64_t>(this));
  site.first = size_;
  size_ += site.inputs * micro_batches_ * RankCount(placement(site.stage));
  sites_.push_back(site);
  return index;
}

Log::Log(Plan& plan) : programs_(ProgramsOf(plan)), micro_batches_(plan.header().micro_batches()) {
  for (int s = 0; s < plan.stages_size(); ++s) {
    Stage& stage = *plan.mutable_stages(s);
    kernels_.emplace_back(stage.actors_size());
    inits_.emplace_back(stage.buffers_size(), -1);
    for (int b = 0; b < stage.buffers_size(); ++b) {
      if (!stage.buffers(b).has_init()) continue;
      inits_[s][b] = Add(stage.mutable_buffers(b)->mutable_init(), {.stage = s, .work = b});
    }
    for (int a = 0; a < stage.actors_size(); ++a) {
      for (int k = 0; k < stage.actors(a).kernels_size(); ++k) {
        Kernel* kernel = stage.mutable_actors(a)->mutable_kernels(k);
        const Work& work = programs_[s].work[a][k];
        const auto at = std::find(work.reads.begin(), work.reads.end(), work.accumulator);
        const int accumulator = at == work.reads.end() ? -1 : static_cast<int>(at - work.reads.begin());
        kernels_[s][a].push_back(Add(
            kernel, {.stage = s, .actor = a, .work = k, .accumulator = accumulator, .inputs = kernel->inputs_size()}));
      }
    }
  }
  read.assign(size_, 0);
}

std::string Log::Text(int64_t place) const {
  // The last site that begins at or before the place and has inputs.
  int found = 0;
  for (size_t i = 0; i < sites_.size(); ++i) {
    if (sites_[i].inputs > 0 && sites_[i].first <= place) found = static_cast<int>(i);
  }
  const KernelSite& it = sites_[found];
  const int64_t act = (place - it.first) / it.inputs;
  return absl::StrCat("rank ", act / micro_batches_, " of stage ", it.stage, ": ",
                      programs_[it.stage].Where(it.actor, it.work), " (micro-batch ", act % micro_batches_, "): input ",
                      (place - it.first) % it.inputs);
}

KernelRegistry StampKernels(const Plan& plan) {
  std::set<std::string> names;
  for (const Stage& stage : plan.stages()) {
    for (const Buffer& buffer : stage.buffers()) names.insert(buffer.init().name());
    for (const Actor& actor : stage.actors()) {
      for (const Kernel& kernel : actor.kernels()) names.insert(kernel.name());
    }
  }
  KernelRegistry registry;
  for (const std::string& name : names) registry.Register(name, &StampKernel::Create);
  return registry;
}

absl::StatusOr<std::unique_ptr<executor::BatchField>> StampSource::Bind(const executor::Port& port) {
  return std::make_unique<StampInput>(port);
}

absl::StatusOr<std::unique_ptr<executor::ResultField>> StampSink::Bind(const executor::Port& port) {
  return std::make_unique<StampOutput>(port, log_);
}

}  // namespace weft::plan
