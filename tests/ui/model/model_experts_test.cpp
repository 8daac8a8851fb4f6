// A mixture of experts on the page Model: the experts its tokens were routed to.

#include <gtest/gtest.h>

#include <algorithm>

#include "app/pages/model/model_page.h"
#include "tests/support/matchers.h"
#include "tests/support/page_check.h"
#include "tests/ui/made_up_model.h"

namespace headscope::test {
namespace {

using attention::Index;
namespace made = attention::test;

TEST(ModelExperts, SelectedLayerShowsExpertRouting) {
  const made::MadeUpCheckpoint folder = madeUpFolder("qwen3_moe");
  UiDriver ui;
  openMadeUp(ui, folder);
  const app::model_page::State& page = ui.session().page<app::model_page::Page>().state();
  ASSERT_EQ(page.tokens(), 5) << page.study.problem();
  attention::ModelSession session(ui.scene().setup.subject.opened->model);
  const auto pass = session.append(page.study->text.ids);
  ASSERT_TRUE(pass.ok());
  for (Index layer = 0; layer < 3; ++layer) {
    const attention::Routing &shown = page.layer(layer)->routing,
                             &computed = pass->layers[static_cast<std::size_t>(layer)]->routing;
    ASSERT_EQ(shown.shares.rows(), layer == 2 ? 0 : 5) << "the last layer has no experts";
    EXPECT_EQ(shown.experts, computed.experts);
    EXPECT_EQ(shown.shares, computed.shares);
  }
  app::uiState().watches = true;
  ui.clickAt("model.experts", 0.3f, 0.5f);
  EXPECT_EQ(ui.scene().cursor.cell.query, 1);
  const Index layer = ui.scene().cursor.model.layer;
  EXPECT_TRUE(ui.says("b: expert " + std::to_string(page.layer(layer)->routing.experts(1, 0)) + " 0."));
  ui.park();
  EXPECT_THAT(flaws(ui), testing::IsEmpty());
  ui.session().scene().cursor.model.layer = 2;
  ui.draw();
  EXPECT_TRUE(ui.says("one MLP for all tokens"));
  EXPECT_FALSE(ui.has("model.experts"));
}

}  // namespace
}  // namespace headscope::test
