// The window as a whole: the list of actions, the sheet of shortcuts, appearance, Present, small windows.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <optional>

#include "app/platform/imgui_compat.h"
#include "app/shell/workspace.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/ui_driver.h"

namespace headscope::test {
namespace {

using app::Key;
using app::Scene;

TEST(Palette, FiltersAndRunsActionOnEnter) {
  UiDriver ui;
  ui.chord(kCtrl, Key::k);
  ASSERT_EQ(ui.dialog(), "palette");
  const std::size_t all = ui.names("palette.").size();
  ui.type("dark and");
  const std::size_t found = ui.names("palette.").size();
  EXPECT_LT(found, all);
  EXPECT_TRUE(ui.has("palette.Switch between dark and light"));
  ui.key(Key::enter);
  EXPECT_EQ(ui.dialog(), "");
  EXPECT_TRUE(ui.view().preferences.light);
}

TEST(Palette, ArrowsSelectAndClickRunsAnAction) {
  UiDriver ui;
  ui.chord(kCtrl, Key::k).type("make text").key(Key::down).key(Key::enter);
  EXPECT_LT(ui.view().preferences.textSize, 1) << "the second of larger, smaller";
  ui.chord(kCtrl, Key::k).type("larger").click("palette.Make text larger");
  EXPECT_EQ(ui.view().preferences.textSize, 1);
  EXPECT_EQ(ui.dialog(), "");
}

TEST(Palette, EveryActionCanBeReached) {
  std::vector<app::Action> actions;
  {
    UiDriver ui;
    actions = ui.session().actions().all();
  }
  EXPECT_GE(actions.size(), 40u);
  // Starting takes most of the time, so several actions share a window; the leftovers of one must not
  // hide the next.
  constexpr std::size_t kOneAfterTheOther = 12;
  std::optional<UiDriver> ui;
  for (std::size_t i = 0; i < actions.size(); ++i) {
    if (i % kOneAfterTheOther == 0) ui.emplace();
    const app::Action& info = actions[i];
    if (info.id == "palette" || info.id == "quit") continue;
    ui->chord(kCtrl, Key::k);
    ui->type(info.name);
    ui->key(Key::enter);
    EXPECT_NE(ui->dialog(), "palette") << info.name;
    ui->key(Key::escape);
    EXPECT_EQ(ui->dialog(), "") << info.name;
  }
}

/// Everyday words for things find the right action.
TEST(Palette, FindsActionsByEverydayWords) {
  UiDriver ui;
  const auto first = [&](const char* words) {
    const app::Action* best = nullptr;
    for (const app::Action& action : ui.session().actions().all())
      if (const int how = action.matches(words); how > (best ? best->matches(words) : 0)) best = &action;
    return best ? best->id : "nothing";
  };
  const std::pair<const char*, std::vector<std::string>> kNames[] = {
      {"export", {"picture.save", "mask.save", "head.copy", "scene.save_as"}},
      {"save", {"scene.save", "picture.save", "mask.save"}},
      {"picture", {"picture.save", "picture.save_head"}},
      {"screenshot", {"picture.save"}},
      {"dark mode", {"appearance.theme"}},
      {"Dark Mode", {"appearance.theme"}},
      {"font size", {"appearance.larger", "appearance.smaller", "appearance.normal"}},
      {"settings", {"appearance.theme", "appearance.larger", "cost.machines"}},
      {"ablate", {"model.switch", "lab.switch", "lab.ablation", "model.restore"}},
      {"patch", {"lab.patch_sample", "lab.ablation"}},
      {"prune", {"model.switch", "lab.ablation"}},
      {"logit lens", {"model.lens_earlier", "model.lens_later"}},
      {"zoom", {"map.cells", "map.whole", "model.larger", "appearance.larger", "look.focus"}},
      {"reset", {"scene.reset", "model.restore", "appearance.normal", "lesson.restore"}}};
  for (const auto& [words, ids] : kNames)
    for (const std::string& id : ids)
      EXPECT_GT(ui.session().actions().find(id).matches(words), 0) << words << id;
  EXPECT_EQ(first("dark mode"), "appearance.theme");
  EXPECT_EQ(first("screenshot"), "picture.save");
  EXPECT_EQ(first("attribution"), "model.view.attribution");
  EXPECT_EQ(first("lens"), "model.view.lens");
  EXPECT_EQ(ui.session().actions().find("appearance.theme").matches("ark mode"), 0)
      << "words from their start";
  EXPECT_EQ(ui.session().actions().find("scene.reset").matches("reset logit"), 0) << "all of the words";
  ui.chord(kCtrl, Key::k).type("screenshot").key(Key::enter);
  EXPECT_EQ(ui.dialog(), "Save a picture");
}

TEST(Palette, NoMatchDoesNothing) {
  UiDriver ui;
  const Scene before = ui.scene();
  ui.chord(kCtrl, Key::k).type("zzz");
  EXPECT_THAT(ui.names("palette."), testing::UnorderedElementsAre("palette.search", "palette.sentence"))
      << "the line, and the offer to use it as the text";
  ui.key(Key::enter).key(Key::escape);
  EXPECT_EQ(ui.dialog(), "");
  EXPECT_EQ(ui.sceneText(), UiDriver::textOf(before));
}

TEST(Palette, OpensFromATextBoxAndTheBar) {
  UiDriver ui;
  ui.click("text").chord(kCtrl, Key::k);
  EXPECT_EQ(ui.dialog(), "palette");
  ui.type("bias");
  EXPECT_EQ(ui.scene().setup.input.text, app::openingScene().setup.input.text)
      << "the letters go to the search";
  ui.key(Key::escape).click("bar.palette");
  EXPECT_EQ(ui.dialog(), "palette");
}

TEST(Shortcuts, ShiftF1OpensTheSheetAndEscapeClosesIt) {
  UiDriver ui;
  ui.park();
  const render::Image before = ui.screenshot();
  ui.key(Key::f1, {.shift = true});
  EXPECT_EQ(ui.dialog(), "shortcuts");
  EXPECT_GT(pixelsApart(before, ui.screenshot(), ui.find("dialog")), 10000);
  ui.key(Key::escape);
  EXPECT_EQ(ui.dialog(), "");
  EXPECT_EQ(pixelsApart(before, ui.screenshot()), 0);
  ui.key(Key::slash, {.shift = true});
  EXPECT_EQ(ui.dialog(), "shortcuts");
}

TEST(Shortcuts, DoNothingWhileADialogIsOpen) {
  UiDriver ui;
  ui.click("bias");
  const Scene before = ui.scene();
  ui.key(Key::f1, {.shift = true}).chord(kCtrl, Key::z).key(Key::p).chord(kCtrl, Key::o);
  EXPECT_EQ(ui.dialog(), "shortcuts");
  EXPECT_FALSE(ui.view().present);
  EXPECT_EQ(ui.sceneText(), UiDriver::textOf(before));
}

TEST(Shortcuts, NoTwoActionsShareAShortcut) {
  UiDriver ui;
  const std::vector<app::Action>& actions = ui.session().actions().all();
  for (std::size_t i = 0; i < actions.size(); ++i)
    for (std::size_t j = i + 1; j < actions.size(); ++j) {
      const bool none = actions[i].shortcut.key == Key::none;
      EXPECT_TRUE(none || actions[i].shortcut != actions[j].shortcut || actions[i].page != actions[j].page)
          << actions[i].name << " and " << actions[j].name;
    }
}

TEST(Appearance, SwitchingThemeTwiceRestoresThePicture) {
  UiDriver ui;
  ui.park();
  const render::Image dark = ui.screenshot();
  ui.chord(kCtrl, Key::l);
  EXPECT_TRUE(ui.view().preferences.light);
  const render::Image light = ui.screenshot();
  EXPECT_GT(pixelsApart(dark, light), 1600 * 900 / 2);
  ui.chord(kCtrl, Key::l);
  EXPECT_EQ(pixelsApart(dark, ui.screenshot()), 0);
}

TEST(Appearance, TextSizeStopsAtItsLimits) {
  UiDriver ui;
  const float height = ui.find("bias").GetHeight();
  ui.chord(kCtrl, Key::equal);
  EXPECT_FLOAT_EQ(ui.view().preferences.textSize, 1.125f);
  EXPECT_GT(ui.find("bias").GetHeight(), height) << "controls grow with their text";
  ui.chord(kCtrlShift, Key::equal);
  EXPECT_FLOAT_EQ(ui.view().preferences.textSize, 1.25f);
  ui.chord(kCtrl, Key::d0);
  EXPECT_EQ(ui.find("bias").GetHeight(), height);
  for (int i = 0; i < 12; ++i) ui.chord(kCtrl, Key::minus);
  EXPECT_FLOAT_EQ(ui.view().preferences.textSize, 0.8f);
  for (int i = 0; i < 12; ++i) ui.chord(kCtrl, Key::equal);
  EXPECT_FLOAT_EQ(ui.view().preferences.textSize, 2.5f);
  EXPECT_FALSE(ui.session().document().canUndo()) << "how large text is, is not part of the scene";
}

TEST(Appearance, IsRemembered) {
  UiDriver ui;
  ui.chord(kCtrl, Key::l).chord(kCtrl, Key::equal);
  const app::Preferences kept = app::loadPreferences();
  EXPECT_TRUE(kept.light);
  EXPECT_FLOAT_EQ(kept.textSize, 1.125f);
  const std::filesystem::path file =
      std::filesystem::path(std::getenv("XDG_CONFIG_HOME")) / "headscope" / "preferences.json";
  for (const char* broken :
       {"", "[", "{\"light\": 3, \"text_size\": \"big\"}", "{\"text_size\": 1e30}", "null"}) {
    putFile(file, broken);
    const app::Preferences preferences = app::loadPreferences();
    EXPECT_FALSE(preferences.light) << broken;
    EXPECT_GE(preferences.textSize, 0.8f);
    EXPECT_LE(preferences.textSize, 2.5f);
  }
}

TEST(Present, ShowsOnlyTheHeadsAndRestoresTheWindow) {
  UiDriver ui;
  ui.park();
  const render::Image before = ui.screenshot();
  const float width = ui.find("head.0").GetWidth();
  ui.key(Key::p);
  EXPECT_TRUE(ui.view().present);
  EXPECT_FALSE(ui.has("heads.track")) << "no panels";
  EXPECT_FALSE(ui.has("bars.q"));
  EXPECT_GT(ui.find("head.0").GetWidth(), width) << "the heads take the room";
  ui.click("head.5");
  EXPECT_EQ(ui.scene().cursor.focus, 5);
  EXPECT_TRUE(ui.has("bars.q")) << "one head has its receipt beside it";
  ui.key(Key::escape);
  EXPECT_TRUE(ui.view().present) << "first back to the grid";
  ui.key(Key::escape);
  EXPECT_FALSE(ui.view().present);
  ui.session().scene().cursor = app::openingScene().cursor;
  ui.park();
  // The status line, which is left out, now counts the focused head's texture.
  EXPECT_EQ(pixelsApart(before, ui.screenshot(), ImRect(0, 0, 1600, 900 - 32)), 0);
  ui.click("bar.present");
  EXPECT_TRUE(ui.view().present);
  ui.key(Key::p);
  EXPECT_FALSE(ui.view().present);
}

/// Screens of 4K to 6K, upright too, and 300 % with text at 250 %.
TEST(Present, FillsLargeScreens) {
  UiDriver ui;
  for (const auto& [width, height, scale, text] : {std::tuple(3840, 2160, 3.0f, 2.5f),
                                                   {5120, 2880, 1.0f, 1.0f},
                                                   {2160, 3840, 1.0f, 1.0f},
                                                   {6016, 3384, 2.0f, 1.0f}}) {
    SCOPED_TRACE(width);
    ui.view().preferences.textSize = text;
    ui.resize(width, height, scale);
    ui.view().present = true;
    ui.draw();
    EXPECT_FALSE(ui.names("head.").empty());
    EXPECT_NEAR(app::compat::sizeOf(ui.view().fonts->display), 56 * ui.view().unit, 0.51f);
    ui.view().present = false;
  }
}

TEST(SmallWindow, ReceiptIsADrawer) {
  UiDriver ui(1280, 720);
  EXPECT_FALSE(ui.has("bars.q"));
  EXPECT_EQ(ui.names("head.").size(), 8u);
  ui.click("bar.receipt");
  EXPECT_TRUE(ui.has("bars.q"));
  EXPECT_LE(ui.find("head.7").Max.x, ui.find("bars.q").Min.x) << "the heads give way";
  ui.key(Key::r);
  EXPECT_FALSE(ui.has("bars.q"));
  ui.key(Key::r).key(Key::escape);
  EXPECT_FALSE(ui.has("bars.q"));
}

TEST(SmallWindow, DrawerBlocksClicksToTheHeads) {
  UiDriver ui(1280, 720);
  ui.key(Key::r).moveTo(1200, 300).press().release();
  EXPECT_EQ(ui.scene().cursor.focus, -1) << "the head behind it was not clicked";
  ui.hover("bars.q");
  EXPECT_EQ(ui.view().hover, app::Crosshair{}) << "nor is it pointed at";
  // The heads don't show through it either: other colours change none of its pixels.
  const ImRect bars = ui.find("bars.q");
  const render::Image before = ui.screenshot();
  ui.session().scene().look.colormap = render::Colormap::greys;
  ui.draw();
  EXPECT_EQ(pixelsApart(before, ui.screenshot(), ImRect(bars.Min.x, bars.Min.y, bars.Max.x, 680)), 0);
  ui.click("top.1");
  EXPECT_EQ(ui.scene().cursor.focus, -1);
}

TEST(SmallWindow, ListsAndDialogsCoverTheDrawer) {
  UiDriver ui(1280, 720);
  ui.choose("colormap", "magma").key(Key::r).chord(kCtrl, Key::k).type("dark and light");
  ui.key(Key::enter);
  EXPECT_TRUE(ui.view().preferences.light);
  ui.key(Key::f1, {.shift = true}).moveTo(1200, 300).press().release();
  EXPECT_EQ(ui.dialog(), "") << "a click beside the sheet closes it, on the drawer too";
}

TEST(SmallWindow, EveryControlCanBeReached) {
  UiDriver ui(1280, 720);
  for (const char* name : {"heads", "kv_heads", "model_dim", "sharpness", "causal", "streaming",
                           "open_studio", "position.t5", "weights.random", "plant.7", "weight_seed",
                           "text_seed", "quantity", "range", "colormap", "decode.forward"})
    EXPECT_NO_THROW(ui.find(name)) << name;
  ui.choose("colormap", "diverging").choose("plant.7", "self");
}

TEST(SmallWindow, ResizingBackRestoresThePicture) {
  UiDriver ui;
  const render::Image before = ui.screenshot();
  ui.resize(1280, 720);
  EXPECT_FALSE(ui.has("bars.q"));
  ui.resize(3200, 1800, 2);
  EXPECT_TRUE(ui.has("bars.q"));
  ui.resize(1600, 900);
  EXPECT_EQ(pixelsApart(before, ui.screenshot()), 0);
}

/// No size may crash the program or put a control out of reach; whether everything fits is another matter.
TEST(SmallWindow, DrawsAtAnySize) {
  UiDriver ui;
  for (const auto& [width, height, scale] :
       {std::tuple(320, 240, 1.0f), {400, 2000, 1.0f}, {2400, 300, 1.0f}, {800, 600, 3.0f}}) {
    ui.resize(width, height, scale);
    EXPECT_EQ(ui.screenshot().width, width);
    ui.session().scene().cursor.focus = 2;
    ui.draw();
    ui.session().scene().cursor.focus = -1;
    ui.view().present = true;
    ui.draw();
    ui.view().present = false;
    for (const char* action : {"palette", "shortcuts", "scene.open", "mask.gallery"}) {
      ui.request(action);
      EXPECT_NE(ui.dialog(), "");
      ui.view().dialog.reset();
    }
    ui.session().scene().cursor.page = "heads";
    ui.view().dialog = std::make_shared<app::QuitDialog>(
        std::vector<app::UnsavedLine>{{"a scene", "edited", false}}, [](std::size_t) {}, [] {});
    ui.draw();
    ui.view().dialog.reset();
  }
}

TEST(Input, LosingFocusReleasesTheMouseButton) {
  UiDriver ui;
  const ImRect track = ui.find("sharpness.track");
  ui.moveTo(track.GetCenter().x, track.GetCenter().y).press();
  app::InputEvent lost;
  lost.kind = app::InputEvent::Kind::focusLost;
  ui.app().input().push(lost);
  ui.draw();
  const Scene before = ui.scene();
  ui.moveTo(track.Max.x, track.GetCenter().y);
  EXPECT_EQ(ui.sceneText(), UiDriver::textOf(before)) << "the button is not down any more";
}

TEST(Input, QueuedClicksAllCount) {
  UiDriver ui;
  const ImVec2 at = ui.find("bias").GetCenter();
  ui.moveTo(at.x, at.y);
  for (int i = 0; i < 5; ++i)
    for (const bool down : {true, false}) {
      app::InputEvent event;
      event.kind = app::InputEvent::Kind::mouseButton;
      event.down = down;
      ui.app().input().push(event);
    }
  ui.frames(1);
  EXPECT_TRUE(ui.scene().setup.model.bias) << "five times is on";
}

TEST(Rest, DrawsNothingWhileIdle) {
  UiDriver ui;
  ui.park().wait(0.5);
  EXPECT_TRUE(std::isinf(ui.session().nextFrameIn()));
  ui.click("decode.play").wait(0.1);
  EXPECT_FALSE(std::isinf(ui.session().nextFrameIn())) << "while it plays, time matters";
}

}  // namespace
}  // namespace headscope::test
