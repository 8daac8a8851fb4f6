// A map's q and k compared with the Snapshot's, which computes all heads at once.

#include "app/compute/map/map_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "attention/core/positions.h"
#include "attention/formats/safetensors.h"
#include "tests/app/compute/layer/snapshot_support.h"
#include "tests/support/safetensors_file.h"
#include "tests/support/small_problem.h"
#include "tests/support/temporary_folder.h"

namespace headscope::test {
namespace {

using namespace app;
using attention::Matrix;
using attention::Pooling;

const char* const kText = "the cat saw the dog . the dog saw the other cat and ran .";

attention::Result<std::optional<MapHead>> built(const Scene& scene, Index head = 0,
                                                const Limits& limits = kRoomy) {
  Resources resources(limits);
  return buildMapHead(mapQuestion(scene, head), resources);
}

MapHead mapped(const Setup& setup, Index head, Index sequence = 0) {
  Scene scene;
  scene.setup = setup;
  scene.cursor.sequence = sequence;
  auto found = built(scene, head);
  EXPECT_TRUE(found.ok()) << found.error().message;
  EXPECT_TRUE(found->has_value());
  return std::move(**found);
}

std::string refusal(const Scene& scene, const Limits& limits = kRoomy) {
  const auto found = built(scene, 0, limits);
  return found.ok() ? "" : found.error().message;
}

/// Expects every head's map to show the weights that the heads page computes.
void expectTheSnapshotsWeights(const Setup& setup) {
  const Snapshot snapshot = computed(setup);
  const float tolerance = weightTolerance(snapshot);
  for (std::size_t s = 0; s < snapshot.sequences.size(); ++s) {
    const attention::AttentionResult& expected = snapshot.sequences[s].attention;
    for (Index head = 0; head < setup.model.heads; ++head) {
      MapHead built = mapped(setup, head, static_cast<Index>(s));
      const attention::HeadField field = built.field;
      attention::HeadMap map(std::move(built.field));
      ASSERT_EQ(map.queries(), expected.weights.rows());
      ASSERT_EQ(map.keys(), expected.weights.cols());
      const Matrix found = map.weights({0, 0, map.queries(), map.keys(), 1}, Pooling::max);
      for (Index i = 0; i < found.rows(); ++i)
        for (Index j = 0; j < found.cols(); ++j) {
          const float score = expected.scores.at(head, i, j);
          const bool masked = std::isinf(score);
          ASSERT_EQ(masked, std::isinf(found(i, j))) << "head " << head << ", query " << i << ", key " << j;
          ASSERT_EQ(masked, std::isinf(mapScore(field, i, j).score()));
          if (masked) continue;
          ASSERT_NEAR(found(i, j), expected.weights.at(head, i, j), tolerance)
              << "head " << head << ", query " << i << ", key " << j;
          ASSERT_NEAR(mapScore(field, i, j).score(), score, scoreTolerance(snapshot));
        }
    }
  }
}

TEST(MapSource, MatchesSnapshotForAllPositionKinds) {
  for (const PositionKind position : {PositionKind::none, PositionKind::sinusoidal, PositionKind::rope,
                                      PositionKind::alibi, PositionKind::t5}) {
    SCOPED_TRACE(static_cast<int>(position));
    app::Setup setup = plainSetup(kText);
    setup.model.position = position;
    expectTheSnapshotsWeights(setup);
    setup.mask.layers = layersFrom("causal");
    expectTheSnapshotsWeights(setup);
  }
}

TEST(MapSource, MatchesSnapshotWithPlantedHeads) {
  Scene scene = openingScene();
  scene.setup.input.text = kText;
  expectTheSnapshotsWeights(scene.setup);
}

TEST(MapSource, MatchesSnapshotWithGroupsMasksAndBiases) {
  app::Setup setup = plainSetup(std::string(kText) + "\nand a shorter line");
  setup.model.heads = 4;
  setup.model.kvHeads = 2;
  setup.model.headDim = 6;
  setup.model.linked = false;
  setup.model.bias = true;
  setup.model.softcap = 3;
  setup.model.sharpness = 2;
  for (const char* mask : {"causal & window(4) & padding", "heads(0): window(2)", "packed", "!causal"}) {
    SCOPED_TRACE(mask);
    setup.mask.layers = layersFrom(mask);
    expectTheSnapshotsWeights(setup);
  }
}

TEST(MapSource, MatchesSnapshotForCrossAttentionAndTables) {
  app::Setup setup = plainSetup(kText);
  setup.input.cross = true;
  setup.input.contextText = "le chat a vu le chien";
  expectTheSnapshotsWeights(setup);
  app::Setup typed = plainSetup("");
  typed.input.source = EmbeddingSource::table;
  attention::Table table;
  table.values = Matrix::Random(9, typed.model.modelDim);
  typed.input.table = table;
  expectTheSnapshotsWeights(typed);
}

TEST(MapSource, EmbedsLongTextInParts) {
  // Longer than one part, so that positions have to continue from the previous part.
  Scene scene = openingScene();
  scene.map.source = MapSource::generated;
  scene.map.tokens = 5000;
  const auto found = built(scene);
  ASSERT_TRUE(found.ok());
  const MapHead& head = **found;
  ASSERT_EQ(head.field.q.rows(), 5000);
  ASSERT_EQ(head.text->queries.size(), 5000U);
  // Head 0 attends to the previous token, also across parts.
  attention::HeadMap map(head.field);
  for (const Index query : {2047, 2048, 2049, 4096, 4999}) {
    const Matrix row = map.weights({query, 0, 1, 5000, 1}, Pooling::max);
    Index brightest = 0;
    row.row(0).maxCoeff(&brightest);
    EXPECT_EQ(brightest, query - 1);
  }
}

TEST(MapSource, WorksAtMaximumLength) {
  Scene scene = openingScene();
  scene.map.source = MapSource::generated;
  scene.map.tokens = kMaxMapTokens;
  const auto found = built(scene);
  ASSERT_TRUE(found.ok());
  attention::HeadMap map((*found)->field);
  ASSERT_EQ(map.keys(), kMaxMapTokens);
  // Planted heads are built for thousands of tokens; the previous token is still the brightest among all of
  // them.
  for (const Index query : {100, 9000, 70000, 131071}) {
    const Matrix row = map.weights({query, 0, 1, kMaxMapTokens, 1}, Pooling::max);
    Index brightest = 0;
    const float most = row.row(0).maxCoeff(&brightest);
    EXPECT_EQ(brightest, query - 1);
    EXPECT_GT(most, 0.5f) << query;
  }
}

TEST(MapSource, ReadsAHeadFromAFile) {
  const TemporaryFolder folder;
  const auto path = folder / "QK.safetensors";
  attention::SafetensorsFile file;
  file.tensors["q"] = gaussianTensor({4, 5, 8}, 1);  // the last 5 of 9 tokens
  file.tensors["k"] = gaussianTensor({2, 9, 8}, 2);
  file.metadata["rope_theta"] = "10000";
  ASSERT_TRUE(attention::writeSafetensors(path, file).ok());
  Scene scene = openingScene();
  scene.map.source = MapSource::file;
  scene.map.file = path.string();
  scene.setup.mask.layers = layersFrom("causal");
  const auto found = built(scene, 3);
  ASSERT_TRUE(found.ok()) << found.error().message;
  const MapHead& head = **found;
  EXPECT_EQ(head.heads, 4);
  EXPECT_EQ(head.kvHeads, 2);
  EXPECT_EQ(head.layers, 1);
  EXPECT_EQ(head.field.head, 3);
  EXPECT_EQ(head.field.config.cacheLength, 4);
  // Head 3 reads kv head 1; both are rotated to their positions.
  Matrix q = attention::MatrixView(toFloats(file.tensors["q"], "q")->data() + 3 * 40, 5, 8);
  Matrix k = attention::MatrixView(toFloats(file.tensors["k"], "k")->data() + 72, 9, 8);
  attention::applyRope({q.data(), 5, 8}, 4, 10000);
  attention::applyRope({k.data(), 9, 8}, 0, 10000);
  EXPECT_EQ(head.field.q, q);
  EXPECT_EQ(head.field.k, k);
  attention::HeadMap map(head.field);
  const Matrix weights = map.weights({0, 0, 5, 9, 1}, Pooling::max);
  for (Index i = 0; i < 5; ++i)
    for (Index j = 0; j < 9; ++j) EXPECT_EQ(std::isinf(weights(i, j)), j > i + 4) << i << ", " << j;
}

TEST(MapSource, ReportsInvalidFiles) {
  const TemporaryFolder folder;
  Scene scene = openingScene();
  scene.map.source = MapSource::file;
  EXPECT_THAT(refusal(scene), testing::HasSubstr("No file chosen"));
  scene.map.file = (folder / "none.safetensors").string();
  EXPECT_THAT(refusal(scene), testing::HasSubstr("none.safetensors"));
  attention::SafetensorsFile file;
  file.tensors["q"] = gaussianTensor({5, 8}, 1);
  file.tensors["k"] = gaussianTensor({5, 6}, 2);
  scene.map.file = (folder / "sizes.safetensors").string();
  ASSERT_TRUE(attention::writeSafetensors(scene.map.file, file).ok());
  EXPECT_THAT(refusal(scene), testing::HasSubstr("sizes.safetensors"));
  file.tensors["k"] = gaussianTensor({5, 8}, 2);
  ASSERT_TRUE(attention::writeSafetensors(scene.map.file, file).ok());
  EXPECT_EQ(refusal(scene), "");
  scene.map.layer = 1;
  EXPECT_THAT(refusal(scene), testing::HasSubstr("1 layer"));
}

TEST(MapSource, RefusesOversizedAndInvalidText) {
  Scene scene = openingScene();
  std::string text;
  for (Index i = 0; i <= kMaxMapTokens; ++i) text += "a ";
  scene.setup.input.text = text;
  EXPECT_THAT(refusal(scene), testing::AllOf(testing::HasSubstr("131073"), testing::HasSubstr("131072")));
  text.resize(2 * kMaxMapTokens);
  scene.setup.input.text = text;
  EXPECT_EQ(refusal(scene), "");
  EXPECT_THAT(refusal(scene, {1 << 20}), testing::HasSubstr("budget"));
  scene.setup.input.text = "\xFF";
  EXPECT_THAT(refusal(scene), testing::HasSubstr("UTF-8"));
}

TEST(MapSource, BlankTextGivesNoMap) {
  Scene scene = openingScene();
  scene.setup.input.text = " \n";
  const auto found = built(scene);
  ASSERT_TRUE(found.ok());
  EXPECT_FALSE(found->has_value());
}

TEST(MapSource, QuestionChangesOnlyWithMapInputs) {
  Scene scene = openingScene(), other = scene;
  other.look.range = RangeMode::logarithmic;
  other.map.pooling = Pooling::mean;
  other.setup.prefill = 9;
  other.cursor.map.row = 3;
  EXPECT_EQ(mapQuestion(scene, 1), mapQuestion(other, 1));
  EXPECT_NE(mapQuestion(scene, 1), mapQuestion(scene, 2));
  scene.map.source = other.map.source = MapSource::generated;
  other.setup.input.text = "something else";
  EXPECT_EQ(mapQuestion(scene, 1), mapQuestion(other, 1)) << "the typed text is not what is mapped";
  other.map.seed = 2;
  EXPECT_NE(mapQuestion(scene, 1), mapQuestion(other, 1));
}

TEST(GeneratedText, IsDeterministicWithRequestedLength) {
  for (const auto how :
       {attention::Tokenization::words, attention::Tokenization::characters, attention::Tokenization::bytes})
    for (const Index n : {256, 1000, 4321}) {
      const auto text = generatedText(n, 5, how);
      EXPECT_EQ(static_cast<Index>(text.size()), n);
      EXPECT_EQ(text, generatedText(n, 5, how));
      EXPECT_NE(text, generatedText(n, 6, how));
    }
}

TEST(GeneratedText, ShorterTextIsAPrefixAndWordsRepeat) {
  const auto text = generatedText(20000, 1, attention::Tokenization::words);
  const auto shorter = generatedText(300, 1, attention::Tokenization::words);
  EXPECT_TRUE(std::equal(shorter.begin(), shorter.end(), text.begin()));
  std::map<std::string, int> counts;
  for (const attention::Token& token : text) ++counts[token.text];
  EXPECT_LT(counts.size(), 200U);
  EXPECT_GT(counts["."], 1000);
}

}  // namespace
}  // namespace headscope::test
