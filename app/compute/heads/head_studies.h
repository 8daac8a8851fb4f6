#pragma once

#include <array>
#include <memory>
#include <stop_token>
#include <vector>

#include "app/compute/layer/layer_parts.h"
#include "app/compute/layer/snapshot.h"
#include "app/scene/models/open_model.h"
#include "attention/heads/head_steps.h"
#include "attention/models/circuits.h"

namespace headscope::app {

/// The mask studio's question about one head of a finished computation.
struct HeadQuestion {
  std::shared_ptr<const Snapshot> snapshot;
  Index sequence = 0, head = 0;
  bool operator==(const HeadQuestion&) const = default;
};

/// Signed values around 0, pooled over factor × factor cells by the value farthest from 0. Masked and dead
/// cells have the marks of render/heatmap.h.
struct SignedPicture {
  attention::Matrix values;
  int factor = 1;
  float extreme = 0;  ///< the largest |value|
};

struct HeadStudy {
  HeadQuestion question;
  SignedPicture bias;        ///< what position biases and the additive matrix add to the scores
  SignedPicture effect;      ///< weights minus those without biases and soft-cap
  SignedPicture difference;  ///< weights under the second mask minus those under the first
  bool biased = false;       ///< whether anything is added or capped
  MemoryShare memory;        ///< the study's share of the budget, if it is counted
};

/// Pure; uses the queries and keys in the snapshot. A sequence or head index past the end means the last one.
/// The study of an empty snapshot is empty.
HeadStudy studyHead(const HeadQuestion& question, std::stop_token stop = {});

/// Returns the bytes of the study's pictures.
std::uint64_t bytesOf(const HeadStudy& study);

/// One wide head against many small ones with the same number of parameters. All are drawn at random and run
/// on a line's tokens under its mask.
struct HeadCountQuestion {
  std::shared_ptr<const LayerParts> layer;
  Index heads = 8;  ///< number of small heads; divides modelDim
  WeightInit init = WeightInit::xavier;
  float gain = 1;
  std::uint64_t seed = 7;
  bool operator==(const HeadCountQuestion&) const = default;
};

/// Returns the largest of kManyHeads that divides modelDim and is at most `asked`; 1 if there is none.
Index smallHeads(Index modelDim, Index asked);

/// The largest head dim whose singular values are computed.
inline constexpr Index kMaxSpectrum = 512;

/// The results for `heads` heads of headDim each.
struct HeadCountSide {
  Index heads = 1, headDim = 1;
  std::vector<StagePicture> weights;         ///< [heads], pooled; −inf if masked
  std::vector<attention::Spectrum> spectra;  ///< [heads] of W_Q·W_Kᵀ; empty if headDim is too large
  double entropy = 0;                        ///< mean over heads and rows of H / ln(visible)
  double likeness = 1;                       ///< mean cosine of two of the heads
};

struct HeadCountStudy {
  HeadCountQuestion question;
  HeadCountSide wide, small;
  std::uint64_t parameters = 0;  ///< of each side: W_Q, W_K, W_V and W_O
};

/// Pure. The result is incomplete if `stop` is requested.
HeadCountStudy studyHeadCounts(const HeadCountQuestion& question, std::stop_token stop = {});

/// A question about what all heads of a layer do on one line.
struct DetectorQuestion {
  std::shared_ptr<const LayerParts> layer;
  HeadPicture reads = HeadPicture::weights;  ///< one of the first three pictures
  Similarity likeness = Similarity::cosine;
  bool operator==(const DetectorQuestion&) const = default;
};

/// The most rows of a head that are compared with those of the others.
inline constexpr Index kComparedRows = 128;

struct DetectorStudy {
  DetectorQuestion question;
  std::vector<attention::HeadProfile> profiles;  ///< [heads], with the detectors' scores for a head's maps
  attention::Matrix likeness;                    ///< [heads, heads]
  std::vector<Index> order;                      ///< of the heads, similar ones next to each other
  Index comparedRows = 0;
};

/// Pure. The result is incomplete if `stop` is requested.
DetectorStudy studyDetectors(const DetectorQuestion& question, std::stop_token stop = {});

/// A question about the cells that a detector counts in one head.
struct TargetQuestion {
  std::shared_ptr<const DetectorStudy> study;
  Index head = 0;
  const attention::Detector* detector = nullptr;  ///< null = none
  bool operator==(const TargetQuestion&) const = default;
};

struct TargetStudy {
  TargetQuestion question;
  attention::Matrix values;                 ///< [n, m] the values the detectors use; −inf if masked
  std::vector<std::vector<Index>> counted;  ///< [n] the counted keys of each row, ascending
};

/// Pure.
TargetStudy studyTargets(const TargetQuestion& question, std::stop_token stop = {});

/// Returns the head's weights, transformed as `reads` says for detectors and pictures, [n, m].
attention::Matrix readWeights(const LayerParts& layer, Index head, HeadPicture reads);
/// Sets to −inf the values at keys that the head's mask hides.
void hideMasked(const LayerParts& layer, Index head, attention::Matrix& values);

/// A question about the common pictures of a layer's weights, some of which include the layers below.
struct ViewQuestion {
  std::shared_ptr<const LayerParts> layer;
  Index head = 0, other = 0;
  bool operator==(const ViewQuestion&) const = default;
};

struct HeadView {
  attention::Matrix values;  ///< [n, m]; −inf if masked
  float low = 0, high = 1;   ///< the colour range
  StagePicture small;        ///< pooled
};

struct ViewStudy {
  ViewQuestion question;
  std::string noRollout;                                 ///< why there is none: cross-attention, or an error
  std::array<HeadView, kHeadPictureNames.size()> views;  ///< indexed by HeadPicture
  const HeadView& operator[](HeadPicture picture) const { return views[static_cast<std::size_t>(picture)]; }
};

/// Pure. The result is incomplete if `stop` is requested.
attention::Result<std::shared_ptr<const ViewStudy>> studyViews(const ViewQuestion& question,
                                                               Resources& resources,
                                                               std::stop_token stop = {});

/// A head of a model, to be compared with the earlier heads that it reads and the later heads that read it.
/// Independent of the text.
struct CompositionQuestion {
  std::shared_ptr<const OpenModel> opened;
  Index layer = 0, head = 0;
  bool operator==(const CompositionQuestion&) const = default;
};

/// Another head that composes with the one in question.
struct ComposedHead {
  Index layer = 0, head = 0;
  attention::Composition with;  ///< NaN for each kind of reading that doesn't occur
  attention::HeadGroup group = attention::HeadGroup::only;

  /// Returns the kind of composition, "Q", "K" or "V", with the largest value, and that value.
  std::pair<const char*, double> strongest() const;
};
struct HeadCompositions {
  std::vector<ComposedHead> earlier, later;  ///< heads that it can read and that can read it, strongest first
};

/// Returns attention::composition() of the head with every head that, by attention::readsOf(), it reads or is
/// read by. In a decoder that reads an encoder, these include its cross heads and the encoder's heads.
/// Returns an Error if the model's heads have no maps of their own or the checkpoint changed while it was
/// read, or "stopped" if `stop` is requested.
attention::Result<HeadCompositions> headCompositions(const CompositionQuestion& question,
                                                     std::stop_token stop);

/// An earlier head and a later one.
struct ComposedPair {
  Index fromLayer = 0, fromHead = 0, toLayer = 0, toHead = 0;
  attention::Composition with;
  attention::HeadGroup fromGroup = attention::HeadGroup::only, toGroup = attention::HeadGroup::only;
};
/// Returns all pairs for which composition is defined, ordered by layer and head. Needs all attention weights
/// as floats at once. Errors as for headCompositions().
attention::Result<std::vector<ComposedPair>> allCompositions(const attention::Model& model);

/// A question about how much a head of a model copies what it reads, independent of the text.
struct CopyingQuestion {
  std::shared_ptr<const OpenModel> opened;
  Index layer = 0, head = 0;
  bool operator==(const CopyingQuestion&) const = default;
};

/// Returns attention::copyingScores() of the head, through the model's vocabulary: −1 to 1. Returns an Error
/// if the model's heads have no maps of their own, for cross heads, without a vocabulary, if the checkpoint
/// changed while it was read, or "stopped" if `stop` is requested.
attention::Result<double> headCopying(const CopyingQuestion& question, std::stop_token stop = {});

/// A map of a head, or the product of two, as a small picture.
struct WeightPicture {
  attention::Matrix values;  ///< pooled by the value farthest from 0
  float most = 1;            ///< the largest |value|
  float colours = 1;         ///< the colour range: `most`, or less if a few values far exceed all others
};

/// One head's weights, independent of the text.
struct WeightStudy {
  std::shared_ptr<const HeadParts> question;
  WeightPicture q, k, v, o;    ///< [headDim, modelDim]; W_O transposed
  WeightPicture match, write;  ///< W_Q·W_Kᵀ and W_V·W_O, [modelDim, modelDim]
  attention::Spectrum matchSpectrum, writeSpectrum;
  double copying = 0;  ///< attention::copyingScore(), of W_V·W_O
};

/// Pure. The result is incomplete if `stop` is requested.
WeightStudy studyWeights(const std::shared_ptr<const HeadParts>& head, std::stop_token stop = {});

}  // namespace headscope::app
