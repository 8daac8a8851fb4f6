// Patching one text's run with another's, attribution of an answer, and studies of many texts.

#include "app/compute/model/pair_study.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/compute/model/text_study.h"
#include "tests/app/compute/layer/golden_scene.h"
#include "tests/app/compute/layer/snapshot_support.h"

namespace headscope::test {
namespace {

using namespace app;
using attention::Matrix;
using attention::Piece;

/// Who gets the key, compared with the same text with the names swapped.
PairQuestion learnedPair() {
  Scene scene = openingScene();
  auto opened = openModel(kLearned);
  if (!opened) throw std::runtime_error(opened.error().message);
  scene.setup.input.text = "When Anna and Ben went to the lake , Ben gave the key to";
  adoptModel(scene, kLearned, *opened);
  return {modelQuestion(scene.setup), "When Anna and Ben went to the lake , Anna gave the key to"};
}

class Pairs : public testing::Test {
 protected:
  std::shared_ptr<const PairStudy> pair(const PairQuestion& question = learnedPair()) {
    auto study = studyPair(question, resources, {});
    if (!study) throw std::runtime_error(study.error().message);
    return std::make_shared<const PairStudy>(*std::move(study));
  }
  PatchGrid grid(const PatchGridQuestion& question) {
    auto found = computePatchGrid(
        question, [] { return Index{0}; }, [](const PatchGrid&) {}, {});
    if (!found) throw std::runtime_error(found.error().message);
    return *std::move(found);
  }

  Resources resources{kRoomy};
};

TEST_F(Pairs, AnswersAreThePredictionsOfBothTexts) {
  const auto study = pair();
  const auto word = [&](Index id) {
    return *study->opened->tokenizer->decode(std::vector{static_cast<attention::TokenId>(id)});
  };
  EXPECT_THAT(word(study->answers.id), testing::HasSubstr("Anna"));
  EXPECT_THAT(word(*study->answers.other), testing::HasSubstr("Ben"));
  EXPECT_GT(study->a.difference, 3);
  EXPECT_LT(study->b->difference, -3);
  EXPECT_EQ(study->bOfA->at(9), 9);
  PairQuestion swapped = learnedPair();
  std::swap(swapped.text.setup.input.text, swapped.other);
  const auto other = pair(swapped);
  EXPECT_NEAR(other->a.difference, -study->b->difference, 1e-3);
}

TEST_F(Pairs, PatchGridMeasuresRecoveredAnswer) {
  const auto study = pair();
  const PatchSides sides{study, false};
  const Index layers = study->opened->config().layerCount(), last = study->b->tokens() - 1;
  const PatchGrid streams = grid({sides, Piece::stream, true});
  EXPECT_EQ(streams.recovered.rows(), layers + 1);
  EXPECT_EQ(streams.done, streams.of);
  // One word differs, so its embedding, or the end of the last token's stream, accounts for the whole answer.
  EXPECT_NEAR(streams.recovered(0, 9), 1, 1e-3);
  EXPECT_NEAR(streams.recovered(layers, last), 1, 1e-3);
  for (Index token = 0; token < 9; ++token) EXPECT_NEAR(streams.recovered(layers, token), 0, 1e-3);
  EXPECT_NEAR(streams.recovered(0, 3), 0, 1e-3) << "the same word in both";
  const PatchGrid heads = grid({sides, Piece::head, false});
  EXPECT_GT(heads.recovered.maxCoeff(), 0.3f) << "some head moves the answer";
  // In the other direction, the kept and the patched text swap places.
  const PatchGrid back = grid({{study, true}, Piece::stream, true});
  EXPECT_NEAR(back.difference(0, 9), study->b->difference, 1e-2);
}

TEST_F(Pairs, KeptPatchesMatchTheirGridValues) {
  const auto study = pair();
  const PatchSides sides{study, false};
  const PatchGrid heads = grid({sides, Piece::head, false}), keys = grid({sides, Piece::keys, false});
  EXPECT_EQ(keys.recovered.cols(), study->opened->config().kvHeads);
  const auto sum = sumPatches({sides, {{Piece::head, 3, 3}, {Piece::keys, 1, 2}}}, {});
  ASSERT_TRUE(sum.ok()) << sum.error().message;
  EXPECT_NEAR(sum->single[0], heads.difference(3, 3), 1e-3);
  EXPECT_NEAR(sum->single[1], keys.difference(1, 2), 1e-3);
  // All heads and MLPs of the last token, which is the same word, account for the whole answer.
  std::vector<KeptPatch> all;
  for (Index layer = 0; layer < 4; ++layer) {
    all.push_back({Piece::head, layer});
    all.push_back({Piece::mlp, layer});
  }
  const auto whole = sumPatches({sides, all}, {});
  ASSERT_TRUE(whole.ok());
  EXPECT_NEAR(sides.recovered(whole->together), 1, 1e-3);
  EXPECT_EQ(whole->best.front().first, study->answers.id);
}

TEST_F(Pairs, PathGridMatchesManualPathPatching) {
  const auto study = pair();
  const PatchSides sides{study, false};
  const PatchGrid paths = grid({sides, Piece::queries, false, PathStart{1, 2}});
  EXPECT_EQ(paths.of, 2 * 6) << "of the two later layers";
  EXPECT_TRUE(std::isnan(paths.recovered(1, 0)));
  // By hand: the head's output in layer 1, with everything else fixed, gives the queries for the next run.
  attention::ModelSession session(study->opened->model);
  attention::PassRequest request;
  const attention::TakenFrom own{study->b->run};
  request.patches = {sides.patch({Piece::head, 1, 2}), {.piece = Piece::mlp, .layer = 1, .by = own}};
  request.projections = true;
  auto first = session.append(study->b->text.ids, request);
  ASSERT_TRUE(first.ok()) << first.error().message;
  const auto run = std::make_shared<const attention::PassResult>(*std::move(first));
  const auto logits = patchedLogits(
      *study->opened, *study->b,
      {{{.piece = Piece::queries, .layer = 2, .head = 4, .by = attention::TakenFrom{run}}}}, {});
  ASSERT_TRUE(logits.ok());
  EXPECT_NEAR(paths.difference(2, 4), answerDifference(logits->row(0), study->answers), 1e-3);
}

TEST_F(Pairs, ComputesPointedRowFirstAndStops) {
  const auto study = pair();
  const PatchGridQuestion question{{study, false}, Piece::head, false};
  std::vector<Index> rows;
  std::stop_source source;
  const auto found = computePatchGrid(
      question, [] { return Index{2}; },
      [&](const PatchGrid& part) {
        for (Index row = 0; row < part.recovered.rows(); ++row)
          if (std::isfinite(part.recovered(row, 0)) && std::ranges::find(rows, row) == rows.end())
            rows.push_back(row);
        if (rows.size() == 2) source.request_stop();
      },
      source.get_token());
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().message, "stopped");
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0], 2);
}

TEST_F(Pairs, AttributionAndLensMatchLogitDifference) {
  const auto study = pair();
  const auto attribution = studyAttribution({study}, {});
  ASSERT_TRUE(attribution.ok()) << attribution.error().message;
  const auto sum = [](const attention::Attribution& of) {
    double total = 0;
    for (const auto& part : of.parts) total += part.value;
    return total;
  };
  EXPECT_NEAR(sum(attribution->a), study->a.difference, 1e-3);
  EXPECT_NEAR(sum(*attribution->b), study->b->difference, 1e-3);
  const auto lens = mapLens({study, true}, {});
  ASSERT_TRUE(lens.ok());
  EXPECT_NEAR(lens->difference.bottomRightCorner(1, 1)(0, 0), study->b->difference, 1e-3);
  EXPECT_EQ(lens->top.bottomRightCorner(1, 1)(0, 0), likeliestTokens(*study->b, 1).front());
}

TEST_F(Pairs, ErrorsNameTheirText) {
  const auto message = [&](const PairQuestion& question) {
    const auto study = studyPair(question, resources, {});
    return study ? "no error" : study.error().message;
  };
  PairQuestion question{modelQuestion(goldenScene("gpt2", "the cat").setup), {}};
  std::string text;
  for (int i = 0; i < 60; ++i) text += "the cat ";
  question.other = text;
  EXPECT_THAT(message(question), testing::HasSubstr("Text B: "));
  EXPECT_THAT(message(question), testing::HasSubstr("this model's 48 positions"));
  question.other = "the dog";
  question.answer = 300;
  EXPECT_EQ(message(question), "answer 300 is not one of this model's tokens, 0 to 299");
  question.answer = 3;
  EXPECT_EQ(message(question), "no error");
  question.text.setup.input.text = "";
  EXPECT_EQ(message(question), "Text A: no tokens");
}

TEST(StudiedTexts, ReadsPlainLinesAndJsonObjects) {
  const auto texts = parseStudiedTexts(
      "the cat\r\n\n{\"text\": \"a\", \"other\": \"b\", \"answer\": \"c\", \"other_answer\": \"d\"}\n  \n",
      "t.txt");
  ASSERT_TRUE(texts.ok()) << texts.error().message;
  ASSERT_EQ(texts->size(), 2u);
  EXPECT_EQ((*texts)[0].text, "the cat");
  EXPECT_EQ((*texts)[1].line, 3);
  EXPECT_EQ((*texts)[1].otherAnswer, "d");
  const auto message = [](std::string_view bytes) {
    const auto read = parseStudiedTexts(bytes, "t.txt");
    return read ? "no error" : read.error().message;
  };
  EXPECT_EQ(message(""), "t.txt has no text, expected one per line");
  EXPECT_EQ(message("a\n{\"other\": \"b\"}"), "t.txt, line 2: expected one of \"text\" and \"input_ids\"");
  EXPECT_THAT(message("{\"text\": 3}"), testing::HasSubstr("line 1"));
  EXPECT_THAT(message("{\"text\": \"a\", \"clean\": \"b\"}"), testing::HasSubstr("clean"));
  EXPECT_THAT(message("{\"text\": "), testing::HasSubstr("not valid JSON"));
}

TEST_F(Pairs, TextStudyMatchesSingleStudies) {
  const PairQuestion question = learnedPair();
  const app::Setup& setup = question.text.setup;
  StudiedText text{1, *setup.input.text, *question.other, "Anna", "Ben", {}, {}};
  const StudiedHeads heads = studyText(setup, text, {}, resources, {});
  ASSERT_EQ(heads.problem, "");
  const auto study = pair(question);
  EXPECT_NEAR(heads.difference, study->a.difference, 1e-4);
  EXPECT_LE((heads.patch - grid({{study, false}, Piece::head, false}).recovered).cwiseAbs().maxCoeff(),
            1e-4f);
  EXPECT_EQ(heads.loss.rows(), 4);
  EXPECT_GT(heads.loss.maxCoeff(), 0.05f) << "the answer needs some head";
  EXPECT_EQ(heads.strongest.cols(), 6);
  text.other = "";
  const StudiedHeads alone = studyText(setup, text, {false, false, true, true}, resources, {});
  ASSERT_EQ(alone.problem, "");
  EXPECT_EQ(alone.patch.size() + alone.loss.size(), 0);
  EXPECT_EQ(alone.attribution, heads.attribution);
  text.answer = "unheardofword";
  EXPECT_EQ(studyText(setup, text, {}, resources, {}).problem, "") << "an answer may be several tokens";
  text.answer = text.otherAnswer;
  EXPECT_THAT(studyText(setup, text, {}, resources, {}).problem, testing::HasSubstr("are the same"));

  const auto columns = summariseTexts({heads, alone}, 4, 6);
  const auto found = std::ranges::find(columns, "attribution", &HeadColumn::name);
  ASSERT_NE(found, columns.end());
  EXPECT_EQ(found->mean, heads.attribution);
  EXPECT_TRUE(found->spread.isZero(1e-6f));
  EXPECT_EQ(found->texts(0, 0), 2);
  const auto patch = std::ranges::find(columns, "patch", &HeadColumn::name);
  ASSERT_NE(patch, columns.end());
  EXPECT_EQ(patch->texts(2, 2), 1);
}

}  // namespace
}  // namespace headscope::test
