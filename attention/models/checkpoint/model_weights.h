#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "attention/core/linear_maps.h"
#include "attention/core/projections.h"
#include "attention/models/checkpoint/checkpoint.h"
#include "attention/models/config/model_config.h"

namespace headscope::attention {

struct TensorNaming;  // families.h

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

struct MlpWeights {
  MappedLinear up, down;
  MappedLinear gate;    ///< of a gated MLP
  MappedLinear gateUp;  ///< instead of gate and up: their outputs alternate
};

struct MixtureWeights {
  MappedLinear router;  ///< [experts, modelDim]
  Vector correction;    ///< [experts], if the mixture is `corrected`
  std::vector<MlpWeights> experts;
  MlpWeights shared;
  MappedLinear sharedRouter;  ///< [1, modelDim], or empty
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

/// A layer's other attention, whose heads aren't inspected (HeadGroup).
struct OtherAttention {
  MappedLinear q, k, v, o;
  NormWeights norm;
};

struct LayerWeights {
  MappedLinear q, k, v, o;
  std::optional<OtherAttention> other;
  std::optional<LatentWeights> latent;  ///< instead of k and v; q may then read the queries' latent
  std::vector<float> sinks;             ///< [heads] or empty
  MlpWeights mlp;
  std::optional<MixtureWeights> mixture;  ///< instead of the MLP
  NormWeights attentionNorm, mlpNorm;
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
  MappedRows embedding, positions, tokenTypes;  ///< the last two may have no rows
  std::optional<NormWeights> embeddingNorm, finalNorm;
  std::optional<MappedLinear> embeddingMap, headMap;
  std::optional<VisionWeights> picture;  ///< if set, the embedding has no rows until there is a picture
  MappedRows bucketBias;                 ///< [buckets, heads], if config.bucketBias is set
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

}  // namespace headscope::attention
