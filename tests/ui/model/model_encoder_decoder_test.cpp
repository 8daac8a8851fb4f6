// An encoder–decoder, with its three groups of heads shown on every page.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "app/compute/cost/cost_figures.h"
#include "app/pages/head_lab/head_lab_page.h"
#include "app/pages/model/model_page.h"
#include "tests/attention/models/plain/plain_encoder_decoder.h"
#include "tests/support/page_check.h"
#include "tests/ui/made_up_model.h"

namespace headscope::test {
namespace {

namespace made = attention::test;
using attention::Index;

class ModelEncoderDecoder : public testing::Test {
 protected:
  explicit ModelEncoderDecoder(const made::PlainPair& pair = made::plainPairs().front(),
                               const std::string& rules = "")
      : folder_(madeUp(pair)) {
    if (!rules.empty()) putFile(folder_ / "generation_config.json", rules);
    app::uiState().watches = true;
    openMadeUp(ui, folder_);
  }
  const app::model_page::State& page() { return ui.session().page<app::model_page::Page>().state(); }
  void choose(const std::string& group) {
    ui.click("page.model").click("model.group").click("model.group." + group);
    ASSERT_TRUE(page().ready()) << page().study.problem();
    ASSERT_THAT(ui.scene().setup.subject.model, testing::EndsWith("#" + group));
  }
  void expectNoFlaws(const std::string& where) {
    ui.park();
    EXPECT_THAT(flaws(ui), testing::IsEmpty()) << where;
  }
  /// Expects the weights to have this shape and each query's weights to sum to 1.
  void expectWeights(const attention::Stack& weights, Index queries, Index keys) {
    ASSERT_EQ(weights.rows(), queries);
    ASSERT_EQ(weights.cols(), keys);
    for (Index head = 0; head < weights.count(); ++head)
      for (Index row = 0; row < queries; ++row) EXPECT_NEAR(weights[head].row(row).sum(), 1, 1e-5);
  }

  static made::MadeUpCheckpoint madeUp(const made::PlainPair& pair) {
    made::MadeUpTensors tensors(attention::DType::F32, 5);
    (void)pair.run(tensors, {1, 2, 3}, {2, 4});
    return made::MadeUpCheckpoint(pair.config, tensors.file());
  }
  made::MadeUpCheckpoint folder_;
  UiDriver ui;
};

TEST_F(ModelEncoderDecoder, CrossHeadsAttendToEncoderText) {
  ASSERT_TRUE(page().ready()) << page().study.problem();
  EXPECT_TRUE(page().model.config->cross());
  const Index n = page().tokens();
  EXPECT_EQ(page().keys(), 5);
  EXPECT_GT(n, 1) << "it answers by itself";
  EXPECT_EQ(page().study->text.ids.front(), 2) << "its text begins with decoder_start_token_id";
  EXPECT_EQ(page().study->text.source.size(), 5u);
  ASSERT_EQ(page().layers.size(), 3u);
  for (const auto& layer : page().layers) expectWeights(layer->weights, n, 5);
  EXPECT_EQ(page().keyToken(2), "c");
  expectNoFlaws("cross");

  ui.click("page.heads");
  ASSERT_FALSE(ui.snapshot().error) << ui.snapshot().error->message;
  expectWeights(ui.sequence().attention.weights, n, 5);
  const attention::Stack shown = page().layers[0]->weights;
  EXPECT_LT((ui.sequence().attention.weights[1] - shown[1]).cwiseAbs().maxCoeff(), 1e-5f);
  expectNoFlaws("cross heads");
}

TEST_F(ModelEncoderDecoder, EveryPageWorksOnEveryGroup) {
  for (const std::string group : {"encoder", "decoder", "cross"}) {
    choose(group);
    const Index n = page().queries();
    EXPECT_EQ(page().model.config->causal, group != "encoder");
    EXPECT_EQ(page().layers.size(), group == "encoder" ? 2u : 3u);
    expectWeights(page().layers[0]->weights, n, group == "decoder" ? n : 5);
    EXPECT_TRUE(group != "decoder" || page().layers[1]->weights.at(0, 0, 1) == 0) << "causal";
    for (const std::string name : {"heads", "mask", "map", "cache", "cost", "lab", "model"}) {
      ui.click("page." + name);
      EXPECT_FALSE(ui.snapshot().error) << group << ": " << ui.snapshot().error->message;
      expectNoFlaws(group + " on " + name);
    }
  }
}

TEST_F(ModelEncoderDecoder, DecoderTextCanBeTypedSeparately) {
  const Index own = page().tokens();
  ui.replaceText("decoder_text", "db");
  ASSERT_TRUE(page().ready()) << page().study.problem();
  EXPECT_EQ(page().tokens(), 3) << "the first token, and two";
  EXPECT_EQ(page().queryToken(1), "d");
  EXPECT_EQ(page().keyToken(2), "c") << "the encoder's text stays";
  ui.key(app::Key::escape).key(app::Key::period);
  EXPECT_EQ(page().tokens(), 4);
  ui.click("page.heads").replaceText("decoder_text", "dba");
  EXPECT_TRUE(ui.scene().setup.subject.written.empty()) << "it went on from another text";
  EXPECT_EQ(ui.sequence().queryLength, 4);
  expectNoFlaws("heads");
  ui.clickAway();
  for (int i = 0; i < 20 && !ui.scene().setup.input.contextText->empty(); ++i) ui.chord(kCtrl, app::Key::z);
  ui.click("page.model");
  EXPECT_EQ(page().tokens(), own) << "empty, it answers by itself again";
}

TEST_F(ModelEncoderDecoder, AttributesPatchesAndComposesBothAttentions) {
  ui.replaceText("decoder_text", "ab").replaceText("text_b", "abdbad");
  for (const std::string group : {"decoder", "cross"}) {
    choose(group);
    ui.click("model.view.attribution");
    ASSERT_TRUE(page().pair.problem().empty()) << page().pair.problem();
    ASSERT_TRUE(page().attribution.newest());
    const auto& parts = page().attribution->a.parts;
    const auto of = [&](attention::HeadGroup wanted) {
      return std::ranges::count_if(parts,
                                   [&](const auto& part) { return part.head >= 0 && part.group == wanted; });
    };
    EXPECT_EQ(of(attention::HeadGroup::decoder), 9);
    EXPECT_EQ(of(attention::HeadGroup::cross), 9);
    expectNoFlaws("attribution, " + group);
    ui.click("model.view.patch");
    for (const auto piece : {attention::Piece::head, attention::Piece::pattern, attention::Piece::queries,
                             attention::Piece::keys, attention::Piece::values}) {
      ui.session().scene().cursor.model.piece = piece;
      ui.draw();
      EXPECT_EQ(page().headGrid.problem(), "") << group;
      EXPECT_TRUE(page().headGrid->done == page().headGrid->of) << group;
      EXPECT_TRUE(page().headGrid->recovered.allFinite());
    }
    expectNoFlaws("patch, " + group);
    ui.click("model.view.heads");
    ASSERT_FALSE(page().head.compositions.empty());
    const auto& found = page().head.compositions.begin()->second;
    const bool encoder = std::ranges::any_of(
        found.earlier, [](const auto& head) { return head.group == attention::HeadGroup::encoder; });
    EXPECT_EQ(encoder, group == "cross");
    expectNoFlaws("composition, " + group);
  }
}

TEST_F(ModelEncoderDecoder, LabShowsCrossHeadAndCostCountsBothStacks) {
  ui.click("page.lab");
  const auto& lab = ui.session().page<app::head_lab_page::Page>().state();
  EXPECT_TRUE(lab.problem().empty()) << lab.problem();
  ASSERT_TRUE(lab.head);
  const auto& layer = *lab.head->question.layer;
  EXPECT_EQ(layer.context.rows(), 5) << "keys come from the encoder's text";
  const attention::Matrix keys = layer.context * lab.head->k.weight.transpose();
  const attention::Matrix found = layer.sequence().attention.k[0];
  EXPECT_LT((keys - found).cwiseAbs().maxCoeff(), 1e-4f);
  const attention::Matrix queries = layer.x * lab.head->q.weight.transpose();
  EXPECT_LT((queries - attention::Matrix(layer.sequence().attention.q[0])).cwiseAbs().maxCoeff(), 1e-4f);
  ui.click("page.cost");
  ui.session().scene().cost.model = app::kOpenedModel;
  ui.draw();
  EXPECT_TRUE(ui.has("layers.cross") && ui.has("layers.full") && ui.has("layers.none"));
  expectNoFlaws("cost");
}

TEST_F(ModelEncoderDecoder, GenerationAndDisabledHeadsApplyToShownGroup) {
  choose("decoder");
  const Index before = page().tokens();
  const attention::Matrix hidden = page().layers.back()->hidden;
  ui.key(app::Key::period);
  EXPECT_EQ(page().tokens(), before + 1);
  EXPECT_EQ(page().layers.back()->hidden.topRows(before), hidden) << "through the caches";
  ui.session().scene().setup.subject.switchedOff = {{0, 1, app::HeadOff::zero}};
  ui.draw();
  EXPECT_NE(page().layers.back()->hidden.topRows(before), hidden);
  choose("cross");
  EXPECT_TRUE(ui.scene().setup.subject.switchedOff.empty()) << "another group's heads";
}

TEST_F(ModelEncoderDecoder, TextBUsesDecoderTextOfTextA) {
  ui.replaceText("text_b", "dbdd");
  for (const std::string group : {"decoder", "cross"}) {
    choose(group);
    for (const app::ShownText shown : {app::ShownText::b, app::ShownText::difference}) {
      ui.session().scene().cursor.model.shown = shown;
      ui.draw();
      ASSERT_TRUE(app::model_page::shownCompared(ui.scene(), page())) << page().comparedProblem();
      EXPECT_EQ(page().compared.request().b->text.ids, page().study->text.ids);
      EXPECT_NE(page().compared.request().b->text.sourceIds, page().study->text.sourceIds);
      EXPECT_EQ(page().pair->b->text.ids, page().study->text.ids) << "as patches have it";
    }
    expectNoFlaws("two texts, " + group);
    ui.session().scene().cursor.model.shown = app::ShownText::a;
  }
}

/// A model whose generation rules force the first token of every answer.
class ModelWithRules : public ModelEncoderDecoder {
 protected:
  ModelWithRules()
      : ModelEncoderDecoder(made::plainPairs().front(), R"({"forced_bos_token_id": 3, "eos_token_id": 1})") {}
};

TEST_F(ModelWithRules, GenerationFollowsRulesButPredictionsDoNot) {
  ASSERT_TRUE(page().ready()) << page().study.problem();
  ASSERT_GT(page().tokens(), 1);
  EXPECT_EQ(page().study->text.ids[1], 3);
  ui.session().scene().cursor.cell.query = 0;
  ui.draw();
  ASSERT_TRUE(page().predictions.newest());
  const app::TokenPredictions& predictions = *page().predictions;
  ASSERT_NE(predictions.best[0].id, 3) << "the test needs a model that would begin otherwise";
  ASSERT_TRUE(predictions.ruled);
  EXPECT_EQ(predictions.ruled->id, 3);
  EXPECT_EQ(predictions.ruled->rule, "forced_bos_token_id");
  EXPECT_TRUE(ui.has("guess.ruled"));
  EXPECT_TRUE(ui.has("model.note"));
  expectNoFlaws("a rule");
  ui.session().scene().cursor.cell.query = 1;
  ui.draw();
  EXPECT_FALSE(page().predictions->ruled);
  EXPECT_FALSE(ui.has("guess.ruled"));
}

/// A file that was saved from the encoder's class.
class ModelOfEncoder : public ModelEncoderDecoder {
 protected:
  ModelOfEncoder() : ModelEncoderDecoder(alone()) {}
  static made::PlainPair alone() {
    made::PlainPair pair = made::plainPairs().front();
    auto config = nlohmann::json::parse(pair.config);
    config["architectures"] = {"T5EncoderModel"};
    pair.config = config.dump();
    return pair;
  }
};

TEST_F(ModelOfEncoder, OffersNoOtherKindsOfAttention) {
  ASSERT_TRUE(page().ready()) << page().study.problem();
  EXPECT_EQ(page().model.config->group, attention::HeadGroup::encoder);
  EXPECT_FALSE(ui.has("model.group"));
  expectNoFlaws("encoder alone");
}

class ModelOfSound : public ModelEncoderDecoder {
 protected:
  ModelOfSound() : ModelEncoderDecoder(made::plainBarts().back()) {}
};

TEST_F(ModelOfSound, ReadsDroppedFeatures) {
  EXPECT_FALSE(page().ready());
  EXPECT_THAT(page().study.problem(), testing::HasSubstr("Drop a file"));
  expectNoFlaws("without features");
  made::MadeUpTensors features(attention::DType::F32, 3);
  const Index width = ui.scene().setup.subject.opened->config().modelDim;
  (void)features.matrix("encoder_last_hidden_state", 6, width, 1);
  const std::filesystem::path file = folder_ / "sound.safetensors";
  putFile(file, *attention::formatSafetensors(features.file()));
  ui.click("page.model").drop({file.string()});
  ASSERT_TRUE(page().ready()) << page().study.problem();
  EXPECT_EQ(ui.scene().setup.subject.features, file.string());
  EXPECT_EQ(page().keys(), 6);
  expectWeights(page().layers[0]->weights, page().queries(), 6);
  EXPECT_EQ(page().keyToken(5), "5") << "frames are numbers";
  expectNoFlaws("with features");
  // Replaces the audio features. Ones of the wrong shape are reported, and nothing is lost.
  made::MadeUpTensors wrong(attention::DType::F32, 3);
  (void)wrong.matrix("encoder_last_hidden_state", 6, width + 1, 1);
  putFile(folder_ / "wrong.safetensors", *attention::formatSafetensors(wrong.file()));
  ui.drop({(folder_ / "wrong.safetensors").string()});
  EXPECT_THAT(page().study.problem(), testing::HasSubstr("expected [1 to"));
  ui.drop({file.string()});
  EXPECT_EQ(page().study.problem(), "");
  EXPECT_EQ(page().keys(), 6);
}

}  // namespace
}  // namespace headscope::test
