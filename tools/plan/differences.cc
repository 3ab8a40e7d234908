#include "tools/plan/differences.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/text_format.h>
#include <google/protobuf/util/message_differencer.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "runtime/measure/figures.h"
#include "runtime/plan/joins.h"
#include "runtime/plan/names.h"
#include "runtime/show/print.h"
#include "runtime/show/print_json.h"
#include "runtime/show/table.h"
#include "tools/plan/diff.h"

namespace weft::tools {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using Json = nlohmann::ordered_json;

// What a step of a plan does, in numbers.
struct Totals {
  double step_s = 0, sent_bytes = 0;
  int64_t bytes = 0, kernels = 0, collectives = 0, messages = 0;
};

Totals TotalsOf(const plan::Plan& plan) {
  Totals totals{plan.prediction().step_s(), plan.prediction().communication_bytes()};
  for (const plan::Stage& stage : plan.stages()) {
    totals.bytes = std::max<int64_t>(totals.bytes, stage.arena_bytes());
    for (const plan::Actor& actor : stage.actors()) {
      const int64_t acts = actor.section() == plan::Actor::STEP ? 1 : plan.header().micro_batches();
      totals.kernels += acts * actor.kernels_size();
      totals.collectives += actor.collectives_size() > 0 ? acts : 0;
      totals.messages += actor.end_case() == plan::Actor::kSend ? acts : 0;
    }
  }
  return totals;
}

std::string Change(double before, double after) {
  if (before == after) return "";
  return before == 0 ? "new" : absl::StrFormat("%+.1f %%", 100 * (after / before - 1));
}

std::string SummaryOf(const plan::Plan& a, const plan::Plan& b) {
  const Totals before = TotalsOf(a), after = TotalsOf(b);
  plan::Table table(0, {1, 2, 3});
  table.Add({"", "before", "after", ""});
  const auto add = [&](const char* name, double x, double y, std::string (*text)(double)) {
    table.Add({name, text(x), text(y), Change(x, y)});
  };
  const auto seconds = [](double s) { return plan::SecondsText(s); };
  const auto bytes = [](double n) { return plan::BytesText(static_cast<int64_t>(std::min(n, 9e18))); };
  const auto count = [](double n) { return plan::CountText(std::llround(n)); };
  add("predicted step", before.step_s, after.step_s, seconds);
  add("memory of a rank", static_cast<double>(before.bytes), static_cast<double>(after.bytes), bytes);
  add("sent by a rank a step", before.sent_bytes, after.sent_bytes, bytes);
  // Of one rank of each stage.
  add("messages a step", static_cast<double>(before.messages), static_cast<double>(after.messages), count);
  add("collectives a step", static_cast<double>(before.collectives), static_cast<double>(after.collectives), count);
  add("kernels a step", static_cast<double>(before.kernels), static_cast<double>(after.kernels), count);
  return table.Text();
}

Json SideJson(const plan::Plan& plan) {
  const Totals totals = TotalsOf(plan);
  Json json = plan::FiguresJson(plan::FiguresOf(plan));
  json["communication_bytes"] = totals.sent_bytes;
  json["messages"] = totals.messages;
  json["collectives"] = totals.collectives;
  json["kernels"] = totals.kernels;
  return json;
}

// Every key that is set, as "optimizer.adamw.lr", with its value.
void Flatten(const Message& message, const std::string& path, std::map<std::string, std::string>* keys) {
  std::vector<const FieldDescriptor*> fields;
  message.GetReflection()->ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    const int count = field->is_repeated() ? message.GetReflection()->FieldSize(message, field) : 1;
    for (int i = 0; i < count; ++i) {
      const std::string key = absl::StrCat(path, path.empty() ? "" : ".", field->name(),
                                           field->is_repeated() ? absl::StrCat("[", i, "]") : "");
      if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
        const auto& part = field->is_repeated() ? message.GetReflection()->GetRepeatedMessage(message, field, i)
                                                : message.GetReflection()->GetMessage(message, field);
        (*keys)[key] = "{}";
        Flatten(part, key, keys);
        continue;
      }
      google::protobuf::TextFormat::PrintFieldValueToString(message, field, field->is_repeated() ? i : -1,
                                                            &(*keys)[key]);
    }
  }
}

// A key that differs.
struct Key {
  std::string name, before, after;  // "optimizer.adamw.lr", "0.001", "not set"
};

std::vector<Key> KeysThatDiffer(const Message& a, const Message& b) {
  std::map<std::string, std::string> before, after;
  Flatten(a, "", &before);
  Flatten(b, "", &after);
  std::map<std::string, std::string> all = before;
  all.insert(after.begin(), after.end());
  std::vector<Key> keys;
  for (const auto& [key, any] : all) {
    const auto x = before.find(key), y = after.find(key);
    if (x != before.end() && y != after.end() && x->second == y->second) continue;
    keys.push_back({key, x == before.end() ? "not set" : x->second, y == after.end() ? "not set" : y->second});
  }
  return keys;
}

// "  optimizer.adamw.lr: 0.001 -> 0.003" for every key, under `title`.
std::string KeysText(const std::string& title, const std::vector<Key>& keys) {
  std::string text;
  for (const Key& key : keys) absl::StrAppend(&text, "  ", key.name, ": ", key.before, " -> ", key.after, "\n");
  return text.empty() ? "" : absl::StrCat(title, "\n", text);
}

Json KeysJson(const std::vector<Key>& keys) {
  Json json = Json::array();
  for (const Key& key : keys) json.push_back({{"key", key.name}, {"before", key.before}, {"after", key.after}});
  return json;
}

std::string TextOf(const plan::Attribute& attribute) {
  switch (attribute.value_case()) {
    case plan::Attribute::kInt:
      return absl::StrCat(attribute.int_());
    case plan::Attribute::kFloat:
      return absl::StrFormat("%.9g", attribute.float_());
    case plan::Attribute::kString:
      return absl::StrCat("\"", attribute.string(), "\"");
    case plan::Attribute::kInts:
      return absl::StrCat("[", absl::StrJoin(attribute.ints().values(), ","), "]");
    case plan::Attribute::VALUE_NOT_SET:
      break;
  }
  return "not set";
}

// Parameters that differ between kernels at the same place of two plans: of actors, and of initial values of buffers,
// that have the same names.
class Parameters {
 public:
  void Compare(const plan::Stage& a, const plan::Stage& b) {
    std::map<std::string, const plan::Actor*> actors;
    for (const plan::Actor& actor : a.actors()) actors[actor.name()] = &actor;
    for (const plan::Actor& actor : b.actors()) {
      const auto it = actors.find(actor.name());
      if (it == actors.end() || it->second->kernels_size() != actor.kernels_size()) continue;
      for (int k = 0; k < actor.kernels_size(); ++k) Compare(it->second->kernels(k), actor.kernels(k));
    }
    std::map<std::string, const plan::Buffer*> buffers;
    for (const plan::Buffer& buffer : a.buffers()) buffers[buffer.name()] = &buffer;
    for (const plan::Buffer& buffer : b.buffers()) {
      const auto it = buffers.find(buffer.name());
      if (it != buffers.end() && buffer.has_init() && it->second->has_init()) {
        Compare(it->second->init(), buffer.init());
      }
    }
  }

  std::string Text() const {
    std::string text;
    for (const auto& [what, count] : counts_) {
      const auto& [kernel, name, before, after] = what;
      absl::StrAppend(&text, "  ", kernel, " ", name, ": ", before, " -> ", after, " (",
                      count == 1 ? "1 kernel" : absl::StrCat(plan::CountText(count), " kernels"), ")\n");
    }
    return text.empty() ? "" : "parameters of kernels\n" + text;
  }

  Json ToJson() const {
    Json json = Json::array();
    for (const auto& [what, count] : counts_) {
      const auto& [kernel, name, before, after] = what;
      json.push_back(
          {{"kernel", kernel}, {"parameter", name}, {"before", before}, {"after", after}, {"kernels", count}});
    }
    return json;
  }

 private:
  void Compare(const plan::Kernel& a, const plan::Kernel& b) {
    if (a.name() != b.name()) return;
    std::map<std::string, std::pair<std::string, std::string>> all;  // before, after
    for (const auto& [name, attribute] : a.attributes()) all[name] = {TextOf(attribute), "not set"};
    for (const auto& [name, attribute] : b.attributes()) {
      auto& texts = all.try_emplace(name, "not set", "").first->second;
      texts.second = TextOf(attribute);
    }
    for (const auto& [name, texts] : all) {
      if (texts.first != texts.second && !plan::IsJoinNote(name))
        ++counts_[{a.name(), name, texts.first, texts.second}];
    }
  }

  std::map<std::tuple<std::string, std::string, std::string, std::string>, int64_t> counts_;
};

// The listing without what the summary says.
std::string ListingOf(const plan::Plan& plan) {
  const std::string text = plan::SummaryText(plan, {true});
  return text.substr(std::min(text.find("\n\n"), text.size()));
}

std::string DetailsOf(const plan::Plan& a, const plan::Plan& b, int lines) {
  const std::string text = DiffLines(ListingOf(a), ListingOf(b));
  if (text.empty()) return "";
  const int64_t all = std::count(text.begin(), text.end(), '\n');
  size_t end = 0;
  for (int64_t line = 0; line < (lines == 0 ? all : std::min<int64_t>(lines, all)); ++line)
    end = text.find('\n', end) + 1;
  const int64_t rest = lines == 0 ? 0 : std::max<int64_t>(all - lines, 0);
  return absl::StrCat(
      "in detail, - before, + after\n", text.substr(0, end),
      rest == 0 ? "" : absl::StrCat("... and ", plan::CountText(rest), " lines more (--lines=0: all)\n"));
}

// All but the listings.
struct Differences {
  Differences(const plan::Plan& before, const plan::Plan& after) {
    plan::Plan a = before, b = after;
    a.mutable_header()->clear_hash();
    b.mutable_header()->clear_hash();
    same = google::protobuf::util::MessageDifferencer::Equals(a, b);
    if (same) return;
    for (int s = 0; s < std::min(a.stages_size(), b.stages_size()); ++s) parameters.Compare(a.stages(s), b.stages(s));
    job = KeysThatDiffer(a.header().job(), b.header().job());
    cluster = KeysThatDiffer(a.header().cluster(), b.header().cluster());
  }

  bool same = false;
  std::vector<Key> job, cluster;
  Parameters parameters;
};

}  // namespace

std::string DifferencesText(const plan::Plan& before, const plan::Plan& after, int lines) {
  const Differences differences(before, after);
  if (differences.same) return "";
  return absl::StrCat(SummaryOf(before, after), KeysText("job", differences.job),
                      KeysText("cluster", differences.cluster), differences.parameters.Text(),
                      DetailsOf(before, after, lines));
}

std::string DifferencesJson(const plan::Plan& before, const plan::Plan& after, int lines) {
  const Differences differences(before, after);
  const std::string details = differences.same ? "" : DetailsOf(before, after, lines);
  return plan::JsonText({{"same", differences.same},
                         {"before", SideJson(before)},
                         {"after", SideJson(after)},
                         {"job", KeysJson(differences.job)},
                         {"cluster", KeysJson(differences.cluster)},
                         {"parameters", differences.parameters.ToJson()},
                         {"listing", std::vector<std::string>(absl::StrSplit(details, '\n', absl::SkipEmpty()))}});
}

}  // namespace weft::tools
