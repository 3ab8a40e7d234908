// weft-run from its arguments to its files, on plans written by hand.
#include "tools/run/run.h"

#include <google/protobuf/text_format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/checkpoint/checksum.h"
#include "runtime/checkpoint/folder_lock.h"
#include "runtime/checkpoint/host_and_time.h"
#include "runtime/checkpoint/safetensors_reader.h"
#include "runtime/checkpoint/safetensors_writer.h"
#include "runtime/plan/load.h"
#include "runtime/plan/plan.pb.h"

namespace weft::run {
namespace {

using ::testing::Contains;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

bool Exists(const std::string& path) {
  struct stat info;
  return stat(path.c_str(), &info) == 0;
}

class RunTest : public ::testing::Test {
 protected:
  RunTest() {
    char folder[] = "/weft_run_XXXXXX";
    path_ = std::string(std::getenv("TEST_TMPDIR")) + folder;
    EXPECT_NE(mkdtemp(path_.data()), nullptr);
    SavePlan("bigram");
    SavePlan("twice");
    std::ofstream text(Path("corpus.txt"));
    for (int i = 0; i < 200; ++i) text << "the quick brown fox jumps over the lazy dog; ";
  }

  std::string Path(const std::string& name) const { return path_ + "/" + name; }

  void SavePlan(const std::string& name) {
    plan::Plan plan;
    const std::string text = ReadFile("tools/run/test/" + name + ".txtpb");
    ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &plan));
    ASSERT_TRUE(plan::Save(plan, Path(name + ".plan")).ok());
  }

  // Runs, keeping what it prints in out_ and err_.
  int Call(const std::vector<std::string>& arguments) {
    std::FILE *out = std::tmpfile(), *err = std::tmpfile();
    const int status = run::Run(arguments, out, err);
    out_ = Drain(out);
    err_ = Drain(err);
    return status;
  }
  int Train(const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {Path("bigram.plan"), "--data", Path("corpus.txt"), "--threads", "2"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return Call(arguments);
  }

  static std::string Drain(std::FILE* file) {
    std::string text(std::ftell(file), '\0');
    std::rewind(file);
    EXPECT_EQ(std::fread(text.data(), 1, text.size(), file), text.size());
    std::fclose(file);
    return text;
  }

  std::vector<nlohmann::json> Metrics(const std::string& name) const {
    std::vector<nlohmann::json> lines;
    std::ifstream file(Path(name));
    for (std::string line; std::getline(file, line);) lines.push_back(nlohmann::json::parse(line));
    std::erase_if(lines, [](const nlohmann::json& line) { return !line.contains("step"); });
    return lines;
  }

  void WriteX() {
    auto writer = checkpoint::SafetensorsWriter::Create(Path("x.safetensors"), {{"x", DType::kF32, {2, 4}}});
    ASSERT_TRUE(writer.ok());
    const float x[] = {0, 1, 2, 3, 4, 5, 6, 7};
    ASSERT_TRUE((*writer)->Write("x", TensorSpec::Whole(DType::kF32, {2, 4}), x).ok());
    ASSERT_TRUE((*writer)->Commit().ok());
  }

  std::string path_, out_, err_;
};

TEST_F(RunTest, TrainsAndReports) {
  ASSERT_EQ(Train({"--steps", "30", "--metrics", Path("m.jsonl"), "--trace=" + Path("trace.json")}), 0) << err_;
  const std::vector<nlohmann::json> metrics = Metrics("m.jsonl");
  ASSERT_EQ(metrics.size(), 30u);
  EXPECT_NEAR(metrics[0]["loss"].get<double>(), 5.55, 0.05);  // log 256
  EXPECT_LT(metrics[29]["loss"].get<double>(), 4.5);
  for (int step = 0; step < 30; ++step) {
    EXPECT_EQ(metrics[step]["step"], step + 1);
    EXPECT_EQ(metrics[step]["lr"], 1.0);
    EXPECT_EQ(metrics[step]["tokens"], 32);
    EXPECT_GT(metrics[step]["grad_norm"].get<double>(), 0);
    EXPECT_GT(metrics[step]["memory_bytes"].get<int64_t>(), 2130688);
  }
  EXPECT_THAT(err_, HasSubstr("bigram: 1 rank, "));
  EXPECT_THAT(err_, HasSubstr("step 30/30  loss "));
  EXPECT_THAT(err_, HasSubstr("30 steps in "));
  EXPECT_TRUE(nlohmann::json::parse(ReadFile(Path("trace.json"))).contains("traceEvents"));
}

TEST_F(RunTest, TracesKernelsIfAsked) {
  const auto names = [&](const std::vector<std::string>& flags) {
    EXPECT_EQ(Train(flags), 0) << err_;
    std::vector<std::string> names;
    const nlohmann::json trace = nlohmann::json::parse(ReadFile(Path("trace.json")));
    for (const nlohmann::json& event : trace["traceEvents"]) {
      if (event["ph"] == "X" && event["args"]["step"] == 2) names.push_back(event["name"]);
    }
    return names;
  };
  const std::vector<std::string> actors = names({"--steps", "2", "--trace", Path("trace.json")});
  EXPECT_THAT(actors, Not(Contains(HasSubstr("/0 "))));
  const std::vector<std::string> both = names({"--steps", "2", "--trace", Path("trace.json"), "--trace-kernels"});
  EXPECT_GT(both.size(), actors.size());
  EXPECT_THAT(both, Contains(EndsWith("/0 input")));
}

TEST_F(RunTest, QuietSaysNothing) {
  EXPECT_EQ(Train({"--steps", "2", "--quiet"}), 0);
  EXPECT_THAT(err_, IsEmpty());
  EXPECT_THAT(out_, IsEmpty());
}

TEST_F(RunTest, AResumedRunIsTheSameRun) {
  ASSERT_EQ(Train({"--steps", "9", "--quiet", "--checkpoint-dir", Path("whole"), "--metrics", Path("whole.jsonl")}), 0);
  const std::vector<std::string> halves = {"--quiet", "--checkpoint-dir", Path("halves"), "--checkpoint-every",
                                           "2",       "--resume",         "--metrics",    Path("halves.jsonl")};
  for (const char* steps : {"4", "9"}) {
    std::vector<std::string> arguments = halves;
    arguments.insert(arguments.end(), {"--steps", steps});
    ASSERT_EQ(Train(arguments), 0) << err_;
  }
  const std::vector<nlohmann::json> whole = Metrics("whole.jsonl"), resumed = Metrics("halves.jsonl");
  ASSERT_EQ(whole.size(), 9u);
  ASSERT_EQ(resumed.size(), 9u);
  for (int step = 0; step < 9; ++step) EXPECT_EQ(whole[step]["loss"], resumed[step]["loss"]) << step;
  for (const char* file : {"/step-00000009/model.safetensors", "/step-00000009/optimizer.safetensors"}) {
    EXPECT_FALSE(ReadFile(Path("whole") + file).empty());
    EXPECT_EQ(ReadFile(Path("whole") + file), ReadFile(Path("halves") + file)) << file;
  }
  EXPECT_TRUE(Exists(Path("halves/step-00000002")));
  EXPECT_TRUE(Exists(Path("halves/step-00000008")));
}

TEST_F(RunTest, InitialParametersComeFromAFile) {
  ASSERT_EQ(Train({"--steps", "5", "--quiet", "--checkpoint-dir", Path("saved")}), 0);
  ASSERT_EQ(Train({"--steps", "1", "--quiet", "--metrics", Path("m.jsonl"), "--init",
                   Path("saved/step-00000005/model.safetensors")}),
            0)
      << err_;
  EXPECT_LT(Metrics("m.jsonl")[0]["loss"].get<double>(), 5.45);
}

TEST_F(RunTest, TheSeedIsTheRunsOwn) {
  for (const char* seed : {"1", "2"}) {
    ASSERT_EQ(Train({"--steps", "1", "--quiet", "--seed", seed, "--metrics", Path(std::string("seed") + seed)}), 0);
  }
  EXPECT_NE(Metrics("seed1")[0]["loss"], Metrics("seed2")[0]["loss"]);
}

TEST_F(RunTest, AResumeKeepsTheSeed) {
  ASSERT_EQ(Train({"--steps", "1", "--quiet", "--seed", "1", "--checkpoint-dir", Path("c")}), 0);
  EXPECT_EQ(Train({"--steps", "2", "--quiet", "--seed", "2", "--checkpoint-dir", Path("c"), "--resume"}), 2);
  EXPECT_THAT(err_, HasSubstr("--seed: expected that of the checkpoint, 1, got 2"));
}

TEST_F(RunTest, KeepsTheNewestCheckpoints) {
  ASSERT_EQ(Train({"--steps", "6", "--quiet", "--checkpoint-dir", Path("c"), "--checkpoint-every", "1",
                   "--checkpoint-keep", "2"}),
            0);
  EXPECT_FALSE(Exists(Path("c/step-00000004")));
  EXPECT_TRUE(Exists(Path("c/step-00000005")));
  EXPECT_TRUE(Exists(Path("c/step-00000006")));
}

TEST_F(RunTest, ACopyForCheckpointsIsCountedAndOptional) {
  const std::vector<std::string> flags = {"--steps", "4", "--checkpoint-every", "2"};
  const auto train = [&](const std::string& folder, const std::vector<std::string>& more) {
    std::vector<std::string> arguments = flags;
    arguments.insert(arguments.end(), {"--checkpoint-dir", Path(folder)});
    arguments.insert(arguments.end(), more.begin(), more.end());
    return Train(arguments);
  };
  ASSERT_EQ(train("default", {}), 0);
  EXPECT_THAT(err_, HasSubstr(" planned, and 512 KiB for checkpoints beside it\n"));  // the table, and its momentum
  ASSERT_EQ(train("off", {"--checkpoint-async", "off"}), 0);
  EXPECT_THAT(err_, Not(HasSubstr("for checkpoints")));
  ASSERT_EQ(Train({"--steps", "4", "--checkpoint-dir", Path("end")}), 0);  // where nothing goes on
  EXPECT_THAT(err_, Not(HasSubstr("for checkpoints")));
  for (const char* file : {"/step-00000002/model.safetensors", "/step-00000004/model.safetensors"}) {
    EXPECT_FALSE(ReadFile(Path("off") + file).empty());
    EXPECT_EQ(ReadFile(Path("default") + file), ReadFile(Path("off") + file)) << file;
  }
}

TEST_F(RunTest, ARestartIsTold) {
  const auto train = [&](const char* steps, const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"--quiet",       "--checkpoint-dir", Path("c"), "--metrics",
                                          Path("m.jsonl"), "--steps",          steps};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return Train(arguments);
  };
  const auto restarts = [&] {
    std::vector<nlohmann::json> lines;
    std::ifstream file(Path("m.jsonl"));
    for (std::string line; std::getline(file, line);) lines.push_back(nlohmann::json::parse(line));
    std::erase_if(lines, [](const nlohmann::json& line) { return !line.contains("restart"); });
    return lines;
  };
  ASSERT_EQ(train("4", {}), 0);
  {  // lost, after two steps more
    std::ofstream lines(Path("m.jsonl"), std::ios::app);
    lines << R"({"step":5,"loss":1})" << "\n" << R"({"step":6,"loss":1})" << "\n";
  }
  ASSERT_EQ(train("4", {"--resume", "--restarted", "rank 1 is lost"}), 0);  // and lost again at once
  EXPECT_EQ(err_, "restarted after step 4; steps 5 to 6 are done again, as rank 1 is lost\n");
  EXPECT_EQ(Metrics("m.jsonl").size(), 4u);
  ASSERT_EQ(train("5", {"--resume", "--restarted", "rank \"2\" is lost"}), 0);
  EXPECT_EQ(err_, "restarted after step 4, as rank \"2\" is lost\n");
  EXPECT_EQ(Metrics("m.jsonl").size(), 5u);
  ASSERT_EQ(restarts().size(), 2u);
  EXPECT_EQ(restarts()[0], nlohmann::json::parse(R"({"restart":{"step":4,"again":2,"reason":"rank 1 is lost"}})"));
  EXPECT_EQ(restarts()[1], nlohmann::json::parse(R"({"restart":{"step":4,"again":0,"reason":"rank \"2\" is lost"}})"));
}

TEST_F(RunTest, KeepsSomeCheckpointsForEver) {
  ASSERT_EQ(Train({"--steps", "8", "--quiet", "--checkpoint-dir", Path("c"), "--checkpoint-every", "1",
                   "--checkpoint-keep", "2", "--checkpoint-keep-every", "3"}),
            0);
  for (int step = 1; step <= 8; ++step) {
    EXPECT_EQ(Exists(Path("c/step-0000000") + std::to_string(step)), step == 3 || step >= 6) << step;
  }
}

TEST_F(RunTest, ATokenOutsideTheVocabularyNamesWhereItWasMet) {
  plan::Plan plan;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(ReadFile("tools/run/test/bigram.txtpb"), &plan));
  plan.mutable_header()->mutable_job()->mutable_data()->set_format(U16);
  ASSERT_TRUE(plan::Save(plan, Path("u16.plan")).ok());
  std::vector<uint16_t> tokens(2000, 300);
  std::ofstream(Path("tokens.bin"), std::ios::binary).write(reinterpret_cast<const char*>(tokens.data()), 4000);
  EXPECT_EQ(Call({Path("u16.plan"), "--data", Path("tokens.bin"), "--steps", "1", "--threads", "1", "--quiet",
                  "--checkpoint-dir", Path("c")}),
            2);
  EXPECT_EQ(err_,
            "weft-run: " + Path("tokens.bin") + ": expected tokens below 256, the rows of `table`, got 300 at 0\n");
  EXPECT_FALSE(Exists(Path("c")));
}

TEST_F(RunTest, SaysWhatItReads) {
  ASSERT_EQ(Train({"--steps", "1"}), 0);
  EXPECT_THAT(err_, HasSubstr(Path("corpus.txt") + ": 9,000 tokens, text, largest 122 of vocabulary 256; 1,124 "
                                                   "sequences of 8, less than 0.01 epochs in 1 step\n"));
}

TEST_F(RunTest, CheckpointsAndMetricsSayWhatWasRun) {
  ASSERT_EQ(Train({"--steps", "1", "--quiet", "--checkpoint-dir", Path("c"), "--metrics", Path("m.jsonl")}), 0);
  const auto first = nlohmann::json::parse(ReadFile(Path("m.jsonl")).substr(0, ReadFile(Path("m.jsonl")).find('\n')));
  const auto manifest = nlohmann::json::parse(ReadFile(Path("c/step-00000001/manifest.json")));
  for (const nlohmann::json& run : {first["run"], manifest["run"]}) {
    EXPECT_EQ(run["data"], Path("corpus.txt"));
    EXPECT_EQ(run["data_tokens"], "9000");
    EXPECT_EQ(run["data_form"], "text");
    EXPECT_EQ(run["job"], "data { format: TEXT } seed: 7 checkpoint { prefixes: \"transformer.\" }");
    for (const char* key : {"weft", "plan", "data_hash", "host", "date"}) EXPECT_NE(run[key], "") << key;
  }
}

// What lies in a folder: names and contents.
std::map<std::string, std::string> Files(const std::string& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    files[entry.path()] = entry.is_directory() ? "" : ReadFile(entry.path());
  return files;
}

TEST_F(RunTest, ANewRunLeavesTheCheckpointsOfAnEarlierOne) {
  ASSERT_EQ(Train({"--steps", "4", "--quiet", "--checkpoint-dir", Path("c"), "--checkpoint-every", "2"}), 0);
  const auto before = Files(Path("c"));
  EXPECT_EQ(Train({"--steps", "2", "--quiet", "--checkpoint-dir", Path("c"), "--checkpoint-keep", "1"}), 2);
  EXPECT_EQ(err_, "weft-run: --checkpoint-dir: " + Path("c") +
                      ": expected no checkpoints of an earlier run, got step-00000004 and 1 more; pass --resume to go "
                      "on from there, or another folder\n");
  EXPECT_EQ(Files(Path("c")), before);
}

TEST_F(RunTest, AFileWithTheNameOfACheckpointStays) {
  std::filesystem::create_directories(Path("c"));
  std::ofstream(Path("c/step-00000001")) << "notes";
  for (const bool resume : {false, true}) {
    std::vector<std::string> flags = {"--steps",           "2", "--quiet", "--checkpoint-dir", Path("c"),
                                      "--checkpoint-keep", "1"};
    if (resume) flags.push_back("--resume");
    EXPECT_EQ(Train(flags), 2);
    EXPECT_THAT(err_, HasSubstr("/c/step-00000001: expected the folder of a checkpoint, got a file\n"));
  }
  EXPECT_EQ(ReadFile(Path("c/step-00000001")), "notes");
}

TEST_F(RunTest, AFolderHasOneRunAtATime) {
  {
    const auto other = checkpoint::FolderLock::Take(Path("c"));
    ASSERT_TRUE(other.ok());
    EXPECT_EQ(Train({"--steps", "2", "--quiet", "--checkpoint-dir", Path("c"), "--resume"}), 2);
    EXPECT_THAT(err_,
                HasSubstr("--checkpoint-dir: " + Path("c") + ": expected no other run at work here, got process " +
                          std::to_string(getpid()) + " on "));
  }
  // Of a run that was killed it is taken over.
  std::filesystem::create_directories(Path("c"));
  std::ofstream(Path("c/.lock")) << checkpoint::HostName() << " 4711 2026-01-02T03:04:05Z\n";
  EXPECT_EQ(Train({"--steps", "2", "--checkpoint-dir", Path("c")}), 0);
  EXPECT_THAT(err_, HasSubstr(Path("c") + ": taken over from process 4711 on " + checkpoint::HostName() +
                              " since 2026-01-02T03:04:05Z, which has ended\n"));
  EXPECT_FALSE(Exists(Path("c/.lock")));
}

TEST_F(RunTest, ADamagedCheckpointIsPassedOver) {
  ASSERT_EQ(Train({"--steps", "6", "--quiet", "--checkpoint-dir", Path("c"), "--checkpoint-every", "2"}), 0);
  ASSERT_EQ(Train({"--steps", "6", "--quiet", "--checkpoint-dir", Path("whole")}), 0);
  const auto damage = [&](const std::string& name) {
    std::string bytes = ReadFile(Path(name));
    bytes[bytes.size() / 2] ^= 4;
    std::ofstream(Path(name), std::ios::binary) << bytes;
  };
  damage("c/step-00000006/model.safetensors");
  damage("c/step-00000004/manifest.json");
  ASSERT_EQ(Train({"--steps", "2", "--quiet", "--checkpoint-dir", Path("c"), "--resume"}), 0);
  EXPECT_THAT(err_, HasSubstr("damaged"));
  ASSERT_EQ(Train({"--steps", "6", "--checkpoint-dir", Path("c"), "--resume"}), 0) << err_;
  EXPECT_THAT(err_, HasSubstr("/c/step-00000006/model.safetensors: `table`: damaged: expected checksum "));
  EXPECT_THAT(err_, HasSubstr("; trying " + Path("c/step-00000004") + "\n"));
  EXPECT_THAT(err_, HasSubstr("/c/step-00000004/manifest.json: damaged: expected what a checkpoint writer wrote, got "
                              "other bytes; trying " +
                              Path("c/step-00000002") + "\n"));
  EXPECT_THAT(err_, HasSubstr("resuming after step 2 from " + Path("c/step-00000002") + "\n"));
  EXPECT_EQ(ReadFile(Path("c/step-00000006/model.safetensors")),
            ReadFile(Path("whole/step-00000006/model.safetensors")));
  // Without a whole one the newest tells.
  damage("c/step-00000006/optimizer.safetensors");
  damage("c/step-00000002/model.safetensors");
  EXPECT_EQ(Train({"--steps", "7", "--quiet", "--checkpoint-dir", Path("c"), "--resume"}), 2);
  EXPECT_THAT(err_, HasSubstr("/c/step-00000006/optimizer.safetensors: `table.momentum`: damaged: "));
}

TEST_F(RunTest, AResumeReadsTheSameData) {
  ASSERT_EQ(Train({"--steps", "2", "--quiet", "--checkpoint-dir", Path("c")}), 0);
  const auto resume = [&](const std::string& data, const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {Path("bigram.plan"), "--data", Path(data),         "--steps", "3",
                                          "--threads",         "1",      "--checkpoint-dir", Path("c"), "--resume"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return Call(arguments);
  };
  // One byte is another one.
  std::string text = ReadFile(Path("corpus.txt"));
  text[5000] ^= 1;
  std::ofstream(Path("other.txt")) << text;
  EXPECT_EQ(resume("other.txt", {"--quiet"}), 2);
  EXPECT_THAT(err_, HasSubstr("weft-run: " + Path("other.txt") + ": expected the data of " + Path("c/step-00000002") +
                              ", " + Path("corpus.txt") + " (9,000 tokens, text, hash "));
  EXPECT_THAT(err_, HasSubstr("), got " + Path("other.txt") + " (9,000 tokens, text, hash "));
  EXPECT_THAT(err_, EndsWith("); pass --other-data if that is meant\n"));
  EXPECT_FALSE(Exists(Path("c/step-00000003")));
  // --allow-changed is about the model.
  EXPECT_EQ(resume("other.txt", {"--quiet", "--allow-changed"}), 2);
  // The same text elsewhere.
  std::ofstream(Path("moved.txt")) << ReadFile(Path("corpus.txt"));
  EXPECT_EQ(resume("moved.txt", {}), 0);
  EXPECT_THAT(err_, Not(HasSubstr("changed")));
  EXPECT_EQ(resume("other.txt", {"--other-data"}), 0);
  EXPECT_THAT(err_, HasSubstr("changed since the checkpoint: data " + Path("moved.txt") + " (9,000 tokens, text, "));
}

TEST_F(RunTest, AResumeSaysWhatHasChanged) {
  ASSERT_EQ(Train({"--steps", "2", "--quiet", "--checkpoint-dir", Path("c")}), 0);
  plan::Plan plan;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(ReadFile("tools/run/test/bigram.txtpb"), &plan));
  const auto resume = [&](const std::string& data, const std::vector<std::string>& more) {
    EXPECT_TRUE(plan::Save(plan, Path("other.plan")).ok());
    std::vector<std::string> arguments = {Path("other.plan"), "--data", Path(data),         "--steps", "2",
                                          "--threads",        "1",      "--checkpoint-dir", Path("c"), "--resume"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return Call(arguments);
  };
  EXPECT_EQ(resume("corpus.txt", {}), 0);
  EXPECT_THAT(err_, Not(HasSubstr("changed")));
  plan.mutable_header()->mutable_job()->set_seed(77);
  EXPECT_EQ(resume("corpus.txt", {}), 0);
  EXPECT_THAT(err_, HasSubstr("changed since the checkpoint: seed 7 -> 77 (the checkpoint's 7 goes on)\n"));
  EXPECT_EQ(resume("corpus.txt", {"--seed", "7"}), 0);
  EXPECT_THAT(err_, Not(HasSubstr("changed")));
  plan.mutable_header()->mutable_job()->set_seed(7);
  plan.mutable_header()->mutable_job()->mutable_optimizer()->set_clip_norm(2);
  EXPECT_EQ(resume("corpus.txt", {}), 0);
  EXPECT_THAT(err_, HasSubstr("changed since the checkpoint: optimizer.clip_norm none -> 2\n"));
  plan.mutable_header()->mutable_job()->mutable_model()->add_set("heads=2");
  EXPECT_EQ(resume("corpus.txt", {"--quiet"}), 2);
  EXPECT_EQ(err_, "weft-run: " + Path("c/step-00000002") +
                      ": expected the model, optimizer and form of data that it was saved with, got model.set heads "
                      "none -> 2; pass --allow-changed if that is meant\n");
  EXPECT_EQ(resume("corpus.txt", {"--allow-changed"}), 0);
  EXPECT_THAT(err_,
              HasSubstr("changed since the checkpoint: model.set heads none -> 2, optimizer.clip_norm none -> 2"));
}

// Version 1 of the manifest did not say what the run was.
TEST_F(RunTest, AResumeFromAnOlderVersionSaysThatItCannotCompare) {
  ASSERT_EQ(Train({"--steps", "2", "--quiet", "--checkpoint-dir", Path("c")}), 0);
  const std::string path = Path("c/step-00000002/manifest.json");
  auto json = nlohmann::json::parse(ReadFile(path));
  json.erase("checksum");
  json.erase("run");
  json["version"] = 1;
  const std::string text = json.dump(1) + "\n";
  json["checksum"] = checkpoint::ToHex(checkpoint::Checksum(1, 0, text.data(), static_cast<int64_t>(text.size())));
  std::ofstream(path) << json.dump(1) << "\n";
  EXPECT_EQ(Train({"--steps", "3", "--checkpoint-dir", Path("c"), "--resume"}), 0);
  EXPECT_THAT(err_, HasSubstr("an older weft wrote the checkpoint: what has changed since is not known\n"));
}

TEST_F(RunTest, InitSaysWhatItTakes) {
  ASSERT_EQ(Train({"--steps", "5", "--quiet", "--checkpoint-dir", Path("saved")}), 0);
  const std::string saved = Path("saved/step-00000005/model.safetensors");
  ASSERT_EQ(Train({"--steps", "1", "--init", saved}), 0) << err_;
  EXPECT_THAT(err_, HasSubstr(saved + ": loaded 1 of 1 parameters\n"));
  auto writer = checkpoint::SafetensorsWriter::Create(
      Path("more.safetensors"), {{"transformer.table", DType::kF32, {65536}}, {"bias", DType::kF32, {2}}});
  ASSERT_TRUE(writer.ok());
  const std::vector<float> values(65536, 0.5f);
  ASSERT_TRUE((*writer)->Write("transformer.table", TensorSpec::Whole(DType::kF32, {65536}), values.data()).ok());
  ASSERT_TRUE((*writer)->Write("bias", TensorSpec::Whole(DType::kF32, {2}), values.data()).ok());
  ASSERT_TRUE((*writer)->Commit().ok());
  ASSERT_EQ(Train({"--steps", "1", "--init", Path("more.safetensors")}), 0) << err_;
  EXPECT_THAT(err_, HasSubstr("more.safetensors: loaded 1 of 1 parameters; of no use here: `bias`\n"));
  WriteX();  // has none of them: not even a part
  EXPECT_EQ(Train({"--steps", "1", "--init", Path("x.safetensors"), "--init-partial"}), 2);
  EXPECT_THAT(err_, HasSubstr("x.safetensors: expected a tensor `table`, got `x`\n"));
}

// A plan whose first update makes the table no numbers: step 1 still reports
// good ones, step 2 cannot.
class DivergingTest : public RunTest {
 protected:
  DivergingTest() {
    plan::Plan plan;
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(ReadFile("tools/run/test/bigram.txtpb"), &plan));
    for (plan::Kernel& kernel : *plan.mutable_stages(0)->mutable_actors(1)->mutable_kernels()) {
      if (kernel.name() == "learning_rate") (*kernel.mutable_attributes())["lr"].set_float_(1e39);
    }
    EXPECT_TRUE(plan::Save(plan, Path("diverging.plan")).ok());
  }

  int Diverge(const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {
        Path("diverging.plan"), "--data", Path("corpus.txt"), "--threads", "1", "--quiet", "--steps", "6"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return Call(arguments);
  }
};

TEST_F(DivergingTest, ALossThatIsNoNumberEndsTheRun) {
  EXPECT_EQ(Diverge({"--metrics", Path("m.jsonl"), "--checkpoint-dir", Path("c")}), 1);
  EXPECT_EQ(err_,
            "weft-run: step 2: loss: expected a finite number, got nan; nothing was saved"
            " (--debug-nan says which kernel made it, --allow-nonfinite goes on)\n");
  EXPECT_FALSE(Exists(Path("c")));
  const std::vector<nlohmann::json> metrics = Metrics("m.jsonl");
  ASSERT_EQ(metrics.size(), 2u);
  EXPECT_TRUE(metrics[0]["loss"].is_number());
  EXPECT_TRUE(metrics[1]["loss"].is_null());
}

TEST_F(DivergingTest, ABadStateIsNotSavedOverAGoodOne) {
  ASSERT_EQ(Train({"--steps", "2", "--quiet", "--checkpoint-dir", Path("c")}), 0) << err_;
  const std::string model = ReadFile(Path("c/step-00000002/model.safetensors"));
  EXPECT_EQ(Diverge({"--checkpoint-dir", Path("c"), "--checkpoint-every", "1", "--checkpoint-keep", "1", "--resume"}),
            1);
  EXPECT_EQ(err_,
            "weft-run: step 3 cannot be saved: `table`: expected finite numbers, got others;"
            " step 2 was saved last (--debug-nan says which kernel made it, --allow-nonfinite goes on)\n");
  EXPECT_EQ(ReadFile(Path("c/latest")), "step-00000002\n");
  EXPECT_EQ(ReadFile(Path("c/step-00000002/model.safetensors")), model);
  EXPECT_FALSE(Exists(Path("c/step-00000003")));
  EXPECT_FALSE(Exists(Path("c/.step-00000003.partial")));
}

TEST_F(DivergingTest, GoesOnWhenItIsTold) {
  EXPECT_EQ(Diverge({"--allow-nonfinite", "--metrics", Path("m.jsonl"), "--checkpoint-dir", Path("c")}), 0) << err_;
  EXPECT_EQ(Metrics("m.jsonl").size(), 6u);
  EXPECT_TRUE(Exists(Path("c/step-00000006")));
}

TEST_F(RunTest, EvaluatesAFunction) {
  WriteX();
  ASSERT_EQ(Call({Path("twice.plan"), "--inputs", Path("x.safetensors"), "--outputs", Path("y.safetensors"),
                  "--show-shards"}),
            0)
      << err_;
  EXPECT_THAT(out_, HasSubstr("output `y`: global shape [2,4], sbp tensor=S(1), placement cpu [0, 1]"));
  EXPECT_THAT(out_, HasSubstr("rank 1: local shape [2,2] at (0,2)"));
  const auto file = checkpoint::SafetensorsReader::Open(Path("y.safetensors"));
  ASSERT_TRUE(file.ok());
  const auto entry = (*file)->Find("y");
  ASSERT_TRUE(entry.ok());
  std::vector<float> y(8);
  ASSERT_TRUE(
      (*file)
          ->Read(**entry, TensorSpec::Whole(DType::kF32, {2, 4}), {2, 4}, checkpoint::Conversion::kNone, y.data())
          .ok());
  EXPECT_THAT(y, ::testing::ElementsAre(0, 2, 4, 6, 8, 10, 12, 14));
}

TEST_F(RunTest, ATerminationSavesAndIsWell) {
  std::thread other([this] {
    while (ReadFile(Path("m.jsonl")).empty()) std::this_thread::yield();  // until it steps
    kill(getpid(), SIGTERM);
  });
  EXPECT_EQ(Train({"--steps", "1000000000", "--checkpoint-dir", Path("c"), "--metrics", Path("m.jsonl")}), 0);
  other.join();
  EXPECT_THAT(err_, HasSubstr("stopped after step "));
  EXPECT_TRUE(Exists(Path("c/latest")));
}

TEST_F(RunTest, AnInterruptSavesAndStops) {
  std::thread other([this] {
    while (ReadFile(Path("m.jsonl")).empty()) std::this_thread::yield();  // until it steps
    kill(getpid(), SIGINT);
  });
  EXPECT_EQ(Train({"--steps", "1000000000", "--quiet", "--checkpoint-dir", Path("c"), "--metrics", Path("m.jsonl")}),
            1);
  other.join();
  EXPECT_THAT(err_, HasSubstr("interrupted after step "));
  EXPECT_THAT(err_, HasSubstr("which was saved"));
  EXPECT_TRUE(Exists(Path("c/latest")));
}

struct Wrong {
  std::vector<std::string> arguments;  // "%" is the test's folder
  int status;
  std::string message;
};

class WrongRequestTest : public RunTest, public ::testing::WithParamInterface<Wrong> {};

TEST_P(WrongRequestTest, IsExplained) {
  WriteX();
  std::ofstream(Path("tiny.txt")) << "abc";
  std::ofstream(Path("broken.plan")) << ReadFile(Path("bigram.plan")).substr(0, 500);
  std::vector<std::string> arguments = GetParam().arguments;
  for (std::string& argument : arguments) {
    if (argument[0] == '%') argument = path_ + argument.substr(1);
  }
  EXPECT_EQ(Call(arguments), GetParam().status);
  EXPECT_THAT(err_, HasSubstr("weft-run: "));
  EXPECT_THAT(err_, HasSubstr(GetParam().message));
  EXPECT_EQ(std::count(err_.begin(), err_.end(), '\n'), 1);
}

INSTANTIATE_TEST_SUITE_P(
    All, WrongRequestTest,
    ::testing::Values(
        Wrong{{}, 2, "expected a plan"}, Wrong{{"--bogus"}, 2, "--bogus: no such flag"},
        Wrong{{"%/bigram.plan", "%/twice.plan"}, 2, "expected one plan"},
        Wrong{{"%/bigram.plan", "--steps", "x"}, 2, "--steps: expected a whole number of at least 0, got `x`"},
        Wrong{{"%/bigram.plan", "--cuda-graphs", "x"}, 2, "--cuda-graphs: expected on or off, got `x`"},
        Wrong{{"%/bigram.plan", "--steps"}, 2, "--steps: expected a value, got none"},
        Wrong{{"%/bigram.plan", "--quiet=1"}, 2, "--quiet: expected no value"},
        Wrong{{"%/bigram.plan", "--data", "a", "--data", "b"}, 2, "--data: expected once, got `a` and `b`"},
        Wrong{{"%/bigram.plan", "--steps=1", "--steps=1"}, 2, "--steps: expected once, got `1` and `1`"},
        Wrong{{"%/bigram.plan", "--init-partial"}, 2, "--init: expected, as --init-partial needs it"},
        Wrong{{"%/bigram.plan", "--allow-changed"}, 2, "--resume: expected, as --allow-changed needs it"},
        Wrong{{"%/bigram.plan", "--other-data"}, 2, "--resume: expected, as --other-data needs it"},
        Wrong{{"%/bigram.plan", "--resume"}, 2, "--checkpoint-dir: expected, as another flag needs it"},
        Wrong{{"%/bigram.plan", "--trace-kernels"}, 2, "--trace: expected, as --trace-kernels needs it"},
        Wrong{{"%/no.plan"}, 2, "/no.plan: "}, Wrong{{"%/corpus.txt"}, 2, "/corpus.txt: "},
        Wrong{{"%/broken.plan"}, 2, "/broken.plan: "},
        Wrong{{"%/bigram.plan"}, 2, "--data: expected a file, as the plan reads `labels`, got none"},
        Wrong{{"%/bigram.plan", "--data", "%/no.txt"}, 2, "/no.txt: "},
        Wrong{
            {"%/bigram.plan", "--data", "%/tiny.txt"},
            2,
            "/tiny.txt: expected at least 33 tokens, for 4 sequences a step of 8 each and a label for the last, got 3"},
        Wrong{{"%/bigram.plan", "--data", "%/x.safetensors"}, 2, "/x.safetensors: expected a tensor `labels`, got `x`"},
        Wrong{{"%/bigram.plan", "--data", "labels=%/x.safetensors,"}, 2, "--data: expected FIELD=FILE,..., got ``"},
        Wrong{{"%/bigram.plan", "--data", "labels=a,labels=b"}, 2, "--data: expected one file for `labels`, got two"},
        Wrong{{"%/bigram.plan", "--data", "labels=a,y=b"},
              2,
              "--data: expected files for what the plan reads, `labels`, `tokens`, got `y`"},
        Wrong{{"%/bigram.plan", "--data", "labels=a"}, 2, "--data: expected a file for `tokens` too, as tokens=FILE"},
        Wrong{{"%/bigram.plan", "--data", "%"}, 2, "x.safetensors: expected a tensor `labels`, got `x`"},
        Wrong{{"%/bigram.plan", "--data", "%/corpus.txt", "--init", "%/x.safetensors"},
              2,
              "/x.safetensors: expected a tensor `table`"},
        Wrong{{"%/bigram.plan", "--data", "%/corpus.txt", "--metrics", "%/no/m.jsonl"},
              2,
              "/no/m.jsonl: cannot be created"},
        Wrong{{"%/bigram.plan", "--inputs", "%/x.safetensors"},
              2,
              "--inputs: expected only with a function, got graph `bigram`"},
        Wrong{
            {"%/twice.plan", "--data", "%/corpus.txt"},
            2,
            "/corpus.txt: expected records for the plan's inputs (a .safetensors file, a folder, FIELD=FILE,...), got"},
        Wrong{{"%/twice.plan", "--data", "%/x.safetensors"},
              2,
              "--outputs: expected a file, as no output is one number a sample, [2], whose mean is shown"},
        Wrong{{"%/twice.plan", "--data", "%/x.safetensors", "--inputs", "%/x.safetensors"},
              2,
              "--data: expected only with a function that has no --inputs"},
        Wrong{{"%/twice.plan", "--data", "%/x.safetensors", "--show-shards"},
              2,
              "--show-shards: expected only with --inputs"},
        Wrong{{"%/twice.plan", "--inputs", "%/x.safetensors", "--metrics", "%/m.jsonl"},
              2,
              "--metrics: expected only with --data, or with a graph that trains"},
        Wrong{{"%/twice.plan", "--allow-nonfinite"},
              2,
              "--allow-nonfinite: expected only with a graph that trains, got graph `twice`"},
        Wrong{{"%/twice.plan", "--show-shards"},
              2,
              "--inputs: expected a file, or --data, as the plan reads `x`, got none"},
        Wrong{{"%/twice.plan", "--inputs", "%/corpus.txt"}, 2, "/corpus.txt: "}));

TEST_F(RunTest, HelpTeaches) {
  EXPECT_EQ(Call({"--help"}), 0);
  for (const char* flag :
       {"--data",        "--init",          "--steps",      "--seed",         "--checkpoint-dir", "--checkpoint-every",
        "--resume",      "--allow-changed", "--other-data", "--init-partial", "--metrics",        "--allow-nonfinite",
        "--trace",       "--trace-kernels", "--threads",    "--quiet",        "--inputs",         "--outputs",
        "--show-shards", "exit status"}) {
    EXPECT_THAT(out_, HasSubstr(flag));
  }
}

}  // namespace
}  // namespace weft::run
