// A checkpoint that is not what was saved never loads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "runtime/checkpoint/checkpoint_reader.h"
#include "runtime/checkpoint/checksum.h"
#include "runtime/checkpoint/directory.h"
#include "tests/fixtures/checkpoint_model.h"

namespace weft::checkpoint {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr const char* kFiles[] = {kModelFile, kOptimizerFile, kManifestFile};

class CheckpointDamageTest : public testing::Test {
 protected:
  CheckpointDamageTest()
      : folder_(testing::TempDir() + "/" + testing::UnitTest::GetInstance()->current_test_info()->name()) {
    fs::remove_all(folder_);
    EXPECT_TRUE(Save({folder_, 40, 7, {{"plan", "hash"}}}, {}, 1).ok());
  }

  std::string Path(const std::string& file) const { return folder_ + "/step-00000040/" + file; }

  std::string Contents(const std::string& file) const {
    std::ifstream in(Path(file), std::ios::binary);
    std::ostringstream out;
    out << in.rdbuf();
    return out.str();
  }

  void Replace(const std::string& file, const std::string& bytes) const {
    std::ofstream(Path(file), std::ios::binary) << bytes;
  }

  // In place: replacing a file some thousand times waits for the disk.
  void ReplaceByte(const std::string& file, size_t index, char byte) const {
    std::fstream(Path(file), std::ios::binary | std::ios::in | std::ios::out).seekp(index).put(byte);
  }

  // What opening, verifying and reading everything says.
  absl::Status Load(uint64_t salt = 1) const { return CheckSaved(folder_, salt); }

  const std::string folder_;
};

TEST_F(CheckpointDamageTest, EveryFlippedByteIsSeen) {
  for (const char* file : kFiles) {
    const std::string good = Contents(file);
    ASSERT_FALSE(good.empty());
    for (size_t i = 0; i < good.size(); ++i) {
      ReplaceByte(file, i, static_cast<char>(good[i] ^ 1 << i % 8));
      const absl::Status status = Load();
      ASSERT_FALSE(status.ok()) << file << ": byte " << i << " of " << good.size();
      ASSERT_NE(status.code(), absl::StatusCode::kInternal) << "read as if it were good: " << status;
      ASSERT_THAT(std::string(status.message()), HasSubstr(file)) << "byte " << i;
      ReplaceByte(file, i, good[i]);
    }
    ASSERT_TRUE(Load().ok());
  }
}

TEST_F(CheckpointDamageTest, TheErrorNamesTheTensor) {
  auto reader = CheckpointReader::Open(folder_);
  ASSERT_TRUE(reader.ok());
  const TensorEntry entry = (*reader)->manifest().files.at(kModelFile).tensors.back();
  EXPECT_EQ(entry.name, "wte.weight");
  std::string bytes = Contents(kModelFile);
  bytes[entry.end - 1] ^= 0x40;
  Replace(kModelFile, bytes);
  const absl::Status status = Load();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()), HasSubstr("model.safetensors: `wte.weight`: damaged: expected checksum "));
  // Verifying says the same, whichever part the tensor falls to.
  reader = CheckpointReader::Open(folder_);
  ASSERT_TRUE(reader.ok());
  int failures = 0;
  for (int64_t part = 0; part < 3; ++part) failures += (*reader)->Verify(part, 3).ok() ? 0 : 1;
  EXPECT_EQ(failures, 1);
  // Tensors that are whole can be read.
  double scalar = 0;
  EXPECT_TRUE((*reader)->Read("scalar", TensorSpec::Whole(DType::kF64, {}), {}, &scalar).ok());
}

TEST_F(CheckpointDamageTest, EveryTruncationIsSeen) {
  for (const char* file : kFiles) {
    const std::string good = Contents(file);
    for (size_t size = 0; size < good.size(); size += 7) {
      Replace(file, good.substr(0, size));
      ASSERT_FALSE(Load().ok()) << file << ": " << size << " of " << good.size();
    }
    Replace(file, good + "x");
    EXPECT_FALSE(Load().ok()) << file;
    fs::remove(Path(file));
    EXPECT_THAT(std::string(Load().message()), HasSubstr(file == kManifestFile ? "latest" : file));
    Replace(file, good);
  }
  EXPECT_TRUE(Load().ok());
  Replace(kModelFile, Contents(kModelFile).substr(0, Contents(kModelFile).size() - 1));
  EXPECT_THAT(std::string(Load().message()), HasSubstr("model.safetensors: truncated: expected "));
}

TEST_F(CheckpointDamageTest, FilesOfAnotherCheckpointAreSeen) {
  std::vector<std::string> other;
  for (const char* file : kFiles) other.push_back(Contents(file));
  ASSERT_TRUE(Save({folder_, 40, 7, {{"plan", "hash"}}}, {}, 2).ok());
  for (size_t i = 0; i < other.size(); ++i) {
    const std::string own = Contents(kFiles[i]);
    Replace(kFiles[i], other[i]);
    EXPECT_THAT(std::string(Load(2).message()), HasSubstr("damaged: expected checksum")) << kFiles[i];
    Replace(kFiles[i], own);
    EXPECT_TRUE(Load(2).ok()) << kFiles[i];
  }
}

// As version 1 was written: hashes of job and plan in the place of the run.
TEST_F(CheckpointDamageTest, OlderManifestsAreRead) {
  auto json = nlohmann::json::parse(Contents(kManifestFile));
  json.erase("checksum");
  json.erase("run");
  json["version"] = 1;
  json["job"] = json["plan"] = "hash";
  const std::string text = json.dump(1) + "\n";
  json["checksum"] = ToHex(Checksum(1, 0, text.data(), static_cast<int64_t>(text.size())));
  Replace(kManifestFile, json.dump(1) + "\n");
  EXPECT_TRUE(Load().ok()) << Load();
  EXPECT_TRUE((*CheckpointReader::Open(folder_))->manifest().run.empty());
}

TEST_F(CheckpointDamageTest, ForeignManifestsAreRefused) {
  const std::string good = Contents(kManifestFile);
  Replace(kManifestFile, "{}\n");
  EXPECT_THAT(std::string(Load().message()), HasSubstr("manifest.json: not the manifest of a checkpoint"));
  Replace(kManifestFile, "[]");
  EXPECT_THAT(std::string(Load().message()), HasSubstr("manifest.json: damaged"));
  // The same content in another spelling is not what a writer wrote either.
  std::string spelled = good;
  spelled[spelled.find('\n')] = ' ';
  Replace(kManifestFile, spelled);
  EXPECT_THAT(std::string(Load().message()), HasSubstr("manifest.json: damaged"));
  std::string later = good;
  later.replace(later.find("\"version\": 2"), 12, "\"version\": 3");
  Replace(kManifestFile, later);
  EXPECT_THAT(std::string(Load().message()), HasSubstr("manifest.json: version: expected 1 to 2, got 3"));
}

}  // namespace
}  // namespace weft::checkpoint
