// The answers of the page Cost: whether it fits, how fast it is, and what each kind of layer holds.

#include "app/compute/cost/cost_figures.h"
#include "tests/support/matchers.h"
#include "tests/ui/cost/cost_screen.h"

namespace headscope::test {
namespace {

using app::Key;

/// A reason below a large figure that is cut off with an ellipsis, or "".
std::string cutReason() {
  for (const app::DrawnText& each : app::uiState().texts)
    if ((each.text.starts_with("at most") || each.text.starts_with("on ")) && each.text.ends_with("…"))
      return each.text;
  return "";
}

TEST_F(CostOnScreen, ShowsVerdictAndSpeedAboveTheSentence) {
  EXPECT_TRUE(ui.has("cost.answer") && ui.has("cost.verdict") && ui.has("cost.speed"));
  EXPECT_GT(ui.find("cost.verdict").GetHeight(), ui.find("cost.sentence").GetHeight());
  EXPECT_THAT(app::verdictText(figures()), HasSubstr("Fits, "));
  ui.typeValue("cost.batch", "64");
  EXPECT_FALSE(figures().fits());
  EXPECT_THAT(app::verdictText(figures()), HasSubstr("too large"));
  ui.choose("cost.weights_dtype", "fp8");
  EXPECT_EQ(figures().serving.math, attention::MathFormat::fp8);
}

TEST_F(CostOnScreen, DrawsEachKindOfLayer) {
  ui.session().scene().cost.model = "Jamba-1.5-Mini";
  ui.draw();
  EXPECT_TRUE(ui.has("cost.layers") && ui.has("layers.recurrent") && ui.has("layers.full"));
  EXPECT_FALSE(ui.has("factor.kv_heads")) << "no product has it";
  for (const char* model : {"Jamba-1.5-Mini", "Whisper large-v3", "Mamba-Codestral-7B", "GLM-4.5"}) {
    ui.session().scene().cost.model = model;
    ui.park().wait(0.3);
    EXPECT_THAT(flaws(ui), testing::IsEmpty()) << model;
  }
}

TEST_F(SmallCost, HybridsFitAlsoWhenPresented) {
  ui.session().scene().cost.model = "Whisper large-v3";
  ui.park().wait(0.3);
  EXPECT_THAT(flaws(ui), testing::IsEmpty());
  ui.key(Key::p).park().wait(0.3);
  EXPECT_TRUE(ui.has("cost.layers"));
  EXPECT_THAT(flaws(ui), testing::IsEmpty());
}

TEST_F(SmallCost, NeverTruncatesReasons) {
  for (const char* model : {"Llama-3.1-70B", "Jamba-1.5-Mini", "DeepSeek-V3", "Whisper large-v3"}) {
    ui.session().scene().cost.model = model;
    ui.session().scene().cost.batch = 64;
    ui.session().scene().cost.price = 2.5;
    ui.park().wait(0.3);
    EXPECT_EQ(cutReason(), "") << model;
    EXPECT_THAT(app::speedReason(figures()),
                HasSubstr(figures().fits() ? "a million tokens" : "have to fit first"));
    EXPECT_THAT(flaws(ui), testing::IsEmpty()) << model;
  }
}

TEST_F(SmallCost, TooltipsDoNotCoverRulerHeading) {
  const auto reads = [&](const char* control) {
    ui.hover(control).wait(0.6);
    ASSERT_TRUE(ui.has("tooltip")) << control;
    EXPECT_FALSE(ui.find("tooltip").Overlaps(ui.find("ruler.heading"))) << control;
  };
  for (const char* control : {"factor.kv_heads", "factor.tokens", "cost.total", "cost.reserved"})
    reads(control);
  ui.session().scene().cost.model = "Jamba-1.5-Mini";
  ui.draw();
  for (const char* control : {"layers.recurrent", "layers.full"}) reads(control);
}

TEST_F(CostOnScreen, TypedPriceShowsCostPerMillionTokens) {
  EXPECT_THAT(app::speedReason(figures()), testing::Not(HasSubstr("a million tokens")));
  ui.typeValue("cost.price", "3");
  EXPECT_EQ(cost().price, 3);
  EXPECT_THAT(app::speedReason(figures()), HasSubstr("a million tokens"));
}

TEST_F(CostOnScreen, LatentFactorCountsEverythingCached) {
  ui.session().scene().cost.model = "GLM-5";
  ui.session().scene().cost.tokens = 1;
  ui.draw();
  EXPECT_EQ(figures().cost.total, 78u * (512 + 64 + 128) * 2);
  const std::vector<app::CostFactor> factors = app::costFactors(figures());
  ASSERT_GT(factors.size(), 1u);
  EXPECT_EQ(factors[1].value, "704");
  EXPECT_EQ(factors[1].label, "latent 512 + 64 + 128");
}

TEST_F(CostOnScreen, CountsOfOneAreSingular) {
  ui.session().scene().cost.model = "Falcon-7B";
  ui.session().scene().cost.gpus = 1;
  ui.session().scene().cost.tokens = 1;
  ui.draw();
  EXPECT_THAT(app::costExplanations(figures()).front(), HasSubstr("MQA (1 kv head for 71 heads)"));
  EXPECT_THAT(app::costSentence(figures()), HasSubstr("at 1 token × batch 1"));
  ui.session().scene().cost.model = "Jamba-1.5-Mini";
  ui.draw();
  for (const app::CostLayers& line : app::costLayers(figures()))
    EXPECT_EQ(line.product.find("1 tokens"), std::string::npos) << line.product;
}

}  // namespace
}  // namespace headscope::test
