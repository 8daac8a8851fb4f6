#include <gtest/gtest.h>

#include <cfloat>
#include <limits>

#include "app/compute/heads/head_studies.h"
#include "app/compute/layer/layer_inputs.h"
#include "attention/core/attention.h"
#include "render/heatmap.h"
#include "tests/app/compute/layer/snapshot_support.h"

namespace headscope::app {
namespace {

using attention::AttentionConfig;
using attention::AttentionResult;
using attention::Matrix;
using test::layersFrom;
using test::plainSetup;

std::shared_ptr<const Snapshot> headSnapshot(const app::Setup& setup) {
  return std::make_shared<const Snapshot>(test::computed(setup));
}

/// The same layer computed from scratch without additive biases and without soft-cap, only with its mask.
AttentionResult withoutBiases(const Snapshot& snapshot, std::size_t sequence) {
  const app::Setup& setup = snapshot.setup;
  AttentionConfig config = snapshot.config;
  config.alibi = false;
  config.t5.reset();
  config.softcap = 0;
  config.dropout = {};
  attention::MaskInput mask = snapshot.sequences[sequence].mask;
  mask.additive = {};
  const LineTokens line = tokenizeBatch(setup).lines[sequence];
  const auto input = embedLine(setup, line);
  const auto projections =
      buildProjections(setup, static_cast<Index>(std::max(line.queries.size(), line.keys.size())));
  return attention::attend(config, *projections, input->x, setup.input.cross ? input->context : input->x,
                           mask);
}

/// Setups with biased scores, each bias by itself and all together.
std::vector<app::Setup> biasedSetups() {
  std::vector<app::Setup> setups;
  app::Setup plain = plainSetup("a b c d e f g h\ni j k");
  plain.model.kvHeads = 2;
  plain.mask.layers = layersFrom("causal & padding & !(window(1) & packed([4]) & sinks(5))");
  app::Setup setup = plain;
  setup.model.position = PositionKind::alibi;
  setups.push_back(setup);
  setup.mask.layers = {};
  setups.push_back(setup);
  setup = plain;
  setup.model.position = PositionKind::t5;
  setup.model.t5Buckets = 6;
  setup.model.t5Distance = 9;
  setup.model.t5Strength = 2;
  setups.push_back(setup);
  setup.mask.layers = {};
  setups.push_back(setup);
  setup = plain;
  setup.mask.additive = attention::Table{{}, Matrix::Random(8, 8) * 3};
  setups.push_back(setup);
  setup = plain;
  setup.model.softcap = 0.5F;
  setups.push_back(setup);
  setup.model.position = PositionKind::t5;
  setup.mask.additive = attention::Table{{}, Matrix::Random(8, 8)};
  setup.model.sharpness = 3;
  setups.push_back(setup);
  setup.input.cross = true;
  setup.input.contextText = "x y z u v w";
  setup.mask.additive = attention::Table{{}, Matrix::Random(8, 6)};
  setup.mask.layers = layersFrom("!(sinks(1) & heads(1): full)");
  setups.push_back(setup);
  return setups;
}

TEST(HeadStudy, EffectIsWeightsMinusUnbiasedWeights) {
  int setups = 0;
  for (const app::Setup& setup : biasedSetups()) {
    ++setups;
    const auto snapshot = headSnapshot(setup);
    for (std::size_t s = 0; s < snapshot->sequences.size(); ++s) {
      const AttentionResult plain = withoutBiases(*snapshot, s);
      const AttentionResult& result = snapshot->sequences[s].attention;
      float largest = 0;
      for (Index head = 0; head < 4; ++head) {
        const HeadStudy study = studyHead({snapshot, static_cast<Index>(s), head});
        EXPECT_TRUE(study.biased);
        const Matrix expected = result.weights[head] - plain.weights[head];
        ASSERT_EQ(study.effect.factor, 1);
        ASSERT_EQ(study.effect.values.rows(), expected.rows());
        ASSERT_EQ(study.effect.values.cols(), expected.cols());
        for (Index i = 0; i < expected.rows(); ++i)
          for (Index j = 0; j < expected.cols(); ++j) {
            if (std::isinf(result.lse(head, i))) {
              ASSERT_EQ(study.effect.values(i, j), render::kDeadCell);
            } else if (std::isinf(result.scores.at(head, i, j))) {
              ASSERT_EQ(study.effect.values(i, j), render::kMaskedCell);
            } else {
              ASSERT_NEAR(study.effect.values(i, j), expected(i, j), 2 * test::weightTolerance(*snapshot));
            }
          }
        EXPECT_NEAR(study.effect.extreme, expected.cwiseAbs().maxCoeff(),
                    2 * test::weightTolerance(*snapshot));
        largest = std::max(largest, study.effect.extreme);
      }
      EXPECT_GT(largest, 0.001F) << "biases that have no effect test nothing: sequence " << s << " of "
                                 << setups;
    }
  }
}

TEST(HeadStudy, BiasMatchesReceipts) {
  for (const app::Setup& setup : biasedSetups()) {
    const auto snapshot = headSnapshot(setup);
    const SequenceSnapshot& sequence = snapshot->sequences.front();
    for (Index head = 0; head < 4; ++head) {
      const HeadStudy study = studyHead({snapshot, 0, head});
      float extreme = 0;
      for (Index i = 0; i < study.bias.values.rows(); ++i)
        for (Index j = 0; j < study.bias.values.cols(); ++j) {
          const auto receipt =
              attention::explainScore(snapshot->config, sequence.mask, sequence.attention, head, i, j);
          if (!receipt.visible) {
            ASSERT_LE(study.bias.values(i, j), render::kDeadCell) << "a masked cell shows a bias";
            continue;
          }
          float expected = 0;
          for (const attention::ScoreStep& step : receipt.steps)
            if (step.term->adds()) expected += step.value;
          ASSERT_NEAR(study.bias.values(i, j), expected,
                      4 * FLT_EPSILON * std::max(1.0F, std::abs(expected)));
          extreme = std::max(extreme, std::abs(study.bias.values(i, j)));
        }
      EXPECT_EQ(study.bias.extreme, extreme);
    }
  }
}

TEST(HeadStudy, NoEffectWithoutBiases) {
  const HeadStudy study = studyHead({headSnapshot(plainSetup("a b c")), 0, 1});
  EXPECT_FALSE(study.biased);
  EXPECT_EQ(study.effect.values.size(), 0);
  EXPECT_EQ(study.bias.extreme, 0);
  EXPECT_EQ(study.bias.values, Matrix::Zero(3, 3));
  EXPECT_EQ(study.difference.values.size(), 0) << "there is no second mask";
}

/// Weights removed by dropout are not the effect of a bias.
TEST(HeadStudy, DropoutDoesNotCountAsEffect) {
  app::Setup setup = plainSetup("a b c d e f");
  setup.model.position = PositionKind::alibi;
  const HeadStudy plain = studyHead({headSnapshot(setup), 0, 2});
  setup.model.dropout = 0.5F;
  const HeadStudy dropped = studyHead({headSnapshot(setup), 0, 2});
  // Weights are at most 1, and one of the two sides was computed once more.
  const float rounding = 8 * std::numeric_limits<float>::epsilon();
  EXPECT_LE((dropped.effect.values - plain.effect.values).cwiseAbs().maxCoeff(), rounding);
}

TEST(HeadStudy, DifferenceIsSecondMaskMinusFirst) {
  app::Setup setup = plainSetup("a b c d e f g\nh i j");
  setup.mask.layers = layersFrom("causal & padding");
  setup.mask.compare = true;
  setup.mask.other = layersFrom("window_both(2) & !(sinks(1) & !window(1))");
  const auto snapshot = headSnapshot(setup);
  app::Setup second = setup;
  second.mask.layers = setup.mask.other;
  const auto alone = headSnapshot(second);
  for (std::size_t s = 0; s < 2; ++s)
    for (Index head = 0; head < 4; ++head) {
      const AttentionResult &a = snapshot->sequences[s].attention, &b = alone->sequences[s].attention;
      const SignedPicture picture = studyHead({snapshot, static_cast<Index>(s), head}).difference;
      for (Index i = 0; i < 7; ++i)
        for (Index j = 0; j < 7; ++j) {
          const bool either = !std::isinf(a.scores.at(head, i, j)) || !std::isinf(b.scores.at(head, i, j));
          if (either) {
            ASSERT_NEAR(picture.values(i, j), b.weights.at(head, i, j) - a.weights.at(head, i, j),
                        2 * test::weightTolerance(*alone));
          } else {
            ASSERT_EQ(picture.values(i, j), render::kMaskedCell);
          }
        }
    }
}

/// A row that sees nothing under one mask still has a difference; a row that sees nothing under both is dead.
TEST(HeadStudy, MarksRowsWithoutVisibleKeys) {
  app::Setup setup = plainSetup("a b c d");
  setup.mask.layers = layersFrom("window(1) & !sinks(2)");
  setup.mask.compare = true;
  setup.mask.other = layersFrom("causal & !sinks(1)");
  const SignedPicture picture = studyHead({headSnapshot(setup), 0, 0}).difference;
  EXPECT_EQ(picture.values.row(0), Eigen::RowVectorXf::Constant(4, render::kDeadCell));
  EXPECT_EQ(picture.values(1, 0), render::kMaskedCell);
  EXPECT_EQ(picture.values(1, 1), 1) << "all of the row is the second mask's";
  EXPECT_EQ(picture.extreme, 1);
}

/// Beyond 1,024 tokens, several cells share a pixel, which shows the visible value farthest from 0.
TEST(HeadStudy, PoolsByLargestVisibleMagnitude) {
  std::string text;
  for (int i = 0; i < 1100; ++i) text += "w" + std::to_string(i % 50) + " ";
  app::Setup setup = plainSetup(text);
  setup.model.heads = setup.model.kvHeads = 2;
  setup.model.headDim = 4;
  setup.model.modelDim = 8;
  setup.model.linked = false;
  setup.mask.layers = layersFrom("streaming(sinks=3, window=20)");
  setup.mask.additive = attention::Table{{}, Matrix::Random(1100, 1100) * 2};
  const auto snapshot = headSnapshot(setup);
  const SequenceSnapshot& sequence = snapshot->sequences[0];
  const SignedPicture bias = studyHead({snapshot, 0, 1}).bias;
  ASSERT_EQ(bias.factor, 2);
  ASSERT_EQ(bias.values.rows(), 550);
  for (Index row = 0; row < 550; ++row)
    for (Index col = 0; col < 550; ++col) {
      float expected = render::kMaskedCell;
      for (Index i = 2 * row; i < 2 * row + 2; ++i)
        for (Index j = 2 * col; j < 2 * col + 2; ++j) {
          if (std::isinf(sequence.attention.scores.at(1, i, j))) continue;
          const float value = sequence.mask.additive.at(0, i, j);
          if (expected == render::kMaskedCell || std::abs(value) > std::abs(expected)) expected = value;
        }
      ASSERT_EQ(bias.values(row, col), expected) << row << ", " << col;
    }
}

// Regression: a line that was just typed and selected was looked up in the previous snapshot.
TEST(HeadStudy, ClampsMissingLinesAndHeads) {
  app::Setup setup = plainSetup("a b c\nd e f g");
  setup.model.position = PositionKind::alibi;
  const auto snapshot = headSnapshot(setup);
  const Index heads = snapshot->config.heads;
  const HeadStudy last = studyHead({snapshot, 1, heads - 1});
  EXPECT_EQ(studyHead({snapshot, 2, heads - 1}).bias.values, last.bias.values);
  EXPECT_EQ(studyHead({snapshot, 99, heads + 3}).effect.values, last.effect.values);
  EXPECT_EQ(studyHead({snapshot, -1, 0}).bias.values, studyHead({snapshot, 0, 0}).bias.values);
  const auto empty = std::make_shared<const Snapshot>(computeSnapshot(plainSetup(""), test::kRoomy));
  EXPECT_EQ(studyHead({empty, 0, 0}).bias.values.size(), 0);
}

TEST(HeadStudy, StopsWhenAsked) {
  app::Setup setup = plainSetup("a b c");
  setup.model.position = PositionKind::alibi;
  setup.mask.compare = true;
  std::stop_source stop;
  stop.request_stop();
  const HeadStudy study = studyHead({headSnapshot(setup), 0, 0}, stop.get_token());
  EXPECT_EQ(study.effect.values.size(), 0);
  EXPECT_EQ(study.difference.values.size(), 0);
}

}  // namespace
}  // namespace headscope::app
