#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "app/pages/cache/cache_state.h"
#include "app/platform/track.h"
#include "app/scene/models/open_model.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/heat_tile.h"
#include "app/widgets/paint.h"
#include "app/widgets/panel.h"
#include "app/widgets/text/first_fitting.h"

namespace headscope::app::cache_page {

float viewHeadline(const View& view, const ImRect& area, const std::string& figure,
                   const std::vector<std::string>& sentence, const std::vector<std::string>& rest,
                   bool small) {
  const Theme& theme = *view.theme;
  Canvas list = *ImGui::GetWindowDrawList();
  const float height = view.px(small ? 58 : 76), y = area.Min.y + height / 2;
  const float width = paintText(list, small ? view.fonts->displaySmall : view.fonts->display,
                                ImVec2(area.Min.x, y), theme.text, figure);
  track("cache.figure", ImVec2(area.Min.x, area.Min.y), ImVec2(area.Min.x + width, area.Min.y + height));
  const float x = area.Min.x + width + view.px(small ? 22 : 30), room = area.Max.x - x;
  paintFitted(view, list, view.fonts->hero, ImVec2(x, y - view.px(small ? 11 : 14)), room, theme.text,
              firstFitting(view.fonts->hero, sentence, room));
  paintFitted(view, list, view.fonts->text, ImVec2(x, y + view.px(small ? 12 : 15)), room, theme.secondary,
              firstFitting(view.fonts->text, rest, room));
  return area.Min.y + height + view.px(small ? 6 : 14);
}

bool viewIsEmpty(const Scene& scene, State& page, const ImRect& area, const std::string& problem,
                 bool waits) {
  View& view = page.view;
  const SequenceSnapshot* sequence = shownSequence(scene, page.snapshot.get());
  if (page.snapshot && page.snapshot->error) {
    const PlacedError& error = *page.snapshot->error;
    paintMessage(view, area, error.waits ? "Something is missing" : "This can't be computed", error.message,
                 error.waits ? view.theme->text : view.theme->error);
    return true;
  }
  if (!sequence || sequence->keyLength == 0) {
    paintMessage(view, area, "Type a sentence", "Each token becomes a column of the cache.",
                 view.theme->text);
    return true;
  }
  if (!problem.empty()) {
    paintMessage(view, area, "This can't be shown", problem, view.theme->text);
    track("cache.reason", area.Min, area.Max);
    return true;
  }
  if (waits) paintMessage(view, area, "Computing…", "The first picture follows shortly.", view.theme->text);
  return waits;
}

void paintPicture(const View& view, const EasedTextures& textures, int layer, const ImRect& area,
                  const render::HeatmapStyle& style, const ValueRange& range) {
  Canvas list = *ImGui::GetWindowDrawList();
  if (textures.empty() || layer >= textures.current().layers()) return;
  HeatmapTile tile;
  tile.view.target = {std::round(area.Min.x), std::round(area.Min.y), std::round(area.Max.x),
                      std::round(area.Max.y)};
  tile.view.clip = tile.view.target;
  tile.view.layer = layer;
  tile.view.rows = static_cast<float>(textures.current().rows());
  tile.view.cols = static_cast<float>(textures.current().cols());
  tile.range = range;
  view.heatmaps->draw(list, textures, style, {tile});
  compat::rectOutline(list, ImVec2(area.Min.x - 1, area.Min.y - 1), ImVec2(area.Max.x + 1, area.Max.y + 1),
                      view.theme->line, 0, 1);
}

void paintNames(const Scene& scene, const View& view, const ImRect& map,
                const std::vector<attention::Token>& tokens, const NameRoom& room, bool first,
                float keysBelow) {
  if (room.left <= 0) return;
  static const std::vector<attention::Token> kNone;
  Canvas list = *ImGui::GetWindowDrawList();
  const auto n = static_cast<float>(tokens.size());
  const Cell& cell = scene.cursor.cell;
  const auto shown = [&](Index at) { return at < std::ssize(tokens) ? at : -1; };
  const Index query = shown(view.hover.query >= 0 ? view.hover.query : cell.query);
  const Index key = shown(view.hover.key >= 0 ? view.hover.key : cell.key);
  if (first) {
    paintAxisTitles(view, list, ImRect(map.Min.x, map.Min.y, map.Max.x, keysBelow), room.left);
    paintAxisLabels(view, list, {map, 0, 0, n, n, 0}, {&tokens, &kNone, query, -1, room.left, 0});
  }
  const ImRect columns(map.Min.x, keysBelow - 1, map.Max.x, keysBelow);
  paintAxisLabels(view, list, {columns, 0, 0, n, n, 0}, {&kNone, &tokens, -1, key, 0, room.below});
}

Index viewHead(const Scene& scene, const attention::AttentionConfig& config) {
  return std::clamp<Index>(scene.cursor.cell.head, 0, config.heads - 1);
}

std::string errorText(double error) {
  if (std::isnan(error)) return "NaN";
  if (error == 0) return "0";
  if (error < 1e-4) return numberText(error, 2);
  return numberText(error * 100, 3) + " %";
}

Index turnedDims(const std::shared_ptr<const Snapshot>& snapshot) {
  if (!snapshot) return 0;
  const Setup& setup = snapshot->setup;
  const attention::AttentionConfig& config = snapshot->config;
  if (!setup.subject.opened)
    return config.ropeTheta
               ? (setup.weights.source == WeightSource::file ? config.kvHeads : config.heads) * config.headDim
               : 0;
  const attention::ModelConfig& model = setup.subject.opened->config();
  const auto layer = static_cast<std::size_t>(setup.subject.layer);
  if (layer >= model.layers.size() || !model.layers[layer].rotation) return 0;
  return config.kvHeads * model.rotations[static_cast<std::size_t>(*model.layers[layer].rotation)].dims;
}

}  // namespace headscope::app::cache_page
