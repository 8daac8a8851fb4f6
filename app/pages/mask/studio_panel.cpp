#include "app/pages/mask/mask_page.h"
#include "app/platform/track.h"
#include "app/widgets/paint.h"
#include "app/widgets/text/text_box.h"
#include "attention/text/ascii.h"

namespace headscope::app::mask_page {

namespace {

void tabChoice(Scene& scene, State& page, ImVec2 at) {
  View& view = page.view;
  ImGui::SetCursorScreenPos(at);
  ImGui::BeginChild(
      "tabs", ImVec2(view.px(220), view.px(34)), false,
      ImGuiWindowFlags_NoBackground | ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse);
  if (fieldChoice(view, scene, "cursor.studio.view")) page.brush.painting = false;
  compat::endChild();
}

/// Choices of what the compare tab shows, and how.
void compareBar(Scene& scene, State& page, const ImRect& area) {
  View& view = page.view;
  if (!scene.setup.mask.compare) return;
  static const std::vector<Choice> kWhat{{"Weights", "", "weights"}, {"Masks", "", "masks"}};
  static const std::vector<Choice> kHow{{"Side by side", "", "side"}, {"Wipe", "", "wipe"}};
  // If there is too little space for both, they share it.
  const float wanted = 432, room = area.GetWidth() / view.unit, share = std::min(1.0f, room / wanted);
  float x = area.Min.x;
  const auto choose = [&](const char* name, const std::vector<Choice>& choices, float units, bool& value) {
    ImGui::SetCursorScreenPos(ImVec2(x, area.Min.y));
    ImGui::BeginChild(
        name, ImVec2(view.px(units * share), view.px(34)), false,
        ImGuiWindowFlags_NoBackground | ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse);
    int chosen = value ? 1 : 0;
    if (segmented(view, name, choices, chosen)) value = chosen == 1;
    compat::endChild();
    x += view.px((units + 12) * share);
  };
  bool masks = !page.compareWeights;
  choose("compare_what", kWhat, 200, masks);
  page.compareWeights = !masks;
  choose("compare_how", kHow, 220, page.wipe);
}

void message(const View& view, const ImRect& area, const std::string& title, const std::string& text) {
  Canvas list = *ImGui::GetWindowDrawList();
  const ImVec2 at(area.GetCenter().x, area.Min.y + area.GetHeight() * 0.38f);
  paintText(list, view.fonts->title, at, view.theme->text, title, Align::center);
  paintText(list, view.fonts->text, ImVec2(at.x, at.y + view.px(28)), view.theme->secondary, text,
            Align::center);
}

/// Draws the tabs and the tools of the selected tab. Returns their height.
float toolBars(Scene& scene, State& page, const ImRect& area) {
  View& view = page.view;
  const float bar = view.px(46), top = area.Min.y + view.px(12);
  tabChoice(scene, page, ImVec2(area.Min.x, top));
  const ImRect tools(area.Min.x + view.px(236), top, area.Max.x, top + view.px(34));
  if (scene.cursor.studio.tab == StudioTab::compare && scene.setup.mask.compare &&
      tools.GetWidth() < view.px(300)) {
    const float below = top + view.px(40);
    compareBar(scene, page, ImRect(area.Min.x, below, area.Max.x, below + view.px(34)));
    return bar + view.px(44);
  }
  if (scene.cursor.studio.tab == StudioTab::compare)
    compareBar(scene, page, tools);
  else
    brushBar(scene, page, tools);
  return bar + view.px(4);
}

void tabs(Scene& scene, const Snapshot* snapshot, State& page, ImRect area) {
  View& view = page.view;
  if (view.present)  // no painting while presenting
    page.brush.tool = PaintTool::look;
  else
    area.Min.y += toolBars(scene, page, area);
  if (const float height = marksStripHeight(scene, page); height > 0) {
    marksStrip(scene, page, ImRect(area.Min.x, area.Min.y, area.Max.x, area.Min.y + height));
    area.Min.y += height;
  }
  const float strip = view.present ? 0 : headStripHeight(scene, view, area.GetWidth());
  const ImRect maps(area.Min.x, area.Min.y + view.px(6), area.Max.x, area.Max.y - strip);
  switch (scene.cursor.studio.tab) {
    case StudioTab::mask:
      maskTab(scene, snapshot, page, maps);
      break;
    case StudioTab::biases:
      biasTab(scene, snapshot, page, maps);
      break;
    case StudioTab::compare:
      // While presenting without a second mask, show the only mask instead of an empty page.
      (view.present && !scene.setup.mask.compare ? maskTab : compareTab)(scene, snapshot, page, maps);
      break;
  }
  if (strip > 0)
    headStrip(scene, snapshot, page, ImRect(area.Min.x, area.Max.y - strip, area.Max.x, area.Max.y));
}

}  // namespace

void studioPanel(Scene& scene, const Snapshot* snapshot, State& page, const Layout& layout) {
  View& view = page.view;
  if (beginPanel(view, "studio", layout.center, 0, 0, ImGuiWindowFlags_NoScrollWithMouse)) {
    const float pad = view.px(20);
    const ImRect inner(layout.center.Min.x + pad, layout.center.Min.y, layout.center.Max.x - pad,
                       layout.center.Max.y - view.px(6));
    const MaskStudy* study = page.study;
    if (!study || (!study->line() && !snapshot))
      message(view, inner, "Computing…", "The first mask follows shortly.");
    else if (!study->line() && snapshot->error)
      message(view, inner, "Nothing to mask", snapshot->error->message);
    else if (!study->line())
      message(view, inner, "Nothing to mask yet", "Type a sentence on the left to mask its tokens.");
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
  attention::Stack pictures(static_cast<Index>(table.size()), kThumbnailTokens, kThumbnailTokens);
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
  View& view = page.view;
  attention::MaskLayers& layers = editedLayers(scene);
  if (info.kind == PatternKind::file) return view.request("mask.open");
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
  scene.cursor.studio.selected = static_cast<Index>(layers.size()) - 1;
}

/// Draws a card: the picture on the left, text on the right. Returns whether it was chosen.
bool card(const PatternInfo& info, View& view, ImVec2 at, ImVec2 size, bool marked,
          std::vector<HeatmapTile>& tiles) {
  const Theme& theme = *view.theme;
  const std::string name = "gallery." + std::string(info.name);
  const bool clicked = hitArea(name, at, size);
  const bool hovered = ImGui::IsItemHovered();
  const ImVec2 to(at.x + size.x, at.y + size.y);
  Canvas list = *ImGui::GetWindowDrawList();
  if (hovered || marked) list.AddRectFilled(at, to, theme.raised, view.px(8));
  const float pad = view.px(10), side = size.y - 2 * pad;
  HeatmapTile tile;
  tile.view.target = {at.x + pad, at.y + pad, at.x + pad + side, at.y + pad + side};
  tile.view.layer = static_cast<int>(info.kind);
  tile.view.rows = tile.view.cols = kThumbnailTokens;
  const ImVec2 clipFrom = list.GetClipRectMin(), clipTo = list.GetClipRectMax();
  tile.view.clip = {std::max(clipFrom.x, tile.view.target.x0), std::max(clipFrom.y, tile.view.target.y0),
                    std::min(clipTo.x, tile.view.target.x1), std::min(clipTo.y, tile.view.target.y1)};
  if (tile.view.clip.y1 > tile.view.clip.y0) tiles.push_back(tile);
  const float x = at.x + pad + side + view.px(12), width = to.x - x - view.px(8);
  paintFitted(view, list, view.fonts->bold, ImVec2(x, at.y + pad + view.px(9)), width, theme.text,
              info.title);
  paintFitted(view, list, view.fonts->monoSmall, ImVec2(x, at.y + pad + view.px(30)), width, theme.secondary,
              info.formula);
  paintParagraph(list, view.fonts->small, ImVec2(x, at.y + pad + view.px(42)), width, theme.faint,
                 info.users);
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
    ImGui::BeginChild("foot", ImVec2(view.px(420), view.px(32)), false, ImGuiWindowFlags_NoBackground);
    static const std::vector<Choice> kAdds{
        {"Add with AND", "", "and"}, {"Add with OR", "", "or"}, {"Replace all", "", "alone"}};
    segmented(view, "add_as", kAdds, page_.addAs);
    compat::endChild();
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
  const float foot = view.px(44);
  ImGui::BeginChild("cards", ImVec2(0, ImGui::GetContentRegionAvail().y - foot), false,
                    ImGuiWindowFlags_NoBackground);
  const ImVec2 start = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  const int columns = std::max(1, static_cast<int>(width / view.px(350)));
  const ImVec2 size(width / static_cast<float>(columns) - view.px(8), view.px(100));
  std::vector<HeatmapTile> tiles;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto column = static_cast<float>(i % static_cast<std::size_t>(columns));
    const auto row = static_cast<float>(i / static_cast<std::size_t>(columns));
    const ImVec2 at(start.x + column * (size.x + view.px(8)), start.y + row * (size.y + view.px(4)));
    const bool marked = i == 0 && !search_.empty();
    if (card(*found[i], view, at, size, marked, tiles)) chosen = found[i];
  }
  if (found.empty()) hint(view, "No pattern has “" + search_ + "” in its name, formula or users.");
  render::HeatmapStyle style = maskStyle(view);
  style.gap = 0;
  view.heatmaps->draw(*ImGui::GetWindowDrawList(), page_.surface(Surface::gallery), style, std::move(tiles));
  compat::endChild();
  return chosen;
}

void ConventionDialog::draw(Scene&, View& view, bool) {
  if (beginDialog(view, "convention", "What do the numbers in " + file_.filename().string() + " mean?", 620,
                  210)) {
    hint(view, "Programs use either convention, and the file doesn't say which.");
    gap(view, 6);
    static constexpr const char* kLabels[] = {"True or 1 = visible", "True or 1 = masked",
                                              "Added to the scores"};
    static constexpr const char* kExplained[] = {
        "FlexAttention's mask_mod, scaled_dot_product_attention, attention_mask of ones and zeros",
        "MultiheadAttention's attn_mask and key_padding_mask",
        "−inf masks; finite numbers become a score bias"};
    for (const attention::MaskConvention convention :
         {attention::MaskConvention::visible, attention::MaskConvention::masked,
          attention::MaskConvention::additive}) {
      const auto at = static_cast<std::size_t>(convention);
      const bool possible = std::find(possible_.begin(), possible_.end(), convention) != possible_.end();
      if (button(view, "convention." + attention::conventionName(convention), kLabels[at],
                 possible ? "" : "The file's numbers don't fit this convention")) {
        view.dialog.reset();
        chosen_(convention);
      }
      ImGui::SameLine(0, view.px(12));
      const ImVec2 text = ImGui::GetCursorScreenPos();
      paintFitted(view, *ImGui::GetWindowDrawList(), view.fonts->small, ImVec2(text.x, text.y + view.px(14)),
                  ImGui::GetContentRegionAvail().x, view.theme->secondary, kExplained[at]);
      ImGui::NewLine();
    }
  }
  endDialog();
}

}  // namespace headscope::app::mask_page
