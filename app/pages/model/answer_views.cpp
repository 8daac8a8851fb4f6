#include <fmt/core.h>

#include "app/pages/model/model_answers.h"
#include "app/platform/track.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/controls.h"
#include "app/widgets/paint.h"

namespace headscope::app::model_page {

using attention::asSize;

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
    asked = ids[asSize(chosen)];
}

/// The logit difference after each text, as many as fit.
void differences(ControlLine& bar, const View& view, const PairStudy& pair) {
  ImFont* const font = view.fonts->hero;
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
  differences(bar, view, *page.pair);
}

/// A text of the pair on one line, the words that the other text lacks in full light, and its logit
/// difference. The beginning of a long text is left out up to such a word.
void textLine(const State& page, const ImRect& area, bool ofB) {
  View& view = page.view;
  const PairStudy& pair = *page.pair;
  const RecordedText& text = ofB ? *pair.b : pair.a;
  const std::string figure = logitText(text.difference);
  ImFont* const font = view.fonts->sentence;
  const float y = area.GetCenter().y;
  const ImRect end(area.Max.x - textWidth(font, figure), area.Min.y, area.Max.x, area.Max.y);
  paintText(*ImGui::GetWindowDrawList(), font, ImVec2(end.Min.x, y), view.theme->text, figure);
  track(ofB ? "difference.b" : "difference.a", end.Min, end.Max);
  ControlLine line(view, ImRect(area.Min, ImVec2(end.Min.x - view.px(16), area.Max.y)),
                   ControlLine::From::left, 5);
  if (pair.b) line.words(ofB ? "B" : "A", view.theme->faint, view.fonts->text);
  const auto& tokens = pair.keyTokens(text);
  float wide = 0;
  for (const auto& token : tokens) wide += textWidth(view.fonts->bold, token.text) + view.px(5);
  Index first = 0;
  while (wide > line.room() && pair.b && first + 1 < std::ssize(tokens) && !differs(pair, ofB, first))
    ++first;
  if (first == std::ssize(tokens) - 1 || first < 4) first = 0;
  if (first > 0) line.words("…", view.theme->faint, view.fonts->text);
  for (Index token = first > 0 ? first - 2 : 0; token < std::ssize(tokens); ++token) {
    const bool other = pair.b && differs(pair, ofB, token);
    line.words(tokens[asSize(token)].text, other ? view.theme->text : view.theme->secondary,
               other ? view.fonts->bold : view.fonts->text);
  }
}

/// What a hall sees in place of the choice: the texts, each with its logit difference.
void textsOnPoster(Board& board, State& page, bool titled) {
  if (const std::string problem = page.pair.problem(); !problem.empty())
    board.words({problem}, {"", board.theme().error}).onPoster();
  else if (page.pair && titled)
    board.title(differenceTitle(*page.pair, wordsOf(page)), {}, {"", board.theme().secondary})
        .onPoster()
        .leaves(1);
  for (const bool ofB : {false, true})
    if (page.pair && (!ofB || page.pair->b))
      board.area("", {30}, [&page, ofB](const ImRect& area) { textLine(page, area, ofB); })
          .onPoster()
          .leaves(3)
          .apart(ofB ? 0 : 4);
}

void attributionView(Board& board, Scene& scene, State& page) {
  board.controls([&scene](ControlLine& bar) {
    const Choice choices[] = {{"By head", "", "head"}, {"By head and key", "", "key"}};
    bar.segments("attribution.by", choices, scene.cursor.model.byKey, 260,
                 "Show a bar for each head, or for each token it read.");
  });
  if (const std::string problem = page.attribution.problem(); !problem.empty())
    board.message("This can't be taken apart", problem, board.theme().error);
  if (!page.attribution.newest()) return;
  BarFigure figure = attributionFigure(*page.attribution.request().pair, *page.attribution,
                                       scene.cursor.model.byKey, wordsOf(page));
  board.title(figure.title);
  figureNote(board, {figure.note, figure.two ? "Filled: text A, hollow: text B." : ""}, {});
  if (figure.two) board.inWindow();  // the first bars name their texts
  board.picture("answer.attribution", kFigure, [&page, figure = std::move(figure)](const ImRect& area) {
    paintBars(page.view, figure, area);
    fitView(page.view, area, figure.title, 860,
            90 + (figure.two ? 30.0f : 22.0f) *
                     static_cast<float>(std::min<std::size_t>(figure.bars.size(), 30) + 2));
  });
}

/// The lens of one text. That of B leaves a stage on which both can't be read.
void lensOf(Board& board, const Scene& scene, State& page, const Shown<LensQuestion, LensMap>& lens,
            const char* name) {
  GridFigure figure = lensFigure(lens.request(), *lens, wordsOf(page));
  const float rows = static_cast<float>(figure.rows.size()),
              columns = static_cast<float>(figure.columns.size());
  board.title(figure.title);
  if (lens.request().ofB)
    board.leaves(2);
  else
    figureNote(board, {figure.note, "Colour: how sure the model is."},
               gridLegend(figure, gridStyle(scene, figure)));
  const auto say = [&page, &lens](const GridFigure& of, Index row, Index column) {
    const Index answer = lens.request().pair->answers.id;
    tooltip(page.view,
            fmt::format("{}, after “{}”: {} {}\n“{}” {}, logit difference {}", of.rows[asSize(row)],
                        of.columns[asSize(column)], page.word(lens->top(row, column)),
                        probabilityText(lens->probability(row, column)), page.word(answer),
                        probabilityText(lens->answer(row, column)),
                        logitText(double{lens->difference(row, column)})));
  };
  board.picture(std::string("answer.") + name, {50 + 14 * rows, 200, 1},
                [&scene, &page, name, rows, columns, say, figure = std::move(figure)](const ImRect& area) {
                  paintGrid(page.view, name, figure, gridStyle(scene, figure), area,
                            [&](Index row, Index column, bool) { say(figure, row, column); });
                  fitView(page.view, area, figure.title, 120 + 76 * columns, 70 + 48 * rows);
                });
  if (lens.request().ofB) board.leaves(2);
}

void lensView(Board& board, const Scene& scene, State& page) {
  if (const std::string problem = page.lens.problem(); !problem.empty())
    board.message("This can't be computed", problem, board.theme().error);
  if (!page.lens.newest()) return;
  lensOf(board, scene, page, page.lens, "lens");
  if (page.lens.request().pair->b && page.lensOfB.newest())
    lensOf(board, scene, page, page.lensOfB, "lens.b");
}

}  // namespace

WordOf wordsOf(State& page) {
  return [&page](Index id) { return page.word(id); };
}

std::string logitText(double value) {
  return signedText(value, 2);
}

bool differs(const PairStudy& pair, bool ofB, Index token) {
  const Index with = (ofB ? pair.keyAofB() : pair.keyBofA())[asSize(token)];
  return with < 0 || pair.keyIds(ofB ? *pair.b : pair.a)[asSize(token)] !=
                         pair.keyIds(ofB ? pair.a : *pair.b)[asSize(with)];
}

void figureNote(Board& board, const std::vector<std::string>& wordings, const FigureLegend& legend) {
  board.words(wordings, {"", board.theme().faint}).leaves(1).apart(0);
  // A stage has the legend next to its caption.
  View& view = board.view();
  if (legend.caption.empty() || (view.present && !view.figure)) return;
  board.atEnd(230, [&view, legend](const ImRect& area) {
    paintLegendLine(view, *ImGui::GetWindowDrawList(), ImVec2(area.Max.x, area.GetCenter().y),
                    area.GetWidth(), legend);
  });
}

std::vector<CaptionPart> pairCaption(const Scene& scene, const State& page) {
  const PairStudy& pair = *page.pair;
  const auto word = [&](Index id) {
    const auto known = page.model.words.find(id);
    return known == page.model.words.end() ? std::to_string(id) : known->second;
  };
  const std::string answers = differenceTitle(pair, word);
  std::string says = capitalized(answers) + ": " + logitText(pair.a.difference);
  if (pair.b) says += " in A, " + logitText(pair.b->difference) + " in B";
  const PatchGrid* const grid = page.headGrid.get();
  if (scene.cursor.model.view == ModelView::patch && grid && grid->done == grid->of && grid->of > 0 &&
      page.headGrid.request().sides.pair == page.pair.shared()) {
    Index layer = 0, head = 0;
    const auto& recovered = grid->recovered.array();
    const float most = recovered.isFinite().select(recovered, -1e9f).maxCoeff(&layer, &head);
    says = fmt::format("Layer {}, head {} alone restores {} of {}", layer, head,
                       wholePercentText(double{most}), answers);
  }
  if (scene.cursor.model.view == ModelView::lens && page.lens) {
    const LensMap& map = *page.lens;
    const Index last = map.top.rows() - 1, token = map.top.cols() - 1, winner = map.top(last, token);
    Index from = last;
    while (from > 0 && map.top(from - 1, token) == winner) --from;
    says = fmt::format("After “{}”, “{}” leads from {} on, with {} at the end",
                       page.lens.request().text().text.tokens[asSize(token)].text, word(winner),
                       from == 0 ? "the embedding" : fmt::format("layer {}", from - 1),
                       probabilityText(map.probability(last, token)));
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
  // The lens names the texts' tokens itself; attribution's title says what the figures are.
  const bool texts = compares && cursor.view != ModelView::lens;
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
  if (texts) textsOnPoster(board, page, cursor.view != ModelView::attribution);
  return true;
}

void fitView(View& view, const ImRect& area, const std::string& title, float width, float height) {
  if (view.figure) view.figure->title = title;
  if (isFigure(view)) view.fitFigure(ImVec2(view.px(width), area.Min.y + view.px(height)));
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
      return lensView(board, scene, page);
    case ModelView::study:
      return studyView(board, scene, page);
  }
}

}  // namespace headscope::app::model_page
