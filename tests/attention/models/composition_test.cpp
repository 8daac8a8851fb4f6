// How much of one head's output a later head reads, compared with the products written out in double
// precision.

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "attention/models/checkpoint/model_weights.h"
#include "attention/models/circuits.h"
#include "tests/attention/models/golden_models.h"
#include "tests/attention/models/made_up_checkpoint.h"

namespace headscope::attention::test {
namespace {

using Dense = Eigen::MatrixXd;

/// The norm before a layer's attention as a map of the stream, without its scale.
Dense normMap(const Model& model, const NormWeights& norm) {
  const Index d = model.config().modelDim;
  Dense map = Dense::Identity(d, d);
  if (model.config().norm == NormKind::layer) map.array() -= 1 / static_cast<double>(d);
  return norm.weight.cast<double>().asDiagonal() * map;
}

struct Circuits {
  Dense qk, ov;  ///< qᵀ·k and o·v over the stream as columns
};

Circuits circuitsOf(const Model& model, Index layer, Index head) {
  const ModelConfig& config = model.config();
  const LayerWeights& weights = model.weights().layers[asSize(layer)];
  const Index size = config.headDim, kv = head / (config.heads / config.kvHeads);
  const Dense in = normMap(model, weights.attentionNorm);
  Dense q = weightRows(weights.q, head * size, size).cast<double>();
  Dense k = weightRows(weights.k, kv * size, size).cast<double>();
  Dense o = weightColumns(weights.o, head * size, size).cast<double>();
  if (weights.qNorm.weight.size() > 0) q = weights.qNorm.weight.cast<double>().asDiagonal() * q;
  if (weights.kNorm.weight.size() > 0) k = weights.kNorm.weight.cast<double>().asDiagonal() * k;
  if (weights.afterAttentionNorm.weight.size() > 0)
    o = weights.afterAttentionNorm.weight.cast<double>().asDiagonal() * o;
  return {(q * in).transpose() * k * in, o * weightRows(weights.v, kv * size, size).cast<double>() * in};
}

class Compositions : public testing::TestWithParam<std::string> {};

TEST_P(Compositions, MatchesProductNormsMinusBaseline) {
  const auto model = openModel(goldenModel(GetParam()));
  const Index heads = model->config().heads, last = model->config().layerCount() - 1;
  const double baseline = 1 / std::sqrt(static_cast<double>(model->config().modelDim));
  for (const auto& [first, second] : {std::pair(Index{0}, heads - 1), std::pair(heads - 1, Index{0})}) {
    const Circuits a = circuitsOf(*model, 0, first), b = circuitsOf(*model, last, second);
    const Composition found = composition(headCircuits(*model, 0, first), headCircuits(*model, last, second));
    const double qk = a.ov.norm() * b.qk.norm(), ov = a.ov.norm() * b.ov.norm();
    EXPECT_NEAR(found.q, (b.qk.transpose() * a.ov).norm() / qk - baseline, 1e-4);
    EXPECT_NEAR(found.k, (b.qk * a.ov).norm() / qk - baseline, 1e-4);
    EXPECT_NEAR(found.v, (b.ov * a.ov).norm() / ov - baseline, 1e-4);
  }
  EXPECT_THROW(headCircuits(*model, 0, heads), std::invalid_argument);
}

INSTANTIATE_TEST_SUITE_P(Families, Compositions,
                         testing::Values("gpt2", "llama", "qwen3", "gemma2", "gpt_neox"),
                         [](const auto& info) { return info.param; });

HeadCircuits madeUp(Matrix q, Matrix k, Matrix v, Matrix o) {
  HeadCircuits maps{std::move(q), std::move(k), std::move(v), std::move(o), {}, {}, {}, {}};
  maps.qGram = maps.q * maps.q.transpose();
  maps.kGram = maps.k * maps.k.transpose();
  maps.vGram = maps.v * maps.v.transpose();
  maps.oGram = maps.o.transpose() * maps.o;
  return maps;
}

TEST(Composition, FullReadGivesOneAndNoReadGivesZero) {
  constexpr Index kDim = 16;
  const auto axis = [](Index at) {
    Matrix row = Matrix::Zero(1, kDim);
    row(0, at) = 3;
    return row;
  };
  const HeadCircuits earlier = madeUp(axis(0), axis(1), axis(2), axis(3).transpose());
  const Composition found = composition(earlier, madeUp(axis(3), axis(4), axis(5), axis(6).transpose()));
  EXPECT_NEAR(found.q, 1 - 0.25, 1e-6);
  EXPECT_NEAR(found.k, -0.25, 1e-6);
  EXPECT_NEAR(found.v, -0.25, 1e-6);
  const HeadCircuits nothing = madeUp(0 * axis(0), axis(1), 0 * axis(2), axis(3).transpose());
  EXPECT_EQ(composition(nothing, nothing), Composition());
}

TEST(Composition, RandomHeadsAverageToBaseline) {
  std::mt19937 random(7);
  std::normal_distribution<float> normal;
  const auto any = [&](Index rows, Index cols) {
    return Matrix(Matrix::NullaryExpr(rows, cols, [&] { return normal(random); }));
  };
  constexpr Index kDim = 64, kSize = 8, kTimes = 60;
  double q = 0, k = 0, v = 0;
  const double baseline = 1.0 / 8;
  for (Index i = 0; i < kTimes; ++i) {
    const auto head = [&] {
      return madeUp(any(kSize, kDim), any(kSize, kDim), any(kSize, kDim), any(kDim, kSize));
    };
    const Composition found = composition(head(), head());
    q += std::pow(found.q + baseline, 2) / kTimes;
    k += std::pow(found.k + baseline, 2) / kTimes;
    v += std::pow(found.v + baseline, 2) / kTimes;
  }
  for (const double square : {q, k, v}) EXPECT_NEAR(std::sqrt(square), baseline, 0.004);
}

/// x − mean(x) as a matrix.
Matrix centring(Index size) {
  return Matrix::Identity(size, size) - Matrix::Constant(size, size, 1 / static_cast<float>(size));
}

class HeadNorms : public testing::TestWithParam<std::string> {};

TEST_P(HeadNorms, EachHeadHasItsOwnGain) {
  const std::vector<PlainModel> models = plainModels();
  const auto plain = std::ranges::find(models, GetParam(), &PlainModel::name);
  MadeUpTensors tensors(DType::F32, 5);
  (void)plain->run(tensors, {1, 2, 3});
  const MadeUpCheckpoint folder(plain->config, tensors.file());
  const auto model = openModel(folder.path());
  const LayerWeights& weights = model->weights().layers[1];
  const Index size = model->config().headDim;
  for (const Index head : {0, 3}) {
    const Vector gain = weights.qNorm.weight.segment(head * size, size);
    Matrix wanted = weightRows(weights.q, head * size, size);
    if (model->config().norm == NormKind::layer)
      wanted = centring(size) * wanted * weights.attentionNorm.weight.asDiagonal() * centring(wanted.cols());
    wanted = gain.asDiagonal() * wanted;
    EXPECT_LT(distance(headCircuits(*model, 1, head).q, wanted), 1e-6) << head;
  }
}

INSTANTIATE_TEST_SUITE_P(Models, HeadNorms, testing::Values("olmo2", "cohere_plus", "stablelm_12b"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace headscope::attention::test
