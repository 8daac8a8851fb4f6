#include "app/widgets/file_picker.h"

#include <algorithm>
#include <utility>

#include "app/platform/track.h"
#include "app/scene/field.h"
#include "app/widgets/controls.h"
#include "app/widgets/paint.h"
#include "app/widgets/text_box.h"

namespace headscope::app {

namespace fs = std::filesystem;

FilePicker::FilePicker(FileQuestion question, fs::path& folder)
    : question_(std::move(question)), folder_(folder), typed_(question_.proposal) {
  std::error_code ignored;
  enter(folder_.empty() ? fs::current_path(ignored) : folder_);
}

void FilePicker::readFolder() {
  entries_.clear();
  problem_.clear();
  std::error_code error;
  fs::directory_iterator at(folder_, fs::directory_options::skip_permission_denied, error);
  if (error) {
    problem_ = folder_.string() + " can't be read: " + error.message();
    return;
  }
  constexpr std::size_t kMaxEntries = 2000;
  const auto& endings = question_.endings;
  for (; at != fs::directory_iterator() && entries_.size() < kMaxEntries; at.increment(error)) {
    if (error) break;
    std::error_code ignored;
    const std::string name = at->path().filename().string();
    if (name.empty() || name.front() == '.') continue;
    const bool folder = at->is_directory(ignored);
    const bool wanted =
        std::find(endings.begin(), endings.end(), at->path().extension().string()) != endings.end();
    if (folder || wanted) entries_.push_back({name, folder});
  }
  std::sort(entries_.begin(), entries_.end(),
            [](const Entry& a, const Entry& b) { return a.folder != b.folder ? a.folder : a.name < b.name; });
}

void FilePicker::enter(const fs::path& folder) {
  folder_ = fs::path(folder);
  readFolder();
}

/// A folder is entered; anything else is the answer.
void FilePicker::choose(Scene& scene, View& view, const fs::path& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) {
    typed_.clear();
    return enter(path);
  }
  const fs::path full = path.extension().empty() && question_.saves()
                            ? fs::path(path.string() + question_.endings.front())
                            : path;
  refused_ = refusal(full);
  if (!refused_.empty()) return;
  if (question_.saves() && fs::exists(full, ignored) && !confirmReplace_) {
    confirmReplace_ = true;
    return;
  }
  view.messages.clear();
  waiting_ = true;
  question_.chosen(scene, full);
}

std::string FilePicker::refusal(const fs::path& path) const {
  std::error_code ignored;
  const std::string name = path.filename().string(), ending = path.extension().string();
  if (!question_.saves())
    return fs::exists(path, ignored) ? "" : name + " is not in " + path.parent_path().string() + ".";
  const auto& endings = question_.endings;
  if (std::find(endings.begin(), endings.end(), ending) == endings.end())
    return name + " ends in " + ending + "; expected " + alternatives(endings) + ".";
  if (const fs::path folder = path.parent_path(); !folder.empty() && !fs::is_directory(folder, ignored))
    return "There is no folder " + folder.string() + ".";
  return "";
}

/// What failed belongs beside the name; what was done closes the dialog.
void FilePicker::takeOutcome(View& view) {
  if (!waiting_) return;
  if (!view.messages.error.empty()) {
    refused_ = std::exchange(view.messages.error, {});
    waiting_ = confirmReplace_ = false;
  } else if (!view.messages.notice.empty()) {
    view.dialog.reset();
  }
}

bool FilePicker::row(const View& view, const Entry& entry) const {
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

/// The folder that is shown. The end of a long path says more than its beginning.
void FilePicker::place(const View& view) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  std::string shown = folder_.string();
  while (textWidth(view.fonts->text, shown) > width && shown.size() > 4)
    shown = "…" + shown.substr(shown.find('/', 4) == std::string::npos ? 4 : shown.find('/', 4));
  paintText(*ImGui::GetWindowDrawList(), view.fonts->text, ImVec2(at.x, at.y + view.px(14)),
            view.theme->secondary, shown);
  ImGui::Dummy(ImVec2(1, view.px(28)));
}

void FilePicker::list(Scene& scene, View& view) {
  const float foot = view.px(164);  // with room for two lines that say what is wrong with the name
  ImGui::BeginChild("entries", ImVec2(0, ImGui::GetContentRegionAvail().y - foot), false,
                    ImGuiWindowFlags_NoBackground);
  if (!problem_.empty()) problem(view, problem_);
  if (problem_.empty() && entries_.empty())
    hint(view, "No folders and no " + question_.endings.front() + " files here.");
  const std::vector<Entry> entries = entries_;  // choosing a folder replaces them
  for (const Entry& entry : entries) {
    if (!row(view, entry)) continue;
    if (question_.saves() && !entry.folder) {
      typed_ = entry.name;
      confirmReplace_ = false;
    } else {
      choose(scene, view, folder_ / entry.name);
    }
  }
  compat::endChild();
}

void FilePicker::nameLine(Scene& scene, View& view, bool opening) {
  const std::string before = typed_;
  const bool entered = lineBox(view, "files.path", typed_, ImGui::GetContentRegionAvail().x, opening,
                               "A name here, or a whole path");
  if (before != typed_) {
    confirmReplace_ = false;
    refused_.clear();
  }
  const ImVec2 below = ImGui::GetCursorScreenPos();
  if (!refused_.empty()) {
    problem(view, refused_);
    trackItem("files.refused");
  } else if (confirmReplace_)
    problem(view, "A file of that name is there. Choose Replace to write over it.");
  else if (question_.endings.size() > 1 || question_.saves())
    hint(view, "Files that end in " + alternatives(question_.endings) + ".");
  ImGui::SetCursorScreenPos(ImVec2(below.x, below.y + view.px(56)));
  const std::string reason = typed_.empty() ? "Type a name, or click on a file" : waiting_ ? "Under way" : "";
  const char* word = waiting_ ? "…" : !question_.saves() ? "Open" : confirmReplace_ ? "Replace" : "Save";
  const bool pressed = button(view, "files.ok", word, reason);
  ImGui::SameLine(0, view.px(8));
  if (button(view, "files.cancel", "Cancel")) view.dialog.reset();
  if ((pressed || entered) && reason.empty()) choose(scene, view, folder_ / typed_);
}

void FilePicker::draw(Scene& scene, View& view, bool opening) {
  takeOutcome(view);
  if (beginDialog(view, "files", question_.title, 640, 500)) {
    if (button(view, "files.up", "Up", folder_.has_relative_path() ? "" : "This is the top folder"))
      enter(folder_.parent_path());
    ImGui::SameLine(0, view.px(10));
    place(view);
    gap(view, 4);
    list(scene, view);
    gap(view, 4);
    nameLine(scene, view, opening);
  }
  endDialog();
}

}  // namespace headscope::app
