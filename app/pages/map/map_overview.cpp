#include "app/pages/map/map_overview.h"

#include <algorithm>

#include "render/heatmap.h"

namespace headscope::app::map_page {

using attention::Matrix;

OverviewLevels overviewLevels(Index queries, Index keys) {
  constexpr Index kSide = 1024;
  const Index longer = std::max(queries, keys);
  OverviewLevels levels;
  while (pixelsAt(longer, levels.finest) > kSide) ++levels.finest;
  levels.single = levels.finest;
  while (tilesAt(longer, levels.single) > 1) ++levels.single;
  return levels;
}

Overview::Overview(Index queries, Index keys)
    : queries_(queries), keys_(keys), levels_(overviewLevels(queries, keys)) {
  rows_ = pixelsAt(queries, levels_.finest);
  cols_ = pixelsAt(keys, levels_.finest);
}

void Overview::setPreview(Pooling pooling, const Matrix& estimate) {
  previewed_[static_cast<std::size_t>(pooling)] = true;
  Matrix& to = values(pooling);
  if (to.size() == 0)
    to = estimate;
  else
    to.bottomRows(rows_ - exactRows_) = estimate.bottomRows(rows_ - exactRows_);
}

void Overview::addBand(const Matrix& max, const Matrix& mean) {
  for (const auto& [to, band] : {std::pair(&max_, &max), std::pair(&mean_, &mean)}) {
    if (to->size() == 0) *to = Matrix::Constant(rows_, cols_, render::kMaskedCell);
    to->middleRows(exactRows_, band->rows()) = *band;
  }
  exactRows_ += max.rows();
}

float Overview::pooledMax(Index row, Index col, Index side) const {
  // Masked is −∞ and dead is the lowest finite float, so the maximum is also right for these marks.
  return max_.block(row, col, std::min(side, rows_ - row), std::min(side, cols_ - col)).maxCoeff();
}

float Overview::pooledMean(Index row, Index col, Index side) const {
  const Index cellsASide = factorOf(levels_.finest);
  double sum = 0, cells = 0;
  float special = render::kMaskedCell;
  bool visible = false;
  for (Index r = row; r < std::min(row + side, rows_); ++r)
    for (Index c = col; c < std::min(col + side, cols_); ++c) {
      const auto inside = static_cast<double>(std::min(cellsASide, queries_ - r * cellsASide) *
                                              std::min(cellsASide, keys_ - c * cellsASide));
      const float value = mean_(r, c);
      cells += inside;
      if (value > render::kDeadCell) {
        sum += static_cast<double>(value) * inside;
        visible = true;
      } else {
        special = std::max(special, value);
      }
    }
  return visible ? static_cast<float>(sum / cells) : special;
}

Matrix Overview::tile(Pooling pooling, const TilePlace& place, bool& preview) const {
  const Index side = factorOf(place.level - levels_.finest);  // of a pixel, in pixels of the finest level
  const Index firstRow = place.row * kTileSide, firstCol = place.col * kTileSide;
  const Index rows = std::min(kTileSide, pixelsAt(queries_, place.level) - firstRow);
  const Index cols = std::min(kTileSide, pixelsAt(keys_, place.level) - firstCol);
  preview = (firstRow + rows) * side > exactRows_ && exactRows_ < rows_;
  if (side == 1) return values(pooling).block(firstRow, firstCol, rows, cols);
  Matrix tile(rows, cols);
  for (Index r = 0; r < rows; ++r)
    for (Index c = 0; c < cols; ++c) {
      const Index row = (firstRow + r) * side, col = (firstCol + c) * side;
      tile(r, c) = pooling == Pooling::max ? pooledMax(row, col, side) : pooledMean(row, col, side);
    }
  return tile;
}

std::vector<TilePlace> Overview::tiles(Index first, Index end) const {
  std::vector<TilePlace> places;
  for (int level = levels_.single; level >= levels_.finest; --level) {
    const Index high = kTileSide * factorOf(level - levels_.finest);  // in rows of the finest level
    for (Index row = first / high; row * high < end; ++row)
      for (Index col = 0; col < tilesAt(keys_, level); ++col) places.push_back({level, row, col});
  }
  return places;
}

}  // namespace headscope::app::map_page
