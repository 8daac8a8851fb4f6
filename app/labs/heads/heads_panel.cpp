#include <algorithm>
#include <cmath>

#include "app/labs/heads/grid.h"
#include "app/labs/heads/heads_page.h"
#include "app/platform/track.h"
#include "app/scene/number_text.h"
#include "app/widgets/colour_bar.h"
#include "app/widgets/field_controls.h"
#include "app/widgets/heat_tile.h"
#include "app/widgets/paint.h"
#include "app/widgets/panel.h"

namespace headscope::app {

namespace {

void quantityChoice(Scene& scene, View& view) {
  if (fieldChoice(view, scene, "look.quantity")) {
    const bool perHeadOrShared =
        scene.look.range == RangeMode::perHead || scene.look.range == RangeMode::shared;
    if (scene.look.quantity == Quantity::scores && !perHeadOrShared) scene.look.range = RangeMode::shared;
    if (scene.look.quantity == Quantity::weights) scene.look.range = RangeMode::unit;
  }
}

void rangeChoice(Scene& scene, View& view) {
  const bool scores = scene.look.quantity == Quantity::scores;
  const std::string reason = scores ? "Scores have no fixed range: choose per head or shared" : "";
  const Field& field = fieldAt("look.range");
  const bool fixedForScores =
      scores && (scene.look.range == RangeMode::unit || scene.look.range == RangeMode::logarithmic);
  int chosen = static_cast<int>(fixedForScores ? RangeMode::shared : scene.look.range);
  if (dropdown(view, "range", choicesOf(field, {"", "", reason, reason}), chosen, 0, field.help))
    scene.look.range = static_cast<RangeMode>(chosen);
}

float choicesWidth(const Scene& scene, const View& view) {
  const auto width = [&](std::string_view path) {
    const Field& field = fieldAt(path);
    const auto chosen = static_cast<std::size_t>(chosenIn(field, scene));
    return textWidth(view.fonts->text, std::get<Selection>(field.control).labels[chosen]) + view.px(24);
  };
  const bool weights = scene.look.quantity == Quantity::weights;
  return width("look.quantity") + width("look.range") +
         width(weights ? "look.colormap" : "look.score_colormap") + view.px(16);
}

std::string rangeEnd(const Look& look, float value) {
  return look.quantity == Quantity::weights ? weightText(value) : numberText(value, 3);
}

/// The labelled colour bar, its right end at `right`.
void colourBar(const View& view, const Look& look, const HeadPictures& pictures, Index head, ImVec2 right,
               float width) {
  const bool varies = look.range == RangeMode::perHead && head < 0;
  ValueRange range = rangeFor(look, pictures, std::max<Index>(head, 0));
  std::string low = rangeEnd(look, range.low), high = rangeEnd(look, range.high), middle;
  if (range.logarithmic) {
    low = "10⁻⁴";
    middle = "0.01";
  } else {
    middle = rangeEnd(look, (range.low + range.high) / 2);
  }
  if (varies) {
    low = look.quantity == Quantity::weights                 ? "0"
          : colormapFor(look) == render::Colormap::diverging ? "−max"
                                                             : "min";
    high = "max";
    middle = "of each head";
  }
  if (middle == "0.500") middle = "0.5";
  paintColourBar(view, colormapFor(look), {low, middle, high}, right, width);
}

/// Title at the left, choices and colour bar at the right.
void header(Scene& scene, HeadsPage& page, const SequenceSnapshot& sequence, const ImRect& area) {
  View& view = page.view;
  const Snapshot& snapshot = *page.snapshot;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float y = area.Min.y + view.px(24);
  float x = area.Min.x;
  const Index focus = scene.cursor.focus;
  if (focus >= 0) {
    ImGui::SetCursorScreenPos(ImVec2(x, y - view.px(14)));
    if (button(view, "back", "← All heads")) view.request("look.back");
    x = ImGui::GetItemRectMax().x + view.px(14);
  } else {
    const Index heads = snapshot.config.heads;
    x += paintText(list, view.fonts->title, ImVec2(x, y), view.theme->text,
                   std::to_string(heads) + (heads == 1 ? " head" : " heads")) +
         view.px(14);
    std::string size =
        std::to_string(sequence.queries.size()) + " × " + std::to_string(sequence.keys.size()) + " tokens";
    if (page.gridFactor > 1) size += " · " + pooledText(page.gridFactor);
    const float room = area.Max.x - x - choicesWidth(scene, view) - view.px(170 + 40);
    if (room > view.px(60)) {
      paintFitted(view, list, view.fonts->text, ImVec2(x, y), room, view.theme->secondary, size);
      x += std::min(room, textWidth(view.fonts->text, size)) + view.px(14);
    }
  }
  const bool tight = area.Max.x - x < choicesWidth(scene, view) + view.px(190);
  const float barWidth = view.px(tight ? 70 : 170);
  colourBar(view, scene.look, sequence.pictures, focus, ImVec2(area.Max.x, y), barWidth);
  // The three lists stand before the bar; they are laid out from the right by their widths.
  const float controls = choicesWidth(scene, view);
  ImGui::SetCursorScreenPos(
      ImVec2(std::max(x, area.Max.x - barWidth - view.px(20) - controls), y - view.px(13)));
  quantityChoice(scene, view);
  ImGui::SameLine(0, view.px(8));
  rangeChoice(scene, view);
  ImGui::SameLine(0, view.px(8));
  fieldChoice(view, scene,
              scene.look.quantity == Quantity::weights ? "look.colormap" : "look.score_colormap");
}

float longestLabel(const View& view, const std::vector<attention::Token>& tokens, float most) {
  float longest = 0;
  for (std::size_t i = 0; i < std::min<std::size_t>(tokens.size(), 256); ++i)
    longest = std::max(longest, textWidth(view.fonts->monoSmall, tokens[i].text));
  return std::min(longest, most);
}

/// Thin marks beside tiles that share a kv head, in its colour.
void groupMark(const View& view, ImDrawList& list, const HeatTile& tile, Index kvHead) {
  list.AddRectFilled(ImVec2(tile.area.Min.x, tile.area.Min.y - view.px(4)),
                     ImVec2(tile.area.Max.x, tile.area.Min.y - view.px(2)), groupColor(*view.theme, kvHead));
}

void pointAtTile(Scene& scene, const SequenceSnapshot& sequence, HeadsPage& page, const HeatTile& tile) {
  View& view = page.view;
  const auto n = static_cast<Index>(sequence.queries.size()), m = static_cast<Index>(sequence.keys.size());
  const std::string name = "head." + std::to_string(tile.head);
  track(name, tile.area.Min, tile.area.Max);
  ImGui::SetCursorScreenPos(tile.area.Min);
  const bool clicked = ImGui::InvisibleButton(name.c_str(), tile.area.GetSize());
  if (!ImGui::IsItemHovered()) return;
  const auto cell = tile.cellAt(ImGui::GetIO().MousePos, n, m);
  if (!cell) return;
  view.nextHover = {tile.head, cell->row, cell->col};
  cellTooltip(view, sequence, tile.head, cell->row, cell->col);
  if (clicked) {
    scene.cursor.cell = {tile.head, cell->row, cell->col};
    scene.cursor.focus = tile.head;
    page.camera = {};
  }
}

void grid(Scene& scene, HeadsPage& page, const SequenceSnapshot& sequence, const ImRect& area) {
  View& view = page.view;
  const Snapshot& snapshot = *page.snapshot;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const auto n = static_cast<Index>(sequence.queries.size()), m = static_cast<Index>(sequence.keys.size());
  const Index heads = snapshot.config.heads;
  const float left = longestLabel(view, sequence.queries, view.px(76)) + view.px(8);
  const float bottom = longestLabel(view, sequence.keys, view.px(66)) * 0.9f + view.px(14);
  const GridPlan plan =
      planGrid(view, area.GetSize(), static_cast<int>(heads), static_cast<int>(snapshot.config.groupSize()),
               static_cast<float>(n), static_cast<float>(m), left, bottom);
  const float wide =
      plan.tileWidth * static_cast<float>(plan.columns) + plan.gapX * static_cast<float>(plan.columns - 1);
  const float high =
      plan.tileHeight * static_cast<float>(plan.rows) + plan.gapY * static_cast<float>(plan.rows - 1);
  // Spare room goes between the tiles, up to a limit, and then around them.
  const float spreadX =
      plan.columns > 1
          ? std::min((area.GetWidth() - wide) / static_cast<float>(plan.columns - 1), view.px(40))
          : 0;
  const float spreadY =
      plan.rows > 1 ? std::min((area.GetHeight() - high) / static_cast<float>(plan.rows - 1), view.px(28))
                    : 0;
  const float startX =
      area.Min.x +
      std::max(0.0f, (area.GetWidth() - wide - spreadX * static_cast<float>(plan.columns - 1)) / 2);
  const float startY =
      area.Min.y +
      std::max(0.0f, (area.GetHeight() - high - spreadY * static_cast<float>(plan.rows - 1)) / 3);
  const Cell& cell = scene.cursor.cell;
  const Index query = view.hover.query >= 0 ? view.hover.query : cell.query;
  const Index key = view.hover.key >= 0 ? view.hover.key : cell.key;
  const int factor = page.gridFactor;
  page.gridPixels = std::max(plan.mapWidth, plan.mapHeight);
  std::vector<HeatTile> tiles;
  std::vector<HeatmapTile> pictures;
  for (Index head = 0; head < heads; ++head) {
    const auto column = static_cast<float>(head % plan.columns),
               row = static_cast<float>(head / plan.columns);
    const float x = std::round(startX + column * (plan.tileWidth + plan.gapX + spreadX) + plan.leftRoom);
    const float y = std::round(startY + row * (plan.tileHeight + plan.gapY + spreadY) + plan.titleHeight);
    HeatTile tile{ImRect(x, y, x + plan.mapWidth, y + plan.mapHeight),
                  0,
                  0,
                  static_cast<float>(n),
                  static_cast<float>(m),
                  head,
                  scene.cursor.decoding ? scene.cursor.step : -1};
    tiles.push_back(tile);
    const ValueRange range = rangeFor(scene.look, sequence.pictures, head);
    HeatmapTile picture = pictureOf(tile, factor, range);
    picture.view.layer = static_cast<int>(head);
    if (scene.cursor.decoding)
      picture.view.litRows = static_cast<int>((scene.cursor.step + factor - 1) / factor);
    pictures.push_back(picture);
  }
  view.heatmaps->draw(list, page.grid, styleFor(view, scene.look), std::move(pictures));
  for (const HeatTile& tile : tiles) {
    const Index kv = snapshot.config.kvHeadOf(tile.head);
    const float titleWidth = plan.mapWidth;
    paintHeadTitle(view, list, snapshot, sequence, tile.head,
                   ImVec2(tile.area.Min.x, tile.area.Min.y - plan.titleHeight / 2 - view.px(2)), titleWidth,
                   false);
    if (snapshot.config.kvHeads < heads) groupMark(view, list, tile, kv);
    if (plan.labels)
      paintAxisLabels(view, list, tile,
                      {&sequence.queries, &sequence.keys, query, key, plan.leftRoom, plan.bottomRoom});
    paintCellValues(view, list, tile, sequence, scene.look,
                    rangeFor(scene.look, sequence.pictures, tile.head));
    paintCrosshair(view, list, tile, query, key, n, m);
    pointAtTile(scene, sequence, page, tile);
  }
}

}  // namespace

void headsPanel(Scene& scene, HeadsPage& page, const Layout& layout) {
  View& view = page.view;
  const Snapshot* snapshot = page.snapshot.get();
  if (beginPanel(view, "heads", layout.center, 0, 0, ImGuiWindowFlags_NoScrollWithMouse)) {
    const float pad = view.px(22);
    const ImRect inner(layout.center.Min.x + pad, layout.center.Min.y, layout.center.Max.x - pad,
                       layout.center.Max.y - view.px(8));
    const SequenceSnapshot* sequence = shownSequence(scene, snapshot);
    if (!snapshot) {
      paintMessage(view, inner, "Computing…", "The first picture is on its way.", view.theme->text);
    } else if (snapshot->error) {
      paintMessage(view, inner, "This can't be computed", snapshot->error->message, view.theme->error);
    } else if (!sequence) {
      paintMessage(view, inner, "Nothing to attend to yet",
                   "Type a sentence on the left: every word becomes a query and a key.", view.theme->text);
    } else {
      header(scene, page, *sequence, inner);
      if (page.catchingUp && page.busySeconds > 0.5) {
        // The picture is of the setting before; it says so until the new one is there.
        ImDrawList& list = *ImGui::GetWindowDrawList();
        const float y = inner.Min.y + view.px(50);
        list.AddRectFilled(ImVec2(inner.Min.x, y), ImVec2(inner.Max.x, y + view.px(2)), view.theme->line);
        const float phase = static_cast<float>(page.busySeconds - std::floor(page.busySeconds / 2) * 2) / 2;
        const float wide = inner.GetWidth() * 0.2f, at = inner.Min.x + phase * (inner.GetWidth() - wide);
        list.AddRectFilled(ImVec2(at, y), ImVec2(at + wide, y + view.px(2)), view.theme->warning);
      }
      const ImRect area(inner.Min.x, inner.Min.y + view.px(52), inner.Max.x, inner.Max.y);
      if (scene.cursor.focus >= 0)
        focusView(scene, page, *sequence, area);
      else
        grid(scene, page, *sequence, area);
    }
  }
  endPanel();
}

}  // namespace headscope::app
