#include "app/labs/heads/grid.h"

#include <algorithm>
#include <cmath>

namespace headscope::app {

namespace {

/// Rectangular matrices keep square cells until one side would be a sliver; then they stretch.
float aspectOf(float queries, float keys) {
  return std::clamp(keys / queries, 0.2f, 5.0f);
}

GridPlan planWith(const View& view, ImVec2 area, int heads, int columns, float aspect, float left,
                  float bottom) {
  GridPlan plan;
  plan.columns = columns;
  plan.rows = (heads + columns - 1) / columns;
  plan.labels = left > 0;
  plan.leftRoom = left;
  plan.bottomRoom = bottom;
  plan.titleHeight = view.px(heads > 32 ? 20 : 26);
  plan.gapX = view.px(plan.labels ? 12 : heads > 16 ? 10 : 16);
  plan.gapY = view.px(heads > 16 ? 6 : 10);
  const auto c = static_cast<float>(columns), r = static_cast<float>(plan.rows);
  const float roomX = (area.x - plan.gapX * (c - 1)) / c - left;
  const float roomY = (area.y - plan.gapY * (r - 1)) / r - plan.titleHeight - bottom;
  plan.mapWidth = std::max(4.0f, std::floor(std::min(roomX, roomY * aspect)));
  plan.mapHeight = std::max(4.0f, std::floor(plan.mapWidth / aspect));
  plan.tileWidth = plan.mapWidth + left;
  plan.tileHeight = plan.mapHeight + plan.titleHeight + bottom;
  return plan;
}

GridPlan bestPlan(const View& view, ImVec2 area, int heads, int groupSize, float aspect, float left,
                  float bottom) {
  GridPlan best;
  float bestScore = -1;
  for (int columns = 1; columns <= heads; ++columns) {
    const GridPlan plan = planWith(view, area, heads, columns, aspect, left, bottom);
    const bool aligned = groupSize > 1 && (columns % groupSize == 0 || groupSize % columns == 0);
    const bool full = heads % columns == 0;
    const float score =
        std::min(plan.mapWidth, plan.mapHeight * aspect) * (aligned ? 1.08f : 1) * (full ? 1.06f : 1);
    if (score > bestScore) {
      best = plan;
      bestScore = score;
    }
  }
  return best;
}

}  // namespace

GridPlan planGrid(const View& view, ImVec2 area, int heads, int groupSize, float queries, float keys,
                  float labelLeft, float labelBottom) {
  const float aspect = aspectOf(queries, keys);
  GridPlan plan = bestPlan(view, area, heads, groupSize, aspect, labelLeft, labelBottom);
  // Labels earn their room while the maps they explain stay larger than the labels.
  const float cell = std::min(plan.mapWidth / keys, plan.mapHeight / queries);
  if (std::min(plan.mapWidth, plan.mapHeight) < view.px(130) && cell < view.px(18))
    plan = bestPlan(view, area, heads, groupSize, aspect, 0, 0);
  plan.cell = std::max(plan.mapWidth / keys, plan.mapHeight / queries);
  return plan;
}

std::vector<ImRect> mapAreas(const View& view, const GridPlan& plan, const ImRect& area, int heads) {
  const auto columns = static_cast<float>(plan.columns), rows = static_cast<float>(plan.rows);
  const float wide = plan.tileWidth * columns + plan.gapX * (columns - 1);
  const float high = plan.tileHeight * rows + plan.gapY * (rows - 1);
  // Spare room goes between the tiles, up to a limit, and then around them.
  const float spreadX = columns > 1 ? std::min((area.GetWidth() - wide) / (columns - 1), view.px(40)) : 0;
  const float spreadY = rows > 1 ? std::min((area.GetHeight() - high) / (rows - 1), view.px(28)) : 0;
  const float startX = area.Min.x + std::max(0.0f, (area.GetWidth() - wide - spreadX * (columns - 1)) / 2);
  const float startY = area.Min.y + std::max(0.0f, (area.GetHeight() - high - spreadY * (rows - 1)) / 3);
  std::vector<ImRect> areas;
  for (int head = 0; head < heads; ++head) {
    const auto column = static_cast<float>(head % plan.columns),
               row = static_cast<float>(head / plan.columns);
    const float x = std::round(startX + column * (plan.tileWidth + plan.gapX + spreadX) + plan.leftRoom);
    const float y = std::round(startY + row * (plan.tileHeight + plan.gapY + spreadY) + plan.titleHeight);
    areas.emplace_back(x, y, x + plan.mapWidth, y + plan.mapHeight);
  }
  return areas;
}

}  // namespace headscope::app
