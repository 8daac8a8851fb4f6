#include <gtest/gtest.h>
#include <malloc.h>

#include "app/scene/document.h"

namespace headscope::app {
namespace {

Scene sceneWithSeed(std::uint64_t seed) {
  Scene scene = openingScene();
  scene.setup.weights.seed = seed;
  return scene;
}

TEST(History, StartsWithNothingToUndoOrRedo) {
  History history(sceneWithSeed(1));
  EXPECT_FALSE(history.canUndo());
  EXPECT_FALSE(history.canRedo());
  EXPECT_EQ(history.undoSteps(), 0u);
  Scene scene = sceneWithSeed(5);
  const Scene before = scene;
  history.undo(scene);
  history.redo(scene);
  EXPECT_TRUE(scene == before) << "where there is no step, nothing is touched";
}

TEST(History, UndoesAndRedoesAllSteps) {
  History history(sceneWithSeed(0));
  for (std::uint64_t seed = 1; seed <= 5; ++seed) history.record(sceneWithSeed(seed));
  EXPECT_EQ(history.undoSteps(), 5u);
  Scene scene = sceneWithSeed(5);
  for (std::uint64_t seed = 5; seed-- > 0;) {
    ASSERT_TRUE(history.canUndo());
    history.undo(scene);
    EXPECT_EQ(scene.setup.weights.seed, seed);
  }
  EXPECT_FALSE(history.canUndo());
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    ASSERT_TRUE(history.canRedo());
    history.redo(scene);
    EXPECT_EQ(scene.setup.weights.seed, seed);
  }
  EXPECT_FALSE(history.canRedo());
}

TEST(History, RecordingSameSceneAddsNoStep) {
  History history(sceneWithSeed(1));
  history.record(sceneWithSeed(1));
  EXPECT_FALSE(history.canUndo());
  EXPECT_FALSE(history.differs(sceneWithSeed(1)));
  EXPECT_TRUE(history.differs(sceneWithSeed(2)));
}

TEST(History, RecordsSetupAndLookButNotCursor) {
  Scene scene = sceneWithSeed(1);
  History history(scene);
  scene.cursor.focus = 3;
  scene.cursor.cell = {1, 2, 3};
  EXPECT_FALSE(history.differs(scene));
  history.record(scene);
  EXPECT_FALSE(history.canUndo());
  scene.look.quantity = Quantity::scores;
  history.record(scene);
  EXPECT_TRUE(history.canUndo());
  const Cursor cursor = scene.cursor;
  history.undo(scene);
  EXPECT_EQ(scene.look.quantity, Quantity::weights);
  EXPECT_TRUE(scene.cursor == cursor) << "where the person looks stays";
}

TEST(History, NewStepClearsRedo) {
  History history(sceneWithSeed(0));
  history.record(sceneWithSeed(1));
  history.record(sceneWithSeed(2));
  Scene scene = sceneWithSeed(2);
  history.undo(scene);
  history.undo(scene);
  history.record(sceneWithSeed(9));
  EXPECT_FALSE(history.canRedo());
  EXPECT_EQ(history.undoSteps(), 1u);
  history.undo(scene);
  EXPECT_EQ(scene.setup.weights.seed, 0u);
  history.redo(scene);
  EXPECT_EQ(scene.setup.weights.seed, 9u);
}

TEST(History, RecordingUnchangedSceneKeepsRedo) {
  History history(sceneWithSeed(0));
  history.record(sceneWithSeed(1));
  Scene scene = sceneWithSeed(1);
  history.undo(scene);
  history.record(scene);
  EXPECT_TRUE(history.canRedo());
}

TEST(History, ForgetsOldestStepsBeyondLimit) {
  constexpr std::uint64_t kMany = 1200;
  History history(sceneWithSeed(0));
  for (std::uint64_t seed = 1; seed <= kMany; ++seed) history.record(sceneWithSeed(seed));
  Scene scene = sceneWithSeed(kMany);
  std::uint64_t expected = kMany;
  while (history.canUndo()) {
    history.undo(scene);
    ASSERT_EQ(scene.setup.weights.seed, --expected) << "no step is left out";
  }
  EXPECT_GE(kMany - expected, 100u) << "a long way back";
  EXPECT_GT(expected, 0u) << "but not for ever";
}

#ifndef HEADSCOPE_SANITIZE_BUILD
/// Undo steps that don't change a long text share it: 500 copies of a text of 20 KB would take 10 MB.
TEST(History, StepsShareOneCopyOfTheText) {
  Scene scene = openingScene();
  scene.setup.input.text = std::string(20000, 'a');
  const std::size_t before = ::mallinfo2().uordblks;
  History history(scene);
  for (int step = 0; step < 499; ++step) {
    scene.setup.model.sharpness = 1 + 0.01f * static_cast<float>(step + 1);
    history.record(scene);
  }
  ASSERT_EQ(history.undoSteps(), 499u);
  const std::size_t held = ::mallinfo2().uordblks - before;
  RecordProperty("bytes", std::to_string(held));
  EXPECT_LT(held, std::size_t{2} << 20);
}
#endif

TEST(History, UndoesTypedAndGeneratedText) {
  Scene scene = sceneWithSeed(1);
  History history(scene);
  scene.cursor.lab.patchText = std::string("another text");
  history.record(scene);
  scene.generation.seed += 5;
  history.record(scene);
  ASSERT_EQ(history.undoSteps(), 2u);
  history.undo(scene);
  EXPECT_EQ(scene.generation, GenerationSetup{});
  EXPECT_EQ(scene.cursor.lab.patchText, "another text");
  history.undo(scene);
  EXPECT_EQ(scene.cursor.lab.patchText, std::string());
  EXPECT_FALSE(history.differs(scene));
}

}  // namespace
}  // namespace headscope::app
