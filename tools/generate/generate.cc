// One program on all processes; the first one has the tokenizer and shows the answers:
//
//   prompts ─ tokenizer ─▶ Sequences ─ Feed ─▶ plan of a chunk ┐ same arenas: parameters,
//                            ▲   └──── Feed ─▶ plan of a token ┘ caches of keys and values
//                            └─ Choices ◀─ logits ─┘
#include "tools/generate/generate.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "ops/abi/status_macros.h"
#include "runtime/checkpoint/file.h"
#include "runtime/collective/mpi/launch.h"
#include "runtime/executor/cluster.h"
#include "runtime/plan/load.h"
#include "runtime/plan/names.h"
#include "runtime/version/version.h"
#include "tools/generate/answers.h"
#include "tools/generate/feed.h"
#include "tools/generate/plans.h"
#include "tools/generate/request.h"
#include "tools/generate/text.h"
#include "tools/hugging_face/folder.h"
#include "tools/run/cluster.h"
#include "tools/run/ending.h"
#include "tools/run/init.h"
#include "tools/run/inputs.h"
#include "tools/run/target.h"

namespace weft::generate {
namespace {

using run::Context;
using run::Processes;

constexpr int64_t kMostPromptBytes = int64_t{1} << 26;
// A vocabulary may be rounded up, as 50,257 to 50,304.
constexpr int64_t kMostBeyond = 1024;

double Now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

struct Prompts {
  std::vector<std::string> texts;            // without --prompt-ids
  std::vector<std::vector<int32_t>> tokens;  // with them; or once the texts are tokens
  size_t size() const { return std::max(texts.size(), tokens.size()); }
};

absl::StatusOr<Prompts> ReadPrompts(const Request& request) {
  Prompts prompts;
  if (request.prompt.has_value()) prompts.texts = {*request.prompt};
  if (!request.prompts.empty()) {
    WEFT_ASSIGN_OR_RETURN(std::string text, checkpoint::ReadText(request.prompts, kMostPromptBytes));
    if (!text.empty() && text.back() == '\n') text.pop_back();
    prompts.texts = absl::StrSplit(text, '\n');
  }
  if (request.prompt_ids.empty()) return prompts;
  for (absl::string_view list : absl::StrSplit(request.prompt_ids, ';')) {
    std::vector<int32_t>& tokens = prompts.tokens.emplace_back();
    for (absl::string_view text : absl::StrSplit(list, ',')) {
      int32_t& token = tokens.emplace_back();
      if (absl::SimpleAtoi(text, &token) && token >= 0) continue;
      return absl::InvalidArgumentError(
          absl::StrCat("--prompt-ids: expected whole numbers of at least 0 with a comma between, got `", text, "`"));
    }
  }
  return prompts;
}

// All that a generation works with, until it runs.
class Generation {
 public:
  Generation(const Request& request, Processes& processes, run::Ending& ending, std::FILE* out, std::FILE* err)
      : request_(request), processes_(processes), ending_(ending), out_(out), err_(err) {}

  absl::Status Run() {
    absl::StatusOr<Prompts> prompts = ReadPrompts(request_);
    WEFT_RETURN_IF_ERROR(processes_.Agree(prompts.status()));
    prompts_ = *std::move(prompts);
    WEFT_RETURN_IF_ERROR(Compile());
    WEFT_RETURN_IF_ERROR(Load());
    WEFT_RETURN_IF_ERROR(processes_.Agree(processes_.first() ? answers_->Start() : absl::OkStatus()));
    WEFT_RETURN_IF_ERROR(Loop());
    return processes_.Agree(processes_.first() ? Report() : absl::OkStatus());
  }

 private:
  // ---- before anything is allocated ----------------------------------------
  absl::Status Compile() {
    const PlanRequest wanted{request_.job, request_.overrides, request_.graph, static_cast<int64_t>(prompts_.size())};
    WEFT_ASSIGN_OR_RETURN(next_, CompilePlan(wanted, 1, processes_));
    const absl::StatusOr<Facts> facts = FactsOf(next_);
    WEFT_RETURN_IF_ERROR(processes_.Agree(facts.status()));
    facts_ = *facts;
    context_.emplace(ContextOf(next_));
    absl::StatusOr<run::InitialParameters> init = run::InitialParameters::Open(*context_);
    if (!init.ok()) return init.status();
    init_.emplace(*std::move(init));
    absl::StatusOr<std::string> tokens = processes_.first() ? Prepare() : std::string();
    WEFT_RETURN_IF_ERROR(processes_.Agree(tokens.status()));
    WEFT_ASSIGN_OR_RETURN(const auto all, processes_.AllGather(*tokens));
    Unpack(all[0]);
    const int64_t longest = Longest();
    if (longest == 1) return absl::OkStatus();
    const int64_t pieces = (longest + request_.chunk - 1) / request_.chunk;
    chunk_ = std::min((longest + pieces - 1) / pieces, facts_.length - 1);
    if (chunk_ == 1) return absl::OkStatus();
    WEFT_ASSIGN_OR_RETURN(first_.emplace(), CompilePlan(wanted, chunk_, processes_));
    return processes_.Agree(executor::CheckSameState(next_, *first_));
  }

  Context ContextOf(const plan::Plan& plan) {
    return {.request = request_.run,
            .plan = plan,
            .kernels = target_->kernels,
            .host_kernels = target_->host_kernels,
            .device = target_->device.get(),
            .communicator = target_->nccl.communicator.get(),
            .processes = processes_,
            .out = out_,
            .err = err_,
            .on_fault = [this](const absl::Status& error) { ending_.Fault(processes_, error); }};
  }

  // On the first process: the tokens of the prompts as text for all, with the end token and how many tokens there are.
  absl::StatusOr<std::string> Prepare() {
    vocabulary_ = facts_.vocabulary;
    if (!prompts_.texts.empty()) {
      WEFT_ASSIGN_OR_RETURN(tokenizer_, TokenizerFor());
      vocabulary_ = tokenizer_->size();
      for (const std::string& text : prompts_.texts) {
        WEFT_ASSIGN_OR_RETURN(std::vector<int32_t> tokens, tokenizer_->Encode(text));
        prompts_.tokens.push_back(std::move(tokens));
      }
    }
    WEFT_ASSIGN_OR_RETURN(end_, EndToken());
    for (size_t i = 0; i < prompts_.tokens.size(); ++i) WEFT_RETURN_IF_ERROR(CheckPrompt(i));
    std::vector<std::string> lists = {absl::StrCat(end_, ",", vocabulary_)};
    for (const std::vector<int32_t>& tokens : prompts_.tokens) lists.push_back(absl::StrJoin(tokens, ","));
    return absl::StrJoin(lists, ";");
  }

  absl::StatusOr<std::unique_ptr<Tokenizer>> TokenizerFor() const {
    const std::string beside = absl::StrCat(checkpoint::Parent(init_->path()), "/tokenizer.json");
    std::error_code none;
    std::string path = request_.tokenizer;
    if (path.empty() && std::filesystem::exists(beside, none)) path = beside;
    if (path.empty() && facts_.vocabulary == 256) return Bytes();
    if (path.empty()) {
      return absl::InvalidArgumentError(absl::StrCat("--tokenizer: expected a tokenizer.json, as the model has ",
                                                     facts_.vocabulary, " tokens and ", beside,
                                                     " is not there, got none"));
    }
    WEFT_ASSIGN_OR_RETURN(std::unique_ptr<Tokenizer> tokenizer, OpenTokenizer(path));
    const int64_t size = tokenizer->size();
    if (size > facts_.vocabulary || facts_.vocabulary - size >= kMostBeyond) {
      return absl::InvalidArgumentError(absl::StrCat(path, ": expected a tokenizer of the model's ", facts_.vocabulary,
                                                     " tokens, or somewhat fewer, got one of ", size));
    }
    return tokenizer;
  }

  // Below 0: none.
  absl::StatusOr<int64_t> EndToken() const {
    if (request_.end == "none") return -1;
    int64_t end = -1;
    if (!request_.end.empty()) {
      if (absl::SimpleAtoi(request_.end, &end) && end >= 0 && end < facts_.vocabulary) return end;
      return absl::InvalidArgumentError(absl::StrCat("--end: expected none or a token from 0 to ",
                                                     facts_.vocabulary - 1, ", got `", request_.end, "`"));
    }
    const auto config = init_->companions().find(hugging_face::kConfigFile);
    if (config == init_->companions().end()) return end;
    WEFT_ASSIGN_OR_RETURN(const hugging_face::Json json,
                          hugging_face::ParseObject(hugging_face::kConfigFile, config->second));
    const auto found = json.find("eos_token_id");
    return found != json.end() && found->is_number_integer() && found->get<int64_t>() < facts_.vocabulary
               ? found->get<int64_t>()
               : end;
  }

  absl::Status CheckPrompt(size_t i) const {
    const std::vector<int32_t>& tokens = prompts_.tokens[i];
    const std::string what = prompts_.size() == 1 ? "prompt: " : absl::StrCat("prompt ", i + 1, ": ");
    if (tokens.empty()) return absl::InvalidArgumentError(absl::StrCat(what, "expected at least 1 token, got none"));
    const int64_t room = facts_.length - request_.tokens;
    if (static_cast<int64_t>(tokens.size()) > room) {
      return absl::InvalidArgumentError(
          absl::StrCat(what, "expected at most ", std::max<int64_t>(room, 0), " tokens, as --tokens ", request_.tokens,
                       " more have to fit caches of ", facts_.length, ", got ", tokens.size()));
    }
    const int32_t largest = *std::max_element(tokens.begin(), tokens.end());
    if (largest < facts_.vocabulary) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat(what, "expected tokens from 0 to ", facts_.vocabulary - 1, ", got ", largest));
  }

  // What the first process has prepared.
  void Unpack(const std::string& text) {
    std::vector<std::vector<int32_t>> lists;
    for (absl::string_view list : absl::StrSplit(text, ';')) {
      std::vector<int32_t>& numbers = lists.emplace_back();
      for (absl::string_view number : absl::StrSplit(list, ',')) {
        if (!absl::SimpleAtoi(number, &numbers.emplace_back())) return;
      }
    }
    end_ = lists[0][0];
    vocabulary_ = lists[0][1];
    prompts_.tokens.assign(lists.begin() + 1, lists.end());
    sequences_.tokens = prompts_.tokens;
    // The batch may be larger than the prompts: what fills it up is not shown.
    sequences_.tokens.resize(static_cast<size_t>(run::InputsOf(next_)[0].shape[0]), {0});
    sequences_.done.assign(sequences_.tokens.size(), 0);
  }

  int64_t Longest() const {
    size_t longest = 0;
    for (const std::vector<int32_t>& tokens : sequences_.tokens) longest = std::max(longest, tokens.size());
    return static_cast<int64_t>(longest);
  }

  // ---- the clusters ---------------------------------------------------------
  absl::Status Load() {
    auto target = run::OpenTarget(next_, request_.run, processes_, [this](const std::string& line) { Tell(line); });
    WEFT_RETURN_IF_ERROR(processes_.Agree(target.status()));
    target_ = *std::move(target);
    Tell(target_->found);
    context_.emplace(ContextOf(next_));
    if (first_.has_value()) first_context_.emplace(ContextOf(*first_));
    feed_ = std::make_unique<Feed>(&sequences_);
    Sampling sampling = request_.sampling;
    sampling.seed = request_.run.seed.value_or(next_.header().job().seed());
    choices_ = std::make_unique<Choices>(&sequences_, sampling, vocabulary_);
    const plan::Plan* const guest = first_.has_value() ? &*first_ : nullptr;
    WEFT_ASSIGN_OR_RETURN(next_cluster_, run::StartCluster(*context_, sampling.seed, feed_.get(), choices_.get(),
                                                           nullptr, init_->loaded(), {.guest = guest}));
    if (guest != nullptr) {
      WEFT_ASSIGN_OR_RETURN(first_cluster_,
                            run::StartCluster(*first_context_, sampling.seed, feed_.get(), choices_.get(), nullptr, {},
                                              {.host = next_cluster_.get()}));
    }
    WEFT_RETURN_IF_ERROR(init_->Load(*context_, *next_cluster_));
    Tell(init_->text());
    Tell(absl::StrCat(next_.header().graph(), ": ", plan::RanksAndMeshText(next_), ", caches of ", facts_.length,
                      " tokens for ", prompts_.size(), prompts_.size() == 1 ? " sequence, " : " sequences, ",
                      plan::BytesText(facts_.cache_bytes)));
    const Form form = prompts_.texts.empty() ? Form::kTokens : request_.prompts.empty() ? Form::kText : Form::kLines;
    shown_.tokens = prompts_.tokens;
    answers_.emplace(form, tokenizer_.get(), &shown_, end_, out_);
    return absl::OkStatus();
  }

  void Tell(const std::string& line) const {
    if (!line.empty() && !request_.run.quiet && processes_.first()) std::fprintf(err_, "%s\n", line.c_str());
  }

  // ---- the run --------------------------------------------------------------
  // A step of a plan, behind which the caches have `chunk` tokens more of each sequence.
  absl::Status Step(executor::Cluster& cluster, int64_t chunk) {
    WEFT_RETURN_IF_ERROR(cluster.Step(steps_++));
    for (size_t i = 0; i < sequences_.done.size(); ++i) {
      sequences_.done[i] = std::min(sequences_.done[i] + chunk, static_cast<int64_t>(sequences_.tokens[i].size()));
    }
    return absl::OkStatus();
  }

  // What all processes have chosen, by sequence.
  absl::StatusOr<std::vector<int32_t>> Chosen() {
    std::string own;
    for (const Choices::Choice& choice : choices_->Take()) {
      absl::StrAppend(&own, own.empty() ? "" : ";", choice.sequence, ",", choice.token);
    }
    WEFT_ASSIGN_OR_RETURN(const std::vector<std::string> all, processes_.AllGather(own));
    std::vector<int32_t> tokens(sequences_.tokens.size(), -1);
    for (const std::string& one : all) {
      for (absl::string_view pair : absl::StrSplit(one, ';', absl::SkipEmpty())) {
        const std::pair<absl::string_view, absl::string_view> parts = absl::StrSplit(pair, ',');
        int32_t sequence = 0, token = 0;
        if (absl::SimpleAtoi(parts.first, &sequence) && absl::SimpleAtoi(parts.second, &token))
          tokens[static_cast<size_t>(sequence)] = token;
      }
    }
    return tokens;
  }

  absl::Status Loop() {
    const double begin = Now();
    const int64_t longest = Longest();
    for (int64_t done = 0; done < longest; done += chunk_) {
      choices_->Take();
      WEFT_RETURN_IF_ERROR(Step(chunk_ == 1 ? *next_cluster_ : *first_cluster_, chunk_));
    }
    const size_t prompts = prompts_.size();
    std::vector<bool> ended(prompts, false);
    for (int64_t i = 0;; ++i) {
      WEFT_ASSIGN_OR_RETURN(const std::vector<int32_t> chosen, Chosen());
      if (i == 0) first_token_s_ = Now() - begin;
      bool all = true;
      for (size_t b = 0; b < prompts; ++b) {
        if (ended[b]) continue;
        sequences_.tokens[b].push_back(chosen[b]);
        ++generated_;
        ended[b] = chosen[b] == end_;
        all = all && ended[b];
      }
      last_token_s_ = Now() - begin;
      if (i == 0) after_first_ = generated_;
      shown_.tokens.assign(sequences_.tokens.begin(), sequences_.tokens.begin() + static_cast<ptrdiff_t>(prompts));
      WEFT_RETURN_IF_ERROR(processes_.first() ? answers_->Show() : absl::OkStatus());
      if (all || i + 1 == request_.tokens) return absl::OkStatus();
      WEFT_RETURN_IF_ERROR(Step(*next_cluster_, 1));
    }
  }

  absl::Status Report() {
    WEFT_RETURN_IF_ERROR(answers_->Finish());
    const double seconds = last_token_s_ - first_token_s_;
    const double rate = seconds > 0 ? static_cast<double>(generated_ - after_first_) / seconds : 0;
    Tell(absl::StrFormat("%d tokens; the first after %s, then %.1f tokens/s", generated_,
                         plan::SecondsText(first_token_s_), rate));
    if (request_.metrics.empty()) return absl::OkStatus();
    const nlohmann::ordered_json metrics = {{"tokens", generated_},
                                            {"first_token_s", first_token_s_},
                                            {"tokens_per_s", rate},
                                            {"cache_bytes", facts_.cache_bytes}};
    return plan::ReplaceFile(request_.metrics, metrics.dump() + "\n");
  }

  const Request& request_;
  Processes& processes_;
  run::Ending& ending_;
  std::FILE* const out_;
  std::FILE* const err_;
  Prompts prompts_;
  plan::Plan next_;                  // a token at a time
  std::optional<plan::Plan> first_;  // a chunk; absent: not needed
  Facts facts_;
  int64_t chunk_ = 1;
  std::unique_ptr<Tokenizer> tokenizer_;  // of the first process, if prompts are texts
  int64_t end_ = -1, vocabulary_ = 0;
  Sequences sequences_, shown_;
  std::unique_ptr<run::Target> target_ = std::make_unique<run::Target>();  // at first it has nothing
  std::optional<Context> context_, first_context_;
  std::optional<run::InitialParameters> init_;
  std::unique_ptr<Feed> feed_;
  std::unique_ptr<Choices> choices_;
  std::unique_ptr<executor::Cluster> next_cluster_, first_cluster_;  // the second one goes first
  std::optional<Answers> answers_;
  int64_t steps_ = 0, generated_ = 0, after_first_ = 0;
  double first_token_s_ = 0, last_token_s_ = 0;
};

}  // namespace

int Generate(const std::vector<std::string>& arguments, std::FILE* out, std::FILE* err) {
  const absl::StatusOr<Request> request = ParseRequest(arguments);
  const bool first = collective::LaunchedRank() == 0;
  if (request.ok() && (request->help || request->version)) {
    if (first) std::fputs(request->help ? HelpText() : VersionText("weft-generate").c_str(), out);
    return 0;
  }
  const run::Request defaults, &times = request.ok() ? request->run : defaults;
  return run::OnProcesses("weft-generate", times.hang_seconds, times.lost_seconds, err,
                          [&](Processes& processes, run::Ending& ending) -> absl::Status {
                            WEFT_RETURN_IF_ERROR(processes.Agree(request.status()));
                            WEFT_RETURN_IF_ERROR(processes.CheckSame(SharedOptions(arguments)));
                            return Generation(*request, processes, ending, out, err).Run();
                          });
}

}  // namespace weft::generate
