#include "tools/bench/sweep_list.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace weft::tools {
namespace {

constexpr double kGiB = 1 << 30;

}  // namespace

void Print(const std::vector<Found>& list) {
  for (const Found& found : list) {
    std::printf("%.3f\t%.2f\t%s\n", 1e3 * found.step_s, found.bytes / kGiB, found.keys.c_str());
  }
}

absl::StatusOr<std::vector<Found>> ListOf(const std::string& path, size_t every) {
  std::ifstream file(path);
  if (!file) return absl::NotFoundError(absl::StrCat(path, ": cannot be read"));
  std::vector<Found> list;
  size_t number = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#' || number++ % every != 0) continue;
    const std::vector<std::string> fields = absl::StrSplit(line, '\t');
    if (fields.size() != 3)
      return absl::InvalidArgumentError(
          absl::StrCat(path, ": expected milliseconds, GiB and keys with tabs between, got ", line));
    list.push_back(
        {1e-3 * std::strtod(fields[0].c_str(), nullptr), kGiB * std::strtod(fields[1].c_str(), nullptr), fields[2]});
  }
  return list;
}

void SayErrors(const char* what, std::vector<double> errors) {
  if (errors.empty()) return;
  std::sort(errors.begin(), errors.end());
  const auto at = [&](double part) { return 100 * errors[static_cast<size_t>(part * double(errors.size() - 1))]; };
  const auto within = [&](double most) {
    return std::count_if(errors.begin(), errors.end(), [&](double error) { return std::abs(error) <= most; });
  };
  std::fprintf(stderr,
               "%s of %zu: off by %+.2f %% (least), %+.2f %% (a tenth), %+.2f %% (middle), %+.2f %% (nine tenths), "
               "%+.2f %% (most); %td within 1 %%, %td within 5 %%\n",
               what, errors.size(), at(0), at(0.1), at(0.5), at(0.9), at(1), within(0.01), within(0.05));
}

}  // namespace weft::tools
