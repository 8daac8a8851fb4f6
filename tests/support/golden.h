#pragma once

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "attention/models/layers/attention_file.h"
#include "test_paths.h"
#include "tests/support/safetensors_file.h"
#include "tests/support/tensor_source.h"

/// Compares results with those in tests/golden, which were computed in float64. Each value has its own
/// tolerance: eight standard deviations of the rounding errors that lead to it. Rounding errors behave like
/// independent random numbers (Higham & Mary 2019, A new approach to probabilistic rounding error analysis),
/// each with a deviation of at most u times the rounded number. Errors of inputs propagate to first order.
namespace headscope::test {

using attention::Index;
using Wide = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

inline std::vector<std::filesystem::path> goldenFiles() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(HEADSCOPE_TEST_DIR) + "/golden")) {
    if (entry.path().extension() == ".safetensors") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// The unit roundoff of float.
inline constexpr double kUnit = FLT_EPSILON / 2;
inline constexpr double kDeviations = 8;

/// The values of one tensor and the standard deviation of each value's error.
struct Expected {
  Wide value, deviation;
};

/// Sequence `i` of the tensor `name`, with its leading axes folded into rows.
inline Wide valuesOf(const attention::SafetensorsFile& file, const std::string& name, std::size_t i,
                     std::size_t batch) {
  const auto& tensor = file.tensors.at(name);
  const auto values = toFloats(tensor, name);
  if (!values) throw std::runtime_error(values.error().message);
  const auto cols = static_cast<Index>(tensor.shape.back());
  const auto rows = static_cast<Index>(values->size() / batch) / cols;
  return attention::MatrixView(values->data() + static_cast<Index>(i) * rows * cols, rows, cols)
      .cast<double>();
}

/// The deviation of a sum, from the squares of its terms, its value and the number of terms. Each partial sum
/// is rounded once, and lies between a random walk through the terms and the sum itself.
inline Wide sumDeviation(const Wide& squares, const Wide& value, Index terms) {
  // Two more roundings: a factor or bias, and the expected value's rounding to float.
  return kUnit * (static_cast<double>(terms + 2) * (squares.array() + value.array().square())).sqrt();
}

/// Combines errors from independent sources.
inline Wide joined(const Wide& a, const Wide& b) {
  return (a.array().square() + b.array().square()).sqrt();
}

/// The deviation of a·b, [n, m], given the deviations of a and b.
inline Wide productDeviation(const Expected& a, const Expected& b) {
  const Wide a2 = a.value.array().square(), b2 = b.value.array().square();
  const Wide aError = a.deviation.array().square(), bError = b.deviation.array().square();
  const Wide passed = (aError * b2 + a2 * bError).array().sqrt();
  return joined(passed, sumDeviation(a2 * b2, a.value * b.value, a.value.cols()));
}

/// The deviation of x·Wᵀ + b, [n, out].
inline Wide linearDeviation(const attention::Linear& linear, const Expected& x) {
  Expected weight{linear.weight.cast<double>().transpose(), {}};
  weight.deviation = Wide::Zero(weight.value.rows(), weight.value.cols());
  Wide deviation = productDeviation(x, weight);
  if (linear.bias.size() > 0)
    deviation.rowwise() += kUnit * linear.bias.cast<double>().cwiseAbs().transpose();
  return deviation;
}

/// Reshapes [n, heads · dim] to [heads · n, dim].
inline Wide splitRows(const Wide& y, Index heads) {
  const Index dim = y.cols() / heads;
  Wide out(heads * y.rows(), dim);
  for (Index h = 0; h < heads; ++h) out.middleRows(h * y.rows(), y.rows()) = y.middleCols(h * dim, dim);
  return out;
}

/// A rotation mixes the errors of both values of a pair, and adds the errors of sine, cosine and two
/// products.
inline Wide rotated(const Wide& deviation, const Wide& value) {
  constexpr double kRoundings = 4;
  const Index half = deviation.cols() / 2;
  const Wide own = deviation + kRoundings * kUnit * value.cwiseAbs();
  const Wide both = joined(own.leftCols(half), own.rightCols(half));
  Wide out(own.rows(), own.cols());
  out << both, both;
  return out;
}

/// The expected arrays of sequence `i`, each with its deviation, computed in order of dependence.
class GoldenSequence {
 public:
  GoldenSequence(const attention::SafetensorsFile& golden, const attention::AttentionProblem& problem,
                 std::size_t i)
      : config_(problem.config) {
    const auto batch = problem.x.size();
    for (const char* name : {"q", "k", "v", "scores", "weights", "lse", "head_output", "output"}) {
      arrays_[name].value = valuesOf(golden, std::string("expect.") + name, i, batch);
    }
    for (auto& [name, array] : arrays_) array.deviation = Wide::Zero(array.value.rows(), array.value.cols());
    project(problem, i);
    const Index n = problem.x[i].rows(), m = at("v").value.rows() / config_.kvHeads;
    for (Index head = 0; head < config_.heads; ++head) attendHead(head, n, m);
    const auto& heads = at("head_output");
    at("output").deviation =
        linearDeviation(problem.projections.o, {mergeRows(heads.value, n), mergeRows(heads.deviation, n)});
  }

  const std::map<std::string, Expected>& arrays() const { return arrays_; }

 private:
  Expected& at(const char* name) { return arrays_.at(name); }

  Wide mergeRows(const Wide& stack, Index n) const {
    Wide out(n, config_.heads * config_.headDim);
    for (Index h = 0; h < config_.heads; ++h) {
      out.middleCols(h * config_.headDim, config_.headDim) = stack.middleRows(h * n, n);
    }
    return out;
  }

  void project(const attention::AttentionProblem& problem, std::size_t i) {
    const Wide x = problem.x[i].cast<double>();
    const Wide context = problem.context.empty() ? x : Wide(problem.context[i].cast<double>());
    const auto& maps = problem.projections;
    const auto deviation = [](const attention::Linear& linear, const Wide& input, Index heads) {
      return splitRows(linearDeviation(linear, {input, Wide::Zero(input.rows(), input.cols())}), heads);
    };
    at("q").deviation = deviation(maps.q, x, config_.heads);
    at("k").deviation = deviation(maps.k, context, config_.kvHeads);
    at("v").deviation = deviation(maps.v, context, config_.kvHeads);
    if (!config_.ropeTheta) return;
    for (const char* name : {"q", "k"}) at(name).deviation = rotated(at(name).deviation, at(name).value);
  }

  Expected part(const char* name, Index slice, Index rows) {
    return {at(name).value.middleRows(slice * rows, rows), at(name).deviation.middleRows(slice * rows, rows)};
  }

  /// Sets the scores, weights, log-sum-exp and output of one head.
  void attendHead(Index head, Index n, Index m) {
    const Index kvHead = config_.kvHeadOf(head);
    const auto q = part("q", head, n), k = part("k", kvHead, m), v = part("v", kvHead, m);
    const double scale = std::abs(config_.effectiveScale());
    const Expected kTransposed{k.value.transpose(), k.deviation.transpose()};
    Wide deviation = scale * productDeviation(q, kTransposed);
    // Scale, ALiBi, soft-cap and additive mask each round their input, a hyperbolic tangent several times.
    constexpr double kRoundings = 6;
    const Wide products = scale * (q.value * kTransposed.value).cwiseAbs();
    const Wide scores = part("scores", head, n).value;
    const double alibi = config_.alibi ? static_cast<double>(m) : 0;
    for (Index row = 0; row < n; ++row) {
      for (Index j = 0; j < m; ++j) {
        const double score = std::isfinite(scores(row, j)) ? std::abs(scores(row, j)) : 0;
        deviation(row, j) += kRoundings * kUnit * (products(row, j) + alibi + score);
      }
    }
    at("scores").deviation.middleRows(head * n, n) = deviation;
    softenHead(head, n, m, scores, deviation);

    const auto weights = part("weights", head, n);
    const Wide exact = Wide::Zero(n, m);
    // The errors of a row's weights have a common cause, so they add up linearly.
    at("head_output").deviation.middleRows(head * n, n) =
        weights.deviation * v.value.cwiseAbs() + productDeviation({weights.value, exact}, v);
  }

  /// Softmax: if every score of a row moves by at most e, one key's up and the others' down, a weight w
  /// becomes at most w·E / (1 + w·(E − 1)), with E = exp(2e). Exact rather than first-order, because the
  /// errors of huge scores are not small, while a weight near 0 or 1 hardly moves.
  void softenHead(Index head, Index n, Index m, const Wide& scores, const Wide& deviation) {
    // An exponential, a division and a sum of m terms.
    const double rounding = kUnit * (4 + std::sqrt(static_cast<double>(m)));
    for (Index row = 0; row < n; ++row) {
      double largest = 0, highest = -INFINITY;
      for (Index j = 0; j < m; ++j) {
        if (std::isfinite(scores(row, j))) largest = std::max(largest, deviation(row, j));
        highest = std::max(highest, scores(row, j));
      }
      const double spread = std::expm1(2 * kDeviations * largest);
      for (Index j = 0; j < m; ++j) {
        if (!std::isfinite(scores(row, j))) continue;  // a masked weight is exactly 0
        const double weight = at("weights").value(head * n + row, j);
        const double moved = weight * (1 - weight) * spread / (1 + std::min(weight, 1 - weight) * spread);
        at("weights").deviation(head * n + row, j) =
            moved / kDeviations + weight * (rounding + kUnit * (highest - scores(row, j))) + FLT_MIN;
      }
      const double lse = at("lse").value(head, row);
      at("lse").deviation(head, row) = largest + rounding + (std::isfinite(lse) ? kUnit * std::abs(lse) : 0);
    }
  }

  attention::AttentionConfig config_;
  std::map<std::string, Expected> arrays_;
};

/// Describes the first value of `result` that differs from `golden`, or returns nullopt if all agree.
inline std::optional<std::string> mismatch(const attention::SafetensorsFile& golden,
                                           const attention::SafetensorsFile& result) {
  const auto problem = attention::readProblem(sourceOf(golden), {}, "golden");
  if (!problem) return problem.error().message;
  for (std::size_t i = 0; i < problem->x.size(); ++i) {
    const GoldenSequence sequence(golden, *problem, i);
    for (const auto& [name, expected] : sequence.arrays()) {
      if (result.tensors.count(name) == 0) return name + " is missing";
      const auto& shape = golden.tensors.at("expect." + name).shape;
      if (result.tensors.at(name).shape != shape) {
        return name + " is " + attention::shapeText(result.tensors.at(name).shape) + ", expected " +
               attention::shapeText(shape);
      }
      const Wide found = valuesOf(result, name, i, problem->x.size());
      for (Index row = 0; row < found.rows(); ++row) {
        for (Index col = 0; col < found.cols(); ++col) {
          const double want = expected.value(row, col), is = found(row, col),
                       most = kDeviations * expected.deviation(row, col);
          if (is == want || std::abs(is - want) <= most) continue;
          return name + " of sequence " + std::to_string(i) + " at row " + std::to_string(row) + ", column " +
                 std::to_string(col) + " is " + std::to_string(is) + ", expected " + std::to_string(want) +
                 " within " + std::to_string(most);
        }
      }
    }
  }
  return std::nullopt;
}

}  // namespace headscope::test
