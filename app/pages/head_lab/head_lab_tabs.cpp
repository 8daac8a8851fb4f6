#include <fmt/core.h>

#include "app/pages/head_lab/head_lab_page.h"
#include "app/platform/track.h"
#include "app/scene/fields.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/controls.h"
#include "app/widgets/paint.h"

namespace headscope::app::head_lab_page {

namespace {

constexpr std::array kTable{
    TabRow{"weights", "Weights", "Lab: Weights, a head's rank, singular values and eigenvalues", true,
           makeWeightsTab, "What the head looks for and what it writes, read off its weights alone.",
           "svd eigenvalues ov qk circuit"},
    TabRow{"embeddings", "Embeddings", "Lab: Embeddings, edit vectors and see every head change", true,
           makeEmbeddingsTab, "Drag or type the words' vectors, and watch every head answer."},
    TabRow{"ablation", "Ablation", "Lab: Ablation, switched-off heads, convex hull, patching", true,
           makeAblationTab, "Switch heads off to find out which of them the output depends on.",
           "ablate ablation prune pruning knock out activation patch"},
    TabRow{"detectors", "Detectors", "Lab: Detectors, all scores of every head", true, makeDetectorsTab,
           "How much each head does of what heads are known to do."},
    TabRow{"views", "Views", "Lab: Views, value-weighted, mean, max, difference, rollout", true, makeViewsTab,
           "The same weights in other lights: scaled by the values, averaged, compared, followed through all "
           "layers."},
    TabRow{"head_count", "Head count", "Lab: Head count, one wide head against several small ones", true,
           makeHeadCountTab, "What more heads add: the same number of parameters, split in other ways."},
    TabRow{"mistakes", "Mistakes", "Lab: Mistakes, classic bugs in attention code", false, makeMistakesTab,
           "Bugs that people keep writing, each computed next to the right result."},
};

/// Draws the head's behaviour, the head, its kv head, the query and the key, as far as they fit.
void headChips(Scene& scene, State& page, const ImRect& line, float left) {
  View& view = page.view;
  const Theme& theme = *view.theme;
  Canvas list = *ImGui::GetWindowDrawList();
  const float y = line.GetCenter().y;
  float x = line.Max.x;
  const SequenceSnapshot& sequence = page.layer->sequence();
  const Cell cell = selectedCell(scene, page);
  const attention::AttentionConfig& config = page.layer->config();
  std::vector<Choice> heads;
  for (Index h = 0; h < config.heads; ++h)
    heads.push_back({fmt::format("Head {} of {}", h, config.heads), "", std::to_string(h)});
  int chosen = static_cast<int>(cell.head);
  const std::string kv = kvName(config.kvHeadOf(cell.head));
  const float head = textWidth(view.fonts->text, heads[static_cast<std::size_t>(chosen)].label) + view.px(24);
  const Index layers = layerCount(scene.setup);
  const float layerWide = layers > 1 ? textWidth(view.fonts->text, "Layer 00") + view.px(30) : 0;
  const float badge = textWidth(view.fonts->small, kv) + view.px(12);
  const auto chip = [&](const char* word, const std::vector<attention::Token>& tokens, Index at,
                        std::uint32_t color) {
    const std::string index = std::to_string(at);
    const std::string text =
        fitted(view.fonts->mono, tokens[static_cast<std::size_t>(at)].text, view.px(120));
    const float wide =
        textWidth(view.fonts->monoSmall, index) + textWidth(view.fonts->mono, text) + view.px(20);
    const float all = wide + textWidth(view.fonts->text, word) + view.px(30);
    if (x - all - head - layerWide - badge - view.px(30) < left) return;
    const ImVec2 from(x - wide, y - view.px(14)), to(x, y + view.px(14));
    list.AddRectFilled(from, to, mixed(theme.background, color, 0.16f), view.px(4));
    const float offset =
        paintText(list, view.fonts->monoSmall, ImVec2(from.x + view.px(7), y), theme.secondary, index);
    paintText(list, view.fonts->mono, ImVec2(from.x + view.px(13) + offset, y),
              theme.light ? mixed(color, theme.text, 0.45f) : color, text);
    track(std::string("lab.") + word, from, to);
    paintText(list, view.fonts->text, ImVec2(from.x - view.px(10), y), theme.secondary, word, Align::right);
    x -= all;
  };
  chip("key", sequence.keys, cell.key, theme.key);
  chip("query", sequence.queries, cell.query, theme.query);
  if (x - head - badge - view.px(8) < left) return;
  x -= badge;
  paintBadge(view, list, ImVec2(x, y), groupColor(theme, config.kvHeadOf(cell.head)), kv);
  x -= head + view.px(8);
  ImGui::SetCursorScreenPos(ImVec2(x, y - view.px(13)));
  if (dropdown(view, "lab.head", heads, chosen, 0, "The head shown (PgUp and PgDn)."))
    scene.cursor.cell.head = chosen;
  if (layers > 1) {
    std::vector<Choice> all;
    for (Index l = 0; l < layers; ++l) all.push_back({fmt::format("Layer {}", l), "", std::to_string(l)});
    int layer = static_cast<int>(shownLayer(scene.setup));
    if (x - layerWide < left) return;
    x -= layerWide;
    ImGui::SetCursorScreenPos(ImVec2(x, y - view.px(13)));
    if (dropdown(view, "lab.layer", all, layer, 0, "The layer shown."))
      scene.setup.subject.layer = scene.cursor.model.layer = layer;
  }
  const auto at = static_cast<std::size_t>(cell.head);
  if (at >= sequence.profiles.size()) return;
  const attention::HeadLabel label = sequence.label(cell.head, scene.look.labelThreshold);
  std::string words = attention::describe(label);
  if (label.detector)
    words += fmt::format(" {}", fixedText(sequence.profiles[at][label.detector->name].raw, 2));
  if (x - view.px(20) - textWidth(view.fonts->text, words) > left)
    paintText(list, view.fonts->text, ImVec2(x - view.px(20), y), theme.secondary, words, Align::right);
}

}  // namespace

std::span<const TabRow> tabTable() {
  return kTable;
}

attention::Status checkTab(const Scene& scene) {
  if (scene.cursor.lab.tab.empty()) return attention::success();
  std::vector<std::string> keys;
  for (const TabRow& row : kTable) {
    if (row.key == scene.cursor.lab.tab) return attention::success();
    keys.emplace_back(row.key);
  }
  return attention::Error{"cursor.lab.tab is " + attention::quotedText(scene.cursor.lab.tab) + ", expected " +
                          alternatives(keys)};
}

void Tab::choices(Scene& scene, const ImRect& line, float left) {
  if (page_.head && !page_.missing()) headChips(scene, page_, line, left);
}

namespace {

constexpr float kTabGap = 28, kMinGap = 10;  // between tabs
constexpr float kChoiceRoom = 380;           // for the choices right of the tabs

/// The gap between tabs side by side, in pixels; 0 if they don't fit.
float tabGap(const View& view, float width) {
  float room = width - view.px(48 + kChoiceRoom);
  for (const TabRow& row : kTable) room -= textWidth(view.fonts->bold, row.label);
  const float gap = std::min(room / static_cast<float>(kTable.size()), view.px(kTabGap));
  return gap < view.px(kMinGap) ? 0 : gap;
}

/// Draws one tab. Returns the x of the next one.
float tabAt(Scene& scene, const View& view, const TabRow& row, ImVec2 at, float high, float gap) {
  const Theme& theme = *view.theme;
  Canvas list = *ImGui::GetWindowDrawList();
  const std::string name(row.key);
  const float wide = textWidth(view.fonts->bold, row.label), pad = std::min(view.px(6), gap / 2);
  if (hitArea("lab.tab." + name, ImVec2(at.x - pad, at.y), ImVec2(wide + 2 * pad, high)))
    scene.cursor.lab.tab = name;
  const bool lit = scene.cursor.lab.tab == name;
  paintText(list, lit ? view.fonts->bold : view.fonts->text, ImVec2(at.x, at.y + high / 2),
            lit || ImGui::IsItemHovered() ? theme.text : theme.secondary, row.label);
  if (lit)
    list.AddRectFilled(ImVec2(at.x, at.y + high - view.px(2)), ImVec2(at.x + wide, at.y + high), theme.text);
  return at.x + wide + gap;
}

/// Draws all tabs as a list, for narrow windows. Returns the x of its end.
float tabList(Scene& scene, View& view, ImVec2 at) {
  std::vector<Choice> tabs;
  int chosen = 0;
  for (const TabRow& row : kTable) {
    if (row.key == scene.cursor.lab.tab) chosen = static_cast<int>(tabs.size());
    tabs.push_back({row.label, "", std::string(row.key)});
  }
  const float wide = textWidth(view.fonts->text, tabs[static_cast<std::size_t>(chosen)].label) + view.px(24);
  ImGui::SetCursorScreenPos(at);
  if (dropdown(view, "lab.tab", tabs, chosen, 0, "The lab's tabs."))
    scene.cursor.lab.tab = std::string(kTable[static_cast<std::size_t>(chosen)].key);
  return at.x + wide + view.px(16);
}

/// Says below the tabs what the shown one is for. Returns the height it took.
float aboutLine(const Scene& scene, const View& view, const ImRect& area) {
  const auto row = std::ranges::find(kTable, std::string_view(scene.cursor.lab.tab), &TabRow::key);
  if (row == kTable.end()) return 0;
  const float high = view.px(30);
  paintFitted(view, *ImGui::GetWindowDrawList(), view.fonts->text,
              ImVec2(area.Min.x, area.Min.y + high / 2 + view.px(2)), area.GetWidth(), view.theme->secondary,
              row->about);
  track("lab.about", area.Min, ImVec2(area.Max.x, area.Min.y + high));
  return high;
}

}  // namespace

float tabLine(Scene& scene, State& page, Tab& shown, const Layout& layout) {
  View& view = page.view;
  const ImRect& center = layout.center;
  const float high = view.px(layout.narrow ? 40 : 48);
  Canvas(*ImGui::GetWindowDrawList())
      .AddLine(ImVec2(center.Min.x, center.Min.y + high), ImVec2(center.Max.x, center.Min.y + high),
               view.theme->line);
  float x = center.Min.x + view.px(24);
  if (const float gap = tabGap(view, center.GetWidth()); gap > 0)
    for (const TabRow& row : kTable) x = tabAt(scene, view, row, ImVec2(x, center.Min.y), high, gap);
  else
    x = tabList(scene, view, ImVec2(x, center.Min.y + high / 2 - view.px(13)));
  shown.choices(scene, ImRect(center.Min.x, center.Min.y, center.Max.x - view.px(24), center.Min.y + high),
                x);
  return center.Min.y + high + 1 +
         aboutLine(scene, view,
                   ImRect(center.Min.x + view.px(24), center.Min.y + high + 1, center.Max.x - view.px(24),
                          center.Max.y));
}

}  // namespace headscope::app::head_lab_page
