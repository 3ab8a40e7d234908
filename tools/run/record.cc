#include "tools/run/record.h"

#include <google/protobuf/text_format.h>

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "runtime/checkpoint/checksum.h"
#include "runtime/checkpoint/host_and_time.h"
#include "runtime/plan/names.h"
#include "runtime/version/version.h"

namespace weft::run {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::TextFormat;

enum class Weight { kNone, kCourse, kMeaning };

// What a change of the job's values weighs, by the beginning of their paths; of any other it is the course.
constexpr std::pair<const char*, Weight> kWeights[] = {
    {"model.", Weight::kMeaning},   {"optimizer rule", Weight::kMeaning},
    {"dist.", Weight::kNone},       {"pipeline.", Weight::kNone},
    {"zero.", Weight::kNone},       {"recompute.", Weight::kNone},
    {"graph.", Weight::kNone},      {"cluster", Weight::kNone},
    {"seed", Weight::kNone},        {"checkpoint.", Weight::kNone},
    {"data.format", Weight::kNone},  // data_form says what it came to
};

Weight WeightOf(const std::string& path) {
  for (const auto& [prefix, weight] : kWeights) {
    if (absl::StartsWith(path, prefix)) return weight;
  }
  return Weight::kCourse;
}

std::string LineOf(const Message& message) {
  TextFormat::Printer printer;
  printer.SetSingleLineMode(true);
  std::string text;
  printer.PrintToString(message, &text);
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

using Values = std::map<std::string, std::string>;  // by path

// Every value of a message by its path: "optimizer.adamw.lr", "pipeline.cuts[1]".
void AddValues(const Message& message, const std::string& path, Values& values) {
  std::vector<const FieldDescriptor*> fields;
  message.GetReflection()->ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    const int count = field->is_repeated() ? message.GetReflection()->FieldSize(message, field) : 1;
    for (int i = 0; i < count; ++i) {
      const int index = field->is_repeated() ? i : -1;
      const std::string name = absl::StrCat(path, field->name(), index < 0 ? "" : absl::StrCat("[", i, "]"));
      if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
        const google::protobuf::Reflection& reflection = *message.GetReflection();
        AddValues(index < 0 ? reflection.GetMessage(message, field) : reflection.GetRepeatedMessage(message, field, i),
                  name + ".", values);
      } else {
        TextFormat::PrintFieldValueToString(message, field, index, &values[name]);
      }
    }
  }
}

// What an optimizer may be: the fields of the job's optimizer of which there is one.
const google::protobuf::OneofDescriptor& Rules() { return *Optimizer::descriptor()->FindOneofByName("rule"); }

std::string RuleOf(const Optimizer& optimizer) {
  const FieldDescriptor* rule = optimizer.GetReflection()->GetOneofFieldDescriptor(optimizer, &Rules());
  if (rule == nullptr) return "none";
  return absl::StrCat(rule->name(), optimizer.sgd().momentum() == 0 ? "" : " with momentum");
}

// Whether a value is of one of the rules.
bool IsOfRule(const std::string& path) {
  for (int i = 0; i < Rules().field_count(); ++i) {
    if (absl::StartsWith(path, absl::StrCat("optimizer.", Rules().field(i)->name(), "."))) return true;
  }
  return false;
}

Values ValuesOf(Job job) {
  Values values;
  for (const std::string& setting : job.model().set()) {
    const size_t equals = setting.find('=');
    values["model.set " + setting.substr(0, equals)] = setting.substr(std::min(equals, setting.size() - 1) + 1);
  }
  job.mutable_model()->clear_set();
  // The same file may be named by another path.
  const std::string file = job.model().file();
  job.mutable_model()->set_file(file.substr(file.rfind('/') + 1));
  values["optimizer rule"] = RuleOf(job.optimizer());
  AddValues(job, "", values);
  return values;
}

// The job in a record; none if there is none, or none that this version can read.
bool ReadJob(const Record& record, Job& job) {
  const auto text = record.find("job");
  if (text == record.end()) return false;
  TextFormat::Parser parser;
  parser.AllowUnknownField(true);  // of a newer version
  return parser.ParseFromString(text->second, &job);
}

// What a value is that a job does not say: of an enumeration its first, by its name.
std::string TextOf(const Values& values, const std::string& path) {
  if (const auto it = values.find(path); it != values.end()) return it->second;
  if (path == "precision.residual") return TextOf(values, "precision.compute");
  const FieldDescriptor* field = nullptr;
  const google::protobuf::Descriptor* message = Job::descriptor();
  for (const std::string& name : std::vector<std::string>(absl::StrSplit(path, '.'))) {
    field = message == nullptr ? nullptr : message->FindFieldByName(name);
    message = field == nullptr ? nullptr : field->message_type();
  }
  const bool known =
      field != nullptr && field->enum_type() != nullptr && !field->is_repeated() && !field->has_presence();
  return known ? field->default_value_enum()->name() : "none";
}

void CompareJobs(const Job& before, const Job& now, Changes& changes) {
  const Values old_values = ValuesOf(before), new_values = ValuesOf(now);
  Values all = old_values;
  all.insert(new_values.begin(), new_values.end());
  const bool other_rule = old_values.at("optimizer rule") != new_values.at("optimizer rule");
  for (const auto& [path, unused] : all) {
    const std::string was = TextOf(old_values, path), is = TextOf(new_values, path);
    const Weight weight = WeightOf(path);
    if (was == is || weight == Weight::kNone) continue;
    // Values of a rule say nothing beside another rule.
    if (other_rule && IsOfRule(path)) continue;
    (weight == Weight::kMeaning ? changes.meaning : changes.course).push_back(absl::StrCat(path, " ", was, " -> ", is));
  }
}

}  // namespace

Record RecordOf(const plan::Plan& plan) {
  return {{"weft", BuiltVersion().number},         {"plan", checkpoint::ToHex(plan.header().hash())},
          {"ranks", plan::RanksAndMeshText(plan)}, {"job", LineOf(plan.header().job())},
          {"host", checkpoint::HostName()},        {"date", checkpoint::TimeText()}};
}

Changes Compare(const Record& before, const Record& now) {
  Changes changes;
  Job job_before, job_now;
  if (ReadJob(before, job_before) && ReadJob(now, job_now)) CompareJobs(job_before, job_now, changes);
  const auto differs = [&](const char* key) {
    const auto was = before.find(key), is = now.find(key);
    return was != before.end() && is != now.end() && was->second != is->second;
  };
  if (differs("data_form"))
    changes.meaning.push_back(absl::StrCat("form of the data ", before.at("data_form"), " -> ", now.at("data_form")));
  changes.other_data = differs("data_hash");
  return changes;
}

std::string DataText(const Record& record) {
  const auto of = [&](const char* key) {
    const auto value = record.find(key);
    return value == record.end() ? "?" : value->second;
  };
  const bool records = record.count("data_records") != 0;
  int64_t count = 0;
  if (!absl::SimpleAtoi(of(records ? "data_records" : "data_tokens"), &count)) count = 0;
  return absl::StrCat(of("data"), " (", plan::CountText(count), records ? " records, " : " tokens, ", of("data_form"),
                      ", hash ", of("data_hash"), ")");
}

}  // namespace weft::run
