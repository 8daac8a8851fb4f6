#include <fmt/format.h>

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
  const bool more = static_cast<Index>(shown.size()) < total;
  return fmt::format("{}{}", fmt::join(shown, ", "), more ? ", …" : "");
}

std::string tokenOrPosition(const std::vector<attention::Token>& tokens, Index position) {
  return position >= 0 && position < static_cast<Index>(tokens.size())
             ? "“" + tokens[static_cast<std::size_t>(position)].text + "”"
             : std::to_string(position);
}

}  // namespace

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
  const View& view = rows.view();
  const Theme& theme = *view.theme;
  const float width = rows.width(), side = std::min(width * 0.4f, view.px(128));
  const ImVec2 at = rows.area("", side / view.unit + 6).Min;
  Canvas list = *ImGui::GetWindowDrawList();
  const std::uint32_t colors[] = {theme.line, mixed(theme.background, theme.text, 0.42f),
                                  mixed(theme.background, theme.text, theme.light ? 0.7f : 0.85f)};
  const float longer = static_cast<float>(std::max<Index>(1, std::max(blocks.rows, blocks.cols)));
  const float each = side / longer, space = each > 5 ? 1.0f : 0.0f;
  const auto kindAt = [&](Index row, Index col) {
    return static_cast<std::size_t>(blocks.kinds[static_cast<std::size_t>(row * blocks.cols + col)]);
  };
  for (Index row = 0; row < blocks.rows; ++row)
    for (Index col = 0; col < blocks.cols;) {
      // Merge small adjacent blocks of one kind.
      Index end = col + 1;
      while (space == 0 && end < blocks.cols && kindAt(row, end) == kindAt(row, col)) ++end;
      const ImVec2 from(at.x + each * static_cast<float>(col), at.y + each * static_cast<float>(row));
      const ImVec2 to(at.x + each * static_cast<float>(end) - space, from.y + each - space);
      list.AddRectFilled(from, to, colors[kindAt(row, col)]);
      col = end;
    }
  track("block_map", at, ImVec2(at.x + side, at.y + side));
  const float x = at.x + side + view.px(18);
  float y = at.y + view.px(12);
  const std::pair<const char*, Index> kinds[] = {
      {"full", blocks.full}, {"partial", blocks.partial}, {"empty", blocks.empty}};
  for (int i = 0; i < 3; ++i, y += view.px(24)) {
    list.AddRectFilled(ImVec2(x, y - view.px(5)), ImVec2(x + view.px(10), y + view.px(5)), colors[2 - i]);
    paintText(list, view.fonts->text, ImVec2(x + view.px(18), y), theme.secondary, kinds[i].first);
    paintText(list, view.fonts->mono, ImVec2(at.x + width, y), theme.text,
              countText(static_cast<std::uint64_t>(kinds[i].second)), Align::right);
  }
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

/// Draws the tokens through which the query learns about the key: "it ← because ← The".
void paintWay(const ReachStudy& reach, const MaskStudy& study, Index query, Index key, const View& view,
              ImVec2 at, float width) {
  const ReachQuestion& question = reach.question;
  const Index tokens = std::min(reach.reach.tokens, question.mask->queries());
  if (query < 0 || key < 0 || query >= tokens || key >= tokens) return;
  // A search that finds nothing takes longest, so skip it if the map shows there is no path.
  std::vector<Index> way;
  if (!question.residual || reached(reach.reach, query, key))
    way = attention::shortestPath(*question.mask, variantsOf(question), query, key, question.layers);
  std::string text;
  for (const Index position : way)
    text += (text.empty() ? "" : " ← ") + tokenOrPosition(study.line()->queries, position);
  if (way.empty())
    text = "Nothing of " + tokenOrPosition(study.line()->queries, key) + " reaches " +
           tokenOrPosition(study.line()->queries, query);
  paintParagraph(*ImGui::GetWindowDrawList(), view.fonts->small, at, width, view.theme->secondary, text);
}

/// Draws a hoverable picture of which token has reached which. Returns its area.
ImRect reachPicture(const ReachStudy& reach, Scene& scene, State& page, Index query, Index key) {
  View& view = page.view;
  const float side = std::min(ImGui::GetContentRegionAvail().x * 0.56f, view.px(200));
  const ImVec2 at = ImGui::GetCursorScreenPos();
  hitArea("reach_map", ImVec2(side, side));
  const bool hovered = ImGui::IsItemHovered();
  const Index tokens = reach.reach.tokens;
  const auto count = static_cast<float>(tokens);
  const HeatTile tile{ImRect(at.x, at.y, at.x + side, at.y + side), 0, 0, count, count, 0};
  noteTabStopKind(TabStopKind::picture, {tile.cellWidth(), tile.cellHeight()});
  HeatmapTile picture = pictureOf(tile, reach.factor, {});
  Canvas list = *ImGui::GetWindowDrawList();
  picture.view.clip.y0 = std::max(picture.view.clip.y0, list.GetClipRectMin().y);
  picture.view.clip.y1 = std::min(picture.view.clip.y1, list.GetClipRectMax().y);
  render::HeatmapStyle style = styleFor(view, Look{});
  style.colormap = render::Colormap::cividis;
  style.gap = 0;
  if (picture.view.clip.y1 > picture.view.clip.y0)
    view.heatmaps->draw(list, page.surface(Surface::reach), style, {picture});
  paintCrosshair(view, list, tile, query, key, tokens, tokens);
  if (hovered)
    if (const auto under = tile.cellAt(ImGui::GetIO().MousePos, tokens, tokens))
      view.nextHover = {scene.cursor.cell.head, under->row, under->col};
  return tile.area;
}

/// Draws the picture's legend from `at` on. Returns the y of its bottom.
float reachLegend(const attention::ReachMap& reach, const View& view, ImVec2 at) {
  Canvas list = *ImGui::GetWindowDrawList();
  float y = at.y;
  for (const Index layer : {Index{1}, reach.layers}) {
    const float value = static_cast<float>(reach.layers + 1 - layer) / static_cast<float>(reach.layers);
    list.AddRectFilled(ImVec2(at.x, y - view.px(5)), ImVec2(at.x + view.px(10), y + view.px(5)),
                       packed(render::sample(render::Colormap::cividis, value)));
    paintText(list, view.fonts->small, ImVec2(at.x + view.px(16), y), view.theme->secondary,
              "after " + countedText(layer, "layer"));
    y += view.px(18);
    if (reach.layers == 1) break;
  }
  return y;
}

/// Says how many tokens have reached the query.
std::string knownText(const attention::ReachMap& reach, const MaskStudy& study, Index query) {
  Index known = 0;
  for (Index key = 0; key < reach.tokens; ++key) known += reached(reach, query, key);
  return fmt::format("{} is reached by {} of {}", tokenOrPosition(study.line()->queries, query), known,
                     tokenCountText(reach.tokens));
}

}  // namespace

void reachSection(Rows& rows, Scene& scene, State& page) {
  View& view = page.view;
  const MaskStudy& study = *page.study;
  if (!page.reach || study.geometry.cross || study.mask.error) return;
  const ReachStudy& reach = *page.reach;
  rows.section("REACH OVER LAYERS", scene.setup.mask.compare ? "mask A" : "");
  rows.slider(scene, "cursor.studio.layers");
  const Cell& cell = scene.cursor.cell;
  const Index query = view.hover.query >= 0 ? view.hover.query : cell.query;
  const Index key = view.hover.key >= 0 ? view.hover.key : cell.key;
  const float right = ImGui::GetCursorScreenPos().x + ImGui::GetContentRegionAvail().x;
  const ImRect area = reachPicture(reach, scene, page, query, key);
  // The legend and a sentence about the row, next to the picture.
  const float x = area.Max.x + view.px(14), width = right - x;
  const float y = reachLegend(reach.reach, view, ImVec2(x, area.Min.y + view.px(8))) + view.px(4);
  paintParagraph(*ImGui::GetWindowDrawList(), view.fonts->small, ImVec2(x, y), width, view.theme->text,
                 knownText(reach.reach, study, std::clamp<Index>(query, 0, reach.reach.tokens - 1)));
  paintWay(reach, study, query, key, view, ImVec2(x, y + view.px(34)), width);
  ImGui::SetCursorScreenPos(ImVec2(area.Min.x, area.Max.y + view.px(6)));
  ImGui::Dummy(ImVec2(1, 1));
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
