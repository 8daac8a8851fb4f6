#include "app/compute/layer/pictures.h"

#include <algorithm>
#include <array>
#include <limits>

#include "attention/core/extremes.h"
#include "attention/core/parallel.h"
#include "render/heatmap.h"

namespace headscope::app {

using attention::AttentionResult;
using attention::Matrix;
using attention::Stack;

namespace {

/// Rows row … row+out.rows()−1 of one head's values, with what the scores say is masked marked, and whole
/// rows that see nothing.
void mark(const AttentionResult& result, const Stack& shown, Index head, Index row,
          attention::MutableMatrixView out) {
  const attention::MatrixView scores = result.scores[head], values = shown[head];
  for (Index i = 0; i < out.rows(); ++i) {
    float* to = out.row(i).data();
    if (result.lse(head, row + i) == render::kMaskedCell) {
      std::fill_n(to, out.cols(), render::kDeadCell);
      continue;
    }
    const float* value = values.row(row + i).data();
    const float* score = scores.row(row + i).data();
    for (Index col = 0; col < out.cols(); ++col) {
      const float seen = value[col];  // read in any case, which compilers turn into vectors
      to[col] = score[col] == render::kMaskedCell ? render::kMaskedCell : seen;
    }
  }
}

Index pooledSize(Index size, int factor) {
  return (size + factor - 1) / factor;
}

void pool(const attention::MatrixView& from, int factor, attention::MutableMatrixView to) {
  render::maxPool(from.data(), static_cast<int>(from.rows()), static_cast<int>(from.cols()), factor,
                  to.data());
}

/// One head with its marks, max-pooled, a strip of rows after the other: no more than needed is held.
void drawInto(const AttentionResult& result, const Stack& values, Index head, int factor,
              attention::MutableMatrixView out) {
  const Index rows = result.scores.rows(), cols = result.scores.cols();
  if (factor == 1) return mark(result, values, head, 0, out);
  Matrix strip(factor, cols);
  for (Index row = 0; row < out.rows(); ++row) {
    const Index first = row * factor, count = std::min<Index>(factor, rows - first);
    const attention::MutableMatrixView part(strip.data(), count, cols);
    mark(result, values, head, first, part);
    pool({part.data(), count, cols}, factor, {out.row(row).data(), 1, out.cols()});
  }
}

void measureRange(const AttentionResult& result, Index head, HeadPictures& pictures) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  // Several running extremes side by side, which compilers turn into vectors; a single one they may not.
  constexpr Index kLanes = 16;
  std::array<float, kLanes> lows, highs;
  lows.fill(kInfinity);
  highs.fill(-kInfinity);
  const attention::MatrixView scores = result.scores[head];
  const auto take = [&](float score, std::size_t lane) {
    const float below = score > -kInfinity ? score : kInfinity,
                above = score < kInfinity ? score : -kInfinity;
    lows[lane] = below < lows[lane] ? below : lows[lane];
    highs[lane] = above > highs[lane] ? above : highs[lane];
  };
  const float* values = scores.data();
  const Index whole = scores.size() / kLanes * kLanes;
  for (Index i = 0; i < whole; i += kLanes)
    for (std::size_t lane = 0; lane < kLanes; ++lane) take(values[i + static_cast<Index>(lane)], lane);
  for (Index i = whole; i < scores.size(); ++i) take(values[i], 0);
  const float low = *std::min_element(lows.begin(), lows.end());
  const float high = *std::max_element(highs.begin(), highs.end());
  const bool any = low <= high;
  const auto h = static_cast<std::size_t>(head);
  pictures.minScore[h] = any ? low : 0;
  pictures.maxScore[h] = any ? high : 0;
  pictures.maxWeight[h] = attention::largestFinite(result.weights[head]);
}

PictureLevel halved(const PictureLevel& finer) {
  PictureLevel level;
  level.factor = finer.factor * 2;
  const auto half = [](const Stack& from) {
    Stack to = Stack::uninitialized(from.count(), pooledSize(from.rows(), 2), pooledSize(from.cols(), 2));
    attention::forEach(from.count(), {}, [&](Index head) { pool(from[head], 2, to[head]); });
    return to;
  };
  level.weights = half(finer.weights);
  level.scores = half(finer.scores);
  if (!finer.dropped.empty()) level.dropped = half(finer.dropped);
  return level;
}

}  // namespace

Matrix drawHead(const AttentionResult& result, const Stack& values, Index head, int factor) {
  Matrix out(pooledSize(result.scores.rows(), factor), pooledSize(result.scores.cols(), factor));
  drawInto(result, values, head, factor, {out.data(), out.rows(), out.cols()});
  return out;
}

HeadPictures drawPictures(const AttentionResult& result, const Stack& probabilities, std::stop_token stop) {
  const Index heads = result.weights.count(), rows = result.weights.rows(), cols = result.weights.cols();
  HeadPictures pictures;
  pictures.maxWeight.resize(static_cast<std::size_t>(heads));
  pictures.minScore.resize(static_cast<std::size_t>(heads));
  pictures.maxScore.resize(static_cast<std::size_t>(heads));
  PictureLevel finest;
  while (pooledSize(std::max(rows, cols), finest.factor) > HeadPictures::kFinest) finest.factor *= 2;
  const bool dropped = &probabilities != &result.weights;
  for (Stack* stack : {&finest.weights, &finest.scores, dropped ? &finest.dropped : nullptr})
    if (stack)
      *stack = Stack::uninitialized(heads, pooledSize(rows, finest.factor), pooledSize(cols, finest.factor));
  attention::forEach(heads, stop, [&](Index head) {
    drawInto(result, probabilities, head, finest.factor, finest.weights[head]);
    drawInto(result, result.scores, head, finest.factor, finest.scores[head]);
    if (dropped) drawInto(result, result.weights, head, finest.factor, finest.dropped[head]);
    measureRange(result, head, pictures);
  });
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
