// Heads with a sink, and a model that caches a latent, on the pages that show them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "app/compute/figures/drawing.h"
#include "app/pages/model/model_page.h"
#include "app/scene/text/number_text.h"
#include "attention/core/attention.h"
#include "tests/support/page_check.h"
#include "tests/ui/made_up_model.h"

namespace headscope::test {
namespace {

namespace made = attention::test;

bool showsText(const std::string& text) {
  return std::ranges::any_of(app::uiState().texts,
                             [&](const auto& line) { return line.text.find(text) != std::string::npos; });
}

/// A family's synthetic model, opened, with five tokens.
class OpenedFamily {
 public:
  explicit OpenedFamily(const std::string& name) : folder_(madeUpFolder(name)) {
    app::uiState().watches = true;
    openMadeUp(ui, folder_);
  }

  void expectNoFlaws() {
    ui.park();
    EXPECT_THAT(flaws(ui), testing::IsEmpty());
  }

  UiDriver ui;

 private:
  made::MadeUpCheckpoint folder_;
};

TEST(ModelSinks, HeadsAndReceiptShowSinkShare) {
  OpenedFamily model("gpt_oss");
  UiDriver& ui = model.ui;
  EXPECT_TRUE(ui.has("sink"));
  const app::model_page::State& page = ui.session().page<app::model_page::Page>().state();
  for (const char* bars : {"sink.0", "sink.5"}) EXPECT_TRUE(ui.has(bars)) << "beside each thumbnail";
  const app::LayerSummary& first = *page.layers[0];
  for (attention::Index head = 0; head < first.weights.count(); ++head)
    for (attention::Index row = 0; row < first.weights.rows(); ++row)
      EXPECT_NEAR(first.sinkShares(head, row) + first.weights[head].row(row).sum(), 1, 1e-5f);
  model.expectNoFlaws();
  ui.click("page.heads");
  for (const char* bars : {"sink.0", "sink.3"}) EXPECT_TRUE(ui.has(bars)) << "beside each head of the grid";
  model.expectNoFlaws();
  ui.session().scene().cursor.focus = 2;
  choose(ui.session().scene().cursor, {2, 4, 3});
  ui.draw();
  const attention::AttentionResult& result = ui.sequence().attention;
  const float share = attention::sinkShare(ui.snapshot().config, result, 2, 4);
  EXPECT_NEAR(share + result.weights[2].row(4).sum(), 1, 1e-5);
  EXPECT_GT(share, 0);
  EXPECT_TRUE(ui.has("sink"));
  EXPECT_TRUE(ui.has("receipt.sink"));
  EXPECT_TRUE(showsText("+ sink, which reads nothing"));
  EXPECT_TRUE(showsText(app::weightText(share)));
  model.expectNoFlaws();
}

bool says(const app::Drawing& drawing, const std::string& text) {
  return std::ranges::any_of(drawing.shapes, [&](const app::Shape& shape) {
    const auto* const run = std::get_if<app::TextRun>(&shape);
    return run && run->text == text;
  });
}

TEST(ModelSinks, FiguresShowSinkShare) {
  OpenedFamily model("gpt_oss");
  UiDriver& ui = model.ui;
  ui.click("page.heads");
  app::Scene scene = ui.scene();
  const auto heads = ui.app().figure(scene, {});
  ASSERT_TRUE(heads.ok()) << heads.error().message;
  EXPECT_TRUE(says(*heads, "sink’s share"));
  scene.cursor.focus = 2;
  const auto head = ui.app().figure(scene, {});
  ASSERT_TRUE(head.ok()) << head.error().message;
  EXPECT_TRUE(says(*head, "sink"));
}

TEST(ModelLatents, CacheCountsLatent) {
  OpenedFamily model("deepseek_v3");
  UiDriver& ui = model.ui;
  // 3 layers, each with a latent of 8 and 4 rotated numbers, 4 bytes per number.
  EXPECT_EQ(ui.scene().setup.subject.opened->model->cacheBytesPerToken(), 3u * 12 * 4);
  EXPECT_TRUE(showsText("3 layers · (latent 8 + rotated 4) · 4 B"));
  EXPECT_TRUE(showsText("8 + 4"));
  model.expectNoFlaws();
  ui.click("page.heads");
  EXPECT_TRUE(showsText("MLA, 3 heads"));
  EXPECT_TRUE(showsText("(latent 8 + rotated 4)"));
  EXPECT_TRUE(showsText("MLA (a latent of 8 + 4)"));
  EXPECT_EQ(ui.sequence().attention.v.cols(), 5);
  EXPECT_EQ(ui.sequence().attention.headOutput.cols(), 5);
  model.expectNoFlaws();
  ui.click("page.cache");
  EXPECT_TRUE(showsText("MLA (a latent of 8 + 4)"));
  EXPECT_TRUE(ui.has("kind.mla")) << "the attention that is chosen";
  model.expectNoFlaws();
  ui.session().scene().cursor.cacheView = app::CacheView::shapes;
  ui.draw();
  // 12 numbers compared with 3 heads of 7 + 5.
  EXPECT_TRUE(showsText("The model’s own MLA needs ⅓ of what MHA would."));
  EXPECT_TRUE(showsText("latent 8 + 4 rotary"));
  model.expectNoFlaws();
  ui.click("page.lab");
  EXPECT_TRUE(showsText("are computed from a latent of 8 numbers after a norm"));
}

}  // namespace
}  // namespace headscope::test
