// A large model's thumbnails are tiny, so those around the pointer are shown enlarged next to it.

#include <fmt/core.h>

#include <algorithm>

#include "app/pages/model/overview/overview_parts.h"
#include "app/platform/track.h"
#include "app/widgets/head_word.h"
#include "app/widgets/heat_tile.h"
#include "app/widgets/marks.h"
#include "app/widgets/paint.h"

namespace headscope::app::model_page {

namespace {

constexpr Index kReach = 2;  // heads to each side

struct MagnifierBox {
  ImVec2 from, to;
  float cell, gap, pad, words;
  ImRect tile(Index row, Index column) const {
    const float x = from.x + pad + static_cast<float>(column) * (cell + gap),
                y = from.y + pad + static_cast<float>(row) * (cell + gap);
    return {x, y, x + cell, y + cell};
  }
};

/// Places the box next to the pointer, without covering it or leaving the window.
MagnifierBox boxBeside(const View& view, float words) {
  MagnifierBox box{{}, {}, view.px(54), view.px(3), view.px(9), words};
  const auto side = static_cast<float>(2 * kReach + 1);
  const float width = side * box.cell + (side - 1) * box.gap + 2 * box.pad;
  const ImVec2 mouse = ImGui::GetIO().MousePos, screen = ImGui::GetIO().DisplaySize;
  const float height = width + words, away = view.px(26);
  box.from = ImVec2(mouse.x + away, mouse.y + away);
  if (box.from.x + width > screen.x) box.from.x = mouse.x - away - width;
  if (box.from.y + height > screen.y) box.from.y = std::max(0.0f, screen.y - height - view.px(4));
  box.to = ImVec2(box.from.x + width, box.from.y + height);
  return box;
}

}  // namespace

void magnifier(const Scene& scene, State& page, const OverviewPlan& plan, Index layer, Index column,
               const std::string& says) {
  View& view = page.view;
  Canvas list = *ImGui::GetForegroundDrawList();
  const float line = lineHeight(view.fonts->small) * 1.25f;
  const auto lines = static_cast<float>(1 + std::count(says.begin(), says.end(), '\n'));
  const MagnifierBox box = boxBeside(view, line * (lines + 1) + view.px(4));
  list.AddRectFilled(box.from, box.to, view.theme->raised, view.px(6));
  compat::rectOutline(list, box.from, box.to, view.theme->line, view.px(6), 1);
  page.pictures.magnified.pixels = box.cell;
  page.pictures.magnified.wanted.clear();
  std::vector<HeatmapTile> tiles;
  struct Label {
    ImRect tile;
    attention::HeadLabel does;
    bool chosen;
  };
  std::vector<Label> labels;
  for (Index row = 0; row <= 2 * kReach; ++row) {
    const Index at = layer + row - kReach;
    if (!page.layer(at)) continue;
    const std::vector<Index> order = headOrder(scene, page, at);
    for (Index col = 0; col <= 2 * kReach; ++col) {
      const Index place = column + col - kReach;
      if (place < 0 || place >= plan.heads) continue;
      const Index head = order[static_cast<std::size_t>(place)];
      const ImRect area = box.tile(row, col);
      const auto& weights = page.layer(at)->weights;
      const HeatTile tile{area, 0, 0, static_cast<float>(weights.rows()), static_cast<float>(weights.cols()),
                          head};
      HeatmapTile picture = pictureOf(tile, page.pictures.magnified.factor, shownRange(scene, page));
      page.pictures.magnified.wanted.push_back({at, head});
      const auto there = std::find(page.pictures.magnified.heads.begin(), page.pictures.magnified.heads.end(),
                                   page.pictures.magnified.wanted.back());
      picture.view.layer = static_cast<int>(there - page.pictures.magnified.heads.begin());
      if (there != page.pictures.magnified.heads.end()) tiles.push_back(picture);
      labels.push_back(
          {area, page.summary(at, head)->label(scene.look.labelThreshold), row == kReach && col == kReach});
    }
  }
  render::HeatmapStyle style = styleFor(view, scene.look);
  style.colormap = shownColours(scene, page);
  style.gap = 0;
  view.heatmaps->draw(list, page.pictures.magnified.textures, style, std::move(tiles));
  if (page.pictures.magnified.wanted != page.pictures.magnified.heads)
    view.redraw(2);  // the missing ones are drawn in the next frame
  for (const Label& label : labels) {
    const bool bold = isDeliberate(label.does);
    ImFont* font = bold ? view.fonts->smallBold : view.fonts->small;
    // Drawn in the masked triangle, or not at all.
    if (label.does.detector && page.model.config->causal &&
        textWidth(font, headWord(label.does)) < label.tile.GetWidth() * 0.66f)
      paintText(list, font, ImVec2(label.tile.Max.x - view.px(3), label.tile.Min.y + view.px(9)),
                bold ? view.theme->text : view.theme->secondary, headWord(label.does), Align::right);
    if (label.chosen)
      paintMark(view, list, "chosen head", label.tile, view.theme->text, std::max(2.0f, view.px(2)));
  }
  float y = box.to.y - box.words + line / 2;
  const auto say = [&](const std::string& text, std::uint32_t color) {
    paintText(list, view.fonts->small, ImVec2(box.from.x + box.pad, y), color,
              fitted(view.fonts->small, text, box.to.x - box.from.x - 2 * box.pad));
    y += line;
  };
  for (std::size_t from = 0; from <= says.size();) {
    const std::size_t end = std::min(says.find('\n', from), says.size());
    say(says.substr(from, end - from), view.theme->text);
    from = end + 1;
  }
  say(plan.pitch < plan.largest ? "scroll to enlarge" : "drag to move, scroll to zoom out",
      view.theme->faint);
  track("model.magnifier", box.from, box.to);
}

}  // namespace headscope::app::model_page
