#include "runtime/checkpoint/weights.h"

#include <filesystem>
#include <fstream>
#include <memory>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/checkpoint/safetensors_writer.h"

namespace weft::checkpoint {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Key;

class WeightsTest : public testing::Test {
 protected:
  // A folder of two shards with an index.
  void SetUp() override {
    folder_ = absl::StrCat(testing::TempDir(), "/", testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::create_directories(folder_);
    Write("1.safetensors", "a", 1);
    Write("2.safetensors", "b", 2);
    Index(R"({"weight_map": {"a": "1.safetensors", "b": "2.safetensors"}})");
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string Path(const std::string& name) const { return absl::StrCat(folder_, "/", name); }

  void Write(const std::string& file, const std::string& name, float value) {
    const auto writer = SafetensorsWriter::Create(Path(file), {{name, DType::kF32, {1}}});
    ASSERT_TRUE(writer.ok()) << writer.status();
    ASSERT_TRUE((*writer)->Write(name, TensorSpec::Whole(DType::kF32, {1}), &value).ok());
    ASSERT_TRUE((*writer)->Commit().ok());
  }

  void Index(const std::string& text) { std::ofstream(Path(kIndexFile)) << text; }

  std::string ErrorOf(const std::string& path) { return std::string(Weights::Open(path).status().message()); }

  std::string folder_;
};

TEST_F(WeightsTest, AFolderWithAnIndexIsOne) {
  for (const std::string& path : {folder_, Path(kIndexFile)}) {
    const auto weights = Weights::Open(path);
    ASSERT_TRUE(weights.ok()) << weights.status();
    EXPECT_EQ((*weights)->path(), Path(kIndexFile));
    EXPECT_THAT((*weights)->tensors(), ElementsAre(Key("a"), Key("b")));
    float value = 0;
    ASSERT_TRUE((*weights)->Read((*weights)->tensors().at("b"), TensorSpec::Whole(DType::kF32, {1}), {1}, &value).ok());
    EXPECT_EQ(value, 2);
    EXPECT_EQ((*weights)->NamesLike("x.b"), "`b`, `a`");
  }
}

TEST_F(WeightsTest, OneFileIsTakenBeforeAnIndex) {
  Write("model.safetensors", "c", 3);
  const auto weights = Weights::Open(folder_);
  ASSERT_TRUE(weights.ok()) << weights.status();
  EXPECT_THAT((*weights)->tensors(), ElementsAre(Key("c")));
}

TEST_F(WeightsTest, AShardThatIsNotThere) {
  std::filesystem::remove(Path("2.safetensors"));
  EXPECT_EQ(ErrorOf(folder_),
            Path("2.safetensors") + ": expected the file that model.safetensors.index.json names, found none");
}

TEST_F(WeightsTest, AnIndexThatLies) {
  const std::string index = Path(kIndexFile);
  Index(R"({"weight_map": {"a": "2.safetensors", "b": "1.safetensors"}})");
  EXPECT_EQ(ErrorOf(folder_), index + ": `a`: expected it in 2.safetensors, found it in " + Path("1.safetensors"));
  Index(R"({"weight_map": {"a": "1.safetensors", "b": "2.safetensors", "c": "2.safetensors"}})");
  EXPECT_EQ(ErrorOf(folder_), index + ": `c`: expected it in 2.safetensors, found it nowhere");
  Index(R"({"weight_map": {"a": "1.safetensors"}})");
  EXPECT_EQ((*Weights::Open(folder_))->tensors().size(), 1u);
  Write("1.safetensors", "b", 1);
  EXPECT_EQ(ErrorOf(folder_), index + ": `a`: expected it in 1.safetensors, found it nowhere");
  Index(R"({"weight_map": {"b": "1.safetensors", "x": "2.safetensors"}})");
  EXPECT_EQ(ErrorOf(folder_),
            Path("2.safetensors") + ": `b`: expected it once, got it in " + Path("1.safetensors") + " too");
}

TEST_F(WeightsTest, WhatIsNoIndex) {
  const std::string index = Path(kIndexFile);
  for (const char* text : {"", "[]", "{}", R"({"weight_map": []})"}) {
    Index(text);
    EXPECT_EQ(ErrorOf(folder_), index + ": expected an object `weight_map`, got none") << text;
  }
  Index(R"({"weight_map": {"a": "../1.safetensors"}})");
  EXPECT_EQ(ErrorOf(folder_), index + ": `a`: expected the name of a file beside it, got `../1.safetensors`");
  Index(R"({"weight_map": {}})");
  EXPECT_EQ(ErrorOf(folder_), index + ": expected tensors in `weight_map`, got none");
  std::filesystem::remove(index);
  EXPECT_THAT(ErrorOf(folder_),
              HasSubstr(": expected a checkpoint, model.safetensors or model.safetensors.index.json"));
}

}  // namespace
}  // namespace weft::checkpoint
