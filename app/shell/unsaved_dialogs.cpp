// The questions about work that is in no file.

#include <fmt/core.h>

#include <algorithm>

#include "app/platform/track.h"
#include "app/shell/shell.h"
#include "app/widgets/controls.h"
#include "app/widgets/paint.h"

namespace headscope::app {

namespace {

constexpr float kRowHeight = 32, kRowsShown = 6;

/// High enough for so many rows, up to those that are shown without scrolling; `rest` is all else, in units.
float questionHeight(std::size_t rows, float rest) {
  return rest + kRowHeight * std::min(static_cast<float>(rows), kRowsShown);
}

/// Rows below each other: what doesn't fit scrolls.
template <typename Row>
void questionRows(const View& view, std::size_t count, const Row& row) {
  const float height = view.px(questionHeight(count, 0));
  if (ImGui::BeginChild("rows", ImVec2(0, height), false, ImGuiWindowFlags_NoBackground))
    for (std::size_t i = 0; i < count; ++i) {
      const ImVec2 at = ImGui::GetCursorScreenPos();
      row(i, at, ImGui::GetContentRegionAvail().x);
      ImGui::SetCursorScreenPos(ImVec2(at.x, at.y + view.px(kRowHeight)));
      ImGui::Dummy(ImVec2(1, 0));
    }
  compat::endChild();
}

}  // namespace

void LeaveQuestion::draw(Scene&, View& view, bool) {
  // What is called may put another dialog in this one's place.
  const std::shared_ptr<Dialog> self = view.dialog;
  std::function<void()> answer;
  if (beginDialog(view, "discard", "Close without saving?", 520, questionHeight(unsaved_.size(), 118))) {
    questionRows(view, unsaved_.size(), [&](std::size_t i, ImVec2 at, float width) {
      const UnsavedLine& line = unsaved_[i];
      const float y = at.y + view.px(14), buttonRoom = view.px(66);
      const Canvas list = *ImGui::GetWindowDrawList();
      const float name = std::min(textWidth(view.fonts->bold, line.name) + 1, (width - buttonRoom) / 2);
      paintFitted(view, list, view.fonts->bold, ImVec2(at.x, y), name, view.theme->text, line.name);
      paintFitted(view, list, view.fonts->text, ImVec2(at.x + name + view.px(10), y),
                  width - buttonRoom - name - view.px(20), view.theme->secondary, line.place);
      const char* label = line.hasFile ? "Save" : "Save…";
      ImGui::SetCursorScreenPos(ImVec2(at.x + width - buttonRoom, at.y));
      if (button(view, fmt::format("discard.save.{}", i), label)) answer = [this, i] { save_(i); };
    });
    gap(view, 10);
    if (button(view, "discard.leave", "Close")) answer = leave_;
    ImGui::SameLine(0, view.px(8));
    if (button(view, "discard.stay", "Cancel")) view.dialog.reset();
  }
  endDialog();
  if (answer) answer();
}

namespace {

/// Name, page and what the heads read: enough to know the scene again.
void recoveryLine(const View& view, const RecoveryQuestion::OfferedScene& scene, ImVec2 at, float width) {
  const Canvas list = *ImGui::GetWindowDrawList();
  const float y = at.y + view.px(14), between = view.px(10);
  float x = at.x;
  const auto part = [&](ImFont* font, std::uint32_t color, const std::string& text) {
    const float wide = std::min(textWidth(font, text) + 1, at.x + width - x);
    paintFitted(view, list, font, ImVec2(x, y), wide, color, text);
    x += wide + between;
  };
  part(view.fonts->bold, view.theme->text, scene.name);
  part(view.fonts->text, view.theme->secondary, scene.page);
  if (!scene.words.empty() && at.x + width - x > view.px(60))
    part(view.fonts->text, view.theme->secondary, "“" + scene.words.substr(0, scene.words.find('\n')) + "”");
}

}  // namespace

void RecoveryQuestion::draw(Scene&, View& view, bool) {
  const std::shared_ptr<Dialog> self = view.dialog;
  std::function<void()> answer;
  const bool readable = offer_.problem.empty();
  const float height = readable ? questionHeight(offer_.scenes.size(), 148) : 200;
  if (beginDialog(view, "recovery", "Restore unsaved work?", 640, height)) {
    if (readable) {
      hint(view,
           "Headscope closed without saving. This was kept " + offer_.ago + " ago, on " + offer_.when + ":");
      gap(view, 4);
      questionRows(view, offer_.scenes.size(), [&](std::size_t i, ImVec2 at, float width) {
        recoveryLine(view, offer_.scenes[i], at, width);
      });
    } else {
      hint(view,
           "Headscope closed without saving, and the recovery file can't be read: " + offer_.problem + ".");
    }
    gap(view, 10);
    if (readable) {
      if (button(view, "recovery.restore", "Restore")) answer = restore_;
      ImGui::SameLine(0, view.px(8));
    }
    if (button(view, "recovery.discard", "Discard")) answer = discard_;
    ImGui::SameLine(0, view.px(8));
    if (button(view, "recovery.later", "Not now")) view.dialog.reset();
  }
  endDialog();
  if (answer) answer();
}

}  // namespace headscope::app
