#pragma once

#include <span>
#include <string>
#include <string_view>

#include "attention/core/fused_rows.h"
#include "attention/models/config/config_fields.h"
#include "attention/models/config/config_reader.h"
#include "attention/models/config/model_config.h"

namespace headscope::attention {

/// What a family calls its tensors, without ".weight" and ".bias". Empty: it has none.
struct TensorNames {
  std::string_view embedding = {}, positions = {}, tokenTypes = {}, embeddingNorm = {};
  std::string_view embeddingMap = {};  ///< from ModelConfig::embeddingDim to the model's width
  /// Instead of these, of PictureTokens: the patches' convolution, and whole names.
  std::string_view patches = {}, leadingTokens[2] = {}, registerTokens = {}, picturePositions = {};

  std::string_view layer = {};  ///< what a layer's names begin with, N for its number: "h.N."
  std::string_view q = {}, k = {}, v = {};
  std::string_view qkv = {};  ///< instead of these
  FusedRows fused = FusedRows::thirds;
  std::string_view o = {};
  std::string_view sinks = {};  ///< the whole name
  /// Of Latent: from the stream to the queries' latent and on to the queries; to the keys' and values' with
  /// what is rotated; and from there to each head's key and value, which lie head by head.
  std::string_view queryDown = {}, queryDownNorm = {}, queryUp = {};
  std::string_view latentDown = {}, latentNorm = {}, latentUp = {};
  /// Instead of the last: a tensor of all heads' keys, [heads, rank, headDim − ropeDim], and one of their
  /// values, [heads, valueDim, rank]. A checkpoint has these or that.
  std::string_view latentKeyUp = {}, latentValueUp = {};
  /// Of a decoder that reads an encoder's output: its second attention and the norm that goes with it.
  std::string_view crossQ = {}, crossK = {}, crossV = {}, crossO = {}, crossNorm = {};
  std::string_view bucketBias = {};  ///< the whole name, of the first layer's for all
  std::string_view up = {}, down = {};
  std::string_view gate = {};
  std::string_view ungatedUp = {}, ungatedDown = {};  ///< instead of up and down where the MLP has no gate
  std::string_view gateUp = {};                       ///< instead of gate and up: all of gate, then all of up
  /// Of a mixture; E stands for an expert's number, and a name without it is a tensor of them all,
  /// [experts, …].
  std::string_view router = {}, expertUp = {}, expertDown = {}, expertGate = {};
  /// Instead of up and gate: tensors of them all, [experts, modelDim, 2 · innerDim] with gate and up in turn,
  /// and [experts, innerDim, modelDim] for down. The names are whole, and biases end in "_bias".
  std::string_view expertGateUp = {};
  std::string_view routerCorrection = {};                            ///< the whole name
  std::string_view sharedUp = {}, sharedDown = {}, sharedGate = {};  ///< of Mixture::sharedDim
  std::string_view sharedRouter = {};                                ///< w of σ(w·x)
  std::string_view attentionNorm = {}, mlpNorm = {};                 ///< N₁ and N₂ of BlockOrder
  std::string_view afterAttentionNorm = {}, afterMlpNorm = {};       ///< N₁' and N₂'
  std::string_view qNorm = {}, kNorm = {};
  std::string_view attentionScale = {}, mlpScale = {};  ///< factors on what these add, whole names

  std::string_view finalNorm = {};
  std::string_view head = {};  ///< the embedding where the checkpoint has none
  /// A masked-token head: what comes before the map to the vocabulary, dense, activation and norm, and a bias
  /// behind it, whose name is whole. A checkpoint without these makes no guesses.
  std::string_view headDense = {}, headNorm = {}, headBias = {};
  std::string_view logitBias = {};  ///< the whole name of a bias [1, vocabulary]; a file may lack it
  /// Of PictureTokens: a map from the first token to classes, or else one from each leading token, of which
  /// the mean counts. A file may lack them.
  std::string_view classifier = {}, classifiers[2] = {};
  std::string_view patchClassifier = {};  ///< instead: from the mean of the patches before the final norm
  bool keyBias = true;                    ///< keys have a bias where queries and values do
  bool inFirst = false;                   ///< weights are [in, out] (Conv1D)
};

/// What a checkpoint calls its tensors, and how it says what the model is.
struct TensorNaming {
  TensorNames names;
  /// What stands before the names of the body, and before those of the head; "" for nothing.
  std::span<const std::string_view> prefixes, headPrefixes;
  std::string_view sizes = "config.json";  ///< what says the sizes, for messages
  bool paired = false;                     ///< rows of q and k are those of LinearMap::paired
};

/// One architecture: how its config.json is read and what its tensors are called.
struct Family {
  std::string_view name;          ///< config.json's model_type
  std::string_view architecture;  ///< what `architectures` begin with, "Llama" of "LlamaForCausalLM"
  /// What stands before the names of the body, and before those of the head; "" for nothing.
  std::span<const std::string_view> prefixes;
  std::span<const std::string_view> headPrefixes;
  TensorNames names;
  bool encoder = false;            ///< every token sees all others, unless config.json says otherwise
  bool reads = false;              ///< a decoder, each layer of which attends to an encoder's output too
  const Family* source = nullptr;  ///< that encoder, in the same files; null: its output is given
  bool tied = true;                ///< the head is the embedding table where config.json doesn't say
  std::string_view nested = {};    ///< the object of config.json that describes it; empty: all of it
  ConfigFields fields = {};        ///< beside those that all families share (config_fields.cpp)
  /// Fills the config from the fields, but for what all families share (model_config.cpp).
  void (*read)(const ConfigReader& json, ModelConfig& config);
  /// Of a family that is nested, from the rest of config.json; or null.
  void (*readRest)(const ConfigReader& json, ModelConfig& config) = nullptr;
};

namespace families {
extern const Family gpt2, gptNeo, gptJ, gptNeox, opt, llama, mistral, qwen2, qwen3, gemma, gemma2, gemma3Text,
    gemma3, phi, phi3, olmo2, starcoder2, granite, smollm3, stableLm, cohere, cohere2, glm, glm4, falcon,
    bloom, mpt, mixtral, qwen2Moe, qwen3Moe, olmoe, gptOss, deepSeek2, deepSeek3, bert, roberta, xlmRoberta,
    distilbert, modernBert, electra, vit, deit, dinov2, dinov2WithRegisters, clip, clipVision, t5, mt5, bart,
    whisper;
}

std::span<const Family* const> familyTable();

/// As Hugging Face's checkpoints of the family call them.
inline TensorNaming namingOf(const Family& family) {
  return {family.names, family.prefixes, family.headPrefixes};
}

/// What is said of a type that no family has, in the field model_type or architectures: which family is
/// nearest, by its name or by the fields of its config.json, and how its attention is seen all the same. An
/// empty `type`: the file names none.
std::string unknownFamily(const ConfigReader& json, std::string_view type, std::string_view field);

/// How attention of a model that isn't computed here is shown: recorded where it is.
inline constexpr std::string_view kRecordInstead =
    "Its attention can be recorded in Python and shown: see headscope python.";

}  // namespace headscope::attention
