// weft-generate: a job, parameters and prompts in, text out.
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <string>
#include <vector>

#include "tools/generate/generate.h"

int main(int argc, char** argv) {
  // A file size limit is an error of a write, not the end of the process.
  std::signal(SIGXFSZ, SIG_IGN);
  const int status = weft::generate::Generate(std::vector<std::string>(argv + 1, argv + argc), stdout, stderr);
  std::fflush(nullptr);
  // After a failure nothing that a library has left to do may hang.
  if (status != 0) _exit(status);
  return 0;
}
