// The questions about unsaved work.

#include "app/shell/unsaved_dialogs.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "app/platform/track.h"
#include "app/widgets/controls.h"
#include "app/widgets/paint.h"

namespace headscope::app {

namespace {

constexpr float kRowHeight = 32, kPictureRowHeight = 112, kRowsHeight = 2 * kPictureRowHeight;

/// Returns the height for that many rows, limited to what is shown without scrolling; `rest` is everything
/// else, in layout units.
float questionHeight(std::size_t rows, float rest, float rowHeight = kRowHeight) {
  return rest + std::min(rowHeight * static_cast<float>(rows), kRowsHeight);
}

/// Shows rows below each other; scrolls those that don't fit.
template <typename Row>
void questionRows(const View& view, std::size_t count, const Row& row, float rowHeight = kRowHeight) {
  const float height = view.px(questionHeight(count, 0, rowHeight));
  if (ImGui::BeginChild("rows", ImVec2(0, height), false, ImGuiWindowFlags_NoBackground))
    for (std::size_t i = 0; i < count; ++i) {
      const ImVec2 at = ImGui::GetCursorScreenPos();
      row(i, at, ImGui::GetContentRegionAvail().x);
      ImGui::SetCursorScreenPos(ImVec2(at.x, at.y + view.px(rowHeight)));
      ImGui::Dummy(ImVec2(1, 0));
    }
  compat::endChild();
}

}  // namespace

void QuitDialog::draw(Scene&, View& view, bool) {
  // Keeps this dialog alive, since a callback may replace it.
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

void ChangedFileDialog::draw(Scene&, View& view, bool) {
  // Keeps this dialog alive, since a callback may replace it.
  const std::shared_ptr<Dialog> self = view.dialog;
  const std::function<void()>* answer = nullptr;
  if (beginDialog(view, "changed", "Replace the changed file?", 520, 168)) {
    hint(view, "Another window or program has changed " + file_ +
                   " since you opened or saved it here. If you replace it, those changes are lost.");
    gap(view, 10);
    if (button(view, "changed.replace", "Replace")) answer = &replace_;
    ImGui::SameLine(0, view.px(8));
    if (button(view, "changed.save_as", "Save as…")) answer = &saveAs_;
    ImGui::SameLine(0, view.px(8));
    if (button(view, "changed.cancel", "Cancel")) view.dialog.reset();
  }
  endDialog();
  if (!answer) return;
  view.dialog.reset();
  (*answer)();
}

namespace {

/// Shows the scene's picture. Returns whether there is nothing more to wait for.
bool recoveryPicture(View& view, const RecoveryPreview& preview, std::size_t i, const ImRect& area) {
  const Canvas list = *ImGui::GetWindowDrawList();
  list.AddRectFilled(area.Min, area.Max, view.theme->raised, view.px(4));
  const auto texture = i < preview.scenes.size() ? view.pictures.of(preview.scenes[i]) : std::nullopt;
  if (texture)
    list.AddImage(compat::textureId(*texture), area.Min, area.Max, ImVec2(0, 1), ImVec2(1, 0));
  else
    paintText(list, view.fonts->small, area.GetCenter(), view.theme->secondary,
              preview.refused ? "No picture" : "Drawing…", Align::center);
  track("recovery.picture." + std::to_string(i), area.Min, area.Max);
  return texture || preview.refused;
}

/// Shows picture, name, page and text, so that the user recognises the scene. Returns whether the picture is
/// settled.
bool recoveryLine(View& view, const RecoveryDialog::Offer& offer, std::size_t i, ImVec2 at, float width) {
  const RecoveryDialog::OfferedScene& scene = offer.scenes[i];
  const float high = view.px(kPictureRowHeight - 12), wide = std::round(high * 16 / 9);
  const bool settled = recoveryPicture(view, *offer.preview, i, ImRect(at, ImVec2(at.x + wide, at.y + high)));
  const Canvas list = *ImGui::GetWindowDrawList();
  const float x = at.x + wide + view.px(16), room = at.x + width - x;
  float y = at.y + high / 2 - view.px(24);
  const auto line = [&](ImFont* font, std::uint32_t color, const std::string& text) {
    paintFitted(view, list, font, ImVec2(x, y), room, color, text);
    y += view.px(24);
  };
  line(view.fonts->bold, view.theme->text, scene.name);
  line(view.fonts->text, view.theme->secondary, scene.page);
  if (!scene.words.empty())
    line(view.fonts->text, view.theme->secondary, "“" + scene.words.substr(0, scene.words.find('\n')) + "”");
  return settled;
}

}  // namespace

void RecoveryDialog::draw(Scene&, View& view, bool) {
  const std::shared_ptr<Dialog> self = view.dialog;
  std::function<void()> answer;
  const bool readable = offer_.problem.empty();
  const float height = readable ? questionHeight(offer_.scenes.size(), 148, kPictureRowHeight) : 200;
  if (beginDialog(view, "recovery", "Restore unsaved work?", 640, height)) {
    if (readable) {
      hint(view,
           "Headscope closed without saving. This was kept " + offer_.ago + " ago, on " + offer_.when + ":");
      gap(view, 4);
      bool settled = true;
      questionRows(
          view, offer_.scenes.size(),
          [&](std::size_t i, ImVec2 at, float width) {
            settled = recoveryLine(view, offer_, i, at, width) && settled;
          },
          kPictureRowHeight);
      if (settled && !std::exchange(previewed_, true)) offer_.previewed();
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
    if (button(view, "recovery.later", "Not now")) {
      if (offer_.previewed) offer_.previewed();
      view.dialog.reset();
    }
  }
  endDialog();
  if (answer) answer();
}

}  // namespace headscope::app
