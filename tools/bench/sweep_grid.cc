// What an exhaustive search of a grid of layouts finds: see kHelp.
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "tools/bench/sweep_search.h"

namespace {

constexpr char kHelp[] = R"(sweep: the best layouts of a grid, each compiled as a whole

usage: sweep JOB LAYERS [KEY=VALUE ...] [--best N] [--beside FILE] [--part I/N] [--check N]    the grid
       sweep JOB LAYERS [KEY=VALUE ...] --whole FILE [--every N]                               the layouts of a list

The grid: data x context x tensor x pipeline = all ranks of the job's cluster, with context, tensor and pipeline up to 16,
and context only where the model uses it; every power of two as the sequences that a data rank has of a micro-batch; ZeRO 0
to 3, the last three over all data ranks and over those of a node; for pipelines 1F1B, GPIPE, both forms of the zero bubble,
and INTERLEAVED with 2, 3, 4, 6 and 8 chunks a stage, no more than LAYERS in all; of the recompute policies NONE, SELECTIVE
and FULL the first that fits. Stages are cut as they are without pipeline.cuts, parameters lie as the model says.

A layout is compiled without offsets and simulated: with few layers (two a stage, or one a chunk if that is more), with twice
as many, and with all LAYERS, until it is dropped; at once with all LAYERS where few are a third of them. The limit is the
last of the best so far. A layout is dropped where it takes longer than the limit
  - with few layers and nothing recomputed, as more layers, or recomputing, never take less time;
  - with all layers, and recomputing no more than fits.
By a heuristic it is dropped where this, with nothing recomputed, is over the limit by a fifth:
  - what its mesh costs: one more micro-batch on the ranks of one stage, on the line through two and four layers at LAYERS,
    times the micro-batches, over the stages, and the idle part of its schedule (docs/howto/choose_a_schedule.md);
  - what its schedule costs: ZeRO 1 with it, as far as that was looked at;
  - what it costs itself, on the line through few layers and twice as many at LAYERS; over the limit by a twentieth is
    enough where ZeRO 1 with the same mesh and schedule says how far off its line is, and this one is corrected by that.

  --best N       how many are printed: 100 if absent
  --beside FILE  begins with a list, as this or --whole printed it: the limit is there at once, and nothing is compiled twice
  --part I/N     every N-th of the meshes with a micro-batch, from the I-th, which begins with 0
  --check N      compiles every N-th that a heuristic drops as a whole all the same, and says what the fastest takes
  --whole FILE   compiles each layout of a list with all layers, and says how far off the list was
  --every N      every N-th of the list alone

Standard output has the best, the fastest first: step in ms, GiB a rank, keys. Standard error says the rest, drops and how
far lines were off among it. ^C ends it with what it has.
)";

std::atomic<bool> stopped{false};

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> words;
  std::map<std::string, std::string> flags = {{"--best", "100"}, {"--beside", ""}, {"--part", "0/1"},
                                              {"--check", "0"},  {"--whole", ""},  {"--every", "1"}};
  for (int i = 1; i < argc; ++i) {
    const auto flag = flags.find(argv[i]);
    if (flag != flags.end() && i + 1 < argc) {
      flag->second = argv[++i];
    } else {
      words.emplace_back(argv[i]);
    }
  }
  const auto number = [](const std::string& text) { return std::strtoll(text.c_str(), nullptr, 10); };
  const std::vector<std::string> part = absl::StrSplit(flags["--part"], '/');
  const int64_t layers = words.size() < 2 ? 0 : number(words[1]);
  const int64_t every = number(flags["--every"]), best = number(flags["--best"]), check = number(flags["--check"]);
  const int64_t index = number(part[0]), parts = part.size() == 2 ? number(part[1]) : 0;
  if (layers < 4 || every < 1 || best < 1 || check < 0 || index < 0 || index >= parts) {
    std::fputs(kHelp, stderr);
    return 2;
  }
  std::signal(SIGINT, [](int) { stopped = true; });
  weft::tools::Sweep sweep(words[0], {words.begin() + 2, words.end()}, layers,
                           {static_cast<size_t>(best), static_cast<size_t>(index), static_cast<size_t>(parts),
                            static_cast<size_t>(check), flags["--beside"]},
                           stopped);
  const std::string& whole = flags["--whole"];
  return (whole.empty() ? sweep.Run() : sweep.RunWhole(whole, static_cast<size_t>(every))) ? 0 : 1;
}
