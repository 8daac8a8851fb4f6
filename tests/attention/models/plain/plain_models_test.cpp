// Every architecture compared with its equations in double precision, on odd sizes and synthetic weights.

#include <gtest/gtest.h>

#include "tests/attention/models/golden_models.h"
#include "tests/attention/models/made_up_checkpoint.h"
#include "tests/attention/models/plain/plain_rows.h"
#include "tests/support/matchers.h"

namespace headscope::attention::test {
namespace {

TEST(PlainRows, ListsHaveRowsOfKnownFields) {
  for (const char* list : {"models", "vision"}) EXPECT_FALSE(plainRows(list).empty()) << list;
  const auto known = nlohmann::json::parse(R"({"rope": {"dims": 0, "on": [1]}})");
  const auto require = [&](const char* part) { requireKnown(nlohmann::json::parse(part), known, "a row"); };
  EXPECT_NO_THROW(require(R"({"why": "so", "rope": {"on": [0, 1]}})"));
  EXPECT_THROW(require(R"({"rops": {"dims": 2}})"), std::invalid_argument);
  EXPECT_THROW(require(R"({"rope": {"dim": 2}})"), std::invalid_argument);
}

class PlainModels : public testing::TestWithParam<PlainModel> {};

TEST_P(PlainModels, MatchesEquations) {
  const std::vector<Index> ids{3, 30, 0, 7, 7, 19, 4, 28, 3, 11, 5};
  for (const DType dtype : {DType::F32, DType::F16, DType::BF16, DType::F64}) {
    MadeUpTensors tensors(dtype, 5);
    const PlainOutcome expected = GetParam().run(tensors, ids);
    const MadeUpCheckpoint folder(GetParam().config, tensors.file());
    const auto model = openModel(folder.path());
    ModelSession session(model);
    PassRequest request;
    request.hidden = true;
    request.logits = LogitRows::all;
    const auto pass = checked(session.append(ids, request));
    const auto near = [&](const Wide& wide, const Matrix& found, Index layers, const std::string& what) {
      const double most = streamTolerance(model->config(), layers) * wide.cwiseAbs().maxCoeff();
      EXPECT_LE(distance(wide.cast<float>(), found), most) << what << ", " << name(dtype);
    };
    near(expected.hidden[0], pass->embedded, 0, "embedded");
    ASSERT_EQ(pass->layers.size(), expected.attention.size());
    for (std::size_t i = 0; i < pass->layers.size(); ++i) {
      const auto depth = static_cast<Index>(i + 1);
      for (std::size_t h = 0; h < expected.attention[i].size(); ++h)
        // Scores are up to a dozen, and a weight changes by at most half as much.
        near(6 * expected.attention[i][h], 6 * pass->layers[i]->weights[static_cast<Index>(h)], depth + 4,
             "layer " + std::to_string(i) + ", head " + std::to_string(h));
      near(expected.hidden[i + 1], pass->layers[i]->hidden, depth, "layer " + std::to_string(i));
    }
    EXPECT_EQ(model->predictsTokens(), expected.logits.size() > 0) << model->whyNoPredictions();
    if (model->predictsTokens()) near(expected.logits, pass->logits, std::ssize(pass->layers) + 1, "logits");
  }
}

TEST_P(PlainModels, DecodeMatchesFullPass) {
  const std::vector<Index> ids{3, 30, 0, 7, 7, 19, 4, 28, 3, 11, 5};
  const auto model = openPlain(GetParam());
  if (!model->config().causal) GTEST_SKIP() << "earlier tokens see later ones";
  for (const Rotation& rotation : model->config().rotations)
    if (!rotation.longFrequencies.empty() || rotation.dynamic.factor > 0)
      GTEST_SKIP() << "rotations of a longer text are others";
  ModelSession whole(model), single(model);
  const auto expected = checked(whole.append(ids));
  const double most =
      streamTolerance(model->config(), model->config().layerCount()) * expected->stream.cwiseAbs().maxCoeff();
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto pass = checked(single.append({&ids[i], 1}));
    EXPECT_LE(distance(expected->stream.row(static_cast<Index>(i)), pass->stream), most) << "token " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Families, PlainModels, testing::ValuesIn(plainModels()),
                         [](const auto& info) { return info.param.name; });

}  // namespace

void PrintTo(const PlainModel& model, std::ostream* to) {
  *to << model.name;
}

}  // namespace headscope::attention::test
