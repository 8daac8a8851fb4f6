// Patching: grids of single patches, which fill in as they are computed, and the joint effect of kept ones.

#include <fmt/core.h>

#include "app/kit/control_line.h"
#include "app/pages/model/model_answers.h"
#include "app/platform/track.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/controls.h"
#include "app/widgets/drawing_paint.h"
#include "app/widgets/paint.h"

namespace headscope::app::model_page {

using attention::Piece;

namespace {

constexpr Piece kHeadPieces[] = {Piece::head, Piece::pattern, Piece::queries, Piece::keys, Piece::values};
constexpr Piece kTokenPieces[] = {Piece::stream, Piece::head, Piece::mlp};

/// Buttons that choose the piece that a grid patches.
void pieceChoice(ControlLine& bar, const char* name, std::span<const Piece> pieces, bool byToken,
                 Piece& piece, float units) {
  std::vector<Choice> choices;
  for (const Piece each : pieces) {
    const char* const label = each == Piece::stream    ? "Stream"
                              : each == Piece::head    ? byToken ? "Attention" : "Outputs"
                              : each == Piece::pattern ? "Patterns"
                              : each == Piece::queries ? "Q"
                              : each == Piece::keys    ? "K"
                              : each == Piece::values  ? "V"
                                                       : "MLP";
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

/// Draws a grid that fills in as it is computed. A click selects the head and keeps its patch, Shift+click
/// follows its paths.
void gridPanel(Scene& scene, State& page, const char* name, const Shown<PatchGridQuestion, PatchGrid>& grid,
               const FigurePlace& within, bool scale) {
  View& view = page.view;
  Canvas list = *ImGui::GetWindowDrawList();
  if (const std::string problem = grid.problem(); !problem.empty())
    return paintMessage(view, within.area, "This can't be computed", problem, view.theme->error);
  if (!grid) return;
  const PatchGridQuestion& question = grid.request();
  const bool whole = grid->done == grid->of;
  GridFigure figure = patchFigure(question, *grid, scene.compare.patches);
  figure.scale = scale;
  within.paint(gridDrawing(figure, within.width(), within.height(), drawingColors(*view.theme)));
  if (!question.columnsAreTokens() && view.figure) view.figure->title = figure.title;
  const GridPlace place = gridPlace(figure, within.width(), within.height());
  const ImRect cells = within.rect(place.cells);
  const ImVec2 from = cells.Min, size = cells.GetSize();
  track(name, from, from + size);
  ImGui::SetCursorScreenPos(from);
  const bool clicked = compat::invisibleButton(name, size);
  if (!whole)
    list.AddRectFilled(ImVec2(from.x, from.y + size.y + view.px(1)),
                       ImVec2(from.x + size.x * static_cast<float>(grid->done) /
                                           static_cast<float>(std::max<Index>(grid->of, 1)),
                              from.y + size.y + view.px(3)),
                       view.theme->secondary);
  if (!ImGui::IsItemHovered()) return;
  const auto [x, y] = within.pointer();
  const auto cell = place.at(x, y);
  if (!cell) return;
  const auto [row, column] = *cell;
  page.pointedRow = row;
  const bool tokens = question.columnsAreTokens();
  const float share = grid->recovered(row, column);
  std::string says = cellWords(question, row, column);
  if (std::isfinite(share))
    says += fmt::format("\nlogit difference {}: {} restored{}{}",
                        logitText(double{grid->difference(row, column)}), wholePercentText(double{share}),
                        question.path ? "" : "\nclick: keep this patch",
                        question.piece == Piece::head && !tokens
                            ? "\nShift+click: follow its paths into Q, K and V of later heads"
                            : "");
  else
    says += question.path && row <= question.path->layer ? "\nthis head's output doesn't reach this layer"
            : whole                                      ? "\nno partner in the other text"
                                                         : "\n…";
  tooltip(view, says);
  if (!tokens && row < page.model.config->layerCount() && question.columns() == page.model.config->heads) {
    view.nextHover.head = column;
    page.head.hoverLayer = row;
    if (clicked) scene.cursor.model.layer = row, scene.cursor.cell.head = column;
  }
  if (clicked && ImGui::GetIO().KeyShift && question.piece == Piece::head && !tokens) {
    scene.compare.fromLayer = row;
    scene.compare.fromHead = column;
    scene.cursor.model.piece = Piece::queries;
    return;
  }
  if (clicked && std::isfinite(share) && !question.path)
    keepPatch(scene, {question.piece, row, tokens ? -1 : column, tokens ? column : -1});
}

/// "pattern 3.1", "stream 2 at “Ben”".
std::string patchWords(const PairStudy& pair, bool intoA, const KeptPatch& patch) {
  constexpr const char* kNames[] = {"stream", "Q", "K", "V", "pattern", "head", "MLP"};
  std::string words = fmt::format("{} {}", kNames[static_cast<std::size_t>(patch.piece)], patch.layer);
  if (patch.head >= 0) words += fmt::format(".{}", patch.head);
  const RecordedText& into = intoA ? pair.a : *pair.b;
  if (patch.token >= 0 && patch.token < into.tokens())
    words += " at “" + into.text.tokens[attention::asSize(patch.token)].text + "”";
  return words;
}

/// The kept patches, the share that each recovers, and the effect and predictions of all of them together.
void keptPatches(Scene& scene, State& page, const ImRect& area) {
  View& view = page.view;
  const PairStudy& pair = *page.pair;
  const auto& patches = scene.compare.patches;
  const Theme& theme = *view.theme;
  ImFont* const font = view.fonts->text;
  ControlLine bar = toolLine(view, area),
              below = toolLine(view, ImRect(area.Min.x, area.Min.y + view.px(30), area.Max.x, area.Max.y));
  if (const auto path = followedPath(scene))
    if (bar.button("patch.path", fmt::format("Paths from head {}.{}  ×", path->layer, path->head)))
      scene.compare.fromLayer = scene.compare.fromHead = -1;
  if (patches.empty()) {
    if (!view.figure)
      bar.words("Click a cell to keep its patch. Kept patches act together.", theme.faint, font);
    return;
  }
  const PatchSides sides{page.pair.shared(), scene.compare.intoA};
  const PatchSumQuestion asked{sides, patches};
  const PatchSum* sum = page.sum.of(asked);
  const auto percent = [&](double difference) { return wholePercentText(sides.recovered(difference)); };
  std::optional<std::size_t> removed;
  for (std::size_t i = 0; i < patches.size(); ++i) {
    std::string words = patchWords(pair, scene.compare.intoA, patches[i]);
    if (sum) words += "  " + percent(sum->single[i]);
    words += "  ×";
    if (!bar.fits(words)) break;
    if (bar.button(fmt::format("patch.{}", i), words)) removed = i;
  }
  if (removed)
    scene.compare.patches.erase(scene.compare.patches.begin() + static_cast<std::ptrdiff_t>(*removed));
  if (!sum) {
    const std::string problem = page.sum.problem(asked);
    return problem.empty() ? below.words("…", theme.faint, font) : below.words(problem, theme.error, font);
  }
  below.words("Together ", theme.secondary, font);
  below.words(logitText(sum->together) + ", " + percent(sum->together), theme.text, view.fonts->hero,
              "patch.sum");
  std::string says = "then predicts ";
  for (std::size_t i = 0; i < std::min<std::size_t>(3, sum->best.size()); ++i)
    says += (i == 0 ? "" : ", ") + page.word(sum->best[i].first) + " " + probabilityText(sum->best[i].second);
  below.words(says, theme.secondary, font);
}

}  // namespace

void patchView(Scene& scene, State& page, const ImRect& area, bool presents) {
  View& view = page.view;
  const auto& pair = page.pair;
  if (scene.compare.other.empty() || !pair || !pair->b) {
    paintMessage(view, area, "Patching needs a second text",
                 "Type text B on the left, or choose one of the pairs there.", view.theme->text);
    return;
  }
  const float kept = view.px(72), bar = presents ? 0 : view.px(40);
  // Stacking them needs enough height for two grids.
  const bool beside = area.GetWidth() > view.px(820) || area.GetHeight() - kept - bar < view.px(460);
  ImRect left = area, right = area;
  if (!presents) {
    const Choice sides[] = {{"A into B", "", "b"}, {"B into A", "", "a"}};
    ControlLine line = toolLine(view, area);
    line.segments("patch.side", sides, scene.compare.intoA, 180,
                  "The text whose pieces are put into the other's run.", true);
    pieceChoice(line, "patch.heads", kHeadPieces, false, scene.cursor.model.piece, 300);
    pieceChoice(line, "patch.tokens", kTokenPieces, true, scene.cursor.model.tokenPiece, 200);
  }
  left.Min.y = right.Min.y = area.Min.y + bar;
  left.Max.y = right.Max.y = area.Max.y - kept;
  if (beside) {
    const Index heads = page.model.config->heads,
                tokens = (scene.compare.intoA ? pair->a : *pair->b).tokens();
    const float share =
        std::clamp(static_cast<float>(heads + 4) / static_cast<float>(heads + tokens + 8), 0.32f, 0.6f);
    left.Max.x = std::round(area.Min.x + area.GetWidth() * share);
    right.Min.x = left.Max.x + view.px(20);
  } else {
    left.Max.y = std::round((left.Min.y + right.Max.y) / 2) - view.px(8);
    right.Min.y = left.Max.y + view.px(16);
  }
  // Both grids share their colours, so side by side they need only one scale.
  const float zoom =
      FigurePlace(view, ImRect(area.Min.x, left.Min.y, area.Max.x, right.Max.y), presents).zoom;
  const auto panel = [&](const char* name, const auto& grid, const ImRect& part, bool scale) {
    FigurePlace place(view, part, false);
    place.zoom = zoom;
    gridPanel(scene, page, name, grid, place, scale);
  };
  panel("patch.grid.heads", page.headGrid, left, !beside);
  panel("patch.grid.tokens", page.tokenGrid, right, true);
  if (page.headGrid && page.tokenGrid) {
    const PatchGridQuestion &heads = page.headGrid.request(), &tokens = page.tokenGrid.request();
    fitView(view, area, "", 420 + 56 * static_cast<double>(heads.columns() + tokens.columns()),
            222 + 30 * static_cast<double>(std::max(heads.rows(), tokens.rows())));
  }
  keptPatches(scene, page, ImRect(area.Min.x, area.Max.y - kept, area.Max.x, area.Max.y));
}

}  // namespace headscope::app::model_page
