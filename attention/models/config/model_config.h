#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attention/core/config.h"
#include "attention/core/result.h"
#include "attention/core/tensor.h"
#include "attention/models/config/recurrence.h"

namespace headscope::attention {

/// Dynamic NTK: the base grows with the text, to θ·(factor·n/N − (factor − 1))^(d/(d − 2)) for a text of n
/// tokens, N trained ones and d rotated dimensions (_compute_dynamic_ntk_parameters of transformers).
struct DynamicScaling {
  double factor = 0, theta = 0;  ///< factor 0: none
  bool operator==(const DynamicScaling&) const = default;
};

/// A rotary position embedding (Su et al. 2021), half-split: among the `dims` rotated dimensions of a head, t
/// and t + dims/2 form a pair that is rotated by position · frequencies[t] radians. With `neighbours`, the
/// pairs are 2t and 2t + 1.
struct Rotation {
  Index dims = 0;
  std::vector<double> frequencies;  ///< [dims / 2]
  /// For texts of more than `longBeyond` tokens; if empty and not `dynamic`, `frequencies` serves all texts.
  std::vector<double> longFrequencies;
  DynamicScaling dynamic = {};  ///< for texts of more than `longBeyond` tokens
  Index longBeyond = 0;
  double amplitude = 1;  ///< factor on the rotated dimensions
  bool interleaved = false;
  Index first = 0;  ///< first rotated dimension of a head
  bool operator==(const Rotation&) const = default;

  /// Whether keys rotated in a text of `before` tokens must be rotated again in one of `after`.
  bool changes(Index before, Index after) const;
  /// The frequencies in a text of `tokens` tokens.
  std::vector<double> frequenciesFor(Index tokens) const;
};

/// Returns θ^(−2t/dims) for t = 0 … dims/2 − 1.
std::vector<double> ropeFrequencies(Index dims, double theta);

/// Llama 3.1's context extension: frequencies with a wavelength that is long relative to the original context
/// are divided by `factor`, those with a short one are kept, with a ramp between.
struct Llama3Scaling {
  double factor = 8, lowFactor = 1, highFactor = 4, originalPositions = 8192;
};
std::vector<double> stretched(std::vector<double> frequencies, const Llama3Scaling& scaling);

/// YaRN (Peng et al. 2023): frequencies that turn fewer than `slow` times over the original context are
/// divided by `factor`, those that turn more than `fast` times are kept, with a ramp over the dimensions
/// between.
struct YarnScaling {
  double factor = 1, fast = 32, slow = 1, originalPositions = 4096;
  bool truncates = true;  ///< the ramp starts and ends at whole dimensions
};
std::vector<double> stretched(std::vector<double> frequencies, double theta, const YarnScaling& scaling);
/// Returns YaRN's attention factor, 0.1·m·ln(factor) + 1; 1 if nothing is stretched (factor ≤ 1).
double yarnAttentionFactor(double factor, double m = 1);

/// Returns a table [count, dims] for positions first … first+count−1 of a text of `tokens` tokens: cosines in
/// the first half of each row, sines in the second, times the amplitude. Angles are in double precision.
Matrix rotationTable(const Rotation& rotation, Index first, Index count, Index tokens);

/// Rotates table.cols() dimensions of every row of every head [heads, n, headDim], starting at dimension
/// `from`, by a table of n rows, in pairs of halves or of neighbours.
void rotateHeads(Stack& heads, const Matrix& table, bool interleaved = false, Index from = 0);

class ConfigReader;

/// Rules for continuing a text other than by the model's logits alone: fields of transformers'
/// GenerationConfig, with the meanings of its logits processors. Sampling settings (temperature, top_k,
/// top_p) aren't included: the user sets them next to Generate.
struct GenerationRules {
  double repetitionPenalty = 1;
  Index noRepeatNgram = 0;                   ///< length of token runs that may not occur twice; 0: no limit
  std::vector<std::vector<Index>> badWords;  ///< token runs that are never generated
  Index minLength = 0, minNewTokens = 0;     ///< minimum length of the whole text, and of the generated part
  std::optional<Index> forcedFirst;          ///< follows a text of one token
  std::optional<Index> maxLength;            ///< of the whole text; read only for forcedLast
  std::vector<Index> forcedLast;             ///< a text of maxLength tokens ends with one of these
  std::vector<Index> suppressed;             ///< never generated
  std::vector<Index> suppressedFirst;        ///< not generated as the first token that isn't forced
  std::vector<std::pair<Index, Index>> forced;  ///< positions in the text, and their tokens
  bool operator==(const GenerationRules&) const = default;
};

/// The text to continue.
struct WrittenText {
  std::span<const Index> ids;        ///< all tokens so far
  Index given = 0;                   ///< how many of them precede the generated ones
  std::span<const Index> endTokens;  ///< tokens that end a text
};

/// Applies the rules to the next token's logits, in transformers' order; excluded tokens get −inf. Returns
/// the field of the first rule that displaced the most likely token; "" if it is still the most likely.
std::string_view applyRules(const GenerationRules& rules, const WrittenText& text,
                            Eigen::Ref<Eigen::RowVectorXf> logits);

/// Reads the rules that `file` sets (older checkpoints have them in config.json), and adds notes saying which
/// are followed and which aren't applied. Errors stay in `json`.
GenerationRules readRules(const ConfigReader& json, const std::string& file, std::vector<std::string>& notes);

struct Family;      // families.h
struct Multimodal;  // families.h

/// layer: (x − mean)/√(var + ε)·w + b (Ba et al. 2016); rms: x/√(mean x² + ε)·w (Zhang & Sennrich 2019).
enum class NormKind { layer, rms };

/// gelu: x·Φ(x); geluTanh: its tanh approximation (Hendrycks & Gimpel 2016); silu: x·σ(x); quickGelu:
/// x·σ(1.702x), another approximation; reluSquared: max(x, 0)² (So et al. 2021); mish: x·tanh(ln(1 + eˣ))
/// (Misra 2020); xielu: a parabola with learned curvatures on each side of 0 (Huang & Schlag 2024;
/// XieluWeights).
enum class Activation { gelu, geluTanh, silu, relu, quickGelu, reluSquared, tanh, mish, xielu };

/// How a layer combines attention, MLP and their norms N with the residual stream x.
enum class BlockOrder {
  before,    ///< x += Attn(N₁x); x += MLP(N₂x)
  parallel,  ///< x += Attn(N₁x) + MLP(N₂x)
  after,     ///< x = N₁(x + Attn x); x = N₂(x + MLP x)
  normed,    ///< x = N₁x, x += Attn(x); x = N₂x, x += MLP(x)
  around,    ///< x += N₁'(Attn(N₁x)); x += N₂'(MLP(N₂x))
};

/// Which norm queries and keys pass before they are rotated: of each head, with one set of weights or with a
/// set per head, which have no biases; or of all heads together. plain: of each head, without weights, in the
/// layers that rotate them.
enum class QkNorm { none, head, perHead, whole, plain };

/// A mixture of experts (Shazeer et al. 2017): a router scores the experts for each token, and the layer adds
/// Σ softmax(Wr·x)ₑ · MLPₑ(x) over the best `used` of them.
struct Mixture {
  Index experts = 0, used = 0;  ///< 0: the model has none
  Index innerDim = 0;           ///< of one expert
  bool sumsToOne = false;       ///< the shares of the used experts are divided by their sum
  /// Inner width of an additional MLP that every token passes through, multiplied by σ(w·x) if its names have
  /// a router; 0: none.
  Index sharedDim = 0;
  bool biased = false;     ///< router and experts add biases
  bool sigmoid = false;    ///< scores are σ(Wr·x) instead of the softmax
  bool corrected = false;  ///< a number per expert is added to the scores when choosing, not to the shares
  /// Experts form groups, and only those of the best groups can be chosen. A group's score is its best
  /// expert's, or the sum of its `groupBest` best (DeepSeek-AI 2024, V2 and V3).
  Index groups = 1, groupsUsed = 1, groupBest = 1;
  float shareScale = 1;      ///< factor on the shares
  bool sharesInput = false;  ///< shares multiply what an expert reads instead of what it adds (Llama 4)
  Index latentDim = 0;       ///< experts read and write a map of the stream to this width; 0: the stream
  /// SparseMixer (Liu et al. 2023): each expert is the best that remains, and its share is the softmax over
  /// those that remain and score at most 2·`jitter` below it, relative to the larger magnitude.
  std::optional<float> jitter = {};
  bool operator==(const Mixture&) const = default;
};

/// Multi-head latent attention (DeepSeek-AI 2024, V2): the keys and values of all heads are made from one
/// short vector per token, the latent. A cache only has to hold the latent and the key part that carries the
/// position, which all heads share.
struct Latent {
  Index rank = 0;       ///< of the latent; 0: the model has none
  Index queryRank = 0;  ///< of the queries' latent; 0: queries are made from the stream
  Index ropeDim = 0;    ///< the last dimensions of a head's query and key, which are rotated
  Index valueDim = 0;   ///< of a head's value
  double epsilon = 1e-6;
  bool operator==(const Latent&) const = default;
};

/// The tokens are square patches of a picture (Dosovitskiy et al. 2021), after one or two leading tokens and
/// the registers.
struct VisionConfig {
  static constexpr Index kMaxSide = 4096, kMaxPatches = Index{1} << 16, kMaxClasses = kMaxPatches;
  /// How positions are handled if a picture's patches differ from those they were made for.
  enum class OtherSizes { refused, interpolated, antialiased };

  Index side = 0, patch = 0;  ///< pixels per side of the picture that positions are for, and of a patch
  Index leading = 1;          ///< class token and DeiT's distillation token; they have positions
  Index registers = 0;        ///< tokens after these, without positions
  bool patchBias = true;
  OtherSizes otherSizes = OtherSizes::refused;
  std::vector<std::string> classes = {};  ///< names of the classifier's classes, from config.json
  bool classifiesMean = false;            ///< a classifier reads the token and the mean of the patches
  /// The class that prepares pictures if the folder's file names none (vision_model.h).
  std::string_view processor = {};

  bool operator==(const VisionConfig&) const = default;
  Index grid() const { return side / patch; }  ///< patches along a side
};

/// Queries grow with their position, by 1 + rate · ln(1 + ⌊(position + ahead) / every⌋)
/// (get_llama_4_attn_scale of transformers).
struct QueryGrowth {
  double rate = 0;  ///< 0: they don't
  Index every = 1, ahead = 0;
  bool unrotated = false;  ///< only in layers without a rotation
  bool operator==(const QueryGrowth&) const = default;
  float at(Index position) const;
};

/// Properties that can differ between layers.
struct LayerKind {
  /// Keys within reach of a query, itself included: i − j < window, or |i − j| < window in a bidirectional
  /// model; nothing: all.
  std::optional<Index> window = {};
  std::optional<Index> chunk = {};     ///< instead: those in the query's chunk of so many tokens
  std::optional<Index> rotation = {};  ///< index of the model's rotation; nothing: positions aren't rotated
  float scale = 1;                     ///< factor on q·k
  bool mixture = false;                ///< has the model's mixture of experts instead of the MLP
  bool feeds = true;                   ///< has one of them
  bool recurs = false;                 ///< the recurrence of N₁x is added with the attention
  /// In a hybrid: the layer's number in the checkpoint, and the layers without attention that are computed
  /// with it, between the previous layer and its attention, and, with the last layer, after it.
  std::optional<Index> number = {};
  std::vector<OtherLayer> before = {}, after = {};
  bool operator==(const LayerKind&) const = default;
};

/// Factors on what attention, recurrence and MLP read and add, and on the stream that they are added to.
struct PartFactors {
  float attentionIn = 1, recurrenceIn = 1;  ///< after their norms
  float attention = 1, recurrence = 1, mlp = 1;
  float besideAttention = 1, besideRecurrence = 1, besideMlp = 1;  ///< for BlockOrder::normed
  bool operator==(const PartFactors&) const = default;
};

/// The heads of an encoder–decoder to inspect; `only` for any other model. `decoder` heads read the decoder's
/// own text, `cross` heads the encoder's output.
enum class HeadGroup { only, encoder, decoder, cross };
/// "", "encoder", "decoder" or "cross".
std::string_view groupName(HeadGroup group);

/// How a checkpoint's weights are packed, as its config.json says: what their tensors don't tell.
struct Quantisation {
  std::string method;         ///< "gptq"; "" if the weights aren't packed
  Index bits = 0, group = 0;  ///< per weight, and the weights that share a scale; 0: not said
  bool zerosLessOne = false;  ///< GPTQ's first format stores zeros less one
  bool operator==(const Quantisation&) const = default;
};

/// A model's shape and the parts of its equations that config.json determines, in terms common to all
/// families.
struct ModelConfig {
  const Family* family = nullptr;  ///< null for a model that was made or recorded without a family
  /// The multimodal model whose text part this is; null: the model is all of the file.
  const Multimodal* wrapper = nullptr;
  Quantisation quantisation = {};
  Index modelDim = 0, heads = 0, kvHeads = 0, headDim = 0, vocabulary = 0;
  Index innerDim = 0;  ///< of the MLP; 0: none
  Mixture mixture = {};
  Latent latent = {};  ///< if used, kvHeads = heads: the keys and values made from it
  Recurrence recurrence = {};
  /// Rows of the table of learned positions; 0: none.
  Index positionRows = 0;
  Index firstPosition = 0;  ///< the row of the first token's position
  /// Instead of a table: the vector of row p is sin(p·ω), then cos(p·ω), with ω = 10000^(−i/steps) for i from
  /// 0 on (Vaswani et al. 2017, in the order of tensor2tensor); 0: none.
  Index sinusoidSteps = 0;
  /// A token without a position: it gets the row before the first token's. Nothing: all tokens have
  /// positions.
  std::optional<Index> padToken = {};
  Index maxPositions = 0;  ///< longest text the model was made for, in tokens
  Index embeddingDim = 0;  ///< width of the embeddings, which are mapped to modelDim; 0: modelDim, no map
  Index tokenTypes = 0;    ///< rows of the table of token types; 0: none
  Index taskTypes = 0;     ///< rows of TensorNames::taskTypes
  /// The first token of a second text, from which on tokens are of type 1; before it, of type 0.
  std::optional<Index> secondText = {};
  /// A token whose embedding is 0. The others are multiplied by 0.88 over the share of tokens that aren't it,
  /// as in training, which replaced 12 of 100 (ESM).
  std::optional<Index> droppedToken = {};
  /// For a model that reads pictures and has no vocabulary.
  std::optional<VisionConfig> picture = {};

  bool causal = true;
  BlockOrder order = BlockOrder::before;
  NormKind norm = NormKind::layer;
  double epsilon = 1e-5;
  Activation activation = Activation::gelu;
  bool gated = false;    ///< MLP = down(act(gate x) ⊙ up x) instead of down(act(up x))
  float gateFactor = 1;  ///< on the gate, before the activation
  /// Limits the gate to at most this and the gated values to ± this, then adds 1 to the latter (gpt-oss).
  std::optional<float> gateLimit = {};
  bool gatedHeads = false;  ///< each head's output is multiplied by σ of a map of the attention's input
  bool sinks = false;       ///< each head has a sink (AttentionConfig::sinks)
  bool qkvBias = false, outputBias = false, mlpBias = false;
  QkNorm qkNorm = QkNorm::none;
  bool rotatedFirst = false;  ///< queries and keys are rotated before their norms instead of after
  /// Limits q, k and v to ± this, before rotation, after norms if these precede it.
  std::optional<float> clip;
  QueryGrowth queryGrowth = {};
  bool alibi = false;                 ///< slope·|i − j| is subtracted from scores (Press et al. 2022)
  std::vector<float> slopes;          ///< see AttentionConfig::slopes
  bool normWeight = true;             ///< norms have weights, and LayerNorm biases if normBias
  bool normBias = true;               ///< of LayerNorm
  bool normPlusOne = false;           ///< norms multiply by 1 + w, as Gemma's checkpoints store it
  float embeddingScale = 1;           ///< factor on the token embeddings
  float residualScale = 1;            ///< factor on what attention and MLP add to the stream
  PartFactors factors = {};           ///< on one part or another
  float logitScale = 1;               ///< factor on logits, before their soft-cap
  std::optional<float> softcap;       ///< of scores
  std::optional<float> finalSoftcap;  ///< of logits
  std::vector<Rotation> rotations;
  std::vector<LayerKind> layers;

  HeadGroup group = HeadGroup::only;
  std::vector<HeadGroup> groups;  ///< that the checkpoint has and this program can show; none for `only`
  Index startToken = 0;           ///< first token of the text of a decoder that reads an encoder
  /// Numbers added to scores by distance; the tables come from the checkpoint.
  std::optional<BucketBias> bucketBias = {};
  /// One for each layer, or the same one for all; empty until they are read.
  std::vector<std::shared_ptr<const Matrix>> bucketTables;

  bool embeddingNormed = true;   ///< if the family has a norm of the embeddings
  bool firstLayerNormed = true;  ///< the first layer has a norm before its attention, like the others
  bool headDenseBias = true;     ///< of a masked-token head
  bool finalNorm = true;         ///< if the family has one
  bool headBias = false;         ///< of the head's map to the vocabulary, if its names have no headBias
  /// For a masked-token head; nothing: the same as in the layers.
  std::optional<Activation> headActivation = {};
  bool tied = true;               ///< the embedding is the head if the file has no other
  std::string architecture = {};  ///< class that saved the checkpoint ("LlamaForCausalLM"), or empty

  std::vector<Index> endTokens;  ///< tokens that end a text, from generation_config.json or else config.json
  GenerationRules generation = {};
  std::vector<std::string> notes;  ///< what was left out or decided, one sentence each

  bool operator==(const ModelConfig&) const = default;
  /// Whether each layer has two attentions: to its own text, then to an encoder's output.
  bool reads() const { return group == HeadGroup::decoder || group == HeadGroup::cross; }
  /// Whether the inspected and edited heads are those of the second attention.
  bool cross() const { return group == HeadGroup::cross; }
  /// Whether the inspected heads see no later token; cross heads see the encoder's whole text.
  bool causalHeads() const { return causal && !cross(); }
  /// The same decoder with its other heads inspected.
  ModelConfig withOtherHeads() const;
  /// Width of a head's value and output.
  Index valueDim() const { return latent.rank > 0 ? latent.valueDim : headDim; }
  /// Numbers that a token adds to a layer's cache: keys and values, or the latent and its rotated part.
  Index cachedNumbers() const {
    return latent.rank > 0 ? latent.rank + latent.ropeDim : 2 * kvHeads * headDim;
  }
  /// Whether a layer has an MLP or a mixture after its attention.
  bool feeds(Index layer) const {
    return (innerDim > 0 || mixture.experts > 0) && layers[asSize(layer)].feeds;
  }
  Index embeddingSize() const { return embeddingDim > 0 ? embeddingDim : modelDim; }
  /// Layers with attention; in a hybrid, those without are part of them.
  Index layerCount() const { return static_cast<Index>(layers.size()); }
  /// A layer's number in the checkpoint.
  Index layerNumber(Index layer) const { return layers[asSize(layer)].number.value_or(layer); }
  /// The last of the checkpoint's layers that belong to a layer.
  Index lastNumber(Index layer) const {
    const std::vector<OtherLayer>& after = layers[asSize(layer)].after;
    return after.empty() ? layerNumber(layer) : after.back().number;
  }
  /// Layers in the checkpoint.
  Index numberedLayers() const { return layers.empty() ? 0 : lastNumber(layerCount() - 1) + 1; }
  /// Whether it is bidirectional although its family is a decoder.
  bool isBidirectionalDecoder() const;
  /// The most tokens a text can have; nothing: no limit, as with rotary positions.
  std::optional<Index> positionLimit() const;
  /// Returns an Error unless each head's queries, keys and values are linear maps of the normed stream.
  Status checkHeadMaps() const;
  /// Returns the settings of a layer's attention before any edits, without its sinks (Model::attention).
  AttentionConfig attention(Index layer) const;
  /// Returns the layer's mask in mask syntax: "window(4096)", "causal", "full".
  std::string maskText(Index layer) const;
};

/// Reads how the weights are packed, from quantization_config or MLX's quantization. Records an error with
/// `json` for a method whose weights aren't unpacked.
Quantisation readQuantisation(const ConfigReader& json);

/// Reads a config.json. `group` selects the heads of an encoder–decoder: "encoder", "decoder" or "cross"; ""
/// means "cross". Returns an Error, one sentence that begins with `name`, for text that isn't a JSON object,
/// unknown families, rotations and activations, quantised weights, mixtures and encoder–decoders of other
/// families, sizes that are missing, negative, too large or inconsistent, unsupported field values, an
/// unknown group, or any group for a model without groups. Unknown fields are named in a note.
Result<ModelConfig> readModelConfig(std::string_view json, const std::string& name,
                                    std::string_view group = {});

}  // namespace headscope::attention
