// Metadata that change what is computed: read as llama.cpp reads them, or refused.

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "attention/models/gguf/gguf_source.h"
#include "tests/attention/models/gguf/gguf_files.h"
#include "tests/support/matchers.h"

namespace headscope::attention::test {
namespace {

class GgufMetadataTest : public testing::Test {
 protected:
  void SetUp() override {
    python_ = pythonWithNumpy();
    if (python_.empty()) GTEST_SKIP() << "NumPy isn't installed (apt-get install python3-numpy)";
  }
  /// Writes a golden checkpoint with other metadata or tensors, as write_gguf.py describes `edits`.
  std::filesystem::path written(const std::string& family, const std::string& edits) {
    if (!writeGguf(python_, "model '" + goldenModel(family).string() + "' '" + folder_.path().string() +
                                "' F32 " + edits))
      throw std::runtime_error("write_gguf.py failed");
    return folder_ / "model.gguf";
  }
  Result<ModelConfig> config(const std::string& family, const std::string& edits = "") {
    const auto source = GgufSource::open(written(family, edits));
    if (!source) return source.error();
    const auto text = ggufConfig(*source);
    if (!text) return text.error();
    return readModelConfig(*text, "the file");
  }
  std::vector<double> frequencies(const std::string& family, const std::string& edits = "") {
    return config(family, edits)->rotations.at(0).frequencies;
  }
  /// Each layer's window; 0: none.
  std::vector<Index> windows(const std::string& family, const std::string& edits) {
    std::vector<Index> all;
    const auto config = this->config(family, edits);
    for (const LayerKind& layer : config->layers) all.push_back(layer.window.value_or(0));
    return all;
  }

 private:
  headscope::test::TemporaryFolder folder_;
  std::string python_;
};

TEST_F(GgufMetadataTest, FactorWithoutTypeSlowsRotations) {
  for (const char* family : {"qwen2", "llama"}) {  // llama's file also has a table of factors
    const auto plain = frequencies(family);
    const auto slow = frequencies(family, std::string(family) + ".rope.scaling.factor:f32=4");
    ASSERT_EQ(plain.size(), slow.size());
    for (std::size_t i = 0; i < plain.size(); ++i) EXPECT_NEAR(slow[i], plain[i] / 4, 1e-9) << family;
  }
  EXPECT_EQ(frequencies("qwen2"),
            frequencies("qwen2", "qwen2.rope.scaling.type:text=none qwen2.rope.scaling.factor:f32=4"));
}

TEST_F(GgufMetadataTest, YarnFollowsItsFactorWhateverTheContextLength) {
  const std::string yarn =
      "qwen2.rope.scaling.type:text=yarn qwen2.rope.scaling.original_context_length:u32=256 ";
  const std::string factor = "qwen2.rope.scaling.factor:f32=4 ";
  const double amplitude = 1 + 0.1 * std::log(4);
  for (const char* more : {"", "qwen2.rope.scaling.attn_factor:f32=1.138629"}) {
    const auto config = checked(this->config("qwen2", yarn + factor + more));
    EXPECT_NEAR(config->rotations[0].amplitude, amplitude, 1e-9);
    EXPECT_EQ(config->maxPositions, 1024);
  }
  EXPECT_EQ(
      config("qwen2", yarn + factor + "qwen2.rope.scaling.yarn_log_multiplier:f32=1")->rotations[0].amplitude,
      1);
  const auto unstretched = checked(config("qwen2", yarn));
  EXPECT_EQ(unstretched->rotations[0].frequencies, frequencies("qwen2"));
  EXPECT_THAT(config("qwen2", yarn + factor + "qwen2.rope.scaling.attn_factor:f32=1.3").error().message,
              HasSubstr("\"qwen2.rope.scaling.attn_factor\" is 1.3, expected 1 or 1.1386"));
}

TEST_F(GgufMetadataTest, ReadsOllamasNamesForGemma3) {
  const std::string third =
      "general.architecture:text=gemma3 gemma3.attn_logit_softcapping:drop= gemma3.rope.freq_base:drop= "
      "gemma3.attention.layer_norm_rms_epsilon:drop= ";
  for (const char* more :
       {"", "gemma3.rope.global.freq_base:f32=1000000 gemma3.rope.local.freq_base:f32=20000"}) {
    const auto config = checked(this->config("gemma2", third + more));
    const double local = *more ? 20000 : 10000, dims = 12;
    EXPECT_NEAR(config->rotations[0].frequencies[1], std::pow(1e6, -2 / dims), 1e-9);
    EXPECT_NEAR(config->rotations[1].frequencies[1], std::pow(local, -2 / dims), 1e-6);
    EXPECT_EQ(config->epsilon, 1e-6);
  }
}

TEST_F(GgufMetadataTest, WindowsFollowPattern) {
  using Windows = std::vector<Index>;
  const std::string key = "gemma2.attention.sliding_window_pattern:";
  EXPECT_EQ(windows("gemma2", ""), (Windows{10, 0, 10}));
  EXPECT_EQ(windows("gemma2", key + "u32=3"), (Windows{10, 10, 0}));
  EXPECT_EQ(windows("gemma2", key + "bool[]=0,1,1"), (Windows{0, 10, 10}));
  EXPECT_THAT(config("gemma2", key + "bool[]=0,1").error().message, HasSubstr("layer_types"));
  const std::string third = "general.architecture:text=gemma3 gemma3.attn_logit_softcapping:drop= ";
  EXPECT_EQ(windows("gemma2", third), (Windows{10, 10, 10}));
  EXPECT_EQ(windows("gemma2", third + "gemma3.attention.sliding_window:drop="), (Windows{0, 0, 0}));
  const auto both = checked(config(
      "gemma2", "general.architecture:text=gemma-embedding gemma-embedding.attn_logit_softcapping:drop="));
  EXPECT_FALSE(both->causal);
  EXPECT_EQ(both->layers[0].window, 6);
}

TEST_F(GgufMetadataTest, RefusesWhatItWouldIgnore) {
  const std::string experts = "llama.expert_count:u32=4 llama.expert_used_count:u32=2 ";
  const std::string granite = "general.architecture:text=granite granite.";
  for (const auto& [family, edits, expected] : std::initializer_list<std::array<std::string, 3>>{
           {"llama", "llama.attention.causal:bool=0", "\"llama.attention.causal\" is false, expected true"},
           {"llama", "llama.rope.scaling.attn_factor:f32=1.3", "is 1.3, expected 1"},
           {"llama", experts + "llama.expert_weights_scale:f32=2", "is 2, expected 1"},
           {"llama", experts + "llama.expert_weights_norm:bool=0", "is false, expected true"},
           {"llama", experts + "llama.expert_gating_func:u32=2", "is 2, expected 1"},
           {"llama", granite + "rope.scaling.finetuned:bool=0", "is false, expected true"},
           {"gemma2", "gemma2.rope.freq_base_swa:f32=20000", "is 20000, expected 10000"},
           {"gemma2", "gemma2.block_count:bool=1", "is true, expected a whole number"},
           {"llama", "llama.rope.freq_base:f32=nan",
            "\"llama.rope.freq_base\" is nan, expected a finite number"},
           {"llama", "llama.attention.layer_norm_rms_epsilon:f32=inf", "is inf, expected a finite number"},
           {"gemma2", "gemma2.attn_logit_softcapping:f32=nan", "is nan, expected a finite number"},
           {"llama", "general.type:text=adapter", "holds an adapter (LoRA), which changes a model, expected"},
           {"llama", "general.type:text=mmproj", "holds the part of a model that reads pictures"},
           {"llama", "general.architecture:text=clip", "holds the part of a model that reads pictures"},
           {"llama", "general.type:text=imatrix general.architecture:drop=",
            "holds statistics for quantising a model, expected a model's own file"},
           {"bert", "bert.attention.causal:bool=1", "is true, expected false"}}) {
    const auto config = this->config(family, edits);
    ASSERT_FALSE(config.ok()) << edits;
    EXPECT_THAT(config.error().message, HasSubstr(expected));
  }
}

TEST_F(GgufMetadataTest, QueriesGrowBeyondTheOriginalLength) {
  const std::string grown =
      "mistral3.attention.temperature_scale:f32=0.5 mistral3.rope.scaling.original_context_length:u32=4";
  const auto plain = config("mistral"), config = this->config("mistral", grown);
  ASSERT_TRUE(config.ok()) << config.error().message;
  EXPECT_EQ(config->rotations, plain->rotations);
  EXPECT_EQ(plain->queryGrowth.at(1000), 1);
  EXPECT_EQ(config->queryGrowth.at(3), 1);
  EXPECT_FLOAT_EQ(config->queryGrowth.at(4), static_cast<float>(1 + 0.5 * std::log(2)));
  EXPECT_FLOAT_EQ(config->queryGrowth.at(11), static_cast<float>(1 + 0.5 * std::log(3)));
}

TEST_F(GgufMetadataTest, NotesWhatTheFileCantSay) {
  const std::string window = "can't say whether attention has a window";
  for (const auto& [family, edits, note] : std::initializer_list<std::array<std::string, 3>>{
           {"qwen2", "", window},
           {"llama", "general.name:text=Mistral-7B llama.rope.freq_base:f32=10000", window},
           {"llama", "general.name:text=Mistral-7B llama.rope.freq_base:f32=1000000", ""},
           {"llama", "", ""},
           {"qwen2", "qwen2.attention.sliding_window:u32=4",
            "\"qwen2.attention.sliding_window\" is not applied"}}) {
    const auto model = checked(Model::open(written(family, edits)));
    std::string notes;
    for (const std::string& each : model->config().notes) notes += each;
    if (note.empty())
      EXPECT_THAT(notes, testing::Not(HasSubstr(window))) << family << edits;
    else
      EXPECT_THAT(notes, HasSubstr(note)) << family << edits;
  }
}

TEST_F(GgufMetadataTest, RefusesTextsThatArentUtf8) {
  EXPECT_THAT(messageOf(config("llama", "llama.rope.scaling.type:text=\xff")),
              HasSubstr("\"llama.rope.scaling.type\" is \"\\xff\", expected UTF-8"));
}

TEST_F(GgufMetadataTest, RefusesTensorsOfLayersThatFamilyLacks) {
  EXPECT_TRUE(Model::open(written("llama", "+blk.2.attn_q.weight +other.weight")).ok());
  for (const char* name : {"blk.1.attn_q.scale", "blk.1.attn_q.bias", "output.scale"})
    EXPECT_THAT(Model::open(written("llama", std::string("+") + name)).error().message,
                HasSubstr("has a tensor \"" + std::string(name) + "\", which isn't supported in llama"));
}

}  // namespace
}  // namespace headscope::attention::test
