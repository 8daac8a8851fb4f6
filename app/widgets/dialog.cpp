#include "app/widgets/dialog.h"

#include <fmt/core.h>

#include "app/platform/outside_files.h"
#include "app/platform/track.h"
#include "app/platform/ui_state.h"
#include "app/scene/models/open_model.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/controls.h"
#include "app/widgets/paint.h"
#include "app/widgets/text/text_box.h"

namespace headscope::app {

bool beginDialog(View& view, const char* name, const ImRect& box, bool shaded, ImVec2 padding) {
  const ImVec2 screen = ImGui::GetIO().DisplaySize;
  // A pane over the whole window, below the dialog, catches clicks outside; they close the dialog.
  ImGui::SetNextWindowPos(ImVec2(0, 0));
  ImGui::SetNextWindowSize(screen);
  ImGui::PushStyleColor(ImGuiCol_WindowBg, !shaded             ? 0u
                                           : view.theme->light ? IM_COL32(60, 66, 76, 110)
                                                               : IM_COL32(0, 0, 0, 150));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, 0);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 0);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(0, 0));  // clicks count up to the very edge
  ImGui::Begin("##shade", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoNav |
                   ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoFocusOnAppearing);
  if (compat::invisibleButton("##outside", screen)) view.dialog.reset();
  uiState().focus.cover();
  compat::end();
  ImGui::PopStyleVar(3);
  ImGui::PopStyleColor();
  ImGui::SetNextWindowPos(box.Min);
  ImGui::SetNextWindowSize(box.GetSize());
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, padding);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, view.px(12));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 1);
  ImGui::PushStyleColor(ImGuiCol_WindowBg, view.theme->panel);
  const bool open = ImGui::Begin(name, nullptr,
                                 ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                                     ImGuiWindowFlags_NoNav | ImGuiWindowFlags_NoSavedSettings);
  ImGui::PopStyleColor();
  ImGui::PopStyleVar(3);
  ImGui::BringWindowToDisplayFront(ImGui::GetCurrentWindow());
  track("dialog", box.Min, box.Max);
  return open;
}

bool beginDialog(View& view, const char* name, const std::string& title, float width, float height,
                 bool atBottom) {
  const ImVec2 screen = ImGui::GetIO().DisplaySize;
  const ImVec2 size(std::min(view.px(width), screen.x - view.px(24)),
                    std::min(view.px(height), screen.y - view.px(24)));
  const ImVec2 from((screen.x - size.x) / 2,
                    atBottom ? screen.y - size.y - view.px(40) : (screen.y - size.y) / 2.4f);
  const bool open = beginDialog(view, name, ImRect(from, ImVec2(from.x + size.x, from.y + size.y)), !atBottom,
                                ImVec2(view.px(22), view.px(18)));
  const ImVec2 at = ImGui::GetCursorScreenPos();
  paintText(*ImGui::GetWindowDrawList(), view.fonts->title, ImVec2(at.x, at.y + view.px(10)),
            view.theme->text, title);
  ImGui::Dummy(ImVec2(1, view.px(30)));
  return open;
}

void endDialog() {
  compat::end();
}

namespace fs = std::filesystem;
using attention::shownPath;

namespace {
/// Shorter reads are not worth a message.
constexpr double kLongSeconds = 0.5;
/// Leaves space for the folder's own files.
constexpr std::size_t kRecentRows = 6;
constexpr float kBeside = 296;  ///< width of the column right of the list, in layout units

std::string readingText(const FolderReads::Look& look) {
  const std::string text = "Reading " + shownPath(look.question().path) + " …";
  return look.seen() == 0 ? text : fmt::format("{} {} entries so far", text, countText(look.seen()));
}

/// Shortens a long path at its start, since its end says more.
std::string fittedPath(const View& view, std::string shown, float width) {
  while (textWidth(view.fonts->text, shown) > width && shown.size() > 4)
    shown = "…" + shown.substr(shown.find('/', 4) == std::string::npos ? 4 : shown.find('/', 4));
  return shown;
}
}  // namespace

std::string recentName(const RecentFile& file) {
  const fs::path path = file.path;
  return shownPath(file.kind == RecentKind::model ? fs::path(downloadedName(path)) : path.filename());
}

FilePicker::FilePicker(FileQuestion question, FolderReads& folders)
    : question_(std::move(question)), folders_(folders), typed_(question_.proposal), folder_(folders.last) {
  std::error_code ignored;
  if (folder_.empty()) folder_ = fs::current_path(ignored);
  look(folder_, Wish::enter);
  // Don't ask if a folder would do as well: the user must first choose between files and a folder.
  if (!question_.saves() && question_.folderFile.empty() && hasOutsideFiles())
    askForOutsideFiles(question_.endings);
}

/// A new request cancels the previous one.
void FilePicker::look(const fs::path& path, Wish wish) {
  const bool named = question_.saves() && wish == Wish::choose;
  look_ = folders_.look({path, question_.endings, named ? question_.endings.front() : ""});
  wish_ = wish;
}

void FilePicker::takeLook(Scene& scene, View& view) {
  if (!look_) return;
  std::optional<FoundPath> found = look_->take();
  if (!found) return;
  look_.reset();
  view.redraw();
  if (found->kind == FoundPath::Kind::folder || wish_ == Wish::enter) {
    const bool given = wish_ == Wish::choose && isAnswer(*found);
    if (wish_ == Wish::choose) typed_.clear();
    enter(*std::move(found));
    if (given) choose(scene, view, folder_ / question_.folderFile, FoundPath::Kind::file);
    return;
  }
  choose(scene, view, found->path, found->kind);
}

void FilePicker::enter(FoundPath found) {
  if (found.kind != FoundPath::Kind::folder)
    found.problem = "There is no folder " + shownPath(found.path) + ".";
  folders_.last = folder_ = found.path;
  found_ = std::move(found);
  listed_ = true;
}

void FilePicker::choose(Scene& scene, View& view, const fs::path& path, FoundPath::Kind kind) {
  refused_ = refusal(path, kind);
  if (!refused_.empty()) return;
  if (question_.saves() && kind == FoundPath::Kind::file && !confirmReplace_) {
    confirmReplace_ = true;
    return;
  }
  view.messages.clear();
  outcome_ = std::make_shared<Outcome::Answer>();
  question_.chosen(scene, path, Outcome(view, outcome_));
}

std::string FilePicker::refusal(const fs::path& path, FoundPath::Kind kind) const {
  const std::string name = shownPath(path.filename()), ending = path.extension().string();
  if (!question_.saves())
    return kind == FoundPath::Kind::file ? "" : name + " is not in " + shownPath(path.parent_path()) + ".";
  const auto& endings = question_.endings;
  if (std::find(endings.begin(), endings.end(), ending) == endings.end())
    return name + " ends in " + shownPath(ending) + "; expected " + alternatives(endings) + ".";
  if (kind == FoundPath::Kind::missing) return "There is no folder " + shownPath(path.parent_path()) + ".";
  return "";
}

/// Shows a failure next to the name; success closes the dialog.
void FilePicker::takeOutcome(View& view) {
  if (!outcome_ || !outcome_->came) return;
  refused_ = outcome_->failure;
  outcome_.reset();
  confirmReplace_ = false;
  if (refused_.empty() && view.dialog.get() == this) view.dialog.reset();
}

bool FilePicker::isAnswer(const FoundPath& found) const {
  return !question_.folderFile.empty() &&
         std::find(found.entries.begin(), found.entries.end(), FolderEntry{question_.folderFile, false}) !=
             found.entries.end();
}

bool FilePicker::looksLong() const {
  return look_ && look_->seconds() > kLongSeconds;
}

double FilePicker::nextFrameIn() const {
  return look_ ? 0.1 : Dialog::nextFrameIn();
}

bool FilePicker::row(const View& view, const FolderEntry& entry) const {
  const float width = ImGui::GetContentRegionAvail().x, height = view.px(26);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const bool clicked = hitArea("file." + entry.name, ImVec2(width, height));
  Canvas list = *ImGui::GetWindowDrawList();
  if (ImGui::IsItemHovered())
    list.AddRectFilled(at, ImVec2(at.x + width, at.y + height), view.theme->raised, view.px(4));
  paintFitted(view, list, view.fonts->text, ImVec2(at.x + view.px(8), at.y + height / 2), width - view.px(16),
              entry.folder ? view.theme->secondary : view.theme->text,
              entry.folder ? entry.name + "/" : entry.name);
  return clicked;
}

/// Shows recent files above the folder's own: kind, name and location.
void FilePicker::recentRows(View& view) {
  if (!question_.recent || question_.recent->empty()) return;
  sectionTitle(view, "RECENT");
  std::optional<std::size_t> chosen;
  for (std::size_t i = 0; i < std::min(question_.recent->size(), kRecentRows); ++i) {
    const RecentFile& file = (*question_.recent)[i];
    const std::string name = recentName(file);
    const float width = ImGui::GetContentRegionAvail().x, height = view.px(26), kind = view.px(62);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    if (hitArea("recent." + std::to_string(i), ImVec2(width, height))) chosen = i;
    const Canvas list = *ImGui::GetWindowDrawList();
    if (ImGui::IsItemHovered())
      list.AddRectFilled(at, ImVec2(at.x + width, at.y + height), view.theme->raised, view.px(4));
    const float y = at.y + height / 2, named = std::min(textWidth(view.fonts->text, name) + 1, width / 2);
    paintText(list, view.fonts->small, ImVec2(at.x + view.px(8), y), view.theme->secondary,
              recentWord(file.kind));
    paintFitted(view, list, view.fonts->text, ImVec2(at.x + kind, y), named, view.theme->text, name);
    const float from = at.x + kind + named + view.px(10), room = at.x + width - view.px(8) - from;
    paintText(list, view.fonts->small, ImVec2(from, y), view.theme->secondary,
              fittedPath(view, shownPath(fs::path(file.path).parent_path()), room));
  }
  gap(view, 6);
  if (!chosen || outcome_) return;
  view.messages.clear();
  outcome_ = std::make_shared<Outcome::Answer>();
  question_.recentChosen((*question_.recent)[*chosen], Outcome(view, outcome_));
}

/// Shows the current folder, or what the dialog is waiting for. Keeps space for the button that stops
/// waiting.
void FilePicker::top(View& view) {
  if (button(view, "files.up", "Up", folder_.has_relative_path() ? "" : "This is the top folder"))
    look(folder_.parent_path(), Wish::enter);
  ImGui::SameLine(0, view.px(10));
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float stop = view.px(70), width = ImGui::GetContentRegionAvail().x - stop;
  const bool waits = looksLong();
  paintText(*ImGui::GetWindowDrawList(), view.fonts->text, ImVec2(at.x, at.y + view.px(14)),
            view.theme->secondary, fittedPath(view, waits ? readingText(*look_) : shownPath(folder_), width));
  ImGui::Dummy(ImVec2(width, view.px(28)));
  if (!waits) return;
  trackItem("files.reading");
  ImGui::SameLine(0, view.px(8));
  if (!button(view, "files.stop", "Stop")) return;
  if (!listed_) found_.problem = "Reading " + shownPath(folder_) + " was stopped.";
  look_.reset();
  listed_ = true;
}

/// Draws the list, and what belongs beside it.
void FilePicker::files(View& view) {
  const float foot = view.px(164);  // with space for a two-line error about the name
  const ImVec2 room(ImGui::GetContentRegionAvail().x, ImGui::GetContentRegionAvail().y - foot);
  const float beside = question_.beside && room.x >= view.px(600) ? view.px(kBeside) : 0;
  list(view, ImVec2(room.x - beside, room.y));
  if (beside == 0) return;
  ImGui::SameLine(0, view.px(16));
  ImGui::BeginChild("beside", ImVec2(beside - view.px(16), room.y), false, ImGuiWindowFlags_NoBackground);
  question_.beside(view);
  compat::endChild();
}

void FilePicker::list(View& view, const ImVec2& size) {
  ImGui::BeginChild("entries", size, false, ImGuiWindowFlags_NoBackground);
  recentRows(view);
  if (!found_.problem.empty()) problem(view, found_.problem);
  if (listed_ && found_.problem.empty() && found_.entries.empty())
    hint(view, "No folders and no " + alternatives(question_.endings) + " files here.");
  for (const FolderEntry& entry : found_.entries) {
    if (!row(view, entry)) continue;
    if (question_.saves() && !entry.folder) {
      typed_ = entry.name;
      confirmReplace_ = false;
    } else {
      look(folder_ / entry.name, entry.folder ? Wish::enter : Wish::choose);
    }
  }
  if (found_.omitted > 0) hint(view, countText(found_.omitted) + " more. Type a name or a full path.");
  compat::endChild();
}

void FilePicker::belowTheLine(const View& view) const {
  if (!refused_.empty()) {
    problem(view, refused_);
    trackItem("files.refused");
  } else if (confirmReplace_) {
    problem(view, "A file with this name exists. Choose Replace to overwrite it.");
  } else if (!question_.folderFile.empty()) {
    hint(view,
         "A folder with " + question_.folderFile + ", or a " + alternatives(question_.endings) + " file.");
  } else if (question_.endings.size() > 1 || question_.saves()) {
    hint(view, "File types: " + alternatives(question_.endings));
  }
}

void FilePicker::answerLine(View& view, bool opening) {
  const std::string before = typed_;
  const bool entered = lineBox(view, "files.path", typed_, ImGui::GetContentRegionAvail().x,
                               opening || std::exchange(typesOn_, false), "A file name or a full path");
  typesOn_ = entered;
  if (entered) view.redraw(2);
  if (before != typed_) {
    confirmReplace_ = false;
    refused_.clear();
    if (wish_ == Wish::choose) look_.reset();  // the pending answer no longer matches the text
  }
  const ImVec2 below = ImGui::GetCursorScreenPos();
  belowTheLine(view);
  ImGui::SetCursorScreenPos(ImVec2(below.x, below.y + view.px(56)));
  const bool busy = outcome_ || (look_ && wish_ == Wish::choose);
  const bool nothing = typed_.empty() && !isAnswer(found_);
  const std::string reason = nothing ? "Type a name, or click on a file" : busy ? "Working…" : "";
  const char* word = outcome_             ? "…"
                     : !question_.saves() ? (typed_.empty() && !nothing ? "Open this folder" : "Open")
                     : confirmReplace_    ? "Replace"
                                          : "Save";
  const bool pressed = button(view, "files.ok", word, reason);
  ImGui::SameLine(0, view.px(8));
  if (!question_.saves() && hasOutsideFiles()) {
    if (button(view, "files.outside", "From this computer…")) askForOutsideFiles(question_.endings);
    ImGui::SameLine(0, view.px(8));
    if (!question_.folderFile.empty()) {
      if (button(view, "files.folder", "A folder of this computer…")) askForOutsideFolder();
      ImGui::SameLine(0, view.px(8));
    }
  }
  // Closing doesn't stop reading or writing a file; the status line then shows the result.
  if (button(view, "files.cancel", outcome_ ? "Close" : "Cancel")) view.dialog.reset();
  if ((pressed || entered) && reason.empty())
    look(folder_ / (typed_.empty() ? question_.folderFile : typed_), Wish::choose);
}

void FilePicker::draw(Scene& scene, View& view, bool opening) {
  if (const fs::path given = takeOutsideFile(); !given.empty() && !question_.saves())
    look(given, Wish::choose);
  takeLook(scene, view);
  takeOutcome(view);
  if (beginDialog(view, "files", question_.title, question_.beside ? 640 + kBeside : 640,
                  question_.recent || question_.beside ? 600 : 500)) {
    top(view);
    gap(view, 4);
    files(view);
    gap(view, 4);
    answerLine(view, opening);
  }
  endDialog();
}

}  // namespace headscope::app
