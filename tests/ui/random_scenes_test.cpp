// Any document can be saved, read back, computed and drawn on every page.

#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

#include "app/pages/cost/cost_page.h"
#include "app/scene/fields.h"
#include "app/scene/scene_json.h"
#include "render/gl.h"
#include "tests/app/scene/random_scene.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/ui_driver.h"

namespace headscope::test {
namespace {

using app::Scene;

TEST(RandomScenes, SurviveSavingAndReading) {
  const TemporaryFolder folder;
  Dice dice(21);
  for (int i = 0; i < 2000; ++i) {
    const Scene scene = randomScene(dice, i % 2 ? kAnyScene : SceneSizes{});
    const auto path = folder / "scene.json";
    ASSERT_TRUE(app::writeScene(path, scene).ok());
    const auto again = app::readScene(path);
    ASSERT_TRUE(again.ok()) << again.error().message;
    ASSERT_TRUE(*again == scene) << UiDriver::textOf(scene) << "came back as\n" << UiDriver::textOf(*again);
  }
}

/// A few hundred in the normal run; HEADSCOPE_RANDOM_SCENES=2000 for more.
TEST(RandomScenes, AreComputedAndDrawnWithoutChanging) {
  const char* asked = std::getenv("HEADSCOPE_RANDOM_SCENES");
  const int count = asked ? std::atoi(asked) : 600;
  UiDriver ui;
  Dice dice(22);
  int computed = 0;
  for (int i = 0; i < count; ++i) {
    const Scene scene = randomScene(dice, {});
    SCOPED_TRACE("scene " + std::to_string(i));
    ui.show(scene);
    if (i % 10 == 0) {
      const render::Image image = ui.screenshot();
      EXPECT_EQ(image.width, 1600);
    }
    ASSERT_EQ(glGetError(), static_cast<GLenum>(GL_NO_ERROR));
    // The map computes only one head of the layer; Model and Cost compute no layer.
    const app::Snapshot* snapshot = ui.session().snapshot();
    const bool asksForLayer = scene.cursor.page != "model" && scene.cursor.page != "cost";
    if (scene.cursor.page == "cost") {
      ASSERT_EQ(ui.session().page<app::cost_page::Page>().state().figures.request.tokens, scene.cost.tokens);
    }
    if (scene.cursor.page == "map") {
      ASSERT_FALSE(ui.map().catchingUp) << "nor does the map show another head";
    } else if (asksForLayer) {
      ASSERT_TRUE(snapshot && snapshot->setup == scene.setup) << "what is shown is of this scene";
    }
    computed += ui.session().error() ? 0 : 1;
    ASSERT_TRUE(sameDocument(ui.scene(), scene)) << "looking changes nothing:\n"
                                                 << UiDriver::textOf(scene) << "became\n"
                                                 << ui.sceneText();
    const auto valid = app::validate(ui.scene());
    ASSERT_TRUE(valid.ok()) << valid.error().message;
    const auto again = app::parseScene(ui.sceneText(), "scene");
    ASSERT_TRUE(again.ok()) << again.error().message;
    ASSERT_TRUE(*again == ui.scene());
  }
  EXPECT_GT(computed, count / 2) << "most scenes can be computed";
  if (asked) std::cout << count << " scenes, " << computed << " of them without an error\n";
}

}  // namespace
}  // namespace headscope::test
