// Weft's language server: what an editor says of model files, and what it is told.
#ifndef WEFT_TOOLS_LSP_SERVER_H_
#define WEFT_TOOLS_LSP_SERVER_H_

#include <cstdio>
#include <optional>

#include "compiler/editor/jobs.h"
#include "llvm/Support/raw_ostream.h"

namespace weft::lsp {

/// Speaks the language server protocol until the editor says `exit` or the input ends: errors of open files as they
/// change, hover, definition, completion, symbols and formatting. `job`, if there is one, is how the models are
/// elaborated that it has or that its model imports; others as jobsOf says. The exit status that the protocol asks for:
/// 0 behind `shutdown`.
int serve(std::FILE *in, llvm::raw_ostream &out, const std::optional<editor::NamedJob> &job);

} // namespace weft::lsp

#endif // WEFT_TOOLS_LSP_SERVER_H_
