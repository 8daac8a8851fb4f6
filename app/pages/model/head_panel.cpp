#include <fmt/core.h>

#include "app/pages/model/model_answers.h"
#include "app/pages/model/model_state.h"
#include "app/platform/keyboard_focus.h"
#include "app/platform/track.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/controls.h"
#include "app/widgets/paint.h"

namespace headscope::app::model_page {

// The panel of the chosen head: its enlarged weights, facts, predictions and compositions.

namespace {

/// "LAYER 9 · HEAD 6", a shared kv head and the behaviour; below, the lit cell's tokens and weight.
void title(const Scene& scene, const State& page, ImVec2 at, float width) {
  const View& view = page.view;
  const Theme& theme = *view.theme;
  Canvas list = *ImGui::GetWindowDrawList();
  const Cell& cell = scene.cursor.cell;
  const Index layer = scene.cursor.model.layer;
  const HeadSummary& head = *page.summary(layer, cell.head);
  float y = at.y + view.px(9);
  float x = at.x + paintSpaced(list, view.fonts->smallBold, ImVec2(at.x, y), theme.faint,
                               fmt::format("LAYER {} · HEAD {}", layer, cell.head), view.px(1.2f));
  const attention::ModelConfig& config = *page.model.config;
  if (config.kvHeads < config.heads) {
    const Index kv = cell.head * config.kvHeads / config.heads;
    x += view.px(8) + paintBadge(view, list, ImVec2(x + view.px(8), y), groupColor(theme, kv), kvName(kv));
  }
  const attention::HeadLabel label = head.label(scene.look.labelThreshold);
  std::string does = attention::describe(label);
  if (label.detector) does += fmt::format(" {}", fixedText(head.profile[label.detector->name].raw, 3));
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
  const std::string query = fitted(view.fonts->hero, page.queryToken(cell.query), room);
  x = at.x + paintText(list, view.fonts->hero, ImVec2(at.x, y), theme.query, query) + view.px(10);
  x += paintText(list, view.fonts->hero, ImVec2(x, y), theme.faint, "→") + view.px(10);
  paintText(list, view.fonts->hero, ImVec2(x, y), theme.key,
            fitted(view.fonts->hero, page.keyToken(cell.key), room));
}

/// Draws the head's weights with token labels. Returns the bottom y.
float heatmap(Scene& scene, State& page, ImVec2 at, float width, float height) {
  View& view = page.view;
  Canvas list = *ImGui::GetWindowDrawList();
  const auto& keys = page.study->keyTokens();
  const auto& queries = page.study->queryTokens();
  const auto [left, bottom] = nameRoom(view, queries, keys);
  const float top = view.px(18);
  const auto n = static_cast<float>(page.queries()), m = static_cast<float>(page.keys());
  const LayerSummary& layer = *page.layer(scene.cursor.model.layer);
  const bool sinks = layer.sinkShares.size() > 0;
  if (sinks) width -= sinkBarsRoom(view);
  float side = std::max(std::min((width - left) / m, (height - bottom - top) / n), 0.01f);
  if (side >= 8) side = std::floor(side);
  // Cells along the axis with fewer tokens get at least 8 units if possible, so that one can point at them.
  const ImVec2 least(std::min(width - left, m * view.px(8)), std::min(height - bottom - top, n * view.px(8)));
  const ImVec2 size(std::max({side * m, least.x * (m < n ? 1.0f : 0.0f), 8.0f}),
                    std::max({side * n, least.y * (n < m ? 1.0f : 0.0f), 8.0f}));
  const ImRect cells(at.x + left, at.y + top, at.x + left + size.x, at.y + top + size.y);
  page.pictures.headCell = std::min(size.x / m, size.y / n);
  const HeatTile tile{cells, 0, 0, n, m, scene.cursor.cell.head};
  const ValueRange range = shownRange(scene, page);
  render::HeatmapStyle style = styleFor(view, scene.look);
  style.colormap = shownColours(scene, page);
  view.heatmaps->draw(list, page.pictures.head.textures, style,
                      {pictureOf(tile, page.pictures.head.factor, range)});
  const Cell& cell = scene.cursor.cell;
  const Index rows = page.queries(), cols = page.keys();
  paintAxisTitles(view, list, cells, left, true);
  paintAxisLabels(view, list, tile, {&queries, &keys, cell.query, cell.key, left, bottom});
  if (!scene.cursor.model.firstOut) {
    Look look = scene.look;
    look.quantity = Quantity::weights;
    look.colormap = shownColours(scene, page);
    paintValues(view, list, tile, rows, cols, look, range, [&](Index row, Index col) -> std::optional<float> {
      const float weight = layer.weights.at(cell.head, row, col);
      return weight == 0 ? std::nullopt : std::optional(weight);
    });
  }
  paintCrosshair(view, list, tile, cell.query, cell.key, rows, cols);
  if (sinks)
    paintSinkBars(view, list, tile, rows, [&](Index row) { return layer.sinkShares(cell.head, row); });
  track("model.large", cells.Min, cells.Max);
  trackCells("model.large", tile, &queries, &keys);
  ImGui::SetCursorScreenPos(cells.Min);
  compat::invisibleButton("model.large", cells.GetSize());
  noteTabStopKind(TabStopKind::picture, {tile.cellWidth(), tile.cellHeight()});
  if (ImGui::IsItemHovered())
    if (const auto under = tile.cellAt(ImGui::GetIO().MousePos, rows, cols)) {
      view.nextHover = {-1, under->row, under->col};
      scene.cursor.cell.query = under->row;
      scene.cursor.cell.key = under->col;
      tooltip(view, fmt::format("{} → {}  {}", page.queryToken(under->row), page.keyToken(under->col),
                                weightText(layer.weights.at(cell.head, under->row, under->col))));
    }
  return cells.Max.y + bottom;
}

void facts(const Scene& scene, State& page, float x, float y) {
  View& view = page.view;
  const float left = x;
  Canvas list = *ImGui::GetWindowDrawList();
  const Cell& cell = scene.cursor.cell;
  const Index layer = scene.cursor.model.layer;
  const auto word = [&](const std::string& text) {
    x += paintText(list, view.fonts->small, ImVec2(x, y), view.theme->faint, text);
  };
  const auto number = [&](const std::string& text) {
    x += paintText(list, view.fonts->monoSmall, ImVec2(x, y), view.theme->text, text);
  };
  word("entropy ");
  number(fixedText(page.summary(layer, cell.head)->entropy, 2));
  word("    writes ");
  number(fixedText(headShare(*page.study, layer, cell.head, cell.query), 2));
  word(" of the stream    copies ");
  const auto copying = page.head.copying.find({layer, cell.head});
  number(!page.model.config->checkHeadMaps() || page.model.config->cross() ? "–"
         : copying == page.head.copying.end()                              ? "…"
                                                                           : fixedText(copying->second, 2));
  hitArea("model.facts_of_head", ImVec2(left, y - view.px(9)), ImVec2(x - left, view.px(18)));
  if (ImGui::IsItemHovered())
    hoverHelp(
        view, "model.facts_of_head",
        "entropy: 0 means one key gets all the weight, 1 an even spread.\nwrites: ‖head · W_O‖ / ‖residual "
        "stream before the layer‖ at this query.\ncopies: Σ Re λ / Σ |λ| of the eigenvalues of W_V·W_O, "
        "independent of the text: 1 writes what it reads, −1 its negative (Elhage et al. 2021).");
}

void buttons(Scene& scene, View& view, HeadState& heads) {
  const bool off = isOff(scene, scene.cursor.model.layer, scene.cursor.cell.head);
  if (button(view, "model.switch", off ? "Switch on (X)" : "Switch off (X)")) view.request("model.switch");
  ImGui::SameLine(0, view.px(8));
  if (button(view, "model.open_heads", "Open in Heads")) view.request("model.heads");
  if (!heads.held) return;
  ImGui::SameLine(0, view.px(8));
  if (button(view, "model.hold", "Unpin (H)", "", true)) view.request("model.hold");
}

}  // namespace

void headPanel(Scene& scene, State& page, const Layout& layout) {
  View& view = page.view;
  if (!layout.showRight) return;
  if (beginPanel(view, "model.side", layout.right, 20, 14)) {
    fillDrawer(view, layout, {"overview", "strip"});
    const LayerSummary* layer = page.ready() ? page.layer(scene.cursor.model.layer) : nullptr;
    if (!layer || layer->weights.rows() != page.queries() || layer->weights.cols() != page.keys()) {
      sectionTitle(view, "HEAD");
      hint(view, page.model.readsPictures() ? "Open a picture to see what each head attends to."
                 : page.model.isSynthetic()
                     ? "Point at a head to enlarge it here."
                     : "Point at a head to see its attention and its effect on the next token here.");
    } else {
      const ImVec2 at = ImGui::GetCursorScreenPos();
      const float width = ImGui::GetContentRegionAvail().x;
      title(scene, page, at, width);
      const float heatTop = at.y + view.px(60);
      // The text below needs a fixed height, more of it if there are predictions.
      const bool guesses = page.model.predicts() || !page.picture() || page.model.opened->recorded;
      const float below = view.px(view.present ? 14 : guesses ? 430 : 270);
      const float room = std::max(view.px(170), layout.right.Max.y - heatTop - below);
      const ImVec2 place(at.x, heatTop);
      const float bottom = page.picture()
                               ? largePicture(scene, page, place, width, std::min(room, width + view.px(74)))
                               : heatmap(scene, page, place, width, std::min(room, width));
      if (page.model.opened->recorded) {
        ImGui::SetCursorScreenPos(ImVec2(at.x, bottom + view.px(4)));
        recordedPanel(scene, page);
      } else {
        // While presenting, the head takes this space, and predictions are below the thumbnails.
        if (view.present) return endPanel();
        facts(scene, page, at.x, bottom + view.px(10));
        ImGui::SetCursorScreenPos(ImVec2(at.x, bottom + view.px(24)));
        buttons(scene, page.view, page.head);
        gap(view, 12);
        if (!page.model.isSynthetic()) predictionSection(scene, page, width);
        if (!page.model.isSynthetic() && !view.present) compositionSection(scene, page, width);
      }
    }
  }
  endPanel();
}

void HeadPointer::follow(Cursor& cursor, View& view, HeadState& heads) {
  constexpr double kRests = 0.25;  // seconds on a head that count as a choice
  const Crosshair& hover = view.hover;
  const double now = view.time;
  const Look shown{cursor.model.layer, cursor.cell};
  if (std::exchange(heads.asked, false)) rested_ = shown;
  if (hover.head < 0 || heads.held) {
    // While presenting, pointing doesn't choose: the previous choice returns when the pointer leaves.
    if (rested_ && !heads.held && (view.present || now - onHeadSince_ < kRests) && shown == pointed_) {
      cursor.model.layer = rested_->layer;
      cursor.cell = rested_->cell;
    } else if (rested_ && view.present) {
      // A key moved to another head: keep the query and key from before pointing.
      if (cursor.cell.query == pointed_.cell.query) cursor.cell.query = rested_->cell.query;
      if (cursor.cell.key == pointed_.cell.key) cursor.cell.key = rested_->cell.key;
    }
    rested_.reset();
    return;
  }
  if (!rested_) rested_ = shown;
  if (heads.hoverLayer != shown.layer || hover.head != shown.cell.head)
    onHeadSince_ = now;
  else if (now - onHeadSince_ >= kRests && !view.present)
    rested_ = shown;
  pointed_ = {heads.hoverLayer,
              {hover.head, hover.query >= 0 ? hover.query : shown.cell.query,
               hover.key >= 0 ? hover.key : shown.cell.key}};
  cursor.model.layer = pointed_.layer;
  cursor.cell = pointed_.cell;
}

// The heads of other layers that the chosen head reads and that read it, computed from weights alone.

namespace {

constexpr const char* kCompositionHelp =
    "‖W1·W2‖ / (‖W1‖·‖W2‖) of an earlier head's W_V·W_O and a later head's input weights for queries, keys "
    "or values, minus the 1/√(model dim) of random heads (Elhage et al. 2021). Independent of the text.";

/// "Q +0.120, K −0.004", without undefined amounts.
std::string amounts(const attention::Composition& with) {
  std::string text;
  for (const auto& [kind, amount] : {std::pair("Q", with.q), {"K", with.k}, {"V", with.v}})
    if (!std::isnan(amount))
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", kind, signedText(amount, 3));
  return text;
}

/// The strongest heads of one side, as many as fit on a line. A click chooses one.
void partners(Scene& scene, View& view, const ShownModel& model, Opening& opening, const char* name,
              const char* label, const std::vector<ComposedHead>& heads, float width) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float y = at.y + view.px(13), right = at.x + width;
  Canvas list = *ImGui::GetWindowDrawList();
  paintText(list, view.fonts->small, ImVec2(at.x, y), view.theme->secondary, label);
  float x = at.x + view.px(62);
  constexpr std::size_t kMax = 5;
  bool any = false;
  for (std::size_t i = 0; i < std::min(kMax, heads.size()); ++i) {
    const auto [kind, amount] = heads[i].strongest();
    if (amount < 0.005) break;
    const bool other = heads[i].group != model.config->group;
    const std::string words =
        fmt::format("{}{}.{} {} +{}", other ? std::string(groupName(heads[i].group)) + " " : "",
                    heads[i].layer, heads[i].head, kind, fixedText(amount, 2));
    const float wide = textWidth(view.fonts->text, words) + view.px(22);
    if (x + wide > right) break;
    any = true;
    ImGui::SetCursorScreenPos(ImVec2(x, at.y));
    const attention::Composition& with = heads[i].with;
    if (button(view, fmt::format("{}.{}", name, i), words, "", true)) {
      scene.cursor.model.layer = heads[i].layer;
      scene.cursor.cell.head = heads[i].head;
      if (other) wantGroup(scene, opening, groupName(heads[i].group));
    }
    if (ImGui::IsItemHovered())
      tooltip(view, fmt::format("{} above random heads\nClick to choose the head", amounts(with)));
    x += wide + view.px(4);
  }
  if (!any)
    paintText(list, view.fonts->small, ImVec2(x, y), view.theme->faint,
              heads.empty() ? "no heads there" : "none above random heads");
  ImGui::SetCursorScreenPos(ImVec2(at.x, at.y + view.px(28)));
  ImGui::Dummy(ImVec2(1, 1));
}

/// A note on compositions that are undefined between an encoder–decoder's streams; null with one stream.
const char* undefinedNote(const attention::ModelConfig& config) {
  switch (config.group) {
    case attention::HeadGroup::cross:
      return "Queries read the decoder's heads; keys and values read the encoder's.";
    case attention::HeadGroup::decoder:
      return "Cross heads read these as queries only; nothing here reads the encoder's heads.";
    case attention::HeadGroup::encoder:
      return config.groups.size() > 1 ? "Which cross heads read these is shown under cross heads." : nullptr;
    case attention::HeadGroup::only:
      break;
  }
  return nullptr;
}

}  // namespace

void compositionSection(Scene& scene, State& page, float width) {
  View& view = page.view;
  gap(view, 8);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  sectionTitle(view, "COMPOSITION", "from weights only");
  const ImVec2 to(at.x + width, ImGui::GetCursorScreenPos().y);
  track("model.composition", at, to);
  if (ImGui::IsWindowHovered() && ImGui::IsMouseHoveringRect(at, to))
    hoverHelp(view, "model.composition", kCompositionHelp);
  if (const attention::Status maps = page.model.config->checkHeadMaps(); !maps)
    return hint(view, maps.error().message);
  const auto found = page.head.compositions.find({scene.cursor.model.layer, scene.cursor.cell.head});
  if (found == page.head.compositions.end()) return hint(view, "…");
  if (const char* const note = undefinedNote(*page.model.config)) hint(view, note);
  partners(scene, page.view, page.model, page.opening, "composes.earlier", "reads", found->second.earlier,
           width);
  partners(scene, page.view, page.model, page.opening, "composes.later", "is read by", found->second.later,
           width);
}

}  // namespace headscope::app::model_page
