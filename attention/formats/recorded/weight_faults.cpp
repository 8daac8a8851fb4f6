#include <fmt/format.h>

#include "attention/formats/recorded/recorded_attention.h"

namespace headscope::attention {
namespace {

constexpr float kSlack = 1e-2F;     // half precision rounds values near 1 by at most 0.001
constexpr float kSumSlack = 2e-2F;  // and rows of many bfloat16 weights by more

std::string counted(std::uint64_t number, std::uint64_t all) {
  return fmt::format("{} of {} weights {}", number, all, number == 1 ? "is" : "are");
}

/// "0.7", or "0.5 to 0.7".
std::string sums(float least, float most) {
  const std::string from = fmt::format("{:.3g}", least), to = fmt::format("{:.3g}", most);
  return from == to ? from : from + " to " + to;
}

}  // namespace

void WeightFaults::add(const WeightFaults& other) {
  all += other.all;
  notFinite += other.notFinite;
  negative += other.negative;
  above += other.above;
  rows += other.rows;
  least = std::min(least, other.least);
  most = std::max(most, other.most);
  minSum = std::min(minSum, other.minSum);
  maxSum = std::max(maxSum, other.maxSum);
}

Matrix markedWeights(const Matrix& weights) {
  return weights.unaryExpr(
      [](float weight) { return isAboveOne(weight) ? std::numeric_limits<float>::quiet_NaN() : weight; });
}

namespace {

/// Counts a row's values one by one.
void addRow(const float* values, Index count, WeightFaults& found) {
  double sum = 0;
  bool finite = true;
  for (Index i = 0; i < count; ++i) {
    const float value = values[i];
    if (!std::isfinite(value)) {
      ++found.notFinite;
      finite = false;
      continue;
    }
    found.least = std::min(found.least, value);
    found.most = std::max(found.most, value);
    found.negative += value < -kSlack ? 1 : 0;
    found.above += isAboveOne(value) ? 1 : 0;
    sum += value;
  }
  if (!finite || sum == 0) return;
  const auto total = static_cast<float>(sum);
  found.minSum = std::min(found.minSum, total);
  found.maxSum = std::max(found.maxSum, total);
  if (std::abs(total - 1) > kSumSlack) ++found.rows;
}

}  // namespace

WeightFaults faultsOf(const Matrix& weights) {
  WeightFaults found;
  found.all = static_cast<std::uint64_t>(weights.size());
  for (Index row = 0; row < weights.rows(); ++row) {
    // Nearly every row is a softmax's. NaN and infinite values fail one of the comparisons.
    const auto values = weights.row(row);
    const float sum = values.sum(), least = values.minCoeff(), most = values.maxCoeff();
    if (least < 0 || !(most <= 1) || !(std::abs(sum - 1) <= kSumSlack / 2)) {
      addRow(values.data(), weights.cols(), found);
      continue;
    }
    found.most = std::max(found.most, most);
    found.minSum = std::min(found.minSum, sum);
    found.maxSum = std::max(found.maxSum, sum);
  }
  return found;
}

std::string WeightFaults::describe() const {
  std::string text;
  const auto say = [&](const std::string& sentence) { text += (text.empty() ? "" : " ") + sentence; };
  if (notFinite > 0)
    say(fmt::format("{} NaN or infinite; a softmax over a row whose keys are all masked gives NaN.",
                    counted(notFinite, all)));
  // A difference of two softmaxes stays within −λ and 1.
  const bool difference = least >= -1 - kSlack && most <= 1 + kSlack;
  if (negative > 0)
    say(fmt::format("{} negative, down to {:.3g}: {}.", counted(negative, all), least,
                    difference ? "differential attention, or scores from before the softmax"
                               : "scores from before the softmax, not weights"));
  else if (above > 0)
    say(
        fmt::format("{} above 1, up to {:.3g}: weights after dropout (call model.eval() before recording), "
                    "or not normalised.",
                    counted(above, all), most));
  if (rows > 0 && (negative == 0 || difference))
    say(fmt::format("{} {} instead of 1{}.",
                    rows == 1 ? "1 row sums to" : fmt::format("{} rows sum to", rows), sums(minSum, maxSum),
                    negative > 0 ? ""
                    : above > 0  ? ""
                                 : ": dropout (call model.eval() before recording), weights that aren't "
                                   "normalised, or a share that a sink takes"));
  return text;
}

}  // namespace headscope::attention
