#include "runtime/plan/load.h"

#include <google/protobuf/arena.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>

#include "absl/strings/str_cat.h"
#include "google/protobuf/util/message_differencer.h"
#include "tests/plans/corpus.h"

namespace weft::plan {
namespace {

std::string Path(const std::string& name) { return testing::TempDir() + "/" + name; }

std::string Bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void Write(const std::string& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }

Plan Sample() { return ReadCorpusPlan("tests/plans/train.txtpb")->plan; }

std::string Message(const absl::Status& status) {
  return std::string(status.message().data(), status.message().size());
}

// The error of loading these bytes.
std::string ErrorOf(const std::string& bytes) {
  const std::string path = Path("bad.plan");
  Write(path, bytes);
  const absl::StatusOr<Plan> plan = Load(path);
  EXPECT_FALSE(plan.ok());
  EXPECT_EQ(plan.status().code(), absl::StatusCode::kInvalidArgument);
  const std::string message = Message(plan.status());
  EXPECT_EQ(message.find(path + ": "), 0u) << message;
  return message.substr(std::min(message.size(), path.size() + 2));
}

class SavedPlan : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(Save(Sample(), path_).ok());
    bytes_ = Bytes(path_);
  }
  const std::string path_ = Path("sample.plan");
  std::string bytes_;
};

TEST_F(SavedPlan, ComesBack) {
  const absl::StatusOr<Plan> plan = Load(path_);
  ASSERT_TRUE(plan.ok()) << plan.status();
  Plan expected = Sample();
  EXPECT_NE(plan->header().hash(), 0u);
  expected.mutable_header()->set_hash(plan->header().hash());
  EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(*plan, expected));
}

TEST_F(SavedPlan, ComesBackIntoAnArena) {
  google::protobuf::Arena arena;
  Plan* plan = google::protobuf::Arena::CreateMessage<Plan>(&arena);
  ASSERT_TRUE(LoadInto(path_, *plan).ok());
  EXPECT_EQ(plan->stages(0).actors_size(), 6);
}

TEST_F(SavedPlan, IsTheSameBytesEachTime) {
  const std::string again = Path("again.plan");
  ASSERT_TRUE(Save(*Load(path_), again).ok());
  EXPECT_EQ(Bytes(again), bytes_);
}

TEST_F(SavedPlan, IsRefusedWhenCutAnywhere) {
  for (size_t size = 0; size < bytes_.size(); size += size < 40 ? 1 : 97) {
    const std::string error = ErrorOf(bytes_.substr(0, size));
    const std::string expected = size == 0   ? "not a plan: expected a file that weft-compile wrote"
                                 : size < 32 ? absl::StrCat("truncated: expected at least 32 bytes, got ", size)
                                             : absl::StrCat("truncated: expected ", bytes_.size() - 32,
                                                            " bytes after the head, got ", size - 32);
    EXPECT_EQ(error, expected);
  }
}

TEST_F(SavedPlan, IsRefusedWhenAnyByteFlips) {
  for (size_t at = 0; at < bytes_.size(); ++at) {
    std::string bytes = bytes_;
    bytes[at] = static_cast<char>(bytes[at] ^ (1 << (at % 8)));
    const std::string error = ErrorOf(bytes);
    if (at < 8) {
      EXPECT_EQ(error, "not a plan: expected a file that weft-compile wrote");
    } else if (at < 16) {
      EXPECT_EQ(error.find(absl::StrCat("plan version: expected ", kPlanVersion, ", got ")), 0u) << error;
    } else if (at >= 24) {
      EXPECT_EQ(error.find("damaged: expected hash "), 0u) << error;
    }
  }
}

TEST_F(SavedPlan, CarriesItsHash) {
  Plan plan = *Load(path_);
  EXPECT_EQ(plan.header().hash(), HashOf(plan));
}

TEST_F(SavedPlan, IsRefusedWithMoreBehindIt) {
  EXPECT_EQ(ErrorOf(bytes_ + "x"),
            absl::StrCat("damaged: expected ", bytes_.size() - 32, " bytes after the head, got more"));
}

TEST_F(SavedPlan, OfAnotherVersionIsRefused) {
  std::string bytes = bytes_;
  bytes[8] = 1;
  EXPECT_EQ(ErrorOf(bytes), absl::StrCat("plan version: expected ", kPlanVersion,
                                         ", got 1; compile the job again with this version of weft"));
  bytes[8] = kPlanVersion + 1;
  EXPECT_EQ(ErrorOf(bytes), absl::StrCat("plan version: expected ", kPlanVersion, ", got ", kPlanVersion + 1,
                                         "; a newer weft wrote it: run it with that, or compile the job again"));
}

// Everything that a reader has to know: fields and their types, of all messages.
void Describe(const google::protobuf::Descriptor& message, std::set<std::string>& lines) {
  for (int i = 0; i < message.field_count(); ++i) {
    const google::protobuf::FieldDescriptor& field = *message.field(i);
    const google::protobuf::Descriptor* inner = field.message_type();
    const google::protobuf::EnumDescriptor* values = field.enum_type();
    std::string type = inner != nullptr ? inner->full_name() : field.type_name();
    for (int v = 0; values != nullptr && v < values->value_count(); ++v) {
      absl::StrAppend(&type, " ", values->value(v)->name(), "=", values->value(v)->number());
    }
    absl::StrAppend(&type, field.is_repeated() ? " repeated" : "");
    const bool fresh =
        lines.insert(absl::StrCat(message.full_name(), " ", field.number(), " ", field.name(), ": ", type)).second;
    if (fresh && inner != nullptr) Describe(*inner, lines);
  }
}

TEST(PlanVersion, GoesUpWithTheSchema) {
  std::set<std::string> lines;
  Describe(*Plan::descriptor(), lines);
  uint64_t hash = 0xcbf29ce484222325;
  for (const std::string& line : lines) {
    for (unsigned char c : line) hash = (hash ^ c) * 0x100000001b3;
  }
  EXPECT_EQ(absl::StrCat("version ", kPlanVersion, ": ", absl::Hex(hash)), "version 14: 3ee776e2d2851b24")
      << "the schema of plans has changed: raise kPlanVersion, say what is new beside it, and put this here";
}

TEST(Load, RefusesForeignFiles) {
  for (const char* foreign : {"#!/bin/sh\necho hello\n",
                              "\x7f"
                              "ELF and so on and so on and so on",
                              "{\"__metadata__\": {}}", "WEFTPLOT0000000000000000000000000"}) {
    EXPECT_EQ(ErrorOf(foreign), "not a plan: expected a file that weft-compile wrote");
  }
}

TEST(Load, NamesAMissingFile) {
  const absl::Status status = Load(Path("nowhere.plan")).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(Message(status), Path("nowhere.plan") + ": cannot be opened: No such file or directory");
}

TEST(Load, NamesAFolder) {
  const absl::Status status = Load(testing::TempDir()).status();
  EXPECT_EQ(Message(status), testing::TempDir() + ": cannot be read: Is a directory");
}

TEST(Save, KeepsTheOldPlanWhenItCannotWrite) {
  const std::string folder = Path("folder");
  std::filesystem::create_directory(folder);
  EXPECT_EQ(Save(Sample(), folder + "/missing/p.plan").code(), absl::StatusCode::kNotFound);
  // The target is a folder, so that the last step, the renaming, fails.
  const std::string target = folder + "/taken";
  std::filesystem::create_directories(target + "/inside");
  EXPECT_FALSE(Save(Sample(), target).ok());
  int entries = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) entries += entry.exists();
  EXPECT_EQ(entries, 1) << "something is left beside the target";
}

TEST(Save, KnowsBeforeWhetherItCan) {
  const std::string folder = Path("before");
  std::filesystem::create_directory(folder);
  EXPECT_TRUE(CanReplaceFile(folder + "/p.plan").ok());
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  EXPECT_NE(Message(CanReplaceFile(folder)).find("expected the name of a file"), std::string::npos);
  EXPECT_NE(Message(CanReplaceFile(folder + "/none/p.plan")).find("cannot be created"), std::string::npos);
}

// A device that is always full: nothing is renamed over it.
TEST(Save, ReportsAFullDisk) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  const std::string folder = Path("full");
  std::filesystem::create_directory(folder);
  const std::string target = folder + "/p.plan";
  std::error_code error;
  std::filesystem::create_symlink("/dev/full", absl::StrCat(target, ".partial.", getpid()), error);
  ASSERT_FALSE(error);
  const absl::Status status = Save(Sample(), target);
  EXPECT_NE(Message(status).find("cannot be written: No space left on device"), std::string::npos) << status;
  EXPECT_TRUE(std::filesystem::is_empty(folder));
}

// Offsets of runs, bundles, phases, streams for every transfer: whatever a plan has.
TEST(Save, KeepsEveryPlanOfTheCorpus) {
  const absl::StatusOr<std::vector<CorpusPlan>> corpus = ReadCorpus("tests/plans");
  ASSERT_TRUE(corpus.ok()) << corpus.status();
  const std::string path = Path("corpus.plan");
  for (const CorpusPlan& it : *corpus) {
    if (!it.expect.empty()) continue;
    SCOPED_TRACE(it.file);
    ASSERT_TRUE(Save(it.plan, path).ok());
    const absl::StatusOr<Plan> plan = Load(path);
    ASSERT_TRUE(plan.ok()) << plan.status();
    Plan expected = it.plan;
    expected.mutable_header()->set_hash(plan->header().hash());
    EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(*plan, expected));
    const std::string bytes = Bytes(path);
    for (size_t at = 24; at < bytes.size(); at += 13) {
      std::string other = bytes;
      other[at] = static_cast<char>(other[at] ^ (1 << (at % 8)));
      EXPECT_EQ(ErrorOf(other).find("damaged: expected hash "), 0u);
    }
  }
}

TEST(Hash, FollowsEveryFieldButItself) {
  Plan plan = Sample();
  const uint64_t hash = HashOf(plan);
  plan.mutable_header()->set_hash(7);
  EXPECT_EQ(HashOf(plan), hash);
  EXPECT_EQ(plan.header().hash(), 7u);
  plan.mutable_stages(0)->mutable_buffers(3)->set_offset(832);
  EXPECT_NE(HashOf(plan), hash);
}

}  // namespace
}  // namespace weft::plan
