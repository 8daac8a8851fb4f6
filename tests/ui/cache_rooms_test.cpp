// The rooms of the cache page in a small window, and latent attention's sliders by mouse.

#include <gtest/gtest.h>

#include <algorithm>

#include "app/compute/drawings/scene_picture.h"
#include "app/labs/cache/cache_lab.h"
#include "app/scene/open_model.h"
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

TEST_F(CacheRooms, KeysActOverTheControlsToo) {
  const auto step = [&] { return ui.scene().cursor.step; };
  ui.key(Key::home);
  ui.key(Key::right);
  const app::Index prefill = step();
  ui.hoverAt("cache.stored.fp16", 0.5f, 0.5f);  // a choice at the left, which has no use for arrows
  ui.frames(2);
  ui.key(Key::right);
  EXPECT_EQ(step(), prefill + 1);
  ui.hover("heads.track");
  ui.frames(2);
  const app::Index heads = ui.scene().setup.model.heads;
  ui.key(Key::left);
  EXPECT_NE(ui.scene().setup.model.heads, heads) << "the slider under the pointer";
  EXPECT_EQ(step(), prefill + 1) << "and it alone";
  ui.key(Key::end);
  EXPECT_EQ(step(), 12) << "no key of a slider";
  ui.chord({.shift = true}, static_cast<Key>('2'));
  EXPECT_EQ(ui.scene().cursor.cacheRoom, app::CacheRoom::shapes);
  ui.chord({.shift = true}, static_cast<Key>('1'));
  EXPECT_EQ(ui.scene().cursor.cacheRoom, app::CacheRoom::growth);
}

TEST_F(CacheRooms, WithoutACausalMaskNothingIsCalledDecode) {
  ui.key(Key::end);
  EXPECT_TRUE(ui.has("cache.bracket.decode"));
  ui.session().scene().setup.mask.layers.clear();
  ui.draw();
  EXPECT_TRUE(ui.has("cache.reason"));
  EXPECT_TRUE(ui.has("cache.bracket.prefill"));
  EXPECT_FALSE(ui.has("cache.bracket.decode"));
  ui.click("cache.causal");
  ui.draw();
  EXPECT_TRUE(ui.has("cache.bracket.decode"));
}

/// Of the model that comes along, whose layers have three kv heads.
TEST_F(CacheRooms, AnOpenedLayersMergeIsPartOfTheScene) {
  const auto opened = app::openModel(app::kLearned);
  ASSERT_TRUE(opened.ok());
  app::Scene scene = ui.scene();
  app::adoptModel(scene, app::kLearned, *opened);
  ui.session().setScene(scene);
  room("shapes");
  const auto merged = [&] {
    return ui.session().lab<app::CacheLab>().page().shapes->value->cases[1].kvHeads;
  };
  const auto inFigure = [&](const std::string& words) {
    const auto& snapshot = ui.session().lab<app::CacheLab>().page().snapshot;
    app::Resources resources(app::defaultLimits());
    const auto drawing = app::drawPicture(app::PictureKind::page, ui.scene(), snapshot.get(), resources, {});
    return drawing.ok() && std::ranges::any_of(drawing->shapes, [&](const app::Shape& shape) {
             const auto* text = std::get_if<app::TextRun>(&shape);
             return text && text->text == words;
           });
  };
  const app::Index all = ui.session().lab<app::CacheLab>().page().snapshot->config.kvHeads;
  ASSERT_EQ(all, 3);
  EXPECT_EQ(merged(), 1);
  ui.dragTo("cache.between", 1);
  ui.draw();
  EXPECT_EQ(ui.scene().cost.cache.merged, 3);
  EXPECT_EQ(merged(), 3);
  EXPECT_TRUE(inFigure("3 kv heads")) << "Ctrl+P draws what is on screen";
  ui.key(static_cast<Key>('Z'), {.ctrl = true});
  ui.draw();
  EXPECT_EQ(merged(), 1);
}

}  // namespace
}  // namespace headscope::test
