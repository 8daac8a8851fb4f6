// Patching: grids of single patches, which fill in as they are computed, and the joint effect of kept ones.

#include <fmt/core.h>

#include "app/pages/model/model_answers.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/controls.h"
#include "app/widgets/paint.h"

namespace headscope::app::model_page {

using attention::Piece;

namespace {

constexpr Piece kHeadPieces[] = {Piece::head, Piece::pattern, Piece::queries, Piece::keys, Piece::values};
constexpr Piece kTokenPieces[] = {Piece::stream, Piece::head, Piece::middle, Piece::mlp};

/// Buttons that choose the piece that a grid patches.
void pieceChoice(ControlLine& bar, const char* name, std::span<const Piece> pieces, bool byToken,
                 Piece& piece, float units) {
  std::vector<Choice> choices;
  for (const Piece each : pieces) {
    const char* const label = byToken ? pieceWords(each).ofTokens : pieceWords(each).ofHeads;
    choices.push_back({label, "", label});
  }
  auto chosen = std::ranges::find(pieces, piece) - pieces.begin();
  if (bar.segments(name, choices, chosen, units)) piece = pieces[static_cast<std::size_t>(chosen)];
}

/// Keeps a patch, or removes it if it is kept already.
void keepPatch(Scene& scene, const KeptPatch& patch) {
  auto& patches = scene.compare.patches;
  if (std::erase_if(patches, [&](const KeptPatch& one) { return one == patch; }) == 0)
    patches.push_back(patch);
}

std::string cellWords(const PatchGridQuestion& question, Index row, Index column) {
  const std::string layer = row == question.sides.pair->opened->config().layerCount()
                                ? "after the last layer"
                                : fmt::format("layer {}", row);
  if (!question.columnsAreTokens())
    return fmt::format("{}, {} {}", layer,
                       question.piece == Piece::keys || question.piece == Piece::values ? "KV head" : "head",
                       column);
  return fmt::format("{}, “{}”", layer, question.sides.into().text.tokens[attention::asSize(column)].text);
}

/// What a grid's cell says while hovered, and how a click changes the scene: it selects the head and keeps
/// its patch, with Shift it follows the head's paths.
void pointAtCell(Scene& scene, State& page, const Shown<PatchGridQuestion, PatchGrid>& grid, Index row,
                 Index column, bool clicked) {
  const PatchGridQuestion& question = grid.request();
  const bool whole = grid->done == grid->of, tokens = question.columnsAreTokens();
  const bool follows = question.piece == Piece::head && !tokens;
  page.pointedRow = row;
  const float share = grid->recovered(row, column);
  std::string says = cellWords(question, row, column);
  if (std::isfinite(share))
    says += fmt::format("\nlogit difference {}: {} restored{}{}",
                        logitText(double{grid->difference(row, column)}), wholePercentText(double{share}),
                        question.path ? "" : "\nclick: keep this patch",
                        follows ? "\nShift+click: follow its paths into Q, K and V of later heads" : "");
  else
    says += question.path && row <= question.path->layer ? "\nthis head's output doesn't reach this layer"
            : whole                                      ? "\nno partner in the other text"
                                                         : "\n…";
  tooltip(page.view, says);
  if (!tokens && row < page.model.config->layerCount() && question.columns() == page.model.config->heads) {
    page.view.nextHover.head = column;
    page.head.hoverLayer = row;
    if (clicked) scene.cursor.model.layer = row, scene.cursor.cell.head = column;
  }
  if (clicked && ImGui::GetIO().KeyShift && follows) {
    scene.compare.fromLayer = row;
    scene.compare.fromHead = column;
    scene.cursor.model.piece = Piece::queries;
    return;
  }
  if (clicked && std::isfinite(share) && !question.path)
    keepPatch(scene, {question.piece, row, tokens ? -1 : column, tokens ? column : -1});
}

/// Adds a grid that fills in as it is computed.
void patchGrid(Board& board, Scene& scene, State& page, const char* name,
               const Shown<PatchGridQuestion, PatchGrid>& grid) {
  if (const std::string problem = grid.problem(); !problem.empty())
    board.message("This can't be computed", problem, board.theme().error);
  if (!grid.newest()) return;
  GridFigure figure = patchFigure(grid.request(), *grid, scene.compare.patches);
  board.title(figure.title);
  board.picture(std::string("answer.") + name, kFigure,
                [&scene, &page, &grid, name, figure = std::move(figure)](const ImRect& area) {
                  paintGrid(page.view, name, figure, gridStyle(scene, figure), area,
                            [&](Index row, Index column, bool clicked) {
                              pointAtCell(scene, page, grid, row, column, clicked);
                            });
                  if (grid->done < grid->of)
                    paintProgress(page.view, area,
                                  static_cast<float>(grid->done) / static_cast<float>(grid->of));
                  if (&grid != &page.headGrid || !page.tokenGrid) return;
                  const PatchGridQuestion &heads = grid.request(), &tokens = page.tokenGrid.request();
                  fitView(page.view, area, figure.title,
                          300 + 56 * static_cast<float>(heads.columns() + tokens.columns()),
                          70 + (scene.compare.patches.empty() ? 0 : 72) +
                              30 * static_cast<float>(std::max(heads.rows(), tokens.rows())));
                });
}

/// "pattern 3.1", "stream 2 at “Ben”".
std::string patchWords(const PatchSides& sides, const KeptPatch& patch) {
  std::string words = fmt::format("{} {}", pieceWords(patch.piece).one, patch.layer);
  if (patch.head >= 0) words += fmt::format(".{}", patch.head);
  const RecordedText& into = sides.into();
  if (patch.token >= 0 && patch.token < into.tokens())
    words += " at “" + into.text.tokens[attention::asSize(patch.token)].text + "”";
  return words;
}

std::string recoveredText(const PatchSides& sides, double difference) {
  return wholePercentText(sides.recovered(difference));
}

/// The kept patches and the share that each recovers. A click removes one.
void keptPatches(ControlLine bar, Scene& scene, State& page, const PatchSumQuestion& asked) {
  auto& patches = scene.compare.patches;
  const PatchSum* const sum = page.sum.of(asked);
  if (const auto path = followedPath(scene))
    if (bar.button("patch.path", fmt::format("Paths from head {}.{}  ×", path->layer, path->head)))
      scene.compare.fromLayer = scene.compare.fromHead = -1;
  if (patches.empty())
    return bar.words("Click a cell to keep its patch. Kept patches act together.", page.view.theme->faint,
                     page.view.fonts->text);
  std::optional<std::ptrdiff_t> removed;
  for (std::size_t i = 0; i < patches.size(); ++i) {
    std::string words = patchWords(asked.sides, patches[i]);
    if (sum) words += "  " + recoveredText(asked.sides, sum->single[i]);
    words += "  ×";
    if (!bar.fits(words)) break;
    if (bar.button(fmt::format("patch.{}", i), words)) removed = static_cast<std::ptrdiff_t>(i);
  }
  if (removed) patches.erase(patches.begin() + *removed);
}

/// The effect and predictions of all kept patches together.
void patchesTogether(ControlLine bar, Scene&, State& page, const PatchSumQuestion& asked) {
  if (asked.patches.empty()) return;
  const View& view = page.view;
  const Theme& theme = *view.theme;
  ImFont* const font = view.fonts->text;
  const PatchSum* const sum = page.sum.of(asked);
  if (!sum) {
    const std::string problem = page.sum.problem(asked);
    return problem.empty() ? bar.words("…", theme.faint, font) : bar.words(problem, theme.error, font);
  }
  bar.words("Together ", theme.secondary, font);
  bar.words(logitText(sum->together) + ", " + recoveredText(asked.sides, sum->together), theme.text,
            view.fonts->hero, "patch.sum");
  std::string says = "then predicts ";
  for (std::size_t i = 0; i < std::min<std::size_t>(3, sum->best.size()); ++i)
    says += (i == 0 ? "" : ", ") + page.word(sum->best[i].first) + " " + probabilityText(sum->best[i].second);
  bar.words(says, theme.secondary, font);
}

}  // namespace

void patchView(Board& board, Scene& scene, State& page) {
  const auto& pair = page.pair;
  if (scene.compare.other.empty() || !pair || !pair->b) {
    board.message("Patching needs a second text",
                  page.view.present ? "Leave the stage to type text B."
                                    : "Type text B on the left, or choose one of the pairs there.");
    return;
  }
  board.controls(
      [&scene](ControlLine& line) {
        const Choice sides[] = {{"A into B", "", "b"}, {"B into A", "", "a"}};
        line.segments("patch.side", sides, scene.compare.intoA, 180,
                      "The text whose pieces are put into the other's run.", true);
        pieceChoice(line, "patch.heads", kHeadPieces, false, scene.cursor.model.piece, 300);
        pieceChoice(line, "patch.tokens", kTokenPieces, true, scene.cursor.model.tokenPiece, 270);
      },
      8);
  const Index heads = page.model.config->heads, tokens = (scene.compare.intoA ? pair->a : *pair->b).tokens();
  const float share =
      std::clamp(static_cast<float>(heads + 4) / static_cast<float>(heads + tokens + 8), 0.32f, 0.6f);
  if (page.headGrid.newest()) {
    const GridFigure figure = patchFigure(page.headGrid.request(), *page.headGrid, {});
    figureNote(board, {figure.note, "1: all of the difference restored."},
               gridLegend(figure, gridStyle(scene, figure)));
  }
  const PartWidth widths[] = {{0, share}, {0, 1 - share}};
  board.columns(widths, 20, [&scene, &page](std::size_t i, Board& column) {
    i == 0 ? patchGrid(column, scene, page, "patch.grid.heads", page.headGrid)
           : patchGrid(column, scene, page, "patch.grid.tokens", page.tokenGrid);
  });
  // Both lines have their place before there are patches, so that the grids stay where they are clicked.
  const bool kept = !scene.compare.patches.empty();
  for (const auto paint : {keptPatches, patchesTogether}) {
    board.area("", {28}, [&scene, &page, paint](const ImRect& area) {
      paint(toolLine(page.view, area), scene, page,
            {{page.pair.shared(), scene.compare.intoA}, scene.compare.patches});
    });
    if (!kept) board.inWindow();
    if (paint == keptPatches) board.leaves(2);  // the grids frame them
  }
}

}  // namespace headscope::app::model_page
