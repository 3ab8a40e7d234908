#include "runtime/device/cuda/matmul_timing.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>

#include "absl/strings/str_cat.h"

namespace weft::device {
namespace {

using cuda::Address;
using cuda::Handle;
using cuda::lt::HeuristicResult;

constexpr float kMilliseconds = 2;  // that one candidate is measured for, about
constexpr int kMostRuns = 20;
constexpr float kGain = 0.98f;
constexpr int64_t kPatternBytes = 1 << 20;

// A stream and two points of it.
class Watch {
 public:
  explicit Watch(const CudaContext& context) : context_(context), driver_(context.driver()) {
    status_ = context.Check(driver_.StreamCreate(&stream_, cuda::kStreamNonBlocking), "cuStreamCreate");
    for (Handle* event : {&begin_, &end_}) {
      if (status_.ok()) status_ = context.Check(driver_.EventCreate(event, 0), "cuEventCreate");
    }
  }
  ~Watch() {
    if (stream_ != nullptr) driver_.StreamSynchronize(stream_);
    for (Handle event : {begin_, end_}) {
      if (event != nullptr) driver_.EventDestroy(event);
    }
    if (stream_ != nullptr) driver_.StreamDestroy(stream_);
  }
  const absl::Status& status() const { return status_; }
  Handle stream() const { return stream_; }

  // The milliseconds that what `enqueue` enqueues takes.
  template <typename Enqueue>
  absl::StatusOr<float> Measure(const Enqueue& enqueue) const {
    absl::Status status = context_.Check(driver_.EventRecord(begin_, stream_), "cuEventRecord");
    if (status.ok()) status = enqueue();
    if (status.ok()) status = context_.Check(driver_.EventRecord(end_, stream_), "cuEventRecord");
    if (status.ok()) status = context_.Check(driver_.EventSynchronize(end_), "cuEventSynchronize");
    float milliseconds = 0;
    if (status.ok()) {
      status = context_.Check(driver_.EventElapsedTime(&milliseconds, begin_, end_), "cuEventElapsedTime");
    }
    if (!status.ok()) return status;
    return milliseconds;
  }

 private:
  const CudaContext& context_;
  const cuda::Driver& driver_;
  Handle stream_ = nullptr, begin_ = nullptr, end_ = nullptr;
  absl::Status status_;
};

size_t SpanOf(const GpuMatrix& matrix, int64_t batch, int64_t rows, int64_t columns) {
  const int64_t last =
      (batch - 1) * matrix.batch_stride + (rows - 1) * matrix.row_stride + (columns - 1) * matrix.column_stride;
  return static_cast<size_t>(last + 1) * SizeOf(matrix.type);
}

// Operands in memory of their own.
struct Operands {
  std::unique_ptr<Arena> arena;
  GpuMatmulAddresses addresses;
  void* workspace = nullptr;
};

absl::StatusOr<Operands> Allocate(const CudaContext& context, const GpuMatmulSpec& spec, size_t workspace_bytes) {
  const size_t vector = static_cast<size_t>(spec.columns) * SizeOf(spec.result.type);
  const size_t bytes[] = {SpanOf(spec.left, spec.batch, spec.rows, spec.inner),
                          SpanOf(spec.right, spec.batch, spec.inner, spec.columns),
                          SpanOf(spec.result, spec.batch, spec.rows, spec.columns),
                          spec.keep ? SpanOf(spec.result, spec.batch, spec.rows, spec.columns) : 0,
                          vector,
                          workspace_bytes};
  size_t offsets[7] = {};
  for (int i = 0; i < 6; ++i) offsets[i + 1] = offsets[i] + (bytes[i] + 255) / 256 * 256;
  absl::StatusOr<std::unique_ptr<Arena>> arena = AllocateCudaArena(context, static_cast<int64_t>(offsets[6]));
  if (!arena.ok()) return arena.status();
  Operands operands{.arena = *std::move(arena)};
  char* const base = operands.arena->base();
  operands.addresses = {.left = base + offsets[0],
                        .right = base + offsets[1],
                        .result = base + offsets[2],
                        .bias = spec.bias ? base + offsets[4] : nullptr,
                        .kept = spec.keep ? base + offsets[3] : nullptr,
                        .bias_gradient = spec.bias_gradient ? base + offsets[4] : nullptr};
  operands.workspace = base + offsets[5];
  return operands;
}

// Numbers of every float type, of either sign and near 1: a GPU is faster on zeros than on data.
absl::Status Fill(const CudaContext& context, const Arena& arena, Handle stream) {
  const absl::StatusOr<std::unique_ptr<Arena>> pattern = AllocatePinnedArena(context, kPatternBytes);
  if (!pattern.ok()) return pattern.status();
  uint64_t random = 1;
  for (int64_t at = 0; at < kPatternBytes; at += 2) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    const auto word = static_cast<uint16_t>((random >> 32 & 0x8000u) | (0x3e80u + (random >> 33 & 0xffu)));
    std::memcpy((*pattern)->base() + at, &word, sizeof(word));
  }
  const cuda::Driver& driver = context.driver();
  absl::Status status;
  for (int64_t at = 0; at < arena.bytes() && status.ok(); at += kPatternBytes) {
    const auto bytes = static_cast<size_t>(std::min(kPatternBytes, arena.bytes() - at));
    status = context.Check(driver.MemcpyAsync(reinterpret_cast<Address>(arena.base() + at),
                                              reinterpret_cast<Address>((*pattern)->base()), bytes, stream),
                           "cuMemcpyAsync");
  }
  // The pattern goes when this returns.
  const absl::Status waited = context.Check(driver.StreamSynchronize(stream), "cuStreamSynchronize");
  return status.ok() ? waited : status;
}

// Where candidates run: `operands` filled, a stream with nothing on it.
class Track {
 public:
  static absl::StatusOr<std::unique_ptr<Track>> Create(const CudaContext& context, Handle handle,
                                                       const MatmulProblem& problem,
                                                       const std::vector<HeuristicResult>& candidates) {
    size_t workspace_bytes = 0;
    for (const HeuristicResult& candidate : candidates)
      workspace_bytes = std::max(workspace_bytes, candidate.workspace_bytes);
    absl::StatusOr<Operands> operands = Allocate(context, problem.spec(), workspace_bytes);
    if (!operands.ok()) return operands.status();
    auto track = std::make_unique<Track>(context, handle, problem, *std::move(operands));
    if (!track->watch_.status().ok()) return track->watch_.status();
    if (absl::Status status = Fill(context, *track->operands_.arena, track->watch_.stream()); !status.ok()) {
      return status;
    }
    return track;
  }
  Track(const CudaContext& context, Handle handle, const MatmulProblem& problem, Operands operands)
      : handle_(handle), problem_(problem), operands_(std::move(operands)), watch_(context) {}

  // The milliseconds of so many runs. kUnimplemented: the library refuses it.
  absl::StatusOr<float> Run(const HeuristicResult& candidate, int runs) const {
    return watch_.Measure([&] {
      absl::Status status;
      for (int r = 0; r < runs && status.ok(); ++r) {
        status = problem_.Enqueue(handle_, candidate, operands_.addresses, operands_.workspace, watch_.stream());
      }
      return status;
    });
  }

 private:
  const Handle handle_;
  const MatmulProblem& problem_;
  const Operands operands_;
  const Watch watch_;  // ends its work before the operands go
};

absl::Status NoneRuns(const MatmulProblem& problem) {
  return absl::UnimplementedError(absl::StrCat("cuBLASLt runs no algorithm of ", problem.key()));
}

}  // namespace

absl::StatusOr<size_t> FirstOf(const CudaContext& context, Handle handle, const MatmulProblem& problem,
                               const std::vector<HeuristicResult>& candidates) {
  const absl::StatusOr<std::unique_ptr<Track>> track = Track::Create(context, handle, problem, candidates);
  if (!track.ok()) return track.status();
  for (size_t i = 0; i < candidates.size(); ++i) {
    const absl::StatusOr<float> once = (*track)->Run(candidates[i], 1);
    if (once.ok()) return i;
    if (!absl::IsUnimplemented(once.status())) return once.status();
  }
  return NoneRuns(problem);
}

absl::StatusOr<size_t> FastestOf(const CudaContext& context, Handle handle, const MatmulProblem& problem,
                                 const std::vector<HeuristicResult>& candidates) {
  const absl::StatusOr<std::unique_ptr<Track>> track = Track::Create(context, handle, problem, candidates);
  if (!track.ok()) return track.status();
  std::optional<size_t> fastest;
  float least = 0;
  for (size_t i = 0; i < candidates.size(); ++i) {
    // The first run loads code.
    absl::StatusOr<float> once = (*track)->Run(candidates[i], 1);
    if (absl::IsUnimplemented(once.status())) continue;
    if (once.ok()) once = (*track)->Run(candidates[i], 1);
    if (!once.ok()) return once.status();
    const int runs = std::clamp(static_cast<int>(kMilliseconds / std::max(*once, 1e-3f)), 1, kMostRuns);
    const absl::StatusOr<float> all = (*track)->Run(candidates[i], runs);
    if (!all.ok()) return all.status();
    const float each = *all / static_cast<float>(runs);
    if (fastest.has_value() && each >= kGain * least) continue;
    fastest = i;
    least = each;
  }
  if (!fastest.has_value()) return NoneRuns(problem);
  return *fastest;
}

}  // namespace weft::device
