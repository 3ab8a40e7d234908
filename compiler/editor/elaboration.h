// A model file as its author sees it, elaborated as jobs ask for it: what is wrong, and what every value is.
//
//   text of the file ─ parse ─▶ module ─ the passes of elaborate, for every graph ─▶ Problem at a place
//                                 │ imports: those that stand in the editor from there, others from disk
//                                 ├ on several ranks, of the job's graph, the phases up to shard: how each value lies
//                                 └ a note is put behind every value before layers are put in place of calls, and read
//                                   when shapes are inferred: so calls, repeats and dropouts of rate 0 have shapes too
#ifndef WEFT_COMPILER_EDITOR_ELABORATION_H_
#define WEFT_COMPILER_EDITOR_ELABORATION_H_

#include <map>
#include <string>
#include <vector>

#include "runtime/plan/job.pb.h"

namespace weft::editor {

/// Of a file, by real path; from 1, in bytes. Line 0: the whole file.
struct Place {
  std::string file;
  unsigned line = 0, column = 0;

  auto operator<=>(const Place &) const = default;
};

struct Problem {
  struct Note {
    Place place;
    std::string text;
  };
  Place place;
  std::string text;
  std::vector<Note> notes; // MLIR's own, then the calls that led here, innermost first

  /// Whether the problem is at `file`, or a call of it led there.
  bool touches(const std::string &file) const;
};

/// What one value is in one place of a graph.
struct Instance {
  std::string graph, scope; // "train", "h.0.attn"; the scope is empty at the top
  std::string type;         // "f32[4,64]"
  std::string layout;       // "data = S(0), tensor = P": as `shard` decides; empty on one rank
  // Of a parameter alone:
  std::string parameter; // its whole name, "h.0.attn.c_attn.weight"
  std::string stored;    // "[64,192]", or empty where files have its shape
  std::string sbp;       // "tensor = S(2)", or empty: the whole on every rank
};

/// A result of the op at a place, by its number, or a graph's or layer's input there.
struct ValueAt {
  Place place;
  int result;

  auto operator<=>(const ValueAt &) const = default;
};

struct Elaboration {
  std::vector<Problem> problems;                    // each once
  std::map<ValueAt, std::vector<Instance>> values;  // of all files, in the order of the graph
  std::map<std::string, std::string> configuration; // "hidden" -> "64"
  std::vector<std::string> graphs;                  // those that elaborate
};

/// Texts that have changed since they were read from disk, by real path.
using Unsaved = std::map<std::string, std::string>;

/// Elaborates every graph of `job.model().file()`, which is a path as seen from here; `job.model().graph()` with the
/// job's mesh and pins, the others on one rank. A file without graphs is parsed, and its imports are. Takes
/// milliseconds for what is small. For one thread.
Elaboration elaborated(const Job &job, const Unsaved &unsaved);

} // namespace weft::editor

#endif // WEFT_COMPILER_EDITOR_ELABORATION_H_
