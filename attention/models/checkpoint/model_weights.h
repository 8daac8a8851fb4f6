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

/// y = x·Wᵀ + b with W where the checkpoint has it. The outputs may lie in several pieces of equal size, one
/// after another.
struct MappedLinear {
  struct Piece {
    const std::uint8_t* data = nullptr;  ///< at any byte
    WeightType type = WeightType::f32;
    const std::uint8_t* scales = nullptr;  ///< of mxfp4_apart
  };
  std::vector<Piece> pieces = {};
  Index out = 0, in = 0;
  bool transposed = false;  ///< the weight is [in, out]
  Index row = 0;            ///< numbers from row to row of the weight
  Index paired = 0;         ///< as LinearMap has it
  Vector bias = {};         ///< [out], or empty for none

  /// The same map; its weight stays where `linear` has it.
  static MappedLinear of(const Linear& linear);
  /// Appends the maps whose outputs are the heads of y [out / headDim, rows, headDim], or the rows of y.
  void mapsInto(Stack& y, std::vector<LinearMap>& maps) const;
  void mapsInto(Matrix& y, std::vector<LinearMap>& maps) const;
  /// y [rows, out]. Once `stop` is requested the result is undefined.
  Matrix apply(const Eigen::Ref<const Matrix>& x, const std::stop_token& stop) const;
};

/// A table of rows, of which only those that are read are touched.
struct MappedRows {
  const std::uint8_t* data = nullptr;
  WeightType type = WeightType::f32;
  Index rows = 0, cols = 0;
  const std::uint8_t* scales = nullptr;  ///< of mxfp4_apart

  /// The rows of a matrix, which stay where they are.
  static MappedRows of(const Matrix& rows);
  Eigen::RowVectorXf row(Index i) const;
  /// The table as a map from cols numbers to as many as there are rows.
  MappedLinear asLinear() const;
};

/// A norm's numbers as floats; the bias is empty where the norm has none, the weight where there is no norm.
struct NormWeights {
  Vector weight, bias;
};

struct MlpWeights {
  MappedLinear up, down;
  MappedLinear gate;    ///< of a gated MLP
  MappedLinear gateUp;  ///< instead of gate and up: outputs are theirs in turn
};

struct MixtureWeights {
  MappedLinear router;  ///< [experts, modelDim]
  Vector correction;    ///< [experts], where the mixture is `corrected`
  std::vector<MlpWeights> experts;
  MlpWeights shared;
  MappedLinear sharedRouter;  ///< [1, modelDim], or empty
};

/// Of Latent: what is on the way to queries, keys and values.
struct LatentWeights {
  MappedLinear queryDown;  ///< [queryRank, modelDim], or empty
  NormWeights queryNorm;
  MappedLinear down;  ///< [rank + ropeDim, modelDim]
  NormWeights norm;   ///< of the latent
  MappedLinear up;    ///< [heads · (headDim − ropeDim + valueDim), rank]
  /// Instead of it: [heads · (headDim − ropeDim), rank], a transposed piece for each head, and
  /// [heads · valueDim, rank].
  MappedLinear keyUp, valueUp;
};

/// A layer's other attention, whose heads aren't looked at (HeadGroup).
struct OtherAttention {
  MappedLinear q, k, v, o;
  NormWeights norm;
};

struct LayerWeights {
  MappedLinear q, k, v, o;
  std::optional<OtherAttention> other;
  std::optional<LatentWeights> latent;  ///< then there are no k and v, and q may read the queries' latent
  std::vector<float> sinks;             ///< [heads] or empty
  MlpWeights mlp;
  std::optional<MixtureWeights> mixture;  ///< instead of the MLP
  NormWeights attentionNorm, mlpNorm;
  NormWeights afterAttentionNorm, afterMlpNorm;  ///< of BlockOrder::around
  NormWeights qNorm, kNorm;                      ///< where queries and keys are normed
  /// [modelDim] factors on what attention and MLP add (Touvron et al. 2021, LayerScale), or empty.
  Vector attentionScale, mlpScale;
};

/// The linear maps that one token goes through in a layer: of a mixture, the first `used` experts.
std::vector<const MappedLinear*> mapsOfToken(const LayerWeights& layer, Index used);

/// A masked-token head: what comes before the map to the vocabulary.
struct HeadTransform {
  MappedLinear dense;
  NormWeights norm;
};

/// Of PictureTokens.
struct PictureWeights {
  MappedLinear patches;             ///< [modelDim, 3 · patch²], of a colour after another
  std::vector<MappedRows> leading;  ///< of one row each
  MappedRows registers;             ///< or no rows
  MappedRows positions;             ///< [leading + grid², modelDim]
  /// [classes, modelDim], or [classes, 2 · modelDim] where PictureTokens::classifiesMean, with biases: of the
  /// first token, or one of each leading token, of which the mean counts; none: pictures aren't classified.
  std::vector<MappedLinear> classifiers;
};

/// A model's tensors by what they are for. Matrices stay where they are; norms and biases, a few
/// thousandths of a model, are kept as floats.
struct ModelWeights {
  MappedRows embedding, positions, tokenTypes;  ///< the last two may have no rows
  std::optional<NormWeights> embeddingNorm, finalNorm;
  std::optional<MappedLinear> embeddingMap;
  std::optional<PictureWeights> picture;  ///< then the embedding has no rows before there is a picture
  MappedRows bucketBias;                  ///< [buckets, heads], where config.bucketBias is
  std::vector<LayerWeights> layers;
  std::optional<HeadTransform> headTransform;
  std::optional<MappedLinear> head;  ///< nothing: the checkpoint makes no guesses
  std::string headless;              ///< then why not, in a sentence
  std::vector<std::string> notes;    ///< what was decided between tensors that contradict each other

  /// Finds every tensor the config asks for. Errors, each with what was found and what was expected: a tensor
  /// that is missing, under two prefixes, of another shape, or of a kind of number that isn't read.
  static Result<ModelWeights> find(const Checkpoint& checkpoint, const ModelConfig& config,
                                   const TensorNaming& naming);
};

}  // namespace headscope::attention
