#include "app/compute/figures/answer_figures.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

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

}  // namespace headscope::app
