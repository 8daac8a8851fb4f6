#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "app/labs/lab/wrong_parts.h"
#include "app/platform/track.h"
#include "app/widgets/paint.h"

namespace headscope::app {

namespace {

std::string measureText(double value) {
  if (std::isnan(value)) return "NaN";
  if (value == std::round(value) && std::abs(value) < 1000) return fmt::format("{:.0f}", value);
  return cellText(value);
}

/// The largest weight over dₖ with the mistake and without, and the handle that chooses dₖ.
void curve(Scene& scene, LabPage& page, const ImRect& area) {
  View& view = page.view;
  const Theme& theme = *view.theme;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float left = area.Min.x + view.px(34), bottom = area.Max.y - view.px(44),
              top = area.Min.y + view.px(34);
  paintSpaced(list, view.fonts->smallBold, ImVec2(area.Min.x, area.Min.y + view.px(8)), theme.faint,
              "LARGEST WEIGHT AGAINST dₖ", view.px(0.6f));
  if (bottom - top < view.px(50)) return;
  const auto& points = *page.curve;
  const auto last = static_cast<float>(points.size() - 1);
  const auto x = [&](std::size_t i) {
    return left + (area.Max.x - view.px(10) - left) * static_cast<float>(i) / last;
  };
  const auto y = [&](double share) { return bottom - static_cast<float>(share) * (bottom - top); };
  for (const double share : {0.0, 0.5, 1.0}) {
    list.AddLine(ImVec2(left, y(share)), ImVec2(area.Max.x, y(share)), theme.line);
    paintText(list, view.fonts->monoSmall, ImVec2(left - view.px(6), y(share)), theme.secondary,
              share == 0.5 ? "0.5" : fmt::format("{:.0f}", share), Align::right);
  }
  for (std::size_t i = 0; i < points.size(); ++i) {
    const bool chosen = points[i].headDim == scene.cursor.lab.mistakeDim;
    if (chosen) list.AddLine(ImVec2(x(i), top - view.px(6)), ImVec2(x(i), bottom), theme.secondary);
    paintText(list, view.fonts->monoSmall, ImVec2(x(i), bottom + view.px(16)),
              chosen ? theme.text : theme.secondary, std::to_string(points[i].headDim), Align::center);
    if (i > 0) {
      list.AddLine(ImVec2(x(i - 1), y(points[i - 1].wrongLargest)), ImVec2(x(i), y(points[i].wrongLargest)),
                   theme.error, std::max(1.0f, view.px(1.5f)));
      list.AddLine(ImVec2(x(i - 1), y(points[i - 1].rightLargest)), ImVec2(x(i), y(points[i].rightLargest)),
                   theme.text, std::max(1.0f, view.px(1.5f)));
    }
    paintCross(view, list, ImVec2(x(i), y(points[i].wrongLargest)), view.px(3.5f));
    list.AddRectFilled(ImVec2(x(i) - view.px(3), y(points[i].rightLargest) - view.px(3)),
                       ImVec2(x(i) + view.px(3), y(points[i].rightLargest) + view.px(3)), theme.text);
    if (chosen) list.AddCircleFilled(ImVec2(x(i), bottom), view.px(7), theme.text);
  }
  paintText(list, view.fonts->small, ImVec2(left, bottom + view.px(34)), theme.secondary,
            fitted(view.fonts->small,
                   fmt::format("drag dₖ; mean of {} random layers, 12 tokens", kSaturationLayers),
                   area.Max.x - left));
  ImGui::SetCursorScreenPos(ImVec2(left - view.px(10), top - view.px(8)));
  ImGui::InvisibleButton("wrong.curve", ImVec2(area.Max.x - left + view.px(10), bottom - top + view.px(30)));
  trackItem("wrong.curve");
  if (!ImGui::IsItemActive()) return;
  const float share = (ImGui::GetIO().MousePos.x - left) / std::max(x(points.size() - 1) - left, 1.0f);
  scene.cursor.lab.mistakeDim =
      points[static_cast<std::size_t>(std::lround(std::clamp(share, 0.0f, 1.0f) * last))].headDim;
  scene.cursor.lab.subject = MistakeSubject::random;
}

}  // namespace

void wrongSide(Scene& scene, LabPage& page, const ImRect& area) {
  View& view = page.view;
  const Theme& theme = *view.theme;
  const MistakeStudy& study = *page.study;
  const attention::MistakeInfo& info =
      attention::mistakes()[static_cast<std::size_t>(study.question.mistake)];
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const bool small = area.GetHeight() < view.px(440);
  float y = area.Min.y + view.px(14);
  const auto heading = [&](const char* words) {
    paintSpaced(list, view.fonts->smallBold, ImVec2(area.Min.x, y), theme.faint, words, view.px(1));
    y += view.px(14);
  };
  heading("SYMPTOM");
  std::string symptom(info.symptom);
  symptom.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(symptom.front())));
  y += paintParagraph(list, view.fonts->text, ImVec2(area.Min.x, y), area.GetWidth(), theme.text,
                      symptom + ".") +
       view.px(small ? 14 : 30);
  if (!study.result.measures.empty()) heading("KNOW IT BY");
  for (const attention::MistakeMeasure& measure : study.result.measures) {
    y += paintParagraph(list, view.fonts->text, ImVec2(area.Min.x, y), area.GetWidth(), theme.secondary,
                        measure.name) +
         view.px(14);
    paintCross(view, list, ImVec2(area.Min.x + view.px(6), y), view.px(5));
    paintText(list, view.fonts->monoHero, ImVec2(area.Min.x + view.px(22), y), theme.text,
              measureText(measure.wrong));
    const float middle = area.Min.x + area.GetWidth() * 0.5f;
    paintTick(view, list, ImVec2(middle, y), view.px(6));
    paintText(list, view.fonts->monoHero, ImVec2(middle + view.px(18), y), theme.text,
              measureText(measure.right));
    y += view.px(small ? 22 : 34);
  }
  if (study.leftOut && !study.result.clash) {
    y += paintParagraph(list, view.fonts->small, ImVec2(area.Min.x, y), area.GetWidth(), theme.secondary,
                        "The layer's position biases and soft-cap are left out here.") +
         view.px(10);
  }
  if (aboutScale(study.question.mistake) && page.curve)
    curve(scene, page,
          ImRect(area.Min.x, y + view.px(10), area.Max.x, std::min(area.Max.y, y + view.px(330))));
}

}  // namespace headscope::app
