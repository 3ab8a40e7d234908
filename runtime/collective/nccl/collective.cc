#include "runtime/collective/nccl/collective.h"

#include <algorithm>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "runtime/collective/nccl/communicator.h"

namespace weft::collective {
namespace {

constexpr int64_t kAlignment = 256;

int64_t Product(std::vector<int64_t>::const_iterator begin, std::vector<int64_t>::const_iterator end) {
  return std::accumulate(begin, end, int64_t{1}, std::multiplies<>());
}

// Reserves bytes; where they begin.
int64_t Take(int64_t bytes, int64_t& total) {
  const int64_t at = total;
  total += (bytes + kAlignment - 1) / kAlignment * kAlignment;
  return at;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Operation>> NcclCollective::Create(NcclCommunicator* communicator,
                                                                  const nccl::Nccl* nccl, Gpu* gpu, NcclComm* comm,
                                                                  const Group& group,
                                                                  const std::vector<CollectiveSpec>& bundle) {
  std::unique_ptr<NcclCollective> made(new NcclCollective(communicator, nccl, gpu, comm, group, bundle));
  int64_t staging_bytes = 0;
  for (const CollectiveSpec& spec : bundle) {
    if (absl::Status status = made->Add(spec, staging_bytes); !status.ok()) return status;
  }
  if (staging_bytes > 0) {
    if (absl::Status status = comm->staging().Reserve(gpu, static_cast<size_t>(staging_bytes)); !status.ok()) {
      return absl::Status(status.code(), absl::StrCat("group ", group.name, ": ", made->name_, ": ", status.message()));
    }
  }
  return made;
}

// A tensor that is cut along `dim` is [outer, n, run]: its parts are [n, outer, run]. Of a zigzag n is 2.
absl::Status NcclCollective::Add(const CollectiveSpec& spec, int64_t& staging_bytes) {
  const absl::StatusOr<std::vector<int64_t>> outputs = OutputDims(spec, members_);
  if (!outputs.ok()) return outputs.status();
  const auto element_bytes = static_cast<int64_t>(SizeOf(spec.dtype));
  const int64_t elements = Product(spec.dims.begin(), spec.dims.end());
  Part part{.kind = spec.kind,
            .reduction = spec.reduction == Reduction::kMax ? nccl::kMax : nccl::kSum,
            .type = nccl::TypeOf(spec.dtype),
            .by = spec.by};
  const CollectiveFacts& facts = FactsOf(spec.kind);
  // The one in the middle keeps its tensor as it is.
  if (facts.mirrors) part.zigzag = ZigzagMovesOf(Member(), members_, spec.back);
  const int64_t parts = !facts.mirrors ? members_ : part.zigzag.mirrors ? 2 : 1;
  const int64_t part_elements = facts.cuts || facts.mirrors ? elements / parts : elements;
  part.count = static_cast<size_t>(part_elements);
  part.part_bytes = part_elements * element_bytes;
  const auto transpose = [&](const std::vector<int64_t>& dims, int dim, bool pack) -> absl::Status {
    const int64_t outer = Product(dims.begin(), dims.begin() + dim);
    if (parts == 1 || outer <= 1 || part_elements == 0) return absl::OkStatus();
    const int64_t run = part_elements / outer;
    absl::StatusOr<GpuMove> move = pack ? GpuMove::Transpose(&gpu_, outer, parts, run, element_bytes)
                                        : GpuMove::Transpose(&gpu_, parts, outer, run, element_bytes);
    if (!move.ok()) return move.status();
    (pack ? part.pack : part.unpack) = *std::move(move);
    (pack ? part.packed_at : part.unpacked_at) = Take(part.part_bytes * parts, staging_bytes);
    return absl::OkStatus();
  };
  absl::Status status;
  if (facts.cuts || facts.mirrors) status = transpose(spec.dims, spec.cut_dim(), /*pack=*/true);
  if (status.ok() && (facts.gathers || facts.mirrors)) status = transpose(*outputs, spec.dim, /*pack=*/false);
  parts_.push_back(std::move(part));
  return status;
}

const char* NcclCollective::From(const Part& part, const void* input) const {
  if (!part.pack.has_value()) return static_cast<const char*>(input);
  return comm_->staging().data<char>() + part.packed_at;
}

char* NcclCollective::To(const Part& part, void* output) const {
  if (!part.unpack.has_value()) return static_cast<char*>(output);
  return comm_->staging().data<char>() + part.unpacked_at;
}

absl::Status NcclCollective::Before(const Part& part, const void* input, void* output, void* stream) {
  absl::Status status;
  if (part.pack.has_value()) {
    void* const packed = const_cast<char*>(From(part, input));
    status = part.pack->Run(&input, 1, &packed, 1, stream);
  }
  if (!status.ok() || (part.kind != Kind::kAllToAll && part.kind != Kind::kZigzag)) return status;
  const bool zigzag = part.kind == Kind::kZigzag;
  if (zigzag && !part.zigzag.mirrors) return status;
  const int64_t from = zigzag ? part.zigzag.kept.from : Member(), to = zigzag ? part.zigzag.kept.to : Member();
  return gpu_.Copy(To(part, output) + to * part.part_bytes, From(part, input) + from * part.part_bytes,
                   static_cast<size_t>(part.part_bytes), stream);
}

nccl::Result NcclCollective::Call(const Part& part, const void* input, void* output, nccl::Comm comm, void* stream) {
  const char* const from = From(part, input);
  char* const to = To(part, output);
  nccl::Result result = nccl::kSuccess;
  const auto keep = [&](nccl::Result next) {
    if (result == nccl::kSuccess && next != nccl::kInProgress) result = next;
  };
  switch (part.kind) {
    case Kind::kAllReduce:
      return nccl_.AllReduce(from, to, part.count, part.type, part.reduction, comm, stream);
    case Kind::kReduceScatter:
      return nccl_.ReduceScatter(from, to, part.count, part.type, part.reduction, comm, stream);
    case Kind::kAllGather:
      return nccl_.AllGather(from, to, part.count, part.type, comm, stream);
    case Kind::kShift:
      keep(nccl_.Send(from, part.count, part.type, (comm_->member() + part.by) % members_, comm, stream));
      keep(nccl_.Recv(to, part.count, part.type, (comm_->member() + members_ - part.by) % members_, comm, stream));
      return result;
    case Kind::kZigzag:
      if (!part.zigzag.mirrors) {  // to itself, as every member has a call in every group
        keep(nccl_.Send(from, part.count, part.type, Member(), comm, stream));
        keep(nccl_.Recv(to, part.count, part.type, Member(), comm, stream));
        return result;
      }
      // What comes belongs where nothing is kept.
      keep(nccl_.Send(from + part.zigzag.given.from * part.part_bytes, part.count, part.type, Mirror(), comm, stream));
      keep(nccl_.Recv(to + (1 - part.zigzag.kept.to) * part.part_bytes, part.count, part.type, Mirror(), comm, stream));
      return result;
    case Kind::kAllToAll:
      break;
  }
  for (int k = 0; k < members_; ++k) {
    if (k == comm_->member()) continue;
    keep(nccl_.Send(from + k * part.part_bytes, part.count, part.type, k, comm, stream));
    keep(nccl_.Recv(to + k * part.part_bytes, part.count, part.type, k, comm, stream));
  }
  return result;
}

absl::Status NcclCollective::Run(absl::Span<const void* const> inputs, absl::Span<void* const> outputs, void* stream) {
  if (comm_ == nullptr) {
    absl::Status status;
    for (size_t i = 0; i < parts_.size() && status.ok(); ++i) {
      if (inputs[i] == outputs[i]) continue;
      status = gpu_.Copy(outputs[i], inputs[i], static_cast<size_t>(parts_[i].part_bytes), stream);
    }
    return status;
  }
  absl::Status status = communicator_.ConnectAtRun(*comm_);
  for (size_t i = 0; i < parts_.size() && status.ok(); ++i) {
    if (parts_[i].count > 0) status = Before(parts_[i], inputs[i], outputs[i], stream);
  }
  if (!status.ok()) return status;
  const auto calls = [&](nccl::Comm comm) {
    nccl::Result result = nccl::kSuccess;
    for (size_t i = 0; i < parts_.size() && (result == nccl::kSuccess || result == nccl::kInProgress); ++i) {
      if (parts_[i].count > 0) result = Call(parts_[i], inputs[i], outputs[i], comm, stream);
    }
    return result == nccl::kInProgress ? nccl::kSuccess : result;
  };
  status = comm_->Issue(this, calls, stream);
  for (size_t i = 0; i < parts_.size() && status.ok(); ++i) {
    if (!parts_[i].unpack.has_value()) continue;
    const void* const parts = To(parts_[i], outputs[i]);
    void* const output = outputs[i];
    status = parts_[i].unpack->Run(&parts, 1, &output, 1, stream);
  }
  return status;
}

std::string NcclCollective::Left() const {
  const uint64_t number = comm_ == nullptr ? 0 : comm_->Pending(this);
  return number == 0 ? "" : absl::StrCat(name_, " #", number, " of group ", group_name_);
}

}  // namespace weft::collective
