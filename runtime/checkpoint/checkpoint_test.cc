#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>
#include <vector>

#include "runtime/checkpoint/checkpoint_reader.h"
#include "runtime/checkpoint/checkpoint_writer.h"
#include "runtime/checkpoint/directory.h"
#include "tests/fixtures/checkpoint_model.h"

namespace weft::checkpoint {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr TestMesh kMeshes[] = {{1, 1}, {2, 2}, {4, 1}, {1, 4}};

class CheckpointTest : public testing::Test {
 protected:
  CheckpointTest() : folder_(testing::TempDir() + "/" + testing::UnitTest::GetInstance()->current_test_info()->name()) {
    fs::remove_all(folder_);
  }

  CheckpointWriter::Options Options(int64_t step, int64_t last = 0, int64_t every = 0) const {
    return {folder_, step, 7, {{"plan", "hash"}}, {.last = last, .every = every}};
  }

  std::string Contents(const std::string& name) const {
    std::ifstream in(folder_ + "/" + name, std::ios::binary);
    std::ostringstream out;
    out << in.rdbuf();
    return out.str();
  }

  // What lies in the folder.
  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_)) names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
  }

  const std::string folder_;
};

// As processes do: one creates and commits, the others join.
TEST_F(CheckpointTest, SeveralWritersMakeOne) {
  const TestMesh mesh{2, 2};
  auto first = CheckpointWriter::Create(Options(40), Infos(false), Infos(true));
  ASSERT_TRUE(first.ok()) << first.status();
  ASSERT_TRUE(WriteRank(**first, mesh, 0, 1).ok());
  std::vector<std::string> parts;
  for (int64_t rank = 1; rank < mesh.ranks(); ++rank) {
    auto writer = CheckpointWriter::Join(Options(40), Infos(false), Infos(true));
    ASSERT_TRUE(writer.ok()) << writer.status();
    ASSERT_TRUE(WriteRank(**writer, mesh, rank, 1).ok());
    const absl::StatusOr<std::string> part = (*writer)->Finish();
    ASSERT_TRUE(part.ok()) << part.status();
    parts.push_back(*part);
    EXPECT_EQ((*writer)->Commit().code(), absl::StatusCode::kFailedPrecondition);
  }
  EXPECT_THAT(Names(), ElementsAre(".step-00000040.partial"));  // who has joined and goes leaves it
  EXPECT_EQ((*first)->Adopt("no part").code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ((*first)->Adopt(parts[0].substr(0, parts[0].size() - 1)).code(), absl::StatusCode::kDataLoss);
}

TEST_F(CheckpointTest, AdoptsWhatOthersHaveWritten) {
  const TestMesh mesh{2, 2};
  ASSERT_TRUE(Save(Options(40), {}, 1).ok());
  const std::string model = Contents("step-00000040/model.safetensors");
  const std::string manifest = Contents("step-00000040/manifest.json");
  for (const bool all : {false, true}) {
    fs::remove_all(folder_);
    auto first = CheckpointWriter::Create(Options(40), Infos(false), Infos(true));
    ASSERT_TRUE(first.ok()) << first.status();
    ASSERT_TRUE(WriteRank(**first, mesh, 0, 1).ok());
    for (int64_t rank = 1; rank < mesh.ranks(); ++rank) {
      auto writer = CheckpointWriter::Join(Options(40), Infos(false), Infos(true));
      ASSERT_TRUE(WriteRank(**writer, mesh, rank, 1).ok());
      if (rank < 3 || all) ASSERT_TRUE((*first)->Adopt(*(*writer)->Finish()).ok());
    }
    if (!all) {  // what nobody tells of is not there
      EXPECT_EQ((*first)->Commit().code(), absl::StatusCode::kFailedPrecondition);
      EXPECT_TRUE(Names().empty());
      continue;
    }
    ASSERT_TRUE((*first)->Commit().ok());
    EXPECT_EQ(Contents("step-00000040/model.safetensors"), model);
    EXPECT_EQ(Contents("step-00000040/manifest.json"), manifest);
  }
}

TEST_F(CheckpointTest, NobodyJoinsWhatIsNotThere) {
  EXPECT_EQ(CheckpointWriter::Join(Options(40), Infos(false), Infos(true)).status().code(),
            absl::StatusCode::kNotFound);
}

TEST_F(CheckpointTest, LoadsIntoAnyLayoutFromAny) {
  std::string model;
  for (const TestMesh& from : kMeshes) {
    ASSERT_TRUE(Save(Options(40), from, 1).ok());
    // The file is the same whoever wrote it.
    if (model.empty()) model = Contents("step-00000040/model.safetensors");
    EXPECT_EQ(Contents("step-00000040/model.safetensors"), model);
    auto reader = CheckpointReader::Open(folder_);
    ASSERT_TRUE(reader.ok()) << reader.status();
    for (const TestMesh& to : kMeshes) {
      for (int64_t rank = 0; rank < to.ranks(); ++rank) {
        const absl::Status status = CheckRank(**reader, to, rank, 1);
        EXPECT_TRUE(status.ok()) << status;
      }
    }
  }
}

TEST_F(CheckpointTest, RemembersTheRun) {
  ASSERT_TRUE(Save({folder_, 40, ~uint64_t{0}, {{"plan", "\"hash\""}, {"data", "a\xff.txt"}}}, {}, 1).ok());
  auto reader = CheckpointReader::Open(folder_);
  ASSERT_TRUE(reader.ok()) << reader.status();
  EXPECT_EQ((*reader)->path(), folder_ + "/step-00000040");
  EXPECT_EQ((*reader)->manifest().step, 40);
  EXPECT_EQ((*reader)->manifest().seed, ~uint64_t{0});
  // What is no UTF-8 cannot be kept.
  EXPECT_EQ((*reader)->manifest().run,
            (std::map<std::string, std::string>{{"plan", "\"hash\""}, {"data", "a\xef\xbf\xbd.txt"}}));
  EXPECT_EQ((*reader)->manifest().files.size(), 2u);
  EXPECT_THAT(Names(), ElementsAre("latest", "step-00000040"));
  EXPECT_EQ(Contents("latest"), "step-00000040\n");
}

TEST_F(CheckpointTest, RanksWriteAndReadAtTheSameTime) {
  const TestMesh mesh = {2, 2};
  auto writer = CheckpointWriter::Create(Options(3), Infos(false), Infos(true));
  ASSERT_TRUE(writer.ok()) << writer.status();
  auto on_every_rank = [&](auto work) {
    std::vector<absl::Status> results(mesh.ranks());
    std::vector<std::thread> threads;
    for (int64_t rank = 0; rank < mesh.ranks(); ++rank) {
      threads.emplace_back([&, rank] { results[rank] = work(rank); });
    }
    for (std::thread& thread : threads) thread.join();
    for (const absl::Status& result : results) EXPECT_TRUE(result.ok()) << result;
  };
  on_every_rank([&](int64_t rank) { return WriteRank(**writer, mesh, rank, 9); });
  EXPECT_FALSE(fs::exists(folder_ + "/step-00000003"));
  ASSERT_TRUE((*writer)->Commit().ok());
  auto reader = CheckpointReader::Open(folder_);
  ASSERT_TRUE(reader.ok()) << reader.status();
  // Some verify before they read, some read what another is verifying.
  on_every_rank([&](int64_t rank) {
    absl::Status status = rank % 2 == 0 ? (*reader)->Verify(rank, mesh.ranks()) : absl::OkStatus();
    return status.ok() ? CheckRank(**reader, mesh, rank, 9) : status;
  });
}

TEST_F(CheckpointTest, SavesAStepAgain) {
  ASSERT_TRUE(Save(Options(5), {}, 1).ok());
  ASSERT_TRUE(Save(Options(6), {}, 2).ok());
  ASSERT_TRUE(Save(Options(5), {}, 3).ok());
  EXPECT_THAT(Names(), ElementsAre("latest", "step-00000005", "step-00000006"));
  EXPECT_EQ(Contents("latest"), "step-00000005\n");
  EXPECT_TRUE(CheckSaved(folder_, 3).ok());
  EXPECT_TRUE(CheckSaved(folder_ + "/step-00000006", 2).ok());
}

TEST_F(CheckpointTest, KeepsTheLastOnes) {
  for (int64_t step : {10, 20, 90}) ASSERT_TRUE(Save(Options(step), {}, step).ok());
  ASSERT_TRUE(Save(Options(30, 2), {}, 30).ok());
  // 90 is of another course of the run: nobody asked to remove it.
  EXPECT_THAT(Names(), ElementsAre("latest", "step-00000020", "step-00000030", "step-00000090"));
  EXPECT_TRUE(CheckSaved(folder_, 30).ok());
}

TEST_F(CheckpointTest, KeepsTheBest) {
  EXPECT_EQ(BestStep(folder_), -1);
  for (int64_t step : {10, 20}) {
    ASSERT_TRUE(Save(Options(step), {}, step).ok());
    ASSERT_TRUE(SetBest(folder_, step).ok());  // over an earlier one
    EXPECT_EQ(BestStep(folder_), step);
  }
  for (int64_t step : {30, 40}) ASSERT_TRUE(Save(Options(step, 1), {}, step).ok());
  EXPECT_THAT(Names(), ElementsAre("best", "latest", "step-00000020", "step-00000040"));
  EXPECT_EQ(*FindCheckpoint(folder_ + "/best"), folder_ + "/best");
  EXPECT_EQ((*CheckpointReader::Open(folder_ + "/best"))->manifest().step, 20);
  EXPECT_TRUE(HasCheckpoint(folder_, 20));
  EXPECT_FALSE(HasCheckpoint(folder_, 30));
}

TEST_F(CheckpointTest, KeepsTheFirstOfEverySoManySteps) {
  // By the clock: at no step in particular.
  for (int64_t step : {40, 90, 130, 170, 250, 310, 390}) ASSERT_TRUE(Save(Options(step, 1, 100), {}, step).ok());
  EXPECT_THAT(Names(), ElementsAre("latest", "step-00000130", "step-00000250", "step-00000310", "step-00000390"));
  EXPECT_TRUE(IsKeptForEver(folder_, 130, 100));
  EXPECT_FALSE(IsKeptForEver(folder_, 390, 100));
  EXPECT_FALSE(IsKeptForEver(folder_, 130, 0));
  // By steps: the multiples. One that is the best is no other's.
  fs::remove_all(folder_);
  for (int64_t step : {50, 100}) ASSERT_TRUE(Save(Options(step, 1, 100), {}, step).ok());
  ASSERT_TRUE(SetBest(folder_, 100).ok());
  for (int64_t step : {150, 200, 250}) ASSERT_TRUE(Save(Options(step, 1, 100), {}, step).ok());
  EXPECT_THAT(Names(), ElementsAre("best", "latest", "step-00000100", "step-00000200", "step-00000250"));
}

TEST_F(CheckpointTest, RemovesWhatKilledRunsHaveLeft) {
  fs::create_directories(folder_ + "/.step-00000007.partial");
  std::ofstream(folder_ + "/.step-00000007.partial/model.safetensors") << "half";
  fs::create_directories(folder_ + "/.notes.partial");
  ASSERT_TRUE(Save(Options(9), {}, 9).ok());
  EXPECT_THAT(Names(), ElementsAre(".notes.partial", "latest", "step-00000009"));
}

TEST_F(CheckpointTest, RemovesOnlyCheckpoints) {
  ASSERT_TRUE(Save(Options(10), {}, 10).ok());
  fs::create_directories(folder_ + "/step-00000012");  // has no manifest
  std::ofstream(folder_ + "/step-00000014") << "notes";
  ASSERT_TRUE(Save(Options(20, 1), {}, 20).ok());
  EXPECT_THAT(Names(), ElementsAre("latest", "step-00000012", "step-00000014", "step-00000020"));
  EXPECT_EQ(FindIntruder(folder_), folder_ + "/step-00000014");
  EXPECT_THAT(ListSteps(folder_), ElementsAre(12, 20));
  EXPECT_THAT(std::string(Save(Options(14), {}, 14).message()), HasSubstr("step-00000014: cannot replace: Not a dir"));
  EXPECT_EQ(Contents("step-00000014"), "notes");
}

TEST_F(CheckpointTest, WhatARunMayGoOnFrom) {
  EXPECT_THAT(CheckpointsToResume(folder_), ElementsAre());
  for (int64_t step : {10, 90, 20, 30}) ASSERT_TRUE(Save(Options(step), {}, step).ok());
  const auto path = [&](int64_t step) { return folder_ + "/" + StepName(step); };
  // 90 is of another course of the run.
  EXPECT_THAT(CheckpointsToResume(folder_), ElementsAre(path(30), path(20), path(10)));
  fs::remove(path(20) + "/manifest.json");
  EXPECT_THAT(CheckpointsToResume(folder_), ElementsAre(path(30), path(10)));
  fs::remove_all(path(30));
  EXPECT_THAT(CheckpointsToResume(folder_), ElementsAre(path(10)));
  fs::remove(folder_ + "/latest");
  EXPECT_THAT(CheckpointsToResume(folder_), ElementsAre(path(90), path(10)));
}

TEST_F(CheckpointTest, LeavesNothingOfASaveThatWasGivenUp) {
  ASSERT_TRUE(Save(Options(1), {}, 1).ok());
  {
    auto writer = CheckpointWriter::Create(Options(2), Infos(false), Infos(true));
    ASSERT_TRUE(writer.ok());
    EXPECT_THAT(Names(), ElementsAre(".step-00000002.partial", "latest", "step-00000001"));
    ASSERT_TRUE(WriteRank(**writer, {2, 1}, 0, 1).ok());  // and the other rank never
    const absl::Status status = (*writer)->Commit();
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(status.message()), HasSubstr("elements written, got"));
    EXPECT_THAT(Names(), ElementsAre("latest", "step-00000001"));
    EXPECT_FALSE((*writer)->Commit().ok());
  }
  {
    auto writer = CheckpointWriter::Create(Options(2), Infos(false), Infos(true));
  }
  EXPECT_THAT(Names(), ElementsAre("latest", "step-00000001"));
  EXPECT_TRUE(CheckSaved(folder_, 1).ok());
}

TEST_F(CheckpointTest, ReportsTheFirstFailureAtTheEnd) {
  auto writer = CheckpointWriter::Create(Options(2), Infos(false), Infos(true));
  ASSERT_TRUE(writer.ok());
  EXPECT_FALSE((*writer)->Write("count", TensorSpec::Whole(DType::kF32, {4, 4}), nullptr).ok());
  EXPECT_FALSE(WriteRank(**writer, {}, 0, 1).ok());
  EXPECT_THAT(std::string((*writer)->Commit().message()), HasSubstr("`count`: dtype: expected i32, got f32"));
  EXPECT_THAT(Names(), ElementsAre());
}

TEST_F(CheckpointTest, OverwritesWhatAKilledRunLeft) {
  fs::create_directories(folder_ + "/.step-00000002.partial/deep");
  std::ofstream(folder_ + "/.step-00000002.partial/model.safetensors") << "half";
  EXPECT_EQ(CheckpointReader::Open(folder_).status().code(), absl::StatusCode::kNotFound);
  ASSERT_TRUE(Save(Options(2), {}, 1).ok());
  EXPECT_THAT(Names(), ElementsAre("latest", "step-00000002"));
  EXPECT_TRUE(CheckSaved(folder_, 1).ok());
}

TEST_F(CheckpointTest, FindsTheNewestWithoutItsMarker) {
  ASSERT_TRUE(Save(Options(9), {}, 1).ok());
  ASSERT_TRUE(Save(Options(100), {}, 2).ok());
  fs::remove(folder_ + "/latest");
  fs::create_directories(folder_ + "/step-00000200");  // has no manifest
  EXPECT_TRUE(CheckSaved(folder_, 2).ok());
  std::ofstream(folder_ + "/latest") << "../elsewhere\n";
  EXPECT_THAT(std::string(CheckpointReader::Open(folder_).status().message()),
              HasSubstr("latest: expected the name of a checkpoint, got `../elsewhere`"));
}

TEST_F(CheckpointTest, NamesWhatDoesNotFit) {
  ASSERT_TRUE(Save(Options(4), {}, 1).ok());
  auto reader = CheckpointReader::Open(folder_);
  ASSERT_TRUE(reader.ok());
  std::vector<float> out(1000);
  auto message = [&](const std::string& name, DType dtype, const std::vector<int64_t>& dims,
                     const std::vector<int64_t>& stored) {
    return std::string((*reader)->Read(name, TensorSpec::Whole(dtype, dims), stored, out.data()).message());
  };
  EXPECT_EQ(message("wte.weight", DType::kF32, {16, 8}, {16, 8}), "");
  EXPECT_THAT(message("wte.weight.v", DType::kF32, {16, 8}, {16, 8}),
              HasSubstr("step-00000004: expected a tensor `wte.weight.v`, got "));
  EXPECT_THAT(message("wte.weight", DType::kF32, {32, 8}, {32, 8}),
              HasSubstr("model.safetensors: `wte.weight`: shape: expected [32,8], got [16,8]"));
  EXPECT_THAT(message("wte.weight", DType::kF32, {32, 8}, {16, 8}),
              HasSubstr("`wte.weight`: shape: expected as many elements as [32,8], got [16,8]"));
  EXPECT_THAT(message("wte.weight.m", DType::kBF16, {16, 8}, {16, 8}),
              HasSubstr("optimizer.safetensors: `wte.weight.m`: dtype: expected bf16, got f32"));
  // A checkpoint goes on as it was: nothing is converted.
  EXPECT_THAT(message("half", DType::kF32, {8, 4}, {8, 4}), HasSubstr("`half`: dtype: expected f32, got bf16"));
  EXPECT_FALSE(CheckpointWriter::Create(Options(5), Infos(true), Infos(true)).ok());
  EXPECT_FALSE(CheckpointWriter::Create(Options(-1), Infos(true), Infos(false)).ok());
  EXPECT_THAT(Names(), ElementsAre("latest", "step-00000004"));
}

}  // namespace
}  // namespace weft::checkpoint
