#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "app/pages/head_lab/mistakes/mistake_parts.h"
#include "app/platform/track.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/controls.h"
#include "app/widgets/paint.h"

namespace headscope::app {

namespace {

std::string measureText(double value) {
  if (std::isnan(value)) return "NaN";
  if (value == std::round(value) && std::abs(value) < 1000) return fixedText(value, 0);
  return cellText(value);
}

using attention::SaturationPoint;

/// What one plot shows of the random layers, with the mistake and without.
struct Curve {
  const char* name;
  const char* title;
  double SaturationPoint::*wrong;
  double SaturationPoint::*right;
};
constexpr Curve kCurves[] = {
    {"wrong.curve", "LARGEST WEIGHT BY dₖ", &SaturationPoint::wrongLargest, &SaturationPoint::rightLargest},
    {"wrong.entropy", "ENTROPY BY dₖ", &SaturationPoint::wrongEntropy, &SaturationPoint::rightEntropy}};

/// Where the points of a plot lie.
struct CurvePlace {
  float left, right, top, bottom;
  std::size_t points;

  float x(std::size_t i) const {
    return left + (right - left) * static_cast<float>(i) / static_cast<float>(points - 1);
  }
  float y(double share) const { return bottom - static_cast<float>(share) * (bottom - top); }
  std::size_t nearest(float at) const {
    const float share = std::clamp((at - left) / std::max(right - left, 1.0f), 0.0f, 1.0f);
    return static_cast<std::size_t>(std::lround(share * static_cast<float>(points - 1)));
  }
};

/// One line with its marks, ✗ for the mistake and squares without it, and its name below its second point.
void curveLine(const View& view, const CurvePlace& place, const std::vector<SaturationPoint>& points,
               double SaturationPoint::*value, bool wrong, std::string_view name) {
  const Theme& theme = *view.theme;
  Canvas list = *ImGui::GetWindowDrawList();
  const std::uint32_t color = wrong ? theme.error : theme.text;
  const auto at = [&](std::size_t i) { return ImVec2(place.x(i), place.y(points[i].*value)); };
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (i > 0) list.AddLine(at(i - 1), at(i), color, std::max(1.0f, view.px(1.5f)));
    if (wrong)
      paintCross(view, list, at(i), view.px(3.5f));
    else
      list.AddRectFilled(at(i) - ImVec2(view.px(3), view.px(3)), at(i) + ImVec2(view.px(3), view.px(3)),
                         color);
  }
  // Below its line, or above where that would leave the plot.
  const float low = std::max(at(1).y, at(2).y) + view.px(14);
  const float y = low < place.bottom - view.px(8) ? low : std::min(at(1).y, at(2).y) - view.px(14);
  paintText(list, view.fonts->small, ImVec2(place.x(1), y), color,
            fitted(view.fonts->small, name, place.right - place.x(1)));
}

/// A quantity over dₖ with the mistake and without, and the handle that chooses dₖ.
void curve(Scene& scene, HeadLabState& page, const ImRect& area, const Curve& shown) {
  const View& view = page.view;
  const Theme& theme = *view.theme;
  Canvas list = *ImGui::GetWindowDrawList();
  const auto& points = *page.curve;
  const CurvePlace place{area.Min.x + view.px(34), area.Max.x - view.px(10), area.Min.y + view.px(28),
                         area.Max.y - view.px(26), points.size()};
  paintSpaced(list, view.fonts->smallBold, ImVec2(area.Min.x, area.Min.y + view.px(8)), theme.faint,
              shown.title, view.px(0.6f));
  if (place.bottom - place.top < view.px(50)) return;
  for (const double share : {0.0, 0.5, 1.0}) {
    list.AddLine(ImVec2(place.left, place.y(share)), ImVec2(area.Max.x, place.y(share)), theme.line);
    paintText(list, view.fonts->monoSmall, ImVec2(place.left - view.px(6), place.y(share)), theme.secondary,
              roundedText(share), Align::right);
  }
  const float each = (place.right - place.left) / static_cast<float>(points.size() - 1);
  const std::size_t every = each >= view.px(26) ? 1 : 2;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const bool chosen = points[i].headDim == scene.cursor.lab.mistakeDim;
    if (chosen) {
      list.AddLine(ImVec2(place.x(i), place.top - view.px(6)), ImVec2(place.x(i), place.bottom),
                   theme.secondary);
      list.AddCircleFilled(ImVec2(place.x(i), place.bottom), view.px(7), theme.text);
    }
    if (chosen || (points.size() - 1 - i) % every == 0)
      paintText(list, view.fonts->monoSmall, ImVec2(place.x(i), place.bottom + view.px(16)),
                chosen ? theme.text : theme.secondary, std::to_string(points[i].headDim), Align::center);
  }
  const attention::MistakeInfo& info =
      attention::mistakes()[static_cast<std::size_t>(page.study->question.mistake)];
  curveLine(view, place, points, shown.wrong, true, info.title);
  curveLine(view, place, points, shown.right, false, "÷√dₖ");
  hitArea(shown.name, ImVec2(place.left - view.px(10), place.top - view.px(8)),
          ImVec2(area.Max.x - place.left + view.px(10), place.bottom - place.top + view.px(30)));
  const SaturationPoint& pointed = points[place.nearest(ImGui::GetIO().MousePos.x)];
  if (ImGui::IsItemHovered())
    tooltip(view, fmt::format("dₖ {}\n{}  {}\n÷√dₖ  {}", pointed.headDim, info.title,
                              fixedText(pointed.*shown.wrong, 2), fixedText(pointed.*shown.right, 2)));
  if (!ImGui::IsItemActive()) return;
  scene.cursor.lab.mistakeDim = pointed.headDim;
  scene.cursor.lab.subject = MistakeSubject::random;
}

/// Both quantities below each other; where there is room for one alone, buttons choose it.
void curves(Scene& scene, HeadLabState& page, const ImRect& area) {
  View& view = page.view;
  ImRect plots(area.Min.x, area.Min.y, area.Max.x, area.Max.y - view.px(20));
  Canvas list = *ImGui::GetWindowDrawList();
  paintText(list, view.fonts->small, ImVec2(area.Min.x, area.Max.y - view.px(8)), view.theme->secondary,
            fitted(view.fonts->small,
                   fmt::format("drag dₖ; mean of {} random layers, 12 tokens", kSaturationLayers),
                   area.GetWidth()));
  if (plots.GetHeight() >= view.px(320)) {
    const float middle = plots.GetCenter().y;
    curve(scene, page, ImRect(plots.Min.x, plots.Min.y, plots.Max.x, middle - view.px(8)), kCurves[0]);
    curve(scene, page, ImRect(plots.Min.x, middle + view.px(8), plots.Max.x, plots.Max.y), kCurves[1]);
    return;
  }
  const Choice choices[] = {{"Largest", "", "largest"}, {"Entropy", "", "entropy"}};
  int chosen = page.showsEntropy ? 1 : 0;
  ImGui::SetCursorScreenPos(plots.Min);
  ImGui::BeginChild("wrong.curves", ImVec2(std::min(plots.GetWidth(), view.px(180)), view.px(32)), false,
                    ImGuiWindowFlags_NoBackground | ImGuiWindowFlags_NoScrollbar);
  if (segmented(view, "wrong.shown", choices, chosen, "The quantity plotted against head dim."))
    page.showsEntropy = chosen == 1;
  compat::endChild();
  plots.Min.y += view.px(36);
  curve(scene, page, plots, kCurves[chosen]);
}

}  // namespace

float wrongMeasures(const HeadLabState& page, const ImRect& area, float space) {
  const View& view = page.view;
  Canvas list = *ImGui::GetWindowDrawList();
  float y = area.Min.y;
  for (const attention::MistakeMeasure& measure : page.study->result.measures) {
    y += paintParagraph(list, view.fonts->text, ImVec2(area.Min.x, y), area.GetWidth(), view.theme->secondary,
                        measure.name) +
         view.px(14);
    paintCross(view, list, ImVec2(area.Min.x + view.px(6), y), view.px(5));
    paintText(list, view.fonts->monoHero, ImVec2(area.Min.x + view.px(22), y), view.theme->text,
              measureText(measure.wrong));
    const float middle = area.Min.x + area.GetWidth() * 0.5f;
    paintTick(view, list, ImVec2(middle, y), view.px(6));
    paintText(list, view.fonts->monoHero, ImVec2(middle + view.px(18), y), view.theme->text,
              measureText(measure.right));
    y += space;
  }
  return y;
}

void wrongSide(Scene& scene, HeadLabState& page, const ImRect& area) {
  View& view = page.view;
  const Theme& theme = *view.theme;
  const MistakeStudy& study = *page.study;
  const attention::MistakeInfo& info =
      attention::mistakes()[static_cast<std::size_t>(study.question.mistake)];
  Canvas list = *ImGui::GetWindowDrawList();
  const bool small = area.GetHeight() < view.px(440);
  float y = area.Min.y + view.px(14);
  const auto heading = [&](const char* words) {
    paintSpaced(list, view.fonts->smallBold, ImVec2(area.Min.x, y), theme.faint, words, view.px(1));
    y += view.px(14);
  };
  heading("SYMPTOM");
  std::string symptom = study.result.symptom.empty() ? std::string(info.symptom) : study.result.symptom;
  symptom.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(symptom.front())));
  y += paintParagraph(list, view.fonts->text, ImVec2(area.Min.x, y), area.GetWidth(), theme.text,
                      symptom + ".") +
       view.px(small ? 14 : 30);
  if (!study.result.measures.empty()) heading("HOW TO SPOT IT");
  y = wrongMeasures(page, ImRect(area.Min.x, y, area.Max.x, area.Max.y), view.px(small ? 22 : 34));
  if (study.omitsTerms && !study.result.clash) {
    y += paintParagraph(list, view.fonts->small, ImVec2(area.Min.x, y), area.GetWidth(), theme.secondary,
                        "Position biases and soft-cap are ignored here.") +
         view.px(10);
  }
  if (aboutScale(study.question.mistake) && page.curve)
    curves(scene, page,
           ImRect(area.Min.x, y + view.px(10), area.Max.x, std::min(area.Max.y, y + view.px(520))));
}

}  // namespace headscope::app
