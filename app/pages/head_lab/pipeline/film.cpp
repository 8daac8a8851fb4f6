#include <fmt/core.h>

#include "app/compute/plots/plot_data.h"
#include "app/pages/head_lab/map_view.h"
#include "app/pages/head_lab/pipeline/pipeline.h"
#include "app/platform/track.h"
#include "app/widgets/paint.h"
#include "app/widgets/text/rich_text.h"

namespace headscope::app::head_lab_page {

namespace {

/// The place of a frame, in pixels.
struct FilmPlace {
  ImRect area;
  float top, bottom;  ///< of the pictures
  bool small;
};

/// A row of a picture, at least a few pixels high.
ImRect rowAt(const View& view, const ImRect& cells, Index row, Index rows) {
  const float each = cells.GetHeight() / static_cast<float>(std::max<Index>(rows, 1));
  const float half = std::max(each, view.px(5)) / 2;
  const float middle = cells.Min.y + (static_cast<float>(row) + 0.5f) * each;
  return {cells.Min.x - 1, middle - half, cells.Max.x + 1, middle + half};
}

/// A column, at least as wide.
ImRect columnAt(const View& view, const ImRect& cells, Index col, Index cols) {
  const float each = cells.GetWidth() / static_cast<float>(std::max<Index>(cols, 1));
  const float half = std::max(each, view.px(5)) / 2;
  const float middle = cells.Min.x + (static_cast<float>(col) + 0.5f) * each;
  return {middle - half, cells.Min.y - 1, middle + half, cells.Max.y + 1};
}

/// Draws marks above the heads' slices in their kv head's hue, and dims all slices but the selected head's.
void paintSlices(const View& view, const FilmReel& reel, Canvas list, const FilmBlock& block,
                 const ImRect& cells) {
  const Theme& theme = *view.theme;
  const attention::AttentionConfig& config = reel.config;
  const float each = cells.GetWidth() / static_cast<float>(block.slices);
  const float inset = each > view.px(6) ? view.px(1) : 0;
  const bool empty = !reel.picture(block.stage);
  const bool ofQueries = block.slices == config.heads;
  for (Index slice = 0; slice < block.slices; ++slice) {
    const float from = cells.Min.x + each * static_cast<float>(slice) + inset, to = from + each - 2 * inset;
    const Index kv = ofQueries ? config.kvHeadOf(slice) : slice;
    list.AddRectFilled(ImVec2(from, cells.Min.y - view.px(6)), ImVec2(to, cells.Min.y - view.px(3)),
                       groupColor(theme, kv));
    if (empty) continue;
    if (slice != block.lit)
      list.AddRectFilled(ImVec2(from, cells.Min.y), ImVec2(to, cells.Max.y), faded(theme.background, 0.6f));
    if (inset > 0)
      list.AddRectFilled(ImVec2(to, cells.Min.y), ImVec2(to + 2 * inset, cells.Max.y), theme.background);
  }
}

/// Draws a block's numbers, or an empty frame if there are none.
void paintValues(const Scene& scene, State& page, const FilmReel& reel, const FilmFrame& frame,
                 const FilmBlock& block, const ImRect& cells, float fade) {
  const View& view = page.view;
  Canvas list = *ImGui::GetWindowDrawList();
  const StagePicture* picture = reel.picture(block.stage);
  if (!picture) {
    list.AddRectFilled(cells.Min, cells.Max, mixed(view.theme->background, view.theme->panel, 0.7f));
    return compat::rectOutline(list, cells.Min, cells.Max, view.theme->line, 0, 1);
  }
  const float most = largestOf(*picture);
  Picture look;
  look.name = fmt::format("film.{}.{}", static_cast<int>(frame.step), static_cast<int>(block.stage));
  look.ink = block.ink;
  look.low = block.ink == Ink::map ? picture->low : -most;
  look.high = block.ink == Ink::map ? picture->high : most;
  look.fade = fade;
  const float each = cells.GetHeight() / static_cast<float>(picture->values.rows());
  look.gap = block.ink == Ink::map && each >= 8 ? 1.0f : 0;
  paintPicture(page, look, picture->values, cells, scene.look);
}

/// Outlines the rows of the query and the key, and the key's column in a map of scores: those of the selected
/// cell, and of the hovered one dashed.
void markCell(const View& view, const FilmReel& reel, const FilmFrame& frame, const FilmBlock& block,
              const ImRect& cells) {
  const Theme& theme = *view.theme;
  Canvas list = *ImGui::GetWindowDrawList();
  const Marked query{reel.cell->query, view.hover.query}, key{reel.cell->key, view.hover.key};
  const auto mark = [&](auto placeAt, const ImRect& within, const Marked& marked, Index count,
                        std::uint32_t color) {
    if (marked.hovered >= 0 && marked.hovered < count && marked.hovered != marked.selected)
      paintGhost(view, list, "ghost", placeAt(view, within, marked.hovered, count), color);
    const ImRect box = placeAt(view, within, marked.selected, count);
    compat::rectOutline(list, box.Min, box.Max, color, 0, std::max(1.0f, view.px(1.2f)));
  };
  if (block.ink == Ink::map) {
    mark(rowAt, cells, query, reel.queries, theme.query);
    return mark(columnAt, cells, key, reel.keys, theme.key);
  }
  ImRect row = cells;
  if (frame.step == Step::split && block.lit >= 0) {
    const float wide = cells.GetWidth() / static_cast<float>(block.slices);
    row.Min.x += wide * static_cast<float>(block.lit);
    row.Max.x = row.Min.x + wide;
  }
  const bool ofValues = block.ink == Ink::value;
  if (block.ofQueries) mark(rowAt, row, query, reel.queries, ofValues ? theme.value : theme.query);
  if (block.ofKeys) mark(rowAt, row, key, reel.keys, ofValues ? theme.value : theme.key);
}

void paintBlock(const Scene& scene, State& page, const FilmReel& reel, const FilmFrame& frame,
                const FilmBlock& block, const ImRect& cells, const FilmPlace& place, float fade) {
  const View& view = page.view;
  const Theme& theme = *view.theme;
  Canvas list = *ImGui::GetWindowDrawList();
  paintValues(scene, page, reel, frame, block, cells, fade);
  if (block.slices > 1) paintSlices(view, reel, list, block, cells);
  if (reel.cell) markCell(view, reel, frame, block, cells);
  if (frame.broken)
    compat::rectOutline(list, ImVec2(cells.Min.x - 1, cells.Min.y - 1),
                        ImVec2(cells.Max.x + 1, cells.Max.y + 1), theme.error, 0, view.px(2.5f));
  if (block.used)
    list.AddRectFilled(ImVec2(cells.Min.x, cells.Max.y + view.px(4)),
                       ImVec2(cells.Max.x, cells.Max.y + view.px(7)),
                       block.ink == Ink::map ? theme.secondary : inkColor(theme, block.ink));
  if (place.small) return;
  const float middle = (cells.Min.x + cells.Max.x) / 2;
  paintText(list, view.fonts->small, ImVec2(middle, place.top - view.px(16)), theme.secondary, block.shape,
            Align::center);
}

void paintPerforation(const View& view, Canvas list, const ImRect& area) {
  const std::uint32_t color = mixed(view.theme->background, view.theme->line, 0.7f);
  for (const float x : placesBetween(area.Min.x + view.px(6), area.Max.x - view.px(8), view.px(20)))
    for (const float y : {area.Min.y + view.px(4), area.Max.y - view.px(9)})
      list.AddRectFilled(ImVec2(x, y), ImVec2(x + view.px(8), y + view.px(5)), color, view.px(1));
}

void paintRowLabels(const View& view, Canvas list, const FilmReel& reel, float right, float top, float bottom,
                    float room) {
  const Theme& theme = *view.theme;
  const auto n = static_cast<Index>(reel.tokens.size());
  const float each = (bottom - top) / static_cast<float>(n);
  ImFont* font = view.fonts->monoSmall;
  const bool all = each >= lineHeight(font) * 0.75f;
  const bool self = reel.frames.front().blocks.size() == 1;
  for (Index i = 0; i < n; ++i) {
    const bool isQuery = reel.cell && i == reel.cell->query;
    const bool isKey = reel.cell && self && i == reel.cell->key && !isQuery;
    const bool hovered = reel.cell && i == view.hover.query;
    if (!all && !isQuery) continue;
    paintText(list, font, ImVec2(right, top + (static_cast<float>(i) + 0.5f) * each),
              isQuery   ? theme.query
              : isKey   ? theme.key
              : hovered ? theme.text
                        : theme.secondary,
              fitted(font, reel.tokens[static_cast<std::size_t>(i)].text, room), Align::right);
  }
}

/// Draws a frame's matrices side by side, centred on `middle`, each with its name if there are several.
void paintBlocks(const Scene& scene, State& page, const FilmReel& reel, const FilmFrame& frame, float middle,
                 float scale, const FilmPlace& place, float fade) {
  const View& view = page.view;
  Canvas list = *ImGui::GetWindowDrawList();
  const float space = frame.blocks.size() > 1 ? view.px(8) * scale : 0;
  float content = space * static_cast<float>(frame.blocks.size() - 1);
  for (const FilmBlock& block : frame.blocks) content += view.px(block.width * scale);
  float left = middle - content / 2;
  for (const FilmBlock& block : frame.blocks) {
    const float wide = view.px(block.width * scale);
    const ImRect cells(std::round(left), place.top, std::round(left + wide), place.bottom);
    paintBlock(scene, page, reel, frame, block, cells, place, fade);
    if (frame.blocks.size() > 1 && !block.name.empty())
      paintText(list, place.small ? view.fonts->text : view.fonts->title,
                ImVec2((cells.Min.x + cells.Max.x) / 2, place.top - view.px(place.small ? 14 : 34)),
                inkColor(*view.theme, block.ink), block.name, Align::center);
    left += wide + space;
  }
}

/// Draws a frame's text, its background if selected, and its click area.
void paintFrame(Scene& scene, State& page, const FilmReel& reel, std::size_t number, float x, float width,
                float scale, const FilmPlace& place, bool later) {
  View& view = page.view;
  const Theme& theme = *view.theme;
  const FilmFrame& frame = reel.frames[number];
  Canvas list = *ImGui::GetWindowDrawList();
  const bool lit = reel.cell && frame.step == scene.cursor.lab.step;
  const float pad = view.px(place.small ? 6 : 10);
  const ImRect ground(x - pad, place.area.Min.y, x + width + pad, place.area.Max.y);
  ImGui::SetCursorScreenPos(ground.Min);
  ImGui::PushID(static_cast<int>(number));
  if (compat::invisibleButton("frame", ground.GetSize())) {
    scene.cursor.lab.step = frame.step;
    page.playing = false;
  }
  ImGui::PopID();
  trackItem(fmt::format("film.{}", number + 1));
  const bool hovered = ImGui::IsItemHovered();
  if (lit || hovered) list.AddRectFilled(ground.Min, ground.Max, lit ? theme.raised : theme.panel);
  if (lit) list.AddRectFilled(ground.Min, ImVec2(ground.Max.x, ground.Min.y + view.px(3)), theme.text);
  if (frame.broken) track("film.broken", ground.Min, ground.Max);
  const float middle = x + width / 2;
  const bool used = std::ranges::any_of(frame.blocks, &FilmBlock::used);
  // Without a cell, no frame is selected, and all frames are equally bright.
  const bool bright = lit || !reel.cell || (used && !later);
  paintBlocks(scene, page, reel, frame, middle, scale, place, bright ? 1 : later ? 0.5f : 0.6f);
  ImFont* title = place.small ? view.fonts->text : view.fonts->title;
  if (frame.step != Step::project && !(frame.blocks.size() > 1 && frame.step == Step::input))
    paintScripted(view, list, title, ImVec2(middle, place.top - view.px(place.small ? 14 : 34)),
                  lit ? theme.text : theme.secondary, frame.title, Align::center,
                  width + 2 * pad - view.px(2));
  paintText(list, view.fonts->small, ImVec2(x, place.area.Min.y + view.px(place.small ? 14 : 20)),
            theme.faint, std::to_string(number + 1));
  ImFont* big = lit && !place.small ? view.fonts->monoHero
                : place.small       ? view.fonts->mono
                                    : view.fonts->monoTitle;
  const float below = place.bottom + view.px(place.small ? 17 : 24);
  paintText(list, big, ImVec2(middle, below),
            frame.broken ? theme.error
            : lit        ? theme.text
                         : theme.secondary,
            fitted(big, frame.number, width + 2 * pad), Align::center);
  if (!place.small)
    paintScripted(view, list, view.fonts->small, ImVec2(middle, below + view.px(19)), theme.secondary,
                  frame.hint, Align::center, width + 2 * pad - view.px(2));
  if (hovered && place.small) {
    std::string shapes;
    for (const FilmBlock& block : frame.blocks) shapes += (shapes.empty() ? "" : ", ") + block.shape;
    tooltip(view, fmt::format("{}: {}", frame.title, shapes));
  }
}

/// The width of a frame with its text, in layout units.
float frameRoom(const View& view, const FilmFrame& frame, float scale, bool small) {
  const float words =
      frame.step == Step::project
          ? 0
          : scriptedWidth(view, small ? view.fonts->text : view.fonts->title, frame.title) / view.unit;
  const float number = textWidth(small ? view.fonts->mono : view.fonts->monoTitle, frame.number) / view.unit;
  const float hint = frame.broken && !small ? textWidth(view.fonts->small, frame.hint) / view.unit : 0;
  const float blocks = (frame.width + 8 * static_cast<float>(frame.blocks.size() - 1)) * scale;
  return std::max({blocks, std::min(words, 230.0f), std::min(std::max(number, hint), 150.0f)});
}

}  // namespace

void film(Scene& scene, State& page, const FilmReel& reel, const ImRect& area, bool small) {
  View& view = page.view;
  Canvas list = *ImGui::GetWindowDrawList();
  const std::vector<FilmFrame>& frames = reel.frames;
  list.AddRectFilled(ImVec2(area.Min.x, area.Max.y - 1), area.Max, view.theme->line);
  paintPerforation(view, list, area);
  const float labels = view.px(small ? 70 : 110), margin = view.px(small ? 14 : 24);
  const float room = (area.GetWidth() - labels - 2 * margin) / view.unit;
  float scale = small ? 0.5f : 1;
  const auto total = [&] {
    float sum = 0;
    for (const FilmFrame& frame : frames) sum += frameRoom(view, frame, scale, small);
    return sum;
  };
  while (scale > 0.2f && total() + 18 * static_cast<float>(frames.size() - 1) > room) scale *= 0.94f;
  const float space =
      std::max(6.0f, (room - total()) / static_cast<float>(std::max<std::size_t>(frames.size() - 1, 1)));
  const FilmPlace place{area, area.Min.y + view.px(small ? 47 : 76),
                        area.Min.y + view.px(small ? 47 + 66 : 76 + 144), small};
  paintRowLabels(view, list, reel, area.Min.x + labels, place.top, place.bottom, labels - view.px(8));
  float x = area.Min.x + labels + margin;
  bool later = false;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const float wide = view.px(frameRoom(view, frames[i], scale, small));
    paintFrame(scene, page, reel, i, x, wide, scale, place, later);
    later = later || (reel.cell && frames[i].step == scene.cursor.lab.step);
    x += wide + view.px(space);
    if (i + 1 < frames.size() && space > 22)
      paintText(list, view.fonts->small, ImVec2(x - view.px(space / 2), (place.top + place.bottom) / 2),
                view.theme->faint, "→", Align::center);
  }
}

void foldedFilm(Scene& scene, State& page, const FilmReel& reel, const ImRect& area) {
  View& view = page.view;
  const Theme& theme = *view.theme;
  Canvas list = *ImGui::GetWindowDrawList();
  const std::vector<FilmFrame>& frames = reel.frames;
  const float each = (area.GetWidth() - view.px(24)) / static_cast<float>(frames.size());
  list.AddLine(ImVec2(area.Min.x, area.Max.y - 1), ImVec2(area.Max.x, area.Max.y - 1), theme.line);
  bool later = false;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const FilmFrame& frame = frames[i];
    const bool lit = reel.cell ? frame.step == scene.cursor.lab.step : frame.broken;
    const std::uint32_t words = frame.broken ? theme.error : lit ? theme.text : theme.secondary;
    const float x = area.Min.x + view.px(12) + each * static_cast<float>(i), middle = x + each / 2;
    if (hitArea(fmt::format("film.{}", i + 1), ImVec2(x, area.Min.y), ImVec2(each, area.GetHeight())))
      scene.cursor.lab.step = frame.step;
    if (i + 1 < frames.size())
      list.AddLine(ImVec2(middle + view.px(8), area.Min.y + view.px(12)),
                   ImVec2(middle + each - view.px(8), area.Min.y + view.px(12)), theme.line);
    list.AddCircleFilled(ImVec2(middle, area.Min.y + view.px(12)), view.px(lit ? 5 : 3),
                         later ? theme.line : words);
    ImFont* font = lit ? view.fonts->bold : view.fonts->text;
    const std::string name = frame.step == Step::split ? "split" : frame.title;
    paintScripted(view, list, font, ImVec2(middle, area.Min.y + view.px(30)), words, name, Align::center,
                  each - view.px(3));
    later = later || lit;
  }
}

}  // namespace headscope::app::head_lab_page
