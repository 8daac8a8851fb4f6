#include <fmt/format.h>

#include <set>

#include "app/pages/mask/mask_page.h"
#include "app/platform/keyboard_focus.h"
#include "app/platform/track.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/paint.h"

namespace headscope::app::mask_page {

namespace {

/// "0, 3, 4, …": the first six of a list of `total` values.
std::string listText(const std::vector<Index>& values, Index total) {
  const auto shown = std::span(values).first(std::min<std::size_t>(values.size(), 6));
  const bool more = std::ssize(shown) < total;
  return fmt::format("{}{}", fmt::join(shown, ", "), more ? ", …" : "");
}

}  // namespace

std::string receiptNote(const std::string& note, bool previews) {
  return !previews ? note : note.empty() ? "hover" : note + " · hover";
}

void statisticsSection(Rows& rows, const Scene& scene, const State& page) {
  const StudiedMask& mask = *editedStudy(scene, page);
  const Theme& theme = rows.theme();
  rows.section("MASK SUMMARY", fmt::format("head {}", page.study->question.head));
  trackItem("says.head." + std::to_string(page.study->question.head));
  if (mask.error) return rows.problem(*mask.error);
  for (const std::string& note : mask.notes) rows.hint(note, "says.note");
  rows.paragraph(rows.view().fonts->mono, mask.formulaText.empty() ? "true" : mask.formulaText);
  rows.hint(mask.formulaLegend, "says.legend");
  rows.space(6);
  const attention::MaskStatistics& statistics = mask.statistics;
  const std::string about = statistics.sampled ? "≈ " : "";
  const auto warned = [&](const char* label, bool warns, const std::string& value) {
    rows.pair(label, value, {.color = warns ? theme.warning : theme.text});
  };
  rows.pair("Visible cells",
            about + percentText(statistics.density()) + " of " + countText(statistics.cells));
  warned("Rows that see nothing", statistics.emptyRows > 0,
         statistics.emptyRows == 0 ? "none" : about + std::to_string(statistics.emptyRows));
  if (statistics.emptyRows > 0)
    rows.hint("Queries " + listText(statistics.firstEmptyRows, statistics.emptyRows) +
              " see no key: their weights are 0 and their output is the bias alone.");
  if (statistics.unseenKeys >= 0)
    warned("Keys no query sees", statistics.unseenKeys > 0,
           statistics.unseenKeys == 0 ? "none" : std::to_string(statistics.unseenKeys));
  if (statistics.unseenKeys > 0)
    rows.hint("Keys " + listText(statistics.firstUnseenKeys, statistics.unseenKeys) +
              " are computed but never read.");
  if (statistics.sampled) rows.hint("From a sample of " + countedText(statistics.rowsCounted, "row") + ".");
  if (page.study->geometry.cross) return;
  warned("Sees the future", mask.seesFuture, mask.seesFuture ? "yes" : "no");
  const bool first = &mask == &page.study->mask;  // whose paths were computed
  if (!mask.seesFuture || !first || !page.reach || page.reach->leak.size() < 2) return;
  const std::vector<Index>& leak = page.reach->leak;
  std::string way = tokenOrPosition(page.study->line()->queries, leak.front());
  for (std::size_t i = 1; i < leak.size(); ++i)
    way += " ← " + tokenOrPosition(page.study->line()->keys, leak[i]);
  rows.hint(fmt::format("Shortest path: {} (query {} reads position {})", way, leak.front(), leak.back()));
}

namespace {

/// Draws the blocks as a small map, with the number of each kind next to it.
void blockPicture(Rows& rows, const attention::BlockMap& blocks) {
  const Theme& theme = rows.theme();
  const std::uint32_t colors[] = {theme.line, mixed(theme.background, theme.text, 0.42f),
                                  mixed(theme.background, theme.text, theme.light ? 0.7f : 0.85f)};
  const auto kindAt = [&](Index row, Index col) {
    return static_cast<std::size_t>(blocks.kinds[static_cast<std::size_t>(row * blocks.cols + col)]);
  };
  const auto picture = [&](const ImRect& area) {
    Canvas list = *ImGui::GetWindowDrawList();
    const float longer = static_cast<float>(std::max<Index>(1, std::max(blocks.rows, blocks.cols)));
    const float each = area.GetWidth() / longer, space = each > 5 ? 1.0f : 0.0f;
    for (Index row = 0; row < blocks.rows; ++row)
      for (Index col = 0; col < blocks.cols;) {
        // Merge small adjacent blocks of one kind.
        Index end = col + 1;
        while (space == 0 && end < blocks.cols && kindAt(row, end) == kindAt(row, col)) ++end;
        const ImVec2 from(area.Min.x + each * static_cast<float>(col),
                          area.Min.y + each * static_cast<float>(row));
        const ImVec2 to(area.Min.x + each * static_cast<float>(end) - space, from.y + each - space);
        list.AddRectFilled(from, to, colors[kindAt(row, col)]);
        col = end;
      }
    track("block_map", area.Min, area.Max);
  };
  rows.beside(0.4f, picture, [&] {
    const std::pair<const char*, Index> kinds[] = {
        {"full", blocks.full}, {"partial", blocks.partial}, {"empty", blocks.empty}};
    for (std::size_t i = 0; i < 3; ++i)
      rows.swatch(colors[2 - i], kinds[i].first, countText(attention::asSize(kinds[i].second)));
  });
}

}  // namespace

void blockSection(Rows& rows, Scene& scene, const State& page) {
  const StudiedMask* mask = editedStudy(scene, page);
  if (mask->error) return;
  const attention::BlockMap& blocks = mask->blocks;
  rows.section("BLOCKS", fmt::format("{} × {}", blocks.rows, blocks.cols));
  static const std::vector<Index> kSizes{16, 32, 64, 128};
  rows.slider(scene, "cursor.studio.block_size", {"", kSizes});
  blockPicture(rows, blocks);
  const attention::MaskGeometry& geometry = page.study->geometry;
  const double dense =
      attention::denseAttentionFlops(geometry.queries, geometry.keys, scene.setup.model.headDim, 1);
  rows.pair("FLOPs saved", percentText(1 - blocks.computedShare()));
  rows.hint("Q·Kᵀ and weights·V of this head: " + flopsText(dense * blocks.computedShare()) + " instead of " +
            flopsText(dense) + " dense; empty blocks are skipped.");
}

namespace {

/// Whether information from the key has reached the query within the layers.
bool reached(const attention::ReachMap& reach, Index query, Index key) {
  return reach.layer[static_cast<std::size_t>(query * reach.tokens + key)] > 0;
}

/// The tokens through which the query learns about the key: "it ← because ← The".
std::string wayText(const ReachStudy& reach, const std::vector<attention::Token>& tokens, const Cell& cell) {
  const ReachQuestion& question = reach.question;
  const Index known = std::min(reach.reach.tokens, question.mask->queries());
  if (cell.query < 0 || cell.key < 0 || cell.query >= known || cell.key >= known) return "";
  // A search that finds nothing takes longest, so skip it if the map shows there is no path.
  std::vector<Index> way;
  if (!question.residual || reached(reach.reach, cell.query, cell.key))
    way =
        attention::shortestPath(*question.mask, variantsOf(question), cell.query, cell.key, question.layers);
  if (way.empty())
    return "Nothing of " + tokenOrPosition(tokens, cell.key) + " reaches " +
           tokenOrPosition(tokens, cell.query);
  std::string text;
  for (const Index position : way) text += (text.empty() ? "" : " ← ") + tokenOrPosition(tokens, position);
  return text;
}

/// Draws a picture of which token has reached which; a click selects a cell.
void reachPicture(const ReachStudy& reach, Scene& scene, State& page, const ImRect& area) {
  View& view = page.view;
  const bool clicked = hitArea("reach_map", area), hovered = ImGui::IsItemHovered();
  const Index tokens = reach.reach.tokens;
  const auto count = static_cast<float>(tokens);
  const HeatTile tile{area, 0, 0, count, count, 0};
  noteTabStopKind(TabStopKind::picture, {tile.cellWidth(), tile.cellHeight()});
  HeatmapTile picture = pictureOf(tile, reach.factor, {});
  Canvas list = *ImGui::GetWindowDrawList();
  picture.view.clip.y0 = std::max(picture.view.clip.y0, list.GetClipRectMin().y);
  picture.view.clip.y1 = std::min(picture.view.clip.y1, list.GetClipRectMax().y);
  render::HeatmapStyle style = styleFor(view, render::Colormap::cividis);
  style.gap = 0;
  if (picture.view.clip.y1 > picture.view.clip.y0)
    view.heatmaps->draw(list, page.surface(Surface::reach), style, {picture});
  const Cell& selected = scene.cursor.cell;
  paintCrosshair(view, list, tile, selected.query, selected.key, tokens, tokens);
  const auto under = tile.cellAt(ImGui::GetIO().MousePos, tokens, tokens);
  if (!hovered || !under) return;
  view.nextHover = {selected.head, under->row, under->col};
  if (clicked) choose(scene.cursor, {selected.head, under->row, under->col});
}

/// Says how many tokens have reached the query.
std::string knownText(const attention::ReachMap& reach, const std::vector<attention::Token>& tokens,
                      Index query) {
  Index known = 0;
  for (Index key = 0; key < reach.tokens; ++key) known += reached(reach, query, key);
  return fmt::format("{} is reached by {} of {}", tokenOrPosition(tokens, query), known,
                     tokenCountText(reach.tokens));
}

}  // namespace

void reachSection(Rows& rows, Scene& scene, State& page) {
  if (!page.reach || page.study->geometry.cross || page.study->mask.error) return;
  const ReachStudy& study = *page.reach;
  const attention::ReachMap& reach = study.reach;
  const std::vector<attention::Token>& tokens = page.study->line()->queries;
  const Cell selected = scene.cursor.cell, cell = rows.view().previewed(selected);
  const bool previews = cell != selected;
  rows.section("REACH OVER LAYERS", receiptNote(scene.setup.mask.compare ? "mask A" : "", previews));
  rows.slider(scene, "cursor.studio.layers");
  rows.beside(
      0.56f, [&](const ImRect& area) { reachPicture(study, scene, page, area); },
      [&] {
        for (const Index layer : std::set<Index>{1, reach.layers})
          rows.swatch(
              packed(render::sample(render::Colormap::cividis, static_cast<float>(reach.layers + 1 - layer) /
                                                                   static_cast<float>(reach.layers))),
              "after " + countedText(layer, "layer"));
        rows.paragraph(rows.view().fonts->small,
                       knownText(reach, tokens, std::clamp<Index>(cell.query, 0, reach.tokens - 1)));
        rows.hint(wayText(study, tokens, cell));
        if (previews)
          rows.hint("Selected: " + tokenOrPosition(tokens, selected.query) + " ← " +
                        tokenOrPosition(tokens, selected.key),
                    "receipt.selected");
      });
  rows.toggle(scene, "cursor.studio.residual");
  rows.toggle(scene, "cursor.studio.all_heads");
}

void exportSection(Rows& rows, const Scene& scene, State& page) {
  rows.section("EXPORT");
  const std::string reason = editedStudy(scene, page)->error ? "The mask has an error" : "";
  rows.hint("Copy as");
  rows.actions({{"copy.flex", "FlexAttention", "mask.copy.flex"},
                {"copy.torch", "PyTorch", "mask.copy.torch"},
                {"copy.numpy", "NumPy", "mask.copy.numpy"}},
               reason);
  rows.actions({{"copy.formula", "Formula", "mask.copy.formula"},
                {"copy.text", "Expression", "mask.copy.text"},
                {"save_mask", "Save file…", "mask.save"}},
               reason);
  static const std::vector<Choice> kConventions{{"Files: true = visible", "", "visible"},
                                                {"Files: true = masked", "", "masked"},
                                                {"Files: additive, 0 and −inf", "", "additive"}};
  rows.list("save_convention", kConventions, page.saveConvention);
}

void insightPanel(Scene& scene, const Snapshot* snapshot, State& page, const Layout& layout) {
  rightPanel(page.view, layout, "insight", {"studio"}, [&](Rows& rows) {
    if (!editedStudy(scene, page)) {
      rows.section("MASK SUMMARY");
      rows.hint("Type a text to see its mask summarised here.");
    } else if (scene.cursor.studio.tab == StudioTab::biases) {
      biasSections(rows, scene, snapshot);
    } else if (scene.cursor.studio.tab == StudioTab::compare) {
      compareSections(rows, scene, snapshot, page);
    } else {
      statisticsSection(rows, scene, page);
      blockSection(rows, scene, page);
      reachSection(rows, scene, page);
      exportSection(rows, scene, page);
    }
  });
}

}  // namespace headscope::app::mask_page
