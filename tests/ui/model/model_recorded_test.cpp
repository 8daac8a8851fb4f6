// The page Model with recorded attention, its queries and keys.

#include <gtest/gtest.h>

#include <functional>

#include "app/pages/model/overview/overview_parts.h"
#include "tests/support/matchers.h"
#include "tests/support/page_check.h"
#include "tests/support/temporary_folder.h"
#include "tests/ui/model/model_heads_support.h"

namespace headscope::test {
namespace {

using app::Key;

TEST_F(ModelHeads, ShowsRecordedCrossAttention) {
  TemporaryFolder folder;
  Recording(2, 3, 3, 5, 4, 0.5f, false)
      .save(folder / "cross.safetensors", true,
            {{"tokens", R"(["Das","Tier","war","zu","alt"])"}, {"query_tokens", R"(["It","was","old"])"}});
  open(folder / "cross.safetensors");
  ASSERT_TRUE(page().ready()) << page().study.problem();
  EXPECT_EQ(page().queries(), 3);
  EXPECT_EQ(page().tokens(), 5);
  ui.clickAt("model.1.2", 0.95f, 0.95f);
  EXPECT_EQ(ui.scene().cursor.cell, (app::Cell{2, 2, 4}));
  EXPECT_EQ(page().queryToken(2), "old");
  EXPECT_TRUE(ui.has("model.large"));
  EXPECT_TRUE(ui.has("query.2"));
  EXPECT_TRUE(ui.has("token.4"));
}

/// Heads on the diagonal: within one text a token attends to itself, between two texts it doesn't.
attention::NamedTensor diagonal(std::uint64_t n) {
  std::vector<float> values(static_cast<std::size_t>(2 * n * n), 0.0f);
  for (std::size_t row = 0; row < 2 * n; ++row) values[row * n + row % n] = 1;
  return attention::fromFloats(values, {2, n, n});
}

TEST_F(ModelHeads, SelectsRecordedGroupWithoutSelfLabelsForCross) {
  TemporaryFolder folder;
  attention::SafetensorsFile file;
  file.tensors["encoder_attentions.0"] = diagonal(5);
  file.tensors["cross_attentions.0"] = diagonal(5);
  file.metadata = {{"encoder_tokens", "Das Tier war so alt"}, {"decoder_tokens", "It was very old ."}};
  ASSERT_TRUE(attention::writeSafetensors((folder / "t5.safetensors").string(), file).ok());
  open(folder / "t5.safetensors");
  ASSERT_TRUE(page().ready()) << page().study.problem();
  const auto label = [&] { return page().summary(0, 0)->label(0.3f); };
  ASSERT_TRUE(label().detector);
  EXPECT_EQ(label().detector->name, "self") << "the encoder's";
  ui.click("recorded.group").click("recorded.group.cross");
  EXPECT_THAT(ui.scene().setup.subject.model, testing::EndsWith("t5.safetensors#cross"));
  ASSERT_TRUE(page().ready()) << page().study.problem();
  EXPECT_EQ(page().queryToken(4), ".");
  EXPECT_EQ(page().token(4), "alt");
  EXPECT_FALSE(page().model.config->causal);
  for (const char* word : {"self", "previous", "next", "local_band", "offset"})
    EXPECT_TRUE(!label().detector || label().detector->name != word) << word;
}

TEST_F(ModelHeads, ComparesTwoRecordingsHeadByHead) {
  TemporaryFolder folder;
  Recording(2, 3, 4, 4, 4, 0.5f, true)
      .save(folder / "a.safetensors", false, {{"tokens", R"(["The","cat","sat","down"])"}});
  Recording(2, 3, 5, 5, 4, 1.0f, true)
      .save(folder / "b.safetensors", false, {{"tokens", R"(["The","big","cat","sat","up"])"}});
  Recording(2, 2, 4, 4, 4, 1.0f, true).save(folder / "c.safetensors", false);
  open(folder / "a.safetensors");
  ASSERT_TRUE(page().ready()) << page().study.problem();
  const auto compareWith = [&](const char* name, const auto& done) {
    ui.session().scene().compare.recorded = (folder / name).string();
    ui.session().scene().cursor.model.shown = app::ShownText::difference;
    for (int i = 0; i < 100 && !done(); ++i) ui.draw();
  };
  compareWith("b.safetensors", [&] { return compared(); });
  ASSERT_TRUE(compared()) << page().other.problem << page().comparedProblem();
  EXPECT_EQ(page().layers, *compared());
  const auto& a = page().study->layers[1]->weights;
  const auto& b = page().compared.request().b->layers[1]->weights;
  EXPECT_FLOAT_EQ(page().layers[1]->weights.at(2, 2, 1), b.at(2, 3, 2) - a.at(2, 2, 1)) << "“sat” at “cat”";
  EXPECT_GT(page().layers[1]->heads[2].differs, 0);
  ui.draw();
  EXPECT_THAT(flaws(ui), IsEmpty());
  ui.click("model.shown.b");
  for (int i = 0; i < 50 && page().layers[1]->weights.at(2, 2, 1) != b.at(2, 3, 2); ++i) ui.draw();
  EXPECT_FLOAT_EQ(page().layers[1]->weights.at(2, 2, 1), b.at(2, 3, 2));
  compareWith("c.safetensors", [&] { return !page().comparedProblem().empty(); });
  EXPECT_THAT(page().comparedProblem(), HasSubstr("B has 2 layers of 2 heads, A has 2 layers of 3 heads"));
  compareWith("none.safetensors", [&] { return !page().other.problem.empty(); });
  EXPECT_THAT(page().other.problem, HasSubstr("none.safetensors"));
  ui.choose("recorded.b", "nothing");
  EXPECT_TRUE(ui.scene().compare.recorded.empty());
}

TEST_F(ModelHeads, ComparesTwoGroupsOfOneFile) {
  TemporaryFolder folder;
  attention::SafetensorsFile file;
  file.tensors["encoder_attentions.0"] = diagonal(4);
  file.tensors["decoder_attentions.0"] =
      attention::fromFloats(std::vector<float>(2 * 4 * 4, 0.25f), {2, 4, 4});
  file.metadata = {{"encoder_tokens", "It was very old"}, {"decoder_tokens", "It was very old"}};
  ASSERT_TRUE(attention::writeSafetensors((folder / "t5.safetensors").string(), file).ok());
  open(folder / "t5.safetensors");
  ASSERT_TRUE(page().ready()) << page().study.problem();
  ui.choose("recorded.b", "decoder");
  for (int i = 0; i < 100 && !compared(); ++i) ui.draw();
  ASSERT_TRUE(compared()) << page().other.problem << page().comparedProblem();
  EXPECT_THAT(ui.scene().compare.recorded, testing::EndsWith("t5.safetensors#decoder"));
  EXPECT_FLOAT_EQ(page().layers[0]->weights.at(1, 2, 2), 0.25f - 1);
  EXPECT_FLOAT_EQ(page().layers[0]->weights.at(1, 2, 1), 0.25f);
}

TEST_F(ModelHeads, CachedQueriesAreTheLastTokens) {
  TemporaryFolder folder;
  Recording(1, 2, 3, 6, 4, 0.5f, true)
      .save(folder / "cached.safetensors", false, {{"tokens", R"(["a","b","c","d","e","f"])"}});
  open(folder / "cached.safetensors");
  EXPECT_TRUE(page().model.config->causal);
  EXPECT_EQ(page().queryToken(0), "d");
  const auto marks = app::MarkedMask(page().layer(0)->mask).marks[0];
  EXPECT_EQ(marks(0, 3), 0);
  EXPECT_LT(marks(0, 4), 0) << "the first query stands at the fourth place";
}

TEST_F(ModelHeads, ExplainsRecordedWeightsFromQueriesAndKeys) {
  TemporaryFolder folder;
  Recording(1, 2, 6, 6, 4, 0.5f, true).save(folder / "root.safetensors", true);
  open(folder / "root.safetensors");
  rest();
  ASSERT_TRUE(page().recorded.newest());
  EXPECT_TRUE(page().recorded->byRootOfDim) << "1/√4";
  EXPECT_TRUE(page().recorded->explains());
  EXPECT_TRUE(ui.has("recorded.terms"));
  EXPECT_TRUE(ui.has("recorded.output"));
  // Another scale is found and reported.
  Recording(1, 2, 6, 6, 4, 0.31f, true).save(folder / "other.safetensors", true);
  open(folder / "other.safetensors");
  rest();
  ASSERT_TRUE(page().recorded.newest());
  EXPECT_FALSE(page().recorded->byRootOfDim);
  EXPECT_NEAR(page().recorded->scale, 0.31, 1e-3);
  EXPECT_TRUE(page().recorded->explains());
  // Weights that don't belong to the queries and keys are reported as unexplained.
  Recording mixed(1, 2, 6, 6, 4, 0.5f, true);
  std::swap(mixed.q, mixed.v);
  mixed.save(folder / "wrong.safetensors", true);
  open(folder / "wrong.safetensors");
  rest();
  ASSERT_TRUE(page().recorded.newest());
  EXPECT_FALSE(page().recorded->explains());
  EXPECT_FALSE(ui.has("recorded.terms"));
}

/// Rows that leave a share to a sink are explained by q and k with that share, and the notes say so.
TEST_F(ModelHeads, ExplainsRecordedWeightsBesideASink) {
  for (const float scale : {0.5f, 0.31f}) {
    TemporaryFolder folder;
    Recording shared(1, 2, 6, 6, 4, scale, true);
    for (std::size_t i = 0; i < shared.attention.size(); ++i)
      shared.attention[i] *= 0.4f + 0.1f * static_cast<float>(i / 6 % 6);
    shared.save(folder / "sink.safetensors", true);
    open(folder / "sink.safetensors");
    rest();
    ASSERT_TRUE(page().recorded);
    const app::RecordedRule& rule = *page().recorded;
    EXPECT_TRUE(rule.explains() && rule.sink);
    EXPECT_NEAR(rule.scale, static_cast<double>(scale), 1e-3);
    const app::RecordedReceipt receipt = app::recordedReceipt(*page().layer(0), 1, 3, 2, rule);
    EXPECT_NEAR(receipt.share, 0.7, 1e-5);
    EXPECT_NEAR(receipt.weight, receipt.recorded, 1e-4);
    constexpr const char* kNote = "the rest of each row goes to an attention sink";
    EXPECT_THAT(page().study->notFinite, AllOf(HasSubstr("sum to 0.4 to 0.9"), HasSubstr(kNote)));
    EXPECT_THAT(app::recordedNotes(*ui.scene().setup.subject.opened->recorded), Contains(HasSubstr(kNote)));
    // Without q and k nobody knows.
    shared.save(folder / "weights.safetensors", false);
    open(folder / "weights.safetensors");
    EXPECT_THAT(page().study->notFinite,
                AllOf(HasSubstr("a share that a sink takes"), Not(HasSubstr(kNote))));
  }
}

/// Heads can't recompute a recorded layer, so its heads are enlarged where they are, if need be in the
/// drawer.
TEST_F(ModelHeads, ClickOnRecordedHeadStaysOnModel) {
  TemporaryFolder folder;
  Recording(2, 3, 6, 6, 4, 0.5f, true).save(folder / "a.safetensors", false);
  open(folder / "a.safetensors");
  ASSERT_TRUE(page().ready()) << page().study.problem();
  struct Stage {
    int width, height;
    bool presents;
  };
  for (const Stage& stage : {Stage{1600, 900, false}, Stage{1280, 720, false}, Stage{1280, 720, true}}) {
    ui.resize(stage.width, stage.height);
    ui.view().present = stage.presents;
    ui.view().drawer = false;
    ui.draw();
    ui.click("model.1.2");
    rest();
    EXPECT_EQ(ui.scene().cursor.page, "model");
    EXPECT_EQ(ui.scene().cursor.model.layer, 1);
    EXPECT_EQ(ui.scene().cursor.cell.head, 2);
    ui.doubleClick("model.1.2");
    EXPECT_EQ(ui.scene().cursor.page, "model");
    EXPECT_EQ(ui.scene().cursor.model.layer, 1);
    EXPECT_EQ(ui.scene().cursor.cell.head, 2);
    EXPECT_TRUE(ui.has("model.large"));
    ui.click("model.0.1");
    rest();
    EXPECT_EQ(page().head.previewed.cell.head, 1) << "nothing is pinned";
  }
}

/// Values that are no weights hide nothing: the rest is shown, and they are marked and named.
TEST_F(ModelHeads, ShowsRecordedValuesThatAreNoWeights) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  struct Case {
    float value;
    const char* says;
    bool marked;
    float end;  ///< of a scale around 0
  };
  for (const Case& one :
       {Case{kNan, "NaN or infinite", true, 0}, Case{1.25f, "model.eval()", true, 0},
        Case{-0.25f, "differential attention", false, 1}, Case{0.5f, "row sums to", false, 0}}) {
    TemporaryFolder folder;
    attention::SafetensorsFile file;
    file.tensors["attention"] = diagonal(5);
    reinterpret_cast<float*>(file.tensors["attention"].bytes.data())[25 + 5] = one.value;  // head 1, 1 → 0
    ASSERT_TRUE(attention::writeSafetensors((folder / "a.safetensors").string(), file).ok());
    open(folder / "a.safetensors");
    ASSERT_TRUE(page().ready()) << page().study.problem();
    EXPECT_THAT(page().study->notFinite, HasSubstr(one.says));
    const app::LayerSummary& layer = *page().layer(0);
    EXPECT_EQ(layer.thumbnails.at(0, 1, 1), 1);
    EXPECT_EQ(std::isnan(layer.thumbnails.at(1, 1, 0)), one.marked) << one.value;
    EXPECT_EQ(app::model_page::shownRange(ui.scene(), page()).low, -one.end);
    ui.clickAt("model.0.1", 0.1f, 0.3f);
    rest();
    EXPECT_EQ(ui.scene().cursor.cell, (app::Cell{1, 1, 0}));
    EXPECT_TRUE(ui.has("recorded.fault")) << one.value;
    EXPECT_EQ(ui.has("recorded.no_weight"), one.marked) << one.value;
    EXPECT_THAT(flaws(ui), IsEmpty());
  }
}

TEST_F(ModelHeads, RecordedPartsFit) {
  TemporaryFolder folder;
  Recording(2, 4, 4, 9, 16, 0.25f, false)
      .save(folder / "cross.safetensors", true,
            {{"tokens", R"(["Das","Tier","war","zu","alt","für","die","Straße","."])"},
             {"query_tokens", R"(["It","was","too","old"])"}});
  ui.resize(1920, 1080);
  open(folder / "cross.safetensors");
  ui.wait(5).clickAt("model.1.2", 0.3f, 0.6f).park();
  rest();
  EXPECT_THAT(flaws(ui), testing::IsEmpty());
}

/// A file that a training program overwrites with one version after another.
TEST_F(ModelHeads, ReloadsRewrittenFileWhileShown) {
  TemporaryFolder folder;
  const auto file = folder / "training.safetensors";
  const auto write = [&](float scale) { Recording(2, 3, 6, 6, 4, scale, true).save(file, false); };
  const auto shows = [&](float scale) {
    const Recording wanted(2, 3, 6, 6, 4, scale, true);
    const auto& shown = page().layer(1)->weights;
    return std::abs(shown.at(2, 5, 3) - wanted.attention[(5 * 6 + 5) * 6 + 3]) < 1e-6f;
  };
  const auto waitFor = [&](const std::function<bool()>& happened) {
    for (int i = 0; i < 200 && !happened(); ++i) ui.wait(0.1).draw();
    return happened();
  };
  write(0.5f);
  open(file);
  ASSERT_TRUE(page().ready()) << page().study.problem();
  ui.clickAt("model.1.2", 0.55f, 0.95f);
  const app::Cursor looked = ui.scene().cursor;
  EXPECT_EQ(looked.cell, (app::Cell{2, 5, 3}));
  EXPECT_TRUE(shows(0.5f));
  const std::string before = ui.sceneText();
  write(1.5f);
  EXPECT_TRUE(waitFor([&] { return shows(1.5f); }));
  EXPECT_EQ(ui.scene().cursor.cell, looked.cell);
  EXPECT_EQ(ui.scene().cursor.model.layer, 1);
  EXPECT_EQ(ui.sceneText(), before) << "it is no edit";

  putFile(file, "half a file");
  EXPECT_TRUE(
      waitFor([&] { return ui.view().messages.error.find("was written again") != std::string::npos; }));
  EXPECT_TRUE(shows(1.5f)) << "what could be read last";
  write(2.5f);
  EXPECT_TRUE(waitFor([&] { return shows(2.5f); }));
  // More tokens reset the page as another file would.
  Recording(3, 3, 9, 9, 4, 0.5f, true).save(file, false);
  EXPECT_TRUE(waitFor([&] { return page().tokens() == 9 && page().model.config->layerCount() == 3; }));
}

}  // namespace
}  // namespace headscope::test
