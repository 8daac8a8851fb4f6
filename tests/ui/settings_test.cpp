// The settings, and the history as a list.

#include <gtest/gtest.h>

#include <functional>

#include "app/platform/preferences.h"
#include "app/platform/ui_state.h"
#include "app/scene/fields.h"
#include "app/scene/talk.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/view.h"
#include "tests/support/matchers.h"
#include "tests/support/page_check.h"
#include "tests/support/ui_driver.h"

namespace headscope::test {
namespace {

using app::ColourVision;
using app::Key;
using app::Preferences;
using app::Scene;

TEST(Settings, EachSettingHasControlAndActionAndPersists) {
  UiDriver ui(1280, 720);
  for (const app::PreferenceRow& row : app::preferenceRows()) {
    SCOPED_TRACE(row.label);
    const Preferences before = ui.view().preferences;
    ui.chord(kCtrl, Key::comma);
    ASSERT_EQ(ui.dialog(), "settings");
    ui.type(row.label);
    const std::string name = std::string("settings.") + row.key;
    const std::string control = std::holds_alternative<app::FactorSetting>(row.kind)   ? name + ".larger"
                                : std::holds_alternative<app::SwitchSetting>(row.kind) ? name
                                : std::holds_alternative<app::ListSetting>(row.kind)   ? name + ".comma"
                                : ui.view().preferences.light                          ? name + ".off"
                                                                                       : name + ".on";
    ui.click(control);
    EXPECT_NE(app::settingText(row, ui.view().preferences), app::settingText(row, before));
    EXPECT_EQ(app::loadPreferences(), ui.view().preferences) << "kept";
    ui.key(Key::escape).chord(kCtrl, Key::k).type(row.name).key(Key::enter);
    EXPECT_EQ(ui.dialog(), "");
    EXPECT_EQ(app::parsePreferences(app::formatPreferences(before)), before) << "what is written is read";
  }
}

TEST(Settings, SearchFiltersSettings) {
  UiDriver ui(1280, 720);
  ui.chord(kCtrl, Key::comma).type("motion");
  EXPECT_TRUE(ui.has("settings.reduced_motion"));
  EXPECT_FALSE(ui.has("settings.high_contrast"));
  ui.key(Key::escape).chord(kCtrl, Key::comma).type("colour-blind");
  EXPECT_TRUE(ui.has("vision.2"));
  EXPECT_FALSE(ui.has("settings.reduced_motion"));
  ui.key(Key::escape).chord(kCtrl, Key::comma).type("zzz");
  EXPECT_THAT(ui.names("settings."), testing::ElementsAre("settings.search"));
}

TEST(Settings, DialogFitsAtEveryTextSize) {
  UiDriver ui(1280, 720);
  for (const float size : {0.8f, 1.0f, 1.75f, 2.5f})
    for (const bool light : {false, true}) {
      ui.view().preferences.textSize = size;
      ui.view().preferences.light = light;
      ui.request("settings");
      EXPECT_THAT(cutOff(ui), IsEmpty()) << size;
      ui.key(Key::escape);
    }
}

TEST(Settings, HighContrastReaches7To1OnEveryPage) {
  UiDriver ui(1280, 720);
  ui.view().preferences.highContrast = true;
  for (const bool light : {false, true})
    for (const app::PageRow& page : app::pageTable()) {
      SCOPED_TRACE(std::string(page.info.key) + (light ? ", light" : ", dark"));
      ui.view().preferences.light = light;
      ui.session().scene().cursor.page = page.info.key;
      ui.park();
      EXPECT_THAT(faintTexts(ui, 7), IsEmpty());
    }
}

TEST(Settings, CaptionCanBeHiddenWhilePresenting) {
  UiDriver ui(1280, 720);
  ui.view().present = true;
  ui.draw();
  EXPECT_GT(ui.find("caption").GetWidth(), 1);
  ui.request("appearance.captions");
  EXPECT_LT(ui.find("caption").GetWidth(), 1);
}

/// Query, key and value can be told apart with every kind of colour vision, and the colormaps' values by
/// everyone.
TEST(ColourVisions, ThemeColoursAndColormapsStayDistinguishable) {
  for (const app::Theme* theme :
       {&app::darkTheme(), &app::lightTheme(), &app::strongTheme(false), &app::strongTheme(true)})
    for (const ColourVision vision : {ColourVision::normal, ColourVision::protanopia,
                                      ColourVision::deuteranopia, ColourVision::tritanopia})
      EXPECT_GE(app::leastDifference(vision, {app::unpacked(theme->query), app::unpacked(theme->key),
                                              app::unpacked(theme->value)}),
                10)
          << (theme->light ? "light, " : "dark, ") << static_cast<int>(vision);
  for (const render::Colormap map : render::kColormaps)
    for (const ColourVision vision :
         {ColourVision::normal, ColourVision::protanopia, ColourVision::deuteranopia,
          ColourVision::tritanopia, ColourVision::greyscale}) {
      if (map == render::Colormap::diverging && vision == ColourVision::greyscale) continue;
      EXPECT_GE(app::leastStep(vision, map), 10) << render::name(map) << ", " << static_cast<int>(vision);
    }
  EXPECT_LT(app::leastStep(ColourVision::greyscale, render::Colormap::diverging), 10)
      << "its ends are as bright";
  const render::Color grey{0.5f, 0.5f, 0.5f, 1};
  for (const ColourVision vision :
       {ColourVision::protanopia, ColourVision::deuteranopia, ColourVision::tritanopia})
    EXPECT_LT(app::colourDifference(app::seenBy(vision, grey), grey), 1) << "grey is grey to everyone";
}

TEST(HistoryList, NamesEachStepAndJumpsToIt) {
  UiDriver ui(1280, 720);
  ui.click("weights.random").typeValue("heads", "4").click("bias");
  ui.chord(kCtrl, static_cast<Key>('H'));
  ASSERT_EQ(ui.dialog(), "history");
  app::UiState& state = app::uiState();
  state.watches = true;
  ui.frames(2);
  std::vector<std::string> texts;
  for (const app::DrawnText& text : state.texts) texts.push_back(text.text);
  EXPECT_THAT(texts, testing::Contains("Start"));
  EXPECT_THAT(texts, testing::Contains(HasSubstr("Heads 8 → 4")));
  EXPECT_THAT(texts, testing::Contains(HasSubstr("Bias off → on")));
  EXPECT_EQ(ui.names("history.").size(), 4u);
  ui.click("history.0");
  EXPECT_EQ(ui.scene().setup, app::openingScene().setup);
  EXPECT_EQ(ui.dialog(), "history") << "it stays, for looking";
  ui.park().key(Key::up).key(Key::up);
  EXPECT_EQ(ui.scene().setup.model.heads, 4);
  EXPECT_FALSE(ui.scene().setup.model.bias);
  ui.key(Key::enter);
  EXPECT_EQ(ui.dialog(), "");
  ui.chord(kCtrlShift, Key::z);
  EXPECT_TRUE(ui.scene().setup.model.bias) << "what comes after is still there";
}

TEST(HistoryList, NamesEditsOfSeveralFields) {
  const Scene before = app::openingScene();
  Scene now = before;
  EXPECT_EQ(app::changeName(before, now), "Edit");
  now.setup.model.heads = 4;
  now.setup.model.kvHeads = 1;
  now.setup.model.bias = true;
  now.cursor.page = "mask";
  EXPECT_EQ(app::changeName(before, now), "Heads 8 → 4, KV heads 2 → 1, and 1 more");
}

std::string stepName(const std::function<void(Scene&)>& change, const Scene& before = app::openingScene()) {
  Scene now = before;
  change(now);
  return app::changeName(before, now);
}

TEST(HistoryList, NamesEditsByWhatTheyChange) {
  using attention::Behaviour;
  EXPECT_EQ(stepName([](Scene& s) { s.setup.weights.source = app::WeightSource::random; }),
            "Weights source Planted → Random");
  EXPECT_EQ(stepName([](Scene& s) {
              s.setup.weights.planted[3] = {Behaviour::separator, 1};
            }),
            "Head 3 uniform → separator");
  EXPECT_EQ(stepName([](Scene& s) {
              s.setup.subject.switchedOff = {{0, 3, app::HeadOff::zero}};
            }),
            "Heads off none → 0.3");
  EXPECT_EQ(stepName([](Scene& s) { s.compare.answer = 7; }), "Answer −1 → 7");
  EXPECT_EQ(stepName([](Scene& s) { s.setup.weights.file = "/home/somebody/a folder/layer.npz"; }),
            "Weights file none → “layer.npz”");
  EXPECT_EQ(stepName([](Scene& s) { s.cursor.lab.patchText = "dogs bark"; }),
            "Patch text none → “dogs bark”");
  EXPECT_EQ(stepName([](Scene& s) {
              s.look.strokes.edit().push_back({"heads", "", {}, true, {}});
            }),
            "Pen strokes 0 → 1");
}

TEST(HistoryList, NamesTextsByWhatDiffersInThem) {
  const std::string text = app::openingScene().setup.input.text;
  const auto typed = [&](std::string now) {
    return stepName([&](Scene& s) { s.setup.input.text = std::move(now); });
  };
  EXPECT_EQ(typed("The animal didn't cross the street because she was too tired ."),
            "Text “…because it…” → “…because she…”");
  EXPECT_EQ(typed(""), "Text “The animal didn't cross the…” → none");
  std::string longer;
  for (int i = 0; i < 1000; ++i) longer += "ένα ";
  EXPECT_LT(typed(longer).size(), 120u);
  EXPECT_THAT(typed(text + "\nA second line"), HasSubstr("A second line"));
}

TEST(HistoryList, NamesEditsOfTablesPaintingsAndTalks) {
  Scene scene = app::openingScene();
  attention::Table table;
  table.names = {"cat", "dog"};
  table.values = attention::Matrix::Zero(2, 3);
  scene.setup.input.table = table;
  EXPECT_EQ(stepName([](Scene& s) { s.setup.input.table.edit().values(1, 2) = 1; }, scene),
            "Vector of “dog”");
  EXPECT_EQ(stepName([](Scene& s) { s.setup.input.table.edit().values.setOnes(); }, scene),
            "Word vectors: 2 rows");
  EXPECT_EQ(stepName([](Scene& s) { s.setup.input.table = attention::Table{}; }, scene),
            "Word vectors 2 × 3 → 0 × 0");
  const auto painted = [](attention::Index end) {
    attention::CellTable cells;
    cells.queries = cells.keys = 8;
    cells.rows.resize(8);
    cells.rows[2] = std::make_shared<const attention::CellRow>(attention::CellRow{{{1, 3}}, {{4, end}}});
    return app::SharedValue<attention::CellTable>(cells);
  };
  EXPECT_EQ(stepName([&](Scene& s) { s.setup.mask.paintings["a"] = painted(5); }), "Mask: 3 cells painted");
  scene.setup.mask.paintings["a"] = painted(5);
  EXPECT_EQ(stepName([&](Scene& s) { s.setup.mask.paintings["a"] = painted(7); }, scene),
            "Mask: 2 cells painted");
  scene.talk.edit().views = {{"First", "", app::viewScene(scene)}, {"Second", "", app::viewScene(scene)}};
  EXPECT_EQ(stepName([](Scene& s) { s.talk.edit().views[1].notes = "Ask"; }, scene), "Talk: notes of view 2");
  EXPECT_EQ(stepName([](Scene& s) { s.talk.edit().views.pop_back(); }, scene), "Talk 2 views → 1");
}

}  // namespace
}  // namespace headscope::test
