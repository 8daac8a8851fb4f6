// The rooms of the cache page in a small window, and latent attention's sliders by mouse.

#include <gtest/gtest.h>

#include "app/labs/cache/cache_lab.h"
#include "tests/support/compare_image.h"
#include "tests/support/ui_driver.h"

namespace headscope::test {
namespace {

using app::Key;

class CacheRooms : public testing::Test {
 protected:
  CacheRooms() : ui(1280, 720) {
    ui.key(static_cast<Key>('4'));
    ui.draw();
  }
  const app::ShapeCase& latent() { return ui.session().lab<app::CacheLab>().page().shapes->value->cases[3]; }
  void room(const std::string& name) {
    ui.click("cache_room." + name);
    ui.draw();
  }
  void turnKeys() {
    ui.session().scene().setup.model.position = app::PositionKind::rope;
    ui.session().scene().setup.weights.source = app::WeightSource::random;
    room("shapes");
  }

  UiDriver ui;
};

TEST_F(CacheRooms, LookAsTheyDidInASmallWindow) {
  for (const std::string name : {"precision", "eviction", "paging"}) {
    room(name);
    ui.park();
    ui.wait(0.3);
    EXPECT_TRUE(imagesMatch(ui.screenshot(), "cache_" + name + "_720"));
  }
}

TEST_F(CacheRooms, FourShapesUnderRopeLookAsTheyDid) {
  turnKeys();
  ui.park();
  ui.wait(0.3);
  EXPECT_TRUE(imagesMatch(ui.screenshot(), "cache_shapes_720"));
}

TEST_F(CacheRooms, TheRotaryKeyIsDraggedFromNoneToAllThatTurns) {
  turnKeys();
  EXPECT_EQ(latent().rotary, 16);
  ui.dragTo("cache.rotary_dim", 0.5f);
  ui.draw();
  EXPECT_NEAR(static_cast<double>(ui.scene().cost.cache.rotary), 128, 8);
  EXPECT_EQ(ui.scene().cost.cache.rotary % 2, 0);
  EXPECT_EQ(latent().rotary, ui.scene().cost.cache.rotary);
  const double half = latent().output.all;
  ui.dragTo("cache.rotary_dim", 1.2f);
  ui.draw();
  EXPECT_EQ(latent().rotary, 8 * 32) << "8 heads of MHA, all of whose dimensions turn";
  EXPECT_LT(latent().output.all, half);
  ui.dragTo("cache.rotary_dim", -0.2f);
  ui.draw();
  EXPECT_EQ(latent().rotary, 0);
  EXPECT_GT(latent().output.all, half);
  ui.dragTo("cache.latent", 1.2f);
  ui.draw();
  EXPECT_EQ(latent().latent, 256) << "no more than the model dim";
}

}  // namespace
}  // namespace headscope::test
