#include "app/compute/layer/snapshot.h"
#include "attention/core/extremes.h"
#include "attention/core/parallel.h"
#include "render/heatmap.h"

namespace headscope::app {

using attention::AttentionResult;
using attention::Matrix;
using attention::Stack;

namespace {

/// Copies rows row … row+out.rows()−1 of one head's values, marking masked cells and rows that see nothing.
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
      const float seen = value[col];  // unconditional, so that compilers vectorize the loop
      to[col] = score[col] == render::kMaskedCell ? render::kMaskedCell : seen;
    }
  }
}

/// Draws one head with its marks, max-pooled strip by strip, so that only one strip is held.
void drawInto(const AttentionResult& result, const Stack& values, Index head, int factor,
              attention::MutableMatrixView out) {
  const Index rows = result.scores.rows(), cols = result.scores.cols();
  if (factor == 1) return mark(result, values, head, 0, out);
  Matrix strip(factor, cols);
  for (Index row = 0; row < out.rows(); ++row) {
    const Index first = row * factor, count = std::min<Index>(factor, rows - first);
    const attention::MutableMatrixView part(strip.data(), count, cols);
    mark(result, values, head, first, part);
    attention::maxPool(part, factor, out.row(row));
  }
}

/// Draws the weights before dropout and the scores of one head at every level. A coarser row is pooled as
/// soon as its finer rows are done, while they are still in the CPU cache.
class HeadDrawing {
 public:
  HeadDrawing(const AttentionResult& result, const Stack& probabilities, Index head, HeadPictures& pictures)
      : result_(result), probabilities_(probabilities), head_(head), pictures_(pictures) {}

  void run() {
    PictureLevel& finest = pictures_.levels.front();
    const Index rows = result_.scores.rows(), cols = result_.scores.cols(), factor = finest.factor;
    Matrix strip(factor > 1 ? factor : 0, cols);
    for (Index row = 0; row < finest.weights.rows(); ++row) {
      attention::MutableMatrixView weights = finest.weights[head_], scores = finest.scores[head_];
      const Index first = row * factor, count = std::min<Index>(factor, rows - first);
      markWeights(first, count, factor == 1 ? weights.row(row).data() : strip.data());
      if (factor > 1) attention::maxPool(strip.topRows(count), factor, weights.middleRows(row, 1));
      attention::maxPool(markedScores(first, count, strip), factor, scores.middleRows(row, 1));
      poolUpwards(row);
    }
    if (!finest.dropped.empty()) {
      drawInto(result_, result_.weights, head_, finest.factor, finest.dropped[head_]);
      for (std::size_t i = 1; i < pictures_.levels.size(); ++i)
        attention::maxPool(pictures_.levels[i - 1].dropped[head_], 2, pictures_.levels[i].dropped[head_]);
    }
    const auto h = static_cast<std::size_t>(head_);
    const bool any = extremes_.low <= extremes_.high;
    pictures_.minScore[h] = any ? extremes_.low : 0;
    pictures_.maxScore[h] = any ? extremes_.high : 0;
    // Dropout makes weights larger.
    pictures_.maxWeight[h] =
        finest.dropped.empty() ? extremes_.most : attention::largestFinite(result_.weights[head_]);
  }

 private:
  bool seesNothing(Index row) const { return result_.lse(head_, row) == render::kMaskedCell; }

  void markWeights(Index row, Index count, float* weights) {
    const Index cols = result_.scores.cols();
    for (Index i = row; i < row + count; ++i, weights += cols) {
      attention::markRow(result_.scores[head_].row(i).data(), probabilities_[head_].row(i).data(),
                         attention::asSize(cols), weights, extremes_);
      if (seesNothing(i)) std::fill_n(weights, cols, render::kDeadCell);
    }
  }

  /// Returns rows of scores, of which only rows that see nothing need other marks. May use `space` for them.
  attention::MatrixView markedScores(Index row, Index count, Matrix& space) const {
    const Index cols = result_.scores.cols();
    const float* const from = result_.scores[head_].row(row).data();
    Index dead = row;
    while (dead < row + count && !seesNothing(dead)) ++dead;
    if (dead == row + count) return {from, count, cols};
    space.resize(count, cols);
    space = attention::MatrixView(from, count, cols);
    for (; dead < row + count; ++dead)
      if (seesNothing(dead)) space.row(dead - row).setConstant(render::kDeadCell);
    return {space.data(), count, cols};
  }

  /// Pools the coarser rows that row `row` of the finest level completes.
  void poolUpwards(Index row) {
    for (std::size_t i = 1; i < pictures_.levels.size(); ++i, row /= 2) {
      const PictureLevel& finer = pictures_.levels[i - 1];
      PictureLevel& level = pictures_.levels[i];
      if (row % 2 == 0 && row + 1 < finer.weights.rows()) return;
      const Index first = row - row % 2;
      const auto half = [&](const Stack& from, Stack& to) {
        attention::maxPool(from[head_].middleRows(first, row - first + 1), 2,
                           to[head_].middleRows(row / 2, 1));
      };
      half(finer.weights, level.weights);
      half(finer.scores, level.scores);
    }
  }

  const AttentionResult& result_;
  const Stack& probabilities_;
  const Index head_;
  HeadPictures& pictures_;
  attention::RowExtremes extremes_{std::numeric_limits<float>::infinity(), attention::kMinusInfinity, 0};
};

/// Returns a level with allocated, uninitialized pictures.
PictureLevel emptyLevel(Index heads, Index rows, Index cols, int factor, bool dropped) {
  PictureLevel level;
  level.factor = factor;
  level.weights = Stack::uninitialized(heads, rows, cols);
  level.scores = Stack::uninitialized(heads, rows, cols);
  if (dropped) level.dropped = Stack::uninitialized(heads, rows, cols);
  return level;
}

}  // namespace

Matrix drawHead(const AttentionResult& result, const Stack& values, Index head, int factor) {
  Matrix out(attention::pooledSize(result.scores.rows(), factor),
             attention::pooledSize(result.scores.cols(), factor));
  drawInto(result, values, head, factor, {out.data(), out.rows(), out.cols()});
  return out;
}

HeadPictures drawPictures(const AttentionResult& result, const Stack& probabilities, std::stop_token stop) {
  const Index heads = result.weights.count(), rows = result.weights.rows(), cols = result.weights.cols();
  HeadPictures pictures;
  pictures.maxWeight.resize(static_cast<std::size_t>(heads));
  pictures.minScore.resize(static_cast<std::size_t>(heads));
  pictures.maxScore.resize(static_cast<std::size_t>(heads));
  int factor = 1;
  while (attention::pooledSize(std::max(rows, cols), factor) > HeadPictures::kFinest) factor *= 2;
  const bool dropped = &probabilities != &result.weights;
  for (Index high = attention::pooledSize(rows, factor), wide = attention::pooledSize(cols, factor);;
       factor *= 2) {
    pictures.levels.push_back(emptyLevel(heads, high, wide, factor, dropped));
    if (std::max(high, wide) <= HeadPictures::kCoarsest) break;
    high = attention::pooledSize(high, 2), wide = attention::pooledSize(wide, 2);
  }
  attention::forEach(heads, stop,
                     [&](Index head) { HeadDrawing(result, probabilities, head, pictures).run(); });
  return pictures;
}

const PictureLevel& HeadPictures::levelFor(float pixels) const {
  for (const PictureLevel& level : levels)
    if (static_cast<float>(std::max(level.weights.rows(), level.weights.cols())) <= pixels) return level;
  return levels.back();
}

render::Colormap colormapFor(const Look& look) {
  return look.quantity == Quantity::scores ? look.scoreColormap : look.colormap;
}

Look lookFor(Look look, const HeadPictures& pictures) {
  if (pictures.aroundZero > 0) look.colormap = render::Colormap::diverging;
  return look;
}

ValueRange weightRange(const Look& look) {
  return look.range == RangeMode::logarithmic ? ValueRange{1e-4f, 1, true} : ValueRange{};
}

ValueRange rangeFor(const Look& look, const HeadPictures& pictures, Index head) {
  const auto h = static_cast<std::size_t>(head);
  const bool perHead = look.range == RangeMode::perHead;
  if (look.quantity != Quantity::scores) {
    if (pictures.aroundZero > 0) return {-pictures.aroundZero, pictures.aroundZero, false};
    const float all = *std::max_element(pictures.maxWeight.begin(), pictures.maxWeight.end());
    // After dropout weights may exceed 1, but the heads share one scale.
    if (look.range == RangeMode::unit)
      return {0, look.quantity == Quantity::dropped ? std::max(1.0f, all) : 1, false};
    const float most = perHead ? pictures.maxWeight[h] : all;
    if (look.range == RangeMode::logarithmic) return weightRange(look);
    return {0, most > 0 ? most : 1, false};
  }
  float low =
      perHead ? pictures.minScore[h] : *std::min_element(pictures.minScore.begin(), pictures.minScore.end());
  float high =
      perHead ? pictures.maxScore[h] : *std::max_element(pictures.maxScore.begin(), pictures.maxScore.end());
  if (colormapFor(look) == render::Colormap::diverging) {
    high = std::max(std::abs(low), std::abs(high));
    low = -high;
  }
  if (!(high > low)) high = low + 1;
  return {low, high, false};
}

}  // namespace headscope::app
