#pragma once

#include "attention/core/projections.h"
#include "attention/models/config/config_reader.h"
#include "attention/models/config/model_config.h"

namespace headscope::attention {

/// The names of a recurrence's tensors, below TensorNames::recurrent; without ".weight" and ".bias". Those of
/// kinds that a family hasn't aren't read.
struct RecurrentNames {
  std::string_view in = "in_proj", out = "out_proj", kernel = "conv1d", decay = "A_log", skip = "D",
                   stepBias = "dt_bias", norm = "norm";
  /// Mamba's maps to Δ, k and q, their norms, and on to Δ.
  std::string_view select = "x_proj", step = "dt_proj", stepNorm = "dt_layernorm", keyNorm = "b_layernorm",
                   queryNorm = "c_layernorm";
  /// The delta rule's maps: for each group its q, k, v and z, and its β and Δ; or, if the checkpoint has it,
  /// q, k and v in turn, and the others apart.
  std::string_view grouped = "in_proj_qkvz", groupedRates = "in_proj_ba", joined = "in_proj_qkv",
                   gate = "in_proj_z", rate = "in_proj_b", delta = "in_proj_a";
  /// Instead, if not empty: q, k and v apart, and their convolutions; and the first of two maps to Δ and z.
  std::string_view query = {}, key = {}, value = {}, queryKernel = {}, keyKernel = {}, valueKernel = {};
  std::string_view deltaDown = {}, gateDown = {};
  std::string_view inputGate = {}, decayGate = {};  ///< of RG-LRU
  bool readyDecay = false;                          ///< the decay is stored as it is used: A, not ln(−A)
};

/// A family's tensor names, without ".weight" and ".bias". Empty: the family has no such tensor.
struct TensorNames {
  std::string_view embedding = {};
  /// In an encoder–decoder, the stack's own embedding, used instead of `embedding` if the file has it, and
  /// the other stack's, which may be the only name that the file gives to the shared table.
  std::string_view ownEmbedding = {}, otherEmbedding = {};
  std::string_view positions = {}, tokenTypes = {}, embeddingNorm = {};
  std::string_view taskTypes = {};     ///< another table whose first row is added
  std::string_view embeddingMap = {};  ///< from ModelConfig::embeddingDim to the model's width
  /// Back to that width, before the head. If the family has it, neither map has a bias, and positions are as
  /// wide as the model and added after embeddingMap.
  std::string_view headMap = {};
  /// For VisionConfig, instead of these: the patches' convolution, then full names.
  std::string_view patches = {}, leadingTokens[2] = {}, registerTokens = {}, picturePositions = {};

  /// Prefix of a layer's names, with N for its number: "h.N."; without N, all layers have the same weights.
  std::string_view layer = {};
  std::string_view q = {}, k = {}, v = {};
  std::string_view qkv = {};  ///< instead of q, k and v
  FusedRows fused = FusedRows::thirds;
  std::string_view o = {};
  std::string_view sinks = {};  ///< full name
  /// For Latent: from the stream to the queries' latent and on to the queries; from the stream to the latent
  /// of keys and values, with the rotated part; and from that latent to each head's key and value, stored
  /// head by head.
  std::string_view queryDown = {}, queryDownNorm = {}, queryUp = {};
  std::string_view latentDown = {}, latentNorm = {}, latentUp = {};
  /// Instead of latentUp: one tensor with all heads' keys, [heads, rank, headDim − ropeDim], and one with
  /// their values, [heads, valueDim, rank]. A checkpoint has one form or the other.
  std::string_view latentKeyUp = {}, latentValueUp = {};
  /// For a decoder that reads an encoder's output: its second attention and that attention's norm.
  std::string_view crossQ = {}, crossK = {}, crossV = {}, crossO = {}, crossNorm = {};
  std::string_view recurrent = {};  ///< of a hybrid: prefix of a recurrence's tensors
  RecurrentNames recurrence = {};
  /// The norms of a hybrid's layers without attention, if they differ from attentionNorm and mlpNorm.
  std::string_view otherNorm = {}, otherMlpNorm = {};
  std::string_view headGate = {};    ///< map to the heads' gates; otherwise they alternate with q
  std::string_view bucketBias = {};  ///< full name; with N, each layer has its own table
  std::string_view up = {}, down = {};
  std::string_view gate = {};
  std::string_view ungatedUp = {}, ungatedDown = {};  ///< instead of up and down if the MLP has no gate
  std::string_view gateUp = {};                       ///< instead of gate and up: all of gate, then all of up
  std::string_view curve = {};                        ///< prefix of XieluWeights' tensors
  /// For a mixture. E stands for an expert's number; a name without E is one tensor for all experts,
  /// [experts, …].
  std::string_view router = {}, expertUp = {}, expertDown = {}, expertGate = {};
  /// Instead of expertUp and expertGate: one tensor for all experts, [experts, modelDim, 2 · innerDim], in
  /// which gate and up alternate; expertDown is then [experts, innerDim, modelDim]. Full names; biases end in
  /// "_bias".
  std::string_view expertGateUp = {};
  /// Instead of expertUp and expertGate, if the checkpoint has it: one tensor for all experts, [experts,
  /// 2 · innerDim, modelDim], with an expert's gate before its up.
  std::string_view expertGateThenUp = {};
  /// Instead of expertUp and expertGate: one tensor for all experts, [experts, modelDim, 2 · innerDim], with
  /// an expert's gate before its up; expertDown is then [experts, innerDim, modelDim]. Full names.
  std::string_view expertGateBeforeUp = {};
  std::string_view expertsIn = {}, expertsOut = {};                  ///< of Mixture::latentDim
  std::string_view afterExpertsNorm = {};                            ///< of what a mixture adds
  std::string_view routerCorrection = {};                            ///< full name
  std::string_view sharedUp = {}, sharedDown = {}, sharedGate = {};  ///< of Mixture::sharedDim
  std::string_view sharedGateUp = {};  ///< instead of the gate and up: all of the gate, then all of up
  std::string_view sharedRouter = {};  ///< w of σ(w·x)
  /// N₁ and N₂ of BlockOrder. A norm may end in another name after a |, if files have either.
  std::string_view attentionNorm = {}, mlpNorm = {};
  std::string_view afterAttentionNorm = {}, afterMlpNorm = {};  ///< N₁' and N₂'
  std::string_view qNorm = {}, kNorm = {};                      ///< may have H for a head's number
  std::string_view attentionScale = {}, mlpScale = {};          ///< factors on their outputs, full names

  std::string_view finalNorm = {};
  std::string_view head = {};  ///< if the checkpoint has none, the embedding is used
  /// A masked-token head: dense layer, activation and norm before the map to the vocabulary, and the full
  /// name of the bias after it, unless the map itself has one. A checkpoint without these makes no
  /// predictions.
  std::string_view headDense = {}, headNorm = {}, headBias = {};
  std::string_view logitBias = {};  ///< full name of a bias [1, vocabulary]; optional in a file
  /// For VisionConfig: a map from the first token to classes, or one from each leading token, whose results
  /// are averaged. Optional in a file.
  std::string_view classifier = {}, classifiers[2] = {};
  std::string_view patchClassifier = {};  ///< instead: from the mean of the patches before the final norm
  bool keyBias = true;                    ///< keys have a bias if queries and values do
  bool inFirst = false;                   ///< weights are [in, out] (Conv1D)
};

/// The tensor names of a checkpoint, and where its sizes come from.
struct TensorNaming {
  TensorNames names;
  /// Possible prefixes of the body's names and of the head's names; "" for none.
  std::span<const std::string_view> prefixes, headPrefixes;
  std::string_view sizes = "config.json";  ///< source of the sizes, for messages
  bool paired = false;                     ///< rows of q and k are in the order of LinearMap::paired
  bool multimodal = false;                 ///< the tensors of a text part may be called text_model
};

/// The number of the layer that a tensor belongs to by its name; nothing: it belongs to none.
std::optional<Index> layerOf(std::string_view name, const TensorNaming& naming);

namespace families {

inline constexpr std::string_view kNoPrefix[] = {""}, kLlamaPrefixes[] = {"model.", ""};

/// The names that Llama and its descendants share.
inline constexpr TensorNames kLlamaNames{.embedding = "embed_tokens",
                                         .layer = "layers.N.",
                                         .q = "self_attn.q_proj",
                                         .k = "self_attn.k_proj",
                                         .v = "self_attn.v_proj",
                                         .o = "self_attn.o_proj",
                                         .up = "mlp.up_proj",
                                         .down = "mlp.down_proj",
                                         .gate = "mlp.gate_proj",
                                         .attentionNorm = "input_layernorm",
                                         .mlpNorm = "post_attention_layernorm",
                                         .finalNorm = "norm",
                                         .head = "lm_head"};

/// Returns the names after `change` has replaced some.
template <class Change>
constexpr TensorNames changed(TensorNames names, const Change& change) {
  change(names);
  return names;
}

/// The fields that Llama and its descendants share.
extern const ConfigFields kLlamaFields;

}  // namespace families

/// One architecture: how to read its config.json and what its tensors are called. What isn't given is as in
/// Llama's files.
struct Family {
  std::string_view name;          ///< config.json's model_type
  std::string_view architecture;  ///< prefix of entries of `architectures`: "Llama" of "LlamaForCausalLM"
  /// Possible prefixes of the body's names and of the head's names; "" for none.
  std::span<const std::string_view> prefixes = families::kLlamaPrefixes;
  std::span<const std::string_view> headPrefixes = families::kNoPrefix;
  TensorNames names = families::kLlamaNames;
  bool encoder = false;            ///< every token attends to all others, unless config.json says otherwise
  bool reads = false;              ///< a decoder whose layers also attend to an encoder's output
  const Family* source = nullptr;  ///< that encoder, in the same files; null: its output has to be supplied
  bool tied = true;                ///< the head is the embedding table, unless config.json says otherwise
  std::string_view nested = {};    ///< the config.json object that describes the model; empty: all of it
  /// More values of model_type that transformers computes with the same classes, separated by spaces.
  std::string_view aliases = {};
  ConfigFields fields = {.base = &families::kLlamaFields};  ///< besides those that its reader asks for
  /// Fills the config from the family's own fields; model_config.cpp reads the shared ones.
  void (*read)(const ConfigReader& json, ModelConfig& config);
  /// For a nested family, reads the rest of config.json; null: nothing to read.
  void (*readRest)(const ConfigReader& json, ModelConfig& config) = nullptr;
};

namespace families {
extern const Family gpt2, gptNeo, gptJ, gptNeox, opt, llama, mistral, qwen2, qwen3, gemma, gemma2, gemma3Text,
    gemma3, vaultGemma, ministral, ministral3, cwm, ernie45, helium, olmo, exaone4, internLm3, iQuestCoder,
    seedOss, phi, phi3, olmo2, olmo3, starcoder2, granite, smollm3, stableLm, cohere, cohere2, glm, glm4,
    falcon, bloom, mpt, mixtral, qwen2Moe, qwen3Moe, olmoe, gptOss, deepSeek2, deepSeek3, bert, roberta,
    xlmRoberta, distilbert, modernBert, electra, vit, deit, dinov2, dinov2WithRegisters, clip, clipVision,
    siglip, siglipVision, vitMsn, t5, mt5, umt5, whisper;
}

namespace families {
/// The families that no code names, by file.
std::span<const Family> ungated(), routed(), mixtures(), llamaDescendants(), gptDescendants(),
    bertDescendants(), bartDescendants(), hybrids(), mambaHybrids(), linearHybrids(), chunked(), recombined();
}  // namespace families

std::span<const Family* const> familyTable();

/// A model that also reads pictures or sounds, and whose text part is a whole decoder, in the object
/// text_config or, in some old files, beside the others.
struct Multimodal {
  std::string_view name;   ///< config.json's model_type
  std::string_view text;   ///< the family of its text part, unless text_config names another
  bool tied = false;       ///< the head is the embedding table, unless config.json says otherwise
  bool rawLogits = false;  ///< transformers leaves out the text part's factor on logits
  /// Fields of the text part that its file may lack, other than the family's.
  std::string_view defaults = "{}";
};
std::span<const Multimodal> multimodalTable();

/// A value of config.json's model_type that opens.
struct ModelType {
  std::string_view name;
  /// "decoder", "decoder with experts", "decoder with latent attention", "decoder with recurrent layers",
  /// "encoder", "encoder–decoder", "decoder that reads an encoder's output", "vision model" or "text part of
  /// a multimodal model".
  std::string_view computes;
  std::string_view as = {};  ///< the family that it is another name of, or that its text part is by default
};
/// All of them, families first, each followed by its other names.
std::vector<ModelType> modelTypes();

/// The names in the family's Hugging Face checkpoints.
inline TensorNaming namingOf(const Family& family) {
  return {.names = family.names, .prefixes = family.prefixes, .headPrefixes = family.headPrefixes};
}

/// Returns the paths of the fields that are asked for when `json` is read as the family's config.json.
std::set<std::string, std::less<>> fieldsRead(const Family& family, const ConfigReader& json);

/// Returns the message for a type that no family handles, found in `field` (model_type or architectures).
/// Names the nearest family, by its name or by the fields of its config.json, and another way to view the
/// attention. Empty `type`: the file names no type.
std::string unknownFamily(const ConfigReader& json, std::string_view type, std::string_view field);

/// What to do with a model that isn't computed here.
inline constexpr std::string_view kRecordInstead =
    "Its attention can be recorded in Python and shown: see headscope python.";

}  // namespace headscope::attention
