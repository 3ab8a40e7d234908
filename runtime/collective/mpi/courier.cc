#include "runtime/collective/mpi/courier.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/collective/mpi/library.h"

namespace weft::collective {
namespace {

// What goes in one message: some milliseconds of a network, for which a step's message may have to wait.
constexpr int64_t kPieceBytes = int64_t{1} << 20;
// How often whoever waits asks whether it is to give up.
constexpr std::chrono::milliseconds kAsk(50);

// All that goes to one rank, or comes from it.
struct Lane {
  int peer = 0;
  bool sends = false;
  std::vector<std::pair<char*, int64_t>> parcels;  // where each is, and its bytes
  size_t parcel = 0;                               // that is under way
  int64_t at = 0;                                  // what of it has gone or come
  std::vector<char> piece;                         // MPI may use it after an error

  bool done() const { return parcel == parcels.size(); }
  int64_t size() const { return std::min(kPieceBytes, parcels[parcel].second - at); }
};

using Lanes = std::vector<Lane>;

Lanes LanesOf(const std::vector<OutParcel>& out, const std::vector<InParcel>& in) {
  std::map<std::pair<int, bool>, Lane> lanes;
  const auto add = [&](int peer, bool sends, char* bytes, size_t size) {
    Lane& lane = lanes[{peer, sends}];
    lane.peer = peer;
    lane.sends = sends;
    if (size > 0) lane.parcels.emplace_back(bytes, static_cast<int64_t>(size));
  };
  for (const OutParcel& parcel : out) add(parcel.to, true, const_cast<char*>(parcel.bytes.data()), parcel.bytes.size());
  for (const InParcel& parcel : in) add(parcel.from, false, parcel.bytes.data(), parcel.bytes.size());
  Lanes list;
  for (auto& [key, lane] : lanes) {
    if (!lane.done()) list.push_back(std::move(lane));
  }
  return list;
}

absl::Status Start(Wire& wire, Lane& lane, MPI_Request* request) {
  const auto size = static_cast<int>(lane.size());
  lane.piece.resize(kPieceBytes);
  if (lane.sends) {
    std::memcpy(lane.piece.data(), lane.parcels[lane.parcel].first + lane.at, size);
    // It ends when the other side takes it.
    return MpiStatus("sending",
                     MPI_Issend(lane.piece.data(), size, MPI_BYTE, lane.peer, Wire::kParcelTag, wire.comm(), request));
  }
  return MpiStatus("receiving",
                   MPI_Irecv(lane.piece.data(), size, MPI_BYTE, lane.peer, Wire::kParcelTag, wire.comm(), request));
}

absl::Status End(Lane& lane, int bytes) {
  if (!lane.sends && bytes != lane.size()) {
    return absl::InternalError(
        absl::StrCat("a parcel of rank ", lane.peer, ": expected a piece of ", lane.size(), " bytes, got ", bytes));
  }
  if (!lane.sends) std::memcpy(lane.parcels[lane.parcel].first + lane.at, lane.piece.data(), bytes);
  lane.at += lane.size();
  if (lane.at == lane.parcels[lane.parcel].second) {
    ++lane.parcel;
    lane.at = 0;
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status Courier::Carry(const std::vector<OutParcel>& out, const std::vector<InParcel>& in,
                            const std::function<bool()>& given_up) {
  using Clock = std::chrono::steady_clock;
  auto lanes = std::make_unique<Lanes>(LanesOf(out, in));
  Requests requests(lanes->size());
  absl::Status status;
  for (size_t i = 0; i < lanes->size() && status.ok(); ++i) status = Start(wire_, (*lanes)[i], &requests.active[i]);
  Clock::time_point moved = Clock::now();
  const auto ended = [&](int index, int bytes) {
    Lane& lane = (*lanes)[index];
    moved = Clock::now();
    absl::Status one = End(lane, bytes);
    if (one.ok() && !lane.done()) one = Start(wire_, lane, &requests.active[index]);
    return one;
  };
  while (status.ok()) {
    status = wire_.Await(requests, [] { return Wire::Patience::kForPeers; }, ended, Clock::now() + kAsk);
    if (status.ok() || !absl::IsDeadlineExceeded(status)) break;
    if (given_up()) {
      status = absl::CancelledError("given up");
    } else if (time_out_.count() > 0 && Clock::now() - moved > time_out_) {
      const auto late = std::find_if(lanes->begin(), lanes->end(), [](const Lane& lane) { return !lane.done(); });
      status = absl::DeadlineExceededError(absl::StrCat("a parcel ", late->sends ? "to" : "from", " rank ", late->peer,
                                                        " has not moved within ", time_out_.count() / 1000.0, " s"));
    } else {
      status = absl::OkStatus();
    }
  }
  if (!status.ok()) {
    requests.Abandon();
    static_cast<void>(lanes.release());
  }
  return status;
}

}  // namespace weft::collective
