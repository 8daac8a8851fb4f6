#include "app/pictures.h"

#include <algorithm>
#include <cmath>

#include "render/heatmap.h"

namespace headscope::app {

using attention::AttentionResult;
using attention::Index;
using attention::Matrix;

namespace {

/// Copies `values`, marking what the scores say is masked, and whole rows that see nothing.
Matrix marked(const AttentionResult& result, Index head, const attention::MatrixView& values) {
  Matrix out = values;
  const attention::MatrixView scores = result.scores[head];
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
  pictures.minScore[head] = any ? low : 0;
  pictures.maxScore[head] = any ? high : 0;
  pictures.maxWeight[head] = result.weights[head].size() ? result.weights[head].maxCoeff() : 0;
}

}  // namespace

Matrix markedWeights(const AttentionResult& result, Index head) {
  return marked(result, head, result.weights[head]);
}

Matrix markedScores(const AttentionResult& result, Index head) { return marked(result, head, result.scores[head]); }

HeadPictures drawPictures(const AttentionResult& result, std::stop_token stop) {
  const Index heads = result.weights.count(), rows = result.weights.rows(), cols = result.weights.cols();
  HeadPictures pictures;
  pictures.factor =
      static_cast<int>((std::max(rows, cols) + HeadPictures::kPictureLimit - 1) / HeadPictures::kPictureLimit);
  pictures.factor = std::max(pictures.factor, 1);
  const Index pooledRows = (rows + pictures.factor - 1) / pictures.factor;
  const Index pooledCols = (cols + pictures.factor - 1) / pictures.factor;
  pictures.weights = attention::Stack(heads, pooledRows, pooledCols);
  pictures.scores = attention::Stack(heads, pooledRows, pooledCols);
  pictures.maxWeight.resize(heads);
  pictures.minScore.resize(heads);
  pictures.maxScore.resize(heads);
  const auto pool = [&](const Matrix& full, attention::Stack& to, Index head) {
    render::maxPool(full.data(), static_cast<int>(rows), static_cast<int>(cols), pictures.factor,
                    to[head].data());
  };
  for (Index head = 0; head < heads && !stop.stop_requested(); ++head) {
    pool(markedWeights(result, head), pictures.weights, head);
    pool(markedScores(result, head), pictures.scores, head);
    measureRange(result, head, pictures);
  }
  return pictures;
}

}  // namespace headscope::app
