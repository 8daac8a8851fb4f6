// The head that is pointed at, large.

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "app/compute/recorded_study.h"
#include "app/labs/model/model_page.h"
#include "app/platform/track.h"
#include "app/scene/number_text.h"
#include "app/widgets/controls.h"
#include "app/widgets/heat_tile.h"
#include "app/widgets/paint.h"
#include "app/widgets/panel.h"
#include "app/widgets/token_labels.h"

namespace headscope::app {

namespace {

/// "LAYER 9 · HEAD 6", whose keys it shares, what it does; below: the cell that is lit.
void title(const Scene& scene, const ModelPage& page, ImVec2 at, float width) {
  const View& view = page.view;
  const Theme& theme = *view.theme;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const Cell& cell = scene.cursor.cell;
  const Index layer = scene.cursor.model.layer;
  const HeadSummary& head = *page.summary(layer, cell.head);
  float y = at.y + view.px(9);
  float x = at.x + paintSpaced(list, view.fonts->smallBold, ImVec2(at.x, y), theme.faint,
                               fmt::format("LAYER {} · HEAD {}", layer, cell.head), view.px(1.2f));
  const attention::ModelConfig& config = *page.config;
  if (config.kvHeads < config.heads) {
    const Index kv = cell.head * config.kvHeads / config.heads;
    x += view.px(8) + paintBadge(view, list, ImVec2(x + view.px(8), y), groupColor(theme, kv), kvName(kv));
  }
  const attention::HeadLabel label = head.label(scene.look.labelThreshold);
  std::string does = attention::describe(label);
  if (label.detector) does += fmt::format(" {:.3f}", head.profile[label.detector->name].raw);
  paintFitted(view, list, view.fonts->small, ImVec2(at.x + width, y), at.x + width - x - view.px(12),
              theme.text, does, Align::right);
  const ImVec2 from(at.x, y - view.px(9)), to(at.x + width, y + view.px(9));
  track("model.head_title", from, to);
  if (ImGui::IsWindowHovered() && ImGui::IsMouseHoveringRect(from, to))
    tooltip(view, headHelp(label, head.profile, scene.look.labelThreshold));
  y += view.px(30);
  const LayerSummary& summary = *page.layer(layer);
  const std::string weight = weightText(summary.weights.at(cell.head, cell.query, cell.key));
  const float numbers = textWidth(view.fonts->hero, weight);
  paintText(list, view.fonts->hero, ImVec2(at.x + width, y), theme.text, weight, Align::right);
  const float room = (width - numbers - view.px(60)) / 2;
  const std::string query = fitted(view.fonts->hero, page.token(cell.query), room);
  x = at.x + paintText(list, view.fonts->hero, ImVec2(at.x, y), theme.query, query) + view.px(10);
  x += paintText(list, view.fonts->hero, ImVec2(x, y), theme.faint, "→") + view.px(10);
  paintText(list, view.fonts->hero, ImVec2(x, y), theme.key,
            fitted(view.fonts->hero, page.token(cell.key), room));
}

/// The head's weights with its tokens; returns the bottom.
float heatmap(Scene& scene, ModelPage& page, ImVec2 at, float width, float height) {
  View& view = page.view;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const auto& tokens = page.study->text.tokens;
  const float left = std::max(longestLabel(view, tokens, view.px(90)) + view.px(10), view.px(58));
  const float bottom = longestLabel(view, tokens, view.px(70)) * 0.9f + view.px(14), top = view.px(18);
  const auto n = static_cast<float>(page.tokens());
  float side = std::min(width - left, height - bottom - top);
  if (const float cell = side / n; cell >= 8) side = std::floor(cell) * n;
  side = std::max(side, 8.0f);
  const ImRect cells(at.x + left, at.y + top, at.x + left + side, at.y + top + side);
  page.headCell = side / n;
  const HeatTile tile{cells, 0, 0, n, n, scene.cursor.cell.head};
  const ValueRange range{0, 1, false};
  render::HeatmapStyle style = styleFor(view, scene.look);
  style.colormap = scene.look.colormap;
  view.heatmaps->draw(list, page.head, style, {pictureOf(tile, page.headFactor, range)});
  const Cell& cell = scene.cursor.cell;
  const Index count = page.tokens();
  paintAxisTitles(view, list, cells, left, true);
  paintAxisLabels(view, list, tile, {&tokens, &tokens, cell.query, cell.key, left, bottom});
  const LayerSummary& layer = *page.layer(scene.cursor.model.layer);
  if (!scene.cursor.model.firstOut) {
    Look look = scene.look;
    look.quantity = Quantity::weights;
    paintValues(view, list, tile, count, count, look, range,
                [&](Index row, Index col) -> std::optional<float> {
                  const float weight = layer.weights.at(cell.head, row, col);
                  return weight == 0 ? std::nullopt : std::optional(weight);
                });
  }
  paintCrosshair(view, list, tile, cell.query, cell.key, count, count);
  track("model.large", cells.Min, cells.Max);
  ImGui::SetCursorScreenPos(cells.Min);
  ImGui::InvisibleButton("model.large", cells.GetSize());
  if (ImGui::IsItemHovered())
    if (const auto under = tile.cellAt(ImGui::GetIO().MousePos, count, count)) {
      view.nextHover = {-1, under->row, under->col};
      scene.cursor.cell.query = under->row;
      scene.cursor.cell.key = under->col;
      tooltip(view, fmt::format("{} → {}  {}", page.token(under->row), page.token(under->col),
                                weightText(layer.weights.at(cell.head, under->row, under->col))));
    }
  return cells.Max.y + bottom;
}

void facts(const Scene& scene, const ModelPage& page, float x, float y) {
  const View& view = page.view;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const Cell& cell = scene.cursor.cell;
  const Index layer = scene.cursor.model.layer;
  const auto word = [&](const std::string& text) {
    x += paintText(list, view.fonts->small, ImVec2(x, y), view.theme->faint, text);
  };
  const auto number = [&](const std::string& text) {
    x += paintText(list, view.fonts->monoSmall, ImVec2(x, y), view.theme->text, text);
  };
  word("entropy ");
  number(fmt::format("{:.2f}", page.summary(layer, cell.head)->entropy));
  word("    writes ");
  number(fmt::format("{:.2f}", headShare(*page.study, layer, cell.head, cell.query)));
  word(" of the stream");
}

/// What a recording says of the lit cell, and what it can't.
void recordedFacts(const Scene& scene, const ModelPage& page) {
  const View& view = page.view;
  const Cell& cell = scene.cursor.cell;
  const LayerSummary& layer = *page.layer(scene.cursor.model.layer);
  hint(view, fmt::format("entropy {:.2f}", page.summary(scene.cursor.model.layer, cell.head)->entropy));
  const auto score = recordedScore(layer, cell.head, cell.query, cell.key);
  if (score)
    hint(view, fmt::format("score q·k / √{} = {}", layer.q.cols(), numberText(*score)));
  else
    hint(view, "The file has weights alone: without q and k there is no receipt of how they came about.");
  hint(view, "Recorded attention: no model is there that could say what comes next, or be changed.");
}

void buttons(Scene& scene, ModelPage& page) {
  View& view = page.view;
  const bool off = isOff(scene, scene.cursor.model.layer, scene.cursor.cell.head);
  if (button(view, "model.switch", off ? "Switch on (X)" : "Switch off (X)")) view.request("model.switch");
  ImGui::SameLine(0, view.px(8));
  if (button(view, "model.open_heads", "Open in Heads")) view.request("model.heads");
  if (!page.held) return;
  ImGui::SameLine(0, view.px(8));
  if (button(view, "model.hold", "Held (H)", "", true)) view.request("model.hold");
}

}  // namespace

void headPanel(Scene& scene, ModelPage& page, const Layout& layout) {
  View& view = page.view;
  if (!layout.showRight) return;
  if (beginPanel(view, "model.side", layout.right, 20, 14)) {
    fillDrawer(view, layout, {"overview", "strip"});
    const LayerSummary* layer = page.ready() ? page.layer(scene.cursor.model.layer) : nullptr;
    if (!layer || layer->weights.rows() != page.tokens()) {
      sectionTitle(view, "HEAD");
      hint(view,
           "The head that is pointed at comes here: what it looks at, and what it does to the next word.");
    } else {
      const ImVec2 at = ImGui::GetCursorScreenPos();
      const float width = ImGui::GetContentRegionAvail().x;
      title(scene, page, at, width);
      const float heatTop = at.y + view.px(60);
      // The guesses below need their room whatever the window's height.
      const float below = view.px(view.present ? 250 : 430);
      const float room = std::max(view.px(170), layout.right.Max.y - heatTop - below);
      const float bottom = heatmap(scene, page, ImVec2(at.x, heatTop), width, std::min(room, width));
      if (scene.setup.subject.opened->recorded) {
        ImGui::SetCursorScreenPos(ImVec2(at.x, bottom + view.px(4)));
        recordedFacts(scene, page);
      } else {
        facts(scene, page, at.x, bottom + view.px(10));
        ImGui::SetCursorScreenPos(ImVec2(at.x, bottom + view.px(24)));
        if (!view.present) {
          buttons(scene, page);
          gap(view, 12);
        }
        guessSection(scene, page, width);
      }
    }
  }
  endPanel();
}

}  // namespace headscope::app
