#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "app/compute/layer/line_tokens.h"
#include "app/compute/lessons/lesson_study.h"
#include "app/scene/models/open_model.h"
#include "attention/text/unicode.h"

namespace headscope::app {

using attention::asSize;
using attention::Error;
using attention::Result;

namespace {

constexpr Index kTableRows = 64;

TokenFigure::Entry entryOf(const OpenModel& opened, Index id) {
  return {modelTokens(*opened.tokenizer, std::span(&id, 1)).front().text, id};
}

/// The ids of tokens of the text, with those next to them.
std::vector<Index> idsAround(const TokenFigure& figure, std::span<const Index> positions) {
  std::set<Index> ids;
  for (const Index position : positions)
    for (Index id = figure.at(position).id - 1; id <= figure.at(position).id + 1; ++id)
      if (id >= 0 && id < figure.vocabulary) ids.insert(id);
  return {ids.begin(), ids.end()};
}

/// Embeds each id by itself, so that tables of positions add the same to all.
attention::Matrix rowsOf(const OpenModel& opened, const std::vector<Index>& ids) {
  attention::Matrix rows(std::ssize(ids), opened.config().modelDim);
  for (Index i = 0; i < rows.rows(); ++i) rows.row(i) = opened.model->embed(std::span(&ids[asSize(i)], 1), 0);
  return rows;
}

/// The pairs of a head's query that its layer rotates; none if it rotates nothing.
std::vector<TokenFigure::Pair> pairsOf(const TokenFigure& figure, const Scene& scene,
                                       const Snapshot& snapshot) {
  const attention::ModelConfig& config = scene.setup.subject.opened->config();
  const auto& rotation = config.layers[asSize(scene.setup.subject.layer)].rotation;
  if (!rotation) return {};
  const attention::Rotation& turns = config.rotations[asSize(*rotation)];
  const std::vector<double> steps = turns.frequenciesFor(std::ssize(figure.text));
  const auto query = snapshot.sequences.front().attention.q[scene.cursor.cell.head];
  std::vector<TokenFigure::Pair> pairs;
  for (Index t = 0; t < turns.dims / 2; ++t) {
    TokenFigure::Pair pair;
    pair.first = turns.first + (turns.interleaved ? 2 * t : t);
    pair.second = pair.first + (turns.interleaved ? 1 : turns.dims / 2);
    pair.step = steps[asSize(t)];
    for (const Index position : figure.compared)
      pair.angles.push_back(
          std::atan2(double{query(position, pair.second)}, double{query(position, pair.first)}));
    pairs.push_back(std::move(pair));
  }
  return pairs;
}

}  // namespace

attention::Vector TokenFigure::rowOf(Index position) const {
  const auto entry = std::ranges::find(entries, at(position).id, &Entry::id);
  attention::require(entry != entries.end(), "a token that isn't compared");
  return rows.row(entry - entries.begin());
}

Result<std::shared_ptr<const TokenFigure>> tokenFigure(const LessonStep& step, const Snapshot& snapshot,
                                                       std::stop_token stop) {
  const std::shared_ptr<const OpenModel>& opened = step.scene.setup.subject.opened;
  if (!opened || !opened->model || !opened->tokenizer)
    return Error{"this picture needs an opened model with a tokenizer"};
  const auto text = readModelText(step.scene.setup, stop);
  if (!text) return text.error();
  if (const auto fits = opened->model->checkTokens(text->ids, 0); !fits) return fits.error();
  auto figure = std::make_shared<TokenFigure>();
  figure->vocabulary = opened->config().vocabulary;
  for (std::size_t i = 0; i < text->ids.size(); ++i)
    figure->text.push_back({text->tokens[i].text, text->ids[i]});
  if (step.look.query < 0 || step.look.query >= std::ssize(figure->text))
    return Error{fmt::format("look.query is {}, expected a token of the text, 0 to {}", step.look.query,
                             std::ssize(figure->text) - 1)};
  // Compared are the tokens that a reader takes for the same word; positions, those with the same id.
  const TokenFigure::Entry& chosen = figure->at(step.look.query);
  const bool turns = step.look.picture == LookPicture::rotation;
  for (Index position = 0; position < std::ssize(figure->text); ++position) {
    const TokenFigure::Entry& token = figure->at(position);
    if (turns ? token.id == chosen.id : attention::foldCase(token.word) == attention::foldCase(chosen.word))
      figure->compared.push_back(position);
  }
  if (turns) figure->pairs = pairsOf(*figure, step.scene, snapshot);
  if (turns && figure->pairs.empty()) return Error{"this layer doesn't rotate queries"};
  std::stable_partition(figure->compared.begin(), figure->compared.end(),
                        [&](Index position) { return figure->at(position).id == chosen.id; });
  for (Index position = 0; position < std::ssize(figure->text) && figure->example < 0; ++position)
    if (std::ranges::find(figure->compared, position) == figure->compared.end()) figure->example = position;
  if (figure->example >= 0)
    for (const Index id : idsAround(*figure, std::span(&figure->example, 1)))
      figure->examples.push_back(entryOf(*opened, id));
  const std::vector<Index> shown = idsAround(*figure, figure->compared);
  for (const Index id : shown) figure->entries.push_back(entryOf(*opened, id));
  figure->rows = rowsOf(*opened, shown);
  std::vector<Index> spread;
  const Index rows = std::min(kTableRows, figure->vocabulary);
  for (Index row = 0; row < rows; ++row) spread.push_back(row * figure->vocabulary / rows);
  figure->table = rowsOf(*opened, spread);
  return std::shared_ptr<const TokenFigure>(std::move(figure));
}

}  // namespace headscope::app
