#include <fmt/core.h>

#include "app/compute/figures/token_figures.h"
#include "app/pages/lessons/lessons_page.h"
#include "app/platform/track.h"
#include "app/widgets/drawing_paint.h"

namespace headscope::app::lessons_page {

// The division of the window among words, picture and comparison.

float comparisonWidth(const View& view, const ImRect& area) {
  return std::round(std::min(area.GetWidth() * 0.24f, view.px(460)));
}

namespace {

/// The height of the step's words on `width` pixels, as lessonCaption() writes them: the most of its
/// explanation, its answered question and what was learned, so that the picture stays where it is. 0 if they
/// aren't known yet.
float wordsHeight(const State& page, float width) {
  const View& view = page.view;
  if (!page.here.lesson || !page.here.study) return 0;
  RichFonts title = richFonts(view);
  title.plain = view.fonts->title;
  const auto height = [&](const RichFonts& fonts, const RichText& text) {
    return paintRichText(view, nullptr, fonts, text, ImVec2(0, 0), width);
  };
  const float explanation = height(title, {{{RichSpan::Kind::plain, page.at().title, nullptr}}}) +
                            height(richFonts(view), richOrPlain(page.here.study->text)) + view.px(36);
  const float end = page.here.study->learned.empty()
                        ? 0
                        : 2 * lineHeight(view.fonts->title) +
                              height(richFonts(view), richOrPlain(page.here.study->learned)) + view.px(66);
  return std::max({explanation, end, page.at().question ? questionHeight(page, width) : 0});
}

/// The share of the width that the words need beside the picture, from 28 to 40 %: with the comparison below
/// them if there is one and it fits, too.
float wordsShare(const State& page, const ImRect& area, float pad) {
  const float below = comparable(page) ? comparisonBelowHeight(page.view) : 0;
  std::optional<float> alone;
  for (int percent = 28; percent <= 40; percent += 2) {
    const float share = static_cast<float>(percent) / 100;
    const float left = area.GetHeight() - wordsHeight(page, area.GetWidth() * share - pad);
    if (left >= below) return share;
    if (left >= 0 && !alone) alone = share;
  }
  return alone.value_or(0.4f);
}

}  // namespace

ImRect wordsArea(const State& page, const ImRect& area) {
  ImRect words = area;
  if (!page.view.present) {
    const View& view = page.view;
    words.Max.x = area.Min.x + std::round(std::clamp(area.GetWidth() * 0.292f, view.px(250), view.px(560)));
    return words;
  }
  const Cursor* cursor = page.stage.document ? &page.stage.document->scene().cursor : nullptr;
  const bool square =
      cursor && (cursor->page == "heads" || cursor->page == "flow" || cursor->page == "map" ||
                 cursor->page == "model" || (cursor->page == "lab" && cursor->lab.tab != "ablation"));
  const float pad = page.view.px(32);
  // Beside, the picture gets what the words don’t need; below, options take what there is.
  if (square) {
    words.Min.x = std::round(area.Max.x - area.GetWidth() * wordsShare(page, area, pad));
  } else {
    const float least = area.GetHeight() * 0.2f, most = area.GetHeight() * 0.36f;
    const bool asks = page.here.lesson && page.at().question;
    words.Min.y = std::round(
        area.Max.y - (asks ? most : std::clamp(wordsHeight(page, area.GetWidth() - pad), least, most)));
  }
  return words;
}

ImRect besideWords(const State& page, const ImRect& area) {
  const ImRect words = wordsArea(page, area);
  ImRect rest = area;
  if (words.Min.x > area.Min.x)
    rest.Max.x = words.Min.x;
  else if (words.Min.y > area.Min.y)
    rest.Max.y = words.Min.y;
  else
    rest.Min.x = words.Max.x;
  return rest;
}

void lessonPicture(const State& page, const ImRect& area) {
  const View& view = page.view;
  ImRect room = area;
  room.Expand(-view.px(view.present ? 14 : 24));
  if (!beginPanel(view, "lesson.picture", area, 0, 0) || !page.here.study) return endPanel();
  track("lesson.picture", room.Min, room.Max);
  const StepStudy& study = *page.here.study;
  const double width = static_cast<double>(room.GetWidth() / view.unit),
               height = static_cast<double>(room.GetHeight() / view.unit);
  const DrawingColors colors = drawingColors(*view.theme);
  const auto drawing = [&] {
    if (study.plane) return planeDrawing(*study.plane, width, height, colors);
    if (!study.arrays.empty()) return arraysDrawing(study.arrays, page.asking(), width, height, colors);
    if (page.at().look.picture == LookPicture::ids)
      return idsDrawing(*study.tokens, page.asking(), width, height, colors);
    if (page.at().look.picture == LookPicture::vectors)
      return vectorsDrawing(*study.tokens, width, height, colors);
    return rotationDrawing(*study.tokens, width, height, colors);
  };
  paintDrawing(view, *ImGui::GetWindowDrawList(), drawing(), room.Min);
  endPanel();
}

bool compares(const State& page) {
  return !page.view.present && comparable(page);
}

bool comparable(const State& page) {
  return page.here.lesson && page.stage.document && !page.at().compare.empty() && page.here.study &&
         page.here.study->before && !page.here.study->before->sequences.empty() &&
         page.stage.document->scene().cursor.page == "heads" &&
         page.stage.document->scene().cursor.focus >= 0;
}

}  // namespace headscope::app::lessons_page
