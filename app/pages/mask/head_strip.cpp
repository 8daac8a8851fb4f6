#include <fmt/core.h>

#include <algorithm>

#include "app/pages/mask/mask_state.h"
#include "app/platform/track.h"
#include "app/widgets/marks.h"
#include "app/widgets/paint.h"

namespace headscope::app::mask_page {

namespace {

constexpr float kTitle = 26, kSpace = 8, kNumber = 18;

/// The layout of the heads' pictures: as large as fits into at most two rows.
struct Strip {
  Index columns = 1, rows = 1;
  float side = 0;
};

Strip stripFor(const View& view, Index heads, float width) {
  // In a low window, leave the height to the maps.
  const bool low = ImGui::GetIO().DisplaySize.y / view.unit < 860;
  for (const float units : {56.0f, 44.0f, 34.0f, 26.0f, 20.0f}) {
    if (low && units > 40) continue;
    const float side = view.px(units), space = view.px(kSpace);
    const auto columns = std::max<Index>(1, static_cast<Index>((width + space) / (side + space)));
    const Index rows = (heads + columns - 1) / columns;
    if (rows <= (units > 40 ? 1 : 2) || units == 20.0f) return {columns, rows, side};
  }
  return {};
}

/// Draws the head's number and its kv head's colour below its picture, and an outline if it is highlighted.
void paintAround(const View& view, const ModelSetup& model, Index head, const ImRect& box, bool chosen,
                 bool lit) {
  Canvas list = *ImGui::GetWindowDrawList();
  const Theme& theme = *view.theme;
  paintText(list, view.fonts->monoSmall, ImVec2(box.GetCenter().x, box.Max.y + view.px(kNumber) / 2),
            chosen ? theme.text
            : lit  ? theme.secondary
                   : theme.faint,
            std::to_string(head), Align::center);
  if (model.kvHeads > 1 && model.kvHeads < model.heads)
    list.AddRectFilled(ImVec2(box.Min.x, box.Max.y + view.px(1)), ImVec2(box.Max.x, box.Max.y + view.px(3)),
                       groupColor(theme, model.kvHeadOf(head)));
  if (lit && drawsMark(list, chosen ? "chosen head" : "pointed head", ImVec2(box.Min.x - 3, box.Min.y - 3),
                       ImVec2(box.Max.x + 3, box.Max.y + 3)))
    compat::rectOutline(list, ImVec2(box.Min.x - 2, box.Min.y - 2), ImVec2(box.Max.x + 2, box.Max.y + 2),
                        chosen ? theme.text : theme.secondary, view.px(2), chosen ? view.px(2) : 1);
}

}  // namespace

float headStripHeight(const Scene& scene, const View& view, float width) {
  const Strip strip = stripFor(view, scene.setup.model.heads, width);
  return view.px(kTitle) + static_cast<float>(strip.rows) * (strip.side + view.px(kNumber)) + view.px(10);
}

void headStrip(Scene& scene, const Snapshot*, State& page, const ImRect& area) {
  View& view = page.view;
  const StudiedMask* mask = editedStudy(scene, page);
  const Index heads = scene.setup.model.heads;
  Canvas list = *ImGui::GetWindowDrawList();
  const Theme& theme = *view.theme;
  list.AddLine(area.Min, ImVec2(area.Max.x, area.Min.y), theme.line);
  const std::string words = !mask || !mask->formula ? ""
                            : mask->distinct > 1    ? fmt::format("{} different masks", mask->distinct)
                            : heads == 1            ? ""
                                                    : "same mask for all";
  const float titleY = area.Min.y + view.px(kTitle) / 2 + view.px(4);
  const float x0 = area.Min.x + paintSpaced(list, view.fonts->smallBold, ImVec2(area.Min.x, titleY),
                                            theme.faint, "HEADS", view.px(1.2f));
  paintText(list, view.fonts->small, ImVec2(x0 + view.px(12), titleY), theme.secondary, words);
  Strip strip = stripFor(view, heads, area.GetWidth());
  const bool drawn = mask && mask->formula, same = drawn && mask->distinct == 1 && heads > 1;
  const float top = area.Min.y + view.px(kTitle);
  std::vector<HeatmapTile> tiles;
  const auto picture = [&](Index head, const ImRect& box) {
    HeatmapTile tile;
    tile.view.target = {box.Min.x, box.Min.y, box.Max.x, box.Max.y};
    tile.view.clip = tile.view.target;
    tile.view.layer = static_cast<int>(mask->formula->variantOf(head));
    tile.view.rows = static_cast<float>(mask->thumbnails.rows());
    tile.view.cols = static_cast<float>(mask->thumbnails.cols());
    tiles.push_back(tile);
  };
  // Draw equal pictures only once, with numbers to choose a head next to it.
  float left = area.Min.x;
  if (same) {
    const float side = strip.side;
    picture(0, ImRect(left, top, left + side, top + side));
    paintText(list, view.fonts->monoSmall, ImVec2(left + side / 2, top + side + view.px(kNumber) / 2),
              theme.secondary, fmt::format("all {}", heads), Align::center);
    left += side + view.px(24);
    strip.side = std::min(side, view.px(20));
    strip.columns = std::max<Index>(
        1, static_cast<Index>((area.Max.x - left + view.px(kSpace)) / (strip.side + view.px(kSpace))));
  }
  const float step = strip.side + view.px(kSpace);
  for (Index head = 0; head < heads; ++head) {
    const float x = left + static_cast<float>(head % strip.columns) * step;
    const float y = top + static_cast<float>(head / strip.columns) * (strip.side + view.px(kNumber));
    const ImRect box(x, y, x + strip.side, y + strip.side);
    if (hitArea(fmt::format("strip.{}", head), box.Min,
                ImVec2(strip.side, strip.side + view.px(kNumber - 2))))
      scene.cursor.cell.head = head;
    const bool chosen = head == scene.cursor.cell.head, lit = chosen || ImGui::IsItemHovered();
    if (same) {
      list.AddRectFilled(box.Min, box.Max, chosen ? theme.line : theme.raised, view.px(3));
    } else if (drawn && head < mask->formula->heads()) {
      picture(head, box);
    } else {
      list.AddRectFilled(box.Min, box.Max, theme.raised, view.px(3));
    }
    paintAround(view, scene.setup.model, head, box, chosen, lit);
  }
  if (!tiles.empty()) {
    render::HeatmapStyle style = maskStyle(view);
    style.gap = 0;
    view.heatmaps->draw(list, page.surface(Surface::maskStrip), style, std::move(tiles));
  }
}

}  // namespace headscope::app::mask_page
