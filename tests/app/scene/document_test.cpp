#include "app/scene/document.h"

#include <gtest/gtest.h>

namespace headscope::app {
namespace {

Scene withSeed(std::uint64_t seed) {
  Scene scene = openingScene();
  scene.setup.weights.seed = seed;
  return scene;
}

std::uint64_t seedOf(const UnsavedScene& unsaved) {
  return unsaved.scene->setup.weights.seed;
}

void edit(Document& document, std::uint64_t seed) {
  document.scene().setup.weights.seed = seed;
  document.record();
}

TEST(Document, UndoingOpenRestoresFormerFile) {
  Document document(withSeed(1));
  document.open(withSeed(2), "a.json");
  edit(document, 3);
  document.open(withSeed(4), "b.json");
  EXPECT_EQ(document.name(), "b.json");
  EXPECT_FALSE(document.dirty());
  document.undo();
  EXPECT_EQ(document.name(), "a.json") << "saving must not write a's scene over b's file";
  EXPECT_TRUE(document.dirty());
  document.undo();
  EXPECT_FALSE(document.dirty());
  document.undo();
  EXPECT_EQ(document.name(), "untitled");
  for (int i = 0; i < 3; ++i) document.redo();
  EXPECT_EQ(document.name(), "b.json");
  EXPECT_EQ(document.scene().setup.weights.seed, 4u);
}

TEST(Document, OpeningAnotherSceneKeepsEditsUnsaved) {
  Document document(withSeed(1));
  EXPECT_TRUE(document.unsaved().empty());
  edit(document, 2);
  document.open(withSeed(1), "");
  ASSERT_EQ(document.unsaved().size(), 1u);
  EXPECT_EQ(seedOf(document.unsaved()[0]), 2u);
  edit(document, 3);
  document.open(withSeed(4), "c.json");
  edit(document, 5);
  ASSERT_EQ(document.unsaved().size(), 3u);
  EXPECT_EQ(seedOf(document.unsaved()[0]), 2u);
  EXPECT_EQ(seedOf(document.unsaved()[1]), 3u);
  EXPECT_EQ(seedOf(document.unsaved()[2]), 5u) << "what is worked on comes last";
  const UnsavedScene first = document.unsaved()[0];
  *first.file = {"first.json", *first.scene};
  EXPECT_EQ(document.unsaved().size(), 2u);
  document.undo();
  EXPECT_EQ(document.unsaved().size(), 1u) << "an edit that was undone is none";
}

TEST(Document, ReopeningSameSceneAddsNoStep) {
  Document document(withSeed(1));
  document.open(withSeed(1), "");
  EXPECT_FALSE(document.canUndo());
  Scene looksElsewhere = withSeed(1);
  looksElsewhere.cursor.page = "mask";
  document.open(looksElsewhere, "");
  EXPECT_FALSE(document.canUndo());
  EXPECT_EQ(document.scene().cursor.page, "mask");
  document.open(withSeed(1), "a.json");
  EXPECT_TRUE(document.canUndo()) << "the same in another file is another document";
}

TEST(Document, SceneWithoutFileIsUnsaved) {
  Document document(withSeed(1));
  document.open(withSeed(2), SceneFile{"lost.json", std::nullopt});
  EXPECT_TRUE(document.dirty());
  EXPECT_EQ(document.unsaved().size(), 1u);
  *document.file() = {"lost.json", document.scene()};
  EXPECT_FALSE(document.dirty());
}

TEST(Document, UnsavedWorkSurvivesManySteps) {
  Document document(withSeed(0));
  edit(document, 7);
  document.open(withSeed(1), "");
  for (std::uint64_t seed = 10; seed < 2000; ++seed) edit(document, seed);
  ASSERT_EQ(document.unsaved().size(), 2u);
  EXPECT_EQ(seedOf(document.unsaved()[0]), 7u);
}

}  // namespace
}  // namespace headscope::app
