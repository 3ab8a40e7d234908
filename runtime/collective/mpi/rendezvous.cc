#include "runtime/collective/mpi/rendezvous.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace weft::collective {
namespace {

constexpr int kMostNames = 8;

// Rank 0 knows who is missing, the others only that it has not answered: it is
// the first to say so, then, if it is silent, the next.
constexpr std::chrono::seconds kTurn(1);
constexpr int kMostTurns = 3;

void Append(std::string& to, const std::string& bytes) {
  const uint64_t size = bytes.size();
  to.append(reinterpret_cast<const char*>(&size), sizeof(size));
  to.append(bytes);
}

std::vector<std::string> Split(const std::string& all, int count) {
  std::vector<std::string> parts;
  size_t at = 0;
  for (int i = 0; i < count; ++i) {
    uint64_t size = 0;
    std::memcpy(&size, all.data() + at, sizeof(size));
    parts.push_back(all.substr(at + sizeof(size), size));
    at += sizeof(size) + size;
  }
  return parts;
}

}  // namespace

Rendezvous::Rendezvous(Wire* wire, std::chrono::milliseconds time_out)
    : wire_(*wire), time_out_(time_out), headers_(wire->size()), come_(wire->size()) {}

absl::StatusOr<std::vector<std::string>> Rendezvous::Hold(const char* kind, const std::string& bytes) {
  if (wire_.stopped()) return wire_.reason();
  deadline_ = time_out_.count() == 0
                  ? Wire::Deadline::max()
                  : std::chrono::steady_clock::now() + time_out_ + std::min(wire_.rank(), kMostTurns) * kTurn;
  mine_ = {.number = mine_.number + 1, .bytes = bytes.size()};
  std::strncpy(mine_.kind, kind, sizeof(mine_.kind) - 1);
  for (int r = 0; r < wire_.size(); ++r) come_[r].store(r == wire_.rank());
  number_.store(mine_.number);
  kind_.store(kind);
  std::vector<std::string> all(wire_.size());
  all[wire_.rank()] = bytes;
  absl::Status status = Collect(all);
  std::string joined;
  if (status.ok()) {
    for (const std::string& one : all) Append(joined, one);
    status = Distribute(joined);
  }
  if (absl::IsDeadlineExceeded(status)) {
    status = absl::DeadlineExceededError(absl::StrCat(Waiting(), " within ", time_out_.count() / 1000.0, " s"));
  }
  kind_.store(nullptr);
  if (!status.ok()) return status;
  return Split(joined, wire_.size());
}

// Rank 0 takes a header from each, then its bytes; the others send theirs.
absl::Status Rendezvous::Collect(std::vector<std::string>& all) {
  const int n = wire_.size();
  Requests requests(2 * n);
  std::string& own = all[wire_.rank()];
  absl::Status status;
  if (wire_.rank() != 0) {
    status = Transmit(true, &mine_, sizeof(Header), 0, &requests.active[0]);
    if (status.ok() && !own.empty()) status = Transmit(true, own.data(), own.size(), 0, &requests.active[1]);
    if (status.ok()) status = Await(requests, [](int, int) { return absl::OkStatus(); });
  } else {
    for (int r = 1; r < n && status.ok(); ++r) {
      status = Transmit(false, &headers_[r], sizeof(Header), r, &requests.active[r]);
    }
    if (status.ok()) {
      status = Await(requests, [&](int index, int) {
        if (index >= n) return absl::OkStatus();
        come_[index].store(true);
        if (absl::Status wrong = Check(headers_[index], index); !wrong.ok()) return wrong;
        all[index].resize(headers_[index].bytes);
        if (all[index].empty()) return absl::OkStatus();
        return Transmit(false, all[index].data(), all[index].size(), index, &requests.active[n + index]);
      });
    }
  }
  if (!status.ok()) requests.Abandon();
  return status;
}

absl::Status Rendezvous::Distribute(std::string& all) {
  const int n = wire_.size();
  Requests requests(2 * n);
  absl::Status status;
  if (wire_.rank() == 0) {
    mine_.bytes = all.size();
    for (int r = 1; r < n && status.ok(); ++r) {
      status = Transmit(true, &mine_, sizeof(Header), r, &requests.active[r]);
      if (status.ok()) status = Transmit(true, all.data(), all.size(), r, &requests.active[n + r]);
    }
    if (status.ok()) status = Await(requests, [](int, int) { return absl::OkStatus(); });
  } else {
    status = Transmit(false, &headers_[0], sizeof(Header), 0, &requests.active[0]);
    if (status.ok()) {
      status = Await(requests, [&](int index, int) {
        if (index != 0) return absl::OkStatus();
        come_[0].store(true);
        if (absl::Status wrong = Check(headers_[0], 0); !wrong.ok()) return wrong;
        all.resize(headers_[0].bytes);
        return Transmit(false, all.data(), all.size(), 0, &requests.active[n]);
      });
    }
  }
  if (!status.ok()) requests.Abandon();
  return status;
}

absl::Status Rendezvous::Check(const Header& header, int rank) const {
  if (header.number == mine_.number && std::strcmp(header.kind, mine_.kind) == 0) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat("rank ", wire_.rank(), " is at ", mine_.kind, " #", mine_.number,
                                                    ", rank ", rank, " at ", header.kind, " #", header.number));
}

absl::Status Rendezvous::Await(Requests& requests, Wire::Ended ended) {
  return wire_.Await(requests, [] { return Wire::Patience::kForPeers; }, ended, deadline_);
}

absl::Status Rendezvous::Transmit(bool send, void* bytes, size_t size, int rank, MPI_Request* request) {
  const int count = static_cast<int>(size);
  if (send) {
    return MpiStatus("sending", MPI_Isend(bytes, count, MPI_BYTE, rank, Wire::kRendezvousTag, wire_.comm(), request));
  }
  return MpiStatus("receiving", MPI_Irecv(bytes, count, MPI_BYTE, rank, Wire::kRendezvousTag, wire_.comm(), request));
}

std::string Rendezvous::Waiting() const {
  const char* kind = kind_.load();
  if (kind == nullptr) return "";
  std::string text = absl::StrCat(kind, " #", number_.load());
  int missing = 0;
  for (int r = 0; r < wire_.size(); ++r) {
    // Ranks above 0 hear of rank 0 alone.
    if (come_[r].load() || (wire_.rank() != 0 && r != 0)) continue;
    if (missing++ < kMostNames) absl::StrAppend(&text, "; rank ", r, " has not come");
  }
  if (missing > kMostNames) absl::StrAppend(&text, "; and ", missing - kMostNames, " more");
  return text;
}

}  // namespace weft::collective
