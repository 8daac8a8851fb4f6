// Embeddings changed by hand.

#include <gtest/gtest.h>

#include "app/compute/heads/lab_studies.h"
#include "app/scene/model_fit.h"
#include "app/scene/models/open_model.h"
#include "app/scene/models/scene_model.h"
#include "tests/app/compute/layer/snapshot_support.h"
#include "tests/support/matchers.h"

namespace headscope::app {
namespace {

using test::computed;
using test::sameBits;

std::shared_ptr<const EmbeddingStudy> studied(const Scene& scene, EmbeddingAxes axes = {},
                                              Index sequence = 0) {
  const auto study = studyEmbedding(embeddingQuestion(scene.setup, sequence, axes, nullptr));
  EXPECT_TRUE(study.ok()) << study.error().message;
  return *study;
}

TEST(EmbeddingStudy, TableOfATextReproducesItsHeadsExactly) {
  for (const WeightSource source : {WeightSource::planted, WeightSource::random})
    for (const PositionKind position : {PositionKind::sinusoidal, PositionKind::rope, PositionKind::none}) {
      Scene scene = openingScene();
      scene.setup.weights.source = source;
      scene.setup.model.position = position;
      const Snapshot typed = computed(scene.setup);
      const SharedText text = scene.setup.input.text;
      takeOwnTable(scene, studied(scene)->table);
      EXPECT_EQ(scene.setup.weights.source, source);
      EXPECT_EQ(scene.setup.input.text, text) << "the text stays";
      const Snapshot table = computed(scene.setup);
      EXPECT_TRUE(sameBits(table.sequences[0].attention, typed.sequences[0].attention));
      EXPECT_EQ(table.sequences[0].queries, typed.sequences[0].queries) << "separators too";
      EXPECT_TRUE(studied(scene)->table == studied(scene)->table);
      scene.setup.input.source = EmbeddingSource::text;
      EXPECT_TRUE(sameBits(computed(scene.setup).sequences[0].attention, typed.sequences[0].attention));
    }
}

TEST(EmbeddingStudy, StudiesTheShownLineWithoutPadding) {
  Scene scene = openingScene();
  scene.setup.input.text = std::string("one two three\nfour five");
  EXPECT_EQ(studied(scene, {}, 1)->table.names, (std::vector<std::string>{"four", "five"}));
  EXPECT_EQ(studied(scene, {}, 9)->table.values.rows(), 2);
}

TEST(EmbeddingStudy, ProjectsVectorsOntoThePlane) {
  const Scene scene = openingScene();
  const auto principal = studied(scene);
  EXPECT_EQ(principal->points.rows(), 12);
  EXPECT_LT(principal->points.colwise().mean().norm(), 1e-4f) << "about their mean";
  const auto plain = studied(scene, {100, 7});
  EXPECT_TRUE(plain->points.col(0) == plain->table.values.col(100));
  EXPECT_TRUE(plain->points.col(1) == plain->table.values.col(7));
  const auto kept = studyEmbedding(embeddingQuestion(scene.setup, 0, {}, plain->plane));
  EXPECT_TRUE((*kept)->keptPlane);
  EXPECT_EQ((*kept)->plane, plain->plane);
}

TEST(EmbeddingStudy, ExplainsWhyVectorsCannotBeEdited) {
  Scene cross = openingScene();
  cross.setup.input.cross = true;
  cross.setup.input.contextText = kSampleContext;
  EXPECT_THAT(studyEmbedding(embeddingQuestion(cross.setup, 0, {}, nullptr)).error().message,
              HasSubstr("two texts"));
  Scene model = openingScene();
  adoptModel(model, kLearned, *openModel(kLearned));
  EXPECT_THAT(studyEmbedding(embeddingQuestion(model.setup, 0, {}, nullptr)).error().message,
              HasSubstr("model's embeddings"));
}

attention::Table smallTable() {
  attention::Table table{{"a", "b", "c"}, attention::Matrix(3, 2)};
  table.values << 1, 2, 3, 4, 5, 6;
  return table;
}

TEST(TableTokens, SwapsDuplicatesRemovesAndInserts) {
  attention::Table table = smallTable();
  swapTokens(table, 0, 2);
  EXPECT_EQ(table.names, (std::vector<std::string>{"c", "b", "a"}));
  EXPECT_EQ(table.values(0, 1), 6);
  swapTokens(table, 2, 0);
  EXPECT_TRUE(table == smallTable());
  duplicateToken(table, 1);
  EXPECT_EQ(table.names, (std::vector<std::string>{"a", "b", "b", "c"}));
  EXPECT_EQ(table.values(2, 0), 3);
  removeToken(table, 2);
  EXPECT_TRUE(table == smallTable());
  insertToken(table, 3, "new");
  EXPECT_EQ(table.names.back(), "new");
  EXPECT_EQ(table.values(3, 0), 3) << "the mean";
  EXPECT_THROW(removeToken(table, 4), std::invalid_argument);
  EXPECT_THROW(swapTokens(table, -1, 0), std::invalid_argument);
  EXPECT_THROW(insertToken(table, 5, "x"), std::invalid_argument);
}

TEST(PastedTable, ReportsRaggedRowsInOneSentence) {
  const auto ragged = pastedTable("a,1,2,3\nb,4,5\n");
  ASSERT_FALSE(ragged.ok());
  EXPECT_THAT(ragged.error().message, testing::AllOf(HasSubstr("the clipboard"), HasSubstr("2")));
  EXPECT_EQ(ragged.error().message.find('\n'), std::string::npos);
  EXPECT_FALSE(pastedTable("").ok());
  ASSERT_TRUE(pastedTable("a,1\nb,2\n").ok());
}

}  // namespace
}  // namespace headscope::app
