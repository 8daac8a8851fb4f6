#include "app/compute/model/recorded_receipt.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace headscope::app {

using attention::Error;
using attention::Matrix;
using attention::Result;

namespace {

Index kvHeadOf(const attention::Stack& shared, Index heads, Index head) {
  return head * shared.count() / heads;
}

/// Returns q·k of one row with all keys, in double.
Eigen::VectorXd dots(const LayerSummary& layer, Index head, Index row) {
  const Index kv = kvHeadOf(layer.k, layer.q.count(), head);
  return layer.k[kv].cast<double>() * layer.q[head].row(row).cast<double>().transpose();
}

/// Calls each(q·k, weights, keys with weight) for every row that has any.
template <typename Each>
void forRows(const LayerSummary& layer, Index head, const std::stop_token& stop, const Each& each) {
  std::vector<Index> keys;
  for (Index row = 0; row < layer.weights.rows() && !stop.stop_requested(); ++row) {
    const auto weights = std::as_const(layer.weights)[head].row(row);
    keys.clear();
    for (Index j = 0; j < weights.size(); ++j)
      if (weights[j] > 0) keys.push_back(j);
    if (!keys.empty()) each(dots(layer, head, row), weights, keys);
  }
}

double largestDifference(const LayerSummary& layer, Index head, double scale, const std::stop_token& stop) {
  double apart = 0;
  forRows(layer, head, stop, [&](const Eigen::VectorXd& dot, const auto& weights, const auto& keys) {
    double most = -std::numeric_limits<double>::infinity(), sum = 0;
    for (const Index j : keys) most = std::max(most, scale * dot[j]);
    for (const Index j : keys) sum += std::exp(scale * dot[j] - most);
    for (const Index j : keys)
      apart =
          std::max(apart, std::abs(std::exp(scale * dot[j] - most) / sum - static_cast<double>(weights[j])));
  });
  return apart;
}

/// Returns the least-squares s in log A_ij = s·q_i·k_j + c_i, leaving out weights too small for half
/// precision.
double fittedScale(const LayerSummary& layer, Index head, const std::stop_token& stop) {
  constexpr float kLeast = 1e-3f;
  double products = 0, squares = 0;
  forRows(layer, head, stop, [&](const Eigen::VectorXd& dot, const auto& weights, const auto& keys) {
    double meanDot = 0, meanLog = 0, count = 0;
    for (const Index j : keys)
      if (weights[j] >= kLeast) {
        meanDot += dot[j];
        meanLog += std::log(static_cast<double>(weights[j]));
        ++count;
      }
    if (count < 2) return;
    for (const Index j : keys)
      if (weights[j] >= kLeast) {
        const double x = dot[j] - meanDot / count;
        products += x * (std::log(static_cast<double>(weights[j])) - meanLog / count);
        squares += x * x;
      }
  });
  return squares > 0 ? products / squares : 0;
}

}  // namespace

Result<RecordedRule> recordedRule(const RecordedQuestion& question, std::stop_token stop) {
  const LayerSummary& layer = *question.study->layers[static_cast<std::size_t>(question.layer)];
  if (layer.q.size() == 0 || layer.k.size() == 0) return Error{"The file has no q and k"};
  RecordedRule rule;
  rule.scale = 1 / std::sqrt(static_cast<double>(layer.q.cols()));
  rule.byRootOfDim = true;
  rule.apart = largestDifference(layer, question.head, rule.scale, stop);
  if (!rule.explains()) {
    const double fitted = fittedScale(layer, question.head, stop);
    if (const double apart = largestDifference(layer, question.head, fitted, stop); apart < rule.apart)
      rule = {fitted, false, apart};
  }
  if (stop.stop_requested()) return Error{"stopped"};
  return rule;
}

RecordedReceipt recordedReceipt(const LayerSummary& layer, Index head, Index query, Index key, double scale) {
  RecordedReceipt receipt;
  const Index kv = kvHeadOf(layer.k, layer.q.count(), head);
  receipt.terms = layer.q[head].row(query).cwiseProduct(layer.k[kv].row(key)).transpose();
  const auto weights = std::as_const(layer.weights)[head].row(query);
  const Eigen::VectorXd dot = dots(layer, head, query);
  receipt.dot = dot[key];
  receipt.score = scale * receipt.dot;
  receipt.recorded = weights[key];
  double most = -std::numeric_limits<double>::infinity(), sum = 0;
  for (Index j = 0; j < weights.size(); ++j)
    if (weights[j] > 0) {
      most = std::max(most, scale * dot[j]);
      ++receipt.keys;
    }
  for (Index j = 0; j < weights.size(); ++j)
    if (weights[j] > 0) sum += std::exp(scale * dot[j] - most);
  if (receipt.keys > 0) receipt.logSum = most + std::log(sum);
  if (receipt.recorded > 0) receipt.weight = static_cast<float>(std::exp(receipt.score - receipt.logSum));
  if (layer.v.size() == 0) return receipt;
  const auto values = std::as_const(layer.v)[kvHeadOf(layer.v, layer.q.count(), head)];
  receipt.mixed = receipt.recorded * values.row(key).transpose();
  receipt.output = (weights * values).transpose();
  return receipt;
}

}  // namespace headscope::app
