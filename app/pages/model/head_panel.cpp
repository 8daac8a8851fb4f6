#include <fmt/core.h>

#include "app/pages/model/model_answers.h"
#include "app/pages/model/model_state.h"
#include "app/platform/keyboard_focus.h"
#include "app/platform/track.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/controls.h"
#include "app/widgets/heat_tile.h"
#include "app/widgets/paint.h"
#include "attention/models/copying.h"

namespace headscope::app::model_page {

// The panel on the right: the hovered or selected head with its facts, the selected one's predictions and
// compositions.

namespace {

bool previews(const Scene& scene, const State& page) {
  return page.head.previewed != Spot{scene.cursor.model.layer, scene.cursor.cell};
}

/// "LAYER 9 · HEAD 6", a shared kv head and the behaviour; below, the cell's tokens and weight.
void title(Rows& rows, const Scene& scene, const State& page) {
  const Theme& theme = rows.theme();
  const Index layer = page.head.previewed.layer;
  const Cell& cell = page.head.previewed.cell;
  const HeadSummary& head = *page.summary(layer, cell.head);
  const attention::ModelConfig& config = *page.model.config;
  std::vector<Span> parts{
      {fmt::format("LAYER {} · HEAD {}", layer, cell.head), 0, nullptr, false, Span::Kind::heading}};
  if (config.kvHeads < config.heads) {
    const Index kv = cell.head * config.kvHeads / config.heads;
    parts.push_back({kvName(kv), groupColor(theme, kv), nullptr, false, Span::Kind::badge});
  }
  if (previews(scene, page)) parts.push_back({"hover", theme.secondary, nullptr, false, Span::Kind::badge});
  const attention::HeadLabel label = head.label(scene.look.labelThreshold);
  // Next to a lesson's words, there is no room for the whole.
  const bool narrow = rows.width() < page.view.px(300);
  std::string does = narrow ? headWord(label) : attention::describe(label);
  if (label.detector && !narrow)
    does += fmt::format(" {}", fixedText(head.profile[label.detector->name].raw, 3));
  parts.push_back({does, theme.text, nullptr, true});
  rows.line(Type::small, parts, "model.head_title");
  if (ImGui::IsItemHovered()) tooltip(page.view, headHelp(label, head.profile, scene.look.labelThreshold));
  // On stage the caption says this.
  rows.inWindow([&] {
    rows.line(Type::hero, {{page.queryToken(cell.query), theme.query},
                           {"  →  ", theme.faint},
                           {page.keyToken(cell.key), theme.key},
                           {weightText(page.layer(layer)->weights.at(cell.head, cell.query, cell.key)), 0,
                            nullptr, true}});
  });
}

/// Draws the previewed head's weights with token labels. A click selects a cell. Returns the bottom y.
float heatmap(Scene& scene, State& page, ImVec2 at, float width, float height) {
  View& view = page.view;
  Canvas list = *ImGui::GetWindowDrawList();
  const auto& keys = page.study->keyTokens();
  const auto& queries = page.study->queryTokens();
  const auto [left, bottom] = nameRoom(view, queries, keys);
  const float top = view.px(18);
  const auto n = static_cast<float>(page.queries()), m = static_cast<float>(page.keys());
  const LayerSummary& layer = *page.layer(page.head.previewed.layer);
  const Index head = page.head.previewed.cell.head;
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
  const HeatTile tile{cells, 0, 0, n, m, head};
  const ValueRange range = shownRange(scene, page);
  render::HeatmapStyle style = styleFor(view, shownColours(scene, page));
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
      const float weight = layer.weights.at(head, row, col);
      return weight == 0 ? std::nullopt : std::optional(weight);
    });
  }
  paintCrosshair(view, list, tile, cell.query, cell.key, rows, cols);
  if (sinks) paintSinkBars(view, list, tile, rows, [&](Index row) { return layer.sinkShares(head, row); });
  track("model.large", cells.Min, cells.Max);
  trackCells("model.large", tile, &queries, &keys);
  ImGui::SetCursorScreenPos(cells.Min);
  const bool clicked = compat::invisibleButton("model.large", cells.GetSize());
  noteTabStopKind(TabStopKind::picture, {tile.cellWidth(), tile.cellHeight()});
  if (ImGui::IsItemHovered())
    if (const auto under = tile.cellAt(ImGui::GetIO().MousePos, rows, cols)) {
      view.nextHover = {-1, under->row, under->col};
      if (clicked) choose(scene.cursor, {cell.head, under->row, under->col});
      tooltip(view, fmt::format("{} → {}  {}", page.queryToken(under->row), page.keyToken(under->col),
                                weightText(layer.weights.at(head, under->row, under->col))));
    }
  return cells.Max.y + bottom;
}

/// While another cell is previewed, says what is selected. Otherwise the line is empty, so that nothing
/// moves.
void selectedLine(Rows& rows, const Scene& scene, const State& page) {
  const Cell& cell = scene.cursor.cell;
  const Index layer = scene.cursor.model.layer;
  const Theme& theme = rows.theme();
  if (!previews(scene, page) || !page.studied(layer)) return rows.line(Type::small, {});
  rows.line(Type::small,
            {{fmt::format("selected: layer {} · head {}, ", layer, cell.head), theme.secondary},
             {page.queryToken(cell.query), theme.query},
             {" → ", theme.faint},
             {page.keyToken(cell.key), theme.key},
             {" " + weightText(page.layer(layer)->weights.at(cell.head, cell.query, cell.key))}},
            "model.selected");
}

bool copies(const State& page) {
  const auto& opened = page.model.opened;
  return opened && opened->model && attention::checkCopying(*opened->model).ok();
}

/// How much a head copies is computed for the selected one alone.
void facts(Rows& rows, const Scene& scene, State& page) {
  const auto& [layer, cell] = page.head.previewed;
  const auto copying = page.head.copying.find({layer, cell.head});
  const std::uint32_t words = rows.theme().faint;
  ImFont* const figures = page.view.fonts->monoSmall;
  rows.line(Type::small,
            {{"entropy ", words},
             {fixedText(page.summary(layer, cell.head)->entropy, 2), 0, figures},
             {"    writes ", words},
             {fixedText(headShare(*page.study, layer, cell.head, cell.query), 2), 0, figures},
             {"× the stream's norm    copies ", words},
             {!copies(page)                        ? "–"
              : copying == page.head.copying.end() ? previews(scene, page) ? "–" : "…"
                                                   : fixedText(copying->second, 2),
              0, figures}},
            "model.facts_of_head");
  if (ImGui::IsItemHovered())
    hoverHelp(
        page.view, "model.facts_of_head",
        "entropy: 0 means one key gets all the weight, 1 uniform.\nwrites: ‖head · W_O‖ / ‖residual "
        "stream before the layer‖ at this query.\ncopies: Σ Re λ / Σ |λ| of the eigenvalues of "
        "W_E·W_V·W_O·W_U, independent of the text: 1 raises the tokens it reads, −1 suppresses them (Elhage "
        "et al. 2021).");
}

/// The previewed head, with `below` layout units left for what follows.
void largeHead(Rows& rows, Scene& scene, State& page, float bottom, float below) {
  const View& view = page.view;
  title(rows, scene, page);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = rows.width(), room = std::max(view.px(170), bottom - at.y - view.px(below));
  const float end = page.picture() ? largePicture(scene, page, at, width, std::min(room, width + view.px(74)))
                                   : heatmap(scene, page, at, width, std::min(room, width));
  ImGui::SetCursorScreenPos(ImVec2(at.x, end + view.px(2)));
  rows.inWindow([&] { selectedLine(rows, scene, page); });
}

/// What is known about the selected head.
void aboutHead(Rows& rows, Scene& scene, State& page) {
  if (page.model.opened->recorded) return recordedPanel(rows, scene, page);
  facts(rows, scene, page);
  const bool off = isOff(scene, scene.cursor.model.layer, scene.cursor.cell.head);
  rows.actions({{"model.switch", off ? "Switch on (X)" : "Switch off (X)", "model.switch"},
                {"model.open_heads", "Open in Heads", "model.heads"}});
  if (page.model.isSynthetic()) return;
  constexpr std::size_t kGuesses = 6;
  predictionSection(rows, scene, page, kGuesses);
  compositionSection(rows, scene, page);
}

}  // namespace

void headPanel(Scene& scene, State& page, const Layout& layout, bool about) {
  rightPanel(page.view, layout, "model.side", {"overview", "strip"}, [&](Rows& rows) {
    if (page.ready() && page.studied(page.head.previewed.layer)) {
      // The text below needs a fixed height, more of it if there are predictions.
      const bool guesses = page.model.predicts() || !page.picture() || page.model.opened->recorded;
      largeHead(rows, scene, page, layout.right.Max.y, !about ? 4 : guesses ? 450 : 290);
      if (about) aboutHead(rows, scene, page);
      return;
    }
    rows.section("HEAD");
    rows.hint(page.model.readsPictures() ? "Open a picture to see what each head attends to."
              : page.model.isSynthetic()
                  ? "Point at a head to enlarge it here."
                  : "Click a head to see its attention and its effect on the next token here.");
  });
}

// The heads of other layers that the selected head reads and that read it, computed from weights alone.

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
void partners(Rows& rows, Scene& scene, State& page, const char* name, const char* label,
              const std::vector<ComposedHead>& heads, const char* none) {
  const Theme& theme = rows.theme();
  rows.line(Type::text, {{label, theme.secondary, page.view.fonts->small}});
  rows.column(62);
  constexpr std::size_t kMax = 5;
  std::size_t shown = 0;
  for (; shown < std::min(kMax, heads.size()); ++shown) {
    const ComposedHead& with = heads[shown];
    const auto [kind, amount] = with.strongest();
    const bool other = with.group != page.model.config->group;
    const std::string words =
        fmt::format("{}{}.{} {} +{}", other ? std::string(groupName(with.group)) + " " : "", with.layer,
                    with.head, kind, fixedText(amount, 2));
    if (amount < 0.005 || (shown > 0 && !rows.goOn(words))) break;
    if (button(page.view, fmt::format("{}.{}", name, shown), words, "", true)) {
      scene.cursor.model.layer = with.layer;
      scene.cursor.cell.head = with.head;
      if (other) wantGroup(scene, page.opening, groupName(with.group));
    }
    if (ImGui::IsItemHovered())
      tooltip(page.view, amounts(with.with) + " above random heads\nClick to choose the head");
  }
  if (shown == 0)
    rows.line(Type::text,
              {{heads.empty() ? none : "none more than random heads", theme.faint, page.view.fonts->small}});
}

/// A note on compositions that are undefined between an encoder–decoder's streams; "" with one stream.
const char* undefinedNote(const attention::ModelConfig& config) {
  switch (config.group) {
    case attention::HeadGroup::cross:
      return "Queries read the decoder's heads; keys and values read the encoder's.";
    case attention::HeadGroup::decoder:
      return "Cross heads read these as queries only; nothing here reads the encoder's heads.";
    case attention::HeadGroup::encoder:
      return config.groups.size() > 1 ? "Which cross heads read these is shown under cross heads." : "";
    case attention::HeadGroup::only:
      break;
  }
  return "";
}

}  // namespace

void compositionSection(Rows& rows, Scene& scene, State& page) {
  rows.section("COMPOSITION", "from weights only");
  trackItem("model.composition");
  if (ImGui::IsItemHovered()) hoverHelp(page.view, "model.composition", kCompositionHelp);
  if (const attention::Status maps = page.model.config->checkHeadMaps(); !maps)
    return rows.hint(maps.error().message);
  const auto found = page.head.compositions.find({scene.cursor.model.layer, scene.cursor.cell.head});
  if (found == page.head.compositions.end()) return rows.hint("…");
  rows.hint(undefinedNote(*page.model.config));
  partners(rows, scene, page, "composes.earlier", "reads", found->second.earlier, "no earlier heads");
  partners(rows, scene, page, "composes.later", "is read by", found->second.later, "no later heads");
}

}  // namespace headscope::app::model_page
