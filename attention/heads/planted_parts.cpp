#include <fmt/core.h>

#include <cmath>

#include "attention/core/decompositions.h"
#include "attention/heads/planted.h"

namespace headscope::attention {
namespace {

constexpr Index kMinPositions = 2, kMinIdentity = 2;
// With fewer dimensions, a same-token head that also reads positions has too few left to recognise tokens.
constexpr Index kRoomForBoth = 8;

bool readsPositions(const PlantedHead& head) {
  return head.behaviour == Behaviour::offset || head.behaviour == Behaviour::localBand;
}

/// Returns `count` of `total` frequencies, spread from the fastest to the slowest.
std::vector<Index> spreadOut(Index total, Index count) {
  std::vector<Index> chosen;
  for (Index f = 0; f < count; ++f) {
    chosen.push_back(count == 1 ? 0 : (f * (total - 1) + (count - 1) / 2) / (count - 1));
  }
  return chosen;
}

std::string misfit(const AttentionConfig& config, Index kvHead, const Division& flags, bool positions,
                   bool identity, bool previous, Index needed) {
  std::string parts;
  const auto add = [&](Index count, const char* what) {
    parts += fmt::format("{}{} for {}", parts.empty() ? "" : ", ", count, what);
  };
  if (flags.first) add(1, "the first-token flag");
  if (flags.separator) add(1, "the separator flag");
  if (positions) add(2 * kMinPositions, "positions");
  if (identity) add(kMinIdentity, "token identity");
  if (previous) add(kMinIdentity, "the previous token's identity");
  const Index group = config.groupSize(), from = kvHead * group;
  const std::string readers =
      group == 1 ? fmt::format(" serves head {}, which needs ", from)
                 : fmt::format(" is shared by heads {}–{}, which need ", from, from + group - 1);
  return fmt::format(
      "kv head {}{}{} ({}), but head size is {}: choose a larger head size or fewer behaviours", kvHead,
      readers, counted(needed, "dimension"), parts, config.headDim);
}

}  // namespace

Result<Division> divide(const AttentionConfig& config, const EmbeddingLayout& layout,
                        std::span<const PlantedHead> group, Index kvHead) {
  const auto has = [&](Behaviour behaviour) {
    return std::ranges::find(group, behaviour, &PlantedHead::behaviour) != group.end();
  };
  Division division;
  // If no layer writes the previous token, an induction head has nothing to read.
  const bool induction = has(Behaviour::induction) && layout.previous > 0;
  division.first = has(Behaviour::firstToken) || induction;
  division.separator = has(Behaviour::separator);
  const bool positions = std::ranges::any_of(group, readsPositions), identity = has(Behaviour::sameToken);
  const Index needed = division.positionsAt() + (positions ? 2 * kMinPositions : 0) +
                       (identity ? kMinIdentity : 0) + (induction ? kMinIdentity : 0);
  if (needed > config.headDim) {
    return Error{misfit(config, kvHead, division, positions, identity, induction, needed)};
  }
  Index room = config.headDim - division.positionsAt();
  if (induction) {
    const Index readers = 1 + (positions ? 1 : 0) + (identity ? 1 : 0);
    division.previous =
        std::clamp(room / readers / 2 * 2, kMinIdentity, std::max(kMinIdentity, layout.previous));
    room -= division.previous;
  }
  const bool both = (positions && (identity || has(Behaviour::random))) || (identity && room >= kRoomForBoth);
  Index frequencies = 0;
  if (both) {
    // Few frequencies suffice for a sharp peak, but every identity dimension helps to tell words apart.
    const Index most = identity ? (room - kMinIdentity) / 2 : room / 2;
    frequencies = std::clamp(room / 5 + 1, kMinPositions, most);
  } else if (positions) {
    frequencies = room / 2;
  }
  frequencies = std::min(frequencies, layout.positions / 2);
  division.frequencies = spreadOut(layout.positions / 2, frequencies);
  division.identity = std::min(room - 2 * frequencies, layout.identity);
  return division;
}

namespace {

// Slow cosines are almost the same curve over a short reach. A small penalty on the amplitudes selects one
// of many nearly equal solutions and keeps the scores small.
constexpr double kFitRidge = 1e-5, kPeakRidge = 1e-3;
constexpr int kMostSteps = 60;
constexpr double kConverged = 1e-7;

/// Returns cos(ω_f·d), [last − first, frequencies], for d = first … last−1.
Eigen::MatrixXd cosines(std::span<const double> frequencies, Index first, Index last) {
  Eigen::MatrixXd table(last - first, static_cast<Index>(frequencies.size()));
  for (Index f = 0; f < table.cols(); ++f) {
    for (Index d = first; d < last; ++d) {
      table(d - first, f) = std::cos(frequencies[static_cast<std::size_t>(f)] * static_cast<double>(d));
    }
  }
  return table;
}

std::vector<double> toVector(const Eigen::VectorXd& amplitudes) {
  return {amplitudes.begin(), amplitudes.end()};
}

/// The divergence from the target as a function of the amplitudes, up to a constant.
class ProfileLoss {
 public:
  ProfileLoss(std::span<const double> frequencies, std::span<const double> target)
      : cosines_(cosines(frequencies, 0, static_cast<Index>(target.size()))),
        sides_(Eigen::VectorXd::Constant(cosines_.rows(), 2)) {
    sides_[0] = 1;  // Distance 0 occurs once, all others on both sides.
    Eigen::VectorXd wanted =
        sides_.cwiseProduct(Eigen::Map<const Eigen::VectorXd>(target.data(), cosines_.rows()));
    wanted /= wanted.sum();
    moments_ = cosines_.transpose() * wanted;
  }

  double at(const Eigen::VectorXd& amplitudes) const {
    const Eigen::VectorXd scores = cosines_ * amplitudes;
    const double top = scores.maxCoeff();
    const double logSum = top + std::log((sides_.array() * (scores.array() - top).exp()).sum());
    return logSum - moments_.dot(amplitudes) + 0.5 * kFitRidge * amplitudes.squaredNorm();
  }

  /// Returns the Newton step to subtract, and the decrease it promises per unit of length.
  std::pair<Eigen::VectorXd, double> step(const Eigen::VectorXd& amplitudes) const {
    const Eigen::VectorXd scores = cosines_ * amplitudes;
    Eigen::VectorXd weights = sides_.array() * (scores.array() - scores.maxCoeff()).exp();
    weights /= weights.sum();
    const Eigen::VectorXd mean = cosines_.transpose() * weights;
    const Eigen::VectorXd gradient = mean - moments_ + kFitRidge * amplitudes;
    Eigen::MatrixXd hessian =
        gramInDouble(weights.cwiseSqrt().asDiagonal() * cosines_) - gramInDouble(mean.transpose());
    hessian.diagonal().array() += kFitRidge;
    Eigen::VectorXd direction = solveSymmetric(hessian, gradient);
    const double promise = gradient.dot(direction);
    return {std::move(direction), promise};
  }

 private:
  Eigen::MatrixXd cosines_;
  Eigen::VectorXd sides_, moments_;
};

}  // namespace

std::vector<double> fitDistanceProfile(std::span<const double> frequencies, std::span<const double> target) {
  require(!frequencies.empty() && !target.empty(), "a distance profile needs frequencies and a target");
  const ProfileLoss loss(frequencies, target);
  Eigen::VectorXd amplitudes = Eigen::VectorXd::Zero(static_cast<Index>(frequencies.size()));
  double current = loss.at(amplitudes);
  for (int n = 0; n < kMostSteps; ++n) {
    const auto [direction, promise] = loss.step(amplitudes);
    if (!(promise > kConverged)) break;
    double length = 1, next = loss.at(amplitudes - direction);
    // Backtracking (Armijo): far from the solution, a full step can overshoot.
    while (length > 1e-6 && !(next <= current - 0.1 * length * promise)) {
      length /= 2;
      next = loss.at(amplitudes - length * direction);
    }
    if (!(next < current)) break;
    amplitudes -= length * direction;
    current = next;
  }
  return toVector(amplitudes);
}

std::vector<double> flattestPeak(std::span<const double> frequencies, Index reach) {
  require(!frequencies.empty() && reach >= 2, "a peak needs frequencies and two distances or more");
  Eigen::MatrixXd elsewhere = cosines(frequencies, 1, reach);
  const Eigen::RowVectorXd mean = elsewhere.colwise().mean();
  elsewhere.rowwise() -= mean;
  Eigen::MatrixXd covariance = gramInDouble(elsewhere) / static_cast<double>(elsewhere.rows());
  covariance.diagonal().array() += kPeakRidge;
  const Eigen::VectorXd rise = Eigen::VectorXd::Ones(elsewhere.cols()) - mean.transpose();
  const Eigen::VectorXd amplitudes = solveSymmetric(covariance, rise);
  return toVector(amplitudes / amplitudes.dot(rise));
}

}  // namespace headscope::attention
