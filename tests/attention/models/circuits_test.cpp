// The contribution of every piece to a logit: the sum is the logit, and each part is as defined.

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "attention/models/checkpoint/model_weights.h"
#include "attention/models/value_biases.h"
#include "tests/attention/models/golden_models.h"
#include "tests/attention/models/made_up_checkpoint.h"
#include "tests/support/matchers.h"

namespace headscope::attention::test {
namespace {

PassResult recorded(const std::shared_ptr<const Model>& model, const std::vector<Index>& ids,
                    std::vector<Patch> patches = {}) {
  PassRequest request = everything();
  request.patches = std::move(patches);
  return passOver(model, ids, request);
}

double sumOf(const Attribution& attribution) {
  double sum = 0;
  for (const Contribution& part : attribution.parts) sum += part.value;
  return sum;
}

void checkSums(const std::shared_ptr<const Model>& model, const std::vector<Index>& ids) {
  const PassResult run = recorded(model, ids);
  const double largest = run.logits.cwiseAbs().maxCoeff();
  for (const Answers answers : {Answers{7, {}}, Answers{30, 2}, Answers{0, 11}})
    for (const Index row : {Index{0}, Index{4}, run.logits.rows() - 1}) {
      const auto found = checked(attributeLogit(*model, run, row, answers));
      double logit = double{run.logits(row, answers.id)};
      if (answers.other) logit -= double{run.logits(row, *answers.other)};
      EXPECT_NEAR(found->total, logit, 1e-5 * largest);
      EXPECT_NEAR(sumOf(*found), logit, 1e-4 * std::abs(logit) + 1e-5 * largest);
      ASSERT_EQ(found->byKey.cols(), run.logits.rows());
      for (const Contribution& part : found->parts) {
        if (part.by != Writer::head) continue;
        EXPECT_NEAR(double{found->byKey[part.layer].row(part.head).sum()}, part.value, 1e-4 * largest);
      }
    }
}

class Attributions : public testing::TestWithParam<std::string> {};

TEST_P(Attributions, ContributionsSumToLogit) {
  checkSums(openModel(goldenModel(GetParam())), {5, 250, 17, 99, 3, 41, 180, 77, 6, 12, 200, 33});
}

INSTANTIATE_TEST_SUITE_P(Families, Attributions,
                         testing::Values("gpt2", "llama", "mistral", "qwen2", "qwen3", "gemma2", "phi3",
                                         "gpt_neox"),
                         [](const auto& info) { return info.param; });

class PlainAttributions : public testing::TestWithParam<PlainModel> {};

TEST_P(PlainAttributions, ContributionsSumToLogitOrReportWhyNot) {
  const std::vector<Index> ids{3, 30, 0, 7, 7, 19, 4, 28, 3, 11, 5};
  const auto model = openPlain(GetParam());
  if (model->predictsTokens() && !model->weights().headTransform) return checkSums(model, ids);
  EXPECT_EQ(messageOf(attributeLogit(*model, recorded(model, ids), 0, {7, {}})),
            model->predictsTokens()
                ? "This model has an extra layer before its vocabulary, so its logits aren't a sum of pieces."
                : model->whyNoPredictions());
}

INSTANTIATE_TEST_SUITE_P(Families, PlainAttributions, testing::ValuesIn(plainModels()),
                         [](const auto& info) { return info.param.name; });

TEST(Attribution, PartIsPieceOutputTimesAnswerDirection) {
  // By the definition, for a model with one norm before each part and one at the end.
  const auto model = openModel(goldenModel("llama"));
  const PassResult run = recorded(model, {5, 250, 17, 99, 3, 41});
  const auto found = checked(attributeLogit(*model, run, 5, {44, 9}));
  const auto& norm = model->weights().finalNorm->weight;
  const double scale =
      1 / std::sqrt(run.stream.row(5).cast<double>().squaredNorm() / static_cast<double>(run.stream.cols()) +
                    model->config().epsilon);
  const auto logitOf = [&](const Matrix& wrote) {
    const Matrix scaled =
        (wrote.array().rowwise() * norm.transpose().array() * static_cast<float>(scale)).matrix();
    const Matrix logits = model->weights().head->apply(scaled, {});
    return double{logits(0, 44)} - double{logits(0, 9)};
  };
  Index heads = 0;
  for (const Contribution& part : found->parts) {
    const LayerResult* layer =
        part.layer < 0 ? nullptr : run.layers[static_cast<std::size_t>(part.layer)].get();
    Matrix wrote = run.embedded.row(5);
    if (part.by == Writer::mlp) wrote = layer->mlpAdded.row(5);
    if (part.by == Writer::head) {
      Matrix alone = Matrix::Zero(1, 4 * layer->headOutput.cols());
      alone.middleCols(part.head * layer->headOutput.cols(), layer->headOutput.cols()) =
          layer->headOutput[part.head].row(5);
      wrote = model->weights().layers[static_cast<std::size_t>(part.layer)].o.apply(alone, {});
      ++heads;
    }
    EXPECT_NEAR(part.value, logitOf(wrote), 1e-4);
  }
  EXPECT_EQ(heads, 4 * model->config().layerCount());
  EXPECT_EQ(found->parts.front().by, Writer::embedding);
}

TEST(Attribution, ValueBiasesCountWithAttentionOrWithHeads) {
  const auto model = openModel(goldenModel("gpt2"));
  const PassResult run = recorded(model, {5, 250, 17, 99, 3, 41});
  const auto folded = checked(attributeLogit(*model, run, 5, {44, 9}));
  const auto with = checked(attributeLogit(*model, run, 5, {44, 9}, ValueBiases::withHeads));
  EXPECT_NEAR(sumOf(*folded), sumOf(*with), 1e-6);
  // Each head gives its bias to its attention.
  ASSERT_EQ(folded->parts.size(), with->parts.size());
  double moved = 0;
  for (std::size_t i = 0; i < with->parts.size(); ++i) {
    const double change = folded->parts[i].value - with->parts[i].value;
    if (with->parts[i].by == Writer::head) {
      moved += change;
      EXPECT_GT(std::abs(change), 1e-6);
      EXPECT_NEAR(double{folded->byKey[with->parts[i].layer].row(with->parts[i].head).sum()},
                  folded->parts[i].value, 1e-4);
    } else if (with->parts[i].by == Writer::attentionBias) {
      moved += change;
    } else {
      EXPECT_EQ(change, 0);
    }
  }
  EXPECT_NEAR(moved, 0, 1e-6);
  const auto& config = model->config();
  const LayerWeights& layer = model->weights().layers[1];
  const Index dim = config.headDim;
  const Vector expected =
      layer.v.bias.segment(2 * dim, dim) + weightRows(layer.v, 2 * dim, dim) * layer.attentionNorm.bias;
  EXPECT_TRUE(wholeValueBias(config, layer, layer, 2).isApprox(expected));
}

TEST(Attribution, DisabledHeadAddsNothingAndPatchedHeadHasNoKeys) {
  const auto model = openModel(goldenModel("qwen2"));
  const std::vector<Index> ids{5, 250, 17, 99, 3, 41};
  const auto other = std::make_shared<const PassResult>(recorded(model, {5, 251, 16, 99, 4, 41}));
  const PassResult run =
      recorded(model, ids, {{.layer = 0, .head = 1}, {.layer = 1, .head = 2, .by = TakenFrom{other}}});
  const auto found = checked(attributeLogit(*model, run, 5, {44, 9}));
  EXPECT_NEAR(sumOf(*found), double{run.logits(5, 44)} - double{run.logits(5, 9)}, 1e-4);
  EXPECT_TRUE(found->byKey[0].row(1).isZero());
  EXPECT_TRUE(std::isnan(found->byKey.at(1, 2, 0)));
  EXPECT_TRUE(found->byKey[1].row(1).allFinite());
}

TEST(Attribution, RefusesInvalidTokensRowsAndRuns) {
  const auto model = openModel(goldenModel("gpt2"));
  const std::vector<Index> ids{5, 250, 17};
  const auto other = std::make_shared<const PassResult>(recorded(model, {7, 251, 16}));
  const auto message = [&](const PassResult& run, Index row, const Answers& answers) {
    return messageOf(attributeLogit(*model, run, row, answers));
  };
  const PassResult run = recorded(model, ids);
  EXPECT_EQ(message(run, 0, {300, {}}), "token id 300 is not one of this model's 0 to 299");
  EXPECT_EQ(message(run, 0, {0, -1}), "token id -1 is not one of this model's 0 to 299");
  EXPECT_EQ(message(run, 3, {0, {}}), "row 3 was requested of a run of 3");
  ModelSession session(model);
  EXPECT_EQ(message(*session.append(ids), 0, {0, {}}), "the run didn't keep the output of every piece");
  const PassResult patched =
      recorded(model, ids, {{.piece = Piece::stream, .layer = 1, .by = TakenFrom{other}}});
  EXPECT_NE(message(patched, 2, {0, {}}).find("the stream itself was replaced"), std::string::npos);
}

// How much of one head's output a later head reads, compared with the products written out in double
// precision.

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
  const auto model = openPlain(plainNamed(GetParam()));
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
