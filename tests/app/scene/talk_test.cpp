#include "app/scene/talk.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "app/scene/document.h"
#include "app/scene/models/open_model.h"
#include "app/scene/models/scene_model.h"
#include "app/scene/recovery_store.h"
#include "app/scene/scene_json.h"
#include "tests/app/scene/random_scene.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"

namespace headscope::app {
namespace {

using Json = nlohmann::ordered_json;

TalkView viewOf(std::string name, Scene scene = openingScene()) {
  return {std::move(name), "", viewScene(scene)};
}

Scene talkOf(const std::vector<std::string>& names) {
  Scene scene = openingScene();
  for (const std::string& name : names)
    addView(scene, viewOf(name), static_cast<int>(scene.talk->views.size()) - 1);
  return scene;
}

std::string namesOf(const Scene& scene) {
  std::string names;
  for (const TalkView& view : scene.talk->views) names += view.name;
  return names;
}

TEST(Talk, MovesAddsAndRemovesViews) {
  Scene scene = talkOf({"a", "b", "c", "d"});
  moveView(scene, 0, 2);
  EXPECT_EQ(namesOf(scene), "bcad");
  moveView(scene, 3, 0);
  EXPECT_EQ(namesOf(scene), "dbca");
  removeView(scene, 1);
  EXPECT_EQ(namesOf(scene), "dca");
  EXPECT_EQ(addView(scene, viewOf("x"), 0), 1);
  EXPECT_EQ(addView(scene, viewOf("y"), 99), 4);
  EXPECT_EQ(namesOf(scene), "dxcay");
  const SharedTalk before = scene.talk;
  moveView(scene, 7, 0);
  moveView(scene, -1, 0);
  removeView(scene, 5);
  EXPECT_EQ(scene.talk.pointer(), before.pointer()) << "a place that isn't there changes nothing";
}

TEST(Talk, LimitsNumberOfViews) {
  Scene scene = openingScene();
  const TalkView view = viewOf("v");
  for (std::size_t i = 0; i < kMaxTalkViews; ++i) ASSERT_GE(addView(scene, view, 0), 0);
  EXPECT_EQ(addView(scene, view, 0), -1);
  EXPECT_TRUE(parseScene(formatScene(scene), "t").ok());
}

TEST(Talk, ViewSceneHasNoTalk) {
  const Scene scene = talkOf({"a"});
  EXPECT_TRUE(viewScene(scene)->talk->views.empty());
}

TEST(Talk, RoundTripsThroughAFile) {
  test::Dice dice(32);
  Scene scene = openingScene();
  for (int i = 0; i < 24; ++i) {
    Scene shown = test::randomScene(dice, test::kAnyScene);
    shown.cursor.page = i % 2 ? "map" : "cache";
    addView(scene, {"View " + test::randomLine(dice, 3), test::randomLine(dice, 40), viewScene(shown)}, i);
  }
  scene.cursor.view = 5;
  const std::string written = formatScene(scene);
  const auto back = parseScene(written, "t.json");
  ASSERT_TRUE(back.ok()) << back.error().message;
  EXPECT_EQ(formatScene(*back), written);
  ASSERT_EQ(back->talk->views.size(), scene.talk->views.size());
  for (std::size_t i = 0; i < scene.talk->views.size(); ++i) {
    const TalkView &was = scene.talk->views[i], &is = back->talk->views[i];
    EXPECT_EQ(is.name, was.name);
    EXPECT_EQ(is.notes, was.notes);
    EXPECT_EQ(is.scene->cursor.page, was.scene->cursor.page);
    EXPECT_EQ(formatScene(*is.scene), formatScene(*was.scene)) << i;
  }
}

TEST(Talk, IsOmittedFromFileWhenEmpty) {
  EXPECT_EQ(formatScene(openingScene()).find("\"talk\""), std::string::npos);
}

TEST(Talk, CanBeUndoneAndRedone) {
  Document document(openingScene());
  addView(document.scene(), viewOf("a"), -1);
  document.record();
  EXPECT_TRUE(document.dirty());
  addView(document.scene(), viewOf("b"), 0);
  document.record();
  document.undo();
  EXPECT_EQ(namesOf(document.scene()), "a");
  document.undo();
  EXPECT_EQ(namesOf(document.scene()), "");
  EXPECT_FALSE(document.dirty());
  document.redo();
  document.redo();
  EXPECT_EQ(namesOf(document.scene()), "ab");
}

TEST(Talk, StaysOpenWhileOpeningScenes) {
  Document document(openingScene());
  document.open(talkOf({"a"}), "talk.json");
  Scene other = openingScene();
  other.setup.model.kvHeads = 8;
  document.open(other, "other.json");
  EXPECT_EQ(document.name(), "talk.json");
  EXPECT_EQ(namesOf(document.scene()), "a");
  EXPECT_EQ(document.scene().setup.model.kvHeads, 8);
  document.undo();
  EXPECT_EQ(document.scene().setup.model.kvHeads, 2);
  EXPECT_EQ(document.name(), "talk.json");
  document.open(talkOf({"z"}), "second.json");
  EXPECT_EQ(document.name(), "second.json");
  EXPECT_EQ(namesOf(document.scene()), "z");
}

TEST(Talk, ClosedTalkIsUnsavedAndUndoable) {
  Document document(openingScene());
  addView(document.scene(), viewOf("a"), -1);
  document.record();
  document.closeTalk();
  EXPECT_TRUE(document.scene().talk->views.empty());
  ASSERT_EQ(document.unsaved().size(), 1u);
  EXPECT_EQ(namesOf(*document.unsaved().front().scene), "a");
  document.undo();
  EXPECT_EQ(namesOf(document.scene()), "a");
}

/// The error of a talk with one view.
std::string refused(const char* view) {
  const auto scene = parseScene(
      std::string(R"({"format": "headscope scene", "version": 2, "talk": [)") + view + "]}", "t.json");
  return scene.ok() ? "accepted" : scene.error().message;
}

TEST(Talk, DamagedTalkErrorsNameTheirPlace) {
  EXPECT_EQ(refused("{}"), "accepted");
  EXPECT_EQ(refused("3"), "t.json: talk[0] is not an object");
  EXPECT_EQ(refused(R"({"name": 7})"), "t.json: talk[0].name is 7, expected text");
  EXPECT_THAT(refused(R"({}, {"colour": "red"})"),
              HasSubstr("t.json: \"talk[1].colour\" is not a field of a scene"));
  EXPECT_THAT(refused(R"({"scene": {"model.softcap": -3}})"),
              HasSubstr("t.json: talk[0].scene.model.softcap is -3"));
  EXPECT_THAT(refused(R"({"scene": {"model.kvheads": 3}})"), HasSubstr("talk[0].scene.model.kvheads"));
  EXPECT_THAT(refused(R"({"scene": {"talk": []}})"), HasSubstr("\"talk\" is not a field of a scene"));
  EXPECT_THAT(refused((R"({"name": ")" + std::string(201, 'x') + "\"}").c_str()),
              HasSubstr("talk[0].name has 201 bytes, expected at most 200"));
  EXPECT_THAT(parseScene(R"({"format": "headscope scene", "version": 2, "talk": {}})", "t").error().message,
              HasSubstr("expected a list"));
}

TEST(Talk, RefusesNewerVersions) {
  const auto scene =
      parseScene(R"({"format": "headscope scene", "version": 3, "talk": [{"spin": 1}]})", "t.json");
  ASSERT_FALSE(scene.ok());
  EXPECT_EQ(scene.error().message, "t.json: the scene has version 3, this program reads versions 1 to 2");
}

TEST(Talk, RefusesTruncatedFiles) {
  Scene scene = talkOf({"one", "two"});
  const std::string written = formatScene(scene);
  for (std::size_t length = 0; length + 2 < written.size(); length += 7)
    EXPECT_FALSE(parseScene(std::string_view(written).substr(0, length), "t").ok()) << length;
}

TEST(Talk, FindsItsFilesAfterMoving) {
  const test::TemporaryFolder folder;
  std::filesystem::create_directories(folder.path() / "there");
  Scene shown = openingScene();
  shown.map.file = (folder.path() / "there" / "qk.safetensors").string();
  Scene scene = openingScene();
  addView(scene, viewOf("map", shown), -1);
  const std::filesystem::path file = folder.path() / "there" / "talk.json";
  ASSERT_TRUE(writeScene(file, scene).ok());
  std::filesystem::rename(folder.path() / "there", folder.path() / "elsewhere");
  const auto back = readScene(folder.path() / "elsewhere" / "talk.json");
  ASSERT_TRUE(back.ok()) << back.error().message;
  EXPECT_EQ(back->talk->views.at(0).scene->map.file,
            (folder.path() / "elsewhere" / "qk.safetensors").string());
}

TEST(Talk, IsRecoveredWithItsNotes) {
  const test::TemporaryFolder folder;
  Scene scene = talkOf({"a", "b"});
  scene.talk.edit().views[1].notes = "Two lines:\nthe second.";
  {
    RecoveryStore store(folder.path());
    store.note({{folder / "talk.json", std::make_shared<const Scene>(scene)}});
    ASSERT_TRUE(store.write().ok());
    store.note({{folder / "talk.json", std::make_shared<const Scene>(scene)}});
  }
  RecoveryStore next(folder.path());
  const auto found = next.abandoned();
  ASSERT_EQ(found.size(), 1u);
  const auto back = recoveredScene(found.front()->entries.at(0));
  ASSERT_TRUE(back.ok()) << back.error().message;
  EXPECT_EQ(formatScene(*back), formatScene(scene));
}

TEST(Talk, OpensSharedModelOnce) {
  Scene shown = openingScene();
  shown.setup.subject.model = kLearned;
  Scene scene = openingScene();
  addView(scene, viewOf("a", shown), -1);
  addView(scene, viewOf("b", shown), 0);
  auto back = parseScene(formatScene(scene), "t");
  ASSERT_TRUE(back.ok()) << back.error().message;
  ASSERT_TRUE(openSubject(*back).ok());
  const auto& first = back->talk->views[0].scene->setup.subject.opened;
  EXPECT_NE(first, nullptr);
  EXPECT_EQ(first, back->talk->views[1].scene->setup.subject.opened);
}

}  // namespace
}  // namespace headscope::app
