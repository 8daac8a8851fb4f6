// One or several rows of input times weights in blocks, multiplied as whole numbers or floats, compared with
// unpacked weights multiplied in double precision.

#include "attention/kernels/digits.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "attention/core/random.h"
#include "attention/kernels/gemm.h"
#include "attention/kernels/targets.h"

namespace headscope::attention::kernels::test {
namespace {

constexpr WeightType kBlockTypes[] = {
    WeightType::q8_0,   WeightType::q4_0,   WeightType::q4_1,  WeightType::q5_0,       WeightType::q5_1,
    WeightType::q2_k,   WeightType::q3_k,   WeightType::q4_k,  WeightType::q5_k,       WeightType::q6_k,
    WeightType::iq4_nl, WeightType::iq4_xs, WeightType::mxfp4, WeightType::mxfp4_apart};

/// The offsets of the halves in a type's blocks, which have to be finite.
std::vector<std::size_t> placesOfHalves(WeightType type) {
  switch (type) {
    case WeightType::q2_k:
      return {80, 82};
    case WeightType::q3_k:
      return {108};
    case WeightType::q6_k:
      return {208};
    case WeightType::q4_1:
    case WeightType::q5_1:
    case WeightType::q4_k:
    case WeightType::q5_k:
      return {0, 2};
    case WeightType::mxfp4:
    case WeightType::mxfp4_apart:
      return {};
    default:
      return {0};
  }
}

class BlockRows {
 public:
  /// Random blocks; if `full` is set, all bits of the codes and scales are 1.
  BlockRows(WeightType type, std::size_t out, std::size_t in, bool full)
      : type_(type), out_(out), in_(in), bytes_(1 + weightBytes(type, out * in)) {
    Random random(7), scales(8);
    const auto byte = [&] { return static_cast<std::uint8_t>(256 * random.uniform()); };
    for (std::uint8_t& each : bytes_) each = full ? 255 : byte();
    const WeightBlock block = weightBlock(type);
    for (std::size_t at = 1; at < bytes_.size(); at += block.bytes) {
      if (type == WeightType::mxfp4) bytes_[at] = static_cast<std::uint8_t>(120 + byte() % 8);
      scales_.push_back(static_cast<std::uint8_t>(120 + 8 * scales.uniform()));
      for (const std::size_t place : placesOfHalves(type)) {
        const auto half = static_cast<std::uint16_t>((byte() & 0x80) << 8 | 0x2400 | byte() << 2);
        std::memcpy(&bytes_[at + place], &half, sizeof half);
      }
    }
  }

  /// The products for one row or several consecutive ones.
  std::vector<float> products(const std::vector<float>& x, const float* bias = nullptr) const {
    const std::size_t rows = x.size() / in_;
    std::vector<float> y(rows * out_);
    LinearMap map{data(), bias, out_, {y.data(), out_, out_, 0}, type_};
    map.scales = scales_.data();
    EXPECT_TRUE(applyMaps(sharedPool(), rows, in_, {x.data(), in_, in_, 0}, {&map, 1}));
    return y;
  }

  /// Expects each product to be within 1e-6 of Σ|w·x|.
  void expectProducts(const std::vector<float>& x, const std::string& what) const {
    const std::vector<float> found = products(x);
    for (std::size_t o = 0; o < out_; ++o) {
      const auto [sum, size] = exactly(x, unpacked(o));
      ASSERT_NEAR(found[o], sum, 1e-6 * size + std::numeric_limits<float>::min())
          << what << ", type " << static_cast<int>(type_) << ", " << in_ << " numbers, output " << o;
    }
  }

  /// Expects an average error of at most four times that of floats that are multiplied and added: it is about
  /// 1.5 times that error, and 3 times if inputs have one bit less.
  void expectNearlyAsExactAsFloats(const std::vector<float>& x) const {
    const std::vector<float> found = products(x);
    double ofDigits = 0, ofFloats = 0;
    for (std::size_t o = 0; o < out_; ++o) {
      const std::vector<float> weights = unpacked(o);
      const auto [sum, size] = exactly(x, weights);
      float y = 0;
      const LinearMap map{weights.data(), nullptr, 1, {&y, 1, 1, 0}, WeightType::f32};
      ASSERT_TRUE(applyMaps(sharedPool(), 1, in_, {x.data(), in_, in_, 0}, {&map, 1}));
      ofDigits += std::pow((found[o] - sum) / size, 2);
      ofFloats += std::pow((y - sum) / size, 2);
    }
    EXPECT_LE(std::sqrt(ofDigits), 4 * std::sqrt(ofFloats)) << "type " << static_cast<int>(type_);
  }

  const std::uint8_t* data() const { return bytes_.data() + 1; }

  std::vector<float> unpacked() const {
    std::vector<float> weights(out_ * in_);
    unpackWeights(type_, data(), out_ * in_, weights.data(), scales_.data());
    return weights;
  }

 private:
  std::vector<float> unpacked(std::size_t o) const {
    std::vector<float> weights(in_);
    unpackWeights(type_, data() + weightBytes(type_, o * in_), in_, weights.data(),
                  scales_.data() + o * in_ / 32);
    return weights;
  }
  /// Σ w·x and Σ|w·x|.
  static std::pair<double, double> exactly(const std::vector<float>& x, const std::vector<float>& weights) {
    double sum = 0, size = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double product = static_cast<double>(weights[i]) * static_cast<double>(x[i]);
      sum += product;
      size += std::abs(product);
    }
    return {sum, size};
  }

  WeightType type_;
  std::size_t out_, in_;
  std::vector<std::uint8_t> bytes_, scales_;  ///< the scales are for mxfp4_apart
};

std::vector<float> gaussianRow(std::size_t in, float size = 1) {
  Random random(3);
  std::vector<float> row(in);
  for (float& x : row) x = size * static_cast<float>(random.gaussian());
  return row;
}

/// Row widths in numbers: few blocks and many, and an odd number of small ones.
std::vector<std::size_t> widthsOf(WeightType type) {
  return weightBlock(type).numbers == 256 ? std::vector<std::size_t>{256, 768, 2304}
                                          : std::vector<std::size_t>{32, 96, 160, 2080};
}

TEST(Digits, ProductsAreNearlyAsExactAsFloats) {
  for (const WeightType type : kBlockTypes) {
    const std::size_t in = widthsOf(type).back();
    BlockRows(type, 67, in, false).expectNearlyAsExactAsFloats(gaussianRow(in));
  }
}

TEST(Digits, ProductsMatchUnpackedWeights) {
  for (const WeightType type : kBlockTypes)
    for (const std::size_t in : widthsOf(type)) {
      const BlockRows rows(type, 67, in, false);
      rows.expectProducts(gaussianRow(in), "gaussian");
      rows.expectProducts(std::vector<float>(in), "zeros");
      // 2¹¹⁷ and so on: products stay within the range of floats.
      for (const float size : {1e30f, 1e-30f, 1e-41f})
        rows.expectProducts(gaussianRow(in, size), "of a size");
      std::vector<float> one(in);
      one[in - 5] = -3;
      rows.expectProducts(one, "a single number");
      std::vector<float> sizes = gaussianRow(in);
      for (std::size_t i = 0; i < in; ++i) sizes[i] *= std::exp2(static_cast<float>(i / 32 % 40) - 20);
      rows.expectProducts(sizes, "groups of all sizes");
    }
}

TEST(Digits, OutliersDoNotDegradeNeighbours) {
  for (const WeightType type : kBlockTypes) {
    const std::size_t in = widthsOf(type).back();
    const BlockRows rows(type, 67, in, false);
    for (const float size : {30.0f, 1e3f, 1e6f, 1e12f}) {
      std::vector<float> x = gaussianRow(in);
      for (std::size_t i = 17; i < in; i += 500) x[i] *= size;
      rows.expectProducts(x, "some greater numbers");
    }
    if (!multipliesDigits(type)) continue;
    DigitRow row;
    std::vector<float> x(in, 1e-3f);
    EXPECT_TRUE(splitRow(type, x.data(), in, row));
    x[40] = 1e5f;
    EXPECT_FALSE(splitRow(type, x.data(), in, row));
  }
}

TEST(Digits, LargestSumsDoNotOverflow) {
  for (const WeightType type : kBlockTypes)
    for (const bool full : {false, true}) {
      const std::size_t in = widthsOf(type).back();
      const BlockRows rows(type, 5, in, full);
      // Around the largest value of the highest digit, with equal and alternating signs.
      for (const float x : {0.9959f, 0.996f, 0.9961f, 0.99999994f, 1.0f})
        for (const bool turns : {false, true}) {
          std::vector<float> row(in, -x);
          for (std::size_t i = 0; turns && i < in; i += 2) row[i] = x;
          rows.expectProducts(row, "all " + std::to_string(x));
        }
    }
}

TEST(Digits, MultipliesInfinityAndNaNAsFloats) {
  for (const WeightType type : kBlockTypes) {
    const std::size_t in = widthsOf(type).back();
    const BlockRows rows(type, 9, in, false);
    for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                            -std::numeric_limits<float>::infinity()})
      for (const std::size_t place : {std::size_t{0}, in / 2 + 3, in - 1}) {
        std::vector<float> x = gaussianRow(in);
        x[place] = bad;
        for (const float y : rows.products(x)) EXPECT_FALSE(std::isfinite(y)) << static_cast<int>(type);
        DigitRow row;
        if (multipliesDigits(type)) {
          EXPECT_FALSE(splitRow(type, x.data(), in, row));
        }
      }
  }
}

TEST(Digits, SeveralRowsMatchUnpackedWeights) {
  for (const WeightType type : kBlockTypes)
    for (const std::size_t in : widthsOf(type)) {
      const BlockRows weights(type, 67, in, false);
      const std::vector<float> bias = gaussianRow(67), plain = weights.unpacked();
      for (const std::size_t rows : {2u, 5u}) {
        const std::vector<float> x = gaussianRow(rows * in);
        std::vector<float> y(rows * 67);
        const LinearMap map{plain.data(), bias.data(), 67, {y.data(), 67, 67, 0}, WeightType::f32};
        ASSERT_TRUE(applyMaps(sharedPool(), rows, in, {x.data(), in, in, 0}, {&map, 1}));
        EXPECT_EQ(weights.products(x, bias.data()), y) << static_cast<int>(type);
      }
    }
}

TEST(Digits, AddsBias) {
  for (const WeightType type : kBlockTypes) {
    const std::size_t in = widthsOf(type).front();
    const BlockRows weights(type, 67, in, false);
    const std::vector<float> x = gaussianRow(in), bias = gaussianRow(67);
    const std::vector<float> without = weights.products(x), with = weights.products(x, bias.data());
    for (std::size_t o = 0; o < 67; ++o) ASSERT_EQ(with[o], without[o] + bias[o]) << static_cast<int>(type);
  }
}

/// Applied together as in a layer: maps of several types, one in whole numbers and one not, into heads.
TEST(Digits, AppliesMapsOfSeveralTypesTogether) {
  constexpr std::size_t kIn = 256, kOut = 64, kHead = 16;
  const BlockRows first(WeightType::q4_k, kOut, kIn, false), second(WeightType::q6_k, kOut, kIn, false);
  const std::vector<float> plain = gaussianRow(kIn * kOut);
  for (const std::size_t rows : {1u, 3u}) {
    const std::vector<float> x = gaussianRow(rows * kIn);
    std::vector<float> y[3];
    for (auto& each : y) each.resize(rows * kOut);
    const auto heads = [&](std::vector<float>& to) {
      return Columns<float>{to.data(), kHead, kHead, rows * kHead};
    };
    const LinearMap maps[] = {{first.data(), nullptr, kOut, heads(y[0]), WeightType::q4_k},
                              {plain.data(), nullptr, kOut, heads(y[1]), WeightType::f32},
                              {second.data(), nullptr, kOut, heads(y[2]), WeightType::q6_k}};
    ASSERT_TRUE(applyMaps(sharedPool(), rows, kIn, {x.data(), kIn, kIn, 0}, maps));
    const std::vector<float> expected[] = {first.products(x), {}, second.products(x)};
    for (std::size_t row = 0; row < rows; ++row)
      for (std::size_t o = 0; o < kOut; ++o) {
        const std::size_t place = o / kHead * rows * kHead + row * kHead + o % kHead;
        EXPECT_EQ(y[0][place], expected[0][row * kOut + o]);
        EXPECT_EQ(y[2][place], expected[2][row * kOut + o]);
        double sum = 0;
        for (std::size_t i = 0; i < kIn; ++i)
          sum += static_cast<double>(plain[o * kIn + i]) * static_cast<double>(x[row * kIn + i]);
        EXPECT_NEAR(y[1][place], sum, 1e-3);
      }
  }
}

TEST(Digits, UsesByteProductsIfProcessorHasThem) {
  const std::string target = targetName();
  if (target != "AVX2") GTEST_SKIP() << target << " may have none";
  for (const WeightType type : kBlockTypes) {
    // Codes of eight bits are only multiplied with VNNI.
    const bool wide = type == WeightType::q8_0 || type == WeightType::iq4_nl || type == WeightType::iq4_xs;
    EXPECT_NE(multipliesDigits(type), wide);
  }
}

}  // namespace
}  // namespace headscope::attention::kernels::test
