// Tokens that are a picture's patches: heads as maps over the picture, on which a click chooses the query.

#include <fmt/core.h>

#include "app/pages/model/model_state.h"
#include "app/platform/keyboard_focus.h"
#include "app/platform/track.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/controls.h"
#include "app/widgets/paint.h"

namespace headscope::app::model_page {

namespace {

/// The picture's rectangle, centred in an area and as large as fits.
ImRect pictureIn(const OpenPicture& picture, const ImRect& area) {
  const auto wide = static_cast<float>(picture.seen.width), high = static_cast<float>(picture.seen.height);
  const float zoom = std::min(area.GetWidth() / wide, area.GetHeight() / high);
  const ImVec2 half(wide * zoom / 2, high * zoom / 2), middle = area.GetCenter();
  return {std::round(middle.x - half.x), std::round(middle.y - half.y), std::round(middle.x + half.x),
          std::round(middle.y + half.y)};
}

/// The rectangle of a token's patch. Returns nothing for tokens before the patches.
std::optional<ImRect> patchIn(const OpenPicture& picture, const ImRect& drawn, Index token) {
  const Index patch = token - picture.before;
  if (patch < 0 || patch >= picture.rows * picture.cols) return std::nullopt;
  const auto row = static_cast<float>(patch / picture.cols), col = static_cast<float>(patch % picture.cols);
  const float wide = drawn.GetWidth() / static_cast<float>(picture.cols),
              high = drawn.GetHeight() / static_cast<float>(picture.rows);
  return ImRect(drawn.Min.x + col * wide, drawn.Min.y + row * high, drawn.Min.x + (col + 1) * wide,
                drawn.Min.y + (row + 1) * high);
}

/// Outlines the patches of the selected query and key; those of hovered ones dashed.
void paintPatches(const View& view, const OpenPicture& picture, const ImRect& drawn, const Cell& cell) {
  Canvas list = *ImGui::GetWindowDrawList();
  const float thick = std::max(1.0f, view.px(drawn.GetWidth() > view.px(160) ? 2 : 1));
  const auto mark = [&](const char* name, Index token, Index over, std::uint32_t color) {
    if (const auto patch = patchIn(picture, drawn, over); patch && over != token)
      paintGhost(view, list, "ghost", *patch, color);
    if (const auto patch = patchIn(picture, drawn, token)) paintMark(view, list, name, *patch, color, thick);
  };
  mark("key patch", cell.key, view.hover.key, view.theme->key);
  mark("query patch", cell.query, view.hover.query, view.theme->query);
}

const char* mapWords(PictureMap map) {
  return map == PictureMap::query   ? "weights of the query"
         : map == PictureMap::first ? "weights of the first token"
                                    : "rollout of the query through the layers up to this one";
}

/// Draws the tokens before the patches as boxes; a click makes one the query.
void leadingTokens(Rows& rows, Scene& scene, const State& page, const attention::Vector& map, float width) {
  Cell& cell = scene.cursor.cell;
  const Theme& theme = rows.theme();
  std::vector<Word> words;
  for (Index token = 0; token < page.picture()->before; ++token)
    words.push_back({page.token(token) + "  " + weightText(map[token]), 0,
                     cell.query == token ? theme.query
                     : cell.key == token ? theme.key
                                         : 0,
                     true});
  const WordsHit hit = rows.words("picture.token", words, width);
  if (hit.clicked) cell.query = *hit.clicked;
  if (!hit.hovered) return;
  page.view.nextHover.key = *hit.hovered;
  tooltip(page.view, "Not a patch: " + page.token(*hit.hovered) +
                         " has no place in the picture.\nClick to make it the query");
}

}  // namespace

void pictureWanted(View& view, const ImRect& area) {
  emptyMessage(view, area, "Drop a PNG or JPEG here",
               "This model reads pictures: their patches become its tokens.", "Open a picture…",
               "model.picture");
}

void pictureSection(Rows& rows, Scene& scene, State& page) {
  const OpenPicture* picture = page.picture();
  rows.section("PICTURE", picture ? fmt::format("{} patches", picture->rows * picture->cols) : "");
  rows.problem(page.study.problem());
  if (picture) {
    rows.hint(fmt::format("{}: {} × {} patches{}", picture->name, picture->rows, picture->cols,
                          picture->base ? fmt::format(", {} × {} pixels after resizing", picture->seen.width,
                                                      picture->seen.height)
                                        : ", cropped around its centre to their shape"));
    const Choice choices[] = {
        {"Query", "", "query"}, {"First token", "", "first"}, {"Rollout", "", "rollout"}};
    int chosen = static_cast<int>(scene.cursor.model.pictureMap);
    if (segmented(
            rows.view(), "picture.map", choices, chosen,
            "What to overlay on the picture.\nQuery: the weights that the chosen token puts on each patch.\n"
            "First token: the weights of the class token.\nRollout: how much of each patch has reached the "
            "chosen token by this layer, the product of ½·weights + ½·identity over the layers (Abnar & "
            "Zuidema 2020)."))
      scene.cursor.model.pictureMap = static_cast<PictureMap>(chosen);
    rows.hint("Click a patch to make it the query.");
  }
  rows.actions(
      {{"model.picture", picture ? "Open another picture…" : "Open a picture…", "model.picture", true}});
}

void paintPictureThumbnail(const Scene& scene, const State& page, const ImRect& tile, Index layer,
                           Index head) {
  const auto at = static_cast<std::size_t>(layer);
  const OpenPicture* picture = page.picture();
  if (!picture || at >= page.pictures.overlays.size()) return;
  const Pictures::Overlay& overlay = page.pictures.overlays[at];
  if (overlay.texture.empty()) return;
  Canvas list = *ImGui::GetWindowDrawList();
  const ImRect drawn = pictureIn(*picture, tile);
  const auto heads = static_cast<float>(overlay.source.layer->heads.size());
  const auto h = static_cast<float>(head);
  list.AddImage(compat::textureId(overlay.texture.texture()), drawn.Min, drawn.Max, ImVec2(0, h / heads),
                ImVec2(1, (h + 1) / heads));
  if (tile.GetWidth() >= page.view.px(24)) paintPatches(page.view, *picture, drawn, scene.cursor.cell);
}

std::optional<Index> patchUnder(const OpenPicture& picture, const ImRect& area, ImVec2 pointer) {
  const ImRect drawn = pictureIn(picture, area);
  if (!drawn.Contains(pointer)) return std::nullopt;
  const auto row =
      static_cast<Index>((pointer.y - drawn.Min.y) / drawn.GetHeight() * static_cast<float>(picture.rows));
  const auto col =
      static_cast<Index>((pointer.x - drawn.Min.x) / drawn.GetWidth() * static_cast<float>(picture.cols));
  return picture.before + std::clamp<Index>(row, 0, picture.rows - 1) * picture.cols +
         std::clamp<Index>(col, 0, picture.cols - 1);
}

float largePicture(Scene& scene, State& page, ImVec2 at, float width, float height) {
  View& view = page.view;
  Canvas list = *ImGui::GetWindowDrawList();
  const OpenPicture& picture = *page.picture();
  Cell& cell = scene.cursor.cell;
  const attention::Vector& map = page.pictures.large.map;
  if (map.size() != page.tokens()) return at.y;
  const float top = pictureMapTop(picture, map), below = view.px(picture.before > 0 ? 74 : 46);
  const ImRect area(at.x, at.y, at.x + width, at.y + std::max(height - below, view.px(60)));
  ImRect drawn = pictureIn(picture, area);
  drawn.TranslateY(area.Min.y - drawn.Min.y);
  page.pictures.largeSide = std::max(drawn.GetWidth(), drawn.GetHeight());
  const Pictures::Overlay& overlay = page.pictures.large;
  if (!overlay.texture.empty())
    list.AddImage(compat::textureId(overlay.texture.texture()), drawn.Min, drawn.Max, ImVec2(0, 0),
                  ImVec2(1, 1));
  track("model.picture.large", drawn.Min, drawn.Max);
  ImGui::SetCursorScreenPos(drawn.Min);
  const bool clicked = compat::invisibleButton("model.picture.large", drawn.GetSize());
  noteTabStopKind(TabStopKind::picture, {drawn.GetWidth() / static_cast<float>(picture.cols),
                                         drawn.GetHeight() / static_cast<float>(picture.rows)});
  if (ImGui::IsItemHovered())
    if (const auto token = patchUnder(picture, drawn, ImGui::GetIO().MousePos)) {
      view.nextHover = {-1, -1, *token};
      if (clicked) cell.query = *token;
      tooltip(view,
              fmt::format("{}: {}\nclick: make it the query", page.token(*token), weightText(map[*token])));
    }
  paintPatches(view, picture, drawn, cell);
  ImGui::SetCursorScreenPos(ImVec2(at.x, drawn.Max.y + view.px(8)));
  Rows rows(view);
  leadingTokens(rows, scene, page, map, width);
  const float y = ImGui::GetCursorScreenPos().y + view.px(8);
  const float bar = view.px(150);
  paintColourBar(view, scene.look.colormap, {"0", "", weightText(top)}, ImVec2(at.x + width, y + view.px(7)),
                 bar);
  paintFitted(view, list, view.fonts->small, ImVec2(at.x, y), width - bar - view.px(12), view.theme->faint,
              mapWords(scene.cursor.model.pictureMap));
  return y + view.px(22);
}

}  // namespace headscope::app::model_page
