// The heads of a second text shown in place of the first text's.

#include <gtest/gtest.h>

#include "app/compute/model/model_study.h"
#include "render/heatmap.h"
#include "tests/app/compute/layer/golden_scene.h"
#include "tests/app/compute/layer/snapshot_support.h"

namespace headscope::test {
namespace {

using namespace app;

TEST(ComparedHeads, AlignsHeadMapsOfBWithA) {
  Resources resources(kRoomy);
  const Scene scene = goldenScene("qwen2", "the cat sat on the mat and ran to");
  ModelRunner runner;
  const auto a = runner.run(modelQuestion(scene.setup), resources, {}, {});
  app::Setup setup = scene.setup;
  setup.input.text = "the cat sat on the hat and ran to";
  const auto b = runner.run(modelQuestion(setup), resources, {}, {});
  ASSERT_TRUE(a.ok() && b.ok());
  ASSERT_EQ(a->tokens(), b->tokens());
  std::vector<Index> rows;
  for (Index i = 0; i < a->tokens(); ++i) rows.push_back(i == 4 ? -1 : i);
  const attention::HeadText text(a->text.tokens, a->text.tokens, false);
  const auto difference = comparedLayer(*a->layers[1], *b->layers[1], {rows, rows}, true, text, {});
  const auto same = comparedLayer(*a->layers[1], *b->layers[1], {rows, rows}, false, text, {});
  EXPECT_EQ(same->weights.at(2, 9, 3), b->layers[1]->weights.at(2, 9, 3));
  EXPECT_EQ(difference->weights.at(2, 9, 3),
            b->layers[1]->weights.at(2, 9, 3) - a->layers[1]->weights.at(2, 9, 3));
  EXPECT_EQ(difference->thumbnails.at(2, 4, 2), render::kMaskedCell);
  EXPECT_EQ(difference->thumbnails.at(2, 9, 4), render::kMaskedCell);
  float most = 0;
  for (const HeadSummary& head : difference->heads) most = std::max(most, head.differs);
  EXPECT_GT(most, 0);
  EXPECT_LE(most, 1);
  EXPECT_LT(same->heads.front().differs, 0);
}

}  // namespace
}  // namespace headscope::test
