#include "app/compute/figures/study_figures.h"

#include <fmt/core.h>

#include <cctype>

#include "app/scene/text/number_text.h"

namespace headscope::app {

using attention::asSize;
using attention::Piece;

std::string differenceTitle(const PairStudy& pair, const WordOf& word) {
  std::string title = "logit of “" + word(pair.answers.id) + "”";
  if (pair.answers.other) title += " − logit of “" + word(*pair.answers.other) + "”";
  return title;
}

std::string pieceWords(Piece piece, bool byToken) {
  switch (piece) {
    case Piece::stream:
      return "Residual stream before each layer";
    case Piece::queries:
      return byToken ? "Queries of each layer" : "Queries of each head";
    case Piece::keys:
      return byToken ? "Keys of each layer" : "Keys of each KV head";
    case Piece::values:
      return byToken ? "Values of each layer" : "Values of each KV head";
    case Piece::pattern:
      return byToken ? "Patterns of each layer" : "Pattern of each head";
    case Piece::head:
      return byToken ? "Attention output of each layer" : "Output of each head";
    case Piece::mlp:
      break;
  }
  return "MLP output of each layer";
}

GridFigure patchFigure(const PatchGridQuestion& question, const PatchGrid& grid,
                       const std::vector<KeptPatch>& kept) {
  const PairStudy& pair = *question.sides.pair;
  const bool tokens = question.columnsAreTokens();
  GridFigure figure;
  figure.title = pieceWords(question.piece, tokens);
  if (question.path)
    figure.title += fmt::format(", along paths from head {}.{}", question.path->layer, question.path->head);
  figure.title += question.sides.intoA ? ", B into A" : ", A into B";
  figure.note = fmt::format("Share of the logit difference restored: 0 as in {}, 1 as in {}",
                            question.sides.intoA ? "A" : "B", question.sides.intoA ? "B" : "A");
  figure.columnTitle = tokens                                              ? "token"
                       : question.columns() == pair.opened->config().heads ? "head"
                                                                           : "KV head";
  for (Index row = 0; row < question.rows(); ++row)
    figure.rows.push_back(row == pair.opened->config().layerCount() ? "end" : fmt::format("{}", row));
  for (Index column = 0; column < question.columns(); ++column)
    figure.columns.push_back(tokens ? question.sides.into().text.tokens[asSize(column)].text
                                    : fmt::format("{}", column));
  figure.values = grid.recovered;
  figure.caption = "share restored";
  for (const KeptPatch& patch : kept)
    if (const Index column = tokens ? patch.token : patch.head; patch.piece == question.piece && column >= 0)
      figure.kept.emplace_back(patch.layer, column);
  return figure;
}

namespace {

/// Adds bars such as "head 3.3 from “Ben”": what a head wrote for each attended token, for text B at the
/// counterparts of A's tokens.
void addKeyBars(const PairStudy& pair, const AttributionStudy& study, const attention::Contribution& part,
                std::vector<BarFigure::Bar>& bars) {
  const auto parts = [&](const attention::Attribution& of) { return of.byKey[part.layer].row(part.head); };
  for (Index key = 0; key < study.a.byKey.cols(); ++key) {
    BarFigure::Bar bar{
        fmt::format("{} from “{}”", writerText(part), pair.keyTokens(pair.a)[asSize(key)].text),
        static_cast<double>(parts(study.a)[key])};
    if (study.b) {
      const Index with = pair.keyBofA()[asSize(key)];
      bar.b = with < 0 ? 0 : static_cast<double>(parts(*study.b)[with]);
    }
    bars.push_back(std::move(bar));
  }
  // Tokens of B without a counterpart in A.
  for (Index key = 0; study.b && key < study.b->byKey.cols(); ++key)
    if (pair.keyAofB()[asSize(key)] < 0)
      bars.push_back(
          {fmt::format("{} from B's “{}”", writerText(part), pair.keyTokens(*pair.b)[asSize(key)].text), 0,
           static_cast<double>(parts(*study.b)[key])});
}

bool hasKeys(const attention::Attribution& of, const attention::Contribution& part) {
  return !of.byKey.empty() && of.byKey[part.layer].row(part.head).allFinite();
}

}  // namespace

BarFigure attributionFigure(const PairStudy& pair, const AttributionStudy& study, bool byKey,
                            const WordOf& word) {
  BarFigure figure;
  figure.two = study.b.has_value();
  figure.title = "What each piece adds to the " + differenceTitle(pair, word);
  figure.note = figure.two
                    ? "After the last token. Filled: text A, hollow: text B; the final norm's scale held "
                      "fixed."
                    : "After the last token; the final norm's scale held fixed.";
  for (std::size_t i = 0; i < study.a.parts.size(); ++i) {
    const attention::Contribution& part = study.a.parts[i];
    if (byKey && part.by == attention::Writer::head && hasKeys(study.a, part) &&
        (!study.b || hasKeys(*study.b, part))) {
      addKeyBars(pair, study, part, figure.bars);
      continue;
    }
    BarFigure::Bar& bar = figure.bars.emplace_back();
    bar.label = writerText(part);
    bar.a = part.value;
    if (figure.two) bar.b = study.b->parts[i].value;
  }
  figure.sum = {"sum", study.a.total, figure.two ? std::optional(study.b->total) : std::nullopt};
  std::ranges::stable_sort(figure.bars, [](const BarFigure::Bar& x, const BarFigure::Bar& y) {
    const auto size = [](const BarFigure::Bar& bar) {
      return std::max(std::abs(bar.a), std::abs(bar.b.value_or(0)));
    };
    return size(x) > size(y);
  });
  return figure;
}

GridFigure lensFigure(const LensQuestion& question, const LensMap& map, const WordOf& word) {
  GridFigure figure;
  figure.title = fmt::format("Top prediction after every layer{}",
                             question.pair->b ? question.ofB ? ", text B" : ", text A" : "");
  figure.note =
      "Logit lens: the stream through the final norm and the unembedding. Colour: the top token's "
      "probability.";
  figure.columnTitle = "after token";
  const Index layers = map.top.rows() - 1;
  figure.rows.push_back("embedding");
  for (Index row = 0; row < layers; ++row) figure.rows.push_back(fmt::format("layer {}", row));
  for (const attention::Token& token : question.text().text.tokens) figure.columns.push_back(token.text);
  figure.values = map.probability;
  for (Index i = 0; i < map.top.size(); ++i) figure.words.push_back(word(map.top.data()[i]));
  figure.low = 0;
  figure.aroundZero = false;
  figure.caption = "probability";
  return figure;
}

namespace {

constexpr double kStudyHeader = 46, kTableTitles = 40, kTableRow = 30, kTableNames = 56, kTableColumn = 70;
constexpr double kTableNumberEnd = 0.9;  // share of a column

double studyMean(const HeadColumn& column, std::pair<Index, Index> head) {
  return double{column.mean(head.first, head.second)};
}

/// Splits a title into two lines: "previous", "token".
std::pair<std::string, std::string> titleLines(const std::string& title) {
  constexpr std::size_t kLine = 12;
  const std::size_t space = title.find(' ');
  if (space == std::string::npos) return {"", cutToColumns(title, kLine)};
  return {cutToColumns(title.substr(0, space), kLine), cutToColumns(title.substr(space + 1), kLine)};
}

std::string headPlace(std::pair<Index, Index> head) {
  return fmt::format("{}.{}", head.first, head.second);
}

void addStudyHeader(Drawing& drawing, const DrawingColors& colors, const std::string& title,
                    const std::string& note) {
  drawing.title = title;
  const auto columns = [&](double wide) {
    return static_cast<std::size_t>(std::max(8.0, drawing.width / wide));
  };
  drawing.shapes.push_back(
      TextRun{cutToColumns(title, columns(8)), 0, 10, 15, colors.text, Anchor::start, false, true});
  drawing.shapes.push_back(TextRun{cutToColumns(note, columns(6.6)), 0, 30, 12, colors.secondary});
}

/// Returns an axis over the values and 0, with ticks at both ends and at 0.
PlotAxis axisOver(const std::vector<PlotMark>& marks, double PlotPoint::*value, const std::string& title) {
  PlotAxis axis{0, 0, false, {}, title};
  for (const PlotMark& mark : marks) {
    axis.low = std::min(axis.low, mark.at.*value);
    axis.high = std::max(axis.high, mark.at.*value);
  }
  if (axis.high - axis.low < 1e-9) axis.high = axis.low + 1;
  for (const double tick : {axis.low, 0.0, axis.high})
    if (axis.ticks.empty() || tick > axis.ticks.back().value) axis.ticks.push_back({tick, studyNumber(tick)});
  return axis;
}

}  // namespace

std::string studyNumber(double value) {
  return std::isfinite(value) ? fixedText(value, 2) : "–";
}

std::string studyNote(const TextsStudy& study) {
  const Index texts = std::ssize(study.texts) - study.problems;
  return fmt::format("{}: mean over {}", study.question.file->name, countedText(texts, "text"));
}

HeadScatter headScatter(const TextsStudy& study, const std::string& x, const std::string& y,
                        std::pair<Index, Index> lit) {
  HeadScatter scatter;
  const HeadColumn *const across = study.column(x), *const up = study.column(y);
  if (!across || !up) return scatter;
  scatter.title = capitalized(up->title) + " against " + across->title;
  Plot& plot = scatter.plot;
  for (Index layer = 0; layer < up->mean.rows(); ++layer)
    for (Index head = 0; head < up->mean.cols(); ++head) {
      const PlotPoint at{studyMean(*across, {layer, head}), studyMean(*up, {layer, head})};
      if (!std::isfinite(at.x) || !std::isfinite(at.y)) continue;
      scatter.heads.emplace_back(layer, head);
      plot.marks.push_back({at, "", "", PlotSide::right, scatter.heads.back() == lit});
    }
  plot.x = axisOver(plot.marks, &PlotPoint::x, across->title);
  plot.y = axisOver(plot.marks, &PlotPoint::y, "");
  plot.labelRoom = 30;
  // The marks farthest from the origin are labelled.
  constexpr std::size_t kNamed = 12;
  const auto nearness = [&](const PlotMark& mark) {
    return -std::abs(mark.at.x) / (plot.x.high - plot.x.low) -
           std::abs(mark.at.y) / (plot.y.high - plot.y.low);
  };
  std::vector<double> order;
  for (const PlotMark& mark : plot.marks) order.push_back(nearness(mark));
  std::ranges::sort(order);
  for (std::size_t i = 0; i < plot.marks.size(); ++i)
    if (PlotMark& mark = plot.marks[i];
        mark.chosen || nearness(mark) <= order[std::min(kNamed, order.size()) - 1])
      mark.label = headPlace(scatter.heads[i]);
  return scatter;
}

TableFigure tableFigure(const TextsStudy& study, const std::string& column, bool smallestFirst) {
  TableFigure figure;
  const HeadColumn* const by = study.column(column);
  if (!by) return figure;
  figure.title = "Heads by " + by->title;
  figure.note = studyNote(study) + ", ± standard deviation";
  figure.columns.push_back(by);
  // Effects on the answer come before descriptions of heads; both keep the file's order.
  for (const bool effect : {true, false})
    for (const HeadColumn& one : study.columns) {
      const bool isEffect = one.name == "loss" || one.name == "attribution" || one.name == "patch";
      if (&one != by && isEffect == effect) figure.columns.push_back(&one);
    }
  for (Index layer = 0; layer < by->mean.rows(); ++layer)
    for (Index head = 0; head < by->mean.cols(); ++head) figure.rows.emplace_back(layer, head);
  std::ranges::stable_sort(figure.rows, {}, [&](std::pair<Index, Index> head) {
    const double mean = studyMean(*by, head);
    return std::isfinite(mean) ? (smallestFirst ? mean : -mean) : std::numeric_limits<double>::infinity();
  });
  return figure;
}

std::size_t tableRows(double height) {
  return static_cast<std::size_t>(
      std::max(1.0, std::floor((height - kStudyHeader - kTableTitles) / kTableRow)));
}

std::size_t tableColumns(const TableFigure& figure, double width) {
  const auto room =
      static_cast<std::size_t>(std::max(1.0, std::floor((width - kTableNames - 40) / kTableColumn)));
  return std::min(room, figure.columns.size());
}

TablePlace tableAt(const TableFigure& figure, double width, double height, double x, double y) {
  TablePlace place;
  const double top = kStudyHeader + kTableTitles;
  if (y >= kStudyHeader && y < top && x >= kTableNames) {
    const auto column = static_cast<std::size_t>((x - kTableNames) / kTableColumn);
    if (column < tableColumns(figure, width)) place.column = column;
  }
  if (y >= top && x >= 0 && x < width) {
    const auto row = static_cast<std::size_t>((y - top) / kTableRow);
    if (row < tableRows(height) && figure.first + row < figure.rows.size()) place.row = figure.first + row;
  }
  return place;
}

Drawing tableDrawing(const TableFigure& figure, double width, double height, const DrawingColors& colors) {
  Drawing drawing;
  drawing.width = width;
  drawing.height = height;
  drawing.background = colors.background;
  addStudyHeader(drawing, colors, figure.title, figure.note);
  if (figure.columns.empty()) return drawing;
  const std::size_t columns = tableColumns(figure, width);
  const double top = kStudyHeader + kTableTitles,
               wide = kTableNames + kTableColumn * static_cast<double>(columns);
  for (std::size_t i = 0; i < columns; ++i) {
    const double x = kTableNames + kTableColumn * (static_cast<double>(i) + kTableNumberEnd);
    const auto [above, below] = titleLines(figure.columns[i]->title);
    const render::Color& color = i == 0 ? colors.text : colors.secondary;
    drawing.shapes.push_back(TextRun{above, x, top - 24, 11, color, Anchor::end});
    drawing.shapes.push_back(TextRun{below, x, top - 10, 11, color, Anchor::end});
  }
  drawing.shapes.push_back(Line{0, top, wide, top, colors.line, 1});
  const std::size_t last = std::min(figure.rows.size(), figure.first + tableRows(height));
  for (std::size_t row = figure.first; row < last; ++row) {
    const double y = top + kTableRow * static_cast<double>(row - figure.first);
    if (figure.lit == figure.rows[row])
      drawing.shapes.push_back(Box{{0, y + 1, wide, kTableRow - 2}, colors.raised, 0, 4});
    drawing.shapes.push_back(TextRun{headPlace(figure.rows[row]), 8, y + kTableRow / 2, 12, colors.text,
                                     Anchor::start, true, true});
    for (std::size_t i = 0; i < columns; ++i) {
      const double x = kTableNames + kTableColumn * (static_cast<double>(i) + kTableNumberEnd);
      const auto [layer, head] = figure.rows[row];
      const double mean = studyMean(*figure.columns[i], figure.rows[row]);
      drawing.shapes.push_back(TextRun{studyNumber(mean), x, y + 10, 12,
                                       i == 0 ? colors.text : colors.secondary, Anchor::end, true});
      if (std::isfinite(mean))
        drawing.shapes.push_back(TextRun{"±" + studyNumber(double{figure.columns[i]->spread(layer, head)}), x,
                                         y + 22, 10, colors.faint, Anchor::end, true});
    }
  }
  return drawing;
}

GridFigure studyMap(const TextsStudy& study, const std::string& column) {
  GridFigure figure;
  const HeadColumn* const of = study.column(column);
  if (!of) return figure;
  figure.title = capitalized(of->title);
  figure.note = studyNote(study);
  figure.columnTitle = "head";
  figure.values = of->mean;
  for (Index row = 0; row < of->mean.rows(); ++row) figure.rows.push_back(fmt::format("{}", row));
  for (Index head = 0; head < of->mean.cols(); ++head) figure.columns.push_back(fmt::format("{}", head));
  float least = 0, most = 0;
  for (const float value : of->mean.reshaped())
    if (std::isfinite(value)) least = std::min(least, value), most = std::max(most, value);
  figure.aroundZero = least < 0;
  const float end = std::max({most, -least, 1e-6f});
  figure.low = figure.aroundZero ? -end : 0;
  figure.high = end;
  figure.caption = "mean";
  return figure;
}

}  // namespace headscope::app
