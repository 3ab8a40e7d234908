// weft-launch: the ranks of a plan as processes of this machine, or of several,
// for people without an MPI habit. Finds weft-run, or weft-generate, and mpirun,
// and stays between them and whoever sends signals.
#include <unistd.h>

#include <climits>
#include <cstdio>
#include <string>
#include <vector>

#include "runtime/version/version.h"
#include "tools/launch/attendant.h"
#include "tools/launch/request.h"
#include "tools/launch/supervisor.h"

namespace weft::launch {
namespace {

// A program that lies beside this one, or where a build puts it; empty if not.
std::string Find(const std::string& program) {
  char path[PATH_MAX];
  const ssize_t size = readlink("/proc/self/exe", path, sizeof path);
  if (size <= 0 || size == static_cast<ssize_t>(sizeof path)) return "";
  const std::string self(path, size), folder = self.substr(0, self.rfind('/') + 1);
  const std::string built = folder + "../" + program.substr(program.find('-') + 1) + "/";
  for (const std::string& place : {folder, built}) {
    if (access((place + program).c_str(), X_OK) == 0) return place + program;
  }
  return "";
}

// What `mpirun --version` says; empty if there is none.
std::string MpirunVersion() {
  std::FILE* pipe = popen("mpirun --version 2>/dev/null", "re");
  if (pipe == nullptr) return "";
  char text[256] = "";
  const size_t size = fread(text, 1, sizeof(text) - 1, pipe);
  pclose(pipe);
  return std::string(text, size);
}

int Run(const std::vector<std::string>& arguments) {
  const Request request = Parse(arguments);
  if (request.help) {
    std::fputs(kHelp, stdout);
    return 0;
  }
  if (request.version) {
    std::fputs(VersionText("weft-launch").c_str(), stdout);
    return 0;
  }
  if (!request.wrong.empty()) return Fail(2, request.wrong);
  SetHasSteps(request.program == "weft-run");
  const std::string run = Find(request.program);
  if (run.empty()) return Fail(1, request.program + ": expected beside weft-launch, found none");
  if (request.show) {
    const std::vector<std::string> command = CommandOf(request, run);
    for (const std::string& argument : command)
      std::printf("%s%s", &argument == &command.front() ? "" : " ", argument.c_str());
    std::printf("\n");
    return 0;
  }
  if (request.slurm) return Supervise(request, run);
  const std::string version = MpirunVersion();
  if (version.empty()) {
    return Fail(1,
                "mpirun: expected in PATH, found none: install Open MPI (openmpi-bin, as tools/setup does), "
                "or run all ranks in one process with weft run");
  }
  if (version.find("Open MPI") == std::string::npos) {
    return Fail(1, "mpirun: expected that of Open MPI, got another; with its own flags it runs " + request.program +
                       " as well");
  }
  return Supervise(request, run);
}

}  // namespace
}  // namespace weft::launch

int main(int argc, char** argv) { return weft::launch::Run(std::vector<std::string>(argv + 1, argv + argc)); }
