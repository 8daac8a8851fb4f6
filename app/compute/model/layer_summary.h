#pragma once

#include <memory>
#include <stop_token>
#include <vector>

#include "attention/heads/detectors.h"
#include "attention/models/session.h"

namespace headscope::app {

using attention::Index;

/// What one head of a layer does on the text.
struct HeadSummary {
  attention::HeadProfile profile;
  float entropy = 0;   ///< mean of H_i / ln(visible_i) over rows that see two keys or more; 0 without any
  float differs = -1;  ///< of a difference of two texts: mean over rows of ½·Σ|B − A|; else −1

  /// What it is called, from that score above even attention on.
  attention::HeadLabel label(float threshold) const { return attention::labelHead(profile, threshold); }
};

/// One layer on the text.
struct LayerSummary {
  attention::Stack weights;                            ///< [heads, n, m]; of a model m = n
  std::shared_ptr<const attention::MaskFormula> mask;  ///< over the same
  attention::Stack thumbnails;  ///< [heads, ≤ 64, ≤ 64], max-pooled, with the marks of render/heatmap.h
  attention::Stack thumbnailsFirstOut;  ///< the same without the first token's column
  std::vector<HeadSummary> heads;
  float entropy = 0;  ///< mean of the heads'
  /// [n], ‖what attention (the MLP) adds‖ / ‖residual stream before it‖ of every token, and their means.
  attention::Vector attentionAdded, mlpAdded;
  float attentionAdds = 0, mlpAdds = 0;
  attention::Matrix
      sinkShares;  ///< [heads, n], what a head's sink takes of each row; empty where there are none
  attention::Routing routing;   ///< [n] of a mixture's layer: the experts that each token went to
  attention::Matrix hidden;     ///< [n, modelDim], the residual stream after the layer
  attention::Stack headOutput;  ///< [heads, n, headDim], before W_O
  /// [heads, n, headDim] and [kvHeads, m, headDim], of recorded attention that has them.
  attention::Stack q, k, v;
};
/// Fills in what `weights` and `mask` say: heads, their mean entropy and the thumbnails.
void summariseHeads(LayerSummary& summary, const attention::HeadText& text, std::stop_token stop);

/// How thumbnails of n tokens are pooled.
int thumbnailFactor(Index tokens);
/// The larger of a layer's numbers of queries and keys.
Index longestSide(const LayerSummary& layer);

/// One head's weights with masked and dead cells marked, max-pooled by `factor`; with `firstOut` the first
/// token's column is masked too, and rows sum to 1 without it.
attention::Matrix drawModelHead(const LayerSummary& layer, Index head, int factor, bool firstOut);

/// A mask over the whole text with its cells, one matrix a variant. Layers often share one.
struct MarkedMask {
  std::shared_ptr<const attention::MaskFormula> formula;
  std::vector<attention::Matrix> marks;  ///< [n, n] each: 0 where the key is visible, else −inf

  explicit MarkedMask(std::shared_ptr<const attention::MaskFormula> mask);
  const attention::Matrix& of(Index head) const {
    return marks[static_cast<std::size_t>(formula->variantOf(head))];
  }
};

/// What the new rows of a layer came to, with those before them.
struct LayerRows {
  const attention::LayerResult& now;
  const LayerSummary* before;  ///< of the first `kept` tokens, or null
  Index kept;
  const attention::Matrix& in;  ///< the stream before the layer, of all tokens
};
std::shared_ptr<LayerSummary> summarise(const LayerRows& rows, const MarkedMask& mask,
                                        const attention::HeadText& text, const std::stop_token& stop);

/// Which query and key of B each of A's goes with; −1: none.
struct PartnersInB {
  std::vector<Index> queries, keys;
};
/// The heads of text B where those of A are: its weights between the tokens that go with A's (the cell is
/// masked where none does); or what they are less A's. Labels of a difference are A's.
std::shared_ptr<const LayerSummary> comparedLayer(const LayerSummary& a, const LayerSummary& b,
                                                  const PartnersInB& with, bool difference,
                                                  const attention::HeadText& text, std::stop_token stop);

/// Of cells that share one the strongest, with its sign; masked where all are.
attention::Matrix pooledStrongest(const attention::Matrix& cells, int factor);

/// Old rows above new ones.
attention::Matrix joined(const attention::Matrix* old, Index kept, const attention::Matrix& rows);

}  // namespace headscope::app
