// How names of parameters in Hugging Face's files become those of a plan.
#ifndef WEFT_TOOLS_HUGGING_FACE_NAMES_H_
#define WEFT_TOOLS_HUGGING_FACE_NAMES_H_

#include <map>
#include <regex>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace weft::hugging_face {

// A tensor whose whole name is `from` is called `to`.
struct Rename {
  std::regex from;
  std::string to;    // with $1 for what the first group has matched; "": the tensor is left out
  std::string text;  // for people
};

// "FROM=TO"; FROM is a regular expression (ECMAScript) without `=`. kInvalidArgument.
absl::StatusOr<Rename> ParseRename(const std::string& text);

// A name without what a class with a head puts before those of its body: `transformer.wte.weight` is `wte.weight`.
std::string WithoutBase(const std::string& name);

// The names of a file's tensors, as a plan asks for them.
class Names {
 public:
  // `prefixes`: further ones that the file's names may have. The first rename that matches a name counts.
  // kInvalidArgument if two tensors get one name.
  static absl::StatusOr<Names> Of(const std::vector<std::string>& in_file,
                                  const std::vector<std::string>& prefixes = {},
                                  const std::vector<Rename>& renames = {});

  // The tensor that the file has for a parameter: of its name; with a prefix; without what WithoutBase() drops, from
  // either. "" if there is none.
  std::string Find(const std::string& parameter) const;
  // What the file has of what a parameter is tied to: `lm_head.weight` of `wte.weight`.
  std::vector<std::string> CopiesOf(const std::string& parameter) const;
  // The file's names by what they are called after renames; those that were left out are not among them.
  const std::map<std::string, std::string>& in_file() const { return by_name_; }

 private:
  std::string FindByName(const std::string& name) const;

  std::vector<std::string> prefixes_;
  std::map<std::string, std::string> by_name_;  // to the file's
  std::map<std::string, std::string> by_body_;  // by WithoutBase() of the name; "": several
};

}  // namespace weft::hugging_face

#endif  // WEFT_TOOLS_HUGGING_FACE_NAMES_H_
