#include "tools/launch/request.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "tools/launch/slurm.h"

namespace weft::launch {

const char kHelp[] = R"(weft launch: runs a plan on this machine or several, a process for every rank

usage: weft launch -n N [--] PLAN [flags of weft run]
       weft launch -n N [--] generate JOB [key.path=value ...] [flags of weft generate]

  -n N       how many processes: as many as the plan has ranks
  --hosts NAME:RANKS,...
             the hosts to run on, and how many ranks each takes; this machine is the first of them. The first hosts
             that have room for all ranks are used, the others are spare
  --shell COMMAND
             how a command is run on another host: COMMAND HOST WORDS...; ssh by default
  --slurm    in a batch script of Slurm: the hosts are the nodes of the allocation, each with as many ranks as it has
             tasks, and srun starts the ranks; see docs/howto/run_on_slurm.md
  --restarts N
             when a rank is lost, the run begins again from its newest whole snapshot (--snapshot-every of weft run)
             or checkpoint, at most N times; needs --checkpoint-dir among the flags of weft run. When it does not, what
             is left of snapshots in the memory of hosts is removed
  --restarts-per-hour K
             and at most K times within an hour; 6 by default
  --fewer RANKS:PLAN
             a plan of the same model for fewer ranks. With several hosts and --restarts: one that is lost is left out
             when the run begins again, on spare ones; where those are not enough, with the plan for the most ranks
             that fit. May be given again
  --ask-every S
             how often, in seconds, a host that was left out is asked whether it is back; 60 by default, 0: never. When
             it has answered twice, it is a spare one; or, where more ranks fit with it, the run ends after its step,
             with a checkpoint, and begins again with it, which is one of the restarts
  --stand-in the same line on another host, with this flag: it waits, and should the launch be lost, or the host on which
             it runs, it takes its place. With --hosts and --restarts. It ends with status 0 when the run has ended
  --show     print the command that would be run, and end
  --version  what this program was built from
  --help     this text

It runs `mpirun -n N weft-run PLAN ...` with what mpirun wants on one machine; see
docs/howto/run_on_several_machines.md for more than one. SIGTERM ends the run
after its step, with a checkpoint and status 0; an interrupt (Ctrl-C) does the same
with status 1. A second one ends it at once, and so does a second SIGTERM two seconds later.
With `generate` it is weft-generate that is run; one rank prints the answers, and any of these signals ends all at once.

examples
  weft launch -n 2 gpt2.plan --data corpus.txt --steps 200
  weft launch -n 2 --restarts 20 gpt2.plan --data corpus.txt --checkpoint-dir runs --checkpoint-every 5m
  weft launch -n 16 --hosts node01:8,node02:8,node03:8 --restarts 5 --fewer 8:half.plan gpt2.plan \
      --data corpus.txt --checkpoint-dir /shared/runs --checkpoint-every 1h --snapshot-every 1m
  weft launch -n 2 generate gpt2.job dist.tensor=2 --init gpt2 --prompt "Once upon a time"

exit status: that of weft-run or weft-generate; 1 if mpirun is missing or cannot be used; 2 for a wrong request
)";

namespace {

// The word in the place of a plan that asks for weft-generate.
constexpr char kGenerate[] = "generate";

// Reads a number from `least` on; false for anything else.
bool ReadNumber(const std::string& text, int least, int most, int& number) {
  char* end = nullptr;
  const long value = std::strtol(text.c_str(), &end, 10);
  if (text.empty() || *end != '\0' || value < least || value > most) return false;
  number = static_cast<int>(value);
  return true;
}

// The nodes of Slurm's allocation, which gives none back that it has lost. What is wrong, or "".
std::string TakeAllocation(const std::string& shell, Request& request) {
  if (!request.hosts.empty()) return "--slurm: expected without --hosts, as the hosts are those of the allocation";
  if (!shell.empty()) return "--slurm: expected without --shell, as srun runs what runs on other hosts";
  request.shell = {kSrunOnNode, false};
  request.ask_s = 0;
  const std::string wrong = ReadAllocation(request.hosts);
  return wrong.empty() ? "" : "--slurm: " + wrong;
}

// What is wrong with the hosts of a request, or "".
std::string WrongOfHosts(const Request& request) {
  if (const int slots = Hosts(request.hosts).slots(); slots > 0 && slots < request.processes)
    return std::string(request.slurm ? "--slurm" : "--hosts") + ": expected room for " +
           std::to_string(request.processes) + " ranks, got " + std::to_string(slots);
  if (request.stands_in && (request.hosts.empty() || request.slurm || request.restarts == 0))
    return "--stand-in: expected with --hosts and --restarts";
  if (request.fewer.empty()) return "";
  if (request.hosts.empty() || request.restarts == 0)
    return "--fewer: expected with --restarts, and with --hosts or --slurm";
  if (request.run[0][0] == '-') return "--fewer: expected the plan in front of the flags of weft run";
  for (const PlanOfRanks& plan : request.fewer) {
    if (plan.ranks >= request.processes)
      return "--fewer: expected fewer than " + std::to_string(request.processes) + " ranks, got " +
             std::to_string(plan.ranks) + " (" + plan.plan + ")";
    if (access(plan.plan.c_str(), R_OK) != 0) return "--fewer: " + plan.plan + ": " + std::strerror(errno);
  }
  return "";
}

}  // namespace

bool Has(const std::vector<std::string>& run, const std::string& flag) {
  return std::any_of(run.begin(), run.end(), [&](const std::string& argument) {
    return argument == flag || argument.compare(0, flag.size() + 1, flag + "=") == 0;
  });
}

Request Parse(const std::vector<std::string>& arguments) {
  Request request;
  std::string shell;
  size_t i = 0;
  for (; i < arguments.size() && !arguments[i].empty() && arguments[i][0] == '-' && arguments[i] != "--"; ++i) {
    const std::string& flag = arguments[i];
    if (flag == "--help" || flag == "-h") {
      request.help = true;
    } else if (flag == "--version") {
      request.version = true;
    } else if (flag == "--stand-in") {
      request.stands_in = true;
    } else if (flag == "--show") {
      request.show = true;
    } else if (flag == "-n" && i + 1 < arguments.size()) {
      const std::string& value = arguments[++i];
      if (!ReadNumber(value, 1, 65536, request.processes))
        request.wrong = "-n: expected how many processes, got `" + value + "`";
    } else if ((flag == "--restarts" || flag == "--restarts-per-hour") && i + 1 < arguments.size()) {
      const std::string& value = arguments[++i];
      if (!ReadNumber(value, 0, 1'000'000'000, flag == "--restarts" ? request.restarts : request.restarts_an_hour))
        request.wrong = flag + ": expected a whole number of at least 0, got `" + value + "`";
    } else if (flag == "--ask-every" && i + 1 < arguments.size()) {
      const std::string& value = arguments[++i];
      if (!ReadNumber(value, 0, 1'000'000, request.ask_s))
        request.wrong = flag + ": expected seconds, a whole number of at least 0, got `" + value + "`";
    } else if (flag == "--hosts" && i + 1 < arguments.size()) {
      const std::string wrong = ReadHosts(arguments[++i], request.hosts);
      if (!wrong.empty()) request.wrong = "--hosts: " + wrong;
    } else if (flag == "--fewer" && i + 1 < arguments.size()) {
      const std::string wrong = ReadPlanOfRanks(arguments[++i], request.fewer.emplace_back());
      if (!wrong.empty()) request.wrong = "--fewer: " + wrong;
    } else if (flag == "--shell" && i + 1 < arguments.size()) {
      shell = arguments[++i];
    } else if (flag == "--slurm") {
      request.slurm = true;
    } else {
      request.wrong = flag + ": expected -n N, then a plan and the flags of weft run (see --help)";
    }
    if (!request.wrong.empty() || request.help || request.version) return request;
  }
  if (i < arguments.size() && arguments[i] == "--") ++i;
  const bool generates = i < arguments.size() && arguments[i] == kGenerate;
  if (generates) ++i;
  if (generates) request.program = "weft-generate";
  request.run.assign(arguments.begin() + i, arguments.end());
  if (request.processes == 0) {
    request.wrong = "expected -n N, as many processes as the plan has ranks (see --help)";
  } else if (request.run.empty()) {
    request.wrong = generates ? "expected a job behind generate (see --help)" : "expected a plan (see --help)";
  } else if (request.restarts > 0 && generates) {
    request.wrong = "--restarts: expected a plan, as a run begins again from a checkpoint of its own, got generate";
  } else if (request.restarts > 0 && !Has(request.run, "--checkpoint-dir")) {
    request.wrong =
        "--restarts: expected --checkpoint-dir among the flags of weft run, as a run begins again from there";
  } else if (request.slurm) {
    request.wrong = TakeAllocation(shell, request);
  } else if (!shell.empty()) {
    if (request.hosts.empty()) request.wrong = "--shell: expected with --hosts";
    request.shell.words = shell;
  }
  if (request.wrong.empty()) request.wrong = WrongOfHosts(request);
  return request;
}

}  // namespace weft::launch
