#include "app/shell/main_menu.h"

#include <algorithm>

#include "app/platform/shaped_text.h"
#include "app/platform/track.h"
#include "app/platform/ui_state.h"
#include "app/shell/workspace.h"
#include "app/widgets/controls.h"
#include "app/widgets/paint.h"
#include "attention/formats/quote.h"

namespace headscope::app {

namespace {

/// An action, and its name under the column's title; nullptr = its name in Search.
struct MenuEntry {
  const char* id;
  const char* label = nullptr;
};
struct MenuColumn {
  const char* title;
  std::vector<MenuEntry> entries;
};

/// Actions that a window lacks, as in a browser, are left out.
const std::vector<MenuColumn>& menuColumns() {
  static const std::vector<MenuColumn> all{{"File",
                                            {{"scene.open", "Open…"},
                                             {"model.open"},
                                             {"weights.open", "Load weights…"},
                                             {"scene.save", "Save"},
                                             {"scene.save_as", "Save as…"},
                                             {"link.copy"},
                                             {"scene.reset", "Opening scene"},
                                             {"quit"}}},
                                           {"Edit",
                                            {{"edit.undo"},
                                             {"edit.redo"},
                                             {"edit.history", "History…"},
                                             {"link.paste", "Paste a link"},
                                             {"table.edit", "All words as a table"},
                                             {"mask.gallery"},
                                             {"settings"}}},
                                           {"View",
                                            {{"look.present", "Present"},
                                             {"look.full_screen"},
                                             {"stage.lecturer", "Lecturer's window"},
                                             {"look.side", "Right panel"},
                                             {"appearance.theme", "Dark or light"},
                                             {"appearance.motion", "Less motion"},
                                             {"appearance.larger", "Larger text"},
                                             {"appearance.smaller", "Smaller text"}}},
                                           {"Export",
                                            {{"picture.save", "Picture of this page…"},
                                             {"picture.save_heads", "Picture of all heads…"},
                                             {"film.record", "Film…"},
                                             {"handout.save", "Handout, A4…"},
                                             {"mask.save", "Mask…"},
                                             {"talk.add", "Add to talk"}}},
                                           {"Help",
                                            {{"palette"},
                                             {"lesson.begin", "First lesson"},
                                             {"manual", "Manual"},
                                             {"shortcuts", "Keys and mouse"},
                                             {"settings.vision", "Colour vision…"}}}};
  return all;
}

constexpr float kLineHeight = 28, kTitleHeight = 32, kMenuPad = 14;

}  // namespace

MainMenu::MainMenu(const ActionTable& actions, DocumentFiles& files, Rules rules)
    : actions_(actions), files_(files), rules_(std::move(rules)) {
  files_.readRecent([recent = recent_](std::vector<RecentFile> found) { *recent = std::move(found); });
}

std::vector<MainMenu::Column> MainMenu::columns(const View& view) const {
  std::vector<Column> all;
  const auto add = [&](Column& column, const std::string& id, const char* label) {
    if (!actions_.has(id)) return;
    const Action& action = actions_.find(id);
    column.lines.push_back(
        {id, label ? label : action.name, shortcutText(action.shortcut), rules_.state(id)});
  };
  if (!view.folded.empty()) {
    Column& pages = all.emplace_back(Column{"Pages", {}});
    for (const std::string& id : view.folded) add(pages, id, nullptr);
  }
  for (const MenuColumn& each : menuColumns()) {
    Column& column = all.emplace_back(Column{each.title, {}});
    for (const MenuEntry& entry : each.entries) add(column, entry.id, entry.label);
  }
  for (Column& column : all)
    for (const Line& line : column.lines)
      column.width = std::max(column.width, textWidth(view.fonts->text, line.label) +
                                                textWidth(view.fonts->small, line.state) +
                                                textWidth(view.fonts->monoSmall, line.key) + view.px(52));
  return all;
}

void MainMenu::column(View& view, const Column& column, ImVec2 at) {
  Canvas list = *ImGui::GetWindowDrawList();
  paintText(list, view.fonts->bold, ImVec2(at.x + view.px(8), at.y + view.px(kTitleHeight / 2 - 2)),
            view.theme->text, column.title);
  at.y += view.px(kTitleHeight);
  for (const Line& line : column.lines) {
    const ImVec2 to(at.x + column.width, at.y + view.px(kLineHeight));
    const float y = (at.y + to.y) / 2;
    const bool enabled = rules_.enabled(line.id);
    if (enabled && hitArea("menu." + line.id, at, ImVec2(column.width, to.y - at.y))) {
      view.dialog.reset();
      view.request(line.id);
    }
    if (enabled && ImGui::IsItemHovered()) list.AddRectFilled(at, to, view.theme->line, view.px(4));
    paintText(list, view.fonts->text, ImVec2(at.x + view.px(8), y),
              enabled ? view.theme->text : view.theme->faint, line.label);
    const float key = paintText(list, view.fonts->monoSmall, ImVec2(to.x - view.px(8), y), view.theme->faint,
                                line.key, Align::right);
    paintText(list, view.fonts->small, ImVec2(to.x - view.px(8) - key - (key > 0 ? view.px(12) : 0), y),
              view.theme->secondary, line.state, Align::right);
    at.y = to.y;
  }
}

void MainMenu::recentFiles(View& view, float width) {
  const ImVec2 from = ImGui::GetCursorScreenPos();
  Canvas list = *ImGui::GetWindowDrawList();
  list.AddLine(from, ImVec2(from.x + width, from.y), view.theme->line);
  const float y = from.y + view.px(26), end = from.x + width;
  float x = from.x + view.px(8);
  x += paintText(list, view.fonts->small, ImVec2(x, y), view.theme->faint, "Recent") + view.px(18);
  for (std::size_t i = 0; i < recent_->size(); ++i) {
    const RecentFile file = (*recent_)[i];
    const std::string name = recentName(file);
    const float wide = textWidth(view.fonts->text, name) + view.px(22);
    if (x + wide > end) break;
    ImGui::SetCursorScreenPos(ImVec2(x, y - view.px(14)));
    if (button(view, "menu.recent." + std::to_string(i), name)) {
      view.dialog.reset();
      files_.openRecent(file, Outcome(view));
    }
    if (ImGui::IsItemHovered()) tooltip(view, recentWord(file.kind) + "  " + attention::shownPath(file.path));
    x += wide + view.px(10);
  }
}

/// An arrow goes into the menu, and a letter to Search.
void MainMenu::takeKeys(View& view) {
  for (const InputEvent& event : view.input.events) {
    if (event.kind == InputEvent::Kind::text && event.codepoint > ' ') {
      std::string typed;
      appendUtf8(typed, event.codepoint);
      return rules_.search(typed);
    }
    const bool arrow = event.kind == InputEvent::Kind::key && event.down &&
                       (event.key == Key::down || event.key == Key::right);
    if (arrow && !uiState().focus.on()) uiState().focus.step(1);
  }
}

void MainMenu::draw(Scene&, View& view, bool) {
  const ImVec2 screen = ImGui::GetIO().DisplaySize;
  const float pad = view.px(kMenuPad), gap = view.px(14), top = view.px(58);
  const float most = screen.x - 2 * view.px(12) - 2 * pad;
  // As many columns side by side as the window has room for.
  const std::vector<Column> all = columns(view);
  std::vector<ImVec2> places;
  ImVec2 at;
  float wide = 0, high = 0, band = 0;
  for (const Column& each : all) {
    if (at.x > 0 && at.x + each.width > most) {
      at = ImVec2(0, at.y + band + view.px(10));
      band = 0;
    }
    places.push_back(at);
    at.x += each.width + gap;
    wide = std::max(wide, at.x - gap);
    band =
        std::max(band, view.px(kTitleHeight) + view.px(kLineHeight) * static_cast<float>(each.lines.size()));
    high = std::max(high, at.y + band);
  }
  const float lower = recent_->empty() ? 0 : view.px(52), full = high + lower + 2 * pad;
  const float height = std::min(full, screen.y - top - view.px(12));
  const ImVec2 corner(screen.x - view.px(12), top + height);
  const ImRect box(corner.x - wide - 2 * pad, top, corner.x, corner.y);
  if (beginDialog(view, "menu", box, true, ImVec2(0, 0))) {
    ImGui::BeginChild("columns", ImVec2(0, 0), false, ImGuiWindowFlags_NoBackground);
    const ImVec2 start = ImGui::GetCursorScreenPos(), origin(start.x + pad, start.y + pad);
    for (std::size_t i = 0; i < all.size(); ++i)
      column(view, all[i], ImVec2(origin.x + places[i].x, origin.y + places[i].y));
    ImGui::SetCursorScreenPos(ImVec2(origin.x, origin.y + high + view.px(6)));
    if (lower > 0) recentFiles(view, wide);
    ImGui::SetCursorScreenPos(ImVec2(start.x, start.y + full - 1));
    ImGui::Dummy(ImVec2(1, 1));
    compat::endChild();
    takeKeys(view);
  }
  endDialog();
}

}  // namespace headscope::app
