#include "runtime/collective/mpi/transfer.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace weft::collective {

absl::StatusOr<std::unique_ptr<Operation>> MpiTransfer::Create(Wire* wire, bool sends, DType dtype,
                                                               const std::vector<Link>& links, int64_t& staging_bytes) {
  const int64_t element = static_cast<int64_t>(SizeOf(dtype));
  std::vector<End> ends;
  size_t requests = links.size();
  for (const Link& link : links) {
    absl::StatusOr<int> tag = wire->TransferTag(link.tag);
    if (!tag.ok()) return tag.status();
    const TensorBlock& block = link.block;
    const std::vector<int64_t> zero(block.dims.size(), 0);
    TileCopy copy = sends ? TileCopy(block.dims, block.tile_dims, block.origin, block.dims, zero, element)
                          : TileCopy(block.dims, block.dims, zero, block.tile_dims, block.origin, element);
    End& end = ends.emplace_back(End{.peer = link.peer, .tag = link.tag, .mpi_tag = *tag, .copy = std::move(copy)});
    end.bytes = element;
    for (int64_t d : block.dims) end.bytes *= d;
    end.tile_offset = sends ? end.copy.from_offset() : end.copy.to_offset();
    if (!end.copy.contiguous()) end.staging.resize(end.bytes);
    end.hello.Describe(absl::StrCat(NameOf(dtype), "[", absl::StrJoin(block.dims, ","), "]"));
    end.first_request = requests;
    end.requests = std::max<int64_t>(1, (end.bytes + wire->message_bytes() - 1) / wire->message_bytes());
    requests += end.requests;
  }
  for (const End& end : ends) staging_bytes += static_cast<int64_t>(end.staging.size());
  return std::unique_ptr<Operation>(new MpiTransfer(wire, sends, std::move(ends), requests));
}

MpiTransfer::MpiTransfer(Wire* wire, bool sends, std::vector<End> ends, size_t requests)
    : wire_(*wire), sends_(sends), ends_(std::move(ends)), requests_(requests), missing_(ends_.size()) {
  for (size_t w = 0; w < ends_.size(); ++w) end_of_.insert(end_of_.end(), ends_[w].requests, static_cast<int>(w));
}

absl::Status MpiTransfer::Run(absl::Span<const void* const> inputs, absl::Span<void* const> outputs, void* stream) {
  if (!failure_.ok()) return failure_;
  if (wire_.stopped()) return wire_.reason();
  for (size_t w = 0; w < ends_.size(); ++w) {
    missing_[w].store(static_cast<int>(ends_[w].requests), std::memory_order_relaxed);
  }
  number_.store(++runs_, std::memory_order_release);
  failure_ = Perform(sends_ ? static_cast<char*>(const_cast<void*>(inputs[0])) : static_cast<char*>(outputs[0]));
  number_.store(0, std::memory_order_release);
  if (!failure_.ok()) requests_.Abandon();
  return failure_;
}

absl::Status MpiTransfer::Perform(char* tile) {
  for (size_t w = 0; w < ends_.size(); ++w) {
    if (absl::Status status = Start(w, tile); !status.ok()) return status;
  }
  return wire_.Await(
      requests_, [] { return Wire::Patience::kForPeers; },
      [&](int index, int bytes) { return Ended(index, bytes, tile); });
}

// A receiver takes the data of the first run once it knows what they are.
absl::Status MpiTransfer::Start(size_t w, char* tile) {
  End& end = ends_[w];
  int code = MPI_SUCCESS;
  if (runs_ == 1 && sends_) {
    code = MPI_Isend(&end.hello, sizeof(Hello), MPI_BYTE, end.peer, end.mpi_tag, wire_.comm(), &requests_.active[w]);
  } else if (runs_ == 1) {
    code = MPI_Irecv(&end.heard, sizeof(Hello), MPI_BYTE, end.peer, end.mpi_tag, wire_.comm(), &requests_.active[w]);
    return MpiStatus("receiving", code);
  }
  return code == MPI_SUCCESS ? StartData(end, tile) : MpiStatus("sending", code);
}

absl::Status MpiTransfer::StartData(End& end, char* tile) {
  char* const data = end.staging.empty() ? tile + end.tile_offset : end.staging.data();
  if (sends_ && !end.staging.empty()) end.copy.Run(tile, data);
  for (size_t i = 0; i < end.requests; ++i) {
    const int64_t begin = static_cast<int64_t>(i) * wire_.message_bytes();
    const int bytes = static_cast<int>(std::min(wire_.message_bytes(), end.bytes - begin));
    MPI_Request* request = &requests_.active[end.first_request + i];
    // A synchronous send ends when the receiver takes it.
    const int code = sends_ ? MPI_Issend(data + begin, bytes, MPI_BYTE, end.peer, end.mpi_tag, wire_.comm(), request)
                            : MPI_Irecv(data + begin, bytes, MPI_BYTE, end.peer, end.mpi_tag, wire_.comm(), request);
    if (code != MPI_SUCCESS) return MpiStatus(sends_ ? "sending" : "receiving", code);
  }
  return absl::OkStatus();
}

absl::Status MpiTransfer::Ended(int index, int bytes, char* tile) {
  if (index < static_cast<int>(ends_.size())) {
    End& end = ends_[index];
    if (sends_) return absl::OkStatus();
    if (end.hello.Agrees(end.heard)) return StartData(end, tile);
    return absl::InvalidArgumentError(
        absl::StrCat(Where(end), ": the sender has ", end.heard.text, ", the receiver expects ", end.hello.text));
  }
  const int w = end_of_[index - ends_.size()];
  const End& end = ends_[w];
  if (missing_[w].fetch_sub(1, std::memory_order_acq_rel) == 1 && !sends_ && !end.staging.empty()) {
    end.copy.Run(end.staging.data(), tile);
  }
  return absl::OkStatus();
}

std::string MpiTransfer::Where(const End& end) const {
  return absl::StrCat("transfer ", end.tag, " from rank ", sends_ ? wire_.rank() : end.peer, " to rank ",
                      sends_ ? end.peer : wire_.rank());
}

std::string MpiTransfer::Waiting() const {
  const uint64_t number = number_.load(std::memory_order_acquire);
  if (number == 0) return "";
  for (size_t w = 0; w < ends_.size(); ++w) {
    if (missing_[w].load(std::memory_order_acquire) == 0) continue;
    const End& end = ends_[w];
    return absl::StrCat("transfer ", end.tag, " #", number, sends_ ? " to rank " : " from rank ", end.peer,
                        sends_ ? ", which has not received it" : ", which has not sent it");
  }
  return "";
}

}  // namespace weft::collective
