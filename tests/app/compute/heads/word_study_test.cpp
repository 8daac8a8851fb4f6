// The vectors of a scene's words, and what another vector changes.

#include "app/compute/heads/word_study.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "app/compute/heads/word_aim.h"
#include "app/scene/model_fit.h"
#include "app/scene/models/open_model.h"
#include "app/scene/models/scene_model.h"
#include "tests/app/compute/layer/snapshot_support.h"
#include "tests/support/matchers.h"

namespace headscope::app {
namespace {

using test::computed;

std::shared_ptr<const WordStudy> wordsOf(const Scene& scene) {
  const auto study = studyWords(embeddingQuestion(scene.setup, 0, {}, nullptr));
  EXPECT_TRUE(study.ok()) << study.error().message;
  return *study;
}

TEST(WordStudy, KnowsWhichNumbersHoldTheWord) {
  Scene scene = openingScene();
  const auto planted = wordsOf(scene);
  EXPECT_EQ(planted->queries, 12);
  EXPECT_TRUE(planted->fixed.empty());
  EXPECT_GT(planted->wordAt, 0);
  EXPECT_EQ(planted->wordAt + planted->wordCount, planted->table.values.cols());
  // Two words differ in this part alone.
  const attention::Matrix& values = planted->table.values;
  EXPECT_TRUE(values.row(1).head(planted->wordAt) == values.row(2).head(planted->wordAt));
  EXPECT_FALSE(values.row(1) == values.row(2));
  scene.setup.weights.source = WeightSource::random;
  EXPECT_EQ(wordsOf(scene)->wordAt, 0);
  EXPECT_EQ(wordsOf(scene)->wordCount, 256);
}

TEST(WordStudy, HasTheWordsOfBothTextsAndOfModels) {
  Scene cross = openingScene();
  cross.setup.input.cross = true;
  cross.setup.input.contextText = kSampleContext;
  const auto both = wordsOf(cross);
  EXPECT_EQ(both->queries, 12);
  EXPECT_GT(both->table.values.rows(), 20);
  EXPECT_EQ(both->table.names[12], "Das");
  EXPECT_EQ(both->points.rows(), both->table.values.rows());
  EXPECT_FALSE(both->fixed.empty());
  Scene model = openingScene();
  adoptModel(model, kLearned, *openModel(kLearned));
  const auto learned = wordsOf(model);
  EXPECT_TRUE(learned->learned);
  EXPECT_FALSE(learned->fixed.empty());
  EXPECT_EQ(learned->table.values.rows(), std::ssize(computed(model.setup).sequences[0].queries));
  EXPECT_GT(learned->table.values.norm(), 0);
}

TEST(WordStudy, SaysWhyThereIsNothing) {
  Scene empty = openingScene();
  empty.setup.input.text = std::string();
  EXPECT_FALSE(studyWords(embeddingQuestion(empty.setup, 0, {}, nullptr)).ok());
  Scene wide = openingScene();
  takeOwnTable(wide, wordsOf(wide)->table);
  wide.setup.model.modelDim = 128;
  EXPECT_FALSE(studyWords(embeddingQuestion(wide.setup, 0, {}, nullptr)).ok());
}

TEST(WordStudy, CountsTheWeightsThatAVectorChanges) {
  Scene scene = openingScene();
  const auto before = std::make_shared<const Snapshot>(computed(scene.setup));
  const auto same = studyChanges({before, before, 0, 0});
  EXPECT_EQ(same.cells, std::vector<Index>(8, 0));
  attention::Table table = wordsOf(scene)->table;
  table.values.row(7) = table.values.row(1);
  takeOwnTable(scene, table);
  const auto now = std::make_shared<const Snapshot>(computed(scene.setup));
  const HeadChanges changes = studyChanges({before, now, 0, 0});
  ASSERT_EQ(changes.cells.size(), 8u);
  EXPECT_EQ(changes.cells[0], 0) << "the previous word, whatever it is";
  EXPECT_GT(changes.cells[6], 0) << "the same word";
  Index counted = 0;
  const auto &a = before->sequences[0].attention.weights, &b = now->sequences[0].attention.weights;
  for (Index query = 0; query < 12; ++query)
    for (Index key = 0; key < 12; ++key)
      counted += std::abs(a.at(6, query, key) - b.at(6, query, key)) > kChangedWeight;
  EXPECT_EQ(changes.cells[6], counted);
  scene.setup.input.table = attention::Table{{"a"}, table.values.topRows(1)};
  const auto shorter = std::make_shared<const Snapshot>(computed(scene.setup));
  EXPECT_TRUE(studyChanges({before, shorter, 0, 0}).cells.empty());
  EXPECT_TRUE(studyChanges({before, now, 0, 3}).cells.empty());
}

/// The vector that it finds does in the whole computation what it promises, whatever the scores consist of.
TEST(WordAim, HeadReadsTheChosenWord) {
  Resources resources(test::kRoomy);
  for (const PositionKind position :
       {PositionKind::none, PositionKind::sinusoidal, PositionKind::rope, PositionKind::alibi})
    for (const WeightSource weights : {WeightSource::random, WeightSource::planted})
      for (const float softcap : {0.0f, 20.0f}) {
        // A rotated key of another place never matches as well as the word's own.
        if (position == PositionKind::rope && weights == WeightSource::planted) continue;
        SCOPED_TRACE(fmt::format("position {}, weights {}, soft-cap {}", static_cast<int>(position),
                                 static_cast<int>(weights), softcap));
        Scene scene = openingScene();
        scene.setup.weights.source = weights;
        scene.setup.weights.gain = 1;
        scene.setup.model.position = position;
        scene.setup.model.softcap = softcap;
        const auto study = wordsOf(scene);
        const auto before = std::make_shared<const Snapshot>(computed(scene.setup));
        const Index head = weights == WeightSource::planted ? 6 : 3, key = 1;
        const auto aim = aimWord({before, 0, head, 7, key, study->wordAt, study->wordCount}, resources, {});
        ASSERT_TRUE(aim.ok()) << aim.error().message;
        attention::Table table = study->table;
        table.values.row(7) += aim->change;
        takeOwnTable(scene, table);
        const Snapshot now = computed(scene.setup);
        const auto row = now.sequences[0].attention.weights[head].row(7);
        EXPECT_NEAR(row[key], aim->share, 2e-3);
        EXPECT_EQ(strongestKey(row, 12), key);
        EXPECT_GT(aim->share, 0.5f);
        EXPECT_TRUE(aim->change.head(study->wordAt).isZero()) << "places stay";
      }
}

TEST(WordAim, SaysWhyNoVectorDoesIt) {
  Resources resources(test::kRoomy);
  Scene scene = openingScene();
  const auto study = wordsOf(scene);
  const auto snapshot = std::make_shared<const Snapshot>(computed(scene.setup));
  const auto problem = [&](Index head, Index query, Index key) {
    const auto aim = aimWord({snapshot, 0, head, query, key, study->wordAt, study->wordCount}, resources, {});
    return aim.ok() ? std::string("none") : aim.error().message;
  };
  EXPECT_EQ(problem(0, 7, 1), "Head 0 doesn't look at the words but at their places. Try head 6.");
  EXPECT_EQ(problem(6, 3, 9), "The mask hides this word.");
  EXPECT_EQ(problem(6, 0, 0), "It sees no other word, so this one has all of its weight.");
}

}  // namespace
}  // namespace headscope::app
