
#include "app/pages/mask/mask_page.h"
#include "app/platform/track.h"
#include "app/widgets/paint.h"
#include "attention/masks/text_parts.h"

namespace headscope::app::mask_page {

using attention::Layer;
using attention::TextMarks;
using attention::TextStructure;
namespace text_parts = attention::text_parts;

namespace {

/// The kinds of marks on tokens.
enum class Mark { documents, prefix, images, globals, tree, grid };

struct MarkInfo {
  Mark mark;
  const char *name, *label, *how;
  const attention::TextPart* part;  ///< the part it marks; the strip is shown if a pattern reads it
};
constexpr MarkInfo kMarks[] = {
    {Mark::documents, "documents", "Documents", "click the first token of a document",
     &text_parts::documents},
    {Mark::prefix, "prefix", "Prefix", "click the prefix's last token", &text_parts::prefix},
    {Mark::images, "images", "Images", "drag over an image's tokens; click an image to remove it",
     &text_parts::images},
    {Mark::globals, "globals", "Global tokens", "click a token to make it global", &text_parts::globals},
    {Mark::tree, "tree", "Draft tree", "click the last token before the draft; drag a token onto its parent",
     &text_parts::parents},
    {Mark::grid, "grid", "Grid", "click the first token of the second row", &text_parts::gridWidth}};

bool reads(const attention::MaskLayers& layers, const attention::TextPart* part) {
  return std::any_of(layers.begin(), layers.end(), [&](const Layer& layer) {
    if (layer.isGroup()) return reads(layer.group, part);
    const auto parameters = attention::infoOf(layer.pattern.kind).parameters;
    return layer.on && std::any_of(parameters.begin(), parameters.end(),
                                   [&](const auto& parameter) { return parameter.fromText == part; });
  });
}

std::vector<MarkInfo> marksInUse(const Scene& scene) {
  std::vector<MarkInfo> used;
  for (const MarkInfo& info : kMarks)
    if (reads(shownLayers(scene), info.part)) used.push_back(info);
  return used;
}

TextMarks& marksOf(Scene& scene) {
  std::vector<TextMarks>& marks = scene.setup.mask.marks.edit();
  const auto line = static_cast<std::size_t>(std::max<Index>(0, scene.cursor.sequence));
  if (marks.size() <= line) marks.resize(line + 1);
  return marks[line];
}

bool marked(const TextMarks& marks, Mark mark) {
  switch (mark) {
    case Mark::documents:
      return marks.documentStarts.has_value();
    case Mark::prefix:
      return marks.prefixLength.has_value();
    case Mark::images:
      return marks.images.has_value();
    case Mark::globals:
      return marks.globals.has_value();
    case Mark::tree:
      return marks.treePrefix.has_value() || marks.parents.has_value();
    case Mark::grid:
      return marks.gridHeight.has_value() || marks.gridWidth.has_value();
  }
  return false;
}

void forget(TextMarks& marks, Mark mark) {
  if (mark == Mark::documents) marks.documentStarts.reset();
  if (mark == Mark::prefix) marks.prefixLength.reset();
  if (mark == Mark::images) marks.images.reset();
  if (mark == Mark::globals) marks.globals.reset();
  if (mark == Mark::tree) marks.treePrefix.reset(), marks.parents.reset();
  if (mark == Mark::grid) marks.gridHeight.reset(), marks.gridWidth.reset();
}

/// Returns the sorted list with `value` added or, if present, removed.
std::vector<Index> toggled(std::vector<Index> values, Index value) {
  const auto at = std::lower_bound(values.begin(), values.end(), value);
  if (at != values.end() && *at == value)
    values.erase(at);
  else
    values.insert(at, value);
  return values;
}

bool inRuns(const attention::KeyRuns& runs, Index position) {
  return std::any_of(runs.begin(), runs.end(), [&](const attention::KeyRun& run) {
    return run.begin <= position && position < run.end;
  });
}

/// Adds a span over tokens from … to, merged with the spans it touches. A click inside a span removes it.
attention::KeyRuns markSpan(attention::KeyRuns runs, Index from, Index to) {
  if (from == to && inRuns(runs, from)) {
    std::erase_if(runs, [&](const auto& run) { return run.begin <= from && from < run.end; });
    return runs;
  }
  attention::KeyRun span{std::min(from, to), std::max(from, to) + 1};
  std::erase_if(runs, [&](const attention::KeyRun& run) {
    if (run.end < span.begin || run.begin > span.end) return false;
    span = {std::min(run.begin, span.begin), std::max(run.end, span.end)};
    return true;
  });
  runs.insert(std::upper_bound(runs.begin(), runs.end(), span,
                               [](const auto& a, const auto& b) { return a.begin < b.begin; }),
              span);
  return runs;
}

void markTree(TextMarks& marks, const TextStructure& structure, Index from, Index to) {
  if (from == to) {
    marks.treePrefix = from + 1;
    marks.parents.reset();
    return;
  }
  const Index prefix = structure.treePrefix, node = from - prefix;
  if (node < 0 || node >= static_cast<Index>(structure.parents.size())) return;
  std::vector<Index> parents = structure.parents;
  parents[static_cast<std::size_t>(node)] = std::max<Index>(-1, to - prefix);
  marks.treePrefix = prefix;
  marks.parents = std::move(parents);
}

/// Applies a click (from = to) or a drag on the chips. Starts from the structure shown, so that a default is
/// edited instead of discarded.
void applyMark(TextMarks& marks, const TextStructure& structure, Index tokens, Mark mark, Index from,
               Index to) {
  if (mark == Mark::grid && to > 0) {
    marks.gridWidth = to;
    marks.gridHeight = (tokens + to - 1) / to;
  }
  if (mark == Mark::documents && to > 0) marks.documentStarts = toggled(structure.documentStarts, to);
  if (mark == Mark::prefix) marks.prefixLength = structure.prefixLength == to + 1 ? to : to + 1;
  if (mark == Mark::images) marks.images = markSpan(structure.images, from, to);
  if (mark == Mark::globals) marks.globals = toggled(structure.globals, to);
  if (mark == Mark::tree) markTree(marks, structure, from, to);
}

/// How a chip shows its marks: highlighted, preceded by a boundary, with a number below.
struct ChipMark {
  bool lit = false, boundary = false;
  std::string below;
};

ChipMark chipMark(const TextStructure& structure, Mark mark, Index position) {
  ChipMark chip;
  switch (mark) {
    case Mark::documents: {
      const auto& starts = structure.documentStarts;
      const auto next = std::upper_bound(starts.begin(), starts.end(), position);
      chip.boundary = position > 0 && std::binary_search(starts.begin(), starts.end(), position);
      chip.lit = (next - starts.begin()) % 2 == 1;
      break;
    }
    case Mark::prefix:
      chip.lit = position < structure.prefixLength;
      break;
    case Mark::images:
      chip.lit = inRuns(structure.images, position);
      break;
    case Mark::globals:
      chip.lit = std::binary_search(structure.globals.begin(), structure.globals.end(), position);
      break;
    case Mark::grid:
      chip.boundary = position > 0 && position % structure.gridWidth == 0;
      chip.lit = position / structure.gridWidth % 2 == 0;
      break;
    case Mark::tree: {
      chip.lit = position < structure.treePrefix;
      const Index node = position - structure.treePrefix;
      if (node < 0 || node >= static_cast<Index>(structure.parents.size())) break;
      const Index parent = structure.parents[static_cast<std::size_t>(node)];
      chip.below = parent < 0 ? "↑P" : "↑" + std::to_string(parent + structure.treePrefix);
      break;
    }
  }
  return chip;
}

void chips(Scene& scene, State& page, Mark mark, float height) {
  View& view = page.view;
  const MaskStudy& study = *page.study;
  const LineTokens& line = *study.line();
  const TextStructure& structure = study.geometry.structure;
  const Theme& theme = *view.theme;
  ImGui::BeginChild("chips", ImVec2(0, height), false,
                    ImGuiWindowFlags_NoBackground | ImGuiWindowFlags_HorizontalScrollbar);
  Canvas list = *ImGui::GetWindowDrawList();
  const ImVec2 start = ImGui::GetCursorScreenPos();
  const float side = view.px(24);
  float x = start.x;
  for (Index position = 0; position < line.keyLength; ++position) {
    const std::string& text = line.keys[static_cast<std::size_t>(position)].text;
    const ChipMark chip = chipMark(structure, mark, position);
    if (chip.boundary) {
      list.AddRectFilled(ImVec2(x + view.px(1), start.y), ImVec2(x + view.px(3), start.y + side), theme.text);
      x += view.px(7);
    }
    const float width = std::min(view.px(140), textWidth(view.fonts->monoSmall, text) + view.px(12));
    const std::string name = "mark." + std::to_string(position);
    hitArea(name, ImVec2(x, start.y), ImVec2(width, side));
    const bool hovered = ImGui::IsMouseHoveringRect(ImVec2(x, start.y), ImVec2(x + width, start.y + side));
    if (ImGui::IsItemActivated()) page.markFrom = position;
    if (hovered && ImGui::IsMouseClicked(1)) {
      page.token = scene.cursor.cell.key = position;
      view.menu = tokenMenu(scene);
    }
    if (hovered) view.nextHover.key = position;
    if (hovered && page.markFrom >= 0 && ImGui::IsMouseReleased(0))
      applyMark(marksOf(scene), structure, line.keyLength, mark, page.markFrom, position);
    const bool dragged =
        page.markFrom >= 0 && mark == Mark::images &&
        ((position >= page.markFrom && ImGui::GetIO().MousePos.x >= x) || position == page.markFrom);
    const ImVec2 to(x + width, start.y + side);
    list.AddRectFilled(ImVec2(x, start.y), to,
                       chip.lit || dragged ? mixed(theme.background, theme.text, 0.3f) : theme.raised,
                       view.px(4));
    if (hovered) compat::rectOutline(list, ImVec2(x, start.y), to, theme.secondary, view.px(4), 1);
    paintText(list, view.fonts->monoSmall, ImVec2(x + view.px(6), start.y + side / 2),
              chip.lit ? theme.text : theme.secondary,
              fitted(view.fonts->monoSmall, text, width - view.px(10)));
    if (!chip.below.empty())
      paintText(list, view.fonts->monoSmall, ImVec2(x + width / 2, to.y + view.px(8)), theme.faint,
                chip.below, Align::center);
    x += width + view.px(4);
  }
  if (ImGui::IsMouseReleased(0)) page.markFrom = -1;
  ImGui::SetCursorScreenPos(start);
  ImGui::Dummy(ImVec2(x - start.x, side));
  compat::endChild();
}

/// The ids and names of the actions that mark one token.
struct MarkAction {
  Mark mark;
  const char *id, *name;
};
constexpr MarkAction kMarkActions[] = {
    {Mark::documents, "mask.mark.document", "Start a document at this token, or join the previous one"},
    {Mark::prefix, "mask.mark.prefix", "End the prefix with this token"},
    {Mark::images, "mask.mark.image", "Make this token an image or text"},
    {Mark::globals, "mask.mark.global", "Make this token global or local"},
    {Mark::tree, "mask.mark.draft", "Start the draft after this token"},
    {Mark::grid, "mask.mark.grid", "Start the grid's second row with this token"}};

constexpr float kTitleRow = 34;

std::size_t shownMark(const State& page, const std::vector<MarkInfo>& used) {
  return static_cast<std::size_t>(std::clamp(page.markKind, 0, static_cast<int>(used.size()) - 1));
}

/// Height of the chips, a scrollbar for long texts, and the parents below a tree's chips.
float chipsHeight(Mark mark, const View& view) {
  return view.px(mark == Mark::tree ? 54 : 38);
}

}  // namespace

std::vector<std::string> tokenMenu(Scene& scene) {
  std::vector<std::string> menu;
  const std::vector<MarkInfo> used = marksInUse(scene);
  for (const MarkAction& action : kMarkActions)
    if (std::any_of(used.begin(), used.end(), [&](const MarkInfo& info) { return info.mark == action.mark; }))
      menu.emplace_back(action.id);
  menu.insert(menu.end(), {"mask.gallery", "mask.copy.text", "picture.save_mask"});
  return menu;
}

std::vector<Action> markActions(State& page) {
  std::vector<Action> actions;
  for (const MarkAction& action : kMarkActions)
    actions.push_back({.id = action.id, .name = action.name, .run = [&page, &action](Scene& scene) {
                         const MaskStudy* study = page.study;
                         if (scene.cursor.page != "mask" || !study || !study->line())
                           return page.view.messages.fail("To mark tokens, type a text in the mask studio.");
                         const Index count = study->line()->keyLength;
                         const Index token = page.token >= 0 ? page.token : scene.cursor.cell.key;
                         const Index at = std::clamp<Index>(token, 0, count - 1);
                         applyMark(marksOf(scene), study->geometry.structure, count, action.mark, at, at);
                       }});
  return actions;
}

float marksStripHeight(Scene& scene, const State& page) {
  const View& view = page.view;
  if (scene.cursor.studio.tab == StudioTab::biases) return 0;
  // Marks are set before presenting.
  const std::vector<MarkInfo> used = marksInUse(scene);
  if (used.empty() || view.present) return 0;
  return view.px(kTitleRow) + chipsHeight(used[shownMark(page, used)].mark, view);
}

void marksStrip(Scene& scene, State& page, const ImRect& area) {
  View& view = page.view;
  const std::vector<MarkInfo> used = marksInUse(scene);
  if (used.empty() || !page.study || !page.study->line()) return;
  const std::size_t at = shownMark(page, used);
  ImGui::SetCursorScreenPos(ImVec2(area.Min.x, area.Min.y + view.px(4)));
  ImGui::BeginChild(
      "marks", ImVec2(area.GetWidth(), area.GetHeight() - view.px(4)), false,
      ImGuiWindowFlags_NoBackground | ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse);
  const ImVec2 start = ImGui::GetCursorScreenPos();
  float x = start.x;
  if (used.size() > 1) {
    std::vector<Choice> choices;
    for (const MarkInfo& info : used) choices.push_back({info.label, "", info.name});
    int chosen = static_cast<int>(at);
    if (dropdown(view, "mark_kind", choices, chosen)) page.markKind = chosen;
    x = ImGui::GetItemRectMax().x + view.px(12);
  } else {
    x += paintText(*ImGui::GetWindowDrawList(), view.fonts->text, ImVec2(x, start.y + view.px(13)),
                   view.theme->text, used[at].label) +
         view.px(12);
  }
  // Displaying changes nothing: a sequence gets its own marks only when something is marked.
  const auto line = static_cast<std::size_t>(std::max<Index>(0, scene.cursor.sequence));
  const std::vector<TextMarks>& all = *scene.setup.mask.marks;
  const TextMarks marks = line < all.size() ? all[line] : TextMarks{};
  const float resetWidth = marked(marks, used[at].mark) ? view.px(130) : 0;
  paintFitted(view, *ImGui::GetWindowDrawList(), view.fonts->small, ImVec2(x, start.y + view.px(13)),
              area.Max.x - x - resetWidth, view.theme->secondary, used[at].how);
  if (resetWidth > 0) {
    ImGui::SetCursorScreenPos(ImVec2(area.Max.x - view.px(126), start.y - view.px(1)));
    if (button(view, "marks_reset", "Reset to text", "", true)) forget(marksOf(scene), used[at].mark);
  }
  ImGui::SetCursorScreenPos(ImVec2(start.x, start.y + view.px(30)));
  chips(scene, page, used[at].mark, chipsHeight(used[at].mark, view));
  compat::endChild();
}

}  // namespace headscope::app::mask_page
