#include <gtest/gtest.h>

#include <cmath>

#include "app/compute/layer/layer_inputs.h"
#include "app/compute/layer/mask_inputs.h"
#include "app/scene/mask_rules.h"
#include "app/scene/text/number_text.h"
#include "tests/app/compute/layer/snapshot_support.h"
#include "tests/app/scene/random_scene.h"
#include "tests/support/matchers.h"

namespace headscope::app {
namespace {

using attention::Matrix;
using attention::Stack;
using test::computed;
using test::layersFrom;
using test::plainSetup;
using test::refused;
using test::sameBits;

/// A setup with two masks, and a setup whose only mask is the second one.
std::pair<app::Setup, app::Setup> twoMasks(app::Setup setup, const char* first, const char* second) {
  setup.mask.layers = layersFrom(first);
  setup.mask.other = layersFrom(second);
  setup.mask.compare = true;
  app::Setup alone = setup;
  std::swap(alone.mask.layers, alone.mask.other);
  alone.mask.compare = false;
  return {setup, alone};
}

TEST(SnapshotMask, MaskGivesSameResultInEitherSlot) {
  const std::pair<const char*, const char*> masks[] = {
      {"causal & padding", "window(2)"},
      {"", "causal & padding"},
      {"!full", "heads(even): causal & (sinks(1) | window(3))"},
      {"packed([3]) & padding", "documents(full, starts=[2, 4])"},
      {"causal", "causal & painted(\"p\")"}};
  for (const PositionKind position : {PositionKind::sinusoidal, PositionKind::rope, PositionKind::alibi})
    for (const auto& [first, second] : masks) {
      app::Setup setup = plainSetup("a b c d e f g\nh i j");
      setup.model.position = position;
      setup.model.kvHeads = 2;
      setup.model.softcap = position == PositionKind::alibi ? 3 : 0;
      setup.mask.additive = attention::Table{{}, Matrix::Random(7, 7)};
      attention::CellTable painting{1, 4, 4, std::vector<std::shared_ptr<const attention::CellRow>>(4)};
      painting.rows[2] = std::make_shared<const attention::CellRow>(attention::CellRow{{}, {{0, 2}}});
      setup.mask.paintings["p"] = painting;
      const auto [both, alone] = twoMasks(setup, first, second);
      const Snapshot compared = computed(both), other = computed(alone);
      for (std::size_t s = 0; s < compared.sequences.size(); ++s) {
        const attention::AttentionResult &found = compared.sequences[s].other->attention,
                                         &expected = other.sequences[s].attention;
        EXPECT_TRUE(sameBits(found.q, expected.q));
        EXPECT_TRUE(sameBits(found.scores, expected.scores)) << first << " and " << second;
        EXPECT_TRUE(sameBits(found.weights, expected.weights));
        EXPECT_TRUE(sameBits(found.lse, expected.lse));
        EXPECT_TRUE(sameBits(found.headOutput, expected.headOutput));
        EXPECT_TRUE(found.k.empty() && found.v.empty()) << "they are the first's";
        const HeadPictures &pictured = compared.sequences[s].other->pictures,
                           &pictures = other.sequences[s].pictures;
        ASSERT_EQ(pictured.levels.size(), pictures.levels.size());
        EXPECT_TRUE(sameBits(pictured.levels[0].weights, pictures.levels[0].weights));
        const attention::MaskComparison change =
            attention::compareMasks(compared.sequences[s].attention, expected);
        EXPECT_TRUE(sameBits(compared.sequences[s].other->comparison.movedMass, change.movedMass));
        EXPECT_TRUE(sameBits(compared.sequences[s].other->comparison.outputChange, change.outputChange));
      }
    }
}

/// With T5, both masks use the first mask's buckets: the comparison is of masks, not of biases.
TEST(SnapshotMask, BothMasksShareBiases) {
  app::Setup setup = plainSetup("a b c d e f g");
  setup.model.position = PositionKind::t5;
  const Snapshot snapshot = computed(twoMasks(setup, "causal", "full").first);
  const attention::AttentionResult &first = snapshot.sequences[0].attention,
                                   &other = snapshot.sequences[0].other->attention;
  for (Index head = 0; head < 4; ++head)
    for (Index i = 0; i < 7; ++i)
      for (Index j = 0; j <= i; ++j) EXPECT_EQ(first.scores.at(head, i, j), other.scores.at(head, i, j));
}

TEST(SnapshotMask, ComparingLeavesFirstMaskUnchanged) {
  const auto [both, alone] = twoMasks(plainSetup("a b c d\ne f"), "full", "causal");
  app::Setup without = both;
  without.mask.compare = false;
  const Snapshot compared = computed(both), plain = computed(without);
  for (std::size_t s = 0; s < 2; ++s)
    EXPECT_TRUE(sameBits(compared.sequences[s].attention, plain.sequences[s].attention));
  EXPECT_FALSE(plain.sequences[0].other);
  EXPECT_GT(compared.bytes, plain.bytes);
}

/// The same mask twice moves nothing.
TEST(SnapshotMask, MaskComparedWithItselfShowsNoChange) {
  const Snapshot snapshot = computed(twoMasks(plainSetup("a b c d\ne f"), "causal", "causal").first);
  for (const SequenceSnapshot& sequence : snapshot.sequences) {
    EXPECT_TRUE(sequence.other->comparison.movedMass.isZero(0));
    EXPECT_TRUE(sequence.other->comparison.entropyChange.isZero(0));
    EXPECT_TRUE(sequence.other->comparison.outputChange.isZero(0));
  }
}

/// The budget includes the second mask's results.
TEST(SnapshotMask, ComparingNeedsTwiceTheMemory) {
  app::Setup setup = plainSetup("a b c");
  const std::uint64_t once = attention::attentionResultBytes(configOf(setup), 3, 3);
  const std::uint64_t inputs = 3 * 32 * sizeof(float);
  setup.mask.compare = true;
  // The same amount again, because the last picture stays until the next one is computed.
  EXPECT_EQ(refused(setup, {2 * (2 * once + inputs) - 1}).place, Place::memory);
  EXPECT_FALSE(computeSnapshot(setup, Limits{2 * (2 * once + inputs)}).error);
  setup.mask.compare = false;
  EXPECT_FALSE(computeSnapshot(setup, Limits{2 * (once + inputs)}).error);
}

TEST(SnapshotMask, AddsAdditiveMatrixToAllHeadsAndLines) {
  app::Setup setup = plainSetup("a b c d\ne f");
  const Snapshot plain = computed(setup);
  setup.mask.additive = attention::Table{{}, Matrix::Zero(4, 4)};
  EXPECT_TRUE(computed(setup).sequences[0].mask.additive.empty()) << "nothing is added";
  setup.mask.additive.edit().values(0, 1) = 1;
  setup.mask.additive.edit().values(1, 0) = -2;
  const Snapshot added = computed(setup);
  const float tolerance = test::scoreTolerance(added);
  for (std::size_t s = 0; s < 2; ++s)
    for (Index head = 0; head < 4; ++head)
      for (Index i = 0; i < 4; ++i)
        for (Index j = 0; j < 4; ++j) {
          if (j >= plain.sequences[s].keyLength) continue;
          const float expected = i == 0 && j == 1 ? 1.0F : i == 1 && j == 0 ? -2.0F : 0.0F;
          EXPECT_NEAR(added.sequences[s].attention.scores.at(head, i, j) -
                          plain.sequences[s].attention.scores.at(head, i, j),
                      expected, tolerance);
        }
}

TEST(SnapshotMask, RefusesAdditiveMatrixOfWrongSize) {
  app::Setup setup = plainSetup("a b c d\ne f");
  for (const auto& [rows, cols] : {std::pair<Index, Index>{4, 6}, {2, 2}, {9, 4}}) {
    setup.mask.additive = attention::Table{{}, Matrix::Constant(rows, cols, 0.5F)};
    const PlacedError error = refused(setup);
    EXPECT_EQ(error.place, Place::mask);
    EXPECT_EQ(error.message, "The added matrix is " + std::to_string(rows) + " × " + std::to_string(cols) +
                                 ", expected 4 × 4: a row for each query, a column for each key.");
  }
  setup.mask.additive = attention::Table{{}, Matrix::Zero(9, 9)};
  EXPECT_FALSE(computed(setup).error) << "of nothing there is no wrong size";
}

/// In the window, the text changes while the matrix is kept at its size.
TEST(SnapshotMask, AdditiveMatrixFollowsTextLength) {
  app::Setup setup = plainSetup("a b c d");
  setup.mask.additive = attention::Table{{}, Matrix::Constant(4, 4, 0.5F)};
  const auto type = [&](const std::string& text) {
    const InputSetup before = setup.input;
    setup.input.text = text;
    fitAdditive(before, setup);
    return setup.mask.additive->values;
  };
  Matrix larger = Matrix::Zero(5, 5);
  larger.topLeftCorner(4, 4).setConstant(0.5F);
  EXPECT_EQ(type("a b c d e"), larger);
  EXPECT_FALSE(computed(setup).error);
  EXPECT_EQ(type("a b"), Matrix::Constant(2, 2, 0.5F));
  EXPECT_EQ(type(""), Matrix::Constant(2, 2, 0.5F)) << "nothing has no size";
  EXPECT_EQ(type("a"), Matrix::Constant(1, 1, 0.5F));
  setup.mask.additive = attention::Table{{}, Matrix::Constant(3, 9, 1)};
  EXPECT_EQ(type("a b c"), Matrix::Constant(3, 9, 1)) << "it never fitted";
}

/// In a scene with two texts, positions decide as they do in one text.
TEST(SnapshotMask, CausalMaskComparesPositionsAcrossTexts) {
  app::Setup setup = plainSetup("a b c");
  setup.input.cross = true;
  setup.input.contextText = "u v w x y";
  setup.mask.layers = layersFrom("causal");
  const Snapshot snapshot = computed(setup);
  for (Index i = 0; i < 3; ++i)
    for (Index j = 0; j < 5; ++j)
      EXPECT_EQ(snapshot.sequences[0].attention.scores.at(0, i, j) != -INFINITY, j <= i) << i << ", " << j;
}

TEST(SnapshotMask, NamesLayersOmittedFromEveryLine) {
  app::Setup setup = plainSetup("a b\nc d");
  setup.mask.layers =
      layersFrom("causal & sequences(1): sinks(1) & off: window(3) & (heads(60): packed | full)");
  setup.mask.compare = true;
  setup.mask.other = layersFrom("sequences(7): causal");
  const auto omitted = omittedLayers(setup);
  ASSERT_EQ(omitted.size(), 3u);
  EXPECT_EQ(omitted[0].text + ", " + omitted[0].reason, "off: window(3), switched off");
  EXPECT_EQ(omitted[1].text, "heads(60): packed");
  EXPECT_EQ(omitted[2].text + ", " + omitted[2].reason,
            "mask B: sequences(7): causal, for sequences other than 0");
}

/// Step by step through the cache, each row gets its own part of every mask and bias.
TEST(SnapshotMask, DecodesUnderAnyCausalMask) {
  for (const char* expression :
       {"causal & !(window(2) & packed([5]))", "streaming(sinks=2, window=3)", "strided(3)",
        "heads(even): window(2) & causal", "chunked(4)", "shared_prefix([4, 7])", "tree(prefix=2)",
        "causal then painted(\"p\")", "!full"}) {
    app::Setup setup = plainSetup("a b c d e f g h i j\nk l m n");
    setup.mask.layers = layersFrom(expression);
    setup.mask.additive = attention::Table{{}, Matrix::Random(10, 10)};
    attention::CellTable painting{1, 9, 9, std::vector<std::shared_ptr<const attention::CellRow>>(9)};
    painting.rows[6] = std::make_shared<const attention::CellRow>(attention::CellRow{{}, {{1, 4}}});
    setup.mask.paintings["p"] = painting;
    setup.prefill = 3;
    const Snapshot snapshot = computed(setup);
    for (const SequenceSnapshot& sequence : snapshot.sequences) {
      EXPECT_TRUE(sequence.decode.applies) << expression;
      EXPECT_EQ(sequence.decode.steps, sequence.queryLength - 3);
      const Index terms = snapshot.config.heads * snapshot.config.headDim;
      EXPECT_LE(sequence.decode.maxDifference, static_cast<float>(terms) * test::outputTolerance(snapshot))
          << expression;
      EXPECT_LT(sequence.decode.maxDifference, 1e-3F);
    }
  }
}

TEST(SnapshotMask, PatternsFollowTextMarks) {
  app::Setup setup = plainSetup("a b c d e f\ng h i j k l");
  setup.mask.layers = layersFrom("packed");
  setup.mask.marks.edit().resize(1);
  setup.mask.marks.edit()[0].documentStarts = {{2, 4}};
  const Snapshot snapshot = computed(setup);
  const auto sees = [&](std::size_t sequence, Index i, Index j) {
    return snapshot.sequences[sequence].mask.formula->visible(0, i, j);
  };
  for (Index i = 0; i < 6; ++i)
    for (Index j = 0; j < 6; ++j) {
      EXPECT_EQ(sees(0, i, j), j <= i && i / 2 == j / 2) << i << ", " << j;
      EXPECT_EQ(sees(1, i, j), j <= i) << "a line without marks has one document here";
    }
}

TEST(SnapshotMask, ReportsWhichMaskDoesNotFitText) {
  app::Setup setup = plainSetup("a b c d");
  setup.mask.layers = layersFrom("packed([9])");
  EXPECT_EQ(refused(setup).place, Place::mask);
  EXPECT_THAT(refused(setup).message, HasSubstr("9, but there are 4 keys"));
  const auto [both, alone] = twoMasks(setup, "causal", "painted(\"gone\")");
  EXPECT_EQ(refused(both).place, Place::mask);
  EXPECT_EQ(refused(both).message, "Mask B: " + refused(alone).message);
}

}  // namespace
}  // namespace headscope::app
