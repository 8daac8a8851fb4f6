// The cache page's animations from one step to the next, and from one number of kv heads to another.

#include <gtest/gtest.h>

#include <cmath>

#include "app/pages/cache/cache_page.h"
#include "tests/support/ui_driver.h"

namespace headscope::test {
namespace {

using app::Key;
using app::cache_page::FieldMoment;
using app::cache_page::FieldMotion;
using attention::Index;

constexpr FieldMotion::Shown kShown{12, 8, 8, 9, true};

FieldMotion::Shown at(Index now, Index kvHeads = 8) {
  FieldMotion::Shown shown = kShown;
  shown.now = now;
  shown.kvHeads = kvHeads;
  return shown;
}

TEST(CacheMotion, StepMovesPlayheadAndLightsColumn) {
  FieldMotion motion;
  motion.observe(at(9), 1, true);
  EXPECT_FALSE(motion.moving(1)) << "the first picture is there at once";
  EXPECT_EQ(motion.at(1).playhead, 8);
  motion.observe(at(10), 2, true);
  EXPECT_TRUE(motion.moving(2));
  EXPECT_EQ(motion.at(2).playhead, 8);
  EXPECT_EQ(motion.at(2).light(9), 0);
  EXPECT_EQ(motion.at(2).light(8), 1) << "what was there stays as it is";
  EXPECT_NEAR(motion.at(2.06).playhead, 8.5, 1e-4);
  EXPECT_NEAR(motion.at(2.06).light(9), 0.5, 1e-4);
  EXPECT_EQ(motion.at(2.12).playhead, 9);
  EXPECT_EQ(motion.at(2.12).light(9), 1);
  EXPECT_FALSE(motion.moving(2.12));
}

TEST(CacheMotion, FastStepsContinueFromCurrentPosition) {
  FieldMotion motion;
  motion.observe(at(4), 1, true);
  motion.observe(at(5), 1.05, true);
  const float before = motion.at(1.1).playhead;
  motion.observe(at(6), 1.1, true);
  EXPECT_EQ(motion.at(1.1).playhead, before) << "no jump";
  EXPECT_GT(motion.at(1.1).light(4), 0) << "the column before goes on coming up";
  EXPECT_EQ(motion.at(1.1).light(5), 0);
  EXPECT_EQ(motion.at(1.3).playhead, 5);
  // Going back, only the playhead moves; the columns vanish at once.
  motion.observe(at(4), 1.3, true);
  EXPECT_EQ(motion.at(1.3).playhead, 5);
  EXPECT_TRUE(motion.at(1.3).coming.empty());
  EXPECT_EQ(motion.at(1.5).playhead, 3);
}

TEST(CacheMotion, PrefillLightsAllColumnsTogether) {
  FieldMotion motion;
  motion.observe(at(0), 1, true);
  motion.observe(at(4), 2, true);
  EXPECT_EQ(motion.at(2).playhead, 3) << "there was no playhead before";
  for (Index token = 0; token < 4; ++token) EXPECT_EQ(motion.at(2).light(token), 0) << token;
}

TEST(CacheMotion, BandsGlideTwiceAsLongAsSteps) {
  FieldMotion motion;
  motion.observe(at(9), 1, true);
  motion.observe(at(9, 2), 2, true);
  EXPECT_EQ(motion.at(2.1).fromKvHeads, 8);
  EXPECT_NEAR(motion.at(2.12).glide, 0.5, 1e-4);
  EXPECT_TRUE(motion.moving(2.2));
  EXPECT_FALSE(motion.moving(2.24));
  EXPECT_EQ(motion.at(2.24).fromKvHeads, 0);
}

TEST(CacheMotion, NewTextAndReducedMotionSkipAnimation) {
  FieldMotion motion;
  motion.observe(at(9), 1, true);
  FieldMotion::Shown longer = at(10);
  longer.tokens = 20;
  motion.observe(longer, 2, true);
  EXPECT_FALSE(motion.moving(2));
  motion.observe(at(4, 1), 3, false);
  motion.observe(at(5, 2), 3, false);
  EXPECT_FALSE(motion.moving(3));
  EXPECT_EQ(motion.at(3).playhead, 4);
  EXPECT_EQ(motion.at(3).light(4), 1);
}

class MovingCache : public testing::Test {
 protected:
  MovingCache() : ui(1280, 720) {
    ui.view().preferences.reducedMotion = false;
    ui.key(static_cast<Key>('5')).clickAt("cache.axis", 8.5f / 12, 0.5f).park().wait(1);
  }
  const app::cache_page::Page& page() { return ui.session().page<app::cache_page::Page>(); }
  bool moves() { return page().state().drawing.motion.moving(ui.view().time); }

  UiDriver ui;
};

TEST_F(MovingCache, StepSettlesAndStopsRedrawing) {
  EXPECT_TRUE(std::isinf(page().nextFrameIn()));
  const render::Image still = ui.screenshot();
  ui.pushKey(Key::right, {}, true).frames(2);
  ASSERT_TRUE(moves());
  EXPECT_EQ(page().nextFrameIn(), 0);
  const render::Image onTheWay = ui.screenshot();
  ui.pushKey(Key::right, {}, false).wait(0.3);
  EXPECT_FALSE(moves());
  EXPECT_TRUE(std::isinf(page().nextFrameIn()));
  ui.draw();
  const render::Image settled = ui.screenshot();
  EXPECT_GT(pixelsApart(still, onTheWay), 100);
  EXPECT_GT(pixelsApart(onTheWay, settled), 100);
  // With reduced motion, the same picture appears at once.
  ui.view().preferences.reducedMotion = true;
  ui.key(Key::left).key(Key::right);
  EXPECT_FALSE(moves());
  EXPECT_EQ(pixelsApart(ui.screenshot(), settled), 0);
}

TEST_F(MovingCache, BandsGlideWhenKvHeadsMergeAndSplit) {
  for (const Index kvHeads : {8, 2, 1, 4}) {
    ui.session().scene().setup.model.kvHeads = kvHeads;
    ui.frames(1);
    ui.session().settle();
    ui.frames(2);
    ASSERT_TRUE(moves()) << kvHeads;
    const render::Image onTheWay = ui.screenshot();
    ui.wait(0.4).draw().wait(0.4);
    EXPECT_FALSE(moves());
    EXPECT_EQ(page().state().drawing.leaving.textures.bytes(), 0u) << "pictures that are gone take no memory";
    EXPECT_TRUE(std::isinf(page().nextFrameIn()));
    EXPECT_GT(pixelsApart(onTheWay, ui.screenshot()), 100) << kvHeads;
  }
}

}  // namespace
}  // namespace headscope::test
