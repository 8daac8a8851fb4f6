
#include "app/kit/control_line.h"
#include "app/pages/common/token_chips.h"
#include "app/pages/mask/mask_page.h"
#include "app/platform/track.h"
#include "app/widgets/paint.h"
#include "attention/masks/patterns/definition.h"

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
  const char *action, *does;        ///< the action that marks one token: its id and name
};
constexpr MarkInfo kMarks[] = {
    {Mark::documents, "documents", "Documents", "click the first token of a document", &text_parts::documents,
     "mask.mark.document", "Start a document at this token, or join the previous one"},
    {Mark::prefix, "prefix", "Prefix", "click the prefix's last token", &text_parts::prefix,
     "mask.mark.prefix", "End the prefix with this token"},
    {Mark::images, "images", "Images", "drag over an image's tokens; click an image to remove it",
     &text_parts::images, "mask.mark.image", "Make this token an image or text"},
    {Mark::globals, "globals", "Global tokens", "click a token to make it global", &text_parts::globals,
     "mask.mark.global", "Make this token global or local"},
    {Mark::tree, "tree", "Draft tree", "click the last token before the draft; drag a token onto its parent",
     &text_parts::parents, "mask.mark.draft", "Start the draft after this token"},
    {Mark::grid, "grid", "Grid", "click the first token of the second row", &text_parts::gridWidth,
     "mask.mark.grid", "Start the grid's second row with this token"}};

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

/// Calls `use` with the members that keep a kind of marks.
template <class Marks, class Use>
void eachPart(Marks& marks, Mark mark, const Use& use) {
  if (mark == Mark::documents) use(marks.documentStarts);
  if (mark == Mark::prefix) use(marks.prefixLength);
  if (mark == Mark::images) use(marks.images);
  if (mark == Mark::globals) use(marks.globals);
  if (mark == Mark::tree) use(marks.treePrefix), use(marks.parents);
  if (mark == Mark::grid) use(marks.gridHeight), use(marks.gridWidth);
}

bool marked(const TextMarks& marks, Mark mark) {
  bool any = false;
  eachPart(marks, mark, [&](const auto& part) { any = any || part.has_value(); });
  return any;
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
  if (node < 0 || node >= std::ssize(structure.parents)) return;
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
      if (node < 0 || node >= std::ssize(structure.parents)) break;
      const Index parent = structure.parents[static_cast<std::size_t>(node)];
      chip.below = parent < 0 ? "↑P" : "↑" + std::to_string(parent + structure.treePrefix);
      break;
    }
  }
  return chip;
}

/// Draws one token with its marks. Clicking or dragging marks tokens.
void markChip(Scene& scene, State& page, Mark mark, Index position, const ChipMark& chip,
              const ImRect& area) {
  View& view = page.view;
  const Theme& theme = *view.theme;
  const MaskStudy& study = *page.study;
  const LineTokens& line = *study.line();
  Canvas list = *ImGui::GetWindowDrawList();
  hitArea("mark." + std::to_string(position), area);
  const bool hovered = ImGui::IsMouseHoveringRect(area.Min, area.Max);
  if (ImGui::IsItemActivated()) page.markFrom = position;
  if (hovered) view.nextHover.key = position;
  if (hovered && ImGui::IsMouseClicked(1)) {
    page.token = scene.cursor.cell.key = position;
    scene.cursor.keyChosen = true;
    view.menu = tokenMenu(scene);
  }
  if (hovered && page.markFrom >= 0 && ImGui::IsMouseReleased(0))
    applyMark(marksOf(scene), study.geometry.structure, line.keyLength, mark, page.markFrom, position);
  const bool dragged =
      page.markFrom >= 0 && mark == Mark::images &&
      ((position >= page.markFrom && ImGui::GetIO().MousePos.x >= area.Min.x) || position == page.markFrom);
  list.AddRectFilled(area.Min, area.Max,
                     chip.lit || dragged ? mixed(theme.background, theme.text, 0.3f) : theme.raised,
                     view.px(4));
  if (position == view.hover.key) paintGhost(view, list, "ghost", insideChip(view, area), theme.key);
  paintText(list, view.fonts->monoSmall, ImVec2(area.Min.x + view.px(6), area.GetCenter().y),
            chip.lit ? theme.text : theme.secondary,
            fitted(view.fonts->monoSmall, line.keys[static_cast<std::size_t>(position)].text,
                   area.GetWidth() - view.px(10)));
  paintText(list, view.fonts->monoSmall, ImVec2(area.GetCenter().x, area.Max.y + view.px(8)), theme.faint,
            chip.below, Align::center);
}

void chips(Scene& scene, State& page, Mark mark, float height) {
  const View& view = page.view;
  const LineTokens& line = *page.study->line();
  ImGui::BeginChild("chips", ImVec2(0, height), false,
                    ImGuiWindowFlags_NoBackground | ImGuiWindowFlags_HorizontalScrollbar);
  const ImVec2 start = ImGui::GetCursorScreenPos(), end(0, start.y + view.px(24));
  float x = start.x;
  for (Index position = 0; position < line.keyLength; ++position) {
    const ChipMark chip = chipMark(page.study->geometry.structure, mark, position);
    if (chip.boundary) {
      Canvas(*ImGui::GetWindowDrawList())
          .AddRectFilled(ImVec2(x + view.px(1), start.y), ImVec2(x + view.px(3), end.y), view.theme->text);
      x += view.px(7);
    }
    const std::string& text = line.keys[static_cast<std::size_t>(position)].text;
    const float width = std::min(view.px(140), textWidth(view.fonts->monoSmall, text) + view.px(12));
    markChip(scene, page, mark, position, chip, ImRect(x, start.y, x + width, end.y));
    x += width + view.px(4);
  }
  if (ImGui::IsMouseReleased(0)) page.markFrom = -1;
  ImGui::SetCursorScreenPos(start);
  ImGui::Dummy(ImVec2(x - start.x, end.y - start.y));
  compat::endChild();
}

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
  for (const MarkInfo& info : marksInUse(scene)) menu.emplace_back(info.action);
  menu.insert(menu.end(), {"mask.gallery", "mask.copy.text", "picture.save_mask"});
  return menu;
}

std::vector<Action> markActions(State& page) {
  std::vector<Action> actions;
  for (const MarkInfo& info : kMarks)
    actions.push_back({.id = info.action, .name = info.does, .run = [&page, &info](Scene& scene) {
                         const MaskStudy* study = page.study.get();
                         if (scene.cursor.page != "mask" || !study || !study->line())
                           return page.view.messages.fail("To mark tokens, type a text in the mask studio.");
                         const Index count = study->line()->keyLength;
                         const Index token = page.token >= 0 ? page.token : scene.cursor.cell.key;
                         const Index at = std::clamp<Index>(token, 0, count - 1);
                         applyMark(marksOf(scene), study->geometry.structure, count, info.mark, at, at);
                       }});
  return actions;
}

namespace {

void paintMarks(Scene& scene, State& page, const std::vector<MarkInfo>& used, const ImRect& area) {
  View& view = page.view;
  const MarkInfo& shown = used[shownMark(page, used)];
  // Displaying changes nothing: a sequence gets its own marks only when something is marked.
  const auto line = static_cast<std::size_t>(std::max<Index>(0, scene.cursor.sequence));
  const std::vector<TextMarks>& all = *scene.setup.mask.marks;
  const bool resets = line < all.size() && marked(all[line], shown.mark);
  controlsIn("marks", ImRect(ImVec2(area.Min.x, area.Min.y + view.px(4)), area.Max), [&] {
    std::vector<Choice> choices;
    for (const MarkInfo& info : used) choices.push_back({info.label, "", info.name});
    int chosen = static_cast<int>(shownMark(page, used));
    const ImVec2 start = ImGui::GetCursorScreenPos();
    const float y = start.y + view.px(13), end = area.Max.x - (resets ? view.px(130) : 0);
    Canvas list = *ImGui::GetWindowDrawList();
    float x = start.x;
    if (used.size() == 1) {
      x += paintText(list, view.fonts->text, ImVec2(x, y), view.theme->text, shown.label);
    } else {
      if (dropdown(view, "mark_kind", choices, chosen)) page.markKind = chosen;
      x = ImGui::GetItemRectMax().x;
    }
    x += view.px(12);
    paintFitted(view, list, view.fonts->small, ImVec2(x, y), end - x, view.theme->secondary, shown.how);
    if (resets) {
      ImGui::SetCursorScreenPos(ImVec2(area.Max.x - view.px(126), start.y - view.px(1)));
      if (button(view, "marks_reset", "Reset to text", "", true))
        eachPart(marksOf(scene), shown.mark, [](auto& part) { part.reset(); });
    }
    ImGui::SetCursorScreenPos(ImVec2(start.x, start.y + view.px(30)));
    chips(scene, page, shown.mark, chipsHeight(shown.mark, view));
  });
}

}  // namespace

bool marksStrip(Board& board, Scene& scene, State& page) {
  const std::vector<MarkInfo> used = marksInUse(scene);
  if (used.empty() || scene.cursor.studio.tab == StudioTab::biases) return false;
  const float chipsHigh = chipsHeight(used[shownMark(page, used)].mark, page.view) / page.view.unit;
  board
      .area("", {kTitleRow + chipsHigh},
            [&scene, &page, used](const ImRect& area) { paintMarks(scene, page, used, area); })
      .apart(10)
      .inWindow();
  return true;
}

}  // namespace headscope::app::mask_page
