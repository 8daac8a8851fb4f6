#include <fmt/core.h>

#include "app/pages/model/model_answers.h"
#include "app/platform/track.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/controls.h"
#include "app/widgets/drawing_paint.h"
#include "app/widgets/paint.h"

namespace headscope::app::model_page {

namespace {

/// The choice of one of the two answers, among the most likely tokens after both texts.
void answerChoice(Scene& scene, State& page, bool other, float& x, float y) {
  View& view = page.view;
  const PairStudy& pair = *page.pair.pair;
  Index& asked = other ? scene.compare.otherAnswer : scene.compare.answer;
  const Index now = other ? pair.answers.other.value_or(-1) : pair.answers.id;
  std::vector<Index> ids{now};
  std::vector<Choice> choices{{page.word(now), "", "now"}};
  for (const auto* text : {&pair.a, pair.b ? &*pair.b : nullptr}) {
    if (!text) continue;
    for (const Index id : likeliestTokens(*text, 5))
      if (std::find(ids.begin(), ids.end(), id) == ids.end()) {
        ids.push_back(id);
        choices.push_back({page.word(id), "", std::to_string(id)});
      }
  }
  ids.push_back(-1);
  choices.push_back({other ? "the other text's likeliest" : "the likeliest", "", "likeliest"});
  int chosen = 0;
  ImGui::SetCursorScreenPos(ImVec2(x, y - view.px(13)));
  if (dropdown(view, other ? "answer.other" : "answer", choices, chosen, 0,
               other ? "The token whose logit is subtracted." : "The token whose logit counts."))
    asked = ids[static_cast<std::size_t>(chosen)];
  x += textWidth(view.fonts->text, choices.front().label) + view.px(34);
}

/// Paints the logit difference after each text, from x on, as many as fit.
void differences(const View& view, const PairState& pairs, float x, float y, float right, ImFont* font) {
  Canvas list = *ImGui::GetWindowDrawList();
  const PairStudy& pair = *pairs.pair;
  const auto figure = [&](const char* name, const RecordedText& text, const char* tracked) {
    const std::string words = logitText(text.difference);
    const float named = *name ? textWidth(view.fonts->text, name) + view.px(6) : 0;
    const float end = x + named + textWidth(font, words);
    if (end > right) return;
    paintText(list, view.fonts->text, ImVec2(x, y), view.theme->secondary, name);
    paintText(list, font, ImVec2(x + named, y), view.theme->text, words);
    track(tracked, ImVec2(x, y - lineHeight(font) / 2), ImVec2(end, y + lineHeight(font) / 2));
    x = end + view.px(18);
  };
  figure(pair.b ? "A" : "", pair.a, "difference.a");
  if (pair.b) figure("B", *pair.b, "difference.b");
}

/// The answers and their logit difference after each text; while presenting, in two lines.
void differenceLine(Scene& scene, State& page, const ImRect& area, bool presents) {
  View& view = page.view;
  Canvas list = *ImGui::GetWindowDrawList();
  float y = area.Min.y + view.px(14);
  const std::shared_ptr<const PairStudy>& pair = page.pair.pair;
  if (!page.pair.problem.empty())
    return paintFitted(view, list, view.fonts->text, ImVec2(area.Min.x, y), area.GetWidth(),
                       view.theme->error, page.pair.problem);
  if (!pair || pair->opened != page.model.opened) return;
  if (presents) {
    paintFitted(view, list, view.fonts->title, ImVec2(area.Min.x, y), area.GetWidth(), view.theme->secondary,
                differenceTitle(*pair, wordsOf(page)));
    return differences(page.view, page.pair, area.Min.x, y + view.px(38), area.Max.x,
                       view.fonts->displaySmall);
  }
  float x = area.Min.x;
  x += paintText(list, view.fonts->small, ImVec2(x, y), view.theme->faint, "logit of ") + view.px(2);
  answerChoice(scene, page, false, x, y);
  x += paintText(list, view.fonts->small, ImVec2(x, y), view.theme->faint, "− logit of ") + view.px(2);
  answerChoice(scene, page, true, x, y);
  differences(page.view, page.pair, x + view.px(10), y, area.Max.x, view.fonts->hero);
}

void attributionView(Scene& scene, State& page, ImRect area, bool presents) {
  View& view = page.view;
  if (!presents) {
    const Choice choices[] = {{"By head", "", "head"}, {"By head and key", "", "key"}};
    int chosen = scene.cursor.model.byKey;
    ImGui::SetCursorScreenPos(area.Min);
    ImGui::BeginChild("attribution.by.box", ImVec2(view.px(260), view.px(34)), false,
                      ImGuiWindowFlags_NoBackground);
    if (segmented(view, "attribution.by", choices, chosen,
                  "Show a bar for each head, or for each token it read."))
      scene.cursor.model.byKey = chosen == 1;
    compat::endChild();
    area.Min.y += view.px(44);
  }
  const auto& answer = page.pair.attribution;
  if (!answer || answer->request.pair->opened != page.model.opened) return;
  if (!answer->value)
    return paintMessage(view, area, "This can't be taken apart", answer->value.error().message,
                        view.theme->error);
  const PairStudy& pair = *answer->request.pair;
  const BarFigure figure = attributionFigure(pair, *answer->value, scene.cursor.model.byKey, wordsOf(page));
  const FigurePlace place(view, area, presents);
  place.paint(barDrawing(figure, place.width(), place.height(), drawingColors(*view.theme)));
  fitView(view, area, figure.title, 860,
          90 + (figure.two ? 30.0 : 22.0) *
                   static_cast<double>(std::min<std::size_t>(figure.bars.size(), 30) + 2));
  track("attribution", area.Min, area.Max);
  if (!ImGui::IsMouseHoveringRect(area.Min, area.Max) || !ImGui::IsWindowHovered()) return;
  const auto at = barAt(figure, place.height(), place.pointer().second);
  if (!at) return;
  const BarFigure::Bar& bar = figure.bars[attention::asSize(*at)];
  tooltip(view,
          bar.label + "\nadds " + logitText(bar.a) + (bar.b ? " in A, " + logitText(*bar.b) + " in B" : ""));
}

void lensView(State& page, const ImRect& area, bool presents) {
  View& view = page.view;
  const auto& answer = page.pair.lens;
  if (!answer || answer->request.pair->opened != page.model.opened) return;
  if (!answer->value)
    return paintMessage(view, area, "This can't be computed", answer->value.error().message,
                        view.theme->error);
  const GridFigure figure = lensFigure(answer->request, *answer->value, wordsOf(page));
  const FigurePlace place(view, area, presents);
  place.paint(gridDrawing(figure, place.width(), place.height(), drawingColors(*view.theme)));
  fitView(view, area, figure.title, 220 + 76 * static_cast<double>(figure.columns.size()),
          130 + 48 * static_cast<double>(figure.rows.size()));
  track("lens", area.Min, area.Max);
  if (!ImGui::IsMouseHoveringRect(area.Min, area.Max) || !ImGui::IsWindowHovered()) return;
  const auto [x, y] = place.pointer();
  const auto cell = gridPlace(figure, place.width(), place.height()).at(x, y);
  if (!cell) return;
  const LensMap& map = *answer->value;
  const PairStudy& pair = *answer->request.pair;
  tooltip(view,
          fmt::format("{}, after “{}”: {} {}\n“{}” {}, logit difference {}",
                      figure.rows[attention::asSize(cell->first)],
                      figure.columns[attention::asSize(cell->second)],
                      page.word(map.top(cell->first, cell->second)),
                      probabilityText(map.probability(cell->first, cell->second)), page.word(pair.answers.id),
                      probabilityText(map.answer(cell->first, cell->second)),
                      logitText(double{map.difference(cell->first, cell->second)})));
}

}  // namespace

WordOf wordsOf(State& page) {
  return [&page](Index id) { return page.word(id); };
}

std::string logitText(double value) {
  return signedText(value, 2);
}

FigurePlace::FigurePlace(const View& view, const ImRect& area, bool presents) : view(view), area(area) {
  constexpr float kWide = 740, kHigh = 340, kMax = 1.7f;
  if (presents && !view.figure)
    zoom =
        std::clamp(std::min(area.GetWidth() / view.px(kWide), area.GetHeight() / view.px(kHigh)), 1.0f, kMax);
}

double FigurePlace::width() const {
  return static_cast<double>(area.GetWidth() / view.px(zoom));
}

double FigurePlace::height() const {
  return static_cast<double>(area.GetHeight() / view.px(zoom));
}

std::pair<double, double> FigurePlace::pointer() const {
  const ImVec2 at = ImGui::GetIO().MousePos - area.Min;
  return {static_cast<double>(at.x / view.px(zoom)), static_cast<double>(at.y / view.px(zoom))};
}

ImRect FigurePlace::rect(const Frame& frame) const {
  const auto at = [&](double x, double y) {
    return area.Min + ImVec2(view.px(static_cast<float>(x) * zoom), view.px(static_cast<float>(y) * zoom));
  };
  return {at(frame.x, frame.y), at(frame.right(), frame.bottom())};
}

void FigurePlace::paint(const Drawing& drawing) const {
  paintDrawing(view, *ImGui::GetWindowDrawList(), drawing, area.Min, zoom);
}

std::vector<CaptionPart> pairCaption(const Scene& scene, const View& view, const PairState& pairs) {
  const PairStudy& pair = *pairs.pair;
  const std::uint32_t color = view.theme->text;
  std::string says = "Logit difference " + logitText(pair.a.difference);
  if (pair.b)
    says =
        "Logit difference in A " + logitText(pair.a.difference) + ", in B " + logitText(pair.b->difference);
  const auto& grid = pairs.heads;
  if (scene.cursor.model.view == ModelView::patch && grid.question && grid.whole() && grid.grid.of > 0 &&
      grid.question->sides.pair == pairs.pair) {
    Index layer = 0, head = 0;
    const float most = grid.grid.recovered.array()
                           .isFinite()
                           .select(grid.grid.recovered.array(), -1e9f)
                           .maxCoeff(&layer, &head);
    says += fmt::format(". Layer {}, head {} alone restores {:.0f} %", layer, head, 100 * double{most});
  }
  return {{says + ".", color}};
}

float viewsHeight(const Scene& scene, const ShownModel& model, bool presents) {
  if (model.opened && model.opened->recorded) return comparesTwo(scene) && !presents ? 44 : 0;
  if (presents && scene.cursor.model.view == ModelView::study) return 1;
  const bool plain = scene.cursor.model.view == ModelView::heads && scene.compare.other.empty();
  if (presents && plain) return 0;
  return model.opened && model.opened->model && model.predictsTokens() && !model.isSynthetic()
             ? presents ? 92 : 44
             : 0;
}

void viewsRow(Scene& scene, State& page, const ImRect& area, bool presents) {
  View& view = page.view;
  const bool two = comparesTwo(scene), recorded = page.model.opened->recorded.has_value();
  ModelCursor& cursor = scene.cursor.model;
  ImRect words = area;
  if (!presents && !recorded) {
    constexpr const char* kLabels[] = {"Heads", "Patch", "Attribution", "Lens", "Study"};
    constexpr const char* kNames[] = {"heads", "patch", "attribution", "lens", "study"};
    std::vector<Choice> views;
    for (std::size_t i = 0; i < std::size(kLabels); ++i) views.push_back({kLabels[i], "", kNames[i]});
    int chosen = static_cast<int>(cursor.view);
    const float wide = view.px(350);
    ImGui::SetCursorScreenPos(area.Min);
    ImGui::BeginChild("model.views.box", ImVec2(wide, view.px(34)), false, ImGuiWindowFlags_NoBackground);
    if (segmented(view, "model.view", views, chosen)) cursor.view = static_cast<ModelView>(chosen);
    compat::endChild();
    words.Min.x += wide + view.px(18);
  }
  if ((cursor.view == ModelView::heads || recorded) && two && !presents) {
    const Choice texts[] = {{"A", "", "a"}, {"B", "", "b"}, {"B − A", "", "difference"}};
    int shown = static_cast<int>(cursor.shown);
    ImGui::SetCursorScreenPos(words.Min);
    ImGui::BeginChild("model.shown.box", ImVec2(view.px(150), view.px(34)), false,
                      ImGuiWindowFlags_NoBackground);
    if (segmented(view, "model.shown", texts, shown,
                  "Whose heads are shown; a difference is coloured around 0."))
      cursor.shown = static_cast<ShownText>(shown);
    compat::endChild();
    words.Min.x += view.px(166);
  }
  if (cursor.view == ModelView::study || recorded) return;
  if (two || cursor.view != ModelView::heads) differenceLine(scene, page, words, presents);
}

void fitView(View& view, const ImRect& area, const std::string& title, double width, double height) {
  if (!view.figure || !view.figure->alone) return;
  view.fitFigure(
      ImVec2(view.px(static_cast<float>(width)), area.Min.y + view.px(static_cast<float>(height))));
  if (!title.empty()) view.figure->title = title;
}

void answerView(Scene& scene, State& page, const ImRect& area, bool presents) {
  switch (scene.cursor.model.view) {
    case ModelView::heads:
      break;
    case ModelView::patch:
      return patchView(scene, page, area, presents);
    case ModelView::attribution:
      return attributionView(scene, page, area, presents);
    case ModelView::lens:
      return lensView(page, area, presents);
    case ModelView::study:
      return studyView(scene, page, area, presents);
  }
}

}  // namespace headscope::app::model_page
