#include "app/pages/heads/grid.h"

#include <algorithm>
#include <cmath>

#include "app/widgets/figure_legend.h"

namespace headscope::app::heads_page {

namespace {

/// The aspect of a map. Cells stay square until one side would be a sliver; then they stretch.
float aspectOf(float queries, float keys) {
  return std::clamp(keys / queries, 0.2f, 5.0f);
}

struct Request {
  ImVec2 area;
  int heads, groupSize;
  float aspect, labelLeft, labelBottom;
};

GridPlan planWith(const View& view, const Request& asked, int columns, GridPlan::Labels labels) {
  using Labels = GridPlan::Labels;
  GridPlan plan;
  plan.columns = columns;
  plan.rows = (asked.heads + columns - 1) / columns;
  plan.labels = labels;
  plan.titleHeight = view.px(asked.heads > 32 ? 20 : view.present ? 23 : 26);
  plan.gapX = view.px(labels == Labels::every ? 12 : asked.heads > 16 ? 10 : 16);
  plan.gapY = view.px(view.present ? 2 : asked.heads > 16 ? 6 : 10);
  if (labels == Labels::every) {
    plan.leftRoom = asked.labelLeft;
    plan.bottomRoom = asked.labelBottom;
  } else {
    // Keep the axis titles, so that it is clear that rows are queries and columns are keys.
    plan.margin = labels == Labels::firstOfRow ? asked.labelLeft : view.px(58);
    plan.bottomRoom = labels == Labels::firstOfRow ? view.px(view.present ? 17 : 20) : 0;
  }
  const auto c = static_cast<float>(columns), r = static_cast<float>(plan.rows);
  const float roomX = (asked.area.x - plan.margin - plan.gapX * (c - 1)) / c - plan.leftRoom;
  const float roomY = (asked.area.y - plan.gapY * (r - 1)) / r - plan.titleHeight - plan.bottomRoom;
  // While presenting, fill the screen: cells may be up to a quarter wider than high, or higher than wide.
  const float stretch = view.present ? 1.25f : 1;
  plan.mapWidth = std::max(4.0f, std::floor(std::min(roomX, roomY * asked.aspect * stretch)));
  plan.mapHeight = std::max(4.0f, std::floor(std::min(roomY, plan.mapWidth / asked.aspect * stretch)));
  plan.tileWidth = plan.mapWidth + plan.leftRoom;
  plan.tileHeight = plan.mapHeight + plan.titleHeight + plan.bottomRoom;
  return plan;
}

GridPlan bestPlan(const View& view, const Request& asked, GridPlan::Labels labels) {
  GridPlan best;
  float bestScore = -1;
  for (int columns = 1; columns <= asked.heads; ++columns) {
    const GridPlan plan = planWith(view, asked, columns, labels);
    // Skip if fewer columns give as many rows: 6 heads need two rows with three columns or four.
    if ((asked.heads + plan.rows - 1) / plan.rows < columns) continue;
    const bool aligned =
        asked.groupSize > 1 && (columns % asked.groupSize == 0 || asked.groupSize % columns == 0);
    const bool full = asked.heads % columns == 0;
    const float score =
        std::min(plan.mapWidth, plan.mapHeight * asked.aspect) * (aligned ? 1.08f : 1) * (full ? 1.06f : 1);
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
  using Labels = GridPlan::Labels;
  const Request asked{area, heads, groupSize, aspectOf(queries, keys), labelLeft, labelBottom};
  GridPlan plan;
  // Show labels only while the maps they explain are larger than they are.
  for (const Labels labels : {Labels::every, Labels::firstOfRow, Labels::none}) {
    plan = bestPlan(view, asked, labels);
    plan.cell = std::max(plan.mapWidth / keys, plan.mapHeight / queries);
    const float side = std::min(plan.mapWidth, plan.mapHeight);
    const float cell = std::min(plan.mapWidth / keys, plan.mapHeight / queries);
    const float least = labels == Labels::every ? 130 : 64;
    if (side >= view.px(least) || (labels == Labels::every && cell >= view.px(18))) break;
  }
  return plan;
}

GridPlan planFigure(View& view, int heads, ImVec2 map, float labelLeft, float below) {
  GridPlan plan;
  plan.labels = GridPlan::Labels::outer;
  plan.mapWidth = map.x;
  plan.mapHeight = map.y;
  plan.titleHeight = view.px(26);
  plan.gapX = view.px(26);
  plan.gapY = view.px(10);
  plan.margin = labelLeft;
  plan.tileWidth = std::max(map.x, view.px(heads > 32 ? 124 : 190));  // the width of a title
  plan.tileHeight = plan.mapHeight + plan.titleHeight;
  const auto sizeWith = [&](int columns) {
    const auto c = static_cast<float>(columns), r = std::ceil(static_cast<float>(heads) / c);
    return ImVec2(c * (plan.tileWidth + plan.gapX), r * (plan.tileHeight + plan.gapY));
  };
  float least = FLT_MAX;
  for (int columns = 1; columns <= heads; ++columns) {
    const ImVec2 size = sizeWith(columns);
    // Avoid a partly empty last row if possible.
    const float off =
        std::abs(std::log(size.x / size.y / view.figure->aspect)) + (heads % columns == 0 ? 0 : 0.5f);
    if (off < least) plan.columns = columns;
    least = std::min(least, off);
  }
  plan.rows = (heads + plan.columns - 1) / plan.columns;
  const ImVec2 size = sizeWith(plan.columns);
  view.fitFigure(ImVec2(labelLeft + size.x + legendRoom(view), std::max(size.y + below, view.px(330))));
  return plan;
}

std::vector<ImRect> mapAreas(const View& view, const GridPlan& plan, const ImRect& area, int heads) {
  const auto columns = static_cast<float>(plan.columns), rows = static_cast<float>(plan.rows);
  const float wide = plan.margin + plan.tileWidth * columns + plan.gapX * (columns - 1);
  const float high = plan.tileHeight * rows + plan.gapY * (rows - 1);
  // Spare space goes between the tiles, up to a limit, then around them.
  const bool spreads = !view.figure;
  const float spreadX =
      spreads && columns > 1 ? std::min((area.GetWidth() - wide) / (columns - 1), view.px(40)) : 0;
  const float spreadY =
      spreads && rows > 1 ? std::min((area.GetHeight() - high) / (rows - 1), view.px(28)) : 0;
  const float startX =
      area.Min.x + (spreads ? 1 : 0) * std::max(0.0f, (area.GetWidth() - wide - spreadX * (columns - 1)) / 2);
  const float startY =
      area.Min.y + (spreads ? 1 : 0) * std::max(0.0f, (area.GetHeight() - high - spreadY * (rows - 1)) / 3);
  std::vector<ImRect> areas;
  for (int head = 0; head < heads; ++head) {
    const auto column = static_cast<float>(head % plan.columns),
               row = static_cast<float>(head / plan.columns);
    const float x =
        std::round(startX + plan.margin + column * (plan.tileWidth + plan.gapX + spreadX) + plan.leftRoom);
    const float y = std::round(startY + row * (plan.tileHeight + plan.gapY + spreadY) + plan.titleHeight);
    areas.emplace_back(x, y, x + plan.mapWidth, y + plan.mapHeight);
  }
  return areas;
}

}  // namespace headscope::app::heads_page
