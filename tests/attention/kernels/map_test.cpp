#include "attention/kernels/map.h"

#include <gtest/gtest.h>

#include <vector>

#include "attention/kernels/buffer.h"

namespace headscope::attention::kernels {
namespace {

/// Runs that are gone through for `rows` rows over `keys` keys of which each sees every other one.
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

/// Of a row of thousands of runs each is gone through a few times, not once for every part of its keys.
TEST(HeadMap, longRowsOfManyRunsAreGoneThroughOnce) {
  constexpr std::size_t kRows = 16, kKeys = 16384, kRuns = kRows * kKeys / 2;
  const std::size_t summed = runsPassed(kRows, kKeys, [](const MapRows& given) {
    MapRows part = given;
    part.factor = 64;
    std::vector<float> max(part.rows * mapBlocks(part)), sum(max.size());
    summarizeScores(part, max.data(), sum.data());
    return max.back() == 0;
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

}  // namespace
}  // namespace headscope::attention::kernels
