#include <fmt/core.h>

#include <numeric>

#include "app/compute/model/passes.h"
#include "app/scene/text/number_text.h"
#include "attention/core/extremes.h"

namespace headscope::app {

using attention::Error;
using attention::Matrix;
using attention::Result;

std::vector<Index> largest(const Eigen::Ref<const Eigen::RowVectorXf>& values, std::size_t most) {
  std::vector<Index> order(attention::asSize(values.size()));
  std::iota(order.begin(), order.end(), Index{0});
  most = std::min(most, order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(most), order.end(),
                    [&](Index a, Index b) { return attention::descends(values[a], values[b]); });
  order.resize(most);
  return order;
}

double logSumExp(const Eigen::Ref<const Eigen::RowVectorXf>& row) {
  const double most = double{row.maxCoeff()};
  return most + std::log((row.cast<double>().array() - most).exp().sum());
}

void toProbabilities(Matrix& logits) {
  for (Index row = 0; row < logits.rows(); ++row) {
    auto values = logits.row(row).array();
    const float most = values.maxCoeff();
    values = (values - most).exp();
    values /= values.sum();
  }
}

attention::Status forLogits(const attention::Model& model, const Matrix& stream, const std::stop_token& stop,
                            const LogitPart& each) {
  const Index part = std::max<Index>(1, (Index{4} << 20) / model.config().vocabulary);
  for (Index first = 0; first < stream.rows(); first += part) {
    Matrix logits = model.logits(stream.middleRows(first, std::min(part, stream.rows() - first)), stop);
    if (!stop.stop_requested()) each(first, logits);
    if (stop.stop_requested()) return Error{"stopped"};
  }
  return attention::success();
}

Result<attention::PassResult> plainPass(const Setup& setup, const std::vector<attention::Token>& tokens,
                                        std::span<const Index> ids, attention::LogitRows logits,
                                        Resources& resources, const std::stop_token& stop) {
  Result<attention::PassRequest> request = passRequest(setup, tokens, resources.inputs);
  if (!request) return request.error();
  request->weights = false;
  request->layers = std::vector<Index>();
  request->logits = logits;
  attention::ModelSession session(setup.subject.opened->model);
  return session.append(ids, *request, stop);
}

Error overBudget(const std::string& what, std::uint64_t needed, const MemoryBudget& memory,
                 const std::string& advice) {
  const auto bytes = [](std::uint64_t count) { return bytesText(static_cast<double>(count)); };
  return Error{fmt::format("{} {}; the budget is {}, and {} of it is in use.{}{}", what, bytes(needed),
                           bytes(memory.total()), bytes(memory.used()), advice.empty() ? "" : " ", advice)};
}

namespace {

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
  for (const Index id : largest(now.row(at), TokenPredictions::kBest))
    predictions.best.push_back(guessAt(at, id));
  if (before.size() > 0) {
    Index first = 0;
    before.row(at).maxCoeff(&first);
    if (first != predictions.best.front().id) predictions.former = guessAt(at, first);
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
  const Index at = std::clamp<Index>(question.stop, 0, std::ssize(study.layers));
  const bool twice = question.unchanged &&
                     std::ssize(question.unchanged->streams) == std::ssize(study.layers) + 1 &&
                     question.unchanged->streams.front().rows() == study.tokens();
  const auto done = forLogits(model, streamAt(study, at), stop, [&](Index first, Matrix& now) {
    Matrix before;
    if (twice)
      before = model.logits(
          question.unchanged->streams[static_cast<std::size_t>(at)].middleRows(first, now.rows()), stop);
    if (stop.stop_requested()) return;
    toProbabilities(now);
    toProbabilities(before);
    for (Index row = 0; row < now.rows(); ++row) {
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
  });
  if (!done) return done.error();
  return strip;
}

Result<float> forecast(const ForecastQuestion& question, Resources& resources, std::stop_token stop) {
  const ModelStudy& study = *question.study;
  Setup setup = study.question.setup;
  for (const SwitchedHead& head : question.heads) setup.subject.switchedOff.push_back(head);
  const bool whole = readsLaterTokens(setup);
  const attention::Model& model = *setup.subject.opened->model;
  auto ids = std::span<const Index>(study.text.ids);
  if (!whole) ids = ids.first(static_cast<std::size_t>(question.query) + 1);
  const auto pass = plainPass(setup, study.text.tokens, ids,
                              model.classifies() ? attention::LogitRows::none
                              : whole            ? attention::LogitRows::all
                                                 : attention::LogitRows::last,
                              resources, stop);
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

namespace {

/// The predictions to measure: row i of the logits predicts ids[i].
struct Watched {
  Index firstRow = 0;
  std::vector<Index> ids;
};

Watched watchedOf(const ModelStudy& study, LossOf of, Index next) {
  const std::vector<Index>& ids = study.text.ids;
  const auto from = [&](Index at) { return std::vector<Index>(ids.begin() + at, ids.end()); };
  switch (of) {
    case LossOf::written: {
      // If no text was typed, nothing precedes the first written token.
      const Index first = std::max<Index>(study.text.typed, 1);
      return {first - 1, from(first)};
    }
    case LossOf::standing:
      return {0, from(0)};
    case LossOf::next:
      break;
  }
  return {study.tokens() - 1, {next}};
}

double meanProbability(const Matrix& logits, const Watched& watched) {
  double sum = 0;
  for (std::size_t i = 0; i < watched.ids.size(); ++i) {
    const auto row = logits.row(static_cast<Index>(i));
    sum += std::exp(double{row[watched.ids[i]]} - logSumExp(row));
  }
  return sum / static_cast<double>(watched.ids.size());
}

/// Returns the mean probability under `setup`.
Result<double> probabilityUnder(const Setup& setup, const ModelStudy& study, const Watched& watched,
                                Resources& resources, const std::stop_token& stop) {
  const auto pass =
      plainPass(setup, study.text.tokens, study.text.ids, attention::LogitRows::none, resources, stop);
  if (!pass) return pass.error();
  const auto rows = static_cast<Index>(watched.ids.size());
  const Matrix logits =
      setup.subject.opened->model->logits(pass->stream.middleRows(watched.firstRow, rows), stop);
  if (stop.stop_requested()) return Error{"stopped"};
  return meanProbability(logits, watched);
}

}  // namespace

bool losesQuickly(const ModelStudy& study) {
  const OpenModel& opened = *study.question.setup.subject.opened;
  if (!opened.model || !opened.model->predictsTokens() || study.tokens() == 0) return false;
  double numbers = 0;
  for (const auto& layer : opened.model->weights().layers)
    for (const auto* linear : attention::mapsOfToken(layer, opened.config().mixture.used))
      numbers += static_cast<double>(linear->out) * static_cast<double>(linear->in);
  const double heads = static_cast<double>(opened.config().layerCount() * opened.config().heads);
  constexpr double kMaxOperations = 2e10;
  return 2 * numbers * static_cast<double>(study.tokens()) * heads <= kMaxOperations;
}

Result<HeadLosses> headLosses(const HeadLossQuestion& question, Resources& resources, std::stop_token stop) {
  const ModelStudy& study = *question.study;
  const Setup& setup = study.question.setup;
  const attention::ModelConfig& config = setup.subject.opened->config();
  HeadLosses losses;
  losses.of = !config.causal                                            ? LossOf::standing
              : study.tokens() > study.text.typed && study.tokens() > 1 ? LossOf::written
                                                                        : LossOf::next;
  if (losses.of == LossOf::next) study.lastLogits.row(0).maxCoeff(&losses.next);
  if (!study.lastLogits.allFinite()) return Error{"The model's predictions aren't finite."};
  const Watched watched = watchedOf(study, losses.of, losses.next);
  const auto now = probabilityUnder(setup, study, watched, resources, stop);
  if (!now) return now.error();
  losses.change = Matrix::Zero(config.layerCount(), config.heads);
  for (Index layer = 0; layer < config.layerCount(); ++layer)
    for (Index head = 0; head < config.heads; ++head) {
      Setup other = setup;
      auto& off = other.subject.switchedOff;
      const bool wasOff = std::erase_if(off, [&](const SwitchedHead& one) {
                            return one.layer == layer && one.head == head;
                          }) > 0;
      if (!wasOff) off.push_back({layer, head, HeadOff::zero});
      const auto then = probabilityUnder(other, study, watched, resources, stop);
      if (!then) return then.error();
      losses.change(layer, head) = static_cast<float>(wasOff ? *now - *then : *then - *now);
    }
  return losses;
}

Result<std::shared_ptr<const TextLoss>> textLoss(const LossQuestion& question, Resources& resources,
                                                 std::stop_token stop) {
  const Setup& setup = question.model.setup;
  const attention::Model& model = *setup.subject.opened->model;
  if (!model.predictsTokens()) return Error{model.whyNoPredictions()};
  auto text = readModelText(setup, stop);
  if (!text) return text.error();
  const auto pass = plainPass(setup, text->tokens, text->ids, attention::LogitRows::none, resources, stop);
  if (!pass) return pass.error();
  auto made = std::make_shared<TextLoss>();
  const Index n = std::ssize(text->ids);
  double sum = 0;
  Index counted = 0;
  const auto done = forLogits(model, pass->stream, stop, [&](Index first, Matrix& logits) {
    for (Index row = 0; row < logits.rows(); ++row) {
      const double total = logSumExp(logits.row(row));
      Index guess = 0;
      logits.row(row).maxCoeff(&guess);
      made->guess.push_back(guess);
      const auto at = static_cast<std::size_t>(first + row);
      const Index followed =
          question.followed && at < question.followed->guess.size() ? question.followed->guess[at] : guess;
      made->probability.push_back(static_cast<float>(std::exp(double{logits(row, followed)} - total)));
      made->loss.push_back(std::numeric_limits<float>::quiet_NaN());
      const Index of = first + row + ahead(model.config());
      if (of >= n) continue;
      made->loss.back() =
          static_cast<float>(total - double{logits(row, text->ids[static_cast<std::size_t>(of)])});
      sum += double{made->loss.back()};
      ++counted;
    }
  });
  if (!done) return done.error();
  made->mean = counted > 0 ? sum / static_cast<double>(counted) : std::numeric_limits<double>::quiet_NaN();
  return std::shared_ptr<const TextLoss>(std::move(made));
}

}  // namespace headscope::app
