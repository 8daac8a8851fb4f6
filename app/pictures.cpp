#include "app/pictures.h"

#include <algorithm>
#include <cmath>

#include "render/heatmap.h"

namespace headscope::app {

using attention::AttentionResult;
using attention::Matrix;
using attention::Stack;

namespace {

/// One head's values, with what the scores say is masked marked, and whole rows that see nothing.
Matrix marked(const AttentionResult& result, Index head, Quantity quantity) {
  const attention::MatrixView scores = result.scores[head];
  Matrix out = quantity == Quantity::weights ? result.weights[head] : scores;
  for (Index row = 0; row < out.rows(); ++row) {
    if (result.lse(head, row) == render::kMaskedCell) {
      out.row(row).setConstant(render::kDeadCell);
      continue;
    }
    for (Index col = 0; col < out.cols(); ++col)
      if (scores(row, col) == render::kMaskedCell) out(row, col) = render::kMaskedCell;
  }
  return out;
}

Index pooledSize(Index size, int factor) {
  return (size + factor - 1) / factor;
}

void pool(const attention::MatrixView& from, int factor, attention::MutableMatrixView to) {
  render::maxPool(from.data(), static_cast<int>(from.rows()), static_cast<int>(from.cols()), factor,
                  to.data());
}

void measureRange(const AttentionResult& result, Index head, HeadPictures& pictures) {
  float low = INFINITY, high = -INFINITY;
  const attention::MatrixView scores = result.scores[head];
  for (Index i = 0; i < scores.size(); ++i) {
    const float score = scores.data()[i];
    if (!std::isfinite(score)) continue;
    low = std::min(low, score);
    high = std::max(high, score);
  }
  const bool any = low <= high;
  const auto h = static_cast<std::size_t>(head);
  pictures.minScore[h] = any ? low : 0;
  pictures.maxScore[h] = any ? high : 0;
  pictures.maxWeight[h] = result.weights[head].size() ? result.weights[head].maxCoeff() : 0;
}

PictureLevel halved(const PictureLevel& finer) {
  PictureLevel level;
  level.factor = finer.factor * 2;
  const auto half = [](const Stack& from) {
    Stack to(from.count(), pooledSize(from.rows(), 2), pooledSize(from.cols(), 2));
    for (Index head = 0; head < from.count(); ++head) pool(from[head], 2, to[head]);
    return to;
  };
  level.weights = half(finer.weights);
  level.scores = half(finer.scores);
  return level;
}

}  // namespace

Matrix drawHead(const AttentionResult& result, Index head, Quantity quantity, int factor) {
  Matrix full = marked(result, head, quantity);
  if (factor == 1) return full;
  Matrix out(pooledSize(full.rows(), factor), pooledSize(full.cols(), factor));
  pool({full.data(), full.rows(), full.cols()}, factor, {out.data(), out.rows(), out.cols()});
  return out;
}

HeadPictures drawPictures(const AttentionResult& result, std::stop_token stop) {
  const Index heads = result.weights.count(), rows = result.weights.rows(), cols = result.weights.cols();
  HeadPictures pictures;
  pictures.maxWeight.resize(static_cast<std::size_t>(heads));
  pictures.minScore.resize(static_cast<std::size_t>(heads));
  pictures.maxScore.resize(static_cast<std::size_t>(heads));
  PictureLevel finest;
  while (pooledSize(std::max(rows, cols), finest.factor) > HeadPictures::kFinest) finest.factor *= 2;
  finest.weights = Stack(heads, pooledSize(rows, finest.factor), pooledSize(cols, finest.factor));
  finest.scores = finest.weights;
  for (Index head = 0; head < heads && !stop.stop_requested(); ++head) {
    finest.weights[head] = drawHead(result, head, Quantity::weights, finest.factor);
    finest.scores[head] = drawHead(result, head, Quantity::scores, finest.factor);
    measureRange(result, head, pictures);
  }
  pictures.levels.push_back(std::move(finest));
  while (!stop.stop_requested() && std::max(pictures.levels.back().weights.rows(),
                                            pictures.levels.back().weights.cols()) > HeadPictures::kCoarsest)
    pictures.levels.push_back(halved(pictures.levels.back()));
  return pictures;
}

const PictureLevel& HeadPictures::levelFor(float pixels) const {
  for (const PictureLevel& level : levels)
    if (static_cast<float>(std::max(level.weights.rows(), level.weights.cols())) <= pixels) return level;
  return levels.back();
}

}  // namespace headscope::app
