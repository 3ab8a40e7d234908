#include "tools/run/hosts_of_run.h"

#include <utility>

namespace weft::run {

using Json = nlohmann::json;

HostsOfRun HostsOfRun::Of(const Processes& processes) {
  std::vector<std::string> keys = processes.hosts();
  collective::HostRing ring(keys);
  const int own = ring.HostOf(processes.rank());
  return {.keys = std::move(keys), .ring = std::move(ring), .own = own};
}

std::string HostsOfRun::NameOf(int process) const { return keys[process].substr(0, keys[process].find('/')); }

int HostsOfRun::ReaderOf(int host, int rank) const {
  const std::vector<int>& there = ring.RanksOf(host);
  return there[rank % there.size()];
}

absl::StatusOr<std::vector<Json>> GatherJson(Processes& processes, const Json& own) {
  const auto all = processes.AllGather(own.dump(-1, ' ', false, Json::error_handler_t::replace));
  if (!all.ok()) return all.status();
  std::vector<Json> parsed;
  for (const std::string& text : *all) parsed.push_back(Json::parse(text));
  return parsed;
}

}  // namespace weft::run
