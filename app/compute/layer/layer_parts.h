#pragma once

#include "app/compute/layer/layer_inputs.h"
#include "app/compute/layer/snapshot.h"
#include "attention/heads/head_steps.h"

namespace headscope::app {

/// One line of a computation, to be traced back to its inputs.
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
enum class Stage { x, q, k, v, dots, biased, scores, weights, headOutput, concat, output };
inline constexpr std::size_t kStages = 11;

struct StagePicture {
  attention::Matrix
      values;  ///< pooled by poolByMagnitude(): 144 rows, and 144 (queries × keys) or 48 columns
  float low = 0, high = 0;  ///< smallest and largest finite value
};
StagePicture stagePicture(Stage stage, const Eigen::Ref<const attention::Matrix>& values);

struct HeadParts {
  HeadPartsQuestion question;
  MapRows q, k, v;               ///< of the head, and of the kv head it reads
  attention::Matrix wo;          ///< [modelDim, headDim] the head's columns of W_O
  attention::Matrix outputRows;  ///< [≤ kOutputRows, heads · headDim] rows of W_O from firstColumn on
  attention::Vector outputBias;  ///< [≤ kOutputRows]
  MemoryShare memory;
};

/// Pure.
attention::Result<std::shared_ptr<const HeadParts>> headParts(const HeadPartsQuestion& question,
                                                              Resources& resources,
                                                              std::stop_token stop = {});

/// How a layer combines its heads, whether it is synthetic or a model's.
struct OutputMap {
  std::function<attention::Matrix(Index head)> columns;  ///< of W_O, [modelDim, headDim]
  attention::Vector bias;                                ///< [modelDim]; empty = none
  /// Maps heads [heads, n, headDim] to [n, modelDim].
  std::function<attention::Matrix(const attention::Stack& heads, std::stop_token)> apply;
};
/// `layer` must outlive the result.
OutputMap outputMapOf(const LayerParts& layer);

/// Where a layer that can't be computed fails.
struct LayerFault {
  PipelineStep step = PipelineStep::input;  ///< the first step that can't be computed
  std::string found, expected;  ///< mismatching shapes, "12×8" and "12×256"; empty for other faults
};

/// Finds the fault of a snapshot with an error. Pure.
LayerFault layerFault(const PartsQuestion& question, Resources& resources, std::stop_token stop = {});

/// Returns the text after a term's label, the same in the receipt and in the map: for a term that adds, the
/// added value; for one that scales or caps, the resulting score; for the mask, "visible" or "masked".
std::string stepText(const attention::ScoreStep& step);

/// Returns the contribution of every additive term to one cell, one line per term: "+ ALiBi  −0.500".
std::string addedText(const attention::AttentionConfig& config, const attention::MaskInput& mask,
                      attention::Index head, attention::Index query, attention::Index key);

/// Returns one line's text as detectors see it: its real tokens, divided by the marks on it, or else into
/// sentences. `sequence` provides the tokens.
attention::HeadText judgedText(const Setup& setup, const SequenceSnapshot& sequence, Index line);

}  // namespace headscope::app
