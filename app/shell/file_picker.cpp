#include <algorithm>
#include <filesystem>

#include "app/shell/dialogs.h"
#include "app/widgets/controls.h"
#include "app/widgets/paint.h"
#include "app/widgets/text_box.h"
#include "app/widgets/track.h"

namespace headscope::app {

namespace fs = std::filesystem;

namespace {

struct Entry {
  std::string name;
  bool folder = false;
};

/// What the picker shows; kept between frames so that the folder is not read sixty times a second.
struct Picker {
  fs::path folder;
  std::string typed;
  std::vector<Entry> entries;
  std::string problem;
  bool confirmReplace = false;
};

Picker& picker() {
  static Picker state;
  return state;
}

void readFolder(Picker& state, const std::vector<std::string>& endings) {
  state.entries.clear();
  state.problem.clear();
  std::error_code error;
  fs::directory_iterator at(state.folder, fs::directory_options::skip_permission_denied, error);
  if (error) {
    state.problem = state.folder.string() + " can't be read: " + error.message();
    return;
  }
  constexpr std::size_t kMaxEntries = 2000;
  for (; at != fs::directory_iterator() && state.entries.size() < kMaxEntries; at.increment(error)) {
    if (error) break;
    std::error_code ignored;
    const std::string name = at->path().filename().string();
    if (name.empty() || name.front() == '.') continue;
    const bool folder = at->is_directory(ignored);
    const bool wanted =
        std::find(endings.begin(), endings.end(), at->path().extension().string()) != endings.end();
    if (folder || wanted) state.entries.push_back({name, folder});
  }
  std::sort(state.entries.begin(), state.entries.end(),
            [](const Entry& a, const Entry& b) { return a.folder != b.folder ? a.folder : a.name < b.name; });
}

void enter(Picker& state, const fs::path& folder, const std::vector<std::string>& endings) {
  state.folder = folder;
  readFolder(state, endings);
}

/// A folder is entered; anything else is the answer.
void choose(View& view, Picker& state, const fs::path& path, const std::vector<std::string>& endings,
            Action action, bool saving) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) {
    state.typed.clear();
    return enter(state, path, endings);
  }
  if (saving &&
      fs::exists(path.extension().empty() ? fs::path(path.string() + endings.front()) : path, ignored) &&
      !state.confirmReplace) {
    state.confirmReplace = true;
    return;
  }
  view.requestedPath = path.string();
  view.dialog = Dialog::none;
  view.request(action);
}

bool entryRow(const View& view, const Entry& entry) {
  const float width = ImGui::GetContentRegionAvail().x, height = view.px(26);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const bool clicked = ImGui::InvisibleButton(entry.name.c_str(), ImVec2(width, height));
  trackItem("file." + entry.name);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  if (ImGui::IsItemHovered())
    list.AddRectFilled(at, ImVec2(at.x + width, at.y + height), view.theme->raised, view.px(4));
  paintFitted(view, list, view.fonts->text, ImVec2(at.x + view.px(8), at.y + height / 2), width - view.px(16),
              entry.folder ? view.theme->secondary : view.theme->text,
              entry.folder ? entry.name + "/" : entry.name);
  return clicked;
}

}  // namespace

void filePicker(View& view, const std::string& title, const std::vector<std::string>& endings, Action action,
                bool saving) {
  Picker& state = picker();
  const ImGuiWindow* window = ImGui::FindWindowByName("files");
  const bool first = window == nullptr || !window->WasActive;
  if (first) {
    std::error_code ignored;
    state.typed = !saving ? "" : action == Action::saveMask ? "mask.npy" : "scene.json";
    state.confirmReplace = false;
    enter(state, state.folder.empty() ? fs::current_path(ignored) : state.folder, endings);
  }
  if (beginDialog(view, "files", title, 640, 500)) {
    if (button(view, "files.up", "Up", state.folder.has_relative_path() ? "" : "This is the top folder"))
      enter(state, state.folder.parent_path(), endings);
    ImGui::SameLine(0, view.px(10));
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x;
    // The end of a long path says more than its beginning.
    std::string shown = state.folder.string();
    while (textWidth(view.fonts->text, shown) > width && shown.size() > 4)
      shown = "…" + shown.substr(shown.find('/', 4) == std::string::npos ? 4 : shown.find('/', 4));
    paintText(*ImGui::GetWindowDrawList(), view.fonts->text, ImVec2(at.x, at.y + view.px(14)),
              view.theme->secondary, shown);
    ImGui::Dummy(ImVec2(1, view.px(28)));
    gap(view, 4);
    const float foot = view.px(state.confirmReplace ? 132 : 92);
    ImGui::BeginChild("entries", ImVec2(0, ImGui::GetContentRegionAvail().y - foot), false,
                      ImGuiWindowFlags_NoBackground);
    if (!state.problem.empty()) problem(view, state.problem);
    if (state.problem.empty() && state.entries.empty())
      hint(view, "No folders and no " + endings.front() + " files here.");
    const std::vector<Entry> entries = state.entries;
    for (const Entry& entry : entries)
      if (entryRow(view, entry)) {
        if (saving && !entry.folder) {
          state.typed = entry.name;
          state.confirmReplace = false;
        } else {
          choose(view, state, state.folder / entry.name, endings, action, saving);
        }
      }
    ImGui::EndChild();
    gap(view, 4);
    const std::string before = state.typed;
    const bool entered = lineBox(view, "files.path", state.typed, ImGui::GetContentRegionAvail().x, first,
                                 "A name here, or a whole path");
    if (before != state.typed) state.confirmReplace = false;
    if (state.confirmReplace)
      problem(view, "A file of that name is there. " + std::string("Choose Replace to write over it."));
    gap(view, 2);
    const std::string empty = state.typed.empty() ? "Type a name, or click on a file" : "";
    const bool pressed = button(view, "files.ok",
                                !saving                ? "Open"
                                : state.confirmReplace ? "Replace"
                                                       : "Save",
                                empty);
    ImGui::SameLine(0, view.px(8));
    if (button(view, "files.cancel", "Cancel")) view.dialog = Dialog::none;
    if ((pressed || entered) && empty.empty())
      choose(view, state, state.folder / state.typed, endings, action, saving);
  }
  endDialog();
}

}  // namespace headscope::app
