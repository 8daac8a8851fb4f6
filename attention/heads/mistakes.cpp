#include "attention/heads/mistakes.h"

#include <cmath>

#include "attention/core/activations.h"
#include "attention/core/attention.h"
#include "attention/core/decompositions.h"

namespace headscope::attention {

namespace {

Matrix masked(const Matrix& scores, const Matrix& visible) {
  return (visible.array() > 0).select(scores, Matrix::Constant(scores.rows(), scores.cols(), kMinusInfinity));
}

Matrix softmaxRows(const Matrix& scores) {
  Matrix weights(scores.rows(), scores.cols());
  for (Index row = 0; row < scores.rows(); ++row)
    softmaxRow(scores.row(row).data(), scores.cols(), weights.row(row).data());
  return weights;
}

/// Computes e^s ÷ Σ e^s in single precision, without subtracting the maximum.
Matrix plainSoftmax(const Matrix& scores) {
  const Matrix powers = scores.array().exp();
  return powers.array().colwise() / powers.rowwise().sum().array();
}

/// Sets hidden keys' weights to 0 after the softmax; with `renormalise`, divides each row by its sum.
Matrix maskedAfter(const Matrix& scores, const Matrix& visible, bool renormalise) {
  Matrix weights = softmaxRows(scores).cwiseProduct(visible);
  if (renormalise) weights.array().colwise() /= weights.rowwise().sum().array().eval();
  return weights;
}

/// Computes the softmax in half precision, with `fill` in place of hidden scores.
Matrix halfSoftmax(const Matrix& scores, const Matrix& visible, float fill) {
  Matrix weights(scores.rows(), scores.cols());
  const auto half = [](float value) { return static_cast<float>(static_cast<Eigen::half>(value)); };
  for (Index row = 0; row < scores.rows(); ++row) {
    Eigen::RowVectorXf line(scores.cols());
    for (Index key = 0; key < scores.cols(); ++key)
      line[key] = half(visible(row, key) > 0 ? scores(row, key) : fill);
    const float most = line.maxCoeff();
    for (Index key = 0; key < line.size(); ++key) line[key] = half(std::exp(line[key] - most));
    weights.row(row) = line / line.sum();
  }
  return weights;
}

/// Returns the head that q.view(heads, n, headDim) makes of the numbers [n, heads · headDim].
Matrix viewed(const Stack& heads, Index head) {
  const Matrix flat = mergeHeads(heads);
  const Index size = heads.rows() * heads.cols();
  return Eigen::Map<const Matrix>(flat.data() + head * size, heads.rows(), heads.cols());
}

/// Returns how many rows of a viewed head have the numbers of this head and their own token.
Index ownRows(const Stack& heads, Index head) {
  Index own = 0;
  for (Index row = 0; row < heads.rows(); ++row) {
    const Index at = (head * heads.rows() + row) * heads.cols(), wide = heads.count() * heads.cols();
    own += at / wide == row && at % wide == head * heads.cols();
  }
  return own;
}

Index rowsWithNaN(const Matrix& weights) {
  return std::ranges::count_if(weights.rowwise(), [](const auto& row) { return !row.allFinite(); });
}

/// Returns how many rows are the same in both, including hidden cells.
Index rowsAlike(const Matrix& a, const Matrix& b) {
  Index alike = 0;
  for (Index row = 0; row < a.rows(); ++row)
    alike += ((a.row(row).array() == b.row(row).array()) ||
              ((a.row(row) - b.row(row)).array().abs() <= 1e-5f * (1 + b.row(row).array().abs())))
                 .all();
  return alike;
}

double farthestSum(const Matrix& weights) {
  double farthest = 1;
  for (Index row = 0; row < weights.rows(); ++row) {
    const auto sum = static_cast<double>(weights.row(row).sum());
    if (!(std::abs(sum - 1) <= std::abs(farthest - 1))) farthest = sum;
  }
  return farthest;
}

double smallestSum(const Matrix& weights) {
  return static_cast<double>(weights.rowwise().sum().minCoeff<Eigen::PropagateNaN>());
}

double meanLater(const Matrix& weights) {
  double sum = 0;
  for (Index row = 0; row < weights.rows(); ++row)
    sum += static_cast<double>(weights.row(row).tail(std::max<Index>(weights.cols() - row - 1, 0)).sum());
  return sum / static_cast<double>(weights.rows());
}

double meanOn(const Matrix& weights, Index from) {
  return static_cast<double>(weights.rightCols(weights.cols() - from).sum()) /
         static_cast<double>(weights.rows());
}

/// Computes one mistake on one input.
class Maker {
 public:
  explicit Maker(const MistakeInput& input)
      : in_(input), n_(input.q.rows()), group_(input.q.count() / input.k.count()), right_(dots(q(), k())) {
    out_.rightScores = masked(right_ * in_.scale, in_.visible);
    out_.rightWeights = softmaxRows(out_.rightScores);
  }

  MistakeResult make(Mistake mistake) {
    apply(mistake);
    if (!out_.clash && out_.same.empty() && alike()) out_.same = whySame(mistake);
    return std::move(out_);
  }

 private:
  Matrix q() const { return in_.q[in_.head]; }
  Matrix k() const { return in_.k[in_.head / group_]; }
  static Matrix dots(const Matrix& q, const Matrix& k) { return timesTransposed(q, k); }

  void apply(Mistake mistake) {
    switch (mistake) {
      case Mistake::noScale:
        return scaledBy(1);
      case Mistake::modelScale:
        return scaledBy(1 / std::sqrt(static_cast<float>(in_.modelDim)));
      case Mistake::wrongAxis:
        out_.wrongScores = out_.rightScores;
        out_.wrongWeights = softmaxRows(out_.rightScores.transpose()).transpose();
        return measure("row sum farthest from 1", farthestSum(out_.wrongWeights),
                       farthestSum(out_.rightWeights));
      case Mistake::noMaximum:
        out_.wrongScores = out_.rightScores;
        out_.wrongWeights = plainSoftmax(out_.rightScores);
        return measureNaN();
      case Mistake::upperTriangle: {
        Matrix upper = Matrix::Zero(n_, right_.cols());
        for (Index row = 0; row < n_; ++row)
          for (Index key = row; key < upper.cols(); ++key) upper(row, key) = 1;
        out_.wrongScores = masked(right_ * in_.scale, upper);
        out_.wrongWeights = softmaxRows(out_.wrongScores);
        return measure("weight on later tokens, on average", meanLater(out_.wrongWeights),
                       meanLater(out_.rightWeights));
      }
      case Mistake::maskAfter:
        out_.wrongScores = right_ * in_.scale;
        out_.wrongWeights = maskedAfter(out_.wrongScores, in_.visible, false);
        return measure("smallest row sum", smallestSum(out_.wrongWeights), smallestSum(out_.rightWeights));
      case Mistake::maskAfterRenormalised:
        out_.wrongScores = right_ * in_.scale;
        out_.wrongWeights = maskedAfter(out_.wrongScores, in_.visible, true);
        return measureNaN();
      case Mistake::paddingSeen:
        return unmaskedPadding();
      case Mistake::halfInfinity:
        out_.wrongScores = out_.rightScores;
        out_.wrongWeights = halfSoftmax(right_ * in_.scale, in_.visible, -1e9f);
        out_.rightWeights = halfSoftmax(right_ * in_.scale, in_.visible, -65504.0f);
        return measureNaN();
      case Mistake::viewWithoutTranspose:
        out_.wrongScores =
            masked(dots(viewed(in_.q, in_.head), viewed(in_.k, in_.head / group_)) * in_.scale, in_.visible);
        out_.wrongWeights = softmaxRows(out_.wrongScores);
        return measure("queries that hold their own token", static_cast<double>(ownRows(in_.q, in_.head)),
                       static_cast<double>(n_));
      case Mistake::kvTiled:
        return tiled();
      case Mistake::keyNotTransposed:
        return untransposed();
      case Mistake::notDivisible:
        return undivided();
    }
  }

  void scaledBy(float scale) {
    out_.wrongScores = masked(right_ * scale, in_.visible);
    out_.wrongWeights = softmaxRows(out_.wrongScores);
    measure("largest weight of a row, on average", meanLargestWeight(out_.wrongWeights, in_.visible),
            meanLargestWeight(out_.rightWeights, in_.visible));
    measure("entropy of a row, 1 = uniform", meanEntropy(out_.wrongWeights, in_.visible),
            meanEntropy(out_.rightWeights, in_.visible));
  }

  void unmaskedPadding() {
    const bool padded = in_.paddedFrom >= 0 && in_.paddedFrom < right_.cols();
    Matrix causal = in_.visible;
    for (Index row = 0; padded && row < n_; ++row)
      for (Index key = in_.paddedFrom; key <= std::min(row, causal.cols() - 1); ++key) causal(row, key) = 1;
    out_.wrongScores = masked(right_ * in_.scale, causal);
    out_.wrongWeights = softmaxRows(out_.wrongScores);
    const Index from = padded ? in_.paddedFrom : right_.cols();
    measure("weight on [pad], on average", meanOn(out_.wrongWeights, from), meanOn(out_.rightWeights, from));
  }

  void tiled() {
    const Index kvHeads = in_.k.count();
    out_.wrongScores = masked(dots(q(), in_.k[in_.head % kvHeads]) * in_.scale, in_.visible);
    out_.wrongWeights = softmaxRows(out_.wrongScores);
    Index others = 0;
    for (Index h = 0; h < in_.q.count(); ++h) others += h % kvHeads != h / group_;
    measure("heads that read another KV head", static_cast<double>(others), 0);
  }

  void untransposed() {
    const Index d = in_.q.cols(), m = in_.k.rows(), heads = in_.q.count();
    const std::string h = std::to_string(heads);
    if (d == m) {
      // If m = dₖ, [n, dₖ]·[m, dₖ] is valid, but multiplies the query's dimensions with the keys' tokens.
      out_.wrongScores = masked(product(q(), k()) * in_.scale, in_.visible);
      out_.wrongWeights = softmaxRows(out_.wrongScores);
      out_.symptom = "no error (n = dₖ = " + std::to_string(d) + "), and every score is wrong";
      measure("rows with the right scores",
              static_cast<double>(rowsAlike(out_.wrongScores, out_.rightScores)), static_cast<double>(n_));
      return;
    }
    out_.clash =
        ShapeClash{"q",
                   "k",
                   {heads, n_, d},
                   {heads, m, d},
                   2,
                   1,
                   "RuntimeError: Expected size for first two dimensions of batch2 tensor to be: [" + h +
                       ", " + std::to_string(d) + "] but got: [" + h + ", " + std::to_string(m) + "]."};
  }

  void undivided() {
    const Index heads = in_.q.count();
    // The next width at or below modelDim − 6 that isn't divisible by the heads.
    Index width = in_.modelDim - 6;
    while (width > 1 && width % heads == 0) --width;
    if (heads == 1) {
      out_.wrongScores = out_.rightScores;
      out_.wrongWeights = out_.rightWeights;
      out_.same = "one head divides every width";
      return;
    }
    const std::string n = std::to_string(n_), each = std::to_string(width / heads);
    out_.clash = ShapeClash{"x · W_Q",
                            "view",
                            {n_, width},
                            {n_, heads, width / heads},
                            1,
                            2,
                            "RuntimeError: shape '[" + n + ", " + std::to_string(heads) + ", " + each +
                                "]' is invalid for input of size " + std::to_string(n_ * width)};
  }

  void measure(std::string name, double wrong, double right) {
    out_.measures.push_back({std::move(name), wrong, right});
  }
  void measureNaN() {
    measure("rows that are NaN", static_cast<double>(rowsWithNaN(out_.wrongWeights)),
            static_cast<double>(rowsWithNaN(out_.rightWeights)));
  }

  bool alike() const {
    const Matrix difference = (out_.wrongWeights - out_.rightWeights).cwiseAbs();
    return difference.allFinite() && difference.maxCoeff() < 1e-5f;
  }

  std::string whySame(Mistake mistake) const {
    switch (mistake) {
      case Mistake::noMaximum:
        return "no score is above 88";
      case Mistake::maskAfter:
        return hidesNone() ? "no key is hidden" : "hidden keys would take almost no weight";
      case Mistake::maskAfterRenormalised:
        return hidesNone() ? "no key is hidden"
                           : "no hidden key is large enough to round visible weights to 0";
      case Mistake::paddingSeen:
        return in_.paddedFrom < 0 || in_.paddedFrom >= right_.cols() ? "no padding"
                                                                     : "padding would take almost no weight";
      case Mistake::halfInfinity:
        return "every row sees a key";
      case Mistake::kvTiled:
        return "this head reads the same KV head either way";
      case Mistake::noScale:
        return sameScale(1);
      case Mistake::modelScale:
        return sameScale(1 / std::sqrt(static_cast<float>(in_.modelDim)));
      default:
        return "the weights are the same";
    }
  }

  bool hidesNone() const { return (in_.visible.array() > 0).all(); }

  /// Returns why scores times `scale` have the same weights as the right ones.
  std::string sameScale(float scale) const {
    if (std::abs(scale - in_.scale) <= 1e-6f * std::abs(in_.scale)) return "both scales are the same";
    if (in_.visible.cwiseProduct(right_).isZero(0)) return "every score is 0, and stays 0 at any scale";
    if ((in_.visible.array() > 0).cast<float>().rowwise().sum().maxCoeff() <= 1)
      return "no query sees two keys";
    return "the scores of a row are too similar for a scale to matter";
  }

  const MistakeInput& in_;
  const Index n_, group_;
  const Matrix right_;  ///< Q·Kᵀ
  MistakeResult out_;
};

void requireInput(const MistakeInput& in) {
  const bool fits = in.q.count() > 0 && in.k.count() > 0 && in.q.count() % in.k.count() == 0 &&
                    in.head >= 0 && in.head < in.q.count() && in.q.cols() == in.k.cols() &&
                    in.visible.rows() == in.q.rows() && in.visible.cols() == in.k.rows();
  if (!fits)
    throw std::invalid_argument("a mistake on head " + std::to_string(in.head) + " of " +
                                std::to_string(in.q.count()) + " over " + std::to_string(in.k.count()) +
                                " kv heads, visible " + shapeText(in.visible.rows(), in.visible.cols()));
}

}  // namespace

MistakeResult makeMistake(Mistake mistake, const MistakeInput& input) {
  requireInput(input);
  return Maker(input).make(mistake);
}

double meanLargestWeight(const Matrix& weights, const Matrix& visible) {
  double sum = 0;
  Index rows = 0;
  for (Index row = 0; row < weights.rows(); ++row) {
    if ((visible.row(row).array() > 0).count() < 2) continue;
    sum += static_cast<double>(weights.row(row).maxCoeff<Eigen::PropagateNaN>());
    ++rows;
  }
  return rows ? sum / static_cast<double>(rows) : 0;
}

double meanEntropy(const Matrix& weights, const Matrix& visible) {
  double sum = 0;
  Index rows = 0;
  for (Index row = 0; row < weights.rows(); ++row) {
    const auto seen = static_cast<double>((visible.row(row).array() > 0).count());
    if (seen < 2) continue;
    double entropy = 0;
    for (Index key = 0; key < weights.cols(); ++key)
      if (const auto w = static_cast<double>(weights(row, key)); w > 0) entropy -= w * std::log(w);
    sum += entropy / std::log(seen);
    ++rows;
  }
  return rows ? sum / static_cast<double>(rows) : 0;
}

}  // namespace headscope::attention
