#include "app/compute/model/text_loss.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace headscope::app {

using attention::Error;
using attention::Matrix;
using attention::Result;

namespace {

constexpr float kNone = std::numeric_limits<float>::quiet_NaN();

/// Returns ln Σ exp of a row.
double logSum(const Eigen::Ref<const Eigen::RowVectorXf>& row) {
  const double most = static_cast<double>(row.maxCoeff());
  return most + std::log((row.cast<double>().array() - most).exp().sum());
}

}  // namespace

Result<std::shared_ptr<const TextLoss>> textLoss(const LossQuestion& question, Resources& resources,
                                                 std::stop_token stop) {
  const Setup& setup = question.model.setup;
  const attention::Model& model = *setup.subject.opened->model;
  if (!model.predictsTokens()) return Error{model.whyNoPredictions()};
  auto text = readModelText(setup, stop);
  if (!text) return text.error();
  auto request = passRequest(setup, text->tokens, resources.inputs);
  if (!request) return request.error();
  request->weights = false;
  request->layers = std::vector<Index>();
  request->logits = attention::LogitRows::none;
  attention::ModelSession session(setup.subject.opened->model);
  auto pass = session.append(text->ids, *request, stop);
  if (!pass) return pass.error();
  auto made = std::make_shared<TextLoss>();
  const Index n = std::ssize(text->ids), ahead = model.config().causal ? 1 : 0;
  // In parts, because the logits of all rows would be the largest matrix by far for a large vocabulary.
  const Index part = std::max<Index>(1, (Index{4} << 20) / model.config().vocabulary);
  double sum = 0;
  Index counted = 0;
  for (Index first = 0; first < n; first += part) {
    const Index count = std::min(part, n - first);
    const Matrix logits = model.logits(pass->stream.middleRows(first, count), stop);
    if (stop.stop_requested()) return Error{"stopped"};
    for (Index row = 0; row < count; ++row) {
      const double total = logSum(logits.row(row));
      Index guess = 0;
      logits.row(row).maxCoeff(&guess);
      made->guess.push_back(guess);
      const auto at = static_cast<std::size_t>(first + row);
      const Index followed =
          question.followed && at < question.followed->guess.size() ? question.followed->guess[at] : guess;
      made->probability.push_back(
          static_cast<float>(std::exp(static_cast<double>(logits(row, followed)) - total)));
      const Index of = first + row + ahead;
      made->loss.push_back(
          of < n ? static_cast<float>(
                       total - static_cast<double>(logits(row, text->ids[static_cast<std::size_t>(of)])))
                 : kNone);
      if (of >= n) continue;
      sum += static_cast<double>(made->loss.back());
      ++counted;
    }
  }
  made->mean = counted > 0 ? sum / static_cast<double>(counted) : std::numeric_limits<double>::quiet_NaN();
  return std::shared_ptr<const TextLoss>(std::move(made));
}

}  // namespace headscope::app
