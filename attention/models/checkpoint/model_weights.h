#pragma once

#include <set>

#include "attention/models/checkpoint/checkpoint.h"
#include "attention/models/config/families.h"
#include "attention/models/config/model_config.h"

namespace headscope::attention {

/// y = x·Wᵀ + b, with W where the checkpoint stores it. The outputs may be split into several pieces of equal
/// size, in order.
struct MappedLinear {
  struct Piece {
    const std::uint8_t* data = nullptr;  ///< at any byte offset
    WeightType type = WeightType::f32;
    const std::uint8_t* scales = nullptr;  ///< for mxfp4_apart
  };
  std::vector<Piece> pieces = {};
  Index out = 0, in = 0;
  bool transposed = false;  ///< the weight is [in, out]
  Index row = 0;            ///< numbers from one row of the weight to the next
  Index paired = 0;         ///< see LinearMap
  Vector bias = {};         ///< [out], or empty

  /// Returns the same map; its weight stays in `linear`.
  static MappedLinear of(const Linear& linear);
  /// Appends maps whose outputs are the heads of y [out / headDim, rows, headDim], or the rows of y.
  void mapsInto(Stack& y, std::vector<LinearMap>& maps) const;
  void mapsInto(Matrix& y, std::vector<LinearMap>& maps) const;
  /// Returns y [rows, out]; undefined once `stop` is requested.
  Matrix apply(const Eigen::Ref<const Matrix>& x, const std::stop_token& stop) const;
};

/// A table of rows; only rows that are read touch memory.
struct MappedRows {
  const std::uint8_t* data = nullptr;
  WeightType type = WeightType::f32;
  Index rows = 0, cols = 0;
  const std::uint8_t* scales = nullptr;  ///< of mxfp4_apart

  /// Refers to the rows of a matrix, which stay there.
  static MappedRows of(const Matrix& rows);
  Eigen::RowVectorXf row(Index i) const;
  /// The table as a map from `cols` numbers to `rows` numbers.
  MappedLinear asLinear() const;
};

/// A norm's numbers as floats. The bias is empty if the norm has none, the weight if there is no norm.
struct NormWeights {
  Vector weight, bias;
};

/// xIELU (Huang & Schlag 2024, equation 7): for x > 0, softplus(positive)·x² + beta·x; else (beta +
/// softplus(negative))·(exp(min(x, limit)) − 1 − x) + beta·x.
struct XieluWeights {
  float positive = 0, negative = 0, beta = 0, limit = 0;
};

struct MlpWeights {
  MappedLinear up = {}, down = {};
  MappedLinear gate = {};    ///< of a gated MLP
  MappedLinear gateUp = {};  ///< instead of gate and up: their outputs alternate
  XieluWeights curve = {};   ///< for Activation::xielu
};

struct MixtureWeights {
  MappedLinear router;  ///< [experts, modelDim]
  Vector correction;    ///< [experts], if the mixture is `corrected`
  std::vector<MlpWeights> experts;
  MlpWeights shared;
  MappedLinear sharedRouter;  ///< [1, modelDim], or empty
  MappedLinear in, out;       ///< of Mixture::latentDim
  NormWeights after;          ///< of what it adds, or empty
};

/// For Latent: the weights between the stream and queries, keys and values.
struct LatentWeights {
  MappedLinear queryDown;  ///< [queryRank, modelDim], or empty
  NormWeights queryNorm;
  MappedLinear down;  ///< [rank + ropeDim, modelDim]
  NormWeights norm;   ///< of the latent
  MappedLinear up;    ///< [heads · (headDim − ropeDim + valueDim), rank]
  /// Instead of `up`: [heads · (headDim − ropeDim), rank], with a transposed piece per head, and [heads ·
  /// valueDim, rank].
  MappedLinear keyUp, valueUp;
};

/// For Recurrence: the weights of a layer that carries a state.
struct RecurrentWeights {
  MappedLinear in, out;
  MappedLinear select, step;  ///< of Mamba: from the channels to the latent of Δ, k and q, and on to Δ
  MappedLinear query, key, gate,
      rate;                         ///< of the delta rule, with `in` for v, and `step` from the stream to Δ
  Matrix kernel;                    ///< [channels, kernel], of the convolution
  Vector kernelBias;                ///< [channels] or empty
  Matrix decay;                     ///< A, [channels, state] or [heads, 1]; below 0
  Vector stepBias, skip;            ///< added to Δ before softplus, and D; of each channel or head
  MappedLinear stepDown, gateDown;  ///< of the delta rule, if it decays per channel: before `step` and `gate`
  /// Of RG-LRU: for each block, the weights [heads · block, block] and biases [channels] of i and of a.
  Matrix inputGate, decayGate;
  Vector inputGateBias, decayGateBias;
  NormWeights norm, stepNorm, keyNorm, queryNorm;
};

struct AttentionWeights {
  MappedLinear q, k, v, o;
  NormWeights attentionNorm;
};

/// A layer without attention, in a hybrid.
struct OtherLayerWeights {
  RecurrentWeights recurrent;
  NormWeights norm, mlpNorm;  ///< empty, like what reads them, if the layer hasn't that part
  MlpWeights mlp;
  std::optional<MixtureWeights> mixture;  ///< instead of the MLP
};

/// For LayerKind::recurs: a recurrence that reads the same norm as the attention.
struct RecurrenceBeside {
  RecurrentWeights weights;
  NormWeights norm;
};

struct LayerWeights : AttentionWeights {
  std::vector<OtherLayerWeights> before, after;  ///< as in LayerKind
  std::optional<RecurrenceBeside> beside;        ///< of the attention
  std::optional<AttentionWeights> other;         ///< whose heads aren't inspected (HeadGroup)
  MappedLinear gate;                             ///< [heads · valueDim, modelDim], if heads are gated
  std::optional<LatentWeights> latent;           ///< instead of k and v; q may then read the queries' latent
  std::vector<float> sinks;                      ///< [heads] or empty
  MlpWeights mlp;
  std::optional<MixtureWeights> mixture;  ///< instead of the MLP
  NormWeights mlpNorm;
  NormWeights afterAttentionNorm, afterMlpNorm;  ///< for BlockOrder::around
  NormWeights qNorm, kNorm;                      ///< if queries and keys are normed
  /// [modelDim] factors on what attention and MLP add (Touvron et al. 2021, LayerScale), or empty.
  Vector attentionScale, mlpScale;
};

/// Returns the linear maps that one token passes through in a layer; in a mixture, those of the first `used`
/// experts.
std::vector<const MappedLinear*> mapsOfToken(const LayerWeights& layer, Index used);

/// The part of a masked-token head before the map to the vocabulary.
struct HeadTransform {
  MappedLinear dense;
  NormWeights norm;
};

/// For VisionConfig.
struct VisionWeights {
  MappedLinear patches;             ///< [modelDim, 3 · patch²], one colour after another
  std::vector<MappedRows> leading;  ///< one row each
  MappedRows registers;             ///< may have no rows
  MappedRows positions;             ///< [leading + grid², modelDim]
  /// [classes, modelDim], or [classes, 2 · modelDim] if VisionConfig::classifiesMean, with biases: one for
  /// the first token, or one per leading token, whose results are averaged. Empty: pictures aren't
  /// classified.
  std::vector<MappedLinear> classifiers;
};

/// A model's tensors by purpose. Matrices stay where they are; norms and biases, a few thousandths of a
/// model, are kept as floats.
struct ModelWeights {
  MappedRows embedding, positions, tokenTypes, taskTypes;  ///< all but the first may have no rows
  std::optional<NormWeights> embeddingNorm, finalNorm;
  std::optional<MappedLinear> embeddingMap, headMap;
  std::optional<VisionWeights> picture;  ///< if set, the embedding has no rows until there is a picture
  std::vector<MappedRows> bucketBias;    ///< [buckets, heads], of all layers or one of each
  std::vector<LayerWeights> layers;
  std::optional<HeadTransform> headTransform;
  std::optional<MappedLinear> head;  ///< nothing: the checkpoint makes no predictions
  std::string headless;              ///< why it makes none, in a sentence
  std::vector<std::string> notes;    ///< how contradictions between tensors were resolved

  /// Finds every tensor that the config requires. Returns an Error, with what was found and what was
  /// expected, if a tensor is missing, exists under two prefixes, has another shape, or has numbers of a kind
  /// that can't be read.
  static Result<ModelWeights> find(const Checkpoint& checkpoint, const ModelConfig& config,
                                   const TensorNaming& naming);
};

/// Returns the weights of outputs first … first+count−1 of a map as floats, [count, in], however the
/// checkpoint stores them. Throws std::invalid_argument if the range exceeds the map.
Matrix weightRows(const MappedLinear& map, Index first, Index count);
/// Returns the biases of these outputs, [count]; zeros if the map has none.
Vector biasRows(const MappedLinear& map, Index first, Index count);
/// Returns the weights of inputs first … first+count−1, [out, count].
Matrix weightColumns(const MappedLinear& map, Index first, Index count);

/// Why a checkpoint makes no predictions; empty if it makes some. `has`: whether a tensor exists under one of
/// the head's prefixes.
std::string whyHeadless(const TensorNames& names, const ModelConfig& config,
                        const std::function<bool(const std::string&)>& has);

/// Finds tensors by a family's names under its prefixes and checks their shapes. The first error is kept in
/// status(); a failed search returns something empty.
class TensorFinder {
 public:
  /// `sizes`: where the expected shapes come from, for messages.
  TensorFinder(const Checkpoint& checkpoint, std::span<const std::string_view> prefixes,
               std::string_view sizes)
      : checkpoint_(checkpoint), prefixes_(prefixes), sizes_(sizes) {}

  bool has(const std::string& name) const;
  /// Returns `name`.weight as [out, in], or [in, out] if `inFirst`, with `name`.bias if `bias`.
  MappedLinear linear(const std::string& name, Index out, Index in, bool bias, bool inFirst);
  /// Returns the tensor `tensor` [count, out, in], or [count, in, out] if `inFirst` and it isn't in MXFP4, as
  /// `count` maps. `bias` names their biases [count, out]; empty: none.
  std::vector<MappedLinear> linears(const std::string& tensor, const std::string& bias, Index count,
                                    Index out, Index in, bool inFirst = false);
  /// Returns `name`.weight, a convolution of each channel over tokens, [channels, 1, kernel] or, in GGUF
  /// files, [channels, kernel].
  Matrix convolution(const std::string& name, Index channels, Index kernel);
  /// Returns `name`.weight as a map to one number: [1, in], or [in] in GGUF files.
  MappedLinear row(const std::string& name, Index in);
  MappedRows rows(const std::string& name, Index rows, Index cols);
  /// Returns the tensor `tensor`, whose last sides are [rows, cols] and whose others are 1; a single row may
  /// be [cols].
  MappedRows table(const std::string& tensor, Index rows, Index cols);
  /// Returns `name`.weight, a convolution [out, colours, side, side], as a map from patches to `out` numbers.
  MappedLinear patches(const std::string& name, Index out, Index colours, Index side, bool bias);
  /// Returns `name`.weight and, for a LayerNorm with a bias, `name`.bias; old files call them gamma and beta.
  NormWeights norm(const std::string& name, Index size, NormKind kind, bool bias = true);
  /// Returns the tensor `name`, [size] or a matrix of as many numbers; a single number may be [].
  Vector vector(const std::string& name, Index size);

  /// Whether the tensor has been returned by any of the above, under this or another name.
  bool read(const TensorView& tensor) const { return read_.contains(tensor.data); }

  Status status() const { return error_ ? Status(*error_) : success(); }
  void fail(const std::string& message);

 private:
  /// Null if there is none, or on an error.
  const TensorView* find(const std::string& name);
  const TensorView* get(const std::string& name, const std::vector<std::uint64_t>& shape);
  /// Returns `map` with the weight `name`.weight of this shape and, if `bias`, `name`.bias.
  MappedLinear weightOf(MappedLinear map, const std::string& name, const std::vector<std::uint64_t>& shape,
                        bool bias);
  /// The program that packed the weight `name`, by the tensors it leaves beside it; "" if none did.
  std::string_view packedBy(const std::string& name) const;

  const Checkpoint& checkpoint_;
  std::span<const std::string_view> prefixes_;
  std::string_view sizes_;
  std::set<const std::uint8_t*> read_;
  std::optional<Error> error_;
};

/// Moves every second head of `q`, which has twice as many, to `gate`.
void splitGates(const ModelConfig& config, LayerWeights& layer);
/// Returns a layer's name: `pattern` with the layer's number for N, then `rest`.
std::string layerName(std::string_view pattern, Index layer, std::string_view rest);
/// Finds the mixture of experts of the checkpoint's layer `layer`, without the norm of what it adds.
MixtureWeights mixtureWeights(TensorFinder& finder, const ModelConfig& config, const TensorNames& names,
                              Index layer);
/// Finds the numbers of an xIELU below `name`.
XieluWeights xieluWeights(TensorFinder& finder, const std::string& name);
/// Finds the weights below `name` ("layers.3.mamba.") of the recurrence in the checkpoint's layer `layer`.
RecurrentWeights recurrentWeights(TensorFinder& finder, const std::string& name, const RecurrentNames& names,
                                  const ModelConfig& config, Index layer);

/// Joins maps of equal size into one with all their outputs, in order.
MappedLinear joined(const std::vector<MappedLinear>& maps);
/// Returns the outputs first … first+count−1 of a map.
MappedLinear outputsOf(const MappedLinear& whole, Index first, Index count);
/// Returns the outputs in `rows`, ranges of equal size, in order.
MappedLinear outputsOf(const MappedLinear& whole, std::span<const RowRange> rows);

/// Finds the table of token embeddings, [vocabulary, embeddingSize]. A file may store it only under the
/// head's name, if config.json ties the two, and a table that two stacks share only under the other stack's.
/// Adds a note if a stack's own table differs from the one it is tied to.
MappedRows embeddingTable(TensorFinder& body, TensorFinder& head, const ModelConfig& config,
                          const TensorNames& names, std::vector<std::string>& notes);

/// Whether two tables of one size differ in any of 64 rows, including the first and the last. A separately
/// trained head differs in all of them, and reading a whole table takes as long as reading a fifth of a small
/// model.
bool differ(const MappedRows& one, const MappedRows& other);

/// Adds the names that save_model() of safetensors dropped because several names shared one tensor: its
/// metadata map each of them to the name that was kept.
void addOtherNames(const std::map<std::string, std::string>& metadata,
                   std::map<std::string, TensorView>& tensors);

/// Removes from the tensors' names what programs that wrap a model add to them, such as "_orig_mod.", unless
/// the family's own names have it too. Returns what was removed, one sentence each.
std::vector<std::string> unwrapNames(std::map<std::string, TensorView>& tensors, const TensorNaming& naming);

/// Returns an Error if the tensors are changes to a model's weights that PEFT keeps apart (Hu et al. 2021,
/// LoRA), with or without the weights themselves.
Status refuseAdapters(const std::map<std::string, TensorView>& tensors, const std::filesystem::path& folder);

/// Tensors that a file may have without changing what is computed.
struct UnreadTensors {
  /// The families whose files have them, with "#encoder" for the encoder of a pair; "pair" and "pair#encoder"
  /// for any pair, "multimodal" for any text part; "": any family's.
  std::string_view families = "";
  std::string_view names;   ///< full names; a * stands for any text
  std::string_view why;     ///< what they are
  bool ofLayers = false;    ///< also in a layer; otherwise a layer's tensor isn't one of them
  bool causalMask = false;  ///< only if the shape is a causal mask's
};
std::span<const UnreadTensors> unreadTensors();

/// Returns notes, one sentence each, that name the tensors that aren't read. Returns an Error for one that
/// may change the result: a tensor of a layer, or of a head that `predicts`, that isn't among
/// unreadTensors().
Result<std::vector<std::string>> checkUnread(const Checkpoint& checkpoint, const ModelConfig& config,
                                             const TensorNaming& naming, bool predicts,
                                             const std::function<bool(const TensorView&)>& isRead);

}  // namespace headscope::attention
