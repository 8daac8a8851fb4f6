// Measurements of every head on many texts: a table, a map, a scatter plot, and the chosen head's texts.

#include <fmt/core.h>

#include "app/kit/table.h"
#include "app/pages/model/model_answers.h"
#include "app/platform/keyboard_focus.h"
#include "app/platform/track.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/controls.h"
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

constexpr PartHeight kStudy{190, 220, 1};

/// Says what a head under the pointer is. A click chooses it.
void pointAtHead(Scene& scene, const View& view, const std::string& says, std::pair<Index, Index> head,
                 bool clicked) {
  tooltip(view, says + "\nClick to choose the head");
  if (clicked) chooseHead(scene, head);
}

void paintTable(Scene& scene, View& view, StudyState& texts, const TextsStudy& study, const ImRect& area) {
  StudyCursor& by = scene.cursor.model.study;
  const TableFigure figure = tableFigure(study, upwards(scene, study), by.smallestFirst);
  constexpr float kRow = 36, kNames = 64, kColumn = 82;  // layout units
  const auto room = [&](float pixels, float taken, float each) {
    return static_cast<Index>(std::max(1.0f, (pixels / view.unit - taken) / each));
  };
  const Index shown = room(area.GetHeight(), view.present ? 64 : 52, kRow), rows = std::ssize(figure.rows);
  track("study.figure", area.Min, area.Max);
  // A touchpad scrolls by fractions of a step.
  if (const float wheel = ImGui::GetIO().MouseWheel;
      wheel != 0 && ImGui::IsWindowHovered() && area.Contains(ImGui::GetIO().MousePos))
    texts.first -= wheel > 0 ? 2 : -2;
  texts.first = std::clamp<Index>(texts.first, 0, std::max<Index>(rows - shown, 0));
  TableSpec spec{.name = "study.table",
                 .columns = {{"head", kNames}},
                 .rows = rows,
                 .inSight = texts.first + shown / 2,
                 .least = kRow,
                 .most = kRow};
  // A stage has the titles upright, in little room.
  const auto shortOf = [](const std::string& name) {
    const auto all = attention::allDetectors();
    const auto found = std::ranges::find(all, name, &attention::Detector::name);
    return found == all.end() ? name : std::string((*found)->shortName);
  };
  for (const HeadColumn* column : figure.columns)
    if (std::ssize(spec.columns) <= room(area.GetWidth(), kNames, kColumn))
      spec.columns.push_back({.title = column->title,
                              .width = kColumn,
                              .key = column->name,
                              .shortTitle = shortOf(column->name),
                              .help = "Click to sort by it",
                              .sorts = column == figure.columns.front()});
  const std::size_t columns = spec.columns.size() - 1;
  TableView table(view, area, std::move(spec));
  for (Index row = 0; row < rows; ++row) {
    const auto& [layer, head] = figure.rows[asSize(row)];
    const std::string name = fmt::format("{}.{}", layer, head);
    if (!table.row(row, "study.row." + name, {name, figure.rows[asSize(row)] == chosenHead(scene), false}))
      continue;
    table.text("  " + name);
    for (std::size_t i = 0; i < columns; ++i) {
      const HeadColumn& column = *figure.columns[i];
      const double mean = double{column.mean(layer, head)};
      std::isfinite(mean) ? table.value(unpacked(view.theme->background), {studyNumber(mean)},
                                        "±" + studyNumber(double{column.spread(layer, head)}))
                          : table.empty();
    }
  }
  const auto& at = table.hovered();
  if (!at) return;
  if (at->row >= 0)
    return pointAtHead(scene, view, headSays(study, upwards(scene, study), figure.rows[asSize(at->row)]),
                       figure.rows[asSize(at->row)], table.clicked());
  if (!table.clicked()) return;
  by.smallestFirst = at->column == 0 && !by.smallestFirst;
  by.column = figure.columns[asSize(at->column)]->name;
  texts.first = 0;
}

void paintScatter(Scene& scene, const View& view, const TextsStudy& study, const HeadScatter& scatter,
                  const ImRect& area) {
  hitArea("study.figure", area);
  noteTabStopKind(TabStopKind::picture, area.GetSize() / 24);
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
  pointAtHead(
      scene, view,
      headSays(study, upwards(scene, study), head) + "\n" + headSays(study, across(scene, study), head), head,
      ImGui::IsMouseClicked(0));
}

/// Opens a text with its counterpart and answers, at the head's strongest cell.
void openText(Scene& scene, State& page, const StudiedHeads& text, std::pair<Index, Index> head) {
  comparedText(scene.setup) = text.asked.text + text.shared;
  scene.setup.subject.written.clear();
  scene.compare = withoutOther(scene.compare);
  if (!text.asked.other.empty()) scene.compare.other = text.asked.other + text.shared;
  // The tokens after what both answers begin with.
  const auto compared = std::ranges::mismatch(text.answerIds, text.otherAnswerIds);
  if (!text.asked.answer.empty())
    scene.compare.answer = text.shared.empty() ? text.answerIds.at(0) : *compared.in1;
  if (!text.asked.otherAnswer.empty())
    scene.compare.otherAnswer = text.shared.empty() ? text.otherAnswerIds.at(0) : *compared.in2;
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
  const std::string column = upwards(scene, *study);
  const StudyShape shape = scene.cursor.model.study.shape;
  if (shape == StudyShape::table) {
    board.title("Heads by " + study->column(column)->title,
                {studyNote(*study) + ", ± standard deviation (÷ N)"});
    board.picture("answer.study", kStudy, [&scene, &page, study](const ImRect& area) {
      paintTable(scene, page.view, page.texts, *study, area);
    });
  } else if (shape == StudyShape::map) {
    GridFigure map = shownMap(scene, *study);
    map.kept.push_back(chosenHead(scene));
    const CellStyle style = gridStyle(scene, map);
    board.title(map.title);
    figureNote(board, {map.note}, gridLegend(map, style));
    board.picture(
        "answer.study", kStudy,
        [&scene, &page, study, column, style, map = std::move(map)](const ImRect& area) {
          paintGrid(page.view, "study.figure", map, style, area, [&](Index layer, Index head, bool clicked) {
            pointAtHead(scene, page.view, headSays(*study, column, {layer, head}), {layer, head}, clicked);
          });
        });
  } else {
    HeadScatter scatter = headScatter(*study, across(scene, *study), column, chosenHead(scene));
    board.title(scatter.title, {studyNote(*study)});
    board.picture("answer.study", kStudy,
                  [&scene, &page, study, scatter = std::move(scatter)](const ImRect& area) {
                    paintScatter(scene, page.view, *study, scatter, area);
                  });
  }
}

}  // namespace

void studyView(Board& board, Scene& scene, State& page) {
  const StudyState& texts = page.texts;
  if (!texts.file) return noFile(board, page);
  board.controls([&page](ControlLine& bar) { progressLine(bar, page.view, page.texts); }, 8);
  board
      .area("", {2},
            [&page](const ImRect& area) {
              const TextsRun::Progress& now = page.texts.progress;
              if (now.runs && now.of > 0)
                paintProgress(page.view, area, static_cast<float>(now.done) / static_cast<float>(now.of));
            })
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

GridFigure shownMap(const Scene& scene, const TextsStudy& study) {
  return studyMap(study, study.columns.empty() ? "" : upwards(scene, study));
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
