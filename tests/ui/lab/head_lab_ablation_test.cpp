// The lab's tabs for switched-off heads, patterns from another text, and the effects of smaller formats.

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "app/pages/head_lab/head_lab_page.h"
#include "app/platform/ui_state.h"
#include "app/scene/scene_json.h"
#include "tests/support/matchers.h"
#include "tests/support/page_check.h"
#include "tests/ui/lab/head_lab_support.h"

namespace headscope::test {
namespace {

using app::HeadOff;
using app::Key;

class Ablation : public LabTabOnScreen {
 protected:
  Ablation() : LabTabOnScreen("ablation") {}
  std::vector<app::Index> off() {
    std::vector<app::Index> heads;
    for (const app::SwitchedHead& one : setup().subject.switchedOff) heads.push_back(one.head);
    return heads;
  }
};

TEST_F(Ablation, RestoringHeadsGivesIdenticalOutput) {
  expectTidy("heads off");
  EXPECT_THAT(faintTexts(ui), testing::IsEmpty());
  const attention::Matrix before = ui.sequence().attention.output;
  ui.click("ablation.box.2");
  EXPECT_THAT(off(), ElementsAre(2));
  EXPECT_FALSE(ui.sequence().attention.output == before);
  expectTidy("one head off");
  ui.click("ablation.box.5").choose("ablation.by", "mean");
  EXPECT_THAT(off(), ElementsAre(2, 5));
  EXPECT_EQ(setup().subject.switchedOff[0].by, HeadOff::mean);
  ui.click("ablation.restore");
  EXPECT_THAT(off(), IsEmpty());
  EXPECT_TRUE(ui.sequence().attention.output == before) << "the same bits";
}

TEST_F(Ablation, DeleteTogglesSelectedHead) {
  ui.clickAt("stage.ablation", 0.5f, 4.5f / 8);
  ui.hoverAt("stage.ablation", 0.5f, 1.5f / 8).frames(3).key(Key::del);
  EXPECT_THAT(off(), ElementsAre(4)) << "wherever the pointer is";
  ui.hoverAt("stage.ablation", 0.5f, 2.5f / 9).frames(3).key(Key::del);
  EXPECT_THAT(off(), IsEmpty());
}

TEST_F(Ablation, SidePreviewsHoveredTokenAndFallsBack) {
  park();
  const app::Cursor before = ui.scene().cursor;
  const std::string selected = written();
  ASSERT_THAT(selected, AllOf(HasSubstr("Output of “it” "), Not(HasSubstr("\nhover\n"))));
  ui.hoverAt("stage.ablation", 1.5f / 12, 2.5f / 8);
  EXPECT_THAT(written(), AllOf(HasSubstr("Output of “animal” "), HasSubstr("\nhover\n")));
  EXPECT_EQ(ui.scene().cursor, before);
  park();
  EXPECT_EQ(written(), selected);
}

TEST_F(Ablation, UndoRestoresReplacementMethod) {
  ui.click("ablation.box.0").click("ablation.box.3");
  park();
  const std::string byZero = written();
  ui.choose("ablation.by", "mean");
  park();
  EXPECT_NE(written(), byZero);
  ui.chord(kCtrl, Key::z);
  park();
  EXPECT_EQ(setup().subject.switchedOff.front().by, HeadOff::zero);
  EXPECT_EQ(ui.scene().cursor.lab.offBy, HeadOff::zero);
  EXPECT_EQ(written(), byZero);
  ui.chord(kCtrlShift, Key::z);
  EXPECT_EQ(ui.scene().cursor.lab.offBy, HeadOff::mean);
}

TEST_F(Ablation, OpenedSceneSetsReplacementMethod) {
  app::Scene scene = ui.scene();
  scene.setup.subject.switchedOff = {{0, 0, HeadOff::zero}, {0, 1, HeadOff::mean}};
  scene.cursor.lab.offBy = HeadOff::mean;
  ui.show(scene);
  EXPECT_EQ(ui.scene().cursor.lab.offBy, HeadOff::mean) << "one of them is off that way";
  scene.setup.subject.switchedOff.pop_back();
  ui.show(scene);
  EXPECT_EQ(ui.scene().cursor.lab.offBy, HeadOff::zero);
}

TEST_F(Ablation, ShortcutListContainsDelete) {
  const auto& actions = ui.session().actions().all();
  const auto found = std::find_if(actions.begin(), actions.end(), [](const app::Action& action) {
    return action.page == "lab" && action.shortcut == app::KeyPress{Key::del, {}};
  });
  ASSERT_NE(found, actions.end());
  ui.click("lab.tab.weights").key(Key::del);
  EXPECT_THAT(off(), IsEmpty()) << "where there are no heads to switch, it does nothing";
}

TEST_F(Ablation, SceneStoresAblationView) {
  ui.choose("ablation.measure", "cosine").choose("ablation.by", "mean");
  ui.click("ablation.view.patch");
  ui.replaceText("patch.text", "A dog saw a cat because it was a good dog .");
  const app::HeadLabCursor at = ui.scene().cursor.lab;
  EXPECT_EQ(at.ablationView, app::AblationView::patch);
  EXPECT_EQ(at.measure, app::AblationMeasure::cosine);
  EXPECT_EQ(at.offBy, HeadOff::mean);
  EXPECT_EQ(at.patchText, "A dog saw a cat because it was a good dog .");
  const auto again = app::parseScene(ui.sceneText(), "");
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(again->cursor.lab, at);
}

TEST_F(Ablation, HeadsPageMarksDisabledHeads) {
  ui.click("ablation.box.2").key(static_cast<Key>('1'));
  park();
  const std::string texts = written();
  EXPECT_THAT(texts, testing::HasSubstr("off"));
  EXPECT_THAT(texts, testing::HasSubstr("1 head"));
  EXPECT_THAT(overlaps(ui), IsEmpty());
  EXPECT_THAT(cutOff(ui), IsEmpty());
}

TEST_F(Ablation, SharesCanBeShownAsCosines) {
  ui.choose("ablation.measure", "cosine");
  expectTidy("cosine");
  ui.hover("ablation.sum.3").frames(3);
}

TEST_F(Ablation, HullShowsOutputAndValues) {
  ui.click("ablation.view.hull");
  EXPECT_TRUE(ui.has("hull.output"));
  EXPECT_TRUE(ui.has("hull.value.11"));
  ui.click("hull.weight.0");
  EXPECT_EQ(ui.scene().cursor.cell.key, 0);
  EXPECT_TRUE(ui.scene().cursor.keyChosen);
  ui.click("hull.weight.0");
  EXPECT_FALSE(ui.scene().cursor.keyChosen) << "a second click lets it go";
  park();
  EXPECT_THAT(cutOff(ui), IsEmpty());
  EXPECT_THAT(faintTexts(ui), testing::IsEmpty());
}

TEST_F(Ablation, OutputLabelStaysClearOfLargeDisc) {
  ui.choose("lab.head", "1");  // looks at the first token
  ui.click("ablation.view.hull");
  park();
  const float weight = ui.sequence().attention.weights.at(1, 7, 0);
  ASSERT_GT(weight, 0.9f);
  const ImVec2 disc = middle("hull.value.0");
  written();
  const auto& texts = app::uiState().texts;
  const auto name = std::ranges::find_if(
      texts, [](const app::DrawnText& text) { return text.text.starts_with("output of"); });
  ASSERT_NE(name, texts.end());
  const float across = disc.x - std::clamp(disc.x, name->area.Min.x, name->area.Max.x),
              down = disc.y - std::clamp(disc.y, name->area.Min.y, name->area.Max.y);
  EXPECT_GE(std::hypot(across, down), 20 * std::sqrt(weight)) << "the area of a disc is its weight";
}

TEST_F(Ablation, PatchingShowsHintAndOffersReversedText) {
  ui.click("ablation.view.patch");
  park();
  // The hint is in the box: the left half has pixels of another colour than the right end.
  const ImRect box = ui.find("patch.text");
  const render::Image image = ui.screenshot();
  const auto pixel = [&](float x, float y) {
    return image.rgba.data() + 4 * (static_cast<int>(y) * image.width + static_cast<int>(x));
  };
  int inked = 0;
  for (float y = box.Min.y + 4; y < box.Max.y - 4; ++y)
    for (float x = box.Min.x + 8; x < box.GetCenter().x; ++x)
      inked += std::abs(*pixel(x, y) - *pixel(box.Max.x - 8, y)) > 24;
  EXPECT_GT(inked, 200);
  expectTidy("no other text");
  ui.click("empty.lab.patch_sample");
  EXPECT_EQ(ui.scene().cursor.lab.patchText,
            std::string(". tired too was it because street the cross didn't animal The"));
  EXPECT_TRUE(ui.has("stage.patch.other"));
  EXPECT_FALSE(ui.has("empty.lab.patch_sample"));
}

TEST_F(Ablation, PatchesPatternFromAnotherText) {
  ui.choose("lab.head", "6").click("ablation.view.patch");
  ui.replaceText("patch.text", "A dog saw a cat because it was a good dog .");
  EXPECT_TRUE(ui.has("stage.patch.other"));
  EXPECT_TRUE(ui.has("patch.change.11"));
  expectTidy("patching");
  EXPECT_THAT(faintTexts(ui), testing::IsEmpty());
  ui.replaceText("patch.text", "too short");
  expectTidy("another number of tokens");
}

TEST_F(Ablation, PatchTextCanBeUndoneAndRedone) {
  ui.click("ablation.view.patch");
  const std::string first = "A dog saw a cat because it was a good dog .";
  ui.replaceText("patch.text", first).clickAway().wait(0.6).click("ablation.view.heads");
  ui.key(app::Key::z, {.ctrl = true});
  EXPECT_EQ(ui.scene().cursor.lab.patchText, std::string());
  EXPECT_EQ(ui.scene().cursor.lab.ablationView, app::AblationView::heads) << "where one looks is not undone";
  ui.key(app::Key::z, {.ctrl = true, .shift = true});
  EXPECT_EQ(ui.scene().cursor.lab.patchText, first);
  ui.click("ablation.view.patch").key(app::Key::z, {.ctrl = true});
  ui.click("empty.lab.patch_sample");
  EXPECT_NE(ui.scene().cursor.lab.patchText, std::string());
  ui.key(app::Key::z, {.ctrl = true});
  EXPECT_EQ(ui.scene().cursor.lab.patchText, std::string()) << "what the button typed too";
}

TEST_F(Ablation, AllOf64HeadsHaveLabelsAndBoxes) {
  app::Scene scene = ui.scene();
  scene.setup.model.heads = 64;
  scene.setup.model.kvHeads = 8;
  scene.setup.model.modelDim = 1024;
  scene.setup.model.headDim = 16;
  scene.setup.weights.source = app::WeightSource::random;
  for (const auto& [width, height] : {std::pair{1920, 1080}, {1280, 720}}) {
    ui.resize(width, height).show(scene);
    expectTidy("64 heads");
    written();
    for (app::Index head = 0; head < 64; ++head) {
      const ImRect box = ui.find(fmt::format("ablation.box.{}", head));
      EXPECT_GE(box.GetHeight(), 9) << head;
      const auto beside = [&](const app::DrawnText& text) {
        return (text.text == std::to_string(head) || text.text == app::headName(head)) &&
               text.area.Min.x > box.Min.x && text.area.Min.x < box.Max.x + 12 &&
               std::abs(text.area.GetCenter().y - box.GetCenter().y) < 3;
      };
      EXPECT_TRUE(std::ranges::any_of(app::uiState().texts, beside)) << head;
    }
    ui.click("ablation.box.37");
    ASSERT_EQ(setup().subject.switchedOff.size(), 1u);
    EXPECT_EQ(setup().subject.switchedOff.front().head, 37);
  }
}

TEST_F(Ablation, ShowsLossesForModelLayer) {
  openModel();
  for (int i = 0; i < 12; ++i) ui.draw();
  EXPECT_TRUE(ui.has("ablation.loss.3"));
  ui.click("ablation.box.1");
  for (int i = 0; i < 4; ++i) ui.draw();
  EXPECT_EQ(setup().subject.switchedOff.front().layer, 1);
  expectTidy("a model's layer");
  EXPECT_THAT(faintTexts(ui), testing::IsEmpty());
}

class SmallAblation : public LabTabOnScreen {
 protected:
  SmallAblation() : LabTabOnScreen("ablation", 1280, 720) {}
};

TEST_F(SmallAblation, FitsSmallWindow) {
  expectTidy("heads off");
  ui.click("ablation.view.hull");
  park();
  EXPECT_THAT(cutOff(ui), IsEmpty());
  ui.click("ablation.view.patch");
  ui.replaceText("patch.text", "A bird can sing the song because he was so glad .");
  expectTidy("patching");
}

}  // namespace
}  // namespace headscope::test
