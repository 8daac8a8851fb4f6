// The control of every field of the document, found only by the table of fields.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "app/scene/fields.h"
#include "app/scene/scene_json.h"
#include "attention/formats/safetensors.h"
#include "tests/support/small_problem.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/ui_driver.h"

namespace headscope::test {
namespace {

using app::Field;
using Json = nlohmann::ordered_json;

Json::json_pointer pointerOf(std::string path) {
  std::replace(path.begin(), path.end(), '.', '/');
  return Json::json_pointer("/" + path);
}

/// A control's name and the settings under which it exists; fields without a control have no name.
struct ControlPlace {
  std::string name, when;
};

ControlPlace placeOf(const Field& field) {
  if (const auto* slider = std::get_if<app::Slider>(&field.control)) return {slider->name, slider->when};
  if (const auto* toggle = std::get_if<app::Toggle>(&field.control)) return {toggle->name, toggle->when};
  if (const auto* choice = std::get_if<app::Selection>(&field.control)) return {choice->name, choice->when};
  return {};
}

class FieldControls : public testing::Test {
 protected:
  FieldControls() {
    attention::SafetensorsFile file;
    for (const char* layer : {"layers.0", "layers.1", "layers.2"}) {
      file.tensors[std::string(layer) + ".q"] = gaussianTensor({2, 40, 8}, 1);
      file.tensors[std::string(layer) + ".k"] = gaussianTensor({2, 40, 8}, 2);
    }
    EXPECT_TRUE(attention::writeSafetensors(folder / "QK.safetensors", file).ok());
  }

  /// Shows the opening scene with the control of a field on screen.
  void show(const Field& field) {
    Json json = Json::parse(app::formatScene(app::openingScene()));
    json["map"]["file"] = (folder / "QK.safetensors").string();
    std::istringstream settings(placeOf(field).when);
    for (std::string setting; settings >> setting;) {
      const std::size_t equals = setting.find('=');
      const std::string value = setting.substr(equals + 1);
      const Json parsed = Json::parse(value, nullptr, false);
      json.at(pointerOf(setting.substr(0, equals))) = parsed.is_discarded() ? Json(value) : parsed;
    }
    // Long texts would take long. Without weights nothing is computed, and the controls are the same.
    if (json["map"]["source"] == "generated")
      json["weights"].update({{"source", "file"}, {"file", "nowhere.safetensors"}});
    const auto scene = app::parseScene(json.dump(), "scene");
    ASSERT_TRUE(scene.ok()) << scene.error().message;
    ui.show(*scene);
  }
  /// The field's value in the scene's JSON.
  Json value(const Field& field) {
    return Json::parse(app::formatScene(ui.scene())).at(pointerOf(std::string(field.path)));
  }
  /// Closes a dialog that a choice has opened.
  void closeDialog() {
    if (ui.view().dialog) ui.key(app::Key::escape);
    ui.draw();
  }

  TemporaryFolder folder;
  UiDriver ui{1920, 1200};
};

TEST_F(FieldControls, SlidersReachBothEndsAndAcceptTheFullRange) {
  for (const Field& field : app::allFields()) {
    const auto* slider = std::get_if<app::Slider>(&field.control);
    if (!slider) continue;
    SCOPED_TRACE(field.path);
    show(field);
    const app::Track track = app::trackOf(field);
    ui.dragTo(slider->name, 1.3f);
    const double most = value(field);
    if (*slider->upTo)  // another value limits the slider below its track's end
      EXPECT_TRUE(most > track.low && most <= track.high) << most;
    else
      EXPECT_FLOAT_EQ(static_cast<float>(most), static_cast<float>(track.high));
    ui.dragTo(slider->name, -0.3f);
    EXPECT_FLOAT_EQ(value(field).get<float>(), static_cast<float>(track.low));
    const auto* range = std::get_if<app::Range>(&field.values);
    if (!range || *slider->upTo) continue;
    for (const double end : {range->high, range->low}) {
      ui.typeValue(slider->name, app::shortNumber(end));
      EXPECT_FLOAT_EQ(value(field).get<float>(), static_cast<float>(end));
      ui.typeValue(slider->name, app::shortNumber(end == range->low ? end - 1 : end + 1));
      EXPECT_FLOAT_EQ(value(field).get<float>(), static_cast<float>(end));
      EXPECT_THAT(ui.view().controls.refusal.reason, testing::HasSubstr("expected"))
          << "and it is said what can be";
    }
  }
}

TEST_F(FieldControls, TogglesSwitchOnAndOff) {
  for (const Field& field : app::allFields()) {
    const auto* toggle = std::get_if<app::Toggle>(&field.control);
    if (!toggle) continue;
    SCOPED_TRACE(field.path);
    show(field);
    const bool before = value(field);
    ui.click(toggle->name);
    EXPECT_EQ(value(field), !before);
    ui.click(toggle->name);
    EXPECT_EQ(value(field), before);
  }
}

TEST_F(FieldControls, ChoicesReachEveryValue) {
  for (const Field& field : app::allFields()) {
    const auto* selection = std::get_if<app::Selection>(&field.control);
    if (!selection) continue;
    // Once backwards and once forwards, so that each choice is left and returned to.
    for (const bool back : {true, false})
      for (std::size_t i = 0; i < selection->labels.size(); ++i) {
        const std::string choice = app::choiceName(field, back ? selection->labels.size() - 1 - i : i);
        SCOPED_TRACE(std::string(field.path) + " = " + choice);
        if (i == 0) show(field);
        const std::string page = ui.scene().cursor.page;
        if (selection->list)
          ui.choose(selection->name, choice);
        else
          ui.click(std::string(selection->name) + "." + choice);
        closeDialog();
        if (ui.scene().cursor.page != page) {  // a typed table opens its editor
          ui.session().scene().cursor.page = page;
          ui.draw();
        }
        const Json now = value(field);
        EXPECT_EQ(now.is_string() ? now.get<std::string>() : now.dump(), choice);
      }
  }
}

TEST_F(FieldControls, HelpAppearsAfterHoveringALabel) {
  for (const Field& field : app::allFields()) {
    const std::string name = placeOf(field).name;
    if (name.empty()) continue;
    SCOPED_TRACE(field.path);
    show(field);
    const auto* selection = std::get_if<app::Selection>(&field.control);
    const bool buttons = selection && !selection->list;
    ui.park();
    ui.hoverAt(buttons ? name + "." + app::choiceName(field, 0) : name, selection ? 0.5f : 0.03f, 0.5f);
    EXPECT_FALSE(ui.has("help." + name)) << "not at once";
    EXPECT_LE(ui.session().nextFrameIn(), app::kHelpDelay) << "a frame is drawn for it without any input";
    ui.wait(app::kHelpDelay);
    EXPECT_TRUE(ui.has("help." + name));
    ui.park();
    EXPECT_FALSE(ui.has("help." + name));
  }
}

/// Help doesn't cover what was just pressed until the pointer comes to it again.
TEST_F(FieldControls, HelpStaysHiddenAfterPressing) {
  ui.key(static_cast<app::Key>('5')).click("cache_view.precision").wait(3 * app::kHelpDelay);
  EXPECT_FALSE(ui.has("help.cache_view"));
  ui.park().hover("cache_view.precision").wait(app::kHelpDelay + 0.1);
  EXPECT_TRUE(ui.has("help.cache_view"));
}

}  // namespace
}  // namespace headscope::test
