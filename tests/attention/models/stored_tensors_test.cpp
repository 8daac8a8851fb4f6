// The same model under the names that other programs store it with: save_model(), wrappers, untied stacks.

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

/// A file with the tensor `from` under the name `to`.
SafetensorsFile renamed(SafetensorsFile file, const std::string& from, const std::string& to) {
  file.tensors[to] = file.tensors.at(from);
  file.tensors.erase(from);
  return file;
}

/// The name of the tensor that holds the token embeddings.
std::string embeddingOf(const Model& model) {
  for (const auto& [name, tensor] : model.checkpoint().tensors())
    if (tensor.data == model.weights().embedding.data) return name;
  return "";
}

/// Expects that a folder opens as the model does, up to its notes.
void expectSame(const Model& expected, const std::string& config, const SafetensorsFile& file,
                const std::string& what) {
  const MadeUpCheckpoint folder(config, file);
  const auto found = Model::open(folder.path());
  ASSERT_TRUE(found.ok()) << what << ": " << found.error().message;
  const std::vector<Index> ids{3, 0, 5};
  for (const auto& [a, b] :
       {std::pair(&expected, &*found), {expected.source().get(), found->source().get()}}) {
    ASSERT_EQ(a == nullptr, b == nullptr) << what;
    if (!a || a->config().picture) continue;
    EXPECT_EQ(a->embed(ids, 0), b->embed(ids, 0)) << what;
    const Matrix stream = Matrix::Ones(1, a->config().modelDim);
    EXPECT_EQ(a->predictsTokens(), b->predictsTokens()) << what;
    EXPECT_EQ(a->logits(stream), b->logits(stream)) << what;
  }
}

TEST(StoredNames, TiedEmbeddingMayHaveOnlyTheHeadsName) {
  int tied = 0;
  for (const MadeUpModel& made : madeUpModels()) {
    const MadeUpCheckpoint folder(made.config, made.tensors);
    const auto model = openModel(folder.path());
    const std::string head = std::string(model->naming()->names.head) + ".weight";
    if (!model->config().tied || head == ".weight" || made.tensors.tensors.contains(head)) continue;
    ++tied;
    const SafetensorsFile file = renamed(made.tensors, embeddingOf(*model), head);
    expectSame(*model, made.config, file, made.name + ", " + head);
  }
  EXPECT_GE(tied, 15);
}

TEST(StoredNames, SharedEmbeddingMayHaveEitherStacksName) {
  int pairs = 0;
  for (const MadeUpModel& made : madeUpModels()) {
    const MadeUpCheckpoint folder(made.config, made.tensors);
    const auto model = openModel(folder.path());
    if (!model->source()) continue;
    ++pairs;
    const std::string shared = embeddingOf(*model),
                      before = shared.substr(0, shared.size() - std::string("shared.weight").size());
    for (const char* stack : {"encoder", "decoder"})
      expectSame(*model, made.config, renamed(made.tensors, shared, before + stack + ".embed_tokens.weight"),
                 made.name);
  }
  EXPECT_GE(pairs, 3);
}

TEST(StoredNames, MetadataNameOtherNamesOfATensor) {
  for (const MadeUpModel& made : madeUpModels()) {
    if (made.name != "llama" && made.name != "gpt2") continue;
    const MadeUpCheckpoint folder(made.config, made.tensors);
    const auto model = openModel(folder.path());
    for (const auto& [name, tensor] : made.tensors.tensors) {
      SafetensorsFile file = renamed(made.tensors, name, "kept");
      file.metadata[name] = "kept";
      expectSame(*model, made.config, file, name);
    }
  }
}

TEST(StoredNames, WrappedNamesAreReadAndNoted) {
  for (const MadeUpModel& made : madeUpModels()) {
    const MadeUpCheckpoint folder(made.config, made.tensors);
    const auto model = openModel(folder.path());
    for (const std::string wrapper :
         {"_orig_mod.", "module.", "language_model.", "backbone.", "module._orig_mod."}) {
      if (std::ranges::any_of(model->naming()->prefixes,
                              [&](std::string_view prefix) { return prefix.starts_with(wrapper); }))
        continue;  // one of the family's own names
      SafetensorsFile file;
      for (const auto& [name, tensor] : made.tensors.tensors) file.tensors[wrapper + name] = tensor;
      expectSame(*model, made.config, file, made.name + ", " + wrapper);
      const MadeUpCheckpoint wrapped(made.config, file);
      const auto found = checked(Model::open(wrapped.path()));
      for (std::size_t at = 0; at < wrapper.size(); at = wrapper.find('.', at) + 1)
        EXPECT_THAT(found->config().notes,
                    Contains(HasSubstr('"' + wrapper.substr(at, wrapper.find('.', at) + 1 - at) + '"')))
            << made.name;
    }
  }
}

TEST(StoredNames, WrapperInsideANameIsRemovedToo) {
  const MadeUpModel& made = *std::ranges::find(madeUpModels(), std::string("llama"), &MadeUpModel::name);
  const MadeUpCheckpoint folder(made.config, made.tensors);
  SafetensorsFile file;
  for (const auto& [name, tensor] : made.tensors.tensors) {
    const std::size_t after = name.find('.') + 1;
    file.tensors[name.starts_with("model.") ? "model._orig_mod." + name.substr(after) : name] = tensor;
  }
  expectSame(*openModel(folder.path()), made.config, file, "model._orig_mod.");
}

TEST(StoredNames, LeavesAWordThatOnlyEndsLikeAWrapperAlone) {
  std::map<std::string, TensorView> tensors{{"my_module.layers.0.norm.weight", {}}};
  EXPECT_THAT(unwrapNames(tensors, namingOf(families::llama)), ElementsAre(HasSubstr("my_module.")));
  EXPECT_TRUE(tensors.contains("layers.0.norm.weight"));
  tensors = {{"my_module.weight", {}}, {"layers.0.norm.weight", {}}};
  EXPECT_THAT(unwrapNames(tensors, namingOf(families::llama)), IsEmpty());
  EXPECT_TRUE(tensors.contains("my_module.weight"));
}

TEST(StoredNames, UntiedStacksUseTheirOwnEmbeddings) {
  for (const MadeUpModel& made : madeUpModels()) {
    const MadeUpCheckpoint folder(made.config, made.tensors);
    const auto model = openModel(folder.path());
    if (!model->source()) continue;
    const std::string shared = embeddingOf(*model),
                      before = shared.substr(0, shared.size() - std::string("shared.weight").size());
    NamedTensor other = made.tensors.tensors.at(shared);
    std::ranges::rotate(other.bytes, other.bytes.begin() + 8);
    SafetensorsFile untied = made.tensors, rotated = made.tensors;
    for (const char* stack : {"encoder", "decoder"})
      untied.tensors[before + stack + ".embed_tokens.weight"] = other;
    rotated.tensors[shared] = other;
    const std::string config = made.config.substr(0, made.config.rfind('}')) + ", \"tie_word_embeddings\": ";
    untied.tensors["lm_head.weight"] = rotated.tensors["lm_head.weight"] = other;
    const MadeUpCheckpoint expected(config + "false}", rotated);
    expectSame(*openModel(expected.path()), config + "false}", untied, made.name);
    const MadeUpCheckpoint tied(config + "true}", untied);
    EXPECT_THAT(openModel(tied.path())->config().notes, Contains(HasSubstr("Each uses its own embed_tokens")))
        << made.name;
  }
}

TEST(StoredNames, MaskedHeadPrefersTheMapsOwnBias) {
  for (const MadeUpModel& made : madeUpModels()) {
    const MadeUpCheckpoint folder(made.config, made.tensors);
    const auto model = openModel(folder.path());
    const TensorNames& names = model->naming()->names;
    const std::string beside(names.headBias), own = std::string(names.head) + ".bias";
    if (!model->predictsTokens() || beside.empty() || beside == own) continue;
    NamedTensor other = made.tensors.tensors.at(beside);
    std::ranges::rotate(other.bytes, other.bytes.begin() + 4);
    SafetensorsFile both = made.tensors, moved = made.tensors;
    both.tensors[own] = other;
    moved.tensors[beside] = other;
    const MadeUpCheckpoint expected(made.config, moved), found(made.config, both);
    expectSame(*openModel(expected.path()), made.config, both, made.name);
    EXPECT_THAT(openModel(found.path())->config().notes, Contains(HasSubstr("Predictions use " + own)));
    both.tensors.at(own) = both.tensors.at(beside);
    const MadeUpCheckpoint same(made.config, both);
    EXPECT_EQ(openModel(same.path())->config().notes, model->config().notes);
  }
}

// Tensors that no equation asks for: refused in a layer, named elsewhere, or known to change nothing.

using Shape = std::vector<std::uint64_t>;

NamedTensor filled(const Shape& shape, float value) {
  return fromFloats(std::vector<float>(*byteExtent(DType::F32, shape) / sizeof(float), value), shape);
}

/// The notes of the model with more tensors, or the error of opening it.
std::vector<std::string> notesWith(const MadeUpModel& made, const std::map<std::string, Shape>& more,
                                   float value = 1) {
  SafetensorsFile file = made.tensors;
  for (const auto& [name, shape] : more) file.tensors[name] = filled(shape, value);
  const MadeUpCheckpoint folder(made.config, file);
  const auto model = Model::open(folder.path());
  return model ? model->config().notes : std::vector{"refused: " + model.error().message};
}

std::string familyOf(const MadeUpModel& made) {
  return std::string(readModelConfig(made.config, "config.json")->family->name);
}

/// The name without the part that multimodal models add.
std::string unwrapped(const std::string& name) {
  constexpr std::string_view kWrapper = "language_model.";
  return name.starts_with(kWrapper) ? name.substr(kWrapper.size()) : name;
}

/// What precedes the names of the first layer's tensors in the file, for each stack.
std::set<std::string> firstLayers(const MadeUpModel& made) {
  std::set<std::string> starts;
  const MadeUpCheckpoint folder(made.config, made.tensors);
  const auto model = openModel(folder.path());
  for (const Model* stack : {model.get(), model->source().get()}) {
    if (!stack) continue;
    for (const auto& [name, tensor] : made.tensors.tensors)
      if (layerOf(unwrapped(name), *stack->naming()) == 0)
        starts.insert(name.substr(0, name.find(".0.") + 3));
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
                  ElementsAre(testing::AllOf(HasSubstr("has a tensor \""),
                                             HasSubstr(unwrapped(extra) + "\", which isn't supported"))))
          << made.name;
    }
  }
  // hybrid_test.cpp, mixed_hybrid_test.cpp and tests/references have models of those in the lists.
  const auto isListed = [](const Family* family) {
    for (const auto& list :
         {families::bertDescendants(), families::bartDescendants(), families::hybrids(),
          families::mambaHybrids(), families::linearHybrids(), families::chunked(), families::recombined()})
      if (std::ranges::any_of(list, [&](const Family& each) { return each.name == family->name; }))
        return true;
    return false;
  };
  for (const Family* family : familyTable())
    EXPECT_TRUE(families.contains(std::string(family->name)) || isListed(family) ||
                family->name.starts_with("siglip") || family->name == "vit_msn" || family->name == "umt5")
        << family->name << " isn't tested";
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
    {"gemma3",
     "vision_tower.vision_model.head.weight",
     {4},
     "the part for pictures or sounds, which isn't loaded"},
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
  // As GPTQ-for-LLaMa stores them.
  EXPECT_THAT(notesWith(llama, {{"model.layers.1.self_attn.q_proj.bias", {32}}}, 0), IsEmpty());
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
