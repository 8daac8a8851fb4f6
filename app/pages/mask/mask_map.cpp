#include <fmt/core.h>

#include "app/pages/mask/mask_page.h"
#include "app/platform/track.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/paint.h"

namespace headscope::app::mask_page {

namespace {

/// Draws the weights' colour bar and range above the cells, right-aligned with them. Returns its left end.
float weightBar(Scene& scene, View& view, const std::string& name, const ValueRange& range,
                const ImRect& cells) {
  ImFont* font = view.fonts->monoSmall;
  const std::string low = range.logarithmic ? "10⁻⁴" : "0", high = weightText(range.high);
  const float y = cells.Min.y - view.px(16), half = view.px(4), space = view.px(4);
  const float to = cells.Max.x - textWidth(font, high) - space;
  const float from = to - std::min(view.px(120), cells.GetWidth() * 0.3f);
  const float left = from - space - textWidth(font, low);
  const bool clicked = hitArea(name, ImVec2(left, y - view.px(10)), ImVec2(cells.Max.x - left, view.px(20)));
  RangeMode& mode = scene.look.range;
  const bool unit = mode == RangeMode::unit;
  const char* now = unit ? "Colours from 0 to 1. Click to scale to the head's largest weight"
                    : mode == RangeMode::logarithmic
                        ? "Logarithmic colours. Click for 0 to 1"
                        : "Colours up to the largest weight. Click for logarithmic";
  if (ImGui::IsItemHovered()) tooltip(view, now);
  if (clicked)
    mode = unit                             ? RangeMode::perHead
           : mode == RangeMode::logarithmic ? RangeMode::unit
                                            : RangeMode::logarithmic;
  Canvas list = *ImGui::GetWindowDrawList();
  paintRamp(view, list, scene.look.colormap, ImVec2(from, y - half), ImVec2(to, y + half));
  paintText(list, font, ImVec2(left, y), view.theme->secondary, low);
  paintText(list, font, ImVec2(to + space, y), view.theme->secondary, high);
  return left;
}

/// Draws the colour bar from −extreme to +extreme in the same place. Returns its left end.
float signedBar(const View& view, float extreme, const ImRect& cells) {
  Canvas list = *ImGui::GetWindowDrawList();
  ImFont* font = view.fonts->monoSmall;
  const float top = cells.Min.y - view.px(25), bottom = top + view.px(8), below = bottom + view.px(9);
  const float to = cells.Max.x, from = to - std::min(view.px(150), cells.GetWidth() * 0.45f);
  paintRamp(view, list, render::Colormap::diverging, ImVec2(from, top), ImVec2(to, bottom));
  const std::string end = numberText(extreme, 3);
  const float needed = textWidth(font, "−" + end) + textWidth(font, "+" + end) + textWidth(font, "0");
  if (needed + view.px(16) > to - from) {  // a single number for both ends
    paintText(list, font, ImVec2(to, below), view.theme->secondary, "±" + end, Align::right);
    return std::min(from, to - textWidth(font, "±" + end));
  }
  paintText(list, font, ImVec2(from, below), view.theme->secondary, "−" + end);
  paintText(list, font, ImVec2((from + to) / 2, below), view.theme->secondary, "0", Align::center);
  paintText(list, font, ImVec2(to, below), view.theme->secondary, "+" + end, Align::right);
  return from;
}

/// Draws the title above the cells, with a muted note or the colour bar on the right. `right`: the map's end.
void titleBar(Scene& scene, View& view, Canvas list, const MapSpec& spec, const ImRect& cells, float right) {
  const float y = cells.Min.y - view.px(16), space = view.px(12);
  // Few cells may be too slim for the words above them.
  float end = std::max(cells.Max.x, std::min(cells.Min.x + view.px(200), right)) + space;
  if (spec.scale == MapScale::weights)
    end = weightBar(scene, view, std::string(spec.name) + ".range", spec.range, cells);
  if (spec.scale == MapScale::signedValues) end = signedBar(view, spec.range.high, cells);
  const float aside = spec.aside.empty() ? 0 : textWidth(view.fonts->small, spec.aside);
  if (aside > 0 && aside + space < (end - cells.Min.x) * 0.7f) {
    end = end - space - aside;
    paintText(list, view.fonts->small, ImVec2(end, y), view.theme->secondary, spec.aside);
  }
  const float room = end - space - cells.Min.x;
  paintFitted(view, list, view.fonts->bold, ImVec2(cells.Min.x, y), room, view.theme->text,
              firstFitting(view.fonts->bold, spec.titles, room));
}

/// Draws a dashed rectangle around the cells that the brush would paint.
void paintBrush(const State& page, Canvas list, const HeatTile& tile, const HeatTile::RowCol& cell) {
  const View& view = page.view;
  const Brush& brush = page.brush;
  if (brush.tool != PaintTool::brush && brush.tool != PaintTool::line) return;
  const Index half = (brush.size - 1) / 2;
  const auto corner = [&](Index by) {
    return ImVec2(tile.x(static_cast<float>(cell.col - half + by)),
                  tile.y(static_cast<float>(cell.row - half + by)));
  };
  list.PushClipRect(tile.area.Min, tile.area.Max, true);
  paintGhost(view, list, "brush", {corner(0), corner(brush.size)}, view.theme->text);
  list.PopClipRect();
}

constexpr float kTitleRoom = 32, kMargin = 8;

NameRoom roomForNames(const State& page) {
  const LineTokens& line = *page.study->line();
  return nameRoom(page.view, line.queries, line.keys);
}

}  // namespace

ImRect mapCells(const MapSpec& spec, const State& page, const ImRect& area) {
  const View& view = page.view;
  const LineTokens& line = *page.study->line();
  const NameRoom names = roomForNames(page);
  const float left = spec.rowLabels ? names.left : view.px(kMargin), top = view.px(kTitleRoom);
  if (view.figure) {
    const ImVec2 at = area.Min + ImVec2(left, top);
    return {at, at + figureCells(view, std::ssize(line.queries), std::ssize(line.keys), {.largest = 26})};
  }
  const float aspect =
      std::clamp(static_cast<float>(line.keys.size()) / static_cast<float>(line.queries.size()), 0.2f, 5.0f);
  const float roomX = std::max(view.px(40), area.GetWidth() - left - view.px(kMargin)),
              roomY = std::max(view.px(40), area.GetHeight() - top - names.below);
  const float width = std::floor(std::min(roomX, roomY * aspect));
  const float height = std::floor(width / aspect);
  // Slightly above the middle of the remaining space.
  const float x = std::round(area.Min.x + left + (roomX - width) / 2),
              y = std::round(area.Min.y + top + (roomY - height) * 0.3f);
  return {x, y, x + width, y + height};
}

namespace {

/// `count` areas for maps next to each other, whose cells have the same size although only the first has row
/// labels.
std::vector<ImRect> mapColumns(State& page, const ImRect& area, std::size_t count) {
  View& view = page.view;
  const NameRoom names = roomForNames(page);
  const float extra = names.left - view.px(kMargin), all = static_cast<float>(count);
  float space = view.px(10), each = (area.GetWidth() - extra - space * (all - 1)) / all;
  if (view.figure) {
    const ImVec2 cells = mapCells({}, page, area).GetSize();
    each = std::max(cells.x + view.px(24), view.px(200));
    view.fitFigure(ImVec2(names.left + each * all + legendRoom(view),
                          view.px(kTitleRoom + 20) + std::max(cells.y + names.below, view.px(120))));
    space = 0;
  }
  std::vector<ImRect> columns;
  for (float x = area.Min.x; columns.size() < count; x = columns.back().Max.x + space)
    columns.emplace_back(x, area.Min.y, x + each + (columns.empty() ? extra : 0), area.Max.y);
  return columns;
}

/// Draws a sentence in place of a map.
void paintInstead(const View& view, const ImRect& area, const TabMap& map) {
  const float width = std::min(area.GetWidth() - view.px(40), view.px(420));
  const ImVec2 at(area.GetCenter().x - width / 2, area.Min.y + area.GetHeight() * 0.35f);
  paintParagraph(*ImGui::GetWindowDrawList(), view.fonts->text, at, width,
                 map.isError ? view.theme->error : view.theme->secondary, map.instead);
}

}  // namespace

void drawMaps(std::vector<TabMap> maps, Scene& scene, State& page, const ImRect& whole) {
  View& view = page.view;
  const auto figureWords = maps.front().figureWords;
  ImRect area = whole;
  if (figureWords) {
    maps.resize(1);
    area.Min.y += view.px(20);
  }
  std::vector<ImRect> places = mapColumns(page, area, maps.size()), rows;
  const float each = area.GetHeight() / static_cast<float>(maps.size());
  for (float top = area.Min.y; rows.size() < maps.size(); top += each)
    rows.emplace_back(area.Min.x, top, area.Max.x, top + each);
  const bool stacked = mapCells({}, page, rows[0]).GetArea() > mapCells({}, page, places[0]).GetArea();
  if (stacked) places.swap(rows);
  for (std::size_t i = 0; i < maps.size(); ++i) {
    TabMap& map = maps[i];
    if (!map.instead.empty()) paintInstead(view, places[i], map);
    if (!map.instead.empty()) continue;
    map.spec.rowLabels = i == 0 || stacked;
    const PointedMap drawn = drawMap(map.spec, scene, page, places[i]);
    if (map.pointed && drawn.cell) map.pointed(drawn.cell->row, drawn.cell->col);
    if (figureWords) figureWords(drawn.tile.area, ImVec2(drawn.tile.area.Min.x, whole.Min.y + view.px(10)));
  }
}

PointedMap drawMap(const MapSpec& spec, Scene& scene, State& page, const ImRect& area) {
  View& view = page.view;
  const LineTokens& line = *page.study->line();
  const ImRect cells = mapCells(spec, page, area);
  Canvas list = *ImGui::GetWindowDrawList();
  titleBar(scene, view, list, spec, cells, area.Max.x + view.px(kMargin));
  const bool brushing = spec.paints && page.brush.tool != PaintTool::look;
  const auto [head, query, key] = scene.cursor.cell;
  PointedMap map = pointAtMap(view, spec.name, page.camera, cells, line.queries, line.keys, head, !brushing);
  const HeatTile& tile = map.tile;
  page.mapPixels = std::exp2(
      std::ceil(std::log2(std::max(1.0f, std::max(cells.GetWidth(), cells.GetHeight()) * page.camera.zoom))));
  list.AddRectFilled(cells.Min, cells.Max, view.theme->background);
  view.heatmaps->draw(list, page.surface(spec.surface), spec.style,
                      {pictureOf(tile, spec.factor, spec.range)});
  static const std::vector<attention::Token> kNone;
  const NameRoom names = roomForNames(page);
  const AxisLabels labels{spec.rowLabels ? &line.queries : &kNone,
                          &line.keys,
                          query,
                          key,
                          names.left - view.px(4),
                          names.below - view.px(4)};
  paintAxisLabels(view, list, tile, labels);
  if (const auto label = clickedLabel(view, tile, labels)) {
    (label->query ? scene.cursor.cell.query : scene.cursor.cell.key) = page.token = label->at;
    if (!label->query) scene.cursor.keyChosen = true;
    view.menu = tokenMenu(scene);
  }
  if (spec.rowLabels) paintAxisTitles(view, list, cells, names.left);
  paintCrosshair(view, list, tile, query, key, std::ssize(line.queries), std::ssize(line.keys));
  if (!map.hovered && !brushing) map.cell.reset();
  if (map.cell && map.hovered) {
    const Cell cell{head, map.cell->row, map.cell->col};
    view.nextHover = {head, cell.query, cell.key};
    if (brushing) paintBrush(page, list, tile, *map.cell);
    const bool offers = ImGui::IsMouseClicked(1);
    if (map.clicked && !brushing) {
      choose(scene.cursor, cell);
    } else if (map.clicked || offers) {
      // A cell that is painted again, or whose menu opens, stays selected.
      scene.cursor.cell = cell;
      scene.cursor.keyChosen = true;
    }
    if (offers) view.menu = cellMenu(page);
  }
  if (brushing) useBrush(scene, page, map);
  return map;
}

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

/// Draws the head's number and its kv head's colour below its picture, and an outline if it is chosen, dashed
/// if it is hovered.
void paintAround(const View& view, const ModelSetup& model, Index head, const ImRect& box, bool chosen,
                 bool hovered) {
  Canvas list = *ImGui::GetWindowDrawList();
  const Theme& theme = *view.theme;
  paintText(list, view.fonts->monoSmall, ImVec2(box.GetCenter().x, box.Max.y + view.px(kNumber) / 2),
            chosen    ? theme.text
            : hovered ? theme.secondary
                      : theme.faint,
            std::to_string(head), Align::center);
  if (model.kvHeads > 1 && model.kvHeads < model.heads)
    list.AddRectFilled(ImVec2(box.Min.x, box.Max.y + view.px(1)), ImVec2(box.Max.x, box.Max.y + view.px(3)),
                       groupColor(theme, model.kvHeadOf(head)));
  if (chosen && drawsMark(list, "chosen head", box.Min - ImVec2(3, 3), box.Max + ImVec2(3, 3)))
    compat::rectOutline(list, box.Min - ImVec2(2, 2), box.Max + ImVec2(2, 2), theme.text, view.px(2),
                        view.px(2));
  if (hovered && !chosen) paintGhost(view, list, "ghost", box, theme.secondary);
}

void paintStrip(Scene& scene, State& page, Strip strip, const ImRect& area) {
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
  const bool drawn = mask && mask->formula, same = drawn && mask->distinct == 1 && heads > 1;
  const float top = area.Min.y + view.px(kTitle);
  std::vector<HeatmapTile> tiles;
  const auto picture = [&](Index head, const ImRect& box) {
    tiles.push_back(pictureOf(
        {box, 0, 0, static_cast<float>(mask->thumbnails.rows()), static_cast<float>(mask->thumbnails.cols())},
        1, {}));
    tiles.back().view.layer = static_cast<int>(mask->formula->variantOf(head));
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
    const bool chosen = head == scene.cursor.cell.head, hovered = ImGui::IsItemHovered();
    if (drawn && !same && head < mask->formula->heads())
      picture(head, box);
    else
      list.AddRectFilled(box.Min, box.Max, same && chosen ? theme.line : theme.raised, view.px(3));
    paintAround(view, scene.setup.model, head, box, chosen, hovered);
  }
  if (!tiles.empty()) {
    render::HeatmapStyle style = maskStyle(view);
    style.gap = 0;
    view.heatmaps->draw(list, page.surface(Surface::maskStrip), style, std::move(tiles));
  }
}

}  // namespace

void headStrip(Board& board, Scene& scene, State& page) {
  const View& view = page.view;
  const Strip strip = stripFor(view, scene.setup.model.heads, view.px(board.width()));
  const float high = kTitle + 10 + static_cast<float>(strip.rows) * (strip.side / view.unit + kNumber);
  board.area("", {high}, [&scene, &page, strip](const ImRect& area) { paintStrip(scene, page, strip, area); })
      .apart(0)
      .inWindow();
}

}  // namespace headscope::app::mask_page
