// Measurements of every head on many texts: a table, a map, a scatter plot, and the chosen head's texts.

#include <fmt/core.h>

#include "app/kit/control_line.h"
#include "app/pages/model/model_answers.h"
#include "app/platform/keyboard_focus.h"
#include "app/platform/track.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/controls.h"
#include "app/widgets/drawing_paint.h"
#include "app/widgets/paint.h"
#include "app/widgets/plot.h"

namespace headscope::app::model_page {

namespace {

using attention::asSize;

void chooseHead(Scene& scene, std::pair<Index, Index> head) {
  scene.cursor.model.layer = head.first;
  scene.cursor.cell.head = head.second;
}

std::pair<Index, Index> chosenHead(const Scene& scene) {
  return {scene.cursor.model.layer, scene.cursor.cell.head};
}

/// The columns that the scene sorts by or plots upwards, and plots across; if the texts lack these, their
/// first and last column.
std::string upwards(const Scene& scene, const TextsStudy& study) {
  const std::string& wanted = scene.cursor.model.study.column;
  return study.column(wanted) ? wanted : study.columns.front().name;
}
std::string across(const Scene& scene, const TextsStudy& study) {
  const std::string& wanted = scene.cursor.model.study.across;
  return study.column(wanted) ? wanted : study.columns.back().name;
}

/// The choice between columns such as “loss without it”.
void columnChoice(ControlLine& bar, const char* name, const TextsStudy& study, std::string& column,
                  const char* help) {
  std::vector<Choice> choices;
  int chosen = 0;
  for (std::size_t i = 0; i < study.columns.size(); ++i) {
    choices.push_back({study.columns[i].title, "", study.columns[i].name});
    if (study.columns[i].name == column) chosen = static_cast<int>(i);
  }
  if (bar.list(name, choices, chosen, help)) column = choices[asSize(chosen)].name;
}

/// The file, the progress of its run, its problems, and the buttons that start and stop it.
void progressLine(View& view, StudyState& texts, const ImRect& area) {
  const TextsRun::Progress& now = texts.progress;
  ControlLine bar = toolLine(view, area);
  bar.action("study.open", "Open texts…", "model.texts");
  if (now.runs || now.done < now.of)
    bar.action("study.stop", now.runs ? "Stop" : "Resume", "model.texts.stop");
  else if (texts.stale || !now.study)
    bar.action("study.again", texts.stale ? "Measure again" : "Measure", "model.texts.again");
  std::string says =
      fmt::format("{}: {} of {} texts", texts.file->name, now.done, std::ssize(texts.file->texts));
  if (texts.stale) says += ", before the model was changed";
  std::uint32_t color = view.theme->secondary;
  if (!now.problem.empty()) says = now.problem, color = view.theme->error;
  if (now.study && now.study->problems > 0) {
    says += fmt::format(". {} could not be studied; {}", now.study->problems, now.study->problem);
    if (now.study->columns.empty()) color = view.theme->error;
  }
  bar.words(says, color, view.fonts->text, "study.progress");
  if (!now.runs || now.of == 0) return;
  const float share = static_cast<float>(now.done) / static_cast<float>(now.of);
  Canvas(*ImGui::GetWindowDrawList())
      .AddRectFilled(ImVec2(area.Min.x, area.Min.y + view.px(31)),
                     ImVec2(area.Min.x + area.GetWidth() * share, area.Min.y + view.px(33)),
                     view.theme->secondary);
}

void shapeLine(Scene& scene, View& view, const TextsStudy& study, const ImRect& area) {
  StudyCursor& shown = scene.cursor.model.study;
  const Choice shapes[] = {{"Table", "", "table"}, {"Map", "", "map"}, {"Scatter", "", "scatter"}};
  ControlLine bar = toolLine(view, area);
  bar.segments("study.shape", shapes, shown.shape, 220);
  columnChoice(bar, "study.column", study, shown.column, "The measure to show for each head.");
  if (shown.shape != StudyShape::scatter) return;
  bar.words("against", view.theme->faint, view.fonts->text);
  columnChoice(bar, "study.across", study, shown.across, "The measure along the horizontal axis.");
}

std::string headSays(const TextsStudy& study, const std::string& column, std::pair<Index, Index> head) {
  const HeadColumn* const of = study.column(column);
  if (!of) return "";
  return fmt::format("layer {} head {}\n{} {} ± {} over {} texts", head.first, head.second, of->title,
                     studyNumber(double{of->mean(head.first, head.second)}),
                     fixedText(double{of->spread(head.first, head.second)}, 3),
                     of->texts(head.first, head.second));
}

void paintTable(Scene& scene, const View& view, StudyState& texts, const TextsStudy& study,
                const FigurePlace& place) {
  StudyCursor& by = scene.cursor.model.study;
  TableFigure figure = tableFigure(study, upwards(scene, study), by.smallestFirst);
  const std::size_t shown = tableRows(place.height());
  const std::size_t most = figure.rows.size() > shown ? figure.rows.size() - shown : 0;
  const bool hovered = ImGui::IsItemHovered();
  if (const float wheel = ImGui::GetIO().MouseWheel; hovered && wheel != 0)
    texts.first = wheel > 0 ? texts.first - std::min<std::size_t>(texts.first, 2) : texts.first + 2;
  figure.first = texts.first = std::min(texts.first, most);
  figure.lit = chosenHead(scene);
  place.paint(tableDrawing(figure, place.width(), place.height(), drawingColors(*view.theme)));
  const auto [x, y] = place.pointer();
  const TablePlace at = tableAt(figure, place.width(), place.height(), x, y);
  if (!hovered) return;
  const bool clicked = ImGui::IsMouseClicked(0);
  if (at.row) {
    tooltip(view,
            headSays(study, upwards(scene, study), figure.rows[*at.row]) + "\nClick to choose the head");
    if (clicked) chooseHead(scene, figure.rows[*at.row]);
  }
  if (!at.column) return;
  tooltip(view, figure.columns[*at.column]->title + "\nClick to sort by it");
  if (!clicked) return;
  by.smallestFirst = *at.column == 0 && !by.smallestFirst;
  by.column = figure.columns[*at.column]->name;
  texts.first = 0;
}

void paintMap(Scene& scene, const View& view, const TextsStudy& study, const FigurePlace& place) {
  GridFigure figure = studyMap(study, upwards(scene, study));
  figure.kept.push_back(chosenHead(scene));
  place.paint(gridDrawing(figure, place.width(), place.height(), drawingColors(*view.theme)));
  if (!ImGui::IsItemHovered()) return;
  const auto [x, y] = place.pointer();
  const auto cell = gridPlace(figure, place.width(), place.height()).at(x, y);
  if (!cell) return;
  tooltip(view, headSays(study, upwards(scene, study), *cell) + "\nClick to choose the head");
  if (ImGui::IsMouseClicked(0)) chooseHead(scene, *cell);
}

void paintScatter(Scene& scene, const View& view, const TextsStudy& study, const ImRect& area) {
  const HeadScatter scatter =
      headScatter(study, across(scene, study), upwards(scene, study), chosenHead(scene));
  Canvas list = *ImGui::GetWindowDrawList();
  paintFitted(view, list, view.fonts->bold, ImVec2(area.Min.x, area.Min.y + view.px(10)), area.GetWidth(),
              view.theme->text, scatter.title);
  paintFitted(view, list, view.fonts->small, ImVec2(area.Min.x, area.Min.y + view.px(30)), area.GetWidth(),
              view.theme->secondary, studyNote(study));
  drawPlot(view, "study.scatter", ImRect(area.Min.x, area.Min.y + view.px(46), area.Max.x, area.Max.y),
           scatter.plot);
  const auto cells = tracked("study.scatter");
  if (!cells || !ImGui::IsItemHovered()) return;
  const PlotCells drawn{cells->Min.x, cells->Min.y, cells->GetWidth(), cells->GetHeight()};
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  std::optional<std::size_t> nearest;
  for (double least = view.px(12); const PlotMark& mark : scatter.plot.marks) {
    const double far = std::hypot(drawn.x(scatter.plot, mark.at.x) - static_cast<double>(mouse.x),
                                  drawn.y(scatter.plot, mark.at.y) - static_cast<double>(mouse.y));
    if (far < least) least = far, nearest = static_cast<std::size_t>(&mark - scatter.plot.marks.data());
  }
  if (!nearest) return;
  const auto head = scatter.heads[*nearest];
  tooltip(view, headSays(study, upwards(scene, study), head) + "\n" +
                    headSays(study, across(scene, study), head) + "\nClick to choose the head");
  if (ImGui::IsMouseClicked(0)) chooseHead(scene, head);
}

/// Opens a text with its counterpart and answers, at the head's strongest cell.
void openText(Scene& scene, State& page, const StudiedHeads& text, std::pair<Index, Index> head) {
  comparedText(scene.setup) = text.asked.text;
  scene.setup.subject.written.clear();
  scene.compare = withoutOther(scene.compare);
  scene.compare.other = text.asked.other;
  if (!text.asked.answer.empty()) scene.compare.answer = text.answers.id;
  if (!text.asked.otherAnswer.empty() && text.answers.other) scene.compare.otherAnswer = *text.answers.other;
  chooseHead(scene, head);
  scene.cursor.model.view = ModelView::heads;
  scene.cursor.model.shown = ShownText::a;
  if (text.query.size() > 0 && text.query(head.first, head.second) >= 0)
    page.awaitedCell =
        Cell{head.second, text.query(head.first, head.second), text.key(head.first, head.second)};
}

/// “to” → “Anna” 0.97: the cell with the head's largest weight on an earlier token.
std::string strongestPlace(const StudiedHeads& text, std::pair<Index, Index> head) {
  if (text.query.size() == 0) return "";
  const Index query = text.query(head.first, head.second), key = text.key(head.first, head.second);
  if (query < 0 || query >= std::ssize(text.tokens) || key >= std::ssize(text.tokens)) return "";
  return fmt::format("“{}” → “{}” {}", text.tokens[asSize(query)], text.tokens[asSize(key)],
                     fixedText(double{text.strongest(head.first, head.second)}, 2));
}

/// The texts with the chosen head's largest values in the current column.
void textList(Scene& scene, State& page, const std::shared_ptr<const TextsStudy>& study, const ImRect& area) {
  View& view = page.view;
  StudyState& texts = page.texts;
  Canvas list = *ImGui::GetWindowDrawList();
  const auto head = chosenHead(scene);
  const HeadColumn* const column = study->column(upwards(scene, *study));
  if (!column) return;
  constexpr std::size_t kMax = 8;
  if (StudyState::Found now{study, column->name, head}; !(now == texts.found)) {
    texts.texts = textsOfHead(*study, column->name, head.first, head.second, kMax);
    texts.found = std::move(now);
  }
  float y = area.Min.y + view.px(10);
  paintFitted(view, list, view.fonts->smallBold, ImVec2(area.Min.x, y), area.GetWidth(), view.theme->faint,
              fmt::format("Where head {}.{} has the most {}", head.first, head.second, column->title));
  y += view.px(12);
  const float high = view.px(24);
  for (std::size_t i = 0; i < texts.texts.size() && y + high <= area.Max.y; ++i, y += high) {
    const StudiedHeads& text = study->texts[texts.texts[i].text];
    const std::string name = fmt::format("study.text.{}", i);
    const bool clicked = hitArea(name, ImVec2(area.Min.x, y), ImVec2(area.GetWidth(), high));
    const bool hovered = ImGui::IsItemHovered();
    if (hovered)
      list.AddRectFilled(ImVec2(area.Min.x, y), ImVec2(area.Max.x, y + high), view.theme->raised, view.px(4));
    const float middle = y + high / 2;
    paintText(list, view.fonts->mono, ImVec2(area.Min.x + view.px(58), middle), view.theme->text,
              studyNumber(double{texts.texts[i].value}), Align::right);
    const std::string where = strongestPlace(text, head);
    const float wide = std::min(textWidth(view.fonts->monoSmall, where), area.GetWidth() * 0.4f);
    paintFitted(view, list, view.fonts->monoSmall, ImVec2(area.Max.x - view.px(4), middle), wide + 1,
                view.theme->secondary, where, Align::right);
    paintFitted(view, list, view.fonts->text, ImVec2(area.Min.x + view.px(68), middle),
                area.GetWidth() - view.px(84) - wide, hovered ? view.theme->text : view.theme->secondary,
                text.asked.text);
    if (hovered)
      tooltip(view, fmt::format("line {}: {}\nClick to open the text", text.asked.line, text.asked.text));
    if (clicked) openText(scene, page, text, head);
  }
}

void noFile(View& view, const ShownModel& model, StudyState& texts, const ImRect& area) {
  emptyMessage(
      view, area, "Every head on many texts",
      !texts.problem.empty()
          ? texts.problem
          : "Open a file with one text per line, or JSON lines with text, other, answer and other_answer.",
      "Open texts…", "model.texts");
  if (model.opened->learned.skills.empty()) return;
  const std::string label = "Measure the example texts";
  ImGui::SetCursorScreenPos(ImVec2(area.GetCenter().x - textWidth(view.fonts->text, label) / 2 - view.px(11),
                                   area.GetCenter().y + view.px(72)));
  if (button(view, "study.examples", label, "", true)) view.request("model.texts.examples");
}

}  // namespace

void studyView(Scene& scene, State& page, const ImRect& whole, bool presents) {
  View& view = page.view;
  if (!page.texts.file) return noFile(page.view, page.model, page.texts, whole);
  ImRect area = whole;
  if (!presents) {
    progressLine(page.view, page.texts, area);
    area.Min.y += view.px(42);
  }
  const auto study = page.texts.progress.study;
  if (!study || study->columns.empty()) {
    paintMessage(view, area, study ? "None of the texts could be studied" : "Measuring the first text",
                 study                      ? study->problem
                 : page.texts.progress.runs ? ""
                                            : "Press Measure to begin.",
                 view.theme->text);
    return;
  }
  if (!presents) {
    shapeLine(scene, page.view, *study, area);
    area.Min.y += view.px(46);
  }
  const float rows = std::clamp(std::floor((area.GetHeight() - view.px(230)) / view.px(24)), 2.0f, 6.0f);
  const float below = presents ? 0 : view.px(24) * (rows + 1);
  const FigurePlace place(view, ImRect(area.Min.x, area.Min.y, area.Max.x, area.Max.y - below), presents);
  hitArea("study.figure", place.area);
  noteTabStopKind(TabStopKind::picture, {place.area.GetWidth() / 24, place.area.GetHeight() / 24});
  if (scene.cursor.model.study.shape == StudyShape::table)
    paintTable(scene, page.view, page.texts, *study, place);
  else if (scene.cursor.model.study.shape == StudyShape::map)
    paintMap(scene, page.view, *study, place);
  else
    paintScatter(scene, page.view, *study, place.area);
  if (!presents) textList(scene, page, study, ImRect(area.Min.x, area.Max.y - below, area.Max.x, area.Max.y));
}

std::vector<CaptionPart> studyCaption(const Scene& scene, const View& view, const StudyState& texts) {
  const auto& study = texts.progress.study;
  const HeadColumn* const column =
      study && !study->columns.empty() ? study->column(upwards(scene, *study)) : nullptr;
  const auto head = chosenHead(scene);
  if (!column || head.first >= column->mean.rows() || head.second >= column->mean.cols()) return {};
  return {{fmt::format("Layer {}, head {}: {} {} ± {} over {} texts.", head.first, head.second, column->title,
                       studyNumber(double{column->mean(head.first, head.second)}),
                       fixedText(double{column->spread(head.first, head.second)}, 2),
                       column->texts(head.first, head.second)),
           view.theme->text}};
}

}  // namespace headscope::app::model_page
