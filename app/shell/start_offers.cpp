// Offers below the opening scene, while nothing has been opened.

#include "app/platform/track.h"
#include "app/shell/workspace.h"
#include "app/widgets/controls.h"
#include "app/widgets/paint.h"

namespace headscope::app {

namespace {

constexpr float kOfferHeight = 48;  // units
constexpr float kMargin = 26, kBetween = 14;

/// Begins a band that stands out from the page above it.
bool beginOffer(const View& view, const char* name, const ImRect& area) {
  if (!beginPanel(view, name, area, 0, 0, ImGuiWindowFlags_NoScrollWithMouse)) return false;
  Canvas list = *ImGui::GetWindowDrawList();
  list.AddRectFilled(area.Min, area.Max, view.theme->raised);
  list.AddLine(area.Min, ImVec2(area.Max.x, area.Min.y), view.theme->line);
  return true;
}

float buttonWidth(const View& view, const std::string& label) {
  return textWidth(view.fonts->text, label) + view.px(24);
}

/// Offers the first lesson, once.
void lessonOffer(View& view, const ImRect& area) {
  if (beginOffer(view, "lesson.offer", area)) {
    const float y = area.GetCenter().y, x = area.Min.x + view.px(kMargin);
    const char *start = "Start  ▶", *decline = "Not now";
    const float buttons =
        textWidth(view.fonts->text, start) + textWidth(view.fonts->text, decline) + view.px(80);
    paintFitted(view, *ImGui::GetWindowDrawList(), view.fonts->title, ImVec2(x, y),
                area.GetWidth() - buttons - view.px(70), view.theme->text,
                "See how eight heads read one sentence, in six minutes.");
    ImGui::SetCursorScreenPos(ImVec2(area.Max.x - buttons - view.px(10), y - view.px(14)));
    if (button(view, "offer.start", start)) view.request("lesson.begin");
    ImGui::SameLine(0, view.px(kBetween));
    if (button(view, "offer.decline", decline, "", true)) view.request("lesson.decline");
  }
  endPanel();
}

/// Offers recent files, as many as fit. Returns the index of the clicked file, or files.size() if the offer
/// was declined.
std::optional<std::size_t> recentOffer(View& view, const ImRect& area, std::span<const RecentFile> files) {
  std::optional<std::size_t> clicked;
  if (beginOffer(view, "recent.offer", area)) {
    const Canvas list = *ImGui::GetWindowDrawList();
    const float y = area.GetCenter().y, between = view.px(kBetween);
    const std::string all = "Open…", decline = "Not now";
    const float end =
        area.Max.x - view.px(kMargin) - buttonWidth(view, all) - between - buttonWidth(view, decline);
    float x = area.Min.x + view.px(kMargin);
    x += paintText(list, view.fonts->title, ImVec2(x, y), view.theme->text, "Open again") + view.px(22);
    for (std::size_t i = 0; i < files.size(); ++i) {
      const std::string kind = recentWord(files[i].kind), name = recentName(files[i]);
      const float word = textWidth(view.fonts->small, kind) + view.px(8), wide = buttonWidth(view, name);
      if (x + word + wide + between > end) break;
      paintText(list, view.fonts->small, ImVec2(x, y), view.theme->secondary, kind);
      ImGui::SetCursorScreenPos(ImVec2(x + word, y - view.px(14)));
      if (button(view, "offer.recent." + std::to_string(i), name)) clicked = i;
      if (ImGui::IsItemHovered()) tooltip(view, attention::shownPath(files[i].path));
      x += word + wide + between;
    }
    ImGui::SetCursorScreenPos(ImVec2(end, y - view.px(14)));
    if (button(view, "offer.open", all)) view.request("scene.open");
    ImGui::SameLine(0, between);
    if (button(view, "offer.recent.decline", decline, "", true)) clicked = files.size();
  }
  endPanel();
  return clicked;
}

}  // namespace

void StartOffer::offerRecent() {
  files_.readRecent([this](std::vector<RecentFile> files) { recent_ = std::move(files); });
}

/// Offered at the first start, unless the user opened something else.
bool StartOffer::offersLesson() const {
  const View& view = services_.view;
  return view.showTimings && !view.present && !view.preferences.lessonOffered &&
         workspace_.working()->scene().cursor.page == "heads" && workspace_.own()->path().empty() &&
         !workspace_.onStage();
}

/// Offered until the window holds work.
bool StartOffer::offersRecent() {
  if (!workspace_.own()->path().empty() || workspace_.own()->undoSteps() > 0 || workspace_.onStage())
    recent_.clear();
  return !recent_.empty() && !services_.view.present && !offersLesson();
}

float StartOffer::height() {
  return offersLesson() || offersRecent() ? services_.view.px(kOfferHeight) : 0;
}

void StartOffer::draw(const Layout& layout, float width) {
  View& view = services_.view;
  const ImRect area(0, layout.status.Min.y - view.px(kOfferHeight), width, layout.status.Min.y);
  if (offersLesson()) return lessonOffer(view, area);
  if (!offersRecent()) return;
  const auto clicked = recentOffer(view, area, recent_);
  if (!clicked) return;
  if (*clicked < recent_.size())
    files_.openRecent(recent_[*clicked], Outcome(view));
  else
    recent_.clear();
  view.redraw();
}

}  // namespace headscope::app
