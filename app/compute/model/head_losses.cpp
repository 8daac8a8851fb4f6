#include "app/compute/model/head_losses.h"

#include <algorithm>

#include "app/compute/model/model_predictions.h"

namespace headscope::app {

using attention::Error;
using attention::Matrix;
using attention::Result;

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
    const auto row = logits.row(static_cast<Index>(i)).array();
    const float most = row.maxCoeff();
    sum += std::exp(row[watched.ids[i]] - most) / (row - most).exp().sum();
  }
  return sum / static_cast<double>(watched.ids.size());
}

/// Returns the mean probability under `setup`.
Result<double> probabilityUnder(const Setup& setup, const ModelStudy& study, const Watched& watched,
                                Resources& resources, const std::stop_token& stop) {
  Result<attention::PassRequest> request = passRequest(setup, study.text.tokens, resources.inputs);
  if (!request) return request.error();
  request->weights = false;
  request->layers = std::vector<Index>();
  request->logits = attention::LogitRows::none;
  attention::ModelSession session(setup.subject.opened->model);
  auto pass = session.append(study.text.ids, *request, stop);
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

}  // namespace headscope::app
