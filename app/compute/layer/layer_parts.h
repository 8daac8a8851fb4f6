#pragma once

#include <array>

#include "app/compute/layer/resources.h"
#include "app/compute/layer/snapshot.h"
#include "attention/heads/detectors.h"
#include "attention/heads/head_steps.h"

namespace headscope::app {

/// One line of a finished computation, to be traced back to its inputs.
struct PartsQuestion {
  std::shared_ptr<const Snapshot> snapshot;
  Index sequence = 0;
  bool operator==(const PartsQuestion&) const = default;
};

/// The values from which a layer's queries, keys and values are computed.
struct LayerParts {
  PartsQuestion question;
  attention::Matrix x;        ///< [n, modelDim] attention's input; for a model, after its norm
  attention::Matrix context;  ///< [m, modelDim] the source of keys and values; empty for self-attention
  std::shared_ptr<const attention::Projections> projections;  ///< of a synthetic layer; null for a model's
  MemoryShare memory;

  const SequenceSnapshot& sequence() const {
    return question.snapshot->sequences[static_cast<std::size_t>(question.sequence)];
  }
  const attention::AttentionConfig& config() const { return question.snapshot->config; }
  const attention::Matrix& keySource() const { return context.size() ? context : x; }
};

/// Pure. Returns an Error if the text or weights are invalid or the model's pass fails.
attention::Result<std::shared_ptr<const LayerParts>> layerParts(const PartsQuestion& question,
                                                                Resources& resources,
                                                                std::stop_token stop = {});

/// Returns the maps by which a head of the layer reads and writes.
attention::HeadMaps headMaps(const LayerParts& layer, Index head);

/// One head of the layer. Only kOutputRows rows of W_O are taken, starting at `firstColumn`.
struct HeadPartsQuestion {
  std::shared_ptr<const LayerParts> layer;
  Index head = 0, firstColumn = 0;
  bool operator==(const HeadPartsQuestion&) const = default;
};
inline constexpr Index kOutputRows = 64;

/// The rows of a map that produce a head's values: y = x·weightᵀ + bias.
struct MapRows {
  attention::Matrix weight;  ///< [headDim, modelDim]
  attention::Vector bias;    ///< [headDim]; zeros if there is none
};

/// The matrices of a layer's computation that have small pictures, in order.
enum class Stage { x, context, q, k, v, dots, biased, scores, weights, headOutput, concat, output };
inline constexpr std::size_t kStages = 12;

struct StagePicture {
  attention::Matrix
      values;  ///< pooled by poolByMagnitude(): 144 rows, and 144 (queries × keys) or 48 columns
  float low = 0, high = 0;  ///< smallest and largest finite value
};
StagePicture stagePicture(Stage stage, const Eigen::Ref<const attention::Matrix>& values);
using StagePictures = std::array<StagePicture, kStages>;

struct HeadParts {
  HeadPartsQuestion question;
  attention::HeadSteps steps;
  MapRows q, k, v;               ///< of the head, and of the kv head it reads
  attention::Matrix wo;          ///< [modelDim, headDim] the head's columns of W_O
  attention::Matrix outputRows;  ///< [≤ kOutputRows, heads · headDim] rows of W_O from firstColumn on
  attention::Vector outputBias;  ///< [≤ kOutputRows]
  StagePictures pictures;
  MemoryShare memory;

  const StagePicture& picture(Stage stage) const { return pictures[static_cast<std::size_t>(stage)]; }
};

/// Pure.
attention::Result<std::shared_ptr<const HeadParts>> headParts(const HeadPartsQuestion& question,
                                                              Resources& resources,
                                                              std::stop_token stop = {});

}  // namespace headscope::app
