#include "tools/hugging_face/architectures.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace weft::hugging_face {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

Imported Read(const char* text, int64_t seq = 0) { return ReadConfig(Json::parse(text), seq); }

TEST(ArchitecturesTest, NumbersAndTheirDefaults) {
  const Imported imported =
      Read(R"({"model_type": "gpt2", "n_layer": 2, "n_head": 4, "n_embd": 32, "n_positions": 64})");
  EXPECT_THAT(imported.errors, IsEmpty());
  EXPECT_EQ(imported.file, "gpt2/gpt2.mlir");
  EXPECT_THAT(imported.settings,
              ElementsAre(Pair("layers", "2"), Pair("hidden", "32"), Pair("heads", "4"), Pair("vocab", "50257"),
                          Pair("positions", "64"), Pair("dropout", "0.1"), Pair("seq", "64")));
}

TEST(ArchitecturesTest, EveryDifferenceIsNamed) {
  EXPECT_THAT(
      Read(R"({"model_type": "gpt2", "activation_function": "relu", "n_inner": 7, "tie_word_embeddings": false,
                       "n_layer": "two"})")
          .errors,
      ElementsAre("n_layer: expected a whole number above 0, got two",
                  "activation_function: expected gelu_new or gelu_pytorch_tanh, got relu",
                  "tie_word_embeddings: expected true, got false", "n_inner: expected 4 * n_embd, 3072, got 7"));
  EXPECT_THAT(Read(R"({"model_type": "bloom"})").errors,
              ElementsAre("model_type: expected gpt2 or llama or mistral or mixtral or bert or roberta or t5 or vit or "
                          "swin or vit_mae or convnext, got bloom"));
  EXPECT_THAT(Read("{}").errors, testing::SizeIs(1));
}

TEST(ArchitecturesTest, RotaryPositions) {
  EXPECT_THAT(Read(R"({"model_type": "llama"})").settings, Contains(Pair("rope_factor", "1.0")));
  const char* stretched = R"({"model_type": "llama", "rope_scaling": {"rope_type": "llama3", "factor": 8.0,
      "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 16}})";
  EXPECT_THAT(Read(stretched).errors, IsEmpty());
  EXPECT_THAT(Read(stretched).settings, Contains(Pair("rope_original", "16")));
  EXPECT_THAT(Read(R"({"model_type": "llama", "rope_scaling": {"type": "linear", "factor": 2.0}})").errors,
              ElementsAre("rope_scaling.rope_type: expected default or llama3, got linear"));
  EXPECT_THAT(Read(R"({"model_type": "llama", "rope_scaling": {"type": "llama3", "factor": 2.0}})").errors,
              Contains("rope_scaling.low_freq_factor: expected a number, got none"));
  EXPECT_THAT(Read(R"({"model_type": "mixtral", "rope_parameters": {"rope_type": "yarn", "rope_theta": 5.0}})").errors,
              ElementsAre("rope_parameters.rope_type: expected default, got yarn"));
  EXPECT_THAT(Read(R"({"model_type": "llama", "rope_parameters": {"rope_theta": 5.0}})").settings,
              Contains(Pair("theta", "5.0")));
}

TEST(ArchitecturesTest, AWindowNoShorterThanTheSequence) {
  const char* mistral = R"({"model_type": "mistral", "sliding_window": 64})";
  EXPECT_THAT(Read(mistral, 64).errors, IsEmpty());
  EXPECT_THAT(Read(mistral, 65).errors,
              ElementsAre("sliding_window: expected none, or at least a sequence, 65, got 64"));
}

TEST(ArchitecturesTest, Sequences) {
  EXPECT_THAT(Read(R"({"model_type": "gpt2"})", 2000).errors,
              ElementsAre("--seq: expected at most the model's 1024 positions, got 2000"));
  EXPECT_THAT(Read(R"({"model_type": "vit"})", 8).errors,
              ElementsAre("--seq: expected only with a model of sequences, got vit"));
  EXPECT_THAT(Read(R"({"model_type": "roberta", "type_vocab_size": 1, "max_position_embeddings": 514})").settings,
              Contains(Pair("seq", "512")));
}

TEST(ArchitecturesTest, AValueChoosesTheFile) {
  EXPECT_EQ(Read(R"({"model_type": "llama", "tie_word_embeddings": true})").file, "llama/llama_tied.mlir");
  EXPECT_THAT(Read(R"({"model_type": "mistral", "tie_word_embeddings": true})").errors,
              ElementsAre("tie_word_embeddings: expected false, got true"));
  EXPECT_EQ(Read(R"({"model_type": "t5"})").file, "t5/t5.mlir");
  const Imported gated =
      Read(R"({"model_type": "t5", "feed_forward_proj": "gated-gelu", "tie_word_embeddings": false})");
  EXPECT_EQ(gated.file, "t5/t5_1_1.mlir");
  EXPECT_EQ(gated.graph, "train_1_1");
  EXPECT_THAT(gated.errors, IsEmpty());
  EXPECT_THAT(Read(R"({"model_type": "t5", "feed_forward_proj": "gated-silu"})").errors,
              ElementsAre("feed_forward_proj: expected relu or gated-gelu, got gated-silu"));
}

TEST(ArchitecturesTest, ImagesOfDoublingStages) {
  EXPECT_THAT(Read(R"({"model_type": "convnext", "hidden_sizes": [8, 16, 32, 65]})").errors,
              ElementsAre("hidden_sizes: expected [8,16,32,64], got [8,16,32,65]"));
  EXPECT_THAT(Read(R"({"model_type": "swin", "depths": [2, 2, 18, 2]})").errors,
              ElementsAre("depths: expected [2,2,6,2], got [2,2,18,2]"));
  EXPECT_THAT(Read(R"({"model_type": "swin", "image_size": 225})").errors,
              ElementsAre("image_size: expected 8 * window_size * patch_size, 224, got 225"));
}

TEST(ArchitecturesTest, NotesSayWhatHasNoEffect) {
  EXPECT_THAT(
      Read(R"({"model_type": "gpt2", "attn_pdrop": 0.1, "new_key": 3, "use_cache": true})").notes,
      ElementsAre("attn_pdrop: 0.1 has no effect: the model file has none", "not known, and not looked at: new_key"));
}

// What is written is read as the same.
TEST(ArchitecturesTest, ThereAndBack) {
  for (const char* text :
       {R"({"model_type": "gpt2", "n_layer": 3, "resid_pdrop": 0.25, "embd_pdrop": 0.25})",
        R"({"model_type": "llama", "num_attention_heads": 8, "hidden_size": 64, "rope_scaling": {"rope_type": "llama3",
            "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 16}})",
        R"({"model_type": "llama", "tie_word_embeddings": true})",
        R"({"model_type": "mistral", "sliding_window": null, "head_dim": 5})",
        R"({"model_type": "mixtral", "num_local_experts": 3, "rope_theta": 12345.5})", R"({"model_type": "bert"})",
        R"({"model_type": "roberta", "type_vocab_size": 1, "layer_norm_eps": 1e-05})",
        R"({"model_type": "t5", "num_decoder_layers": 1})",
        R"({"model_type": "t5", "feed_forward_proj": "gated-gelu", "tie_word_embeddings": false})",
        R"({"model_type": "vit", "id2label": {"0": "cat", "1": "dog", "2": "bird"}})",
        R"({"model_type": "swin", "embed_dim": 4, "num_heads": [2, 4, 8, 16]})",
        R"({"model_type": "convnext", "depths": [1, 2, 3, 4], "hidden_sizes": [2, 4, 8, 16]})"}) {
    const Imported once = Read(text);
    ASSERT_THAT(once.errors, IsEmpty()) << text;
    const std::map<std::string, std::string> settings(once.settings.begin(), once.settings.end());
    const absl::StatusOr<Json> json = WriteConfig(*once.architecture, settings, Json());
    ASSERT_TRUE(json.ok()) << json.status() << text;
    const Imported again = ReadConfig(*json, 0);
    EXPECT_EQ(again.settings, once.settings) << text;
    EXPECT_THAT(again.errors, IsEmpty()) << text;
    EXPECT_THAT(again.notes, IsEmpty()) << text;
  }
}

TEST(ArchitecturesTest, WhatLacksANumberIsNotWritten) {
  const Architecture* bert = FindArchitecture("bert.mlir", "");
  ASSERT_NE(bert, nullptr);
  EXPECT_EQ(WriteConfig(*bert, {{"layers", "2"}}, Json()).status().message(),
            "model.set: hidden: expected a number, got none");
  EXPECT_EQ(WriteConfig(*bert, {{"layers", "2*x"}}, Json()).status().message(),
            "model.set: layers: expected a number, got `2*x`");
}

TEST(ArchitecturesTest, AModelFileOfTwoTypes) {
  const Architecture* mistral = FindArchitecture("llama.mlir", "mistral");
  EXPECT_NE(mistral, FindArchitecture("llama.mlir", ""));
  EXPECT_EQ(FindArchitecture("llama.mlir", "bert"), FindArchitecture("llama.mlir", "llama"));
  EXPECT_EQ(FindArchitecture("mlp.mlir", ""), nullptr);
}

}  // namespace
}  // namespace weft::hugging_face
