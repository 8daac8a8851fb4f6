// The wiring: which kv head each head reads, and how far merging kv heads moved the heads.

#include "app/kit/wiring.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/platform/ui_state.h"
#include "app/scene/model_fit.h"
#include "tests/support/page_check.h"
#include "tests/support/ui_driver.h"

namespace headscope::test {
namespace {

using app::Index;
using app::Key;

/// Everything that may not cover anything else.
std::vector<ImRect> wiringParts(const app::WiringLayout& layout) {
  std::vector<ImRect> parts{layout.bytes, layout.bytesText};
  for (const auto* more : {&layout.numbers, &layout.heads, &layout.drift, &layout.slots, &layout.notes})
    parts.insert(parts.end(), more->begin(), more->end());
  return parts;
}

/// The first fault of a layout; "" if it has none.
std::string wiringFault(const app::WiringSizes& sizes) {
  constexpr float kRounding = 0.01f;
  const app::WiringLayout layout = app::layWiring(sizes);
  const std::vector<ImRect> parts = wiringParts(layout);
  const auto inside = [&](const ImRect& part) {
    return part.Min.x >= sizes.area.Min.x - kRounding && part.Max.x <= sizes.area.Max.x + kRounding &&
           part.Min.y >= sizes.area.Min.y - kRounding && part.Max.y <= sizes.area.Max.y + kRounding &&
           part.GetWidth() > 0 && part.GetHeight() > 0;
  };
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (!inside(parts[i])) return fmt::format("part {} isn't inside", i);
    ImRect smaller = parts[i];
    smaller.Expand(-kRounding);
    for (std::size_t j = 0; j < i; ++j)
      if (smaller.Overlaps(parts[j])) return fmt::format("part {} covers part {}", i, j);
  }
  for (std::size_t kv = 0; kv < layout.blocks.size(); ++kv) {
    const ImRect& block = layout.blocks[kv];
    if (!inside(block) || (kv > 0 && block.Min.x < layout.blocks[kv - 1].Max.x))
      return fmt::format("block {} isn't apart", kv);
    const std::size_t group = layout.heads.size() / layout.blocks.size();
    if (block.GetCenter().x < layout.heads[kv * group].GetCenter().x - kRounding ||
        block.GetCenter().x > layout.heads[kv * group + group - 1].GetCenter().x + kRounding)
      return fmt::format("block {} isn't under its heads", kv);
  }
  return "";
}

TEST(Wiring, NothingOverlapsWhateverTheHeads) {
  for (const float width : {420.0f, 900.0f, 1600.0f})
    for (const float height : {app::kLeastWiring, 300.0f})
      for (Index heads = 1; heads <= 64; ++heads)
        for (const Index kvHeads : app::divisors(heads))
          for (const bool merged : {false, true})
            ASSERT_EQ(wiringFault({ImRect(30, 20, 30 + width, 20 + height), 1, heads, kvHeads, merged}), "")
                << width << " × " << height << ", " << heads << "/" << kvHeads << (merged ? " merged" : "");
}

TEST(Wiring, HeadsHavePicturesUntilTheyAreTooNarrow) {
  const auto of = [](Index heads) {
    return app::layWiring({ImRect(0, 0, 1000, 200), 1, heads, heads, false});
  };
  EXPECT_FALSE(of(8).dots);
  EXPECT_TRUE(of(8).numbered);
  EXPECT_TRUE(of(64).dots);
}

/// Whether some text in the window contains `wanted`.
bool wiringSays(UiDriver& ui, const std::string& wanted) {
  app::uiState().watches = true;
  ui.park().frames(1);
  return std::ranges::any_of(app::uiState().texts, [&](const app::DrawnText& drawn) {
    return drawn.text.find(wanted) != std::string::npos;
  });
}

TEST(Wiring, ButtonShowsWhichKvHeadEachHeadReads) {
  for (const auto& [width, height] : {std::pair{1280, 720}, {1920, 1080}}) {
    UiDriver ui(width, height);
    ASSERT_TRUE(ui.has("sentence"));
    ui.click("wiring");
    EXPECT_TRUE(ui.scene().cursor.wiring);
    EXPECT_FALSE(ui.has("sentence"));
    EXPECT_EQ(ui.names("wiring.head.").size(), 8u);
    ASSERT_EQ(ui.names("wiring.kv.").size(), 2u);
    for (const int kv : {0, 1}) {
      const float block = ui.find(fmt::format("wiring.kv.{}", kv)).GetCenter().x;
      EXPECT_GT(block, ui.find(fmt::format("wiring.head.{}", 4 * kv + 1)).GetCenter().x);
      EXPECT_LT(block, ui.find(fmt::format("wiring.head.{}", 4 * kv + 2)).GetCenter().x);
    }
    EXPECT_TRUE(wiringSays(ui, "8 heads read 2 kv heads"));
    EXPECT_THAT(cutOff(ui), testing::IsEmpty());
    ui.click("wiring.head.5");
    EXPECT_EQ(ui.scene().cursor.cell.head, 5);
    ui.click("wiring");
    EXPECT_TRUE(ui.has("sentence"));
  }
}

TEST(Wiring, MergedHeadsSayHowFarTheyMoved) {
  UiDriver ui(1920, 1080);
  EXPECT_FALSE(wiringSays(ui, "% moved"));
  ui.click("merged.true");
  EXPECT_TRUE(ui.scene().setup.weights.merged);
  EXPECT_EQ(ui.sequence().drift.size(), 8u);
  EXPECT_TRUE(wiringSays(ui, "% moved")) << "in the heads' titles";
  ui.click("wiring");
  EXPECT_TRUE(wiringSays(ui, "Merged to 2 kv heads: "));
  EXPECT_TRUE(wiringSays(ui, "Head 3 reads every word evenly: no key can move it."));
  const float bytes = ui.find("wiring.bytes").GetWidth();
  ui.click("kind.mha");
  EXPECT_TRUE(ui.sequence().drift.empty());
  EXPECT_NEAR(ui.find("wiring.bytes").GetWidth(), 4 * bytes, 1);
  ui.click("kind.mqa");
  EXPECT_EQ(ui.sequence().drift.size(), 8u);
  EXPECT_TRUE(wiringSays(ui, "Merged to 1 kv head: "));
  ui.click("merged.false");
  EXPECT_TRUE(ui.sequence().drift.empty());
}

TEST(Wiring, AppearsWhileASliderOfHeadsIsHeld) {
  UiDriver ui(1920, 1080);
  ui.hoverAt("kv_heads.track", 0.3f, 0.5f).press().draw();
  EXPECT_TRUE(ui.has("wiring.bytes"));
  EXPECT_FALSE(ui.has("sentence"));
  ui.release();
  EXPECT_FALSE(ui.has("wiring.bytes"));
  EXPECT_TRUE(ui.has("sentence"));
  EXPECT_FALSE(ui.scene().cursor.wiring);
}

TEST(Wiring, BlocksSlideTogether) {
  UiDriver ui(1920, 1080);
  ui.view().preferences.reducedMotion = false;
  ui.click("wiring").click("kind.mha").park().wait(0.5);
  const auto left = [&] { return ui.find("wiring.kv.0").Min.x; };
  const float apart = left();
  ui.click("kind.mqa");
  const float onTheWay = left();
  ui.wait(0.6);
  const float together = left();
  ASSERT_GT(together, apart + 50);
  EXPECT_LT(onTheWay, together - 1);
  ui.view().preferences.reducedMotion = true;
  ui.click("kind.mha");
  EXPECT_NEAR(left(), apart, 1);
}

TEST(Wiring, StageKeyWalksThroughIt) {
  for (const auto& [width, height] : {std::pair{1280, 720}, {1920, 1080}}) {
    UiDriver ui(width, height);
    ui.key(Key::p);
    ASSERT_FALSE(ui.has("wiring.bytes"));
    for (const Index kvHeads : {1, 8, 2}) {
      ui.key(Key::k);
      EXPECT_EQ(ui.scene().setup.model.kvHeads, kvHeads);
      EXPECT_EQ(ui.names("wiring.kv.").size(), static_cast<std::size_t>(kvHeads));
      EXPECT_TRUE(ui.has("head.0"));
    }
    ui.wait(3);  // the name of the pressed key fades
    EXPECT_THAT(cutOff(ui), testing::IsEmpty());
    ui.key(Key::escape);
    EXPECT_FALSE(ui.has("wiring.bytes"));
    EXPECT_TRUE(ui.view().present) << "one thing at a time";
  }
}

}  // namespace
}  // namespace headscope::test
