// The mask studio's layers: gallery, list, details, heads, expression, marks.

#include <gtest/gtest.h>

#include <algorithm>

#include "app/pages/mask/mask_page.h"
#include "tests/support/ui_driver.h"

namespace headscope::test {
namespace {

using app::Index;
using app::Key;
using attention::Combine;
using attention::PatternKind;

/// The studio, in a window that shows all of it.
class Studio : public testing::Test {
 protected:
  Studio() { ui.click("page.mask"); }
  std::string text() { return attention::maskText(ui.scene().setup.mask.layers); }
  const app::StudiedMask& mask() {
    ui.draw();
    return ui.mask().study->mask;
  }
  /// How many of the 12 × 12 cells are visible to one head.
  std::uint64_t visibleCells(Index head = 0) {
    attention::KeyRuns runs;
    std::uint64_t count = 0;
    const attention::MaskFormula& formula = *mask().formula;
    for (Index row = 0; row < formula.queries(); ++row) {
      formula.visibleRuns(formula.variantOf(head), row, runs);
      for (const auto& run : runs) count += static_cast<std::uint64_t>(run.end - run.begin);
    }
    return count;
  }
  void write(const std::string& expression) { ui.replaceText("expression", expression).clickAway(); }
  UiDriver ui{1600, 1000};
};

TEST_F(Studio, OpensByTabAndButtonAndReturnsByKey) {
  EXPECT_TRUE(ui.has("mask_map"));
  EXPECT_TRUE(ui.has("weights_map"));
  EXPECT_FALSE(ui.has("head.0"));
  ui.key(static_cast<Key>('1'));
  EXPECT_TRUE(ui.has("head.0"));
  EXPECT_FALSE(ui.has("mask_map"));
  ui.click("open_studio");
  EXPECT_TRUE(ui.has("mask_map"));
}

TEST_F(Studio, GallerySearchesAndAddsChosenPattern) {
  ui.click("add_pattern");
  ASSERT_TRUE(ui.has("gallery.window"));
  EXPECT_EQ(ui.names("gallery.").size(), attention::patternTable().size() + 1)
      << "all patterns and the search";
  ui.type("mistral");
  EXPECT_TRUE(ui.has("gallery.window"));
  EXPECT_FALSE(ui.has("gallery.bigbird"));
  ui.key(Key::enter);
  EXPECT_EQ(text(), "causal & padding & window(4)");
  EXPECT_EQ(ui.scene().cursor.studio.selected, 2);
  EXPECT_EQ(visibleCells(), 12u * 4 - 6);
}

TEST_F(Studio, GalleryJoinsByOrAndReplacesAll) {
  ui.key(static_cast<Key>('G')).click("add_as.or").click("gallery.prefix_lm");
  EXPECT_EQ(text(), "causal & padding | prefix_lm");
  ui.key(static_cast<Key>('G')).click("add_as.alone").click("gallery.chunked");
  EXPECT_EQ(text(), "chunked(8)");
  ui.chord(kCtrl, Key::z);
  EXPECT_EQ(text(), "causal & padding | prefix_lm");
}

TEST_F(Studio, EveryGalleryPatternGivesValidMask) {
  for (const attention::PatternInfo& info : attention::patternTable()) {
    if (info.kind == PatternKind::file) continue;  // opens a file dialog
    ui.key(static_cast<Key>('G')).click("add_as.alone");
    ui.click("gallery." + std::string(info.name));
    EXPECT_FALSE(mask().error) << info.name << ": " << mask().error.value_or("");
    EXPECT_FALSE(ui.snapshot().error) << info.name;
    EXPECT_EQ(ui.scene().setup.mask.layers.size(), 1u);
  }
}

TEST_F(Studio, LayersCanBeDisabledJoinedAndNegated) {
  write("causal & window(4)");
  ui.click("layer.1.on");
  EXPECT_EQ(text(), "causal & off: window(4)");
  EXPECT_EQ(visibleCells(), 78u);
  ui.click("layer.1.on").click("layer.1").click("join.or");
  EXPECT_EQ(text(), "causal | window(4)");
  ui.click("join.and").click("negate");
  EXPECT_EQ(text(), "causal & !window(4)");
  EXPECT_EQ(visibleCells(), 78u - 42u);
}

TEST_F(Studio, ParameterChangesAttentionAtOnce) {
  write("window(4)");
  ui.click("layer.0").typeValue("parameter.window", "2");
  EXPECT_EQ(text(), "window(2)");
  ui.draw();
  EXPECT_EQ(visibleCells(), 23u);
  const attention::AttentionResult& result = ui.sequence().attention;
  EXPECT_EQ(result.weights.at(0, 5, 3), 0);
  EXPECT_GT(result.weights.at(0, 5, 4), 0);
  ui.dragTo("parameter.window", 1.2f);
  EXPECT_EQ(text(), "window(12)") << "no window reaches farther than the text";
}

TEST_F(Studio, LayerAppliesToChosenHeads) {
  write("causal & window(2)");
  ui.click("layer.1").choose("layer_heads", "even");
  EXPECT_EQ(text(), "causal & heads(even): window(2)");
  EXPECT_EQ(visibleCells(0), 23u);
  EXPECT_EQ(visibleCells(1), 78u);
  ui.choose("layer_heads", "kv1");
  EXPECT_EQ(text(), "causal & heads(kv 1): window(2)");
  EXPECT_EQ(visibleCells(0), 78u);
  EXPECT_EQ(visibleCells(4), 23u);
  ui.click("layer_head.0");
  EXPECT_EQ(text(), "causal & heads(0, 4-7): window(2)");
  ui.click("layer_head.5");
  EXPECT_EQ(text(), "causal & heads(0, 4, 6-7): window(2)");
  ui.choose("layer_heads", "all");
  EXPECT_EQ(text(), "causal & window(2)");
}

TEST_F(Studio, ParameterCanHaveValuePerHead) {
  write("window(3)");
  ui.click("layer.0").click("per_head.window").typeValue("parameter.window.5", "1");
  EXPECT_EQ(text(), "window([3, 3, 3, 3, 3, 1, 3, 3])");
  EXPECT_EQ(visibleCells(5), 12u);
  EXPECT_EQ(mask().formula->variants(), 2);
  ui.click("per_head.window");
  EXPECT_EQ(text(), "window(3)");
}

TEST_F(Studio, DraggingReordersLayers) {
  write("causal & window(4) | sinks(1)");
  ui.clickAway();
  const ImRect first = ui.find("layer.0"), last = ui.find("layer.2");
  ui.dragAcross("layer.0", ImVec2(0.3f, 0.5f),
                ImVec2(0.3f, (last.Max.y + 10 - first.Min.y) / first.GetHeight()));
  // Each layer keeps its way of joining; the first layer's is ignored.
  EXPECT_EQ(text(), "(window(4) | sinks(1)) & causal");
  EXPECT_EQ(ui.scene().cursor.studio.selected, 2);
  ui.chord(kCtrl, Key::z);
  EXPECT_EQ(text(), "causal & window(4) | sinks(1)");
}

TEST_F(Studio, LayersCanBeRenamedDuplicatedAndDeleted) {
  write("causal & window(4)");
  ui.click("layer.1").click("layer_name").type("near \"by\"").key(Key::enter);
  EXPECT_EQ(text(), "causal & \"near \\\"by\\\"\": window(4)");
  ui.click("copy_layer");
  EXPECT_EQ(ui.scene().setup.mask.layers.size(), 3u);
  EXPECT_EQ(ui.scene().cursor.studio.selected, 2);
  ui.click("delete_layer");
  EXPECT_EQ(ui.scene().setup.mask.layers.size(), 2u);
  EXPECT_EQ(ui.scene().cursor.studio.selected, -1);
}

TEST_F(Studio, ParsesExpressionIntoLayersOrRefusesIt) {
  write("causal & (window(2) | sinks(1))");
  EXPECT_EQ(ui.scene().setup.mask.layers.size(), 2u);
  EXPECT_TRUE(ui.scene().setup.mask.layers[1].isGroup());
  const app::Setup before = ui.scene().setup;
  write("causal & windwo(2)");
  EXPECT_EQ(ui.scene().setup, before);
  EXPECT_NE(ui.mask().expression.error.find("windwo"), std::string::npos) << ui.mask().expression.error;
  EXPECT_EQ(ui.mask().expression.caret, 9u);
  write("causal");
  EXPECT_TRUE(ui.mask().expression.error.empty());
  EXPECT_EQ(text(), "causal");
}

TEST_F(Studio, RefusesMaskThatDoesNotFitText) {
  write("causal");
  for (const char* wrong :
       {"globals([40])", "packed([40])", "tree(prefix=2, parents=[1, 0])", "painted(\"none\")"}) {
    const app::Setup before = ui.scene().setup;
    write(wrong);
    EXPECT_EQ(ui.scene().setup, before) << wrong;
    EXPECT_FALSE(ui.mask().expression.error.empty()) << wrong;
  }
  write("prefix_lm(4)");
  EXPECT_TRUE(ui.mask().expression.error.empty()) << ui.mask().expression.error;
  EXPECT_EQ(text(), "prefix_lm(4)");
}

TEST_F(Studio, ReportsMaskThatNoLongerFitsText) {
  write("packed([9])");
  ui.replaceText("text", "too short now").clickAway().wait(0.5);
  ASSERT_TRUE(mask().error);
  EXPECT_NE(mask().error->find("9"), std::string::npos) << *mask().error;
  ASSERT_TRUE(ui.snapshot().error);
  EXPECT_EQ(ui.snapshot().error->place, app::Place::mask);
  write("packed([2])");
  EXPECT_FALSE(mask().error);
  EXPECT_FALSE(ui.snapshot().error);
}

TEST_F(Studio, ClickingTokensMarksDocumentStarts) {
  write("packed");
  ASSERT_TRUE(ui.has("mark.5"));
  ui.click("mark.5");
  EXPECT_EQ(ui.mask().study->geometry.structure.documentStarts, (std::vector<Index>{0, 5}));
  EXPECT_FALSE(mask().formula->visible(0, 7, 4));
  EXPECT_TRUE(mask().formula->visible(0, 7, 5));
  ui.click("mark.5");
  EXPECT_EQ(ui.mask().study->geometry.structure.documentStarts, (std::vector<Index>{0}));
  ui.click("mark.3").click("marks_reset");
  EXPECT_FALSE(ui.scene().setup.mask.marks->front().documentStarts);
  EXPECT_EQ(text(), "packed") << "marks belong to the text, not to the layer";
}

TEST_F(Studio, DraggingOverTokensMarksImage) {
  write("image");
  const ImRect from = ui.find("mark.2"), to = ui.find("mark.5");
  const float across = (to.GetCenter().x - from.Min.x) / from.GetWidth();
  ui.dragAcross("mark.2", ImVec2(0.5f, 0.5f), ImVec2(across, 0.5f));
  EXPECT_EQ(ui.scene().setup.mask.marks->at(0).images, (attention::KeyRuns{{2, 6}}));
  EXPECT_TRUE(mask().formula->visible(0, 2, 5));
  EXPECT_FALSE(mask().formula->visible(0, 2, 6));
  ui.click("mark.3");
  EXPECT_EQ(ui.scene().setup.mask.marks->at(0).images, attention::KeyRuns{});
}

TEST_F(Studio, ViewingMarksChangesNothing) {
  write("packed | image | prefix_lm | tree | globals");
  const app::Scene before = ui.scene();
  for (const char* kind : {"prefix", "images", "globals", "tree", "documents"}) ui.choose("mark_kind", kind);
  EXPECT_EQ(ui.scene().setup, before.setup);
}

TEST_F(Studio, HeadStripSelectsHead) {
  write("heads(3): window(1)");
  ui.click("strip.3");
  EXPECT_EQ(ui.scene().cursor.cell.head, 3);
  ui.draw();
  EXPECT_EQ(mask().statistics.visible, 12u);
  ui.key(Key::pageDown);
  EXPECT_EQ(mask().statistics.visible, 144u);
}

TEST_F(Studio, ReachGrowsWithLayers) {
  write("window(2)");
  ui.draw().typeValue("reach_layers", "1");
  const auto reached = [&] {
    const auto& layer = ui.mask().reach->reach.layer;
    return std::count_if(layer.begin(), layer.end(), [](auto l) { return l > 0; });
  };
  EXPECT_EQ(reached(), 23);
  ui.typeValue("reach_layers", "3");
  EXPECT_EQ(reached(), 12 + 11 + 10 + 9);
}

TEST_F(Studio, CopiesMaskInEveryFormat) {
  write("causal & window(3)");
  const auto copied = [&](const char* button) {
    ImGui::SetClipboardText("");
    ui.click(button);
    return std::string(ImGui::GetClipboardText());
  };
  EXPECT_EQ(copied("copy.text"), "causal & window(3)");
  EXPECT_NE(copied("copy.formula").find("j ≤ i"), std::string::npos);
  EXPECT_NE(copied("copy.flex").find("def mask_mod(b, h, q_idx, kv_idx)"), std::string::npos);
  EXPECT_NE(copied("copy.torch").find("import torch"), std::string::npos);
  EXPECT_NE(copied("copy.numpy").find("import numpy"), std::string::npos);
}

TEST_F(Studio, HeadsPanelEditsTheSameLayers) {
  write("causal & chunked(3)");
  ui.click("page.heads").click("layer.1");
  EXPECT_EQ(text(), "causal & off: chunked(3)");
  ui.click("window").typeValue("window.window", "2");
  EXPECT_EQ(text(), "causal & off: chunked(3) & window(2)");
}

}  // namespace
}  // namespace headscope::test
