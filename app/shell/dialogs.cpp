#include "app/shell/dialogs.h"

#include <algorithm>

#include "app/platform/track.h"
#include "app/widgets/controls.h"
#include "app/widgets/paint.h"
#include "app/widgets/text/text_box.h"

namespace headscope::app {

namespace {

/// What the mouse does, by place. A row with an empty second part is a heading.
struct MouseLine {
  const char *keys, *does;
};
constexpr MouseLine kMouse[] = {
    {"HEADS", ""},
    {"Point", "highlights the query and key in every picture"},
    {"Click", "enlarges that head"},
    {"Wheel, drag", "zoom and move the enlarged head"},
    {"Esc", "goes back to all heads"},
    {"Right click", "opens a menu"},
    {"SLIDERS", ""},
    {"Drag", "sets a value; only valid values are reachable"},
    {"← →", "change by one step while pointing"},
    {"Wheel", "changes the value after a click, or with Ctrl"},
    {"Double click", "lets you type a value; Enter confirms"},
    {"MASK STUDIO", ""},
    {"Drag with a tool", "paints; the arrow tool moves"},
    {"Wheel", "zooms all maps at once"},
    {"Drag a layer", "moves it; a click opens it"},
    {"Point at a cell", "shows which layers mask it"},
    {"MAP", ""},
    {"Wheel, + −", "zooms from the whole head to single cells"},
    {"Drag, arrows", "moves; Home shows the whole head"},
    {"Click", "marks a query and a key"},
    {"FILES", ""},
    {"Drop .json", "opens a scene"},
    {"Drop .safetensors", "loads weights; on Map, queries and keys"},
    {"Drop .npy .csv", "loads embeddings; on Mask, a mask"},
};

void keyLine(const View& view, const std::string& keys, const std::string& what) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float height = view.px(22), column = view.px(140);
  Canvas list = *ImGui::GetWindowDrawList();
  paintText(list, view.fonts->monoSmall, ImVec2(at.x, at.y + height / 2), view.theme->text, keys);
  paintFitted(view, list, view.fonts->small, ImVec2(at.x + column, at.y + height / 2),
              ImGui::GetContentRegionAvail().x - column, view.theme->secondary, what);
  ImGui::Dummy(ImVec2(1, height));
}

}  // namespace

/// Whether the action has a key and belongs to a visible page.
bool ShortcutSheet::isShown(const Action& action) const {
  return action.shortcut.key != Key::none &&
         std::find(pages_.begin(), pages_.end(), action.page) != pages_.end();
}

/// Returns the action that a key triggers while those pages are visible; null if none.
const Action* ShortcutSheet::acting(const KeyPress& press) const {
  const Action* found = nullptr;
  for (const std::string& page : pages_) {
    found = actions_.pressed(press, page, false, false);
    if (found && found->page == page) break;
  }
  return found;
}

void ShortcutSheet::draw(Scene&, View& view, bool) {
  if (beginDialog(view, "shortcuts", "Keyboard and mouse", 900, 740)) {
    const float half = ImGui::GetContentRegionAvail().x / 2 - view.px(10);
    ImGui::BeginChild("keys", ImVec2(half, 0), false, ImGuiWindowFlags_NoBackground);
    const auto line = [&](const Action& info) {
      keyLine(view, shortcutText(info.shortcut), info.name);
      trackItem("shortcut." + info.id);
    };
    bool any = false;
    for (const Action& info : actions_.all()) {
      if (!isShown(info) || acting(info.shortcut) != &info) continue;
      if (!any) sectionTitle(view, "ON THIS PAGE");
      any = true;
      line(info);
    }
    if (any) gap(view, 6);
    if (any) sectionTitle(view, "EVERYWHERE AND ON OTHER PAGES");
    std::string section;
    for (const Action& info : actions_.all()) {
      if (info.shortcut.key == Key::none || isShown(info)) continue;
      if (info.page.empty() && acting(info.shortcut) != &info) continue;
      if (section != info.section) {
        if (!section.empty()) gap(view, 5);
        section = info.section;
      }
      line(info);
    }
    compat::endChild();
    ImGui::SameLine(0, view.px(20));
    ImGui::BeginChild("mouse", ImVec2(half, 0), false, ImGuiWindowFlags_NoBackground);
    for (const MouseLine& line : kMouse) {
      if (*line.does) {
        keyLine(view, line.keys, line.does);
        continue;
      }
      if (&line != kMouse) gap(view, 6);
      sectionTitle(view, line.keys);
    }
    compat::endChild();
  }
  endDialog();
}

namespace {
/// Whether the text has two or more words.
bool isSentence(const std::string& text) {
  const std::size_t first = text.find_first_not_of(' '), last = text.find_last_not_of(' ');
  return first != std::string::npos && text.find(' ', first) < last;
}
}  // namespace

Palette::Palette(const ActionTable& actions) : actions_(actions) {
  sentence_.id = "palette.sentence";
  sentence_.run = [this](Scene& scene) {
    scene.setup.input.source = EmbeddingSource::text;
    scene.setup.input.text = wanted_;
  };
}

/// Returns the matches: first those with the text in their name, then those found by other words.
std::vector<const Action*> Palette::found() const {
  std::vector<const Action*> found;
  for (const int how : {2, 1})
    for (const Action& action : actions_.all())
      if (action.id != "palette" && action.matches(wanted_) == how) found.push_back(&action);
  if (isSentence(wanted_)) found.push_back(&sentence_);
  return found;
}

/// Shows the matches. Returns the one that was clicked; null if none.
const Action* Palette::list(View& view, const std::vector<const Action*>& found) {
  ImGui::BeginChild("list", ImVec2(0, 0), false, ImGuiWindowFlags_NoBackground);
  if (found.empty()) hint(view, "No action matches “" + wanted_ + "”.");
  const Action* clicked = nullptr;
  for (int i = 0; i < static_cast<int>(found.size()); ++i) {
    const Action& action = *found[static_cast<std::size_t>(i)];
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x, height = view.px(28);
    if (hitArea("palette." + action.name, ImVec2(width, height))) clicked = &action;
    if (ImGui::IsItemHovered() && (ImGui::GetIO().MouseDelta.x != 0 || ImGui::GetIO().MouseDelta.y != 0))
      chosen_ = i;
    Canvas list = *ImGui::GetWindowDrawList();
    if (i == chosen_)
      list.AddRectFilled(at, ImVec2(at.x + width, at.y + height), view.theme->raised, view.px(5));
    paintText(list, view.fonts->text, ImVec2(at.x + view.px(10), at.y + height / 2), view.theme->text,
              action.name);
    paintText(list, view.fonts->monoSmall, ImVec2(at.x + width - view.px(10), at.y + height / 2),
              view.theme->faint, shortcutText(action.shortcut), Align::right);
  }
  compat::endChild();
  return clicked;
}

void Palette::draw(Scene& scene, View& view, bool opening) {
  if (beginDialog(view, "palette", "Actions", 520, 460)) {
    const std::string before = wanted_;
    const bool entered = lineBox(view, "palette.search", wanted_, ImGui::GetContentRegionAvail().x, opening,
                                 "Type an action to run, or a sentence to read");
    if (wanted_ != before) chosen_ = 0;
    sentence_.name = "Read “" + wanted_ + "”";
    const std::vector<const Action*> lines = found();
    const auto count = static_cast<int>(lines.size());
    for (const InputEvent& event : view.input.events) {
      if (event.kind != InputEvent::Kind::key || !event.down || lines.empty()) continue;
      if (event.key == Key::down) chosen_ = (chosen_ + 1) % count;
      if (event.key == Key::up) chosen_ = (chosen_ + count - 1) % count;
    }
    gap(view, 4);
    const Action* acts = list(view, lines);
    if (entered && chosen_ < count) acts = lines[static_cast<std::size_t>(chosen_)];
    if (acts) {
      view.dialog.reset();
      acts == &sentence_ ? sentence_.run(scene) : view.request(acts->id);
    }
  }
  endDialog();
}

}  // namespace headscope::app
