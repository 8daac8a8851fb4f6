// The cache page: how the KV cache grows, and what makes it smaller.

#include <gtest/gtest.h>

#include <algorithm>

#include "app/pages/cache/cache_page.h"
#include "app/platform/ui_state.h"
#include "tests/support/compare_image.h"
#include "tests/support/matchers.h"
#include "tests/support/page_check.h"

namespace headscope::test {
namespace {

using app::CacheView;
using app::Key;
using attention::Index;
using attention::NumberFormat;

class CacheOnScreen : public testing::Test {
 protected:
  explicit CacheOnScreen(int width = 1920, int height = 1080) : ui(width, height) {
    ui.key(static_cast<Key>('5'));
  }
  const app::cache_page::State& page() { return ui.session().page<app::cache_page::Page>().state(); }
  app::cache_page::DecodeState state() { return app::cache_page::decodeState(ui.scene(), page()); }
  void room(const char* name) { ui.click(std::string("cache_view.") + name); }
  /// Whether the frame draws a mark of that name.
  bool marks(const std::string& name) {
    overlaps(ui);
    return std::ranges::any_of(app::uiState().marks,
                               [&](const app::DrawnMark& mark) { return mark.name == name; });
  }

  UiDriver ui;
};

class SmallCache : public CacheOnScreen {
 protected:
  SmallCache() : CacheOnScreen(1280, 720) {}
};

TEST_F(CacheOnScreen, OpensByKeyAndTabWithEverythingCached) {
  EXPECT_EQ(ui.scene().cursor.page, "cache");
  EXPECT_EQ(state().now, 12);
  EXPECT_TRUE(ui.has("field"));
  EXPECT_TRUE(ui.has("stairs"));
  ui.key(static_cast<Key>('1')).click("page.cache");
  EXPECT_TRUE(ui.has("cache.bytes"));
}

TEST_F(CacheOnScreen, HoveredColumnIsDashedAndTheSelectedOneStays) {
  ui.park();
  ASSERT_NE(ui.scene().cursor.cell.key, 0);
  EXPECT_TRUE(marks("column"));
  EXPECT_FALSE(marks("ghost"));
  const std::string scene = ui.sceneText();
  ui.hoverAt("field", 0.5f / 12, 0.5f);
  EXPECT_EQ(ui.view().hover.key, 0);
  EXPECT_TRUE(marks("column"));
  EXPECT_TRUE(marks("ghost"));
  EXPECT_EQ(ui.sceneText(), scene);
  ui.key(Key::home).park();
  EXPECT_FALSE(marks("column")) << "the key isn't in the cache yet";
}

TEST_F(CacheOnScreen, KeepsPlayheadWhileVisitingOtherPages) {
  ui.hover("field").key(Key::home);
  for (int i = 0; i < 4; ++i) ui.key(Key::right);
  ASSERT_EQ(state().now, 7);
  for (const char* other : {"page.cost", "page.mask", "page.lab", "page.map", "page.heads"}) {
    ui.click(other).wait(0.5).click("page.cache").wait(0.5);
    EXPECT_EQ(state().now, 7) << other;
  }
}

TEST_F(CacheOnScreen, PrefillStepCoversOneChunk) {
  const auto work = [&] { return app::cache_page::stepWork(ui.scene(), state(), *page().field); };
  ui.hover("field").key(Key::home).key(Key::right);
  EXPECT_EQ(state().before, 0);
  EXPECT_EQ(work().with, work().without) << "all tokens at once save nothing";
  ui.typeValue("cache.chunk", "2");
  EXPECT_EQ(state().before, 2) << "two tokens came with the last chunk";
  EXPECT_LT(work().with, work().without);
  const double one = work().with;
  ui.typeValue("cache.layers", "6");
  EXPECT_DOUBLE_EQ(work().with, 6 * one) << "work is of as many layers as bytes are";
}

TEST_F(CacheOnScreen, HomeAndEndJumpToScheduleEnds) {
  room("paging");
  ui.hover("paging.pool").key(Key::end);
  EXPECT_EQ(page().pagingStep, std::ssize(page().paging->steps) - 1);
  ui.key(Key::home);
  EXPECT_EQ(page().pagingStep, 0);
}

TEST_F(CacheOnScreen, EnterDoesNotLeavePage) {
  ui.hover("field").key(Key::enter);
  EXPECT_EQ(ui.scene().cursor.page, "cache");
  ui.click("page.cost").key(Key::enter);
  EXPECT_EQ(ui.scene().cursor.page, "cost");
}

TEST_F(CacheOnScreen, StepsForwardsAndBackwardsAndJumps) {
  ui.hover("field").key(Key::home);
  EXPECT_EQ(state().now, 0) << "before the prefill";
  ui.key(Key::right);
  EXPECT_EQ(state().now, 4) << "the prefill comes at once";
  ui.key(Key::right);
  EXPECT_EQ(state().now, 5);
  ui.key(Key::left).key(Key::left);
  EXPECT_EQ(state().now, 0);
  ui.key(Key::end);
  EXPECT_EQ(state().now, 12);
  ui.click("cache.back");
  EXPECT_EQ(state().now, 11);
  ui.click("cache.first");
  EXPECT_EQ(state().now, 0);
  ui.hover("field").chord({.shift = true}, Key::right);
  EXPECT_EQ(state().now, 10);
}

TEST_F(CacheOnScreen, DraggingAlongTokensMovesPlayhead) {
  ui.clickAt("cache.axis", 8.5f / 12, 0.5f);
  EXPECT_EQ(state().now, 9);
  EXPECT_EQ(ui.scene().cursor.step, 9) << "and the heads page stands there too";
  ui.dragAcross("cache.axis", {8.5f / 12, 0.5f}, {6.5f / 12, 0.5f});
  EXPECT_EQ(state().now, 7);
  ui.wheel("cache.axis", 1);
  EXPECT_EQ(state().now, 8);
}

TEST_F(CacheOnScreen, PlayFillsStepsAndStopsAtEnd) {
  ui.session().scene().cost.cache.speed = 20;
  ui.click("cache.first").park().key(Key::space);
  EXPECT_TRUE(page().play.on);
  ui.wait(2);
  EXPECT_EQ(state().now, 12);
  EXPECT_FALSE(page().play.on);
  ui.session().scene().cost.cache.speed = 0.5;
  ui.key(Key::space).frames(2);
  EXPECT_EQ(state().now, 4) << "again, behind the prefill";
}

TEST_F(CacheOnScreen, ChunkedPrefillFillsChunkByChunk) {
  ui.typeValue("prefill", "6").typeValue("cache.chunk", "4");
  EXPECT_EQ(ui.scene().cost.cache.chunk, 4);
  ui.hover("field").key(Key::home).key(Key::right);
  EXPECT_EQ(state().now, 4);
  ui.key(Key::right);
  EXPECT_EQ(state().now, 6);
  ui.key(Key::right);
  EXPECT_EQ(state().now, 7);
  ui.key(Key::left).key(Key::left);
  EXPECT_EQ(state().now, 4);
}

TEST_F(CacheOnScreen, FewerKvHeadsRemoveBands) {
  EXPECT_TRUE(ui.has("band.1"));
  EXPECT_TRUE(ui.has("void.0"));
  const app::CacheBytes gqa = app::bytesPerToken(ui.scene(), page().snapshot->config);
  EXPECT_EQ(gqa.own, 256u);
  EXPECT_EQ(gqa.mha, 1024u);
  EXPECT_EQ(gqa.mla, 288u);
  ui.click("kind.mha");
  EXPECT_TRUE(ui.has("band.7"));
  EXPECT_FALSE(ui.has("void.0"));
  EXPECT_EQ(app::bytesPerToken(ui.scene(), page().snapshot->config).own, 1024u);
  ui.click("kind.mqa");
  EXPECT_FALSE(ui.has("band.1"));
  ui.hover("field").key(static_cast<Key>(']'));
  EXPECT_EQ(ui.scene().setup.model.kvHeads, 2);
}

TEST_F(CacheOnScreen, WorkMatchesFormulas) {
  const app::CacheField& field = *page().field;
  // Token 8: projections of one token, and 8 heads over 9 keys of size 32.
  const double own = 4.0 * 256 * 256 + 4.0 * 256 * 64 + 8 * 9 * (4.0 * 32 + 5);
  EXPECT_DOUBLE_EQ(field.flops[8], own);
  EXPECT_EQ(field.read[8], 2 * 9);
  double all = 0;
  for (int token = 0; token < 9; ++token) all += field.flops[static_cast<std::size_t>(token)];
  EXPECT_DOUBLE_EQ(field.uncachedFlops[8], all);
  EXPECT_EQ(field.picture.count(), 4);
}

TEST_F(CacheOnScreen, OffersCausalMaskWhenMissing) {
  ui.session().scene().setup.mask.layers = {};
  ui.draw();
  EXPECT_THAT(state().reason, HasSubstr("causal"));
  EXPECT_TRUE(ui.has("cache.reason"));
  ui.click("cache.causal");
  EXPECT_EQ(state().reason, "");
  EXPECT_FALSE(ui.has("cache.causal"));
}

TEST_F(CacheOnScreen, EveryTextLineIsASequence) {
  ui.session().scene().setup.input.text = "The animal slept .\nIt was tired";
  ui.draw();
  EXPECT_EQ(state().tokens, 4);
  ui.click("cache.sequence.1");
  EXPECT_EQ(state().tokens, 3);
}

TEST_F(CacheOnScreen, StorageFormatChangesBytesAndIsUndoable) {
  ui.click("cache.stored.int4");
  EXPECT_EQ(app::bytesPerToken(ui.scene(), page().snapshot->config).own, 72u) << "with 4 scales of 2 B";
  ui.typeValue("cache.layers", "10");
  EXPECT_EQ(app::bytesPerToken(ui.scene(), page().snapshot->config).own, 720u);
  ui.chord(kCtrl, Key::z).chord(kCtrl, Key::z);
  EXPECT_EQ(ui.scene().cost.cache.stored, NumberFormat::fp16);
  ui.click("open_cost");
  EXPECT_EQ(ui.scene().cursor.page, "cost");
}

TEST_F(CacheOnScreen, PrecisionViewQuantisesAndRecomputes) {
  room("precision");
  ASSERT_TRUE(page().precision);
  const app::PrecisionStudy& study = *page().precision;
  EXPECT_EQ(study.cases[0].output.all, 0);
  EXPECT_EQ(study.cases[0].bytes, 512u);
  EXPECT_EQ(study.cases[4].bytes, 2u * 2 * (32 + 2)) << "int8 with its scales";
  EXPECT_GT(study.cases[3].output.all, study.cases[1].output.all) << "fp8 is coarser than fp16";
  EXPECT_GT(study.cases[5].output.all, study.cases[4].output.all) << "int4 than int8";
  EXPECT_LT(study.cases[1].output.all, 0.01);
  ui.click("precision.int8");
  EXPECT_EQ(ui.scene().cost.cache.stored, NumberFormat::int8);
  const std::vector<double>& heads = study.cases[4].headErrors;
  EXPECT_EQ(*std::ranges::max_element(heads), study.cases[4].weightError);
  EXPECT_TRUE(ui.visible("precision.heads")) << "the heads whose weights change most";
}

TEST_F(CacheOnScreen, FourShapesShareTheSameWeights) {
  room("shapes");
  ASSERT_TRUE(page().shapes);
  const app::ShapesStudy& study = *page().shapes;
  EXPECT_EQ(study.cases[0].kvHeads, 8);
  EXPECT_EQ(study.cases[0].output.all, 0);
  EXPECT_EQ(study.cases[1].kvHeads, 2);
  EXPECT_EQ(study.cases[2].kvHeads, 1);
  EXPECT_GT(study.cases[1].output.all, 0);
  EXPECT_GE(study.cases[2].output.all, study.cases[1].output.all);
  EXPECT_EQ(study.cases[3].numbersPerToken, 64);
  EXPECT_EQ(study.cases[3].missing, "");
  const double before = study.cases[3].output.all;
  ui.typeValue("cache.latent", "256");
  EXPECT_LT(page().shapes->cases.back().output.all, 1e-3) << "a latent as wide as the model loses nothing";
  EXPECT_GT(before, 1e-3);
  ui.typeValue("kv_heads", "8");
  EXPECT_EQ(page().shapes->cases[1].kvHeads, 4) << "MHA is there once";
}

TEST_F(CacheOnScreen, LatentAttentionHasRotaryKeyUnderRope) {
  room("shapes");
  EXPECT_EQ(page().shapes->cases.back().rotary, 0) << "sinusoidal positions turn nothing";
  ui.session().scene().setup.model.position = app::PositionKind::rope;
  ui.session().scene().setup.weights.source = app::WeightSource::random;
  ui.draw();
  EXPECT_EQ(page().shapes->cases.back().rotary, 16);
  EXPECT_EQ(page().shapes->cases.back().numbersPerToken, 64 + 16);
  const double before = page().shapes->cases.back().output.all;
  ui.typeValue("cache.rotary_dim", "128");
  EXPECT_EQ(ui.scene().cost.cache.rotary, 128);
  EXPECT_LT(page().shapes->cases.back().output.all, before);
}

TEST_F(CacheOnScreen, EachSequenceHasItsOwnCache) {
  ui.session().scene().setup.input.text =
      "The animal didn't cross the street because it was too tired .\nShort line here";
  ui.draw();
  const auto fill = [&](std::size_t line) {
    return app::cache_page::decodeState(ui.scene(), page(), page().snapshot->sequences[line]).now;
  };
  EXPECT_EQ(fill(0), 12);
  EXPECT_EQ(fill(1), 3);
  ui.click("cache.sequence.1");
  EXPECT_EQ(fill(0), 12) << "looking at another line changes no cache";
  EXPECT_TRUE(ui.has("cache.step")) << "and its work is counted";
  EXPECT_EQ(page().field->flops.size(), 3u);
  ui.click("cache.sequence.0").clickAt("cache.axis", 5.5f / 12, 0.5f);
  EXPECT_EQ(fill(0), 6);
  EXPECT_EQ(fill(1), 3) << "it is at its end";
}

TEST_F(CacheOnScreen, EvictionComparesTwoPolicies) {
  room("eviction");
  ASSERT_TRUE(page().eviction);
  EXPECT_EQ(page().eviction->cases[0].entries.back(), 2 * 6);
  ui.choose("cache.first_policy", "none");
  EXPECT_EQ(page().eviction->cases[0].entries.back(), 2 * 12);
  EXPECT_LT(page().eviction->cases[0].outputError.back(), 1e-4);
  ui.typeValue("cache.budget", "3");
  EXPECT_EQ(page().eviction->cases[1].entries.back(), 2 * 3);
  EXPECT_TRUE(ui.has("eviction.error"));
}

TEST_F(CacheOnScreen, PagingFollowsSchedule) {
  room("paging");
  ASSERT_TRUE(page().paging.get());
  EXPECT_EQ(page().paging->requests.size(), 4u);
  EXPECT_EQ(ui.session().page<app::cache_page::Page>().legend(ui.scene()).swatches.size(), 3u)
      << "a stage says what the timeline's colours mean";
  EXPECT_TRUE(ui.has("paging.pool"));
  ui.hover("paging.pool");
  const Index before = page().pagingStep;
  ui.key(Key::right);
  EXPECT_EQ(page().pagingStep, before + 1);
  ui.clickAt("paging.timeline", 0.01f, 0.5f);
  EXPECT_EQ(page().pagingStep, 0);
  ui.click("cache.last");
  EXPECT_EQ(page().pagingStep, static_cast<Index>(page().paging->steps.size()) - 1);
  ui.replaceText("cache.schedule", "0: 10 + ");
  EXPECT_TRUE(ui.has("cache.schedule.problem"));
  ui.replaceText("cache.schedule", "0: 10 + 5");
  EXPECT_FALSE(ui.has("cache.schedule.problem"));
  EXPECT_EQ(page().paging->longest, 15);
}

TEST_F(CacheOnScreen, ShowsNoFieldWithoutTokens) {
  ui.session().scene().setup.input.text = "";
  for (const char* name : {"growth", "shapes", "precision", "eviction", "paging"}) room(name);
  room("growth");
  EXPECT_FALSE(ui.has("field"));
}

TEST_F(CacheOnScreen, LongTextIsDownsampledIntoOnePicture) {
  std::string text;
  for (int i = 0; i < 1200; ++i) text += "word" + std::to_string(i % 97) + " ";
  ui.session().scene().setup.input.text = text;
  ui.draw();
  EXPECT_EQ(state().tokens, 1200);
  EXPECT_GE(page().field->grain.tokens, 1);
  EXPECT_LE(page().field->picture.cols(), 1200);
  ui.clickAt("cache.axis", 0.5f, 0.5f);
  EXPECT_NEAR(static_cast<double>(state().now), 600, 8);
}

TEST_F(CacheOnScreen, FieldMatchesPicture) {
  ui.clickAt("cache.axis", 8.5f / 12, 0.5f).park();
  EXPECT_THAT(flaws(ui), testing::IsEmpty());
  EXPECT_TRUE(imagesMatch(ui.screenshot("field"), "cache_field"));
}

TEST_F(CacheOnScreen, ViewsHaveNoLayoutFlaws) {
  for (const char* name : {"shapes", "precision", "eviction", "paging"}) {
    room(name);
    ui.park().wait(0.3);
    EXPECT_THAT(flaws(ui), testing::IsEmpty()) << name;
  }
}

TEST_F(SmallCache, PagePoolMatchesPicture) {
  room("paging");
  ui.park().wait(0.3);
  EXPECT_TRUE(imagesMatch(ui.screenshot("paging.pool"), "cache_pool"));
}

TEST_F(SmallCache, HasNoLayoutFlaws) {
  ui.clickAt("cache.axis", 8.5f / 12, 0.5f).park();
  EXPECT_THAT(flaws(ui), testing::IsEmpty());
}

TEST_F(SmallCache, PresentingStepsThroughField) {
  ui.clickAt("cache.axis", 8.5f / 12, 0.5f).key(Key::p).park().wait(0.3);
  EXPECT_THAT(flaws(ui), testing::IsEmpty());
  ui.key(Key::right);
  EXPECT_EQ(state().now, 10) << "a clicker walks through the steps";
}

}  // namespace
}  // namespace headscope::test
