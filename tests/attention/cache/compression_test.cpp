#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "attention/cache/kv_cache.h"
#include "attention/cache/model_cost.h"
#include "attention/core/attention.h"
#include "tests/attention/core/attention_reference.h"
#include "tests/attention/masks/mask_support.h"
#include "tests/support/float_limits.h"

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

/// All finite numbers of E4M3 from their bits: (−1)^s · 2^(e−7) · (1 + m/8), or m/8 · 2⁻⁶ if e is 0.
std::vector<double> allE4m3() {
  std::vector<double> all;
  for (int bits = 0; bits < 256; ++bits) {
    const int exponent = (bits >> 3) & 15, mantissa = bits & 7;
    if (exponent == 15 && mantissa == 7) continue;  // NaN
    const double size = exponent == 0 ? mantissa / 8.0 * std::pow(2.0, -6)
                                      : (1 + mantissa / 8.0) * std::pow(2.0, exponent - 7);
    all.push_back(bits & 128 ? -size : size);
  }
  return all;
}

TEST(Quantise, E4m3RoundsToNearestTiesToEven) {
  const std::vector<double> all = allE4m3();
  const auto nearest = [&](double value) {
    double best = 0;
    for (const double each : all) {
      const double now = std::abs(each - value), before = std::abs(best - value);
      // Of two equally near numbers, the one with an even mantissa is chosen.
      const auto even = [](double x) {
        if (x == 0) return true;
        const int e = std::max(std::ilogb(x), -6);
        return std::fmod(std::abs(x) / std::ldexp(1.0, e - 3), 2.0) == 0;
      };
      if (now < before || (now == before && even(each))) best = each;
    }
    return best;
  };
  for (const double each : all) EXPECT_EQ(roundedToE4m3(static_cast<float>(each)), static_cast<float>(each));
  for (std::size_t i = 0; i + 1 < 126; ++i) {
    const double middle = (all[i] + all[i + 1]) / 2;
    for (const double value : {middle, std::nextafter(middle, 0.0), std::nextafter(middle, 1e9), -middle})
      EXPECT_EQ(roundedToE4m3(static_cast<float>(value)),
                static_cast<float>(nearest(static_cast<float>(value))))
          << value;
  }
  const Matrix some = gaussianMatrix(1, 4000, 3);
  for (Index i = 0; i < some.size(); ++i)
    for (const float gain : {1e-3f, 1.0f, 100.0f})
      EXPECT_EQ(roundedToE4m3(some(0, i) * gain), static_cast<float>(nearest(some(0, i) * gain)));
}

TEST(Quantise, E4m3SaturatesAtItsLargestValue) {
  EXPECT_EQ(roundedToE4m3(448), 448);
  EXPECT_EQ(roundedToE4m3(1e9f), 448);
  EXPECT_EQ(roundedToE4m3(-kInfinity), -448);
  EXPECT_TRUE(std::isnan(roundedToE4m3(std::nanf(""))));
  EXPECT_TRUE(std::signbit(roundedToE4m3(-0.0f)));
}

TEST(Quantise, HalvesRoundToNearestAndFp32IsUnchanged) {
  const Matrix x = gaussianMatrix(7, 33, 1);
  EXPECT_EQ(quantised(x, NumberFormat::fp32), x);
  const Matrix half = quantised(x, NumberFormat::fp16), brain = quantised(x, NumberFormat::bf16);
  for (Index i = 0; i < x.size(); ++i) {
    const float value = x.data()[i];
    // Half a unit in the last place: 2⁻¹¹ and 2⁻⁸ of the number.
    EXPECT_LE(std::abs(half.data()[i] - value), std::ldexp(1.0f, std::ilogb(value) - 11));
    EXPECT_LE(std::abs(brain.data()[i] - value), std::ldexp(1.0f, std::ilogb(value) - 8));
  }
  Matrix big(1, 2);
  big << 70000, 1;
  EXPECT_EQ(quantised(big, NumberFormat::fp16)(0, 0), kInfinity);
}

TEST(Quantise, IntegersAreScaledPerToken) {
  const Matrix x = gaussianMatrix(9, 24, 5);
  for (const auto& [format, most] : {std::pair(NumberFormat::int8, 127), {NumberFormat::int4, 7}}) {
    const Matrix q = quantised(x, format);
    for (Index row = 0; row < x.rows(); ++row) {
      float largest = 0;
      for (Index i = 0; i < x.cols(); ++i) largest = std::max(largest, std::abs(x(row, i)));
      const auto scale = static_cast<float>(static_cast<Eigen::half>(largest / static_cast<float>(most)));
      for (Index i = 0; i < x.cols(); ++i) {
        double steps = std::nearbyint(static_cast<double>(x(row, i) / scale));
        steps = std::max(-static_cast<double>(most), std::min(static_cast<double>(most), steps));
        EXPECT_EQ(q(row, i), static_cast<float>(steps) * scale);
        EXPECT_LE(std::abs(q(row, i) - x(row, i)), scale * (0.5f + static_cast<float>(most) * 0x1p-11f));
      }
    }
  }
}

TEST(Quantise, HandlesZeroNonFiniteAndEmptyRows) {
  Matrix x = Matrix::Zero(3, 4);
  x(1, 2) = kInfinity;
  x(2, 0) = std::nanf("");
  const Matrix q = quantised(x, NumberFormat::int8);
  EXPECT_EQ(q.row(0), x.row(0));
  EXPECT_TRUE(q.row(1).array().isNaN().all());
  EXPECT_TRUE(q.row(2).array().isNaN().all());
  EXPECT_EQ(quantised(Matrix(0, 4), NumberFormat::int4).rows(), 0);
  EXPECT_EQ(quantised(Matrix(2, 0), NumberFormat::int4).cols(), 0);
}

TEST(Quantise, QuantisesEachHeadSeparately) {
  Stack stack(2, 3, 4);
  stack[0] = gaussianMatrix(3, 4, 1);
  stack[1] = gaussianMatrix(3, 4, 2);
  const Stack q = quantised(stack, NumberFormat::int4);
  EXPECT_EQ(q[0], quantised(stack[0], NumberFormat::int4));
  EXPECT_EQ(q[1], quantised(stack[1], NumberFormat::int4));
}

/// Properties of every row of the format table. A row with wrong bits, group or rounding fails here.
TEST(Quantise, EveryFormatMatchesItsTableRow) {
  std::set<std::string> names;
  int bits = 32;
  for (const NumberFormatRow& row : std::span(kNumberFormats).first<kRoundedFormats>()) {
    SCOPED_TRACE(row.name);
    const auto format = static_cast<NumberFormat>(&row - kNumberFormats.data());
    EXPECT_EQ(&rowOf(format), &row);
    EXPECT_TRUE(names.insert(row.name).second);
    EXPECT_TRUE(std::string(row.help).ends_with("."));
    EXPECT_LE(row.bits, bits) << "formats go from the most bits down";
    EXPECT_TRUE(row.bits < 32 ? row.round != nullptr : row.round == nullptr);
    bits = row.bits;

    const Index size = 97, group = row.group > 0 ? row.group : size;
    const Index scales = row.scaleBytes > 0 ? (size + group - 1) / group : 0;
    EXPECT_EQ(quantisedBytes(3, size, format),
              static_cast<std::uint64_t>(3 * ((size * row.bits + 7) / 8 + scales * row.scaleBytes)));
    EXPECT_EQ(bytesOf(97, format), static_cast<std::uint64_t>((size * row.bits + 7) / 8));

    Matrix x = gaussianMatrix(3, size, 11);
    const Matrix q = quantised(x, format);
    for (Index from = 0; from < size; from += group) {
      const auto part = q.row(1).segment(from, std::min(group, size - from));
      EXPECT_LE(std::set<float>(part.begin(), part.end()).size(), std::size_t{1} << std::min(row.bits, 16));
    }
    EXPECT_LT((q - x).norm(), 0.5f * x.norm());
    EXPECT_EQ(quantised(Matrix::Zero(2, 5), format), Matrix::Zero(2, 5));
    // If a number is NaN, the numbers that share its scale become NaN as well, and no others.
    x(1, size - 1) = std::nanf("");
    const Matrix some = quantised(x, format);
    const Index lost = row.scaleBytes > 0 ? (size - 1) % group + 1 : 1;
    EXPECT_EQ(some.array().isNaN().count(), lost);
    EXPECT_EQ(some.row(0), q.row(0));
    EXPECT_EQ(some.row(1).head(size - lost), q.row(1).head(size - lost));
  }
  EXPECT_THROW(rowOf(static_cast<NumberFormat>(kNumberFormats.size())), std::out_of_range);
}

/// Blocks of 32, as ggml-common.h lays them out.
TEST(Quantise, BlocksOfLlamaCppCountWithTheirScales) {
  const std::pair<NumberFormat, std::uint64_t> blocks[] = {
      {NumberFormat::q8_0, 34}, {NumberFormat::q5_1, 24}, {NumberFormat::q5_0, 22},
      {NumberFormat::q4_1, 20}, {NumberFormat::q4_0, 18}, {NumberFormat::iq4_nl, 18}};
  EXPECT_EQ(std::size(blocks), kNumberFormats.size() - kRoundedFormats);
  for (const auto& [format, bytes] : blocks) {
    EXPECT_EQ(bytesOf(32, format), bytes) << rowOf(format).name;
    EXPECT_EQ(bytesOf(33, format), 2 * bytes) << rowOf(format).name;
    EXPECT_EQ(quantisedBytes(2, 64, format), 4 * bytes) << rowOf(format).name;
    EXPECT_THROW(quantised(Matrix(2, 32), format), std::invalid_argument) << rowOf(format).name;
  }
}

TEST(Quantise, BytesIncludeTheScales) {
  EXPECT_EQ(quantisedBytes(10, 32, NumberFormat::fp32), 1280u);
  EXPECT_EQ(quantisedBytes(10, 32, NumberFormat::bf16), 640u);
  EXPECT_EQ(quantisedBytes(10, 32, NumberFormat::fp8), 320u);
  EXPECT_EQ(quantisedBytes(10, 32, NumberFormat::int8), 340u);
  EXPECT_EQ(quantisedBytes(10, 32, NumberFormat::int4), 180u);
  EXPECT_EQ(quantisedBytes(10, 33, NumberFormat::int4), 190u) << "17 bytes and a scale";
}

}  // namespace
}  // namespace headscope::attention::test
