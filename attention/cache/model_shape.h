#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "attention/core/result.h"
#include "attention/core/tensor.h"

namespace headscope::attention {

/// The sizes of a transformer that decide what it costs. Counts are per layer unless they say otherwise.
struct ModelShape {
  std::string name = {};
  Index layers = 0, modelDim = 0, heads = 0;
  Index kvHeads = 0;                    ///< divides heads; with a latent the heads that are made of it
  Index headDim = 0;                    ///< of queries and keys, and of values where valueDim is 0
  Index context = 0;                    ///< tokens it was made for
  bool contextKnown = true;             ///< whether that is published, or only assumed
  Index window = 0;                     ///< tokens that a sliding layer keeps; 0: every layer keeps all
  Index globalLayers = 0;               ///< with a window: layers that keep all tokens nevertheless
  Index latentDim = 0, ropeDim = 0;     ///< multi-head latent attention caches these instead of K and V
  Index queryLatent = 0, valueDim = 0;  ///< of the same: its queries come from a latent too
  bool decodes = true;                  ///< encoders keep no cache

  Index innerDim = 0;  ///< of the feed-forward part, where it is dense
  bool gated = false;  ///< three matrices instead of two
  Index vocabulary = 0;
  Index positions = 0;    ///< rows of learned positions
  bool tied = false;      ///< the head is the embedding table
  Index denseLayers = 0;  ///< with experts: layers that have none
  Index experts = 0, activeExperts = 0, sharedExperts = 0, expertDim = 0;  ///< mixture of experts; 0: dense

  std::string source = {};  ///< where these figures are published

  bool isLatent() const { return latentDim > 0; }
  bool operator==(const ModelShape&) const = default;
};

/// The first thing about a shape that can't be, with what was found and what was expected.
Status validate(const ModelShape& shape);

/// Learned numbers by what they do: matrices alone, without biases and norms, which are below 0.1 %.
struct ShapeParameters {
  std::uint64_t attention = 0;            ///< of all layers
  std::uint64_t feedForward = 0;          ///< of all layers and experts
  std::uint64_t activeFeedForward = 0;    ///< that one token goes through
  std::uint64_t embedding = 0, head = 0;  ///< head is the table itself where it is tied
  std::uint64_t total = 0;
};
ShapeParameters parametersOf(const ModelShape& shape);
/// Parameters of the attention of one layer: Q d·H·s, K and V d·G·s each, O H·s·d; latent attention's
/// low-rank maps (DeepSeek-AI 2024, DeepSeek-V2, section 2.1).
std::uint64_t attentionParameters(const ModelShape& shape);

/// 24 published shapes.
const std::vector<ModelShape>& modelShapes();
/// By name, whatever the case; null where there is none.
const ModelShape* findShape(const std::vector<ModelShape>& shapes, std::string_view name);

}  // namespace headscope::attention
