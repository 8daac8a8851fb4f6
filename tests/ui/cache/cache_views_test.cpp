// The views of the cache page in a small window, and latent attention's sliders by mouse.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "app/compute/figures/drawing.h"
#include "app/pages/cache/cache_page.h"
#include "app/scene/models/open_model.h"
#include "app/scene/models/scene_model.h"
#include "tests/attention/models/golden_models.h"
#include "tests/support/compare_image.h"
#include "tests/support/page_check.h"

namespace headscope::test {
namespace {

using app::Key;

class CacheRooms : public testing::Test {
 protected:
  CacheRooms() : ui(1280, 720) { ui.key(static_cast<Key>('5')); }
  const app::ShapeCase& latent() {
    return ui.session().page<app::cache_page::Page>().state().shapes->cases.back();
  }
  void room(const std::string& name) { ui.click("cache_view." + name); }
  void turnKeys() {
    ui.session().scene().setup.model.position = app::PositionKind::rope;
    ui.session().scene().setup.weights.source = app::WeightSource::random;
    room("shapes");
  }

  UiDriver ui;
};

TEST_F(CacheRooms, FitSmallWindow) {
  for (const std::string name : {"precision", "eviction", "paging"}) {
    room(name);
    ui.park().wait(0.3);
    EXPECT_THAT(flaws(ui), testing::IsEmpty()) << name;
    EXPECT_EQ(ui.has("colour_bar"), name == "eviction") << name;
  }
}

TEST_F(CacheRooms, FourShapesUnderRopeFit) {
  turnKeys();
  ui.park().wait(0.3);
  EXPECT_THAT(flaws(ui), testing::IsEmpty());
}

TEST_F(CacheRooms, DraggingClampsRotaryKeyAndLatent) {
  turnKeys();
  EXPECT_EQ(latent().rotary, 16);
  ui.dragTo("cache.rotary_dim", 0.5f);
  EXPECT_NEAR(static_cast<double>(ui.scene().cost.cache.rotary), 128, 8);
  EXPECT_EQ(ui.scene().cost.cache.rotary % 2, 0);
  EXPECT_EQ(latent().rotary, ui.scene().cost.cache.rotary);
  const double half = latent().output.all;
  ui.dragTo("cache.rotary_dim", 1.2f);
  EXPECT_EQ(latent().rotary, 8 * 32) << "8 heads of MHA, all of whose dimensions turn";
  EXPECT_LT(latent().output.all, half);
  ui.dragTo("cache.rotary_dim", -0.2f);
  EXPECT_EQ(latent().rotary, 0);
  EXPECT_GT(latent().output.all, half);
  ui.dragTo("cache.latent", 1.2f);
  EXPECT_EQ(latent().latent, 256) << "no more than the model dim";
}

TEST_F(CacheRooms, KeysWorkWhileHoveringControls) {
  const auto step = [&] { return ui.scene().cursor.step; };
  ui.key(Key::home).key(Key::right);
  const app::Index prefill = step();
  ui.hoverAt("cache.stored.fp16", 0.5f, 0.5f);  // a choice on the left, which doesn't use the arrow keys
  ui.frames(2).key(Key::right);
  EXPECT_EQ(step(), prefill + 1);
  ui.hover("heads.track").frames(2);
  const app::Index heads = ui.scene().setup.model.heads;
  ui.key(Key::left);
  EXPECT_NE(ui.scene().setup.model.heads, heads) << "the slider under the pointer";
  EXPECT_EQ(step(), prefill + 1) << "and it alone";
  ui.key(Key::end);
  EXPECT_EQ(step(), 12) << "no key of a slider";
  ui.chord({.shift = true}, static_cast<Key>('2'));
  EXPECT_EQ(ui.scene().cursor.cacheView, app::CacheView::shapes);
  ui.chord({.shift = true}, static_cast<Key>('1'));
  EXPECT_EQ(ui.scene().cursor.cacheView, app::CacheView::growth);
}

TEST_F(CacheRooms, NothingIsLabelledDecodeWithoutCausalMask) {
  ui.key(Key::end);
  EXPECT_TRUE(ui.has("cache.bracket.decode"));
  ui.session().scene().setup.mask.layers = {};
  ui.draw();
  EXPECT_TRUE(ui.has("cache.reason"));
  EXPECT_TRUE(ui.has("cache.bracket.prefill"));
  EXPECT_FALSE(ui.has("cache.bracket.decode"));
  EXPECT_LE(ui.find("cache.reason").Max.y, ui.find("field").Min.y) << "it covers no bands";
  const auto present = [&](bool on) {
    ui.view().present = on;
    ui.view().redraw();
    ui.frames(3);
  };
  present(true);
  EXPECT_TRUE(ui.has("cache.reason"));
  EXPECT_FALSE(ui.has("cache.causal")) << "nobody in the hall can press it";
  present(false);
  ui.click("cache.causal");
  EXPECT_TRUE(ui.has("cache.bracket.decode"));
}

/// The cache page with a model of one family open.
class OpenedShapes : public CacheRooms {
 protected:
  void open(const std::string& folder) {
    const auto opened = app::openModel(folder);
    if (!opened) throw std::runtime_error(opened.error().message);
    app::Scene scene = ui.scene();
    app::adoptModel(scene, folder, *opened);
    ui.session().setScene(scene);
    room("shapes");
  }
  void openFamily(const char* family) { open(attention::test::goldenModel(family).string()); }
  const app::cache_page::State& page() { return ui.session().page<app::cache_page::Page>().state(); }
  /// The names of the tiles and their numbers of kv heads.
  std::vector<std::string> shapes() {
    std::vector<std::string> names;
    for (const app::ShapeCase& one : page().shapes->cases)
      names.push_back(one.name + (one.kvHeads > 0 ? " " + std::to_string(one.kvHeads) : ""));
    return names;
  }
  bool inFigure(const std::string& words) {
    const auto drawing = ui.app().figure(ui.scene(), {});
    ui.draw();
    return drawing.ok() && std::ranges::any_of(drawing->shapes, [&](const app::Shape& shape) {
             const auto* text = std::get_if<app::TextRun>(&shape);
             return text && text->text == words;
           });
  }
};

TEST_F(OpenedShapes, MergesKvHeadsIntoHalfByDefault) {
  openFamily("gpt_neox");
  EXPECT_EQ(shapes(), (std::vector<std::string>{"MHA 4", "GQA 2", "MQA 1", "MLA"}));
  EXPECT_TRUE(inFigure("2 kv heads")) << "Ctrl+P draws what is on screen";
  ui.session().scene().cost.cache.merged = 4;
  ui.draw();
  EXPECT_EQ(shapes(), (std::vector<std::string>{"MHA 4", "GQA 2", "MQA 1", "MLA"})) << "those of the layer";
}

TEST_F(OpenedShapes, ListsEachShapeOnce) {
  openFamily("gemma2");
  EXPECT_EQ(shapes(), (std::vector<std::string>{"GQA 2", "MQA 1", "MLA"})) << "nothing is between 2 and 1";
  EXPECT_FALSE(inFigure("4 kv heads"));
  ui.click("cache.between");
  EXPECT_EQ(ui.scene().cost.cache.merged, 0) << "there is nothing to choose";
  ui.park().wait(0.3);
  EXPECT_THAT(flaws(ui), testing::IsEmpty());
  openFamily("llama");
  EXPECT_EQ(shapes(), (std::vector<std::string>{"MQA 1", "MLA"}));
  open(app::kLearned);
  EXPECT_EQ(shapes(), (std::vector<std::string>{"GQA 3", "MQA 1", "MLA"}));
}

TEST_F(OpenedShapes, LayerCanBeChosenOnCachePage) {
  open(app::kLearned);
  const auto before = page().snapshot;
  ui.typeValue("model.layer", "2");
  EXPECT_EQ(ui.scene().setup.subject.layer, 2);
  EXPECT_NE(page().snapshot, before);
  EXPECT_EQ(page().snapshot->setup.subject.layer, 2);
  EXPECT_EQ(ui.scene().cursor.page, "cache");
}

TEST_F(CacheRooms, FieldFitsInLightThemeWithMha) {
  ui.chord(kCtrl, Key::l).click("kind.mha").clickAt("cache.axis", 6.5f / 12, 0.5f).park();
  ui.wait(0.3);
  EXPECT_THAT(flaws(ui), testing::IsEmpty());
  EXPECT_TRUE(imagesMatch(ui.screenshot("field"), "cache_field_light"));
}

}  // namespace
}  // namespace headscope::test
