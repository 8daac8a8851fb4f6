// The contribution of every piece to a logit: the sum is the logit, and each part is as defined.

#include <gtest/gtest.h>

#include "attention/models/circuits.h"
#include "tests/attention/models/golden_models.h"
#include "tests/attention/models/made_up_checkpoint.h"

namespace headscope::attention::test {
namespace {

PassResult recorded(const std::shared_ptr<const Model>& model, const std::vector<Index>& ids,
                    std::vector<Patch> patches = {}) {
  PassRequest request;
  request.projections = request.hidden = request.between = request.mlp = true;
  request.logits = LogitRows::all;
  request.patches = std::move(patches);
  ModelSession session(model);
  auto pass = session.append(ids, request);
  if (!pass) throw std::runtime_error(pass.error().message);
  return std::move(*pass);
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
      const auto found = attributeLogit(*model, run, row, answers);
      ASSERT_TRUE(found.ok()) << found.error().message;
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
  MadeUpTensors tensors(DType::F32, 5);
  (void)GetParam().run(tensors, ids);
  const MadeUpCheckpoint folder(GetParam().config, tensors.file());
  const auto model = openModel(folder.path());
  if (model->predictsTokens() && !model->weights().headTransform) return checkSums(model, ids);
  const auto found = attributeLogit(*model, recorded(model, ids), 0, {7, {}});
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().message,
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
  const auto found = attributeLogit(*model, run, 5, {44, 9});
  ASSERT_TRUE(found.ok());
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

TEST(Attribution, DisabledHeadAddsNothingAndPatchedHeadHasNoKeys) {
  const auto model = openModel(goldenModel("qwen2"));
  const std::vector<Index> ids{5, 250, 17, 99, 3, 41};
  const auto other = std::make_shared<const PassResult>(recorded(model, {5, 251, 16, 99, 4, 41}));
  const PassResult run =
      recorded(model, ids, {{.layer = 0, .head = 1}, {.layer = 1, .head = 2, .by = TakenFrom{other}}});
  const auto found = attributeLogit(*model, run, 5, {44, 9});
  ASSERT_TRUE(found.ok()) << found.error().message;
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
    const auto found = attributeLogit(*model, run, row, answers);
    return found ? "no error" : found.error().message;
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

}  // namespace
}  // namespace headscope::attention::test
