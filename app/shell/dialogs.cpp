#include "app/shell/dialogs.h"

#include <algorithm>
#include <cctype>

#include "app/labs/mask/studio.h"
#include "app/shell/panels.h"
#include "app/widgets/controls.h"
#include "app/widgets/paint.h"
#include "app/widgets/text_box.h"
#include "app/widgets/track.h"

namespace headscope::app {

bool beginDialog(View& view, const char* name, const std::string& title, float width, float height,
                 bool atBottom) {
  const ImVec2 screen = ImGui::GetIO().DisplaySize;
  const float w = std::min(view.px(width), screen.x - view.px(24)),
              h = std::min(view.px(height), screen.y - view.px(24));
  // A full-window pane below the dialog takes clicks that miss it: they close it.
  ImGui::SetNextWindowPos(ImVec2(0, 0));
  ImGui::SetNextWindowSize(screen);
  ImGui::PushStyleColor(ImGuiCol_WindowBg, atBottom            ? 0u
                                           : view.theme->light ? IM_COL32(60, 66, 76, 110)
                                                               : IM_COL32(0, 0, 0, 150));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, 0);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 0);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(0, 0));  // clicks count to the very edge
  ImGui::Begin("##shade", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoNav |
                   ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoFocusOnAppearing);
  if (ImGui::InvisibleButton("##outside", screen)) view.dialog = Dialog::none;
  ImGui::End();
  ImGui::PopStyleVar(3);
  ImGui::PopStyleColor();
  ImGui::SetNextWindowPos(
      ImVec2((screen.x - w) / 2, atBottom ? screen.y - h - view.px(40) : (screen.y - h) / 2.4f));
  ImGui::SetNextWindowSize(ImVec2(w, h));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(view.px(22), view.px(18)));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, view.px(12));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 1);
  ImGui::PushStyleColor(ImGuiCol_WindowBg, view.theme->panel);
  const bool open = ImGui::Begin(name, nullptr,
                                 ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                                     ImGuiWindowFlags_NoNav | ImGuiWindowFlags_NoSavedSettings);
  ImGui::PopStyleColor();
  ImGui::PopStyleVar(3);
  ImGui::BringWindowToDisplayFront(ImGui::GetCurrentWindow());
  const ImVec2 at = ImGui::GetCursorScreenPos();
  paintText(*ImGui::GetWindowDrawList(), view.fonts->title, ImVec2(at.x, at.y + view.px(10)),
            view.theme->text, title);
  track("dialog", ImGui::GetWindowPos(), ImVec2(ImGui::GetWindowPos().x + w, ImGui::GetWindowPos().y + h));
  ImGui::Dummy(ImVec2(1, view.px(30)));
  return open;
}

void endDialog() {
  ImGui::End();
}

namespace {

void keyLine(const View& view, const std::string& keys, const std::string& what) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float height = view.px(22), column = view.px(140);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  paintText(list, view.fonts->monoSmall, ImVec2(at.x, at.y + height / 2), view.theme->text, keys);
  paintFitted(view, list, view.fonts->small, ImVec2(at.x + column, at.y + height / 2),
              ImGui::GetContentRegionAvail().x - column, view.theme->secondary, what);
  ImGui::Dummy(ImVec2(1, height));
}

void shortcutSheet(View& view) {
  if (beginDialog(view, "shortcuts", "Keyboard and mouse", 900, 690)) {
    const float half = ImGui::GetContentRegionAvail().x / 2 - view.px(10);
    ImGui::BeginChild("keys", ImVec2(half, 0), false, ImGuiWindowFlags_NoBackground);
    std::string section;
    for (const ActionInfo& info : allActions()) {
      if (info.shortcut.key == Key::none) continue;
      if (section != info.section) {
        if (!section.empty()) gap(view, 5);
        section = info.section;
      }
      keyLine(view, shortcutText(info.shortcut), info.name);
    }
    ImGui::EndChild();
    ImGui::SameLine(0, view.px(20));
    ImGui::BeginChild("mouse", ImVec2(half, 0), false, ImGuiWindowFlags_NoBackground);
    sectionTitle(view, "HEADS");
    keyLine(view, "Point", "lights the query and key everywhere");
    keyLine(view, "Click", "shows that head large");
    keyLine(view, "Wheel, drag", "zooms and moves the large head");
    keyLine(view, "Esc", "back to all heads");
    gap(view, 6);
    sectionTitle(view, "SLIDERS");
    keyLine(view, "Drag", "only legal values can be reached");
    keyLine(view, "Wheel, ← →", "one step, while pointing");
    keyLine(view, "Double click", "types a value; Enter takes it");
    gap(view, 6);
    sectionTitle(view, "MASK STUDIO");
    keyLine(view, "Drag with a tool", "paints; with the arrow it moves");
    keyLine(view, "Wheel", "zooms all maps at once");
    keyLine(view, "Drag a layer", "moves it; a click opens it");
    keyLine(view, "Point at a cell", "says which layers mask it");
    gap(view, 6);
    sectionTitle(view, "MAP");
    keyLine(view, "Wheel, + −", "zooms from the whole head to single cells");
    keyLine(view, "Drag, arrows", "moves; Home shows the whole head");
    keyLine(view, "Click", "marks a query and a key");
    gap(view, 6);
    sectionTitle(view, "FILES");
    keyLine(view, "Drop .json", "opens a scene");
    keyLine(view, "Drop .safetensors", "loads weights; on the map, queries and keys");
    keyLine(view, "Drop .npy .csv", "loads embeddings; in the mask studio, a mask");
    ImGui::EndChild();
  }
  endDialog();
}

bool matches(const std::string& text, const std::string& wanted) {
  return std::search(text.begin(), text.end(), wanted.begin(), wanted.end(),
                     [](unsigned char a, unsigned char b) { return std::tolower(a) == std::tolower(b); }) !=
         text.end();
}

/// All actions by name: type to narrow, arrows to choose, Enter to act.
void palette(View& view) {
  static std::string wanted;
  static int chosen = 0;
  const bool first =
      ImGui::FindWindowByName("palette") == nullptr || !ImGui::FindWindowByName("palette")->WasActive;
  if (first) {
    wanted.clear();
    chosen = 0;
  }
  if (beginDialog(view, "palette", "Actions", 520, 460)) {
    const std::string before = wanted;
    const bool entered = lineBox(view, "palette.search", wanted, ImGui::GetContentRegionAvail().x, first,
                                 "Type to find an action");
    if (wanted != before) chosen = 0;
    std::vector<const ActionInfo*> found;
    for (const ActionInfo& info : allActions())
      if (info.action != Action::palette && matches(info.name, wanted)) found.push_back(&info);
    for (const InputEvent& event : view.input.events) {
      if (event.kind != InputEvent::Kind::key || !event.down || found.empty()) continue;
      if (event.key == Key::down) chosen = (chosen + 1) % static_cast<int>(found.size());
      if (event.key == Key::up)
        chosen = (chosen + static_cast<int>(found.size()) - 1) % static_cast<int>(found.size());
    }
    gap(view, 4);
    ImGui::BeginChild("list", ImVec2(0, 0), false, ImGuiWindowFlags_NoBackground);
    if (found.empty()) hint(view, "No action has “" + wanted + "” in its name.");
    int clicked = -1;
    for (int i = 0; i < static_cast<int>(found.size()); ++i) {
      const ActionInfo& info = *found[static_cast<std::size_t>(i)];
      const ImVec2 at = ImGui::GetCursorScreenPos();
      const float width = ImGui::GetContentRegionAvail().x, height = view.px(28);
      if (ImGui::InvisibleButton(info.name, ImVec2(width, height))) clicked = i;
      trackItem(std::string("palette.") + info.name);
      if (ImGui::IsItemHovered() && (ImGui::GetIO().MouseDelta.x != 0 || ImGui::GetIO().MouseDelta.y != 0))
        chosen = i;
      ImDrawList& list = *ImGui::GetWindowDrawList();
      if (i == chosen)
        list.AddRectFilled(at, ImVec2(at.x + width, at.y + height), view.theme->raised, view.px(5));
      paintText(list, view.fonts->text, ImVec2(at.x + view.px(10), at.y + height / 2), view.theme->text,
                info.name);
      paintText(list, view.fonts->monoSmall, ImVec2(at.x + width - view.px(10), at.y + height / 2),
                view.theme->faint, shortcutText(info.shortcut), Align::right);
    }
    ImGui::EndChild();
    if (entered && chosen < static_cast<int>(found.size())) clicked = chosen;
    if (clicked >= 0) {
      view.dialog = Dialog::none;
      view.request(found[static_cast<std::size_t>(clicked)]->action);
    }
  }
  endDialog();
}

void discardQuestion(View& view) {
  if (beginDialog(view, "discard", "Leave without saving?", 460, 170)) {
    hint(view, view.sceneName + " was edited since it was opened or saved.");
    gap(view, 8);
    if (button(view, "discard.leave", "Leave")) view.request(Action::quit);
    ImGui::SameLine(0, view.px(8));
    if (button(view, "discard.save", "Save")) {
      view.dialog = Dialog::none;
      view.request(Action::saveScene);
    }
    ImGui::SameLine(0, view.px(8));
    if (button(view, "discard.stay", "Stay")) view.dialog = Dialog::none;
  }
  endDialog();
}

}  // namespace

void dialogs(Scene& scene, const Snapshot* snapshot, View& view) {
  switch (view.dialog) {
    case Dialog::none:
      break;
    case Dialog::shortcuts:
      shortcutSheet(view);
      break;
    case Dialog::palette:
      palette(view);
      break;
    case Dialog::openScene:
      filePicker(view, "Open a scene", {".json"}, Action::openScene, false);
      break;
    case Dialog::saveScene:
      filePicker(view, "Save the scene", {".json"}, Action::saveSceneAs, true);
      break;
    case Dialog::openMapFile:
      filePicker(view, "Map queries and keys", {".safetensors"}, Action::openMapFile, false);
      break;
    case Dialog::openWeights:
      filePicker(view, "Load weights", {".safetensors"}, Action::openWeights, false);
      break;
    case Dialog::openTable:
      filePicker(view, "Load embeddings", {".npy", ".csv", ".tsv", ".txt"}, Action::openTable, false);
      break;
    case Dialog::table:
      tableEditor(scene, snapshot, view);
      break;
    case Dialog::discard:
      discardQuestion(view);
      break;
    case Dialog::gallery:
      gallery(scene, view);
      break;
    case Dialog::openMask:
      filePicker(view, "Load a mask", {".npy", ".csv", ".safetensors"}, Action::openMask, false);
      break;
    case Dialog::saveMask:
      filePicker(view, "Save the mask", {".npy", ".csv", ".safetensors", ".png"}, Action::saveMask, true);
      break;
    case Dialog::maskConvention:
      conventionQuestion(view);
      break;
  }
}

}  // namespace headscope::app
