// What an editor asks at a place of a model file, and the answers: by the file's tokens, so that they are there while
// it does not parse, and by what was elaborated last.
#ifndef WEFT_COMPILER_EDITOR_ANSWERS_H_
#define WEFT_COMPILER_EDITOR_ANSWERS_H_

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/editor/elaboration.h"
#include "compiler/text/outline.h"

namespace weft::editor {

/// A part of one line of a file; from 0, in bytes.
struct Span {
  std::string file; // real path
  int line, begin, end;
};

/// What the values of one file are, by the layer or graph and the name: edits move lines, not names.
struct Facts {
  /// Of one job, "models/gpt2/tiny.job".
  struct OfJob {
    std::string job; // empty: none
    std::map<std::pair<std::string, std::string>, std::vector<Instance>> values;
    std::map<std::string, std::string> configuration;
  };
  std::vector<OfJob> jobs;
};

/// The facts of `file`, whose text `outline` is of, in what was elaborated from that text.
Facts::OfJob factsOf(const Elaboration &elaboration, const std::string &file, const text::Outline &outline,
                     const std::string &job);

/// The text of a file by its real path, from the editor or from disk; none where there is no such file.
using Texts = std::function<std::optional<std::string>(const std::string &path)>;

struct Hover {
  Span span;
  std::string markdown;
};

struct Completion {
  enum class Kind { Op, Layer, Value, Number, Word };
  std::string label;
  Kind kind;
  std::string detail, markdown;
};

struct Completions {
  int begin; // of what the labels take the place of, up to where was asked
  std::vector<Completion> all;
};

/// Answers about the text of one file. Keeps references; for one thread.
class Answers {
public:
  Answers(const std::string &file, const std::string &text, const Texts &texts, const Facts &facts)
      : file(file), text(text), texts(texts), facts(facts), outline(text::outlineOf(text)) {}

  /// Where what stands at a place is declared: a value, a layer, a number of the model, a parameter of a layer, an
  /// imported file.
  std::optional<Span> definition(int line, int column) const;

  /// Of a value its shapes, and of a parameter its names, SBP and shape in files; of a layer its comment and head; of
  /// an op its page of the reference; of a number its value.
  std::optional<Hover> hover(int line, int column) const;

  /// What may go on at a place: ops where a statement begins, values behind %, layers behind @, numbers in brackets,
  /// and else the words of the op.
  Completions completion(int line, int column) const;

private:
  // A name that a file declares, seen from `file`: an import may put a prefix before it.
  struct Declared {
    std::string path, name; // as this file says it
    const text::Symbol *symbol;
    const text::Outline *outline;
  };

  std::vector<Declared> declared() const;
  void addDeclared(const std::string &path, const text::Outline &outline, const std::string &prefix,
                   std::vector<std::string> &seen, std::vector<Declared> &all) const;
  std::optional<Declared> find(const std::string &name) const;
  const text::Outline *outlineAt(const std::string &path) const;
  Span spanOf(int token) const;
  std::string hoverOfValue(const text::Symbol &around, const std::string &name) const;
  std::string hoverOfSymbol(const Declared &declared) const;
  std::vector<Completion> numbers(const text::Symbol *around) const;

  const std::string &file, &text;
  const Texts &texts;
  const Facts &facts;
  const text::Outline outline;
  mutable std::map<std::string, std::pair<std::string, text::Outline>> imported; // texts and what points into them
};

} // namespace weft::editor

#endif // WEFT_COMPILER_EDITOR_ANSWERS_H_
