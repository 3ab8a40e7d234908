#include "tools/run/replicas.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "runtime/checkpoint/checksum.h"
#include "runtime/checkpoint/host_and_time.h"
#include "tools/run/kept_state.h"

namespace weft::run {
namespace {

using executor::StateTile;

// Of a tile, as it is sent.
struct Word {
  uint64_t place = 0;  // a checksum of which tile of which tensor it is
  uint64_t bits = 0;   // of what is in it
  int64_t rank = 0;
};

uint64_t PlaceOf(const StateTile& tile) {
  const std::string text = absl::StrCat(tile.name, "\n", tile.spec.ToString());
  return checkpoint::Checksum(1, 0, text.data(), static_cast<int64_t>(text.size()));
}

absl::StatusOr<std::vector<Word>> WordsOf(executor::Cluster& cluster) {
  std::vector<std::vector<Word>> by_rank(cluster.size());
  const absl::Status read = OnEveryRank(cluster, [&](int i, executor::Executor& executor) {
    for (const StateTile& tile : executor.state()) {
      const absl::Status status = executor.SaveTile(tile, [&](const void* bytes) {
        const uint64_t bits = checkpoint::Checksum(SizeOf(tile.spec.dtype), 0, bytes, tile.spec.elements());
        by_rank[i].push_back({PlaceOf(tile), bits, executor.rank()});
        return absl::OkStatus();
      });
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  });
  if (!read.ok()) return read;
  std::vector<Word> words;
  for (const auto& of_rank : by_rank) words.insert(words.end(), of_rank.begin(), of_rank.end());
  return words;
}

// Of a place at which there are several checksums: the ranks that are fewer, and the others.
struct Difference {
  std::vector<int64_t> odd, others;
};

Difference DifferenceOf(const std::vector<Word>& words) {
  std::map<uint64_t, int> count;
  for (const Word& word : words) ++count[word.bits];
  uint64_t usual = words[0].bits;  // of as many that of the lowest rank
  for (const Word& word : words) {
    if (count[word.bits] > count[usual]) usual = word.bits;
  }
  Difference difference;
  for (const Word& word : words) (word.bits == usual ? difference.others : difference.odd).push_back(word.rank);
  return difference;
}

std::string ListOf(const std::vector<std::string>& words) {
  if (words.size() == 1) return words[0];
  return absl::StrCat(absl::StrJoin(words.begin(), words.end() - 1, ", "), " and ", words.back());
}

// "rank 3 (host b) has other bits than ranks 0, 1 and 2".
std::string TextOf(const Difference& difference, const std::map<int64_t, std::string>& hosts) {
  std::vector<std::string> odd, others;
  for (const int64_t rank : difference.odd) odd.push_back(absl::StrCat(rank, " (host ", hosts.at(rank), ")"));
  for (const int64_t rank : difference.others) others.push_back(absl::StrCat(rank));
  return absl::StrCat(odd.size() == 1 ? "rank " : "ranks ", ListOf(odd), odd.size() == 1 ? " has" : " have",
                      " other bits than ", others.size() == 1 ? "rank " : "ranks ", ListOf(others));
}

// The tensors that have these places, and one of its places each: whoever holds a tile knows its name.
absl::StatusOr<std::map<std::string, uint64_t>> NamesOf(const std::map<uint64_t, Difference>& places,
                                                        executor::Cluster& cluster, Processes& processes) {
  std::string own;
  for (int i = 0; i < cluster.size(); ++i) {
    for (const StateTile& tile : cluster.executor(i).state()) {
      if (const uint64_t place = PlaceOf(tile); places.count(place) > 0)
        absl::StrAppend(&own, place, " ", tile.name, "\n");
    }
  }
  const auto all = processes.AllGather(own);
  if (!all.ok()) return all.status();
  std::map<std::string, uint64_t> names;
  for (const std::string& text : *all) {
    for (const absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
      const size_t blank = line.find(' ');
      uint64_t place = 0;
      if (absl::SimpleAtoi(line.substr(0, blank), &place)) names.emplace(line.substr(blank + 1), place);
    }
  }
  return names;
}

}  // namespace

absl::StatusOr<Replicas> CompareReplicas(executor::Cluster& cluster, Processes& processes) {
  absl::StatusOr<std::vector<Word>> own = WordsOf(cluster);
  if (absl::Status status = processes.Agree(own.status()); !status.ok()) return status;
  std::string sent(own->size() * sizeof(Word), '\0');
  if (!own->empty()) std::memcpy(sent.data(), own->data(), sent.size());
  const auto gathered = processes.AllGather(absl::StrCat(checkpoint::HostName(), "\n", sent));
  if (!gathered.ok()) return gathered.status();
  std::map<uint64_t, std::vector<Word>> places;
  std::map<int64_t, std::string> hosts;
  for (const std::string& text : *gathered) {
    const size_t end_of_host = text.find('\n');
    std::vector<Word> words((text.size() - end_of_host - 1) / sizeof(Word));
    if (!words.empty()) std::memcpy(words.data(), text.data() + end_of_host + 1, words.size() * sizeof(Word));
    for (const Word& word : words) {
      places[word.place].push_back(word);
      hosts[word.rank] = text.substr(0, end_of_host);
    }
  }
  Replicas replicas;
  std::map<uint64_t, Difference> differences;
  for (auto& [place, words] : places) {
    std::sort(words.begin(), words.end(), [](const Word& a, const Word& b) { return a.rank < b.rank; });
    if (words.size() > 1) replicas.tiles += static_cast<int64_t>(words.size());
    Difference difference = DifferenceOf(words);
    if (!difference.odd.empty()) differences.emplace(place, std::move(difference));
  }
  if (differences.empty()) return replicas;
  const auto names = NamesOf(differences, cluster, processes);
  if (!names.ok()) return names.status();
  const auto& [name, place] = *names->begin();
  replicas.difference = absl::StrCat("`", name, "`: ", TextOf(differences.at(place), hosts));
  if (const size_t more = names->size() - 1; more > 0) {
    absl::StrAppend(&replicas.difference, "; ", more, " more tensor", more == 1 ? " differs" : "s differ");
  }
  return replicas;
}

}  // namespace weft::run
