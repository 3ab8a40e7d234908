// weft-run: a plan in, training or the value of a function out.
#include <csignal>
#include <cstdio>
#include <string>
#include <vector>

#include "tools/run/run.h"

int main(int argc, char** argv) {
  // A file size limit is an error of a write, not the end of the process.
  std::signal(SIGXFSZ, SIG_IGN);
  return weft::run::Run(std::vector<std::string>(argv + 1, argv + argc), stdout, stderr);
}
