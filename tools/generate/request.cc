#include "tools/generate/request.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <variant>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace weft::generate {
namespace {

constexpr char kHelp[] = R"(weft-generate: goes on with text, as a trained model would

usage: weft generate JOB [key.path=value ...] --init PATH [prompt] [flags]

Compiles a causal function of JOB, one whose input is `tokens` and whose output are logits, in two plans that share
parameters and caches of keys and values: one takes the prompt, in pieces, and one goes on token by token. Any layout
will do: dist.tensor=2, dist.data=2, dist.pipeline=2. All ranks run in this process; started by mpirun it runs one of them.
The caches are as long as the model's sequence, so prompt and answer have to fit it.

prompt, one of
  --prompt TEXT          one text; the answer is printed as it comes
  --prompts FILE         a text a line; all are answered together, with an object of JSON a line
  --prompt-ids N,N,...   tokens, or several lists of them with a ; between; the answer is tokens, with no need of a tokenizer

answer
  --tokens N             so many tokens, or up to the end token; 64 by default
  --temperature T        0, the default: always the likeliest token; else tokens are drawn by the softmax of logits / T
  --top-k K              draw from the K likeliest alone; 0, the default: from all
  --top-p P              draw from the fewest likeliest that together have the probability P; 1 by default
  --seed N               of what is drawn; the job's by default. The same seed draws the same in every layout
  --end N                the token that ends an answer; none: nothing does. By default what config.json in --init says

model
  --init PATH            parameters, as weft run takes them: a checkpoint, a folder of them, a folder of Hugging Face, a file
                         of safetensors
  --checkpoint-dir DIR   the newest checkpoint in there: the same as --init DIR
  --rename FROM=TO       as weft run has it
  --graph NAME           the function; by default the job's graph with `logits` in the place of `train`: logits, logits_tied
  --tokenizer FILE       tokenizer.json of Hugging Face's package `tokenizers`, which python3 must have; by default the one in
                         --init. A model of 256 tokens needs none: bytes are tokens
  --chunk N              tokens of a prompt that are taken at a time, at most; 128 by default

  --metrics FILE         a JSON object: tokens, first_token_s, tokens_per_s, cache_bytes
  --threads N            threads a rank may use for a kernel; the cores shared by the ranks by default
  --hang-seconds N, --lost-seconds N, --cuda-libs FOLDER, --algorithm-cache FILE
                         as weft run has them
  --quiet                the answer alone
  --version              what this program was built from
  --help                 this text

examples
  weft generate models/gpt2/small.job --init runs/small --prompt "In the beginning"
  weft generate gpt2.job --init gpt2 --prompt "Once upon a time" --temperature 0.8 --top-p 0.95
  weft generate gpt2.job dist.data=2 dist.tensor=2 --init gpt2 --prompts questions.txt --tokens 32

exit status: 0 done, 1 the work failed, 2 the request was wrong (flag, job, prompt or parameters)
)";

using Text = std::string;
struct Flag {
  const char* name;
  std::variant<bool*, Text*, int64_t*, double*, std::optional<Text>*, std::vector<Text>*> part;
};

std::vector<Flag> FlagsOf(Request& request, std::optional<Text>& seed) {
  return {
      {"--prompt", &request.prompt},
      {"--prompts", &request.prompts},
      {"--prompt-ids", &request.prompt_ids},
      {"--tokens", &request.tokens},
      {"--temperature", &request.sampling.temperature},
      {"--top-k", &request.sampling.top_k},
      {"--top-p", &request.sampling.top_p},
      {"--seed", &seed},
      {"--end", &request.end},
      {"--init", &request.run.init},
      {"--checkpoint-dir", &request.run.checkpoint_dir},
      {"--rename", &request.run.renames},
      {"--graph", &request.graph},
      {"--tokenizer", &request.tokenizer},
      {"--chunk", &request.chunk},
      {"--metrics", &request.metrics},
      {"--threads", &request.run.threads},
      {"--hang-seconds", &request.run.hang_seconds},
      {"--lost-seconds", &request.run.lost_seconds},
      {"--cuda-libs", &request.run.cuda_libs},
      {"--algorithm-cache", &request.run.algorithm_cache},
      {"--quiet", &request.run.quiet},
      {"--version", &request.version},
      {"--help", &request.help},
  };
}

absl::Status Wrong(const Text& flag, const Text& what) {
  return absl::InvalidArgumentError(absl::StrCat(flag, ": ", what, " (see --help)"));
}

// Puts a flag's value into its part; what was expected, if it is not of its type.
struct Set {
  const Text& value;
  const char* operator()(bool*) const { return "no value"; }
  const char* operator()(Text* part) const {
    *part = value;
    return value.empty() ? "a value" : nullptr;
  }
  const char* operator()(std::optional<Text>* part) const {
    *part = value;
    return nullptr;
  }
  const char* operator()(std::vector<Text>* part) const {
    part->push_back(value);
    return nullptr;
  }
  const char* operator()(int64_t* part) const {
    return absl::SimpleAtoi(value, part) && *part >= 0 ? nullptr : "a whole number of at least 0";
  }
  const char* operator()(double* part) const {
    return absl::SimpleAtod(value, part) && std::isfinite(*part) && *part >= 0 ? nullptr : "a number of at least 0";
  }
};

absl::Status Check(Request& request) {
  const int prompts = request.prompt.has_value() + !request.prompts.empty() + !request.prompt_ids.empty();
  if (prompts != 1) {
    return Wrong("--prompt", absl::StrCat("expected one of --prompt, --prompts and --prompt-ids, got ",
                                          prompts == 0 ? "none" : "several"));
  }
  if (request.run.init.empty() == request.run.checkpoint_dir.empty()) {
    return Wrong("--init",
                 absl::StrCat("expected it or --checkpoint-dir, got ", request.run.init.empty() ? "neither" : "both"));
  }
  if (request.tokens == 0) return Wrong("--tokens", "expected at least 1, got 0");
  if (request.chunk == 0) return Wrong("--chunk", "expected at least 1, got 0");
  if (request.sampling.top_p > 1)
    return Wrong("--top-p", absl::StrCat("expected at most 1, got ", request.sampling.top_p));
  if (request.sampling.temperature == 0 && (request.sampling.top_k > 0 || request.sampling.top_p < 1)) {
    return Wrong("--temperature",
                 "expected one above 0 beside --top-k and --top-p, got 0, with which nothing is drawn");
  }
  if (request.run.init.empty()) request.run.init = std::exchange(request.run.checkpoint_dir, "");
  return absl::OkStatus();
}

}  // namespace

const char* HelpText() { return kHelp; }

std::vector<std::pair<std::string, std::string>> SharedOptions(const std::vector<std::string>& arguments) {
  return {{"arguments", absl::StrJoin(arguments, " ")}};
}

absl::StatusOr<Request> ParseRequest(const std::vector<std::string>& arguments) {
  Request request;
  std::optional<Text> seed;
  const std::vector<Flag> flags = FlagsOf(request, seed);
  std::vector<Text> given;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Text& argument = arguments[i];
    if (argument.empty() || argument[0] != '-') {
      if (request.job.empty()) {
        request.job = argument;
      } else if (argument.find('=') != Text::npos) {
        request.overrides.push_back(argument);
      } else {
        return Wrong(argument, "expected key.path=value behind the job");
      }
      continue;
    }
    const size_t equals = argument.find('=');
    const Text name = argument == "-h" ? "--help" : argument.substr(0, equals);
    const auto flag = std::find_if(flags.begin(), flags.end(), [&](const Flag& flag) { return flag.name == name; });
    if (flag == flags.end()) return Wrong(name, "no such flag");
    if (auto* const* on = std::get_if<bool*>(&flag->part)) {
      if (equals != Text::npos) return Wrong(name, "expected no value");
      **on = true;
      continue;
    }
    if (equals == Text::npos && i + 1 == arguments.size()) return Wrong(name, "expected a value, got none");
    const Text value = equals == Text::npos ? arguments[++i] : argument.substr(equals + 1);
    const char* expected = std::visit(Set{value}, flag->part);
    if (expected != nullptr) return Wrong(name, absl::StrCat("expected ", expected, ", got `", value, "`"));
    if (std::holds_alternative<std::vector<Text>*>(flag->part)) continue;  // may come again
    if (std::find(given.begin(), given.end(), name) != given.end()) return Wrong(name, "expected once, got it twice");
    given.push_back(name);
  }
  if (request.help || request.version) return request;
  if (request.job.empty()) return absl::InvalidArgumentError("expected a job (see --help)");
  if (seed.has_value()) {
    uint64_t number = 0;
    if (!absl::SimpleAtoi(*seed, &number))
      return Wrong("--seed", absl::StrCat("expected a whole number of at least 0, got `", *seed, "`"));
    request.run.seed = number;
  }
  if (absl::Status status = Check(request); !status.ok()) return status;
  return request;
}

}  // namespace weft::generate
