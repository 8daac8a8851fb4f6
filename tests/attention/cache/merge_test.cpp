#include <gtest/gtest.h>

#include "attention/cache/kv_cache.h"
#include "attention/core/attention.h"
#include "tests/attention/core/attention_reference.h"

namespace headscope::attention::test {
namespace {

TEST(Merge, AveragesNeighbouringHeads) {
  Stack heads(4, 2, 3);
  for (Index h = 0; h < 4; ++h) heads[h].setConstant(static_cast<float>(1 << h));
  const Stack two = mergedByMean(heads, 2);
  EXPECT_EQ(two.count(), 2);
  EXPECT_EQ(two.at(0, 1, 2), 1.5f);
  EXPECT_EQ(two.at(1, 0, 0), 6.0f);
  EXPECT_EQ(mergedByMean(heads, 1).at(0, 0, 0), 3.75f);
  EXPECT_EQ(mergedByMean(heads, 4)[3], heads[3]);
  EXPECT_THROW(mergedByMean(heads, 3), std::invalid_argument);
  EXPECT_THROW(mergedByMean(heads, 0), std::invalid_argument);
}

TEST(Merge, AveragesRowsOfProjections) {
  Linear map{Matrix::Zero(8, 3), Vector::Zero(8)};
  for (Index row = 0; row < 8; ++row) {
    map.weight.row(row).setConstant(static_cast<float>(row));
    map.bias[row] = static_cast<float>(10 * row);
  }
  const Linear two = mergedByMean(map, 4, 2);  // heads of two rows
  EXPECT_EQ(two.weight.rows(), 4);
  for (const auto& [row, mean] : {std::pair(0, 1.0f), {1, 2.0f}, {2, 5.0f}, {3, 6.0f}}) {
    EXPECT_EQ(two.weight(row, 2), mean);
    EXPECT_EQ(two.bias[row], 10 * mean);
  }
  map.bias.resize(0);
  EXPECT_EQ(mergedByMean(map, 4, 1).bias.size(), 0);
  EXPECT_THROW(mergedByMean(map, 4, 3), std::invalid_argument);
}

TEST(Merge, MergedKeysMatchMergedProjections) {
  AttentionConfig config;
  config.modelDim = 24;
  config.heads = config.kvHeads = 6;
  config.headDim = 4;
  config.ropeTheta = 10000;
  const Matrix x = gaussianMatrix(5, 24, 1);
  Projections mha = xavierProjections(config, true, 2);
  const AttentionResult full = attend(config, mha, x, x, {});
  AttentionConfig gqa = config;
  gqa.kvHeads = 2;
  Projections merged = mha;
  for (Linear* map : {&merged.k, &merged.v}) {
    const Linear whole = *map;
    map->weight = Matrix::Zero(8, 24);
    map->bias = Vector::Zero(8);
    for (Index h = 0; h < 6; ++h) {
      map->weight.middleRows(4 * (h / 3), 4) += whole.weight.middleRows(4 * h, 4) / 3;
      map->bias.segment(4 * (h / 3), 4) += whole.bias.segment(4 * h, 4) / 3;
    }
  }
  const AttentionResult small = attend(gqa, merged, x, x, {});
  for (Index g = 0; g < 2; ++g) {
    EXPECT_LE((mergedByMean(full.k, 2)[g] - small.k[g]).cwiseAbs().maxCoeff(), 1e-5f);
    EXPECT_LE((mergedByMean(full.v, 2)[g] - small.v[g]).cwiseAbs().maxCoeff(), 1e-5f);
  }
}

}  // namespace
}  // namespace headscope::attention::test
