// What the command line of weft-generate asks for.
#ifndef WEFT_TOOLS_GENERATE_REQUEST_H_
#define WEFT_TOOLS_GENERATE_REQUEST_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/generate/sampler.h"
#include "tools/run/request.h"

namespace weft::generate {

struct Request {
  std::string job;
  std::vector<std::string> overrides;  // key.path=value
  std::string graph;                   // "": see GraphOf
  // What is gone on with: one of these.
  std::optional<std::string> prompt;
  std::string prompts;     // a file, a prompt a line
  std::string prompt_ids;  // "1,2,3", or several by ";"
  std::string tokenizer;
  int64_t tokens = 64;
  std::string end;      // a number, "none", or "": as the model's files say
  int64_t chunk = 128;  // of the prompt, at a time
  Sampling sampling;
  std::string metrics;
  run::Request run;  // the flags that weft-run has too
  bool help = false, version = false;
};

// kInvalidArgument names the flag at fault.
absl::StatusOr<Request> ParseRequest(const std::vector<std::string>& arguments);

// What all processes must be asked for alike.
std::vector<std::pair<std::string, std::string>> SharedOptions(const std::vector<std::string>& arguments);

const char* HelpText();

}  // namespace weft::generate

#endif  // WEFT_TOOLS_GENERATE_REQUEST_H_
