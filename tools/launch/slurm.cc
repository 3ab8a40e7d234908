#include "tools/launch/slurm.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <regex>
#include <sstream>

#include "tools/launch/remote.h"

namespace weft::launch {
namespace {

std::string Variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// The names in "node[01-03],login", as Slurm itself writes them out.
std::vector<std::string> NamesIn(const std::string& nodes) {
  std::FILE* const pipe = popen(("scontrol show hostnames " + Quoted(nodes) + " 2>/dev/null").c_str(), "re");
  if (pipe == nullptr) return {};
  std::string text;
  char bytes[4096];
  for (size_t size = 0; (size = fread(bytes, 1, sizeof bytes, pipe)) > 0;) text.append(bytes, size);
  pclose(pipe);
  std::istringstream words(text);
  std::vector<std::string> names;
  for (std::string name; words >> name;) names.push_back(name);
  return names;
}

}  // namespace

std::vector<int> TasksByNode(const std::string& text) {
  static const std::regex part(R"(([1-9]\d{0,5})(?:\(x([1-9]\d{0,5})\))?)");
  std::vector<int> tasks;
  std::istringstream parts(text);
  for (std::string word; std::getline(parts, word, ',');) {
    std::smatch match;
    if (!std::regex_match(word, match, part)) return {};
    tasks.insert(tasks.end(), match[2].matched ? std::stoul(match[2]) : 1, std::stoi(match[1]));
  }
  return tasks;
}

std::string ReadAllocation(std::vector<Host>& hosts) {
  const std::string nodes = Variable("SLURM_JOB_NODELIST"), text = Variable("SLURM_TASKS_PER_NODE");
  if (nodes.empty()) return "expected an allocation of Slurm (SLURM_JOB_NODELIST), found none";
  const std::vector<std::string> names = NamesIn(nodes);
  if (names.empty()) return "expected the names of " + nodes + " from `scontrol show hostnames`, got none";
  const std::vector<int> tasks = TasksByNode(text);
  if (tasks.size() != names.size())
    return "expected SLURM_TASKS_PER_NODE for " + std::to_string(names.size()) + " nodes, such as 2(x" +
           std::to_string(names.size()) + "), got `" + text + "`";
  for (size_t i = 0; i < names.size(); ++i) hosts.push_back({names[i], tasks[i]});
  return "";
}

std::vector<std::string> SrunCommand(const std::vector<Host>& hosts) {
  std::string names;
  int ranks = 0, most = 0;
  for (const Host& host : hosts) {
    names += (names.empty() ? "" : ",") + host.name;
    ranks += host.slots;
    most = std::max(most, host.slots);
  }
  return {"srun",
          "--mpi=pmix",
          "--kill-on-bad-exit=0",
          "--wait=10",  // seconds, from the end of the first rank
          "--distribution=block",
          "--nodes=" + std::to_string(hosts.size()),
          "--ntasks=" + std::to_string(ranks),
          "--ntasks-per-node=" + std::to_string(most),
          "--nodelist=" + names};
}

}  // namespace weft::launch
