// Measurements of every head on many texts: a table, a map, a scatter plot, and the chosen head's texts.

#include <fmt/core.h>

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
void progressLine(ControlLine& bar, const View& view, const StudyState& texts) {
  const TextsRun::Progress& now = texts.progress;
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
}

void paintProgress(const View& view, const TextsRun::Progress& now, ImRect area) {
  if (!now.runs || now.of == 0) return;
  area.Max.x = area.Min.x + area.GetWidth() * static_cast<float>(now.done) / static_cast<float>(now.of);
  Canvas(*ImGui::GetWindowDrawList()).AddRectFilled(area.Min, area.Max, view.theme->secondary);
}

void shapeLine(ControlLine& bar, const View& view, StudyCursor& shown, const TextsStudy& study) {
  const Choice shapes[] = {{"Table", "", "table"}, {"Map", "", "map"}, {"Scatter", "", "scatter"}};
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

void paintScatter(Scene& scene, const View& view, const TextsStudy& study, const HeadScatter& scatter,
                  const ImRect& area) {
  drawPlot(view, "study.scatter", area, scatter.plot);
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

/// The texts with the chosen head's largest values in the current column. A click opens one.
void textList(Scene& scene, State& page, const std::shared_ptr<const TextsStudy>& study) {
  StudyState& texts = page.texts;
  const auto head = chosenHead(scene);
  const HeadColumn* const column = study->column(upwards(scene, *study));
  if (!column) return;
  constexpr std::size_t kMax = 8;
  if (StudyState::Found now{study, column->name, head}; !(now == texts.found)) {
    texts.texts = textsOfHead(*study, column->name, head.first, head.second, kMax);
    texts.found = std::move(now);
  }
  const auto textAt = [&](std::size_t i) -> const StudiedHeads& { return study->texts[texts.texts[i].text]; };
  Rows rows(page.view);
  rows.line(Type::small,
            {{fmt::format("Where head {}.{} has the most {}", head.first, head.second, column->title),
              rows.theme().faint, page.view.fonts->smallBold}});
  std::vector<Rows::Option> lines;
  for (std::size_t i = 0; i < texts.texts.size(); ++i)
    lines.push_back(
        {fmt::format("study.text.{}", i), textAt(i).asked.text,
         fmt::format("{}   {}", strongestPlace(textAt(i), head), studyNumber(double{texts.texts[i].value}))});
  const int clicked = rows.options("study.texts", lines, -1, 0, [&](std::size_t i) {
    return fmt::format("line {}: {}\nClick to open the text", textAt(i).asked.line, textAt(i).asked.text);
  });
  if (clicked >= 0) openText(scene, page, textAt(asSize(clicked)), head);
}

void noFile(Board& board, const State& page) {
  View& view = board.view();
  const std::string problem = page.texts.problem;
  const bool examples = !page.model.opened->learned.skills.empty();
  board.picture("", {160, 200, 1}, [&view, problem, examples](const ImRect& area) {
    emptyMessage(view, area, "Every head on many texts",
                 !problem.empty() ? problem
                                  : "Open a file with one text per line, or JSON lines with text, other, "
                                    "answer and other_answer.",
                 "Open texts…", "model.texts");
    if (!examples) return;
    const std::string label = "Measure the example texts";
    ImGui::SetCursorScreenPos(area.GetCenter() +
                              ImVec2(-textWidth(view.fonts->text, label) / 2 - view.px(11), view.px(72)));
    if (button(view, "study.examples", label, "", true)) view.request("model.texts.examples");
  });
}

/// The table, the map or the scatter plot.
void figure(Board& board, Scene& scene, State& page, const std::shared_ptr<const TextsStudy>& study) {
  const StudyShape shape = scene.cursor.model.study.shape;
  HeadScatter scatter;
  if (shape == StudyShape::scatter) {
    scatter = headScatter(*study, across(scene, *study), upwards(scene, *study), chosenHead(scene));
    board.title(scatter.title, {studyNote(*study)});
  }
  board.picture("", {190, 220, 1},
                [&scene, &page, study, shape, scatter = std::move(scatter)](const ImRect& area) {
                  const FigurePlace place{page.view, area};
                  hitArea("study.figure", area);
                  noteTabStopKind(TabStopKind::picture, area.GetSize() / 24);
                  if (shape == StudyShape::table)
                    paintTable(scene, page.view, page.texts, *study, place);
                  else if (shape == StudyShape::map)
                    paintMap(scene, page.view, *study, place);
                  else
                    paintScatter(scene, page.view, *study, scatter, area);
                });
}

}  // namespace

void studyView(Board& board, Scene& scene, State& page) {
  const StudyState& texts = page.texts;
  if (!texts.file) return noFile(board, page);
  board.controls([&page](ControlLine& bar) { progressLine(bar, page.view, page.texts); }, 8);
  board.area("", {2}, [&page](const ImRect& area) { paintProgress(page.view, page.texts.progress, area); })
      .inWindow()
      .apart(3);
  const auto study = texts.progress.study;
  if (!study || study->columns.empty()) {
    board.message(study ? "None of the texts could be studied" : "Measuring the first text",
                  study                 ? study->problem
                  : texts.progress.runs ? ""
                                        : "Press Measure to begin.");
    return;
  }
  board.controls([&scene, &page,
                  study](ControlLine& bar) { shapeLine(bar, page.view, scene.cursor.model.study, *study); },
                 8);
  figure(board, scene, page, study);
  board
      .area("", {112, 196},
            [&scene, &page, study](const ImRect& area) {
              controlsIn("study.texts.box", area, [&] { textList(scene, page, study); });
            })
      .inWindow();
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
