// Files: the dialogs, files dropped on the window, and faulty files.

#include <gtest/gtest.h>

#include <filesystem>

#include "app/scene/scene_json.h"
#include "app/widgets/dialog.h"
#include "test_paths.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/ui_driver.h"

namespace headscope::test {
namespace {

using app::Key;
using app::Scene;
using app::WeightSource;

const std::string kGolden = std::string(HEADSCOPE_TEST_DIR) + "/golden/";

class Files : public testing::Test {
 protected:
  std::string path(const std::string& name) { return (folder / name).string(); }
  void answer(const std::string& typed) { ui.replaceText("files.path", typed).key(Key::enter); }
  Scene saved(const std::string& name) {
    const auto scene = app::readScene(folder / name);
    EXPECT_TRUE(scene.ok()) << scene.error().message;
    return scene.ok() ? *scene : Scene{};
  }
  /// Expects one sentence on screen that names the file (in a dialog it is next to the name), and the scene
  /// unchanged.
  void expectRefused(const std::string& name, const Scene& before) {
    EXPECT_EQ(ui.sceneText(), UiDriver::textOf(before)) << name;
    const auto* picker = dynamic_cast<const app::FilePicker*>(ui.view().dialog.get());
    const std::string said = picker ? picker->refused() : ui.view().messages.error;
    EXPECT_THAT(said, HasSubstr(name));
    EXPECT_EQ(said.find('\n'), std::string::npos) << "one sentence: " << said;
    EXPECT_TRUE(picker ? ui.has("files.refused") : ui.visible("error")) << name;
    ui.key(Key::escape);
    EXPECT_FALSE(ui.session().document().canUndo()) << name;
    EXPECT_EQ(ui.names("head.").size(), 8u) << name;
  }

  TemporaryFolder folder;
  UiDriver ui;
};

/// A refused name can be corrected at once, by keyboard alone.
TEST_F(Files, RefusedNameKeepsKeyboardFocus) {
  ui.chord(kCtrl, Key::s);
  answer(path("nowhere/mine.json"));
  ui.frames(3);
  ASSERT_TRUE(ui.has("files.refused"));
  ui.chord(kCtrl, Key::a).type(path("mine.json")).key(Key::enter);
  EXPECT_EQ(ui.dialog(), "");
  EXPECT_TRUE(std::filesystem::exists(folder / "mine.json"));
}

TEST_F(Files, SavesAndOpensThroughDialogs) {
  ui.click("bias").typeValue("heads", "16");
  const Scene wanted = ui.scene();
  EXPECT_TRUE(ui.session().document().dirty());
  ui.chord(kCtrl, Key::s);
  ASSERT_EQ(ui.dialog(), "Save the scene");
  answer(path("mine"));
  EXPECT_EQ(ui.dialog(), "");
  EXPECT_THAT(ui.view().messages.notice, HasSubstr("mine.json"));
  EXPECT_TRUE(saved("mine.json") == wanted) << "the ending is added";
  EXPECT_FALSE(ui.session().document().dirty());
  EXPECT_THAT(ui.session().title(), StartsWith("mine.json"));

  ui.click("causal");
  EXPECT_TRUE(ui.session().document().dirty());
  ui.chord(kCtrl, Key::s);
  EXPECT_EQ(ui.dialog(), "") << "it has a file now";
  EXPECT_EQ(attention::maskText(saved("mine.json").setup.mask.layers), "off: causal & padding");

  ui.chord(kCtrl, Key::n);
  EXPECT_TRUE(ui.scene().setup == app::openingScene().setup);
  ui.chord(kCtrl, Key::o);
  ASSERT_EQ(ui.dialog(), "Open a scene");
  answer(path("mine.json"));
  EXPECT_EQ(ui.scene().setup.model.heads, 16);
  EXPECT_EQ(attention::maskText(ui.scene().setup.mask.layers), "off: causal & padding");
  EXPECT_FALSE(ui.session().document().dirty());
  EXPECT_EQ(ui.snapshot().config.heads, 16);
}

TEST_F(Files, OpeningCanBeUndone) {
  Scene other = app::openingScene();
  other.setup.model.bias = true;
  other.setup.input.text = "another text";
  ASSERT_TRUE(app::writeScene(folder / "other.json", other).ok());
  ui.drop({path("other.json")});
  ASSERT_EQ(ui.scene().setup.input.text, "another text");
  ui.chord(kCtrl, Key::z);
  EXPECT_TRUE(ui.scene().setup == app::openingScene().setup);
  ui.chord(kCtrlShift, Key::z);
  EXPECT_EQ(ui.scene().setup.input.text, "another text");
}

/// Until the scene's picture is computed, the previous one is shown, which may lack the scene's head, line or
/// cell.
TEST_F(Files, OpenedSceneRestoresSavedCursor) {
  Scene large = app::openingScene();
  large.setup.weights.source = WeightSource::random;
  large.setup.model.linked = false;
  large.setup.model.heads = 16;
  std::string words;
  for (int i = 0; i < 60; ++i) words += " word" + std::to_string(i);
  large.setup.input.text = "a" + words + "\nb" + words + "\nc" + words;
  app::Cursor& cursor = large.cursor;
  cursor.sequence = 2;
  cursor.focus = 13;
  choose(cursor, {13, 55, 44});
  cursor.step = 50;
  for (const bool decoding : {false, true}) {
    cursor.decoding = decoding;
    if (decoding) cursor.cell.query = cursor.step - 1;
    ASSERT_TRUE(app::writeScene(folder / "large.json", large).ok());
    ui.drop({path("large.json")});
    ASSERT_EQ(ui.snapshot().config.heads, 16) << ui.view().messages.error;
    EXPECT_EQ(ui.sceneText(), UiDriver::textOf(large));
    ui.chord(kCtrl, Key::n);
    ASSERT_EQ(ui.snapshot().config.heads, 8);
  }
}

TEST_F(Files, AsksBeforeReplacingFile) {
  putFile(folder / "taken.json", "precious");
  ui.chord(kCtrlShift, Key::s);
  answer(path("taken"));
  EXPECT_EQ(ui.dialog(), "Save the scene") << "it asks first";
  EXPECT_EQ(fileText(folder / "taken.json"), "precious");
  ui.click("files.cancel");
  EXPECT_EQ(ui.dialog(), "");
  EXPECT_EQ(fileText(folder / "taken.json"), "precious");

  ui.chord(kCtrlShift, Key::s);
  answer(path("taken.json"));
  ASSERT_EQ(fileText(folder / "taken.json"), "precious") << "the question is asked anew";
  ui.click("files.ok");
  EXPECT_EQ(ui.dialog(), "");
  EXPECT_TRUE(saved("taken.json").setup == ui.scene().setup);
}

/// Another window or program wrote the file since it was opened or saved here.
TEST_F(Files, AsksBeforeReplacingWhatOthersWrote) {
  ASSERT_TRUE(app::writeScene(folder / "shared.json", app::openingScene()).ok());
  ui.drop({path("shared.json")}).click("bias");
  const std::string same = fileText(folder / "shared.json");
  putFile(folder / "shared.json", same);
  ui.chord(kCtrl, Key::s);
  EXPECT_EQ(ui.dialog(), "") << "it has the same content";
  EXPECT_TRUE(saved("shared.json").setup.model.bias);
  const std::string theirs = R"({"format": "headscope scene", "version": 2, "input": {"text": "theirs"}})";
  putFile(folder / "shared.json", theirs);
  ui.click("causal").chord(kCtrl, Key::s);
  ASSERT_EQ(ui.dialog(), "changed");
  EXPECT_EQ(fileText(folder / "shared.json"), theirs);
  ui.click("changed.cancel");
  EXPECT_EQ(ui.dialog(), "");
  EXPECT_TRUE(ui.session().document().dirty());
  EXPECT_EQ(fileText(folder / "shared.json"), theirs);
  ui.chord(kCtrl, Key::s).click("changed.save_as");
  ASSERT_EQ(ui.dialog(), "Save the scene");
  answer(path("mine.json"));
  EXPECT_EQ(fileText(folder / "shared.json"), theirs);
  EXPECT_TRUE(saved("mine.json").setup == ui.scene().setup);
  putFile(folder / "mine.json", theirs);
  ui.click("bias").chord(kCtrl, Key::s).click("changed.replace");
  EXPECT_EQ(ui.dialog(), "");
  EXPECT_TRUE(saved("mine.json").setup == ui.scene().setup);
  EXPECT_FALSE(ui.session().document().dirty());
  ui.click("bias").chord(kCtrl, Key::s);
  EXPECT_EQ(ui.dialog(), "") << "nobody else has written since";
  std::filesystem::remove(folder / "mine.json");
  ui.click("bias").chord(kCtrl, Key::s);
  EXPECT_EQ(ui.dialog(), "") << "a file that is gone can be written again";
  EXPECT_TRUE(saved("mine.json").setup == ui.scene().setup);
}

TEST_F(Files, ConfirmationDoesNotCarryOverToAnotherName) {
  putFile(folder / "taken.json", "precious");
  putFile(folder / "also.json", "precious too");
  ui.chord(kCtrlShift, Key::s);
  answer(path("taken.json"));
  answer(path("also.json"));
  EXPECT_EQ(fileText(folder / "also.json"), "precious too") << "a yes to one file is no yes to another";
  EXPECT_EQ(fileText(folder / "taken.json"), "precious");
}

TEST_F(Files, ListEntersFoldersAndOpensFiles) {
  std::filesystem::create_directory(folder / "inner");
  ASSERT_TRUE(app::writeScene(folder / "inner" / "deep.json",
                              [] {
                                Scene scene = app::openingScene();
                                scene.setup.input.text = "found it";
                                return scene;
                              }())
                  .ok());
  putFile(folder / "inner" / "notes.md", "not a scene");
  ui.chord(kCtrl, Key::o);
  answer(folder.path().string());
  EXPECT_EQ(ui.dialog(), "Open a scene") << "a folder is entered";
  ui.click("file.inner");
  EXPECT_TRUE(ui.has("file.deep.json"));
  EXPECT_FALSE(ui.has("file.notes.md"));
  ui.click("files.up");
  EXPECT_TRUE(ui.has("file.inner"));
  ui.click("file.inner").click("file.deep.json");
  EXPECT_EQ(ui.scene().setup.input.text, "found it");
  EXPECT_EQ(ui.dialog(), "");
}

TEST_F(Files, EscapeAndClickOutsideCancelDialog) {
  const Scene before = ui.scene();
  ui.chord(kCtrl, Key::o).key(Key::escape);
  EXPECT_EQ(ui.dialog(), "");
  for (const ImVec2 outside : {ImVec2(100, 450), ImVec2(1500, 800), ImVec2(1, 1), ImVec2(1599, 899)}) {
    ui.chord(kCtrl, Key::o).moveTo(outside.x, outside.y).press().release();
    EXPECT_EQ(ui.dialog(), "") << outside.x << ", " << outside.y;
    ui.key(Key::escape);
  }
  EXPECT_EQ(ui.sceneText(), UiDriver::textOf(before));
}

TEST_F(Files, EmptyNameDoesNothing) {
  const Scene before = ui.scene();
  ui.chord(kCtrl, Key::o);
  answer("");
  ui.click("files.ok");
  EXPECT_EQ(ui.dialog(), "Open a scene");
  ui.key(Key::escape);
  EXPECT_EQ(ui.sceneText(), UiDriver::textOf(before));
}

TEST_F(Files, ReportsMissingAndUnwritableFiles) {
  const Scene before = ui.scene();
  ui.chord(kCtrl, Key::o);
  answer(path("missing.json"));
  expectRefused("missing.json", before);
  ui.chord(kCtrlShift, Key::s);
  answer(path("no/such/folder/scene.json"));
  const auto* picker = dynamic_cast<const app::FilePicker*>(ui.view().dialog.get());
  ASSERT_NE(picker, nullptr) << "it stays open, so that the name can be mended";
  EXPECT_THAT(picker->refused(), HasSubstr("no/such/folder"));
  ui.chord(kCtrl, Key::a);
  answer(path("scene.txt"));
  ASSERT_NE(ui.view().dialog, nullptr);
  EXPECT_THAT(picker->refused(), HasSubstr("scene.txt ends in .txt; expected .json"));
  EXPECT_TRUE(ui.scene() == before);
  EXPECT_EQ(ui.session().title().find("scene.json"), std::string::npos)
      << "nothing was saved under that name";
}

TEST_F(Files, DroppedSceneIsOpened) {
  Scene scene = app::openingScene();
  scene.setup.model.heads = 4;
  scene.setup.model.headDim = 64;
  ASSERT_TRUE(app::writeScene(folder / "four.json", scene).ok());
  ui.drop({path("four.json")});
  EXPECT_EQ(ui.snapshot().config.heads, 4);
  EXPECT_EQ(ui.names("head.").size(), 4u);
  EXPECT_THAT(ui.view().messages.notice, HasSubstr("four.json"));
}

TEST_F(Files, DroppedWeightsAreReadAndFixTheSizes) {
  ui.drop({kGolden + "gqa.safetensors"});
  EXPECT_EQ(ui.view().messages.error, "");
  EXPECT_EQ(ui.scene().setup.weights.source, WeightSource::file);
  EXPECT_THAT(ui.scene().setup.weights.file, EndsWith("gqa.safetensors"));
  EXPECT_EQ(ui.snapshot().config.heads, ui.scene().setup.model.heads);
  EXPECT_FALSE(ui.snapshot().error.has_value()) << ui.snapshot().error->message;
  EXPECT_FALSE(ui.snapshot().sequences.empty());
  // The file's sizes can't be changed while it is in use.
  const Scene before = ui.scene();
  ui.dragTo("heads", 0.1f).dragTo("kv_heads", 0.9f).dragTo("model_dim", 0.9f).click("kind.mha");
  ui.click("kind.mqa").click("bias");
  EXPECT_EQ(ui.sceneText(), UiDriver::textOf(before));
  ui.chord(kCtrl, Key::z);
  EXPECT_TRUE(ui.scene().setup == app::openingScene().setup);
}

TEST_F(Files, DroppedTableBecomesEmbeddings) {
  putFile(folder / "points.csv", "name,x,y\na,1,2\nb,3,4\n");
  ui.drop({path("points.csv")});
  EXPECT_EQ(ui.view().messages.error, "");
  EXPECT_EQ(ui.scene().setup.input.source, app::EmbeddingSource::table);
  EXPECT_EQ(ui.scene().setup.model.modelDim, 2);
  EXPECT_EQ(ui.sequence().queries[1].text, "b");
  EXPECT_FALSE(ui.snapshot().error.has_value());
}

TEST_F(Files, BrokenFilesAreReportedAndKeepScene) {
  const Scene before = ui.scene();
  const std::vector<std::pair<std::string, std::string>> broken{
      {"empty.json", ""},
      {"half.json", "{\"format\": \"headscope scene\", \"version\": 1, \"input\": {"},
      {"foreign.json", "{\"name\": \"something else\"}"},
      {"list.json", "[1, 2, 3]"},
      {"wide.json", "{\"format\": \"headscope scene\", \"version\": 1, \"model\": {\"heads\": 100000}}"},
      {"binary.json", std::string("\x00\xFF\xFE\x01", 4)},
      {"short.safetensors", "abc"},
      {"lies.safetensors", std::string("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7F", 8) + "{}"},
      {"empty.safetensors", ""},
      {"words.csv", "a,b\nc,d\n"},
      {"ragged.csv", "1,2\n3\n"},
      {"infinite.csv", "1,inf\n2,3\n"},
      {"empty.csv", ""},
      {"short.npy", "\x93NUMPY"},
      {"picture.png", "not for us"},
      {"noending", "?"}};
  for (const auto& [name, bytes] : broken) {
    putFile(folder / name, bytes);
    ui.drop({path(name)});
    expectRefused(name, before);
  }
  std::filesystem::create_directory(folder / "folder.json");
  ui.drop({path("folder.json")});
  expectRefused("folder.json", before);
  // A valid edit clears the message.
  ui.click("bias");
  EXPECT_EQ(ui.view().messages.error, "");
}

TEST_F(Files, ReportsDeletedWeightsFileBesideWeights) {
  std::filesystem::copy_file(kGolden + "mha.safetensors", folder / "layer.safetensors");
  ui.drop({path("layer.safetensors")});
  ASSERT_FALSE(ui.snapshot().error.has_value());
  std::filesystem::remove(folder / "layer.safetensors");
  ui.replaceText("text", "other words");
  ASSERT_TRUE(ui.snapshot().error.has_value());
  EXPECT_EQ(ui.snapshot().error->place, app::Place::weights);
  EXPECT_THAT(ui.snapshot().error->message, HasSubstr("layer.safetensors"));
  ui.click("weights.random");
  EXPECT_FALSE(ui.snapshot().error.has_value()) << ui.snapshot().error->message;
}

TEST_F(Files, OpensOnlyOneOfSeveralDroppedFiles) {
  ASSERT_TRUE(app::writeScene(folder / "a.json", app::openingScene()).ok());
  putFile(folder / "b.csv", "1,2\n");
  ui.drop({path("a.json"), path("b.csv")});
  EXPECT_EQ(ui.view().messages.error, "");
  EXPECT_EQ(ui.scene().setup.input.source, app::EmbeddingSource::text);
}

TEST_F(Files, LoadedSceneAlwaysGivesSamePicture) {
  Scene scene = app::openingScene();
  scene.setup.input.text = "the same picture\nagain";
  scene.look.colormap = render::Colormap::magma;
  ASSERT_TRUE(app::writeScene(folder / "same.json", scene).ok());
  ui.drop({path("same.json")}).wait(7).park();
  const render::Image first = ui.screenshot();
  ui.chord(kCtrl, Key::n).drop({path("same.json")}).wait(7).park();
  const render::Image second = ui.screenshot();
  // The status line, which is left out, counts the undo steps.
  EXPECT_EQ(pixelsApart(first, second, ImRect(0, 60, 1600, 868)), 0);
}

TEST_F(Files, QuittingWithoutEditsDoesNotAsk) {
  ui.session().closing().request();
  EXPECT_TRUE(ui.session().closing().done()) << "nothing was edited";
}

TEST_F(Files, QuittingWithUnsavedEditsOffersStaySaveOrLeave) {
  ui.click("bias").chord(kCtrl, static_cast<Key>('Q'));
  ASSERT_EQ(ui.dialog(), "discard");
  EXPECT_FALSE(ui.session().closing().done());
  ui.click("discard.stay");
  EXPECT_EQ(ui.dialog(), "");
  EXPECT_FALSE(ui.session().closing().done());
  ui.session().closing().request();  // as the window's close button does
  ui.draw().key(Key::escape);
  EXPECT_EQ(ui.dialog(), "");
  EXPECT_FALSE(ui.session().closing().done());
  ui.chord(kCtrl, static_cast<Key>('Q')).click("discard.save.0");
  ASSERT_EQ(ui.dialog(), "Save the scene");
  answer(path("kept.json"));
  EXPECT_TRUE(saved("kept.json").setup.model.bias);
  EXPECT_FALSE(ui.session().document().dirty());
  ui.click("causal").chord(kCtrl, static_cast<Key>('Q')).click("discard.leave");
  EXPECT_TRUE(ui.session().closing().done());
}

TEST_F(Files, UndoingToSavedSceneIsNotAnEdit) {
  ui.click("bias");
  EXPECT_TRUE(ui.session().document().dirty());
  ui.chord(kCtrl, Key::z);
  EXPECT_FALSE(ui.session().document().dirty());
  ui.session().closing().request();
  EXPECT_TRUE(ui.session().closing().done());
}

}  // namespace
}  // namespace headscope::test
