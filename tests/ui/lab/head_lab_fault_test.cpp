// The pipeline of a layer that can't be computed: the film shows how far it gets.

#include <gtest/gtest.h>

#include "app/pages/head_lab/pipeline/pipeline.h"
#include "tests/support/matchers.h"
#include "tests/ui/lab/head_lab_support.h"

namespace headscope::test {
namespace {

using app::Key;

class BrokenLab : public LabTabOnScreen {
 protected:
  BrokenLab() : LabTabOnScreen("pipeline") {}

  void addMatrix(app::Index rows, app::Index cols) {
    ui.session().scene().setup.mask.additive.edit().values = attention::Matrix::Ones(rows, cols);
    ui.draw();
  }
};

TEST_F(BrokenLab, KeepsFramesBeforeFaultAndMarksFailedOne) {
  addMatrix(2, 2);
  ASSERT_TRUE(page().fault);
  EXPECT_EQ(page().fault->step, app::PipelineStep::bias);
  expectTidy("additive");
  const ImRect broken = ui.find("film.broken");
  EXPECT_EQ(broken.Min.x, ui.find("film.6").Min.x) << "what is added comes behind the scale";
  EXPECT_THAT(written(), AllOf(HasSubstr("+ additive"), HasSubstr("expected 12×12"),
                               HasSubstr("Can't compute this layer"), HasSubstr("found 2×2")));
  EXPECT_THAT(faintTexts(ui), testing::IsEmpty());
  addMatrix(12, 12);
  EXPECT_FALSE(ui.has("film.broken"));
  EXPECT_FALSE(page().fault) << "and the film runs through again";
  EXPECT_TRUE(ui.has("stage.dot"));
}

TEST_F(BrokenLab, FaultFitsSmallAndPresentedWindows) {
  addMatrix(3, 2);
  ui.resize(1280, 720);
  expectTidy("small");
  EXPECT_TRUE(ui.has("film.broken"));
  EXPECT_THAT(written(), HasSubstr("found 3×2"));
  ui.key(Key::p);
  expectTidy("presented");
  EXPECT_THAT(written(), AllOf(HasSubstr("found 3×2"), Not(HasSubstr("…"))));
}

TEST_F(BrokenLab, TableOfWrongWidthFailsAtFirstFrame) {
  app::Scene scene = ui.scene();
  scene.setup.input.source = app::EmbeddingSource::table;
  attention::Table& table = scene.setup.input.table.edit();
  table.names = {"a", "b", "c"};
  table.values = attention::Matrix::Ones(3, 7);
  ui.show(scene);
  expectTidy("table");
  EXPECT_EQ(ui.find("film.broken").Min.x, ui.find("film.1").Min.x);
  EXPECT_THAT(written(), AllOf(HasSubstr("found 3×7"), HasSubstr("expected 3×256")));
}

TEST_F(BrokenLab, ShowsSymbolicShapesWithoutTokens) {
  ui.session().scene().setup.input.text = std::string();
  ui.draw();
  expectTidy("no tokens");
  EXPECT_FALSE(ui.has("film.broken")) << "an empty page is no mistake";
  EXPECT_THAT(written(), AllOf(HasSubstr("n×d\n"), HasSubstr("n×g·dₖ\n"), HasSubstr("n×n\n"),
                               HasSubstr("Type a text on Heads"), Not(HasSubstr("12×"))));
  EXPECT_THAT(faintTexts(ui), testing::IsEmpty());
  ui.click("empty.input.sample");
  EXPECT_THAT(written(), HasSubstr("12×256"));
}

}  // namespace
}  // namespace headscope::test
