#include "app/compute/model/model_predictions.h"

#include <algorithm>
#include <cmath>

#include "attention/core/extremes.h"

namespace headscope::app {

using attention::Error;
using attention::Matrix;
using attention::Result;

namespace {

/// softmax(logits), in place.
void toProbabilities(Matrix& logits) {
  for (Index row = 0; row < logits.rows(); ++row) {
    auto values = logits.row(row).array();
    const float most = values.maxCoeff();
    values = (values - most).exp();
    values /= values.sum();
  }
}

const Matrix& streamAt(const ModelStudy& study, Index stop) {
  return stop == 0 ? study.embedded : study.layers[static_cast<std::size_t>(stop) - 1]->hidden;
}

const attention::Model& modelOf(const ModelStudy& study) {
  return *study.opened->model;
}

/// Returns the logits of a token's prediction at every stop, [stops, vocabulary]; for a picture [stops,
/// classes].
template <typename StreamOf>
Matrix lensOf(const attention::Model& model, Index stops, Index query, const StreamOf& streamOf,
              std::stop_token stop) {
  if (model.classifies()) {
    Matrix logits(stops, std::ssize(model.config().picture->classes));
    for (Index s = 0; s < stops; ++s) logits.row(s) = model.classLogits(streamOf(s), stop);
    return logits;
  }
  Matrix rows(stops, model.config().modelDim);
  for (Index s = 0; s < stops; ++s) rows.row(s) = streamOf(s).row(query);
  return model.logits(rows, stop);
}

/// Returns the token generated after the query if it isn't the most likely one.
std::optional<TokenPredictions::RuleOverride> tokenForcedByRule(const ModelStudy& study, Index query,
                                                                Eigen::RowVectorXf logits) {
  const attention::ModelConfig& config = modelOf(study).config();
  if (!config.causal || query + 1 < study.text.given) return std::nullopt;
  const auto ids = std::span(study.text.ids).first(attention::asSize(query + 1));
  const std::string_view rule =
      applyRules(config.generation, {ids, study.text.given, config.endTokens}, logits);
  if (rule.empty()) return std::nullopt;
  TokenPredictions::RuleOverride ruled{-1, std::string(rule)};
  logits.maxCoeff(&ruled.id);
  return ruled;
}

/// Returns the distance to the predicted token: 1 for the next, 0 for an encoder's own position.
Index ahead(const attention::ModelConfig& config) {
  return config.causal ? 1 : 0;
}

/// Returns the rank from 1: one more than the number of more likely tokens.
Index rankOf(const Matrix& probabilities, Index row, Index id) {
  return (probabilities.row(row).array() > probabilities(row, id)).count() + 1;
}

}  // namespace

Result<TokenPredictions> predictTokens(const PredictionQuestion& question, std::stop_token stop) {
  const ModelStudy& study = *question.study;
  const attention::Model& model = modelOf(study);
  TokenPredictions predictions;
  const Index stops = std::ssize(study.layers) + 1;
  if ((!model.predictsTokens() && !model.classifies()) || study.tokens() == 0) return predictions;
  const Index query = std::clamp<Index>(question.query, 0, study.tokens() - 1);
  Matrix now = lensOf(
      model, stops, query, [&](Index s) -> const Matrix& { return streamAt(study, s); }, stop);
  Matrix before;
  if (question.unchanged && std::ssize(question.unchanged->streams) == stops &&
      question.unchanged->streams.front().rows() == study.tokens())
    before = lensOf(
        model, stops, query,
        [&](Index s) -> const Matrix& { return question.unchanged->streams[static_cast<std::size_t>(s)]; },
        stop);
  if (stop.stop_requested()) return Error{"stopped"};
  predictions.ruled = tokenForcedByRule(study, query, now.row(stops - 1));
  toProbabilities(now);
  toProbabilities(before);
  const auto guessAt = [&](Index s, Index id) {
    return Prediction{id, now(s, id), before.size() > 0 ? before(s, id) : -1};
  };
  for (Index s = 0; s < stops; ++s) {
    Index top = 0;
    now.row(s).maxCoeff(&top);
    predictions.lens.push_back(guessAt(s, top));
  }
  const Index at = std::clamp<Index>(question.stop, 0, stops - 1);
  std::vector<Index> order(static_cast<std::size_t>(now.cols()));
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<Index>(i);
  const auto best = std::min<std::size_t>(order.size(), TokenPredictions::kBest);
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(best), order.end(),
                    [&](Index a, Index b) { return attention::descends(now(at, a), now(at, b)); });
  for (std::size_t i = 0; i < best; ++i) predictions.best.push_back(guessAt(at, order[i]));
  if (before.size() > 0) {
    Index first = 0;
    before.row(at).maxCoeff(&first);
    if (first != order.front()) predictions.former = guessAt(at, first);
  }
  if (const Index of = query + ahead(model.config()); model.predictsTokens() && of < study.tokens()) {
    const Index real = study.text.ids[static_cast<std::size_t>(of)];
    predictions.real = guessAt(at, real);
    predictions.rank = rankOf(now, at, real);
  }
  return predictions;
}

Result<std::vector<StripPrediction>> predictStrip(const StripQuestion& question, std::stop_token stop) {
  const ModelStudy& study = *question.study;
  const attention::Model& model = modelOf(study);
  std::vector<StripPrediction> strip;
  if (!model.predictsTokens()) return strip;
  // In parts, because the logits of all rows would be the largest matrix by far for a large vocabulary.
  const Index part = std::max<Index>(1, (Index{4} << 20) / model.config().vocabulary);
  const Index at = std::clamp<Index>(question.stop, 0, std::ssize(study.layers));
  const Matrix& stream = streamAt(study, at);
  const bool twice = question.unchanged &&
                     std::ssize(question.unchanged->streams) == std::ssize(study.layers) + 1 &&
                     question.unchanged->streams.front().rows() == study.tokens();
  for (Index first = 0; first < study.tokens(); first += part) {
    const Index count = std::min(part, study.tokens() - first);
    Matrix now = model.logits(stream.middleRows(first, count), stop);
    Matrix before;
    if (twice && !stop.stop_requested())
      before = model.logits(
          question.unchanged->streams[static_cast<std::size_t>(at)].middleRows(first, count), stop);
    if (stop.stop_requested()) return Error{"stopped"};
    toProbabilities(now);
    toProbabilities(before);
    for (Index row = 0; row < count; ++row) {
      StripPrediction& one = strip.emplace_back();
      if (now.row(row).allFinite()) now.row(row).maxCoeff(&one.top);
      const Index of = first + row + ahead(model.config());
      if (of >= study.tokens()) continue;
      const Index real = study.text.ids[static_cast<std::size_t>(of)];
      one.real = now(row, real);
      if (twice) one.unchanged = before(row, real);
      one.rank = rankOf(now, row, real);
      one.loss = -std::log(std::max(one.real, 1e-38f));
    }
  }
  return strip;
}

Result<float> forecast(const ForecastQuestion& question, Resources& resources, std::stop_token stop) {
  const ModelStudy& study = *question.study;
  Setup setup = study.question.setup;
  for (const SwitchedHead& head : question.heads) setup.subject.switchedOff.push_back(head);
  Result<attention::PassRequest> request = passRequest(setup, study.text.tokens, resources.inputs);
  if (!request) return request.error();
  request->weights = false;
  request->layers = std::vector<Index>();
  const bool whole = readsLaterTokens(setup);
  const attention::Model& model = *setup.subject.opened->model;
  request->logits = model.classifies() ? attention::LogitRows::none
                    : whole            ? attention::LogitRows::all
                                       : attention::LogitRows::last;
  auto ids = std::span<const Index>(study.text.ids);
  if (!whole) ids = ids.first(static_cast<std::size_t>(question.query) + 1);
  attention::ModelSession session(setup.subject.opened->model);
  auto pass = session.append(ids, *request, stop);
  if (!pass) return pass.error();
  Matrix row = model.classifies() ? model.classLogits(pass->stream, stop)
                                  : Matrix(pass->logits.row(whole ? question.query : 0));
  toProbabilities(row);
  return row(0, question.id);
}

float headShare(const ModelStudy& study, Index layer, Index head, Index query) {
  const LayerSummary& summary = *study.layers[static_cast<std::size_t>(layer)];
  Matrix alone = Matrix::Zero(1, summary.headOutput.count() * summary.headOutput.cols());
  alone.middleCols(head * summary.headOutput.cols(), summary.headOutput.cols()) =
      summary.headOutput[head].row(query);
  attention::MappedLinear o = modelOf(study).weights().layers[static_cast<std::size_t>(layer)].o;
  o.bias = {};
  const float wrote = modelOf(study).config().residualScale * o.apply(alone, {}).norm();
  return wrote / std::max(streamAt(study, layer).row(query).norm(), 1e-20f);
}

}  // namespace headscope::app
