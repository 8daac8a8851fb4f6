// Which heads read which, in a model with a known circuit.

#include <gtest/gtest.h>

#include "app/compute/heads/head_studies.h"
#include "app/scene/subject.h"

namespace headscope::app {
namespace {

TEST(HeadComposition, FindsPreviousTokenHeadReadByInductionHead) {
  const auto opened = openModel(kLearned);
  ASSERT_TRUE(opened) << opened.error().message;
  // Head 2 of layer 1 repeats lists: its keys are what the previous-token head wrote (Olsson et al. 2022).
  const auto found = headCompositions({*opened, 1, 2}, {});
  ASSERT_TRUE(found.ok());
  ASSERT_EQ(found->earlier.size(), 6u);
  EXPECT_EQ(found->later.size(), 12u);
  const ComposedHead& first = found->earlier.front();
  EXPECT_EQ(std::pair(first.layer, first.head), std::pair(Index{0}, Index{0}));
  EXPECT_STREQ(first.strongest().first, "K");
  EXPECT_GT(first.strongest().second, 0.2);
  // The same pair, found among all pairs.
  const auto all = allCompositions(*(*opened)->model);
  ASSERT_TRUE(all.ok());
  for (const ComposedPair& pair : *all)
    if (pair.fromLayer == 0 && pair.fromHead == 0 && pair.toLayer == 1 && pair.toHead == 2) {
      EXPECT_EQ(pair.with, first.with);
    }
  std::stop_source stop;
  stop.request_stop();
  EXPECT_FALSE(headCompositions({*opened, 1, 2}, stop.get_token()).ok());
}

}  // namespace
}  // namespace headscope::app
