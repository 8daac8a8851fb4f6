#include "attention/heads/similarity.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "attention/core/parallel.h"
#include "attention/core/products.h"
#include "attention/core/result.h"

namespace headscope::attention {

namespace {

void requireAlike(std::span<const Matrix> heads) {
  for (const Matrix& head : heads)
    require(head.rows() == heads[0].rows() && head.cols() == heads[0].cols(),
            "heads of different shapes: " + shapeText(heads[0].rows(), heads[0].cols()) + " and " +
                shapeText(head.rows(), head.cols()));
}

/// Returns Σ p·ln p over a row, with 0·ln 0 = 0.
template <class Row>
float negativeEntropy(const Row& row) {
  return (row * row.max(std::numeric_limits<float>::min()).log()).sum();
}

using Members = std::vector<Index>;

float meanBetween(const Matrix& likeness, const Members& a, const Members& b) {
  double sum = 0;
  for (const Index i : a)
    for (const Index j : b) sum += static_cast<double>(likeness(i, j));
  return static_cast<float>(sum / static_cast<double>(a.size() * b.size()));
}

/// Appends b to a, each reversed if needed so that the ends that meet are most similar.
Members joined(const Matrix& likeness, Members a, Members b) {
  float best = -1;
  bool turnA = false, turnB = false;
  for (const bool first : {false, true})
    for (const bool second : {false, true}) {
      const float meets = likeness(first ? a.front() : a.back(), second ? b.back() : b.front());
      if (!(meets > best)) continue;
      best = meets;
      turnA = first;
      turnB = second;
    }
  if (turnA) std::ranges::reverse(a);
  if (turnB) std::ranges::reverse(b);
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

}  // namespace

Matrix cosineSimilarity(std::span<const Matrix> heads, std::stop_token stop) {
  requireAlike(heads);
  const Index count = std::ssize(heads);
  Matrix likeness = Matrix::Identity(count, count);
  if (count == 0) return likeness;
  Matrix products = Matrix::Zero(count, count), side(count, heads[0].cols());
  for (Index row = 0; row < heads[0].rows(); ++row) {
    if (stop.stop_requested()) return likeness;
    for (Index head = 0; head < count; ++head)
      side.row(head) = heads[static_cast<std::size_t>(head)].row(row);
    products += timesTransposed(side, side, stop);
  }
  for (Index a = 0; a < count; ++a)
    for (Index b = a + 1; b < count; ++b) {
      const float amount = std::sqrt(products(a, a)) * std::sqrt(products(b, b));
      likeness(a, b) = likeness(b, a) = amount > 0 ? std::clamp(products(a, b) / amount, 0.0f, 1.0f) : 0;
    }
  return likeness;
}

Matrix jensenShannonSimilarity(std::span<const Matrix> heads, std::stop_token stop) {
  requireAlike(heads);
  const Index count = std::ssize(heads);
  Matrix likeness = Matrix::Identity(count, count);
  std::vector<Vector> inner;  // Σ p·ln p of every row
  for (const Matrix& head : heads) {
    Vector each(head.rows());
    for (Index row = 0; row < each.size(); ++row) each[row] = negativeEntropy(head.row(row).array());
    inner.push_back(std::move(each));
  }
  forEach(count, stop, [&](Index a) {
    const auto first = static_cast<std::size_t>(a);
    Eigen::Array<float, 1, Eigen::Dynamic> middle(heads[first].cols());
    for (Index b = a + 1; b < count && !stop.stop_requested(); ++b) {
      const auto second = static_cast<std::size_t>(b);
      double divergence = 0;
      Index counted = 0;
      for (Index row = 0; row < heads[first].rows(); ++row) {
        middle = (heads[first].row(row).array() + heads[second].row(row).array()) / 2;
        if (middle.sum() <= 0) continue;
        divergence +=
            static_cast<double>((inner[first][row] + inner[second][row]) / 2 - negativeEntropy(middle));
        ++counted;
      }
      const double bits = counted ? divergence / static_cast<double>(counted) / std::log(2.0) : 0;
      likeness(a, b) = likeness(b, a) = static_cast<float>(std::clamp(1 - bits, 0.0, 1.0));
    }
  });
  return likeness;
}

Matrix evenlySpacedRows(const MatrixView& weights, Index most) {
  const Index rows = weights.rows(), count = std::min(rows, std::max<Index>(most, 1));
  Matrix chosen(count, weights.cols());
  for (Index i = 0; i < count; ++i) chosen.row(i) = weights.row((2 * i + 1) * rows / (2 * count));
  return chosen;
}

std::vector<Index> similarityOrder(const Matrix& likeness) {
  require(likeness.rows() == likeness.cols(),
          "a similarity matrix of heads is square, found " + shapeText(likeness.rows(), likeness.cols()));
  std::vector<Members> clusters;
  for (Index head = 0; head < likeness.rows(); ++head) clusters.push_back({head});
  while (clusters.size() > 1) {
    std::size_t first = 0, second = 1;
    float best = -1;
    for (std::size_t a = 0; a < clusters.size(); ++a)
      for (std::size_t b = a + 1; b < clusters.size(); ++b)
        if (const float mean = meanBetween(likeness, clusters[a], clusters[b]); mean > best) {
          best = mean;
          first = a;
          second = b;
        }
    clusters[first] = joined(likeness, std::move(clusters[first]), std::move(clusters[second]));
    clusters.erase(clusters.begin() + static_cast<std::ptrdiff_t>(second));
  }
  return clusters.empty() ? Members{} : clusters.front();
}

}  // namespace headscope::attention
