// Planted induction for all shapes of heads, including MQA and very small ones: either it is found, or a
// message says that heads are too narrow or can't hold it at all.

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "app/compute/layer/layer_inputs.h"
#include "app/compute/model/model_study.h"
#include "tests/app/compute/layer/snapshot_support.h"
#include "tests/support/matchers.h"

namespace headscope::test {
namespace {

using namespace app;

/// Two layers with the default planted heads, on `words` words three times in a row.
app::Setup inductionSetup(Index heads, Index kvHeads, Index headDim, Index words) {
  app::Setup setup = openingScene().setup;
  std::string text;
  for (Index i = 0; i < 3 * words; ++i) text += fmt::format("w{} ", 7 * (i % words) + 3);
  setup.input.text = text;
  setup.model.layers = 2;
  setup.model.linked = false;
  setup.model.heads = heads;
  setup.model.kvHeads = kvHeads;
  setup.model.headDim = headDim;
  setup.subject.layer = 1;
  return setup;
}

TEST(StackInduction, FindsInductionUnlessHeadsAreTooNarrow) {
  Index found = 0, narrow = 0, refusals = 0;
  for (const auto& [heads, kvHeads] : {std::pair{8, 8}, {8, 2}, {8, 1}, {4, 1}, {2, 1}, {1, 1}})
    for (const Index headDim : {4, 8, 12, 16, 32, 64}) {
      const app::Setup setup = inductionSetup(heads, kvHeads, headDim, 20);
      const std::string shape = fmt::format("{} heads over {} of {}", heads, kvHeads, headDim);
      if (const std::string misfit = plantedMisfit(setup); !misfit.empty()) {
        EXPECT_THAT(misfit, AllOf(HasSubstr("dimensions ("), HasSubstr("choose a larger head size")))
            << shape;
        EXPECT_THAT(refused(setup).message, HasSubstr("choose a larger head size")) << shape;
        ++refusals;
        continue;
      }
      const Snapshot snapshot = computed(setup);
      const float score = snapshot.sequences[0].profiles[0]["induction"].raw;
      if (const Index compared = narrowInduction(setup); compared > 0) {
        EXPECT_LT(score, 0.9f) << shape << " compare " << compared << ": they are said to be too narrow";
        ++narrow;
      } else {
        EXPECT_GT(score, 0.9f) << shape;
        EXPECT_EQ(attention::describe(snapshot.sequences[0].label(0, 0.3f)), "induction") << shape;
        ++found;
      }
    }
  EXPECT_GT(found, 20);
  EXPECT_GT(narrow, 2);
  EXPECT_GT(refusals, 2);
}

TEST(StackInduction, DefaultSizesAreWideEnough) {
  EXPECT_EQ(narrowInduction(inductionSetup(8, 2, 32, 6)), 0);
  EXPECT_EQ(narrowInduction(inductionSetup(8, 1, 32, 6)), 0) << "MQA too";
  app::Setup one = inductionSetup(8, 2, 4, 6);
  one.model.layers = 1;
  EXPECT_EQ(narrowInduction(one), 0) << "without a layer below there is nothing to compare";
}

}  // namespace
}  // namespace headscope::test
