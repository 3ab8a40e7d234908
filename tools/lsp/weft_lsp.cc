// weft-lsp: a language server for model files.
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/editor/jobs.h"
#include "runtime/version/answer.h"
#include "tools/lsp/server.h"

namespace {

constexpr char kHelp[] = R"(weft-lsp: a language server for model files, which an editor starts

usage: weft lsp [--job JOB [key.path=value ...]]

  --job JOB        how models are elaborated: this job's, and what its model imports. Without it, or for another file: by the
                   job of the file's folder that has this model, tiny.job before the others; a file that models of the folder
                   and of those below it share, by a job of each; and without such a job, with a batch of 1
  key.path=value   overrides a key of the job: dist.tensor=2
  --version        what this program was built from
  --help           this text

It speaks the language server protocol over standard input and output. An editor gets: the parser's and elaborate's errors,
while one types; behind a value its shape, and behind a parameter its names, its SBP and its shape in files; the declaration of
layers, numbers and values, in imported files too; ops, layers, values, numbers and the words of an op, to go on with; the layout
of weft fmt. docs/howto/edit_model_files.md says how VS Code and Neovim are set up.

exit status: 0 done; 1 the editor went without a word; 2 the request was wrong (flag or job)
)";

int wrong(const std::string &what) {
  std::fprintf(stderr, "weft-lsp: %s\n", what.c_str());
  return 2;
}

} // namespace

int main(int argc, char **argv) {
  std::string path;
  std::vector<std::string> overrides;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (const std::optional<int> status = weft::Answer(argument, "weft-lsp", kHelp)) {
      return *status;
    }
    if (argument == "--job") {
      if (i + 1 >= argc) {
        return wrong("--job: expected a job file, got none (see --help)");
      }
      path = argv[++i];
    } else if (argument.starts_with("--job=")) {
      path = argument.substr(6);
    } else if (argument == "--stdio") { // what editors say to every server
    } else if (argument.size() > 1 && argument[0] != '-' && argument.find('=') != std::string::npos) {
      overrides.push_back(argument);
    } else {
      return wrong(absl::StrCat("expected --job or key.path=value, got ", argument, " (see --help)"));
    }
  }
  if (path.empty() && !overrides.empty()) {
    return wrong(absl::StrCat(overrides[0], ": expected --job, which it overrides a key of, got none (see --help)"));
  }
  std::optional<weft::editor::NamedJob> job;
  if (!path.empty()) {
    absl::StatusOr<weft::editor::NamedJob> read = weft::editor::jobAt(path, overrides);
    if (!read.ok()) {
      return wrong(std::string(read.status().message()));
    }
    job = *std::move(read);
  }
  return weft::lsp::serve(stdin, llvm::outs(), job);
}
