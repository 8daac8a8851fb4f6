#include <gtest/gtest.h>

#include <cmath>

#include "app/scene/mask_rules.h"
#include "attention/masks/runs.h"
#include "tests/app/compute/layer/snapshot_support.h"
#include "tests/support/matchers.h"

namespace headscope::app {
namespace {

using attention::Matrix;
using test::computed;
using test::plainSetup;
using test::refused;

const std::vector<std::string> kLines = {"one two", "the quick brown fox jumps", "hello", "a b c"};

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

/// Setups that padding could affect: causal or not, windows, positions, kv groups, planted heads.
std::vector<app::Setup> variants() {
  std::vector<app::Setup> setups;
  for (const bool causal : {true, false})
    for (const PositionKind position :
         {PositionKind::sinusoidal, PositionKind::rope, PositionKind::alibi, PositionKind::t5}) {
      app::Setup setup = plainSetup(joined(kLines));
      setup.mask.layers = layersOf({.causal = causal});
      setup.model.position = position;
      setups.push_back(setup);
      setup.model.kvHeads = 2;
      setup.model.bias = true;
      setup.model.softcap = 3;
      setup.mask.layers = layersOf({.causal = causal, .window = 2, .sinks = 1});
      setups.push_back(setup);
      setup = plainSetup(joined(kLines));
      setup.mask.layers = layersOf({.causal = causal});
      setup.model.position = position;
      setup.model.headDim = 16;
      setup.model.modelDim = 64;
      setup.weights.source = WeightSource::planted;
      setups.push_back(setup);
    }
  return setups;
}

/// The largest difference between the weights of real rows and keys in `padded` and those in `alone`.
float weightDifference(const SequenceSnapshot& padded, const SequenceSnapshot& alone) {
  const Index n = alone.attention.weights.rows(), m = alone.attention.weights.cols();
  float most = 0;
  for (Index head = 0; head < alone.attention.weights.count(); ++head) {
    const Matrix difference =
        padded.attention.weights[head].topLeftCorner(n, m) - alone.attention.weights[head];
    most = std::max(most, difference.cwiseAbs().maxCoeff());
  }
  return most;
}

float outputDifference(const SequenceSnapshot& padded, const SequenceSnapshot& alone) {
  const Index n = alone.attention.headOutput.rows();
  float most = 0;
  for (Index head = 0; head < alone.attention.headOutput.count(); ++head) {
    const Matrix difference = padded.attention.headOutput[head].topRows(n) - alone.attention.headOutput[head];
    most = std::max(most, difference.cwiseAbs().maxCoeff());
  }
  return most;
}

TEST(SnapshotBatch, PaddedLinesMatchSingleLines) {
  for (const app::Setup& setup : variants()) {
    const Snapshot batch = computed(setup);
    ASSERT_EQ(batch.sequences.size(), kLines.size());
    for (std::size_t i = 0; i < kLines.size(); ++i) {
      app::Setup one = setup;
      one.input.text = kLines[i];
      const Snapshot alone = computed(one);
      const SequenceSnapshot& padded = batch.sequences[i];
      EXPECT_EQ(padded.queryLength, alone.sequences[0].queryLength);
      EXPECT_EQ(padded.queries.size(), 5u);
      EXPECT_LE(weightDifference(padded, alone.sequences[0]), test::weightTolerance(batch)) << kLines[i];
      EXPECT_LE(outputDifference(padded, alone.sequences[0]), test::outputTolerance(batch)) << kLines[i];
      for (Index head = 0; head < alone.config.heads; ++head) {
        const attention::HeadLabel label = alone.sequences[0].label(head);
        if (std::isfinite(label.score) && setup.weights.source == WeightSource::planted) {
          EXPECT_EQ(attention::describe(padded.label(head)), attention::describe(label));
        }
      }
    }
  }
}

TEST(SnapshotBatch, HidesEveryPaddedKey) {
  const Snapshot batch = computed(plainSetup(joined(kLines)));
  for (const SequenceSnapshot& sequence : batch.sequences)
    for (Index head = 0; head < 4; ++head) {
      const auto keys = static_cast<Index>(sequence.keys.size());
      EXPECT_EQ(sequence.attention.weights[head].rightCols(keys - sequence.keyLength).sum(), 0.0F);
    }
  const auto seen = [](const SequenceSnapshot& sequence) {
    attention::KeyRuns runs;
    sequence.mask.formula->visibleRuns(0, 0, runs);
    return runs;
  };
  EXPECT_EQ(seen(batch.sequences[1]), (attention::KeyRuns{{0, 5}})) << "the longest line has no padding";
  EXPECT_EQ(seen(batch.sequences[2]), (attention::KeyRuns{{0, 1}}));
  EXPECT_EQ(batch.sequences[2].queries.back().text, "<pad>");
}

/// Why the padding mask is needed: without it, pads take part wherever a query sees them.
TEST(SnapshotBatch, PadsTakePartWithoutPaddingMask) {
  for (const bool causal : {false, true}) {
    app::Setup setup = plainSetup(joined(kLines)), alone = setup;
    setup.mask.layers = alone.mask.layers = layersOf({.causal = causal, .padding = false});
    alone.input.text = kLines[2];
    const Snapshot batch = computed(setup), single = computed(alone);
    EXPECT_TRUE(batch.sequences[2].mask.formula->visible(0, 4, 4)) << "a pad sees itself";
    const float difference = weightDifference(batch.sequences[2], single.sequences[0]);
    if (causal) {
      EXPECT_LE(difference, test::weightTolerance(batch)) << "causal queries never see what follows them";
    } else {
      // The line has one real key of five, which held all of the weight.
      EXPECT_GT(difference, 0.01F);
    }
  }
}

/// The decode check and the detectors leave out pads as well.
TEST(SnapshotBatch, DecodesOnlyRealTokens) {
  app::Setup setup = plainSetup(joined(kLines));
  setup.mask.layers = layersOf({});
  setup.prefill = 2;
  const Snapshot batch = computed(setup);
  for (const SequenceSnapshot& sequence : batch.sequences)
    EXPECT_EQ(sequence.decode.prefill + sequence.decode.steps, sequence.queryLength);
}

TEST(SnapshotBatch, IgnoresEmptyLines) {
  const Snapshot batch = computed(plainSetup("\n\none two\n   \r\n\nthree\n\n"));
  ASSERT_EQ(batch.sequences.size(), 2u);
  EXPECT_EQ(batch.sequences[1].queryLength, 1);
}

TEST(SnapshotBatch, EachLineDrawsItsOwnDropout) {
  app::Setup setup = plainSetup("a b c d e f\na b c d e f");
  setup.mask.layers = {};
  setup.model.dropout = 0.5F;
  const Snapshot snapshot = computed(setup);
  const auto &first = snapshot.sequences[0].attention, &second = snapshot.sequences[1].attention;
  EXPECT_TRUE(test::sameBits(first.scores, second.scores));
  int apart = 0;
  for (Index head = 0; head < first.weights.count(); ++head)
    for (Index i = 0; i < 6; ++i)
      for (Index j = 0; j < 6; ++j)
        apart += (first.weights.at(head, i, j) == 0) != (second.weights.at(head, i, j) == 0);
  EXPECT_GT(apart, 36) << "of 144 cells half differ by chance";
}

app::Setup crossSetup(const std::string& text, const std::string& context) {
  app::Setup setup = plainSetup(text);
  setup.input.cross = true;
  setup.input.contextText = context;
  return setup;
}

TEST(SnapshotCross, QueriesReadAnotherText) {
  const Snapshot snapshot = computed(crossSetup("le chat", "the cat sat down"));
  const SequenceSnapshot& sequence = snapshot.sequences[0];
  EXPECT_EQ(sequence.attention.weights.rows(), 2);
  EXPECT_EQ(sequence.attention.weights.cols(), 4);
  EXPECT_EQ(sequence.keys[1].text, "cat");
}

TEST(SnapshotCross, OneContextServesAllLines) {
  const Snapshot shared = computed(crossSetup("a\nb c\nd", "x y z"));
  const Snapshot each = computed(crossSetup("a\nb c\nd", "x y z\nx y z\nx y z"));
  ASSERT_EQ(shared.sequences.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_TRUE(test::sameBits(shared.sequences[i].attention, each.sequences[i].attention));
}

TEST(SnapshotCross, PadsContextsOfDifferentLength) {
  const Snapshot batch = computed(crossSetup("a\nb c", "x\nx y z"));
  const Snapshot alone = computed(crossSetup("a", "x"));
  EXPECT_EQ(batch.sequences[0].keyLength, 1);
  EXPECT_EQ(batch.sequences[0].keys.size(), 3u);
  EXPECT_LE(weightDifference(batch.sequences[0], alone.sequences[0]), test::weightTolerance(batch));
}

TEST(SnapshotCross, ReportsInvalidContexts) {
  for (const char* nothing : {"", "  \n\t\n"}) {
    const PlacedError error = refused(crossSetup("a b", nothing));
    EXPECT_EQ(error.place, Place::context);
    EXPECT_THAT(error.message, HasSubstr("needs a context"));
  }
  PlacedError error = refused(crossSetup("a\nb\nc", "x\ny"));
  EXPECT_EQ(error.place, Place::context);
  EXPECT_THAT(error.message, HasSubstr("2 lines and the text 3"));
  error = refused(crossSetup("a", "x\ny"));
  EXPECT_EQ(error.place, Place::context);
  error = refused(crossSetup("a", "caf\xE9"));
  EXPECT_EQ(error.place, Place::context);
  EXPECT_THAT(error.message, HasSubstr("UTF-8"));
  std::string tall;
  for (Index i = 0; i <= kMaxTokens; ++i) tall += "w ";
  error = refused(crossSetup("a", tall));
  EXPECT_EQ(error.place, Place::context);
  EXPECT_THAT(error.message, HasSubstr("2049 tokens"));
}

TEST(SnapshotCross, TextWithoutTokensIsEmpty) {
  const Snapshot snapshot = computeSnapshot(crossSetup("", ""), test::kRoomy);
  EXPECT_TRUE(snapshot.empty);
  EXPECT_FALSE(snapshot.error);
}

/// In another text, the same word counts wherever it is, even after the query's own position.
TEST(SnapshotCross, RecognisesTheSameTokenInAnotherText) {
  app::Setup setup = openingScene().setup;
  setup.input.text = "red green blue black white grey";
  setup.input.cross = true;
  setup.input.contextText = "here they stand after all others : red green blue black white grey";
  setup.weights.planted.assign(8, {attention::Behaviour::sameToken, 1});
  setup.model.position = PositionKind::none;
  setup.mask.layers = {};
  const Snapshot snapshot = computed(setup);
  for (Index head = 0; head < 8; ++head)
    EXPECT_EQ(attention::describe(snapshot.sequences[0].label(head)), "same token");
}

}  // namespace
}  // namespace headscope::app
