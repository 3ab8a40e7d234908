#include "tools/lsp/server.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include "absl/strings/str_cat.h"
#include "compiler/editor/answers.h"
#include "compiler/editor/elaboration.h"
#include "compiler/text/format.h"
#include "mlir/Tools/lsp-server-support/Protocol.h"
#include "mlir/Tools/lsp-server-support/Transport.h"
#include "runtime/plan/read_file.h"
#include "runtime/version/version.h"

namespace weft::lsp {
namespace {

namespace json = llvm::json;
using namespace mlir::lsp;

// ---- columns: the protocol counts UTF-16 units, we count bytes --------------------

std::string_view lineAt(std::string_view text, int line) {
  for (; line > 0; --line) {
    const size_t end = text.find('\n');
    text = end == std::string_view::npos ? "" : text.substr(end + 1);
  }
  return text.substr(0, text.find('\n'));
}

// Units of the letter that begins with `c`; 0 for a byte within a letter.
int unitsOf(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0xF0 ? 2 : byte >= 0xC0 || byte < 0x80 ? 1 : 0;
}

int unitsBefore(std::string_view line, int bytes) {
  int units = 0;
  for (char c : line.substr(0, std::min<size_t>(bytes, line.size()))) {
    units += unitsOf(c);
  }
  return units;
}

int bytesBefore(std::string_view line, int units) {
  size_t at = 0;
  while (at < line.size() && units > 0) {
    units -= unitsOf(line[at++]);
    while (at < line.size() && unitsOf(line[at]) == 0) {
      ++at;
    }
  }
  return int(at);
}

Range rangeOf(std::string_view text, int line, int begin, int end) {
  const std::string_view there = lineAt(text, line);
  return {{line, unitsBefore(there, begin)}, {line, unitsBefore(there, end)}};
}

// ---- the server -----------------------------------------------------------------

struct Document {
  std::string text;
  int64_t version = 0;
  URIForFile uri;
  editor::Facts facts; // of the last text that elaborated
};

class Server {
public:
  Server(JSONTransport &transport, const std::optional<editor::NamedJob> &job) : job(job), handler(transport) {
    handler.method("initialize", this, &Server::initialize);
    handler.method("shutdown", this, &Server::shutdown);
    handler.notification("initialized", this, &Server::initialized);
    handler.notification("textDocument/didOpen", this, &Server::opened);
    handler.notification("textDocument/didChange", this, &Server::changed);
    handler.notification("textDocument/didSave", this, &Server::saved);
    handler.notification("textDocument/didClose", this, &Server::closed);
    handler.method("textDocument/hover", this, &Server::hover);
    handler.method("textDocument/definition", this, &Server::definition);
    handler.method("textDocument/completion", this, &Server::completion);
    handler.method("textDocument/documentSymbol", this, &Server::symbols);
    handler.method("textDocument/formatting", this, &Server::format);
    publish = handler.outgoingNotification<PublishDiagnosticsParams>("textDocument/publishDiagnostics");
    texts = [this](const std::string &path) -> std::optional<std::string> {
      if (auto it = documents.find(path); it != documents.end()) {
        return it->second.text;
      }
      const absl::StatusOr<std::string> text = plan::ReadText(path);
      return text.ok() ? std::optional<std::string>(*text) : std::nullopt;
    };
  }

  MessageHandler &messages() { return handler; }
  bool isShutDown() const { return ends; }

private:
  void initialize(const InitializeParams &, Callback<json::Value> reply) {
    reply(json::Object{
        {"serverInfo", json::Object{{"name", "weft-lsp"}, {"version", VersionText("weft-lsp")}}},
        {"capabilities",
         json::Object{{"textDocumentSync", json::Object{{"openClose", true}, {"change", 1}, {"save", true}}},
                      {"hoverProvider", true},
                      {"definitionProvider", true},
                      {"completionProvider", json::Object{{"triggerCharacters", {"%", "@", ".", "[", "("}}}},
                      {"documentSymbolProvider", true},
                      {"documentFormattingProvider", true}}}});
  }
  void initialized(const InitializedParams &) {}
  void shutdown(const NoParams &, Callback<std::nullptr_t> reply) {
    ends = true;
    reply(nullptr);
  }

  // ---- texts ----------------------------------------------------------------------
  static std::string pathOf(const URIForFile &uri) {
    std::error_code none;
    return std::filesystem::weakly_canonical(uri.file().str(), none).string();
  }

  Document *find(const URIForFile &uri) {
    auto it = documents.find(pathOf(uri));
    return it == documents.end() ? nullptr : &it->second;
  }

  void opened(const DidOpenTextDocumentParams &params) {
    const std::string path = pathOf(params.textDocument.uri);
    documents[path] = {params.textDocument.text, params.textDocument.version, params.textDocument.uri, {}};
    check(path, /*byAllJobs=*/true);
  }

  void changed(const DidChangeTextDocumentParams &params) {
    Document *document = find(params.textDocument.uri);
    if (document && mlir::succeeded(TextDocumentContentChangeEvent::applyTo(params.contentChanges, document->text))) {
      document->version = params.textDocument.version;
      check(pathOf(params.textDocument.uri), /*byAllJobs=*/false);
    }
  }

  // What others import may have changed for them.
  void saved(const DocumentSymbolParams &) {
    for (const auto &[path, document] : documents) {
      check(path, /*byAllJobs=*/true);
    }
  }

  void closed(const DidCloseTextDocumentParams &params) {
    documents.erase(pathOf(params.textDocument.uri));
    publish(PublishDiagnosticsParams(params.textDocument.uri, 0));
  }

  // ---- errors -----------------------------------------------------------------------
  std::vector<editor::NamedJob> jobsFor(const std::string &path) const {
    if (job) {
      editor::NamedJob given = *job;
      if (editor::hasModel(given.job, path)) {
        return {given};
      }
    }
    return editor::jobsOf(path);
  }

  // `byAllJobs`: a file that models share by all of theirs, and not by the first alone, which a letter has time for.
  void check(const std::string &path, bool byAllJobs) {
    Document &document = documents[path];
    editor::Unsaved unsaved;
    for (const auto &[open, one] : documents) {
      unsaved[open] = one.text;
    }
    const text::Outline outline = text::outlineOf(document.text);
    std::vector<editor::NamedJob> jobs = jobsFor(path);
    jobs.resize(byAllJobs ? jobs.size() : std::min<size_t>(jobs.size(), 1));
    PublishDiagnosticsParams told(document.uri, document.version);
    editor::Facts facts;
    for (const editor::NamedJob &one : jobs) {
      const editor::Elaboration result = editor::elaborated(one.job, unsaved);
      for (const editor::Problem &problem : result.problems) {
        addDiagnostic(problem, path, document.text, outline, told.diagnostics);
      }
      if (!result.values.empty()) {
        facts.jobs.push_back(editor::factsOf(result, path, outline, shortPath(one.path)));
      }
    }
    if (byAllJobs && !facts.jobs.empty()) {
      document.facts = facts;
    } else if (!facts.jobs.empty()) {
      // Those of the other jobs stay as they were.
      auto known = std::find_if(document.facts.jobs.begin(), document.facts.jobs.end(),
                                [&](const editor::Facts::OfJob &old) { return old.job == facts.jobs[0].job; });
      known == document.facts.jobs.end() ? document.facts.jobs.push_back(facts.jobs[0]) : void(*known = facts.jobs[0]);
    }
    publish(told);
  }

  // "gpt2/tiny.job".
  static std::string shortPath(const std::string &path) {
    const std::filesystem::path job(path);
    return path.empty() ? "" : (job.parent_path().filename() / job.filename()).string();
  }

  static std::string textOf(const editor::Place &place) {
    const std::string name = std::filesystem::path(place.file).filename().string();
    return place.line == 0 ? name : absl::StrCat(name, ":", place.line, ":", place.column);
  }

  // The word at a place of a text, or the first line for the whole file.
  static Range wordAt(const editor::Place &place, std::string_view text, const text::Outline &outline) {
    if (place.line == 0) {
      return rangeOf(text, 0, 0, int(lineAt(text, 0).size()));
    }
    const int line = int(place.line) - 1, column = int(place.column) - 1;
    const int token = outline.tokenAt(line, column);
    const bool covers = token >= 0 && outline.tokens[token].end() > column;
    return rangeOf(text, line, column, covers ? outline.tokens[token].end() : column + 1);
  }

  void addDiagnostic(const editor::Problem &problem, const std::string &path, std::string_view text,
                     const text::Outline &outline, std::vector<Diagnostic> &told) {
    if (!problem.touches(path)) {
      return; // another file's, which that shows
    }
    editor::Place place = problem.place;
    std::string message = problem.text;
    if (place.file != path) {
      place = std::find_if(problem.notes.begin(), problem.notes.end(), [&](const editor::Problem::Note &note) {
                return note.place.file == path;
              })->place;
      message = textOf(problem.place) + ": " + message;
    }
    Diagnostic diagnostic;
    diagnostic.range = wordAt(place, text, outline);
    diagnostic.severity = DiagnosticSeverity::Error;
    diagnostic.source = "weft";
    diagnostic.message = message;
    std::vector<DiagnosticRelatedInformation> notes;
    if (problem.place.file != path) {
      addNote(problem.place, problem.text, notes);
    }
    for (const editor::Problem::Note &note : problem.notes) {
      addNote(note.place, note.text, notes);
    }
    if (!notes.empty()) {
      diagnostic.relatedInformation = std::move(notes);
    }
    const bool isKnown = std::any_of(told.begin(), told.end(), [&](const Diagnostic &other) {
      return other.range == diagnostic.range && other.message == diagnostic.message;
    });
    if (!isKnown) {
      told.push_back(std::move(diagnostic));
    }
  }

  void addNote(const editor::Place &place, const std::string &what, std::vector<DiagnosticRelatedInformation> &notes) {
    const std::optional<std::string> text = texts(place.file);
    llvm::Expected<URIForFile> uri = URIForFile::fromFile(place.file);
    if (!text || !uri) {
      llvm::consumeError(uri.takeError());
      return;
    }
    const text::Outline outline = text::outlineOf(*text);
    notes.emplace_back(Location(*uri, wordAt(place, *text, outline)), what);
  }

  // ---- questions ----------------------------------------------------------------------
  editor::Answers answersOf(const Document &document) {
    file = pathOf(document.uri);
    return editor::Answers(file, document.text, texts, document.facts);
  }

  static int columnOf(const Document &document, const Position &position) {
    return bytesBefore(lineAt(document.text, position.line), position.character);
  }

  void hover(const TextDocumentPositionParams &params, Callback<std::optional<Hover>> reply) {
    const Document *document = find(params.textDocument.uri);
    if (!document) {
      return reply(std::nullopt);
    }
    const std::optional<editor::Hover> found =
        answersOf(*document).hover(params.position.line, columnOf(*document, params.position));
    if (!found) {
      return reply(std::nullopt);
    }
    Hover shown(rangeOf(document->text, found->span.line, found->span.begin, found->span.end));
    shown.contents.value = found->markdown;
    reply(std::optional<Hover>(shown));
  }

  void definition(const TextDocumentPositionParams &params, Callback<std::vector<Location>> reply) {
    const Document *document = find(params.textDocument.uri);
    std::optional<editor::Span> found;
    if (document) {
      found = answersOf(*document).definition(params.position.line, columnOf(*document, params.position));
    }
    std::vector<Location> places;
    if (found) {
      llvm::Expected<URIForFile> uri = URIForFile::fromFile(found->file);
      if (!uri) {
        return reply(uri.takeError());
      }
      places.emplace_back(*uri, rangeOf(texts(found->file).value_or(""), found->line, found->begin, found->end));
    }
    reply(std::move(places));
  }

  void completion(const CompletionParams &params, Callback<CompletionList> reply) {
    const Document *document = find(params.textDocument.uri);
    CompletionList list;
    if (!document) {
      return reply(std::move(list));
    }
    const int line = params.position.line, column = columnOf(*document, params.position);
    const editor::Completions found = answersOf(*document).completion(line, column);
    for (const editor::Completion &one : found.all) {
      CompletionItem item(one.label, kindOf(one.kind));
      item.detail = one.detail;
      item.filterText = one.label;
      item.textEdit = TextEdit{rangeOf(document->text, line, found.begin, column), one.label};
      if (!one.markdown.empty()) {
        item.documentation = MarkupContent{MarkupKind::Markdown, one.markdown};
      }
      list.items.push_back(std::move(item));
    }
    reply(std::move(list));
  }

  static CompletionItemKind kindOf(editor::Completion::Kind kind) {
    switch (kind) {
    case editor::Completion::Kind::Op:
      return CompletionItemKind::Function;
    case editor::Completion::Kind::Layer:
      return CompletionItemKind::Class;
    case editor::Completion::Kind::Value:
      return CompletionItemKind::Variable;
    case editor::Completion::Kind::Number:
      return CompletionItemKind::Constant;
    case editor::Completion::Kind::Word:
      return CompletionItemKind::Keyword;
    }
    return CompletionItemKind::Text;
  }

  void symbols(const DocumentSymbolParams &params, Callback<std::vector<DocumentSymbol>> reply) {
    const Document *document = find(params.textDocument.uri);
    std::vector<DocumentSymbol> found;
    const text::Outline outline = text::outlineOf(document ? document->text : "");
    for (const text::Symbol &symbol : outline.symbols) {
      const text::Token &name = outline.tokens[symbol.at], &first = outline.tokens[symbol.first],
                        &last = outline.tokens[symbol.last];
      const Range selection = rangeOf(document->text, name.line, name.column, name.end());
      const Range whole(rangeOf(document->text, first.line, first.column, first.column).start,
                        rangeOf(document->text, last.line, last.end(), last.end()).end);
      found.emplace_back(llvm::Twine("@") + std::string(symbol.name), kindOf(symbol.kind), whole, selection);
    }
    reply(std::move(found));
  }

  static SymbolKind kindOf(text::SymbolKind kind) {
    return kind == text::SymbolKind::Config  ? SymbolKind::Constant
           : kind == text::SymbolKind::Layer ? SymbolKind::Class
                                             : SymbolKind::Function;
  }

  void format(const DocumentSymbolParams &params, Callback<std::vector<TextEdit>> reply) {
    const Document *document = find(params.textDocument.uri);
    std::vector<TextEdit> edits;
    const std::string text = document ? text::formatted(document->text) : "";
    if (document && text != document->text) {
      const int lines = int(std::count(document->text.begin(), document->text.end(), '\n'));
      edits.push_back({Range({0, 0}, {lines + 1, 0}), text});
    }
    reply(std::move(edits));
  }

  const std::optional<editor::NamedJob> &job;
  MessageHandler handler;
  OutgoingNotification<PublishDiagnosticsParams> publish;
  editor::Texts texts;
  std::map<std::string, Document> documents; // that are open, by real path
  std::string file;                          // of the question that is being answered
  bool ends = false;
};

} // namespace

int serve(std::FILE *in, llvm::raw_ostream &out, const std::optional<editor::NamedJob> &job) {
  Logger::setLogLevel(Logger::Level::Error);
  JSONTransport transport(in, out);
  Server server(transport, job);
  llvm::Error error = transport.run(server.messages());
  const bool ends = server.isShutDown();
  llvm::consumeError(std::move(error)); // the editor is gone
  return ends ? 0 : 1;
}

} // namespace weft::lsp
