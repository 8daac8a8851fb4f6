#include "app/compute/kept_inputs.h"

#include <gtest/gtest.h>

#include "tests/app/compute/snapshot_support.h"

namespace headscope::app {
namespace {

const attention::Projections& weightsOf(const app::Setup& setup) {
  static thread_local std::shared_ptr<const attention::Projections> held;
  const auto found = keptProjections(setup, 12);
  EXPECT_TRUE(found.ok());
  held = *found;
  return *held;
}

/// Whatever was asked before, the answer is the one of somebody who asks for the first time.
void expectAsNew(const app::Setup& setup) {
  const auto fresh = buildProjections(setup, 12);
  ASSERT_TRUE(fresh.ok());
  const attention::Projections& kept = weightsOf(setup);
  EXPECT_EQ(kept.q.weight, fresh->q.weight);
  EXPECT_EQ(kept.o.weight, fresh->o.weight);
  EXPECT_EQ(kept.v.bias.size(), fresh->v.bias.size());
  const std::vector<LineTokens> lines = tokenizeBatch(setup).lines;
  const auto inputs = keptInputs(setup, lines);
  ASSERT_TRUE(inputs.ok());
  ASSERT_EQ((*inputs)->size(), lines.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto line = embedLine(setup, lines[i]);
    EXPECT_EQ((**inputs)[i].x, line->x);
    EXPECT_EQ((**inputs)[i].context, line->context);
  }
}

TEST(KeptInputs, FollowEverythingTheyAreMadeOf) {
  const std::vector<void (*)(app::Setup&)> changes{
      [](app::Setup& s) { s.model.sharpness = 3; },
      [](app::Setup& s) { s.model.bias = !s.model.bias; },
      [](app::Setup& s) { s.weights.seed = 99; },
      [](app::Setup& s) {
        s.weights.planted = {{attention::Pattern::uniform, 0}};
      },
      [](app::Setup& s) { s.weights.source = WeightSource::random; },
      [](app::Setup& s) { s.weights.seed = 3; },
      [](app::Setup& s) { s.model.position = PositionKind::none; },
      [](app::Setup& s) { s.model.kvHeads = s.model.heads; },
      [](app::Setup& s) { s.input.seed = 5; },
      [](app::Setup& s) { s.input.text = "one two\nthree"; },
      [](app::Setup& s) { s.input.cross = true, s.input.contextText = "what is read"; },
      [](app::Setup& s) { s.input.contextText = "something else"; },
      [](app::Setup& s) { s.input.tokenization = attention::Tokenization::characters; },
      [](app::Setup& s) { s.input.ignoreCase = !s.input.ignoreCase; }};
  app::Setup setup = openingScene().setup;
  expectAsNew(setup);
  for (const auto& change : changes) {
    change(setup);
    expectAsNew(setup);
    expectAsNew(setup);
  }
}

TEST(KeptInputs, AreTheSameObjectsWhileASliderMovesTheScores) {
  app::Setup setup = openingScene().setup;
  const std::vector<LineTokens> lines = tokenizeBatch(setup).lines;
  const auto weights = keptProjections(setup, 12);
  const auto inputs = keptInputs(setup, lines);
  setup.model.sharpness = 2.5F;
  setup.model.scaled = !setup.model.scaled;
  setup.model.softcap = 7;
  setup.model.dropout = 0.5F;
  EXPECT_EQ(*keptProjections(setup, 12), *weights);
  EXPECT_EQ(*keptInputs(setup, lines), *inputs);
}

}  // namespace
}  // namespace headscope::app
