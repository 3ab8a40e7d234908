#include "tools/hugging_face/architectures.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tools/hugging_face/reader.h"

namespace weft::hugging_face {

// A number that both have.
struct Number {
  const char* key;
  const char* setting;
  const char* absent;  // JSON: what transformers' class takes if there is none
  bool whole = true;
};

// A value that the model file has fixed.
struct Fixed {
  const char* key;
  const char* allowed;  // a JSON list
  const char* absent;
};

struct Architecture {
  const char* model_type;
  const char* class_name;
  const char* file;
  const char* graph;
  const char* prefix;
  bool tied;
  std::vector<Number> numbers;
  std::vector<Fixed> fixed;
  // What is no row of the above, both ways.
  void (*take)(ConfigReader&, Settings&);
  void (*give)(SettingReader&, Json&);
  // Of several for one model type: the value that chooses.
  Fixed when = {};
  std::vector<Constant> (*constants)(SettingReader&) = nullptr;
};

namespace {

constexpr int64_t kUsualSequence = 2048;  // of models with positions for many more

void Set(Settings& settings, const char* name, int64_t value) { settings.emplace_back(name, absl::StrCat(value)); }
void SetReal(Settings& settings, const char* name, double value) {
  settings.emplace_back(name, NumberText(value, false));
}

// --- classes of images

void TakeClasses(ConfigReader& config, Settings& settings) {
  const Json labels = config.At("id2label", "null"), count = config.At("num_labels", "2");  // transformers' default
  config.At("label2id", "null");
  if (labels.is_object() && !labels.empty()) return Set(settings, "classes", static_cast<int64_t>(labels.size()));
  if (count.is_number_integer() && count.get<int64_t>() > 0) return Set(settings, "classes", count.get<int64_t>());
  config.Wrong("num_labels", "a whole number above 0", count);
}

void GiveClasses(SettingReader& settings, Json& config) {
  const auto classes = static_cast<size_t>(settings.Number("classes"));
  if (config.contains("id2label") && config["id2label"].size() == classes) return;
  Json names = Json::object(), numbers = Json::object();
  for (size_t i = 0; i < classes; ++i) {
    const std::string name = absl::StrCat("LABEL_", i);  // as transformers does
    names[absl::StrCat(i)] = name;
    numbers[name] = i;
  }
  config["id2label"] = names;
  config["label2id"] = numbers;
  config.erase("num_labels");
}

// --- one pair for each architecture

void TakeGpt2(ConfigReader& config, Settings& settings) {
  const auto hidden = static_cast<int64_t>(config.Number("n_embd", "768", true));
  const Json inner = config.At("n_inner", absl::StrCat(4 * hidden)), rate = config.At("resid_pdrop", "0.1");
  if (inner != Json(4 * hidden)) config.Wrong("n_inner", absl::StrCat("4 * n_embd, ", 4 * hidden), inner);
  if (const Json other = config.At("embd_pdrop", "0.1"); other != rate)
    config.Wrong("embd_pdrop", "the value of resid_pdrop, " + rate.dump(), other);
  const auto most = static_cast<int64_t>(config.Number("n_positions", "1024", true));
  Set(settings, "seq", config.Sequence(most, most));
}

void GiveGpt2(SettingReader& settings, Json& config) {
  config["embd_pdrop"] = settings.Value("dropout", false);
  config["n_inner"] = nullptr;
}

// The rotary positions, in the spelling of version 4 of transformers or of version 5.
void TakeRope(ConfigReader& config, Settings& settings, const char* base, bool stretches) {
  const Json scaling = config.At("rope_scaling", "null"), both = config.At("rope_parameters", "null");
  Json theta = config.At("rope_theta", base);
  if (both.is_object() && both.contains("rope_theta")) theta = both["rope_theta"];
  if (!theta.is_number()) config.Wrong("rope_theta", "a number", theta);
  SetReal(settings, "theta", theta.is_number() ? theta.get<double>() : 0);
  const Json& rope = scaling.is_object() ? scaling : both;
  const char* key = scaling.is_object() ? "rope_scaling" : "rope_parameters";
  std::string type = "default";
  for (const char* name : {"type", "rope_type"}) {
    if (rope.is_object() && rope.contains(name) && rope[name].is_string()) type = rope[name].get<std::string>();
  }
  if (type != "default" && !(stretches && type == "llama3"))
    return config.Wrong(absl::StrCat(key, ".rope_type"), stretches ? "default or llama3" : "default", Json(type));
  if (!stretches) return;
  if (type == "default") return SetReal(settings, "rope_factor", 1);
  for (const auto& [name, setting] : {std::pair("factor", "rope_factor"),
                                      {"low_freq_factor", "rope_low"},
                                      {"high_freq_factor", "rope_high"},
                                      {"original_max_position_embeddings", "rope_original"}}) {
    const Json value = rope.contains(name) ? rope[name] : Json();
    if (!value.is_number()) config.Wrong(absl::StrCat(key, ".", name), "a number", value);
    const double number = value.is_number() ? value.get<double>() : 0;
    setting == std::string("rope_original") ? Set(settings, setting, static_cast<int64_t>(number))
                                            : SetReal(settings, setting, number);
  }
}

void TakeHeads(ConfigReader& config, Settings& settings, const char* kv_heads) {
  const auto heads = static_cast<int64_t>(config.Number("num_attention_heads", "32", true));
  const auto hidden = static_cast<int64_t>(config.Number("hidden_size", "4096", true));
  const std::string none = kv_heads == nullptr ? absl::StrCat(heads) : kv_heads;
  Set(settings, "kv_heads", static_cast<int64_t>(config.Number("num_key_value_heads", none, true)));
  const std::string part = absl::StrCat(heads == 0 ? 0 : hidden / heads);
  Set(settings, "head_dim", static_cast<int64_t>(config.Number("head_dim", part, true)));
}

// The sequence, which no window of attention may be shorter than.
void TakeSequence(ConfigReader& config, Settings& settings, const char* positions, const char* window) {
  const auto most = static_cast<int64_t>(config.Number("max_position_embeddings", positions, true));
  const int64_t seq = config.Sequence(most, std::min(most, kUsualSequence));
  Set(settings, "seq", seq);
  const Json wide = window == nullptr ? Json() : config.At("sliding_window", window);
  if (wide.is_number_integer() && wide.get<int64_t>() < seq)
    config.Wrong("sliding_window", absl::StrCat("none, or at least a sequence, ", seq), wide);
}

void TakeLlama(ConfigReader& config, Settings& settings) {
  TakeHeads(config, settings, nullptr);
  TakeRope(config, settings, "10000.0", true);
  TakeSequence(config, settings, "2048", nullptr);
}

void TakeMistral(ConfigReader& config, Settings& settings) {
  TakeHeads(config, settings, "8");
  TakeRope(config, settings, "10000.0", true);
  TakeSequence(config, settings, "131072", "4096");
}

void TakeMixtral(ConfigReader& config, Settings& settings) {
  TakeHeads(config, settings, "8");
  TakeRope(config, settings, "1000000.0", false);
  TakeSequence(config, settings, "131072", "null");
}

void GiveHeads(SettingReader& settings, Json& config) {
  config["num_key_value_heads"] = settings.Value("kv_heads", true);
  const double part = std::floor(settings.Number("hidden") / std::max(1.0, settings.Number("heads")));
  const double head_dim = settings.Has("head_dim") ? settings.Number("head_dim") : part;
  if (head_dim != part || (config.contains("head_dim") && !config["head_dim"].is_null()))
    config["head_dim"] = static_cast<int64_t>(head_dim);
  if (!config.contains("max_position_embeddings")) config["max_position_embeddings"] = settings.Value("seq", true);
  config.erase("rope_parameters");
  config["rope_theta"] = settings.Value("theta", false);
}

void GiveLlama(SettingReader& settings, Json& config) {
  GiveHeads(settings, config);
  config["rope_scaling"] = nullptr;
  if (settings.Number("rope_factor") == 1) return;
  config["rope_scaling"] = {{"rope_type", "llama3"},
                            {"factor", settings.Value("rope_factor", false)},
                            {"low_freq_factor", settings.Value("rope_low", false)},
                            {"high_freq_factor", settings.Value("rope_high", false)},
                            {"original_max_position_embeddings", settings.Value("rope_original", true)}};
}

// What absent means there is a window.
void GiveMistral(SettingReader& settings, Json& config) {
  GiveLlama(settings, config);
  if (!config.contains("sliding_window")) config["sliding_window"] = nullptr;
}

void TakeBert(ConfigReader& config, Settings& settings) {
  const auto most = static_cast<int64_t>(config.Number("max_position_embeddings", "512", true));
  const int64_t seq = config.Sequence(most, most);
  Set(settings, "seq", seq);
  Set(settings, "predictions", (15 * seq + 99) / 100);  // 15 % of the words (Devlin et al., section 3.1)
}

// Positions begin behind the number of the token that fills up.
void TakeRoberta(ConfigReader& config, Settings& settings) {
  const auto most = static_cast<int64_t>(config.Number("max_position_embeddings", "512", true)) - 2;
  Set(settings, "seq", config.Sequence(most, most));
}

void TakeT5(ConfigReader& config, Settings& settings) {
  const std::string layers = absl::StrCat(static_cast<int64_t>(config.Number("num_layers", "6", true)));
  Set(settings, "decoder_layers", static_cast<int64_t>(config.Number("num_decoder_layers", layers, true)));
  const auto usual = static_cast<int64_t>(config.Number("n_positions", "512", true));
  const int64_t seq = config.Sequence(INT64_MAX, usual);
  Set(settings, "seq", seq);
  Set(settings, "target", (seq + 3) / 4);  // as the model file's own
}

void GiveT5(SettingReader& settings, Json& config) {
  config["num_decoder_layers"] = settings.Value("decoder_layers", true);
  config["is_encoder_decoder"] = true;
  config["decoder_start_token_id"] = 0;
  if (!config.contains("pad_token_id")) config["pad_token_id"] = 0;
}

void TakeVit(ConfigReader& config, Settings& settings) { TakeClasses(config, settings); }

// Widths, or heads, that double from one of the four stages to the next.
int64_t FirstOfDoubles(ConfigReader& config, const char* key, const char* absent) {
  const std::vector<int64_t> list = config.List(key, absent, 4);
  const std::vector<int64_t> doubles = {list[0], 2 * list[0], 4 * list[0], 8 * list[0]};
  if (list != doubles) config.Wrong(key, absl::StrCat("[", absl::StrJoin(doubles, ","), "]"), Json(list));
  return list[0];
}

Json Doubles(double first) {
  const auto one = static_cast<int64_t>(first);
  return Json::array({one, 2 * one, 4 * one, 8 * one});
}

void TakeSwin(ConfigReader& config, Settings& settings) {
  TakeClasses(config, settings);
  Set(settings, "heads", FirstOfDoubles(config, "num_heads", "[3,6,12,24]"));
  config.Expect("depths", "[[2,2,6,2]]", "[2,2,6,2]");
  config.At("num_layers", "4");
  config.At("hidden_size", "0");  // of the last stage, which follows
  const double size = config.Number("image_size", "224", true), patch = config.Number("patch_size", "4", true);
  const double side = 8 * config.Number("window_size", "7", true) * patch;
  if (size != side)
    config.Wrong("image_size", absl::StrCat("8 * window_size * patch_size, ", static_cast<int64_t>(side)),
                 Json(static_cast<int64_t>(size)));
}

void GiveSwin(SettingReader& settings, Json& config) {
  GiveClasses(settings, config);
  config["num_heads"] = Doubles(settings.Number("heads"));
  config["depths"] = {2, 2, 6, 2};
  if (config.contains("hidden_size")) config["hidden_size"] = 8 * static_cast<int64_t>(settings.Number("hidden"));
}

// Of each pair of places of a window the row of their bias, as the model file has it (models/swin/swin.mlir,
// @bias_of_window).
std::vector<Constant> SwinConstants(SettingReader& settings) {
  const auto window = static_cast<int64_t>(settings.Number("window")), places = window * window;
  std::vector<int64_t> rows;
  for (int64_t q = 0; q < places; ++q) {
    for (int64_t k = 0; k < places; ++k) {
      const int64_t down = q / window - k / window + window - 1, right = q % window - k % window + window - 1;
      rows.push_back(down * (2 * window - 1) + right);
    }
  }
  std::vector<Constant> constants;
  for (const auto& [layer, depth] : {std::pair(0, 2), {1, 2}, {2, 6}, {3, 2}}) {
    for (int block = 0; block < depth; ++block) {
      constants.push_back(
          {absl::StrCat("swin.encoder.layers.", layer, ".blocks.", block, ".attention.self.relative_position_index"),
           {places, places},
           rows});
    }
  }
  return constants;
}

// Positions of a grid, [1, 1 + grid * grid, width] with 0 for the class: sines and cosines of the column, then of the
// row, as in models/images.mlir, @positions (Vaswani et al., 2017, section 3.5). transformers computes them in float64,
// so that what was exported by it comes out again bit for bit.
Constant GridPositions(const char* name, int64_t grid, int64_t width) {
  const int64_t quarter = width / 4;
  Constant table{name, {1, 1 + grid * grid, width}, {}, std::vector<float>(width, 0)};
  for (int64_t place = 0; place < grid * grid; ++place) {
    for (const int64_t at : {place % grid, place / grid}) {
      for (const auto wave : {static_cast<double (*)(double)>(std::sin), static_cast<double (*)(double)>(std::cos)}) {
        for (int64_t i = 0; i < quarter; ++i) {
          const double frequency = 1 / std::pow(10000, static_cast<double>(i) / static_cast<double>(quarter));
          table.reals.push_back(static_cast<float>(wave(static_cast<double>(at) * frequency)));
        }
      }
    }
  }
  return table;
}

std::vector<Constant> MaeConstants(SettingReader& settings) {
  const auto whole = [&](const char* name) { return static_cast<int64_t>(settings.Number(name)); };
  const int64_t grid = whole("size") / whole("patch");
  return {GridPositions("vit.embeddings.position_embeddings", grid, whole("hidden")),
          GridPositions("decoder.decoder_pos_embed", grid, whole("decoder_hidden"))};
}

constexpr const char* kDepths[] = {"depth_0", "depth_1", "depth_2", "depth_3"};

void TakeConvNext(ConfigReader& config, Settings& settings) {
  TakeClasses(config, settings);
  Set(settings, "hidden", FirstOfDoubles(config, "hidden_sizes", "[96,192,384,768]"));
  const std::vector<int64_t> depths = config.List("depths", "[3,3,9,3]", 4);
  for (size_t i = 0; i < std::size(kDepths); ++i) Set(settings, kDepths[i], depths[i]);
  Set(settings, "kernel", 7);  // of transformers' class
}

void GiveConvNext(SettingReader& settings, Json& config) {
  GiveClasses(settings, config);
  config["hidden_sizes"] = Doubles(settings.Number("hidden"));
  config["depths"] = Json::array();
  for (const char* depth : kDepths) config["depths"].push_back(settings.Value(depth, true));
}

void TakeNothing(ConfigReader&, Settings&) {}
void GiveNothing(SettingReader&, Json&) {}

// --- rows that several have. What is absent is what the configuration classes of transformers 4.57 take.

std::vector<Number> LlamaNumbers(const char* inner, const char* norm_eps) {
  return {{"num_hidden_layers", "layers", "32"}, {"hidden_size", "hidden", "4096"},
          {"intermediate_size", "inner", inner}, {"num_attention_heads", "heads", "32"},
          {"vocab_size", "vocab", "32000"},      {"rms_norm_eps", "norm_eps", norm_eps, false}};
}

const std::vector<Fixed> kLlamaFixed = {{"hidden_act", R"(["silu"])", R"("silu")"},
                                        {"attention_bias", "[false]", "false"},
                                        {"mlp_bias", "[false]", "false"}};

const Fixed kHeadOfItsOwn = {"tie_word_embeddings", "[false]", "false"};

std::vector<Number> BertNumbers(const char* vocab) {
  return {{"num_hidden_layers", "layers", "12"},
          {"hidden_size", "hidden", "768"},
          {"intermediate_size", "inner", "3072"},
          {"num_attention_heads", "heads", "12"},
          {"vocab_size", "vocab", vocab},
          {"max_position_embeddings", "positions", "512"},
          {"layer_norm_eps", "norm_eps", "1e-12", false},
          {"hidden_dropout_prob", "dropout", "0.1", false}};
}

std::vector<Number> BertNumbersWithTypes() {
  std::vector<Number> numbers = BertNumbers("30522");
  numbers.push_back({"type_vocab_size", "types", "2"});
  return numbers;
}

const std::vector<Fixed> kBertFixed = {{"hidden_act", R"(["gelu"])", R"("gelu")"},
                                       {"position_embedding_type", R"(["absolute"])", R"("absolute")"},
                                       {"is_decoder", "[false]", "false"},
                                       {"add_cross_attention", "[false]", "false"},
                                       {"tie_word_embeddings", "[true]", "true"}};

std::vector<Fixed> RobertaFixed() {
  std::vector<Fixed> fixed = kBertFixed;
  fixed.insert(fixed.end(), {{"type_vocab_size", "[1]", "2"}, {"pad_token_id", "[1]", "1"}});
  return fixed;
}

const std::vector<Number> kT5Numbers = {{"num_layers", "layers", "6"},
                                        {"d_model", "hidden", "512"},
                                        {"d_ff", "inner", "2048"},
                                        {"num_heads", "heads", "8"},
                                        {"d_kv", "head_dim", "64"},
                                        {"vocab_size", "vocab", "32128"},
                                        {"relative_attention_num_buckets", "buckets", "32"},
                                        {"relative_attention_max_distance", "distance", "128"},
                                        {"dropout_rate", "dropout", "0.1", false},
                                        {"layer_norm_epsilon", "norm_eps", "1e-6", false}};

std::vector<Fixed> T5Fixed(const char* tied) {
  return {{"tie_word_embeddings", tied, "true"},
          {"decoder_start_token_id", "[0]", "0"},
          {"is_encoder_decoder", "[true]", "true"}};
}

// Those of a ViT, and more.
std::vector<Number> VitNumbers(const std::vector<Number>& more) {
  std::vector<Number> numbers = {
      {"image_size", "size", "224"},          {"patch_size", "patch", "16"},
      {"num_channels", "channels", "3"},      {"num_hidden_layers", "layers", "12"},
      {"hidden_size", "hidden", "768"},       {"intermediate_size", "inner", "3072"},
      {"num_attention_heads", "heads", "12"}, {"layer_norm_eps", "norm_eps", "1e-12", false}};
  numbers.insert(numbers.end(), more.begin(), more.end());
  return numbers;
}

const std::vector<Architecture>& Table() {
  static const std::vector<Architecture>* table = new std::vector<Architecture>{
      {"gpt2",
       "GPT2LMHeadModel",
       "gpt2/gpt2.mlir",
       "train",
       "transformer.",
       true,
       {{"n_layer", "layers", "12"},
        {"n_embd", "hidden", "768"},
        {"n_head", "heads", "12"},
        {"vocab_size", "vocab", "50257"},
        {"n_positions", "positions", "1024"},
        {"resid_pdrop", "dropout", "0.1", false}},
       {{"activation_function", R"(["gelu_new","gelu_pytorch_tanh"])", R"("gelu_new")"},
        {"layer_norm_epsilon", "[1e-5]", "1e-5"},
        {"scale_attn_weights", "[true]", "true"},
        {"scale_attn_by_inverse_layer_idx", "[false]", "false"},
        {"add_cross_attention", "[false]", "false"},
        {"tie_word_embeddings", "[true]", "true"}},
       TakeGpt2,
       GiveGpt2},
      {"llama", "LlamaForCausalLM", "llama/llama.mlir", "train", "", false, LlamaNumbers("11008", "1e-6"), kLlamaFixed,
       TakeLlama, GiveLlama, kHeadOfItsOwn},
      {"llama",
       "LlamaForCausalLM",
       "llama/llama_tied.mlir",
       "train_tied",
       "",
       true,
       LlamaNumbers("11008", "1e-6"),
       kLlamaFixed,
       TakeLlama,
       GiveLlama,
       {"tie_word_embeddings", "[true]", "false"}},
      {"mistral", "MistralForCausalLM", "llama/llama.mlir", "train", "", false, LlamaNumbers("14336", "1e-6"),
       kLlamaFixed, TakeMistral, GiveMistral, kHeadOfItsOwn},
      {"mixtral", "MixtralForCausalLM", "mixtral/mixtral.mlir", "train", "", false,
       [] {
         std::vector<Number> numbers = LlamaNumbers("14336", "1e-5");
         numbers.insert(numbers.end(), {{"num_local_experts", "experts", "8"},
                                        {"num_experts_per_tok", "chosen", "2"},
                                        {"router_aux_loss_coef", "balance_weight", "0.001", false}});
         return numbers;
       }(),
       kLlamaFixed, TakeMixtral, GiveHeads, kHeadOfItsOwn},
      {"bert", "BertForPreTraining", "bert/bert.mlir", "train", "", true, BertNumbersWithTypes(), kBertFixed, TakeBert,
       GiveNothing},
      {"roberta", "RobertaForMaskedLM", "roberta/roberta.mlir", "train", "", true, BertNumbers("50265"), RobertaFixed(),
       TakeRoberta, GiveNothing},
      {"t5",
       "T5ForConditionalGeneration",
       "t5/t5.mlir",
       "train",
       "",
       true,
       kT5Numbers,
       T5Fixed("[true]"),
       TakeT5,
       GiveT5,
       {"feed_forward_proj", R"(["relu"])", R"("relu")"}},
      {"t5",
       "T5ForConditionalGeneration",
       "t5/t5_1_1.mlir",
       "train_1_1",
       "",
       false,
       kT5Numbers,
       T5Fixed("[false]"),
       TakeT5,
       GiveT5,
       {"feed_forward_proj", R"(["gated-gelu"])", R"("relu")"}},
      {"vit",
       "ViTForImageClassification",
       "vit/vit.mlir",
       "train",
       "",
       false,
       VitNumbers({{"hidden_dropout_prob", "dropout", "0.0", false}}),
       {{"hidden_act", R"(["gelu"])", R"("gelu")"}, {"qkv_bias", "[true]", "true"}},
       TakeVit,
       GiveClasses},
      {"swin",
       "SwinForImageClassification",
       "swin/swin.mlir",
       "train",
       "",
       false,
       {{"image_size", "size", "224"},
        {"patch_size", "patch", "4"},
        {"num_channels", "channels", "3"},
        {"embed_dim", "hidden", "96"},
        {"window_size", "window", "7"},
        {"layer_norm_eps", "norm_eps", "1e-5", false},
        {"hidden_dropout_prob", "dropout", "0.0", false}},
       {{"hidden_act", R"(["gelu"])", R"("gelu")"},
        {"qkv_bias", "[true]", "true"},
        {"mlp_ratio", "[4.0]", "4.0"},
        {"use_absolute_embeddings", "[false]", "false"}},
       TakeSwin,
       GiveSwin,
       {},
       SwinConstants},
      {"vit_mae",
       "ViTMAEForPreTraining",
       "mae/mae.mlir",
       "train",
       "",
       false,
       VitNumbers({{"decoder_num_hidden_layers", "decoder_layers", "8"},
                   {"decoder_hidden_size", "decoder_hidden", "512"},
                   {"decoder_intermediate_size", "decoder_inner", "2048"},
                   {"decoder_num_attention_heads", "decoder_heads", "16"}}),
       {{"hidden_act", R"(["gelu"])", R"("gelu")"},
        {"qkv_bias", "[true]", "true"},
        {"mask_ratio", "[0.75]", "0.75"},
        {"norm_pix_loss", "[true]", "false"},
        {"hidden_dropout_prob", "[0.0]", "0.0"}},
       TakeNothing,
       GiveNothing,
       {},
       MaeConstants},
      {"convnext",
       "ConvNextForImageClassification",
       "convnext/convnext.mlir",
       "train",
       "",
       false,
       {{"image_size", "size", "224"},
        {"patch_size", "patch", "4"},
        {"num_channels", "channels", "3"},
        {"layer_scale_init_value", "branch_scale", "1e-6", false},
        {"layer_norm_eps", "norm_eps", "1e-12", false}},
       {{"hidden_act", R"(["gelu"])", R"("gelu")"}, {"num_stages", "[4]", "4"}},
       TakeConvNext,
       GiveConvNext},
  };
  return *table;
}

// Rates of what the model files leave out, in training alone.
constexpr const char* kRates[] = {"attn_pdrop", "attention_probs_dropout_prob", "attention_dropout", "drop_path_rate",
                                  "router_jitter_noise"};

// Keys that say nothing of how a model computes its logits.
const std::set<std::string>& OfNoMeaning() {
  static const std::set<std::string>* keys = new std::set<std::string>{"_name_or_path",
                                                                       "architectures",
                                                                       "model_type",
                                                                       "transformers_version",
                                                                       "torch_dtype",
                                                                       "dtype",
                                                                       "use_cache",
                                                                       "bos_token_id",
                                                                       "eos_token_id",
                                                                       "pad_token_id",
                                                                       "initializer_range",
                                                                       "initializer_factor",
                                                                       "summary_type",
                                                                       "summary_use_proj",
                                                                       "summary_activation",
                                                                       "summary_proj_to_labels",
                                                                       "summary_first_dropout",
                                                                       "reorder_and_upcast_attn",
                                                                       "task_specific_params",
                                                                       "gradient_checkpointing",
                                                                       "problem_type",
                                                                       "n_ctx",
                                                                       "output_past",
                                                                       "classifier_dropout",
                                                                       "encoder_stride",
                                                                       "out_features",
                                                                       "out_indices",
                                                                       "stage_names",
                                                                       "pooler_act",
                                                                       "pooler_output_size",
                                                                       "pretraining_tp",
                                                                       "output_router_logits",
                                                                       "is_gated_act",
                                                                       "dense_act_fn",
                                                                       "finetuning_task",
                                                                       "path_norm",
                                                                       "attn_implementation",
                                                                       "quantization_config",
                                                                       "sep_token_id",
                                                                       "cls_token_id"};
  return *keys;
}

const Architecture* Choose(ConfigReader& config, const std::string& type) {
  std::vector<Json> types, choices;
  const char* key = nullptr;
  for (const Architecture& row : Table()) {
    if (types.empty() || types.back() != Json(row.model_type)) types.push_back(row.model_type);
    if (type != row.model_type) continue;
    if (row.when.key == nullptr) return &row;
    key = row.when.key;
    const Json allowed = Json::parse(row.when.allowed)[0];
    if (config.At(key, row.when.absent) == allowed) return &row;
    choices.push_back(allowed);
  }
  if (key != nullptr) {
    config.Wrong(key, ValuesText(choices), config.At(key, "null"));
  } else {
    config.Wrong("model_type", ValuesText(types), type.empty() ? Json() : Json(type));
  }
  return nullptr;
}

std::vector<std::string> NotesOf(const Json& json, const ConfigReader& config) {
  std::vector<std::string> notes, unknown;
  for (const char* rate : kRates) {
    if (json.contains(rate) && json[rate].is_number() && json[rate].get<double>() > 0)
      notes.push_back(absl::StrCat(rate, ": ", json[rate].dump(), " has no effect: the model file has none"));
  }
  for (const auto& [key, value] : json.items()) {
    const bool known = config.read().count(key) != 0 || OfNoMeaning().count(key) != 0 || value.is_null() ||
                       std::find(std::begin(kRates), std::end(kRates), key) != std::end(kRates);
    if (!known) unknown.push_back(key);
  }
  if (!unknown.empty()) notes.push_back(absl::StrCat("not known, and not looked at: ", absl::StrJoin(unknown, ", ")));
  return notes;
}

}  // namespace

Imported ReadConfig(const Json& json, int64_t seq) {
  ConfigReader config(json, seq);
  Imported imported;
  const Json type = config.At("model_type", "null");
  const Architecture* row = Choose(config, type.is_string() ? type.get<std::string>() : "");
  if (row != nullptr) {
    imported.architecture = row;
    imported.file = row->file;
    imported.graph = row->graph;
    imported.tied = row->tied;
    for (const Number& number : row->numbers) {
      const double value = config.Number(number.key, number.absent, number.whole);
      imported.settings.emplace_back(number.setting, NumberText(value, number.whole));
    }
    for (const Fixed& fixed : row->fixed) config.Expect(fixed.key, fixed.allowed, fixed.absent);
    if (json.contains("quantization_config")) config.Expect("quantization_config", "[null]", "null");
    row->take(config, imported.settings);
    const bool sequences = std::any_of(imported.settings.begin(), imported.settings.end(),
                                       [](const auto& setting) { return setting.first == "seq"; });
    if (config.has_seq() && !sequences)
      config.errors().push_back(absl::StrCat("--seq: expected only with a model of sequences, got ", row->model_type));
    imported.notes = NotesOf(json, config);
  }
  // A value that is read twice is wrong once.
  for (const std::string& error : config.errors()) {
    if (std::find(imported.errors.begin(), imported.errors.end(), error) == imported.errors.end())
      imported.errors.push_back(error);
  }
  return imported;
}

const Architecture* FindArchitecture(const std::string& file, const std::string& model_type) {
  const Architecture* found = nullptr;
  for (const Architecture& row : Table()) {
    const std::string path = row.file;
    if (path.substr(path.rfind('/') + 1) != file) continue;
    if (found == nullptr || model_type == row.model_type) found = &row;
  }
  return found;
}

std::string FileOf(const Architecture& architecture) { return architecture.file; }

std::string PrefixOf(const Architecture& architecture) { return architecture.prefix; }

std::vector<Constant> ConstantsOf(const Architecture& architecture, const std::map<std::string, std::string>& values) {
  SettingReader settings(values);
  return architecture.constants == nullptr ? std::vector<Constant>() : architecture.constants(settings);
}

absl::StatusOr<Json> WriteConfig(const Architecture& architecture, const std::map<std::string, std::string>& values,
                                 Json config) {
  SettingReader settings(values);
  if (!config.is_object()) config = Json::object();
  config["model_type"] = architecture.model_type;
  config["architectures"] = {architecture.class_name};
  for (const Number& number : architecture.numbers) config[number.key] = settings.Value(number.setting, number.whole);
  std::vector<Fixed> fixed = architecture.fixed;
  if (architecture.when.key != nullptr) fixed.push_back(architecture.when);
  for (const Fixed& it : fixed) {
    const Json allowed = Json::parse(it.allowed);
    const Json value = config.contains(it.key) ? config[it.key] : Json::parse(it.absent);
    if (std::find(allowed.begin(), allowed.end(), value) == allowed.end()) config[it.key] = allowed[0];
  }
  architecture.give(settings, config);
  if (!settings.status().ok()) return settings.status();
  return config;
}

}  // namespace weft::hugging_face
