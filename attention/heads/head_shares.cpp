#include "attention/heads/head_shares.h"

#include "attention/core/extremes.h"
#include "attention/core/products.h"
#include "attention/core/result.h"

namespace headscope::attention {

namespace {

using Doubles = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

double ratio(double a, double b) {
  return b > 0 ? a / b : 0;
}

}  // namespace

HeadShares headShares(const HeadMixing& mixing, std::stop_token stop) {
  const Index heads = mixing.headOutput.count(), n = mixing.headOutput.rows();
  const Index dim = mixing.output.cols();
  require(mixing.output.rows() == n, "the output is " + shapeText(mixing.output.rows(), dim) +
                                         ", the heads' outputs have " + std::to_string(n) + " rows");
  require(
      mixing.bias.size() == 0 || mixing.bias.size() == dim,
      "the bias has " + std::to_string(mixing.bias.size()) + " numbers, the output " + std::to_string(dim));
  require(mixing.rows >= 0 && mixing.rows <= n, "more tokens than rows");
  HeadShares shares;
  shares.amount = shares.cosine = shares.part = shares.byZero = shares.byMean = Matrix::Zero(heads, n);
  const Doubles output = mixing.output.cast<double>();
  const Eigen::VectorXd whole = output.rowwise().norm();
  Doubles sum = Doubles::Zero(n, dim);
  for (Index head = 0; head < heads && !stop.stop_requested(); ++head) {
    const Matrix map = mixing.outputMap(head);
    require(map.rows() == dim && map.cols() == mixing.headOutput.cols(),
            "a head's part of W_O is " + shapeText(map.rows(), map.cols()) + ", expected " +
                shapeText(dim, mixing.headOutput.cols()));
    const Doubles share = timesTransposed(mixing.headOutput[head], map, stop).cast<double>();
    sum += share;
    const Eigen::RowVectorXd mean = mixing.rows > 0
                                        ? Eigen::RowVectorXd(share.topRows(mixing.rows).colwise().mean())
                                        : Eigen::RowVectorXd::Zero(dim);
    for (Index i = 0; i < n; ++i) {
      const double amount = share.row(i).norm(), along = share.row(i).dot(output.row(i));
      shares.amount(head, i) = static_cast<float>(amount);
      shares.cosine(head, i) = static_cast<float>(ratio(along, amount * whole[i]));
      shares.part(head, i) = static_cast<float>(ratio(along, whole[i] * whole[i]));
      shares.byZero(head, i) = static_cast<float>(ratio(amount, whole[i]));
      shares.byMean(head, i) = static_cast<float>(ratio((share.row(i) - mean).norm(), whole[i]));
    }
  }
  const Eigen::RowVectorXd bias = mixing.bias.size()
                                      ? Eigen::RowVectorXd(mixing.bias.transpose().cast<double>())
                                      : Eigen::RowVectorXd::Zero(dim);
  sum.rowwise() += bias;
  shares.biasAmount = Vector::Constant(n, static_cast<float>(bias.norm()));
  shares.biasCosine = shares.biasPart = Vector::Zero(n);
  for (Index i = 0; i < n; ++i) {
    const double along = bias.dot(output.row(i));
    shares.biasCosine[i] = static_cast<float>(ratio(along, bias.norm() * whole[i]));
    shares.biasPart[i] = static_cast<float>(ratio(along, whole[i] * whole[i]));
  }
  shares.whole = whole.cast<float>();
  if (output.size() > 0) {
    shares.gap = largestMagnitude(sum - output);
    shares.largest = largestMagnitude(output);
  }
  return shares;
}

Vector rowChanges(const Matrix& before, const Matrix& after) {
  require(before.rows() == after.rows() && before.cols() == after.cols(),
          "two outputs of different shapes were compared: " + shapeText(before.rows(), before.cols()) +
              " and " + shapeText(after.rows(), after.cols()));
  Vector changes(before.rows());
  for (Index i = 0; i < before.rows(); ++i)
    changes[i] = static_cast<float>(
        ratio((after.row(i) - before.row(i)).cast<double>().norm(), before.row(i).cast<double>().norm()));
  return changes;
}

}  // namespace headscope::attention
