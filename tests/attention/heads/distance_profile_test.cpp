#include <gtest/gtest.h>

#include <cmath>

#include "attention/heads/planted.h"
#include "attention/text/embedding.h"

namespace headscope::attention::test {
namespace {

double scoreAt(const std::vector<double>& frequencies, const std::vector<double>& amplitudes, double d) {
  double score = 0;
  for (std::size_t f = 0; f < frequencies.size(); ++f) score += amplitudes[f] * std::cos(frequencies[f] * d);
  return score;
}

TEST(DistanceProfile, RecoversRepresentableProfile) {
  const std::vector<double> frequencies = {2.0, 0.7, 0.2}, wanted = {1.5, 0.5, 1.0};
  std::vector<double> target;
  for (int d = 0; d < 40; ++d) target.push_back(std::exp(scoreAt(frequencies, wanted, d)));
  const std::vector<double> found = fitDistanceProfile(frequencies, target);
  // The fit pulls amplitudes towards 0 by its ridge of 1e-5 over curvatures of about 0.1.
  for (std::size_t f = 0; f < 3; ++f) EXPECT_NEAR(found[f], wanted[f], 1e-3);
}

TEST(DistanceProfile, WeightsMatchTheTargetsMoments) {
  const std::vector<double> frequencies = plantedFrequencies(*plantedLayout(64));
  std::vector<double> target(64, 0.0005);
  target[0] = 0.9;
  target[1] = 0.02;
  const std::vector<double> amplitudes = fitDistanceProfile(frequencies, target);
  for (const double frequency : frequencies) {
    double have = 0, want = 0, haveSum = 0, wantSum = 0;
    for (int d = -63; d < 64; ++d) {
      const double weight =
          std::exp(scoreAt(frequencies, amplitudes, d) - scoreAt(frequencies, amplitudes, 0));
      const double wanted = target[static_cast<std::size_t>(std::abs(d))];
      have += weight * std::cos(frequency * d);
      want += wanted * std::cos(frequency * d);
      haveSum += weight;
      wantSum += wanted;
    }
    // At the optimum the moments differ by ridge · amplitude, and amplitudes are below 100.
    EXPECT_NEAR(have / haveSum, want / wantSum, 100 * 1e-5);
  }
}

TEST(DistanceProfile, PeakIsOneAboveAFlatRest) {
  const std::vector<double> frequencies = plantedFrequencies(*plantedLayout(256));
  const Index reach = 64;
  const std::vector<double> amplitudes = flattestPeak(frequencies, reach);
  double mean = 0, variance = 0;
  for (Index d = 1; d < reach; ++d) mean += scoreAt(frequencies, amplitudes, static_cast<double>(d)) / 63;
  for (Index d = 1; d < reach; ++d) {
    variance += std::pow(scoreAt(frequencies, amplitudes, static_cast<double>(d)) - mean, 2) / 63;
  }
  EXPECT_NEAR(scoreAt(frequencies, amplitudes, 0) - mean, 1, 1e-9);
  // Sixteen equal amplitudes in random phase would leave an evenly spread deviation of 1/√32.
  EXPECT_LT(std::sqrt(variance), 0.25);
}

TEST(DistanceProfile, RefusesEmptyInput) {
  EXPECT_THROW((void)fitDistanceProfile({}, std::vector<double>{1}), std::invalid_argument);
  EXPECT_THROW((void)flattestPeak(std::vector<double>{1}, 1), std::invalid_argument);
}

}  // namespace
}  // namespace headscope::attention::test
