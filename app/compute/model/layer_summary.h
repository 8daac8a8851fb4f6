#pragma once

#include <memory>
#include <stop_token>
#include <vector>

#include "app/scene/models/open_model.h"
#include "app/scene/subject.h"
#include "attention/heads/detectors.h"
#include "attention/models/session.h"
#include "render/colormap.h"

namespace headscope::app {

using attention::Index;

/// What one head of a layer does on the text.
struct HeadSummary {
  attention::HeadProfile profile;
  float entropy = 0;   ///< mean of H_i / ln(visible_i) over rows that see at least two keys; 0 without any
  float differs = -1;  ///< for a difference of two texts: mean over rows of ½·Σ|B − A|; otherwise −1

  /// Returns the head's label; `threshold` is the detector score above even attention that a label needs.
  attention::HeadLabel label(float threshold) const { return attention::labelHead(profile, threshold); }
};

/// One layer on the text.
struct LayerSummary {
  attention::Stack weights;                            ///< [heads, n, m]; n = m for self-attention
  std::shared_ptr<const attention::MaskFormula> mask;  ///< over the same queries and keys
  attention::Stack thumbnails;  ///< [heads, ≤ 64, ≤ 64], max-pooled, with the marks of render/heatmap.h
  attention::Stack thumbnailsFirstOut;  ///< the same without the first token's column
  std::vector<HeadSummary> heads;
  float entropy = 0;  ///< mean of the heads' entropies
  /// [n], ‖what attention (or the MLP) adds‖ / ‖residual stream before it‖ of every token, and their means.
  attention::Vector attentionAdded, mlpAdded;
  float attentionAdds = 0, mlpAdds = 0;
  attention::Matrix
      sinkShares;  ///< [heads, n], the share of each row that a head's sink takes; empty without sinks
  attention::Routing routing;   ///< [n] for a mixture's layer: the experts that each token is routed to
  attention::Matrix hidden;     ///< [n, modelDim], the residual stream after the layer
  attention::Stack headOutput;  ///< [heads, n, headDim], before W_O
  /// [heads, n, headDim] and [kvHeads, m, headDim], only for recorded attention that has them.
  attention::Stack q, k, v;
  Index keysFrom = 0;     ///< the first key that a recorded layer has
  bool recorded = false;  ///< then weights may be NaN, above 1 and below 0
  float aroundZero = 0;  ///< ends of a scale around 0 for recorded weights of which some are negative; else 0
};
/// Fills in heads, their mean entropy and the thumbnails from `weights` and `mask`.
void summariseHeads(LayerSummary& summary, const attention::HeadText& text, std::stop_token stop);

/// Returns the pooling factor of thumbnails of n tokens.
int thumbnailFactor(Index tokens);
/// Returns the larger of the layer's numbers of queries and keys.
Index longestSide(const LayerSummary& layer);

/// Draws one head's weights with marks for masked and dead cells, and NaN for recorded values that are no
/// weights, max-pooled by `factor`, or by magnitude where some are negative. With `firstOut`,
/// the first token's column is masked too, and rows sum to 1 without it.
attention::Matrix drawModelHead(const LayerSummary& layer, Index head, int factor, bool firstOut);

/// A mask over the whole text with its cells, one matrix per variant. Layers often share one.
struct MarkedMask {
  std::shared_ptr<const attention::MaskFormula> formula;
  std::vector<attention::Matrix> marks;  ///< [n, n] each: 0 if the key is visible, otherwise −inf

  /// Also masks the keys before `keysFrom`.
  explicit MarkedMask(std::shared_ptr<const attention::MaskFormula> mask, Index keysFrom = 0);
  const attention::Matrix& of(Index head) const {
    return marks[static_cast<std::size_t>(formula->variantOf(head))];
  }
};

/// The result of a layer's new rows, and the rows before them.
struct LayerRows {
  const attention::LayerResult& now;
  const LayerSummary* before;  ///< of the first `kept` tokens, or null
  Index kept;
  const attention::Matrix& in;  ///< the stream before the layer, for all tokens
};
std::shared_ptr<LayerSummary> summarise(const LayerRows& rows, const MarkedMask& mask,
                                        const attention::HeadText& text, const std::stop_token& stop);

/// For each query and key of A, the index of its counterpart in B; −1 = none.
struct PartnersInB {
  std::vector<Index> queries, keys;
};
/// Returns the heads of text B on A's axes: B's weights between the counterparts of A's tokens, masked where
/// there is none, or with `difference` these weights minus A's. The labels of a difference are A's.
std::shared_ptr<const LayerSummary> comparedLayer(const LayerSummary& a, const LayerSummary& b,
                                                  const PartnersInB& with, bool difference,
                                                  const attention::HeadText& text, std::stop_token stop);

/// Pools cells, keeping the one farthest from 0 with its sign; masked if all of them are.
attention::Matrix pooledByMagnitude(const attention::Matrix& cells, int factor);

/// Returns the first `kept` old rows followed by the new ones.
attention::Matrix joined(const attention::Matrix* old, Index kept, const attention::Matrix& rows);

// The map drawn over a picture whose patches are the tokens.

struct PictureMapChoice {
  PictureMap map = PictureMap::query;
  Index query = 0;
  bool operator==(const PictureMapChoice&) const = default;
};

/// Returns a head's value for every token, [n]: a row of its weights, or of (½·W + ½·I)·R with the rollout R
/// of the layers below (attention::Rollout; null for the first layer). If a row sees no key, W is I there.
attention::Vector pictureMap(const LayerSummary& layer, Index head, const attention::Matrix* below,
                             const PictureMapChoice& choice);

/// Returns the upper end of the colours: the largest value over the patches, at least 0.
float pictureMapTop(const OpenPicture& picture, const attention::Vector& map);

/// Returns the picture in grey with the map over it, its longer side `side` pixels. Each patch has the
/// colormap's colour at v / top, more opaque for larger values.
attention::RgbImage overlaidPicture(const OpenPicture& picture, const attention::Vector& map, float top,
                                    render::Colormap colormap, Index side);

}  // namespace headscope::app
