#include <fmt/core.h>

#include "app/pages/model/model_answers.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/controls.h"
#include "app/widgets/drawing_paint.h"
#include "app/widgets/paint.h"

namespace headscope::app::model_page {

namespace {

/// The choice of one of the two answers, among the most likely tokens after both texts.
void answerChoice(ControlLine& bar, Scene& scene, State& page, bool other) {
  const PairStudy& pair = *page.pair;
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
  if (bar.list(other ? "answer.other" : "answer", choices, chosen,
               other ? "The token whose logit is subtracted." : "The token whose logit counts."))
    asked = ids[static_cast<std::size_t>(chosen)];
}

/// The logit difference after each text, as many as fit.
void differences(ControlLine& bar, const View& view, const PairStudy& pair, ImFont* font) {
  const auto figure = [&](const char* name, const RecordedText& text, const char* tracked) {
    const std::string words = logitText(text.difference);
    const float named = *name ? textWidth(view.fonts->text, name) + view.px(8) : 0;
    if (named + textWidth(font, words) > bar.room()) return;
    bar.words(name, view.theme->secondary, view.fonts->text);
    bar.words(words, view.theme->text, font, tracked);
    bar.space(12);
  };
  figure(pair.b ? "A" : "", pair.a, "difference.a");
  if (pair.b) figure("B", *pair.b, "difference.b");
}

/// The choice of the answers, and their logit difference after each text.
void differenceLine(ControlLine& bar, Scene& scene, State& page) {
  const View& view = page.view;
  const Theme& theme = *view.theme;
  if (const std::string problem = page.pair.problem(); !problem.empty())
    return bar.words(problem, theme.error, view.fonts->text);
  if (!page.pair) return;
  bar.words("logit of ", theme.faint, view.fonts->small);
  answerChoice(bar, scene, page, false);
  bar.words("− logit of ", theme.faint, view.fonts->small);
  answerChoice(bar, scene, page, true);
  bar.space(10);
  differences(bar, view, *page.pair, view.fonts->hero);
}

/// The same without the choice, and large.
void differencesAlone(Board& board, State& page) {
  const Theme& theme = board.theme();
  if (const std::string problem = page.pair.problem(); !problem.empty())
    board.words({problem}, {"", theme.error}).onPoster();
  else if (page.pair)
    board.title(differenceTitle(*page.pair, wordsOf(page)), {}, {"", theme.secondary})
        .onPoster()
        .leaves(1)
        .area("", {44},
              [&page](const ImRect& area) {
                ControlLine line(page.view, area);
                differences(line, page.view, *page.pair, page.view.fonts->displaySmall);
              })
        .onPoster()
        .leaves(2);
}

void paintAttribution(const Scene& scene, State& page, const ImRect& area) {
  View& view = page.view;
  const BarFigure figure = attributionFigure(*page.attribution.request().pair, *page.attribution,
                                             scene.cursor.model.byKey, wordsOf(page));
  const FigurePlace place{view, area};
  place.paint(barDrawing(figure, place.width(), place.height(), drawingColors(*view.theme)));
  fitView(view, area, figure.title, 860,
          90 + (figure.two ? 30.0 : 22.0) *
                   static_cast<double>(std::min<std::size_t>(figure.bars.size(), 30) + 2));
  if (!place.hovered()) return;
  const auto at = barAt(figure, place.height(), place.pointer().second);
  if (!at) return;
  const BarFigure::Bar& bar = figure.bars[attention::asSize(*at)];
  tooltip(view,
          bar.label + "\nadds " + logitText(bar.a) + (bar.b ? " in A, " + logitText(*bar.b) + " in B" : ""));
}

void attributionView(Board& board, Scene& scene, State& page) {
  board.controls([&scene](ControlLine& bar) {
    const Choice choices[] = {{"By head", "", "head"}, {"By head and key", "", "key"}};
    bar.segments("attribution.by", choices, scene.cursor.model.byKey, 260,
                 "Show a bar for each head, or for each token it read.");
  });
  if (const std::string problem = page.attribution.problem(); !problem.empty())
    board.message("This can't be taken apart", problem, board.theme().error);
  else if (page.attribution)
    board.picture("attribution", kFigure,
                  [&scene, &page](const ImRect& area) { paintAttribution(scene, page, area); });
}

void paintLens(State& page, const ImRect& area) {
  View& view = page.view;
  const GridFigure figure = lensFigure(page.lens.request(), *page.lens, wordsOf(page));
  const FigurePlace place{view, area};
  place.paint(gridDrawing(figure, place.width(), place.height(), drawingColors(*view.theme)));
  fitView(view, area, figure.title, 220 + 76 * static_cast<double>(figure.columns.size()),
          130 + 48 * static_cast<double>(figure.rows.size()));
  if (!place.hovered()) return;
  const auto [x, y] = place.pointer();
  const auto cell = gridPlace(figure, place.width(), place.height()).at(x, y);
  if (!cell) return;
  const LensMap& map = *page.lens;
  const PairStudy& pair = *page.lens.request().pair;
  tooltip(view,
          fmt::format("{}, after “{}”: {} {}\n“{}” {}, logit difference {}",
                      figure.rows[attention::asSize(cell->first)],
                      figure.columns[attention::asSize(cell->second)],
                      page.word(map.top(cell->first, cell->second)),
                      probabilityText(map.probability(cell->first, cell->second)), page.word(pair.answers.id),
                      probabilityText(map.answer(cell->first, cell->second)),
                      logitText(double{map.difference(cell->first, cell->second)})));
}

void lensView(Board& board, State& page) {
  if (const std::string problem = page.lens.problem(); !problem.empty())
    board.message("This can't be computed", problem, board.theme().error);
  else if (page.lens)
    board.picture("lens", kFigure, [&page](const ImRect& area) { paintLens(page, area); });
}

}  // namespace

WordOf wordsOf(State& page) {
  return [&page](Index id) { return page.word(id); };
}

std::string logitText(double value) {
  return signedText(value, 2);
}

double FigurePlace::width() const {
  return static_cast<double>(area.GetWidth() / view.unit);
}

double FigurePlace::height() const {
  return static_cast<double>(area.GetHeight() / view.unit);
}

bool FigurePlace::hovered() const {
  return ImGui::IsWindowHovered() && area.Contains(ImGui::GetIO().MousePos);
}

std::pair<double, double> FigurePlace::pointer() const {
  const ImVec2 at = (ImGui::GetIO().MousePos - area.Min) / view.unit;
  return {static_cast<double>(at.x), static_cast<double>(at.y)};
}

ImRect FigurePlace::rect(const Frame& frame) const {
  const auto at = [&](double x, double y) {
    return area.Min + ImVec2(static_cast<float>(x), static_cast<float>(y)) * view.unit;
  };
  return {at(frame.x, frame.y), at(frame.right(), frame.bottom())};
}

void FigurePlace::paint(const Drawing& drawing) const {
  paintDrawing(view, *ImGui::GetWindowDrawList(), drawing, area.Min);
}

std::vector<CaptionPart> pairCaption(const Scene& scene, const State& page) {
  const PairStudy& pair = *page.pair;
  std::string says = "Logit difference " + logitText(pair.a.difference);
  if (pair.b)
    says =
        "Logit difference in A " + logitText(pair.a.difference) + ", in B " + logitText(pair.b->difference);
  const PatchGrid* const grid = page.headGrid.get();
  if (scene.cursor.model.view == ModelView::patch && grid && grid->done == grid->of && grid->of > 0 &&
      page.headGrid.request().sides.pair == page.pair.shared()) {
    Index layer = 0, head = 0;
    const auto& recovered = grid->recovered.array();
    const float most = recovered.isFinite().select(recovered, -1e9f).maxCoeff(&layer, &head);
    says += fmt::format(". Layer {}, head {} alone restores {}", layer, head, wholePercentText(double{most}));
  }
  return {{says + ".", page.view.theme->text}};
}

bool viewsRow(Board& board, Scene& scene, State& page) {
  const OpenModel* const opened = page.model.opened.get();
  const bool two = comparesTwo(scene), recorded = opened && opened->recorded;
  if (recorded ? !two : !page.model.answers()) return false;
  ModelCursor& cursor = scene.cursor.model;
  const bool heads = recorded || cursor.view == ModelView::heads;
  const bool compares = !recorded && cursor.view != ModelView::study && (two || !heads);
  board.controls(
      [&scene, &page, &cursor, two, recorded, heads, compares](ControlLine& bar) {
        const Choice views[] = {{"Heads", "", "heads"},
                                {"Patch", "", "patch"},
                                {"Attribution", "", "attribution"},
                                {"Lens", "", "lens"},
                                {"Study", "", "study"}};
        if (!recorded) bar.segments("model.view", views, cursor.view, 350);
        const Choice texts[] = {{"A", "", "a"}, {"B", "", "b"}, {"B − A", "", "difference"}};
        if (heads && two)
          bar.segments("model.shown", texts, cursor.shown, 150,
                       "Whose heads are shown; a difference is coloured around 0.");
        if (compares) differenceLine(bar, scene, page);
      },
      8);
  if (compares) differencesAlone(board, page);
  return true;
}

void fitView(View& view, const ImRect& area, const std::string& title, double width, double height) {
  if (view.figure) view.figure->title = title;
  if (isFigure(view))
    view.fitFigure(
        ImVec2(view.px(static_cast<float>(width)), area.Min.y + view.px(static_cast<float>(height))));
}

void answerView(Board& board, Scene& scene, State& page) {
  switch (scene.cursor.model.view) {
    case ModelView::heads:
      break;
    case ModelView::patch:
      return patchView(board, scene, page);
    case ModelView::attribution:
      return attributionView(board, scene, page);
    case ModelView::lens:
      return lensView(board, page);
    case ModelView::study:
      return studyView(board, scene, page);
  }
}

}  // namespace headscope::app::model_page
