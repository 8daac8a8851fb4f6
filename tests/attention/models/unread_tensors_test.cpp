// Tensors that no equation asks for: refused in a layer, named elsewhere, or known to change nothing.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "attention/models/checkpoint/model_weights.h"
#include "attention/models/config/families.h"
#include "tests/attention/models/golden_models.h"
#include "tests/attention/models/made_up_models.h"
#include "tests/support/matchers.h"
#include "tests/support/safetensors_file.h"

namespace headscope::attention::test {
namespace {

using Shape = std::vector<std::uint64_t>;

NamedTensor zeros(const Shape& shape) {
  return fromFloats(std::vector<float>(*byteExtent(DType::F32, shape) / sizeof(float)), shape);
}

/// The notes of the model with more tensors, or the error of opening it.
std::vector<std::string> notesWith(const MadeUpModel& made, const std::map<std::string, Shape>& more) {
  SafetensorsFile file = made.tensors;
  for (const auto& [name, shape] : more) file.tensors[name] = zeros(shape);
  const MadeUpCheckpoint folder(made.config, file);
  const auto model = Model::open(folder.path());
  return model ? model->config().notes : std::vector{"refused: " + model.error().message};
}

std::string familyOf(const MadeUpModel& made) {
  return std::string(readModelConfig(made.config, "config.json")->family->name);
}

/// What precedes the names of the first layer's tensors in the file, for each stack.
std::set<std::string> firstLayers(const MadeUpModel& made) {
  std::set<std::string> starts;
  const MadeUpCheckpoint folder(made.config, made.tensors);
  const auto model = openModel(folder.path());
  for (const Model* stack : {model.get(), model->source().get()}) {
    if (!stack) continue;
    for (const auto& [name, tensor] : made.tensors.tensors)
      if (layerOf(name, *stack->naming()) == 0) starts.insert(name.substr(0, name.find(".0.") + 3));
  }
  return starts;
}

TEST(UnreadTensors, TensorOfALayerIsRefusedInEveryFamily) {
  std::set<std::string> families;
  for (const MadeUpModel& made : madeUpModels()) {
    families.insert(familyOf(made));
    const auto layers = firstLayers(made);
    ASSERT_FALSE(layers.empty()) << made.name;
    for (const std::string& layer : layers) {
      const std::string extra = layer + "extra_norm.weight";
      EXPECT_THAT(notesWith(made, {{extra, {8}}}),
                  ElementsAre(HasSubstr("has a tensor \"" + extra + "\", which isn't supported")))
          << made.name;
    }
  }
  for (const Family* family : familyTable())
    EXPECT_TRUE(families.contains(std::string(family->name))) << family->name << " isn't tested";
}

TEST(UnreadTensors, OtherTensorIsNamedInEveryFamily) {
  for (const MadeUpModel& made : madeUpModels()) {
    std::vector<std::string> expected = notesWith(made, {});
    expected.emplace_back("The file has tensors that aren't read: \"extra.weight\".");
    EXPECT_EQ(notesWith(made, {{"extra.weight", {8}}}), expected) << made.name;
  }
}

const MadeUpModel& modelNamed(const std::string& family) {
  for (const MadeUpModel& made : madeUpModels())
    if (familyOf(made) == family) return made;
  throw std::runtime_error("no model of " + family);
}

/// What may be in a family's file besides the model, and why, in the words of the table.
struct Extra {
  const char *families, *name;
  Shape shape;
  const char* why;
};
const Extra kExtras[] = {
    {"gpt2", "transformer.h.0.attn.bias", {1, 1, 5, 5}, "the causal mask"},
    {"gptj", "transformer.h.1.attn.bias", {1, 1, 5, 5}, "the causal mask"},
    {"gpt_neo", "transformer.h.0.attn.attention.bias", {1, 1, 5, 5}, "the causal mask"},
    {"gpt_neox", "gpt_neox.layers.0.attention.bias", {1, 1, 5, 5}, "the causal mask"},
    {"gpt2 gptj", "transformer.h.0.attn.masked_bias", {}, "the score of a masked key"},
    {"gpt_neo", "transformer.h.0.attn.attention.masked_bias", {}, "the score of a masked key"},
    {"gpt_neox", "gpt_neox.layers.0.attention.masked_bias", {}, "the score of a masked key"},
    {"gpt_neox",
     "gpt_neox.layers.0.attention.rotary_emb.inv_freq",
     {3},
     "tables of rotary positions, which are computed from config.json"},
    {"llama mistral qwen2 phi phi3 stablelm deepseek_v3 gpt_oss",
     "model.layers.0.self_attn.rotary_emb.inv_freq",
     {3},
     "tables of rotary positions, which are computed from config.json"},
    {"t5 mt5",
     "decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight",
     {4, 4},
     "a table that T5's code made and never read"},
    {"bert", "bert.embeddings.position_ids", {1, 9}, "the numbers 0, 1, 2, …"},
    {"roberta xlm-roberta", "roberta.embeddings.position_ids", {1, 9}, "the numbers 0, 1, 2, …"},
    {"clip", "vision_model.embeddings.position_ids", {1, 9}, "the numbers 0, 1, 2, …"},
    {"opt", "model.decoder.version", {1}, "the version of fairseq's format"},
    {"bart", "model.encoder.version", {1}, "the version of fairseq's format"},
    {"bert", "bert.pooler.dense.weight", {4, 4}, "heads for other tasks"},
    {"bert", "cls.seq_relationship.weight", {2, 4}, "heads for other tasks"},
    {"vit", "vit.pooler.dense.weight", {4, 4}, "heads for other tasks"},
    {"electra", "discriminator_predictions.dense.weight", {4, 4}, "heads for other tasks"},
    {"llama qwen2 gemma", "score.weight", {2, 24}, "heads for other tasks"},
    {"distilbert", "pre_classifier.weight", {4, 4}, "heads for other tasks"},
    {"t5 mt5", "decoder.extra.weight", {4}, "the decoder"},
    {"t5 mt5", "encoder.extra.weight", {4}, "the encoder, which is read separately"},
    {"whisper", "model.encoder.layers.0.fc1.weight", {4, 4}, "the audio encoder, whose output is supplied"},
    {"gemma3", "vision_tower.vision_model.head.weight", {4}, "the vision part, which isn't loaded"},
    {"clip", "text_model.final_layer_norm.weight", {4}, "the text tower, which is left out"},
    {"clip clip_vision_model",
     "visual_projection.weight",
     {4, 4},
     "the map to the space of text and pictures"},
    {"vit", "vit.embeddings.mask_token", {1, 1, 4}, "a token for hidden patches, for training"},
    {"dinov2", "dinov2.embeddings.mask_token", {1, 4}, "a token for hidden patches, for training"},
};

TEST(UnreadTensors, WhatMayStayUnreadIsListedForEveryFamily) {
  std::set<std::string> reasons;
  for (const UnreadTensors& row : unreadTensors()) reasons.insert(std::string(row.why));
  for (const auto& [families, name, shape, why] : kExtras) {
    EXPECT_TRUE(reasons.contains(why)) << why;
    forEachField(families, [&](std::string_view family, std::string_view) {
      const MadeUpModel& made = modelNamed(std::string(family));
      auto expected = notesWith(made, {});
      // Each stack leaves such a tensor to the other one, so it is named once.
      if (std::string(name).find("extra") != std::string::npos)
        expected.push_back("The file has tensors that aren't read: \"" + std::string(name) + "\".");
      EXPECT_EQ(notesWith(made, {{name, shape}}), expected) << family << ", " << name;
    });
  }
}

TEST(UnreadTensors, LlamaRefusesWhatOtherDecodersHave) {
  const MadeUpModel llama{"llama", headscope::test::fileText(goldenModel("llama") / "config.json"),
                          *headscope::test::readSafetensors(goldenModel("llama") / "model.safetensors")};
  const std::pair<const char*, Shape> kCases[] = {{"self_attn.q_proj.bias", {32}},
                                                  {"self_attn.q_norm.weight", {8}},
                                                  {"self_attn.sinks", {4}},
                                                  {"self_attn.rotary_emb.scale", {4}},
                                                  {"self_attn.bias", {32}},
                                                  {"mlp.gate_proj.bias", {40}},
                                                  {"post_feedforward_layernorm.weight", {32}}};
  for (const auto& [name, shape] : kCases)
    EXPECT_THAT(notesWith(llama, {{"model.layers.1." + std::string(name), shape}}),
                ElementsAre(HasSubstr(name + std::string("\", which isn't supported in llama"))));
  EXPECT_THAT(notesWith(llama, {{"lm_head.bias", {31}}}),
              ElementsAre(HasSubstr("lm_head.bias\", which isn't supported")));
  EXPECT_THAT(notesWith(llama, {{"model.layers.0.self_attn.q_proj.lora_A.weight", {4, 24}}}),
              ElementsAre(HasSubstr("of a PEFT adapter, expected the merged model")));
}

TEST(UnreadTensors, LayersBeyondConfigAreNamed) {
  const MadeUpModel& llama = modelNamed("llama");
  const Index layers = readModelConfig(llama.config, "")->layerCount();
  const auto notes =
      notesWith(llama, {{"model.layers." + std::to_string(layers + 1) + ".input_layernorm.weight", {24}}});
  ASSERT_FALSE(notes.empty());
  EXPECT_EQ(notes.back(), "The file has " + std::to_string(layers + 2) + " layers, but config.json says " +
                              std::to_string(layers) + ". The others aren't computed.");
}

TEST(UnreadTensors, AFewOfManyAreNamed) {
  std::map<std::string, Shape> more;
  for (int i = 0; i < 5; ++i) more["extra." + std::to_string(i)] = {2};
  EXPECT_EQ(notesWith(modelNamed("llama"), more).back(),
            "The file has tensors that aren't read: \"extra.0\", \"extra.1\", \"extra.2\" and 2 more.");
}

}  // namespace
}  // namespace headscope::attention::test
