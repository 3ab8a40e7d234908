#include "compiler/job/text.h"

#include <algorithm>
#include <cctype>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "compiler/words/nearest.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/io/tokenizer.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "google/protobuf/text_format.h"

namespace weft {

using google::protobuf::Descriptor;
using google::protobuf::EnumDescriptor;

namespace {

// The words in double quotes in a message of the parser.
std::vector<std::string> Quoted(const std::string& message) {
  std::vector<std::string> words;
  for (size_t start = message.find('"'); start != std::string::npos; start = message.find('"', start)) {
    size_t end = message.find('"', start + 1);
    if (end == std::string::npos) {
      break;
    }
    words.push_back(message.substr(start + 1, end - start - 1));
    start = end + 1;
  }
  return words;
}

// The enum of the first field of that name in the file of `type`, or null.
const EnumDescriptor* EnumOf(const Descriptor& type, const std::string& field) {
  for (int i = 0; i < type.file()->message_type_count(); ++i) {
    const google::protobuf::FieldDescriptor* found = type.file()->message_type(i)->FindFieldByName(field);
    if (found != nullptr && found->enum_type() != nullptr) {
      return found->enum_type();
    }
  }
  return nullptr;
}

// The parser's message in the words of this house. `root` is the type being read.
std::string Explain(const Descriptor& root, const std::string& message) {
  std::vector<std::string> words = Quoted(message);
  if (absl::StrContains(message, "has no field named") && words.size() == 2) {
    const Descriptor* type = root.file()->pool()->FindMessageTypeByName(words[0]);
    return type == nullptr ? absl::StrCat("unknown key ", words[1]) : UnknownKey(*type, words[1]);
  }
  if (absl::StrContains(message, "is specified multiple times") && words.size() == 1) {
    return absl::StrCat(words[0], ": expected once, got it twice");
  }
  if (absl::StrContains(message, "is specified along with") && words.size() >= 2) {
    return absl::StrCat(words[0], ": expected one of its kind, got it beside ", words[1]);
  }
  if (absl::StrContains(message, "Unknown enumeration value") && words.size() == 2) {
    const EnumDescriptor* type = EnumOf(root, words[1]);
    return absl::StrCat(words[1], ": expected ", type == nullptr ? "another value" : ValuesOf(*type), ", got ",
                        words[0]);
  }
  std::string text = message;
  if (!text.empty()) {
    text[0] = char(std::tolower(static_cast<unsigned char>(text[0])));
  }
  if (!text.empty() && text.back() == '.') {
    text.pop_back();
  }
  return text;
}

// Keeps the first error.
class FirstError : public google::protobuf::io::ErrorCollector {
 public:
  FirstError(const Descriptor& root, const std::string& text, const std::string& path)
      : root_(root), text_(text), path_(path) {}

  void AddError(int line, int column, const std::string& message) override {
    if (!error_.empty()) {
      return;
    }
    // About a key, the parser names the place behind it.
    std::vector<std::string> words = Quoted(message);
    size_t place = words.empty() ? std::string::npos : text_.rfind(words.back(), OffsetOf(line, column));
    if (place != std::string::npos && absl::StrContains(message, "has no field named")) {
      line = int(std::count(text_.begin(), text_.begin() + place, '\n'));
      column = int(place - (text_.rfind('\n', place) + 1));
    }
    error_ = absl::StrCat(path_, ":", line + 1, ":", column + 1, ": ", Explain(root_, message));
  }
  const std::string& error() const { return error_; }

 private:
  size_t OffsetOf(int line, int column) const {
    size_t offset = 0;
    for (int i = 0; i < line && offset != std::string::npos; ++i) {
      offset = text_.find('\n', offset);
      offset += offset != std::string::npos;
    }
    return offset == std::string::npos ? text_.size() : offset + size_t(column);
  }

  const Descriptor& root_;
  const std::string& text_;
  const std::string& path_;
  std::string error_;
};

}  // namespace

std::string UnknownKey(const Descriptor& type, const std::string& key) {
  std::vector<std::string> known;
  for (int i = 0; i < type.field_count(); ++i) {
    known.push_back(type.field(i)->name());
  }
  return absl::StrCat("unknown key ", key, ": expected ", KeysOf(type), DidYouMean(key, known));
}

std::string KeysOf(const Descriptor& type) {
  std::string keys;
  for (int i = 0; i < type.field_count(); ++i) {
    absl::StrAppend(&keys, i == 0 ? "" : ", ", type.field(i)->name());
  }
  return keys.empty() ? "no key" : keys;
}

std::string ValuesOf(const EnumDescriptor& type) {
  std::string values;
  for (int i = 0; i < type.value_count(); ++i) {
    absl::StrAppend(&values, i == 0 ? "" : ", ", type.value(i)->name());
  }
  return values;
}

absl::Status ParseText(const std::string& text, const std::string& path, google::protobuf::Message* message) {
  google::protobuf::io::ArrayInputStream stream(text.data(), int(text.size()));
  FirstError error(*message->GetDescriptor(), text, path);
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&error);
  if (parser.Parse(&stream, message)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(error.error().empty() ? absl::StrCat(path, ": expected protobuf text")
                                                          : error.error());
}

}  // namespace weft
