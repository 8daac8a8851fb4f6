// Every score term appears in the receipt, in the map's tooltip and in the mask page's pictures of the
// biases.

#include "attention/core/score_terms.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <functional>
#include <map>

#include "app/compute/heads/head_studies.h"
#include "app/compute/layer/layer_inputs.h"
#include "app/compute/layer/layer_parts.h"
#include "app/compute/layer/line_tokens.h"
#include "app/compute/map/map_source.h"
#include "app/scene/fields.h"
#include "app/scene/text/number_text.h"
#include "attention/core/attention.h"
#include "tests/app/compute/layer/snapshot_support.h"

namespace headscope::app {
namespace {

using attention::Matrix;
using attention::ScoreStep;
using attention::ScoreTerm;
using attention::TermKind;

/// How to switch on each term that isn't just a number, by name. Every new term needs an entry here.
const std::map<std::string_view, std::function<void(app::Setup&)>> kSwitches{
    {"scale", [](app::Setup& s) { s.model.scaled = true; }},
    {"ALiBi", [](app::Setup& s) { s.model.position = PositionKind::alibi; }},
    {"T5", [](app::Setup& s) { s.model.position = PositionKind::t5; }},
    {"additive",
     [](app::Setup& s) {
       s.mask.additive = attention::Table{{}, Matrix::Random(6, 6) * 3};
     }},
    {"mask", [](app::Setup& s) { s.mask.layers = test::layersFrom("window_both(2)"); }},
};

void turnOn(const ScoreTerm& term, app::Setup& setup) {
  if (term.number.member)
    setup.model.*term.number.member = 0.5F;
  else
    kSwitches.at(term.name)(setup);
}

/// A setup whose scores are soft-capped, so that there are pictures of the biases' effects, and not scaled.
app::Setup baseSetup() {
  app::Setup setup = test::plainSetup("a b c d e f");
  setup.mask.layers = {};
  setup.model.scaled = false;
  setup.model.softcap = 20;
  return setup;
}

bool hasStep(const std::vector<ScoreStep>& steps, const ScoreTerm& term) {
  return std::any_of(steps.begin(), steps.end(), [&](const ScoreStep& step) { return step.term == &term; });
}

MapHead mapped(const app::Setup& setup, Index head) {
  Scene scene;
  scene.setup = setup;
  Resources resources({std::uint64_t{1} << 30});
  auto built = buildMapHead(mapQuestion(scene, head), resources);
  EXPECT_TRUE(built.ok() && built->has_value());
  return std::move(**built);
}

TEST(ScoreTerms, AppearInReceiptTooltipAndPictures) {
  const auto base = std::make_shared<const Snapshot>(test::computed(baseSetup()));
  const HeadStudy before = studyHead({base, 0, 1});
  for (const ScoreTerm& term : attention::scoreTerms()) {
    SCOPED_TRACE(term.name);
    app::Setup setup = baseSetup();
    turnOn(term, setup);
    const auto snapshot = std::make_shared<const Snapshot>(test::computed(setup));
    const SequenceSnapshot& sequence = snapshot->sequences[0];
    const MapHead head = mapped(setup, 1);
    for (Index query = 0; query < 6; ++query)
      for (Index key = 0; key < 6; ++key) {
        const auto receipt =
            attention::explainScore(snapshot->config, sequence.mask, sequence.attention, 1, query, key);
        EXPECT_TRUE(hasStep(receipt.steps, term));
        const MapScore score = mapScore(head.field, query, key);
        EXPECT_TRUE(hasStep(score.steps, term));
        ASSERT_EQ(score.steps.size(), receipt.steps.size());
        const std::string tooltip = mapScoreText(head.field, query, key);
        for (const ScoreStep& step : score.steps) {
          const std::string line = step.term->label(snapshot->config) + "  " + stepText(step);
          EXPECT_NE(tooltip.find(line), std::string::npos) << tooltip;
        }
      }
    const HeadStudy after = studyHead({snapshot, 0, 1});
    if (term.adds()) {
      const std::string parts = addedText(snapshot->config, sequence.mask, 1, 4, 2);
      EXPECT_EQ(parts, term.label(snapshot->config) + "  " + numberText(after.bias.values(4, 2)));
      EXPECT_NE(after.bias.values, before.bias.values);
    } else {
      EXPECT_NE(after.effect.values, before.effect.values);
    }
  }
}

TEST(ScoreTerms, NumbersAreFieldsAndCountAsModelEdits) {
  for (const ScoreTerm& term : attention::scoreTerms()) {
    if (!term.number.member) continue;
    SCOPED_TRACE(term.name);
    Scene scene;
    EXPECT_FALSE(changesModel(scene.setup));
    const Field& field = fieldAt("model." + std::string(term.number.name));
    std::get<Member<float>>(field.access).edit(scene) = 0.5F;
    EXPECT_EQ(scene.setup.model.*term.number.member, 0.5F);
    EXPECT_EQ(scoreSettings(scene.setup).*term.number.member, 0.5F);
    EXPECT_EQ(configOf(scene.setup).*term.number.member, 0.5F);
    EXPECT_TRUE(changesModel(scene.setup));
  }
}

/// For every combination of terms, the lines of the receipt lead to the score, and so do those of the map.
TEST(ScoreTerms, LinesAddUpInEveryCombination) {
  const auto terms = attention::scoreTerms();
  for (unsigned choice = 0; choice < 1U << terms.size(); ++choice) {
    app::Setup setup = baseSetup();
    setup.model.softcap = 0;
    for (std::size_t i = 0; i < terms.size(); ++i)
      if (choice >> i & 1) turnOn(terms[i], setup);
    const Snapshot snapshot = test::computed(setup);
    const SequenceSnapshot& sequence = snapshot.sequences[0];
    const MapHead head = mapped(setup, 2);
    for (Index query = 0; query < 6; query += 2)
      for (Index key = 0; key < 6; ++key) {
        const auto receipt =
            attention::explainScore(snapshot.config, sequence.mask, sequence.attention, 2, query, key);
        const MapScore onMap = mapScore(head.field, query, key);
        ASSERT_EQ(onMap.steps.size(), receipt.steps.size()) << "choice " << choice;
        // The displayed values, added up as a reader would.
        double score = receipt.dot;
        for (const ScoreStep& step : receipt.steps) {
          if (step.term->adds()) score += static_cast<double>(step.value);
          if (!step.term->adds() && step.term->kind != TermKind::visibility) score = step.score;
        }
        if (!receipt.visible) {
          EXPECT_EQ(receipt.score, -INFINITY);
          EXPECT_EQ(onMap.score(), -INFINITY);
          continue;
        }
        const double limit = test::scoreTolerance(snapshot) + 64 * FLT_EPSILON * (8 + std::abs(score));
        EXPECT_NEAR(receipt.score, score, limit) << "choice " << choice;
        EXPECT_NEAR(onMap.score(), score, limit) << "choice " << choice;
      }
  }
}

}  // namespace
}  // namespace headscope::app
