// User changes to a model's attention, compared with the layer's own mathematics.

#include <gtest/gtest.h>

#include "attention/core/score_terms.h"
#include "attention/models/patch.h"
#include "attention/models/session.h"
#include "tests/attention/models/golden_models.h"
#include "tests/support/matchers.h"

namespace headscope::attention::test {
namespace {

const std::vector<Index> kIds{5, 250, 17, 99, 3, 41, 180, 77, 6, 12, 200, 33};

MaskLayers parsedEdit(const std::string& text) {
  const ParsedMask mask = parseMask(text);
  if (mask.error) throw std::runtime_error(mask.error->message);
  return mask.layers;
}

struct Outcome {
  std::shared_ptr<const Model> model;
  PassResult pass;
  const LayerResult& layer(Index i) const { return *pass.layers[static_cast<std::size_t>(i)]; }
};

Result<PassResult> tryPass(ModelSession& session, std::vector<AttentionEdit> edits) {
  PassRequest request;
  request.projections = request.hidden = true;
  request.edits = std::move(edits);
  return session.append(kIds, request);
}

Outcome passWith(const std::string& family, std::vector<AttentionEdit> edits) {
  const auto model = openModel(goldenModel(family));
  ModelSession session(model);
  auto pass = checked(tryPass(session, std::move(edits)));
  return {model, std::move(*pass)};
}

AttentionEdit edit(std::optional<Index> layer) {
  AttentionEdit edit;
  edit.layer = layer;
  return edit;
}

TEST(AttentionEdit, LayerMaskIntersectsModelMask) {
  AttentionEdit sinkless = edit(1);
  sinkless.mask = parsedEdit("full & !sinks(2)");
  const Outcome plain = passWith("llama", {}), edited = passWith("llama", {sinkless});
  // The previous layer is unchanged, bit by bit.
  EXPECT_EQ(plain.layer(0).hidden, edited.layer(0).hidden);
  for (Index row = 2; row < 12; ++row)
    for (Index key = 0; key < 12; ++key) {
      const bool seen = key <= row && key >= 2;
      EXPECT_EQ(edited.layer(1).weights.at(0, row, key) != 0, seen) << row << ", " << key;
    }
  EXPECT_NE(plain.pass.logits, edited.pass.logits);
}

TEST(AttentionEdit, ReplacementMaskMayLookAhead) {
  AttentionEdit open = edit({});
  open.mask = parsedEdit("full");
  open.replacesMask = true;
  const Outcome edited = passWith("mistral", {open});
  for (Index layer = 0; layer < 3; ++layer) EXPECT_GT(edited.layer(layer).weights.at(0, 0, 11), 0);
}

TEST(AttentionEdit, BracketsAlternativesBeforeJoining) {
  // "a | b" joined by "&" to a causal mask must not become "causal & a | b".
  AttentionEdit either = edit({});
  either.mask = parsedEdit("sinks(1) | full");
  const Outcome plain = passWith("gpt2", {}), edited = passWith("gpt2", {either});
  EXPECT_EQ(plain.pass.logits, edited.pass.logits);
}

TEST(AttentionEdit, GainCapAndBiasesChangeScoresOfTheirLayer) {
  AttentionEdit sharp = edit(0);
  sharp.sharpness = 3;
  sharp.softcap = 2.0f;
  sharp.alibi = true;
  auto added = std::make_shared<Stack>(1, 20, 20);  // sized for a longer text
  (*added)[0](4, 2) = 5;
  sharp.additive = added;
  const Outcome edited = passWith("qwen2", {sharp});
  const LayerResult& layer = edited.layer(0);
  EXPECT_EQ(layer.config.sharpness, 3);
  EXPECT_EQ(edited.layer(1).config.sharpness, 1);
  // From q and k to the weights of row 4, head 1, in double precision.
  const Index head = 1, row = 4;
  double sum = 0;
  std::vector<double> weights;
  for (Index key = 0; key <= row; ++key) {
    double score = 0;
    for (Index t = 0; t < layer.q.cols(); ++t)
      score += double{layer.q.at(head, row, t)} * double{layer.k.at(0, key, t)};
    score = score * double{layer.config.effectiveScale()} * 3 -
            std::exp2(-8.0 * 2 / 4) * static_cast<double>(row - key);
    score = 2 * std::tanh(score / 2) + (key == 2 ? 5 : 0);
    weights.push_back(std::exp(score));
    sum += weights.back();
  }
  for (Index key = 0; key <= row; ++key)
    EXPECT_NEAR(layer.weights.at(head, row, key), weights[static_cast<std::size_t>(key)] / sum, 1e-5);
}

TEST(AttentionEdit, EveryScoreNumberCombinesWithModelValue) {
  const Outcome plain = passWith("gemma2", {});
  for (const ScoreTerm& term : scoreTerms()) {
    if (!term.number.member) continue;
    AttentionEdit one = edit(1);
    one.*term.number.member = 0.5f;
    const Outcome edited = passWith("gemma2", {one});
    ScoreNumbers expected = plain.layer(1).config;
    joinNumbers(one, expected);
    EXPECT_EQ(ScoreNumbers(edited.layer(1).config), expected) << term.name;
    EXPECT_NE(edited.layer(1).weights[0], plain.layer(1).weights[0]) << term.name;
    EXPECT_EQ(edited.layer(0).config, plain.layer(0).config) << term.name;
  }
}

TEST(AttentionEdit, DropoutMatchesBetweenStepsAndFullPass) {
  AttentionEdit dropped = edit({});
  dropped.dropout = {0.3f, 9};
  const Outcome full = passWith("qwen3", {dropped});
  ModelSession session(full.model);
  PassRequest request;
  request.edits = {dropped};
  Matrix last;
  for (const Index id : kIds) {
    auto pass = checked(session.append({&id, 1}, request));
    last = pass->logits;
  }
  EXPECT_LE(distance(full.pass.logits, last), 1e-4);
  EXPECT_GT(distance(full.pass.logits, passWith("qwen3", {}).pass.logits), 1e-3);
}

TEST(AttentionEdit, PositionalMasksMatchBetweenStepsAndFullPass) {
  // Documents, prefixes and additive numbers refer to positions in the whole text, not to a step's rows.
  AttentionEdit masked = edit({});
  masked.mask = parsedEdit("documents([0, 5]) | sinks(1)");
  auto added = std::make_shared<Stack>(4, 12, 12);
  for (Index i = 0; i < added->size(); ++i) added->data()[i] = static_cast<float>(i % 7) / 3;
  masked.additive = added;
  const Outcome full = passWith("gemma2", {masked});
  ModelSession session(full.model);
  PassRequest request;
  request.edits = {masked};
  // The second document begins inside the first part.
  auto pass = session.append(std::span(kIds).first(6), request);
  for (std::size_t i = 6; i < kIds.size(); ++i) {
    ASSERT_TRUE(pass.ok()) << pass.error().message;
    pass = session.append({&kIds[i], 1}, request);
  }
  ASSERT_TRUE(pass.ok()) << pass.error().message;
  EXPECT_LE(distance(full.pass.logits, pass->logits), 1e-4);
}

TEST(AttentionEdit, RefusesEditsThatDoNotFit) {
  const auto model = openModel(goldenModel("gpt2"));
  ModelSession session(model);
  const auto message = [&](const AttentionEdit& edit) { return messageOf(tryPass(session, {edit})); };
  AttentionEdit small = edit(1);
  small.additive = std::make_shared<Stack>(1, 5, 5);
  EXPECT_EQ(
      message(small),
      "the numbers added to layer 1's scores are [1, 5, 5], expected [1 or 4, N, N] with N at least 12");
  AttentionEdit missing = edit({});
  missing.mask = parsedEdit("painted(\"gone\")");
  EXPECT_NE(message(missing).find("gone"), std::string::npos);
  AttentionEdit capped = edit({});
  capped.softcap = -1.0f;
  EXPECT_EQ(message(capped), "softcap is -1.000000, expected a finite number above 0");
  EXPECT_EQ(session.length(), 0);
}

}  // namespace
}  // namespace headscope::attention::test
