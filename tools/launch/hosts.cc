#include "tools/launch/hosts.h"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <sstream>
#include <utility>

#include "runtime/checkpoint/host_and_time.h"

namespace weft::launch {
namespace {

using checkpoint::IsSameHost;

bool ReadCount(const std::string& text, int& count) {
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, count);
  return error == std::errc() && at == end && count > 0;
}

}  // namespace

std::string ReadHosts(const std::string& text, std::vector<Host>& hosts) {
  std::istringstream words(text);
  for (std::string word; std::getline(words, word, ',');) {
    const size_t colon = word.find(':');
    Host host{word.substr(0, colon), 1};
    if (host.name.empty() || (colon != std::string::npos && !ReadCount(word.substr(colon + 1), host.slots)))
      return "expected names and how many ranks each takes, such as node01:8,node02:8, got `" + text + "`";
    if (std::any_of(hosts.begin(), hosts.end(), [&](const Host& one) { return IsSameHost(one.name, host.name); }))
      return "expected each host once, got `" + host.name + "` again";
    hosts.push_back(std::move(host));
  }
  return hosts.empty() ? "expected a host, got none" : "";
}

std::string ReadPlanOfRanks(const std::string& text, PlanOfRanks& plan) {
  const size_t colon = text.find(':');
  plan.plan = colon == std::string::npos ? "" : text.substr(colon + 1);
  if (plan.plan.empty() || !ReadCount(text.substr(0, colon), plan.ranks))
    return "expected how many ranks and their plan, such as 8:small.plan, got `" + text + "`";
  return "";
}

int Hosts::slots() const {
  return std::accumulate(hosts_.begin(), hosts_.end(), 0,
                         [](int sum, const Host& host) { return sum + (host.lost ? 0 : host.slots); });
}

std::vector<Host> Hosts::Used(int ranks) const {
  std::vector<Host> used;
  for (const Host& host : hosts_) {
    if (ranks <= 0) break;
    if (host.lost) continue;
    used.push_back({host.name, std::min(host.slots, ranks), false});
    ranks -= host.slots;
  }
  return used;
}

std::string Hosts::First(int ranks) const {
  std::string text;
  for (const Host& host : Used(ranks)) {
    text += (text.empty() ? "" : ",") + host.name + ":" + std::to_string(host.slots);
  }
  return text;
}

int Hosts::RanksOn(const std::string& name, int ranks) const {
  for (const Host& host : Used(ranks)) {
    if (IsSameHost(host.name, name)) return host.slots;
  }
  return 0;
}

std::vector<std::string> Hosts::NamesBut(const std::string& name) const {
  std::vector<std::string> names;
  for (const Host& host : hosts_) {
    if (!host.lost && !IsSameHost(host.name, name)) names.push_back(host.name);
  }
  return names;
}

bool Hosts::Lose(const std::string& name) {
  for (Host& host : hosts_) {
    if (!IsSameHost(host.name, name)) continue;
    const bool is_first = !host.lost;
    host.lost = true;
    return is_first;
  }
  return false;
}

std::vector<std::string> Hosts::Lost() const {
  std::vector<std::string> names;
  for (const Host& host : hosts_) {
    if (host.lost) names.push_back(host.name);
  }
  return names;
}

void Hosts::Return(const std::string& name) {
  for (Host& host : hosts_) {
    if (IsSameHost(host.name, name)) host.lost = false;
  }
}

const PlanOfRanks* Largest(const std::vector<PlanOfRanks>& plans, int slots) {
  const PlanOfRanks* largest = nullptr;
  for (const PlanOfRanks& plan : plans) {
    if (plan.ranks <= slots && (largest == nullptr || plan.ranks > largest->ranks)) largest = &plan;
  }
  return largest;
}

}  // namespace weft::launch
