#include "app/compute/heads/head_count_study.h"

#include <algorithm>
#include <cmath>

#include "attention/core/parallel.h"
#include "attention/core/softmax.h"
#include "attention/core/weight_init.h"
#include "attention/heads/mistakes.h"
#include "attention/heads/similarity.h"

namespace headscope::app {

using attention::Matrix;

namespace {

constexpr Index kPicture = 144, kLikenessRows = 64;

/// Returns one head's weights on the line, masked as the line's first head is.
Matrix weightsOf(const HeadCountQuestion& question, const Matrix& q, const Matrix& k, Index headDim) {
  const auto seen = question.layer->sequence().attention.scores[0];
  Matrix scores = q * k.transpose() / std::sqrt(static_cast<float>(headDim));
  scores = (seen.array() == -INFINITY).select(-INFINITY, scores.array());
  Matrix weights(scores.rows(), scores.cols());
  for (Index row = 0; row < scores.rows(); ++row)
    attention::softmaxRow(scores.row(row).data(), scores.cols(), weights.row(row).data());
  return weights;
}

StagePicture pictureOf(const HeadCountQuestion& question, const Matrix& weights) {
  const auto seen = question.layer->sequence().attention.scores[0];
  const Matrix marked = (seen.array() == -INFINITY).select(-INFINITY, weights.array());
  return {attention::poolByMagnitude(marked, kPicture, kPicture), 0, 1};
}

double meanOffDiagonal(const Matrix& likeness) {
  const Index count = likeness.rows();
  if (count < 2) return 1;
  const double all = likeness.cast<double>().sum() - static_cast<double>(count);
  return all / static_cast<double>(count * (count - 1));
}

HeadCountSide sideOf(const HeadCountQuestion& question, Index heads, const std::stop_token& stop) {
  const LayerParts& layer = *question.layer;
  attention::AttentionConfig config;
  config.modelDim = layer.config().modelDim;
  config.heads = config.kvHeads = heads;
  config.headDim = config.modelDim / heads;
  const auto draw =
      question.init == WeightInit::normal ? attention::normalProjections : attention::scaledXavier;
  const attention::Projections maps = draw(config, false, question.seed, question.gain);
  const Matrix q = maps.q.apply(layer.x, stop), k = maps.k.apply(layer.keySource(), stop);
  const Matrix visible = (layer.sequence().attention.scores[0].array() > -INFINITY).cast<float>();
  HeadCountSide side;
  side.heads = heads;
  side.headDim = config.headDim;
  const auto count = static_cast<std::size_t>(heads);
  side.weights.resize(count);
  if (config.headDim <= kMaxSpectrum) side.spectra.resize(count);
  std::vector<double> entropies(count);
  std::vector<Matrix> compared(count);
  attention::forEach(heads, stop, [&](Index head) {
    const auto at = static_cast<std::size_t>(head);
    const Index first = head * config.headDim;
    const Matrix weights = weightsOf(question, q.middleCols(first, config.headDim),
                                     k.middleCols(first, config.headDim), config.headDim);
    side.weights[at] = pictureOf(question, weights);
    entropies[at] = attention::meanEntropy(weights, visible);
    compared[at] =
        attention::evenlySpacedRows({weights.data(), weights.rows(), weights.cols()}, kLikenessRows);
    if (!side.spectra.empty())
      side.spectra[at] =
          attention::productSpectrum(maps.q.weight.middleRows(first, config.headDim).transpose(),
                                     maps.k.weight.middleRows(first, config.headDim).transpose());
  });
  if (stop.stop_requested()) return side;
  for (const double one : entropies) side.entropy += one / static_cast<double>(heads);
  side.likeness = meanOffDiagonal(attention::cosineSimilarity(compared, stop));
  return side;
}

}  // namespace

Index smallHeads(Index modelDim, Index asked) {
  Index most = 1;
  for (const Index heads : kManyHeads)
    if (heads <= asked && modelDim % heads == 0) most = heads;
  return most;
}

HeadCountStudy studyHeadCounts(const HeadCountQuestion& question, std::stop_token stop) {
  HeadCountStudy study;
  study.question = question;
  const auto dim = static_cast<std::uint64_t>(question.layer->config().modelDim);
  study.parameters = 4 * dim * dim;
  study.wide = sideOf(question, 1, stop);
  if (!stop.stop_requested()) study.small = sideOf(question, question.heads, stop);
  return study;
}

}  // namespace headscope::app
