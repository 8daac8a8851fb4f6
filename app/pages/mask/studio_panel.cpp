#include "app/pages/mask/mask_page.h"
#include "app/platform/track.h"
#include "app/widgets/paint.h"
#include "app/widgets/text/text_box.h"
#include "attention/text/ascii.h"

namespace headscope::app::mask_page {

namespace {

/// Choices of what the compare tab shows, and how, which share a short line.
void compareBar(State& page, ControlLine& bar) {
  static const std::vector<Choice> kWhat{{"Weights", "", "weights"}, {"Masks", "", "masks"}};
  static const std::vector<Choice> kHow{{"Side by side", "", "side"}, {"Wipe", "", "wipe"}};
  const float share = std::min(1.0f, (bar.room() / page.view.unit - 12) / 420);
  const auto choose = [&](const char* name, const std::vector<Choice>& choices, float units, bool first) {
    int chosen = first ? 0 : 1;
    bar.part(name, units * share, [&] { segmented(page.view, name, choices, chosen); });
    return chosen == 0;
  };
  page.compareWeights = choose("compare_what", kWhat, 200, page.compareWeights);
  page.wipe = !choose("compare_how", kHow, 220, !page.wipe);
}

/// Offers to create a second mask to compare with.
void offerSecondMask(Scene& scene, ControlLine& bar) {
  if (bar.button("make_other", "Create mask B")) {
    scene.setup.mask.compare = true;
    scene.setup.mask.other = scene.setup.mask.layers;
    scene.cursor.studio.editsOther = true;
  }
  bar.words("It starts as a copy of mask A. Change either to compare them.");
}

/// The tools of the selected tab.
void tools(Scene& scene, State& page, ControlLine& line) {
  if (scene.cursor.studio.tab != StudioTab::compare) return brushBar(page, scene.cursor.studio.tab, line);
  if (scene.setup.mask.compare) return compareBar(page, line);
  offerSecondMask(scene, line);
}

void tabs(Scene& scene, const Snapshot* snapshot, State& page, const ImRect& area) {
  View& view = page.view;
  Board board(view, area);
  // The tools of the comparison need their labels' width.
  const bool below = scene.cursor.studio.tab == StudioTab::compare && board.width() < 536;
  board.controls(
      [&](ControlLine& line) {
        line.part("tabs", 220, [&] {
          if (fieldChoice(view, scene, "cursor.studio.view")) page.brush.painting = false;
        });
        if (!below) tools(scene, page, line);
        line.lastLegend(maskLegend(scene, page));
      },
      12);
  if (below) board.controls([&](ControlLine& line) { tools(scene, page, line); }, 12).apart(12);
  const bool marks = marksStrip(board, scene, page);
  board.picture("", {60, 240, 1}, [&](const ImRect& maps) { tabMaps(scene, snapshot, page, maps); })
      .apart(marks ? 6 : 16);
  headStrip(board, scene, page);
  board.show();
}

}  // namespace

void studioPanel(Scene& scene, const Snapshot* snapshot, State& page, const Layout& layout) {
  View& view = page.view;
  if (beginPanel(view, "studio", layout.center, 0, 0, ImGuiWindowFlags_NoScrollWithMouse)) {
    ImRect inner = layout.center;
    inner.Expand(ImVec2(-view.px(20), -view.px(6)));
    inner.Min.y += view.px(6);
    const MaskStudy* study = page.study.get();
    const auto message = [&](const char* title, const std::string& text) {
      paintMessage(view, inner, title, text, view.theme->text);
    };
    if (!study || (!study->line() && !snapshot))
      message("Computing…", "The first mask follows shortly.");
    else if (!study->line() && snapshot->error)
      message("Nothing to mask", snapshot->error->message);
    else if (!study->line())
      message("Nothing to mask yet", "Type a sentence on the left to mask its tokens.");
    else if (editedStudy(scene, page))
      tabs(scene, snapshot, page, inner);
  }
  endPanel();
}

using attention::PatternInfo;
using attention::PatternKind;

namespace {

constexpr Index kThumbnailTokens = 24;

/// The letter H, painted with the studio's tools.
attention::CellTable paintedExample() {
  attention::CellTable table;
  constexpr Index n = kThumbnailTokens;
  paint(table, {PaintTool::rectangle, 0, 0, n, n, 1, false}, n, n, false);
  paint(table, {PaintTool::line, 4, 6, 19, 6, 3, false}, n, n, true);
  paint(table, {PaintTool::line, 4, 17, 19, 17, 3, false}, n, n, true);
  paint(table, {PaintTool::line, 12, 6, 12, 17, 3, false}, n, n, true);
  return table;
}

attention::Matrix thumbnail(const PatternInfo& info) {
  attention::MaskGeometry geometry;
  geometry.queries = geometry.keys = geometry.keyLength = kThumbnailTokens;
  geometry.structure = attention::structureOf(kThumbnailTokens, kThumbnailTokens, {});
  attention::MaskSources sources;
  sources.paintings["painting"] = std::make_shared<const attention::CellTable>(paintedExample());
  const std::string example = info.example.empty() ? "painted(\"painting\")" : std::string(info.example);
  const auto mask = attention::compileMask(attention::parseMask(example).layers, geometry, sources);
  return mask ? drawMask(**mask, 0, 1) : attention::Matrix::Zero(kThumbnailTokens, kThumbnailTokens);
}

void fillThumbnails(State& page) {
  if (!page.surface(Surface::gallery).empty()) return;
  const auto table = attention::patternTable();
  attention::Stack pictures(std::ssize(table), kThumbnailTokens, kThumbnailTokens);
  for (std::size_t i = 0; i < table.size(); ++i) pictures[static_cast<Index>(i)] = thumbnail(table[i]);
  page.surface(Surface::gallery).set(pictures, page.view.time, false);
}

bool matches(const PatternInfo& info, const std::string& wanted) {
  const auto contains = [&](std::string_view text) {
    return attention::lowerCase(text).find(attention::lowerCase(wanted)) != std::string::npos;
  };
  return contains(info.title) || contains(info.name) || contains(info.users) || contains(info.formula);
}

/// Adds the pattern as chosen at the bottom of the gallery: joined by AND or OR, or replacing everything.
void add(const PatternInfo& info, Scene& scene, State& page) {
  attention::MaskLayers& layers = editedLayers(scene);
  if (info.kind == PatternKind::file) return page.view.request("mask.open");
  if (page.addAs == 2) layers.clear();
  if (info.kind == PatternKind::painted) {
    scene.cursor.studio.selected = -1;
    paintingFor(scene.setup.mask, layers, scene.cursor.studio.selected);
    page.brush.tool = PaintTool::brush;
    return;
  }
  attention::Layer layer = layerOf(info.kind);
  layer.combine = page.addAs == 1 ? attention::Combine::any : attention::Combine::all;
  layers.push_back(std::move(layer));
  scene.cursor.studio.selected = std::ssize(layers) - 1;
}

/// Draws a card: the picture on the left, text on the right. Returns whether it was chosen.
bool card(const PatternInfo& info, const View& view, const ImRect& area, bool marked,
          std::vector<HeatmapTile>& tiles) {
  const Theme& theme = *view.theme;
  const bool clicked = hitArea("gallery." + std::string(info.name), area);
  Canvas list = *ImGui::GetWindowDrawList();
  if (ImGui::IsItemHovered() || marked) list.AddRectFilled(area.Min, area.Max, theme.raised, view.px(8));
  const ImVec2 at(area.Min.x + view.px(10), area.Min.y + view.px(10));
  const float side = area.GetHeight() - view.px(20);
  HeatmapTile tile = pictureOf(
      {ImRect(at, ImVec2(at.x + side, at.y + side)), 0, 0, kThumbnailTokens, kThumbnailTokens}, 1, {});
  tile.view.layer = static_cast<int>(info.kind);
  tile.view.clip.y0 = std::max(tile.view.clip.y0, list.GetClipRectMin().y);
  tile.view.clip.y1 = std::min(tile.view.clip.y1, list.GetClipRectMax().y);
  if (tile.view.clip.y1 > tile.view.clip.y0) tiles.push_back(tile);
  const float x = at.x + side + view.px(12), width = area.Max.x - x - view.px(8);
  paintFitted(view, list, view.fonts->bold, ImVec2(x, at.y + view.px(9)), width, theme.text, info.title);
  paintFitted(view, list, view.fonts->monoSmall, ImVec2(x, at.y + view.px(30)), width, theme.secondary,
              info.formula);
  paintParagraph(list, view.fonts->small, ImVec2(x, at.y + view.px(42)), width, theme.faint, info.users);
  return clicked;
}

}  // namespace

void Gallery::draw(Scene& scene, View& view, bool opening) {
  fillThumbnails(page_);
  if (beginDialog(view, "gallery", "Mask patterns", 1180, 760)) {
    const bool entered = lineBox(view, "gallery.search", search_, ImGui::GetContentRegionAvail().x, opening,
                                 "Search by name, formula, model or paper");
    gap(view, 6);
    const PatternInfo* chosen = cards(view, entered);
    gap(view, 4);
    static const std::vector<Choice> kAdds{
        {"Add with AND", "", "and"}, {"Add with OR", "", "or"}, {"Replace all", "", "alone"}};
    const ImVec2 at = ImGui::GetCursorScreenPos();
    controlsIn("foot", ImRect(at, at + ImVec2(view.px(420), view.px(32))),
               [&] { segmented(view, "add_as", kAdds, page_.addAs); });
    if (chosen) {
      view.dialog.reset();
      add(*chosen, scene, page_);
    }
  }
  endDialog();
}

/// Draws the patterns that match the search. Returns the chosen one, or null.
const PatternInfo* Gallery::cards(View& view, bool takesFirst) {
  std::vector<const PatternInfo*> found;
  for (const PatternInfo& info : attention::patternTable())
    if (matches(info, search_)) found.push_back(&info);
  const PatternInfo* chosen = takesFirst && !found.empty() ? found.front() : nullptr;
  ImGui::BeginChild("cards", ImVec2(0, ImGui::GetContentRegionAvail().y - view.px(44)), false,
                    ImGuiWindowFlags_NoBackground);
  const float width = ImGui::GetContentRegionAvail().x;
  const auto columns = std::max<std::size_t>(1, static_cast<std::size_t>(width / view.px(350)));
  const ImVec2 start = ImGui::GetCursorScreenPos(),
               size(width / static_cast<float>(columns) - view.px(8), view.px(100));
  std::vector<HeatmapTile> tiles;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const ImVec2 at = start + ImVec2(static_cast<float>(i % columns) * (size.x + view.px(8)),
                                     static_cast<float>(i / columns) * (size.y + view.px(4)));
    if (card(*found[i], view, ImRect(at, at + size), i == 0 && !search_.empty(), tiles)) chosen = found[i];
  }
  if (found.empty()) hint(view, "No pattern has “" + search_ + "” in its name, formula or users.");
  render::HeatmapStyle style = maskStyle(view);
  style.gap = 0;
  view.heatmaps->draw(*ImGui::GetWindowDrawList(), page_.surface(Surface::gallery), style, std::move(tiles));
  compat::endChild();
  return chosen;
}

void ConventionDialog::draw(Scene&, View& view, bool) {
  struct Meaning {
    attention::MaskConvention convention;
    const char *label, *explained;
  };
  static constexpr Meaning kMeanings[] = {
      {attention::MaskConvention::visible, "True or 1 = visible",
       "FlexAttention's mask_mod, scaled_dot_product_attention, attention_mask of ones and zeros"},
      {attention::MaskConvention::masked, "True or 1 = masked",
       "MultiheadAttention's attn_mask and key_padding_mask"},
      {attention::MaskConvention::additive, "Added to the scores",
       "−inf masks; finite numbers become a score bias"}};
  if (beginDialog(view, "convention", "What do the numbers in " + file_.filename().string() + " mean?", 620,
                  210)) {
    Rows rows(view);
    rows.hint("Programs use either convention, and the file doesn't say which.");
    rows.space(6);
    for (const auto& [convention, label, explained] : kMeanings) {
      const bool possible = std::ranges::find(possible_, convention) != possible_.end();
      if (button(view, "convention." + attention::conventionName(convention), label,
                 possible ? "" : "The file's numbers don't fit this convention")) {
        view.dialog.reset();
        chosen_(convention);
      }
      ImGui::SameLine(0, view.px(12));
      rows.line(Type::small, {{explained, view.theme->secondary}});
    }
  }
  endDialog();
}

}  // namespace headscope::app::mask_page
