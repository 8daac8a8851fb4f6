#include "attention/kernels/map.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "attention/kernels/buffer.h"

namespace headscope::attention::kernels {
namespace {

/// The number of runs visited for `rows` rows over `keys` keys, where each row sees every other key.
std::size_t runsPassed(std::size_t rows, std::size_t keys, bool (*summarizes)(const MapRows&)) {
  constexpr std::size_t kHeadDim = 4;
  const std::vector<float> q(rows * kHeadDim), k(keys * kHeadDim);
  Buffer panels;
  panels.atLeast(keyPanelFloats(keys, kHeadDim));
  packKeys(k.data(), kHeadDim, keys, kHeadDim, 0, keys, panels.data());
  std::vector<Run> runs;
  std::vector<std::size_t> firstRun{0};
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t key = 0; key < keys; key += 2) runs.push_back({key, key + 1});
    firstRun.push_back(runs.size());
  }
  std::size_t passed = 0;
  MapRows part;
  part.q = q.data();
  part.qRow = kHeadDim;
  part.rows = rows;
  part.keys = {panels.data(), keys, kHeadDim};
  part.rules.runs = runs.data();
  part.rules.firstRun = firstRun.data();
  part.keyEnd = keys;
  part.runsPassed = &passed;
  return summarizes(part) ? passed : 0;
}

/// In a row with thousands of runs, each run is visited a few times, not once per part of the keys.
TEST(HeadMap, LongRowsOfManyRunsAreVisitedOnce) {
  constexpr std::size_t kRows = 16, kKeys = 16384, kRuns = kRows * kKeys / 2;
  const std::size_t summed = runsPassed(kRows, kKeys, [](const MapRows& given) {
    MapRows part = given;
    part.factor = 64;
    const std::size_t stride = summaryStride(part.rows);
    std::vector<float> max(stride * mapBlocks(part)), sum(max.size());
    std::vector<double> reference(part.rows);
    summarizeScores(part, {max.data(), sum.data(), stride, reference.data()});
    return max.front() == 0;
  });
  const std::size_t pooled = runsPassed(kRows, kKeys, [](const MapRows& part) {
    const std::vector<float> lse(part.rows);
    std::vector<float> max(part.rows * part.keyEnd);
    poolWeights(part, lse.data(), max.data(), nullptr);
    return max.front() == 1;
  });
  for (const std::size_t passed : {summed, pooled}) {
    EXPECT_GE(passed, 2 * kRuns) << "it isn't counted";
    EXPECT_LE(passed, 4 * kRuns);
  }
}

/// Rows of one dimension, so that a score is the row's number times the key's. All rows see all keys.
struct PlainRows {
  std::vector<float> q, k;
  std::size_t factor = 64;
  std::vector<Run> runs = {};
  std::vector<std::size_t> firstRun = {0};
  Buffer panels = {};

  MapRows part() {
    panels.atLeast(keyPanelFloats(k.size(), 1));
    packKeys(k.data(), 1, k.size(), 1, 0, k.size(), panels.data());
    for (std::size_t row = 0; row < q.size(); ++row) {
      runs.push_back({0, k.size()});
      firstRun.push_back(runs.size());
    }
    MapRows part;
    part.q = q.data();
    part.qRow = 1;
    part.rows = q.size();
    part.keys = {panels.data(), k.size(), 1};
    part.rules.runs = runs.data();
    part.rules.firstRun = firstRun.data();
    part.keyEnd = k.size();
    part.factor = factor;
    return part;
  }
};

/// The log-sum-exp of a row in double precision.
double lseOf(float q, const std::vector<float>& k) {
  double top = -std::numeric_limits<double>::infinity(), sum = 0;
  for (const float key : k) top = std::max(top, static_cast<double>(q * key));
  for (const float key : k) sum += std::exp(static_cast<double>(q * key) - top);
  return top + std::log(sum);
}

/// Sums of exponentials stay finite however fast scores rise or fall from key to key; each row of pixels
/// includes every row's weights.
TEST(HeadMap, SumsScoresOfAnyMagnitude) {
  PlainRows rows{.q = {1, -1, 0.01f, 90, -90, 4000, -4000, 0, 1e6f, 1e-6f, 3, 3, 3}, .k = {}};
  for (int key = 0; key < 1000; ++key) rows.k.push_back(static_cast<float>(key - 300) / 4);
  const MapRows part = rows.part();
  const std::size_t n = part.rows, blocks = mapBlocks(part), stride = summaryStride(n);
  std::vector<float> max(stride * blocks), sum(max.size()), lse(n), largest(blocks), total(blocks);
  std::vector<double> reference(n);
  const Summaries all{max.data(), sum.data(), stride, reference.data()};
  summarizeScores(part, all);
  combineSummaries(all, n, blocks, lse.data());
  for (std::size_t row = 0; row < n; ++row) {
    const double expected = lseOf(rows.q[row], rows.k);
    EXPECT_NEAR(lse[row], expected, 1e-6 * std::max(1.0, std::abs(expected))) << "row " << row;
    foldSummaries({all.max + row, all.sum + row, stride, all.reference + row}, 1, blocks, &lse[row],
                  largest.data(), total.data());
    for (std::size_t b = 0; b < blocks; ++b) {
      double most = 0, mass = 0;
      for (std::size_t key = b * part.factor; key < std::min((b + 1) * part.factor, rows.k.size()); ++key) {
        const double weight = std::exp(static_cast<double>(rows.q[row] * rows.k[key]) - lse[row]);
        most = std::max(most, weight);
        mass += weight;
      }
      // A weight is as exact as its score, and below 2⁻¹²⁶ it may be 0.
      const double relative = 1e-6 + 2e-7 * std::abs(static_cast<double>(lse[row]));
      EXPECT_NEAR(largest[b], most, relative * most + 2e-38) << "row " << row << ", block " << b;
      EXPECT_NEAR(total[b], mass, relative * mass + 1e-36) << "row " << row << ", block " << b;
    }
  }
}

/// If the row's log-sum-exp is known, weights of a block far below the rest of its row are correct.
TEST(HeadMap, PartialSummariesGiveWeights) {
  PlainRows rows{.q = {1, 1}, .k = std::vector<float>(64, -70)};
  const MapRows part = rows.part();
  const std::size_t stride = summaryStride(2);
  std::vector<float> max(stride), sum(stride);
  std::vector<double> reference(2);
  const Summaries all{max.data(), sum.data(), stride, reference.data()};
  summarizeScores(part, all);
  const float lse[] = {10, -60};
  for (std::size_t row = 0; row < 2; ++row) {
    float largest = 0, total = 0;
    foldSummaries({all.max + row, all.sum + row, stride, all.reference + row}, 1, 1, &lse[row], &largest,
                  &total);
    const double weight = std::exp(-70.0 - lse[row]);
    // Without fused multiply-add, a score is rounded once more.
    EXPECT_NEAR(largest, weight, 1e-5 * weight);
    EXPECT_NEAR(total, 64 * weight, 1e-5 * 64 * weight);
  }
}

/// Infinite and NaN scores only affect their own row.
TEST(HeadMap, NonFiniteRowsSumToNaN) {
  constexpr float kInfinite = std::numeric_limits<float>::infinity();
  PlainRows rows{.q = {1, kInfinite, std::nanf(""), 2}, .k = std::vector<float>(100, 0.5f)};
  const MapRows part = rows.part();
  const std::size_t blocks = mapBlocks(part), stride = summaryStride(4);
  std::vector<float> max(stride * blocks), sum(max.size()), lse(4);
  std::vector<double> reference(4);
  const Summaries all{max.data(), sum.data(), stride, reference.data()};
  summarizeScores(part, all);
  combineSummaries(all, 4, blocks, lse.data());
  EXPECT_NEAR(lse[0], 0.5 + std::log(100.0), 1e-5);
  EXPECT_TRUE(std::isnan(lse[1]));
  EXPECT_TRUE(std::isnan(lse[2]));
  EXPECT_NEAR(lse[3], 1 + std::log(100.0), 1e-5);
}

}  // namespace
}  // namespace headscope::attention::kernels
