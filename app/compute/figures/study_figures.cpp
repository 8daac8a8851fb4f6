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

const PieceWords& pieceWords(Piece piece) {
  static constexpr PieceWords kWords[] = {
      {"stream", "Stream", "Stream", "Residual stream before each layer",
       "Residual stream before each layer"},
      {"Q", "Q", "Q", "Queries of each head", "Queries of each layer"},
      {"K", "K", "K", "Keys of each KV head", "Keys of each layer"},
      {"V", "V", "V", "Values of each KV head", "Values of each layer"},
      {"pattern", "Patterns", "Patterns", "Pattern of each head", "Patterns of each layer"},
      {"head", "Outputs", "Attention", "Output of each head", "Attention output of each layer"},
      {"MLP", "MLP", "MLP", "MLP output of each layer", "MLP output of each layer"},
      {"middle", "Middle", "Middle", "Residual stream between attention and MLP",
       "Residual stream between attention and MLP"}};
  return kWords[static_cast<std::size_t>(piece)];
}

GridFigure patchFigure(const PatchGridQuestion& question, const PatchGrid& grid,
                       const std::vector<KeptPatch>& kept) {
  const PairStudy& pair = *question.sides.pair;
  const bool tokens = question.columnsAreTokens();
  GridFigure figure;
  figure.title = tokens ? pieceWords(question.piece).eachLayer : pieceWords(question.piece).eachHead;
  if (question.path)
    figure.title += fmt::format(", along paths from head {}.{}", question.path->layer, question.path->head);
  figure.title += question.sides.intoA ? ", B into A" : ", A into B";
  figure.note = fmt::format(
      "Each cell puts one piece of {0} into the run of {1}: 1 = the answer becomes {0}’s, 0 = "
      "it stays {1}’s",
      question.sides.intoA ? "B" : "A", question.sides.intoA ? "A" : "B");
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
  figure.note =
      fmt::format("Bars to the right favour “{}”.{} After the last token; the final norm’s scale held fixed.",
                  word(pair.answers.id), figure.two ? " Filled: text A, hollow: text B." : "");
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
      "What the model would say next if it stopped after that layer (logit lens). Colour: how sure it is.";
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

double studyMean(const HeadColumn& column, std::pair<Index, Index> head) {
  return double{column.mean(head.first, head.second)};
}

std::string headPlace(std::pair<Index, Index> head) {
  return fmt::format("{}.{}", head.first, head.second);
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
