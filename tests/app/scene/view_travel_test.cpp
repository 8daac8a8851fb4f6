#include <gtest/gtest.h>

#include "app/pages/talk/talk_page.h"
#include "app/scene/fields.h"

namespace headscope::app::talk_page {
namespace {

TEST(ViewTravel, InterpolatesNumbersThroughValidScenes) {
  Scene from = openingScene(), to = from;
  from.setup.model.softcap = 0;
  to.setup.model.softcap = 20;
  from.cursor.decoding = to.cursor.decoding = true;
  from.cursor.step = 4;
  to.cursor.step = 12;
  ViewTravel travel;
  ASSERT_TRUE(travel.begin(from, to, 10));
  Scene scene = to;
  float softcap = -1;
  Index step = 0;
  for (int i = 0; i <= 10; ++i) {
    travel.advance(scene, 10 + kWalkSeconds * i / 10);
    EXPECT_TRUE(validate(scene).ok());
    EXPECT_GE(scene.setup.model.softcap, softcap);
    EXPECT_GE(scene.cursor.step, step);
    softcap = scene.setup.model.softcap;
    step = scene.cursor.step;
    if (i == 0) {
      EXPECT_EQ(scene, from);
    }
    if (i == 5) {
      EXPECT_FLOAT_EQ(softcap, 10);
    }
  }
  EXPECT_EQ(scene, to);
  EXPECT_FALSE(travel.active());
}

TEST(ViewTravel, MapZoomsExponentially) {
  Scene from = openingScene();
  from.cursor.page = "map";
  from.cursor.map = {100, 100, 0.01, -1, -1};
  Scene to = from;
  to.cursor.map = {900, 500, 1, -1, -1};
  ViewTravel travel;
  ASSERT_TRUE(travel.begin(from, to, 0));
  Scene scene = to;
  travel.advance(scene, kWalkSeconds / 2);
  EXPECT_NEAR(scene.cursor.map.cellsPerPixel, 0.1, 1e-6);
  EXPECT_NEAR(scene.cursor.map.row, 500, 1e-6);
  travel.finish(scene);
  EXPECT_EQ(scene, to);
}

TEST(ViewTravel, SkipsViewsDifferingInMoreThanNumbers) {
  const Scene from = openingScene();
  Scene to = from;
  ViewTravel travel;
  EXPECT_FALSE(travel.begin(from, to, 0)) << "nothing to do";
  to.setup.model.softcap = 20;
  to.setup.model.kvHeads = 1;
  EXPECT_FALSE(travel.begin(from, to, 0));
  to = from;
  to.setup.model.softcap = 20;
  to.cursor.page = "map";
  EXPECT_FALSE(travel.begin(from, to, 0));
  to = from;
  to.cursor.map.cellsPerPixel = 1;
  EXPECT_FALSE(travel.begin(from, to, 0)) << "the whole map is no number of cells";
}

TEST(ViewTravel, KeepsUserChangesDuringTravel) {
  Scene from = openingScene(), to = from;
  to.setup.model.softcap = 20;
  to.setup.model.sharpness = 2;
  ViewTravel travel;
  ASSERT_TRUE(travel.begin(from, to, 0));
  Scene scene = to;
  travel.advance(scene, 0.2);
  scene.setup.model.softcap = 50;
  travel.finish(scene);
  EXPECT_EQ(scene.setup.model.softcap, 50);
  EXPECT_EQ(scene.setup.model.sharpness, 2);
}

}  // namespace
}  // namespace headscope::app::talk_page
