#include "runtime/collective/nccl/transfer.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/collective/nccl/communicator.h"
#include "runtime/collective/tile_copy.h"

namespace weft::collective {

absl::StatusOr<std::unique_ptr<Operation>> NcclTransfer::Create(NcclCommunicator* communicator, const nccl::Nccl* nccl,
                                                                Gpu* gpu, bool sends, DType dtype,
                                                                const std::vector<Link>& links,
                                                                const std::vector<NcclComm*>& comms) {
  std::unique_ptr<NcclTransfer> made(new NcclTransfer(communicator, nccl, sends, dtype));
  for (size_t i = 0; i < links.size(); ++i) {
    if (absl::Status status = made->Add(gpu, dtype, links[i], comms[i]); !status.ok()) return status;
  }
  std::sort(made->ends_.begin(), made->ends_.end(),
            [](const End& a, const End& b) { return std::pair(a.peer, a.tag) < std::pair(b.peer, b.tag); });
  return made;
}

absl::Status NcclTransfer::Add(Gpu* gpu, DType dtype, const Link& link, NcclComm* comm) {
  const auto element_bytes = static_cast<int64_t>(SizeOf(dtype));
  const TensorBlock& block = link.block;
  int64_t elements = 1;
  for (int64_t d : block.dims) elements *= d;
  if (elements == 0) return absl::OkStatus();
  const std::vector<int64_t> zero(block.dims.size(), 0);
  const TileCopy copy = sends_ ? TileCopy(block.dims, block.tile_dims, block.origin, block.dims, zero, element_bytes)
                               : TileCopy(block.dims, block.dims, zero, block.tile_dims, block.origin, element_bytes);
  End end{.comm = comm,
          .peer = link.peer,
          .tag = link.tag,
          .count = static_cast<size_t>(elements),
          .offset = sends_ ? copy.from_offset() : copy.to_offset(),
          .move = std::nullopt};
  if (!copy.contiguous()) {
    absl::StatusOr<GpuMove> move = GpuMove::Copy(gpu, copy, element_bytes);
    if (!move.ok()) return move.status();
    end.move = *std::move(move);
    if (absl::Status status = comm->staging().Reserve(gpu, static_cast<size_t>(elements * element_bytes));
        !status.ok()) {
      return absl::Status(status.code(), absl::StrCat(comm->name().title, ": ", status.message()));
    }
  }
  ends_.push_back(std::move(end));
  return absl::OkStatus();
}

absl::Status NcclTransfer::RunEnd(const End& end, void* tile, void* stream) {
  absl::Status status = communicator_.ConnectAtRun(*end.comm);
  if (!status.ok()) return status;
  char* const block = end.move.has_value() ? end.comm->staging().data<char>() : static_cast<char*>(tile) + end.offset;
  const void* const from = sends_ ? tile : block;
  void* const to = sends_ ? block : tile;
  if (sends_ && end.move.has_value()) status = end.move->Run(&from, 1, &to, 1, stream);
  if (!status.ok()) return status;
  const auto calls = [&](nccl::Comm comm) {
    const nccl::Result result = sends_ ? nccl_.Send(block, end.count, type_, 1, comm, stream)
                                       : nccl_.Recv(block, end.count, type_, 0, comm, stream);
    return result == nccl::kInProgress ? nccl::kSuccess : result;
  };
  status = end.comm->Issue(this, calls, stream);
  if (status.ok() && !sends_ && end.move.has_value()) status = end.move->Run(&from, 1, &to, 1, stream);
  return status;
}

absl::Status NcclTransfer::Run(absl::Span<const void* const> inputs, absl::Span<void* const> outputs, void* stream) {
  void* const tile = sends_ ? const_cast<void*>(inputs[0]) : outputs[0];
  absl::Status status;
  for (size_t w = 0; w < ends_.size() && status.ok(); ++w) status = RunEnd(ends_[w], tile, stream);
  return status;
}

std::string NcclTransfer::Left() const {
  for (const End& end : ends_) {
    const uint64_t number = end.comm->Pending(this);
    if (number == 0) continue;
    return absl::StrCat("transfer ", end.tag, " #", number, sends_ ? " to rank " : " from rank ", end.peer);
  }
  return "";
}

}  // namespace weft::collective
